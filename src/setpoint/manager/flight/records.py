"""What the flight recorder keeps of a run: why it ran, what it read and wrote, and what came of it.

Names and paths, never values: a record tells that `data.password` of a Secret has changed, and not to what.

A record at rest is its bytes (MessagePack, with what is as usual left out), so that many of them cost little, cost the garbage collector
nothing, and can be bounded to the byte.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Own = Literal["this", "process", "foreign", ""]
"""Who made a change: this controller; another one in this process; somebody outside of it; "" for what is not known, or no change."""


class Trigger(msgspec.Struct, omit_defaults=True, gc=False):
    """One reason for a run. Several of one source about one object are one, from the first's old version to the last's new one.

    `source` is a `setpoint.controller.cause.Source`. `kind` and `key` name the object that changed; `what` is listed, created, changed or
    deleted, or words where there is no object. `by` is the field manager that made the (last) change, if that is known. `spec` tells
    whether more than a status may have changed. `mapper` is the function that mapped it.
    """

    source: str
    kind: str = ""
    key: str = ""
    what: str = ""
    old: str = ""
    new: str = ""
    own: Own = ""
    by: str = ""
    spec: bool = False
    mapper: str = ""
    times: int = 1
    paths: list[str] = []


class Write(msgspec.Struct, omit_defaults=True, gc=False):
    """One write: `operation` in the past tense, or `not sent`. `paths` are the fields that differ before and after.

    `changed` is False where the server found nothing to change. `stated` says that `paths` are what was asked for, since the state before
    is not known. `code` is the HTTP status where it is an error, `<error>` where no answer came. `version` is the resulting one.
    """

    operation: str
    kind: str
    key: str
    subresource: str = ""
    version: str = ""
    paths: list[str] = []
    more: int = 0
    stated: bool = False
    changed: bool = True
    code: str = ""


class Read(msgspec.Struct, omit_defaults=True, gc=False):
    """What was read, how often: an object, or a list where `key` is empty; from the cache, or `live` from the server."""

    kind: str
    key: str = ""
    live: bool = False
    times: int = 1


class Effect(msgspec.Struct, omit_defaults=True, gc=False):
    """A call to the world outside Kubernetes."""

    call: str
    seconds: float
    error: str = ""


class Run(msgspec.Struct, omit_defaults=True, gc=False):
    """One run. `at` is when it started, in seconds since 1970; `seconds` and `waited` are what it took and how long it was ready before.

    `attempt` counts runs since the last one that did not fail. `more` counts triggers and reads beyond those that are kept. `result` is the
    metric's label, and "" while it runs.
    """

    at: float
    seconds: float = 0.0
    waited: float = 0.0
    result: str = "success"
    attempt: int = 1
    triggers: list[Trigger] = []
    reads: list[Read] = []
    writes: list[Write] = []
    skipped: list[str] = []
    effects: list[Effect] = []
    requeue_after: float | None = None
    error: str = ""
    more: int = 0


class History(msgspec.Struct, omit_defaults=True, kw_only=True):
    """Everything that is known of a key: its last runs, the oldest first, what it waits for, and whether it goes round in circles.

    `state` is queued, running, held or waiting; `due` the seconds until its timer, None without one; `held` says what it waits for.
    """

    controller: str
    kind: str
    key: str
    state: str = "waiting"
    due: float | None = None
    pending: list[Trigger] = []
    runs: list[Run] = []
    loops: list[str] = []


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Run)


def pack(run: Run) -> bytes:
    """A run at rest."""
    return _encoder.encode(run)


def bounded(text: str, most: int = 600) -> str:
    """A text as records have it: so many characters of it, all of which can be written as UTF-8. Names of objects are shorter than 600."""
    if len(text) > most:
        text = text[: most - 3] + "..."
    return text if text.isascii() else text.encode(errors="replace").decode()


def unpack(data: bytes) -> Run:
    """The run again."""
    return _decoder.decode(data)


def document(record: Any) -> Any:
    """A record for JSON, whole: at rest what is as usual is left out, but readers of JSON should not have to know what is usual."""
    if isinstance(record, msgspec.Struct):
        return {name: document(getattr(record, name)) for name in record.__struct_fields__}
    return [document(item) for item in record] if isinstance(record, list) else record
