"""Answers for people: why a key ran, what that changed, what it waits for.

Somebody asks by an object, as kubectl would name it. That may be one that is reconciled, or one that triggers another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from setpoint.api import Operation
from setpoint.controller import ControllerRuntime
from setpoint.manager.flight.records import History, Run, Trigger, Write, document
from setpoint.objects import KindInfo, Request, decode_meta

if TYPE_CHECKING:
    from setpoint.manager.manager import Manager


class NothingKnown(LookupError):
    """Nobody here reconciles such an object, or it has had no run; the text says which."""


def cached(manager: Manager, operation: Operation) -> tuple[str, bytes | None]:
    """What the cache knows of the object that an operation is about: its kind's name and its state."""
    key = Request(operation.namespace, operation.name)
    kind = ""
    for informer in manager.cache.informers:
        if informer.info.group_version_resource == operation.resource:
            kind = informer.info.kind
            if operation.name and not informer.metadata_only and (found := informer.get(key)) is not None:
                return kind, found
    return kind, None


def histories(manager: Manager, kind: str, key: Request, controller: str = "") -> list[History]:
    """What is known of every key that this object is, or triggers. `kind` is a controller's name, or a kind as kubectl spells it.

    Raises `NothingKnown`.
    """
    if manager.flight_recorder is None:
        raise NothingKnown("the flight recorder of this program is off (Options(flight_recorder=True) is the default)")
    places = dict.fromkeys((name, request) for name, request in _places(manager, kind, key) if not controller or name == controller)
    found = [history for name, request in places if (history := history_of(manager, name, request)) is not None]
    if not found:
        raise NothingKnown(_nothing(manager, kind, key, controller))
    return found


def history_of(manager: Manager, controller: str, request: Request) -> History | None:
    """What is known of one key of one controller; None if it neither ran nor is to run."""
    recorder, runtime = manager.flight_recorder, _runtime(manager, controller)
    if recorder is None or runtime is None:
        return None
    history = History(
        controller=controller,
        kind=runtime.informers[0].info.kind,
        key=str(request),
        state=recorder.state(controller, request),
        due=_due(runtime, request),
        pending=recorder.pending(controller, request),
        runs=recorder.runs(controller, request),
        loops=[loop.text for loop in recorder.loops.of(controller, request)],
    )
    return history if history.runs or history.pending or history.due is not None else None


def queues(manager: Manager) -> dict[str, Any]:
    """What is in the queue of each controller: which keys run, are held or ready, and in how many seconds the timers of others go off.

    Keys and timers are those that the flight recorder knows of.
    """
    recorder = manager.flight_recorder
    shown: dict[str, Any] = {}
    for runtime in manager.controllers:
        about = shown[runtime.name] = {
            "started": runtime.has_started,
            "ready": len(runtime.queue),
            "processing": runtime.queue.processing,
        }
        if recorder is None:
            continue
        about["keys"] = [
            {
                "key": str(request),
                "state": state,
                "pending": [document(trigger) for trigger in recorder.pending(runtime.name, request)],
            }
            for request, state in recorder.busy(runtime.name).items()
        ]
        due = [(seconds, request) for request in recorder.known(runtime.name) if (seconds := _due(runtime, request)) is not None]
        about["timers"] = [{"key": str(request), "due": round(seconds, 3)} for seconds, request in sorted(due)]
    return shown


def caches(manager: Manager) -> list[dict[str, Any]]:
    """The informers: what they hold, in which state, and for how many seconds they have heard nothing from the server."""
    now = manager.world.clock.monotonic()
    return [
        {
            "kind": str(informer.info.group_version_kind),
            "selection": str(informer.selection),
            "state": informer.state.name,
            "reason": informer.reason,
            "synced": informer.has_synced,
            "objects": informer.objects,
            "bytes": informer.size,
            "version": str(informer.version),
            "silent": None if informer.last_contact is None else round(now - informer.last_contact, 3),
        }
        for informer in manager.cache.informers
    ]


# who is meant


def _runtime(manager: Manager, name: str) -> ControllerRuntime | None:
    return next((runtime for runtime in manager.controllers if runtime.name == name), None)


def _due(runtime: ControllerRuntime, request: Request) -> float | None:
    due = runtime.queue.due(request)
    return None if due is None else max(0.0, due - asyncio.get_running_loop().time())


def _places(manager: Manager, kind: str, key: Request) -> Iterator[tuple[str, Request]]:
    """The keys that are meant: those of controllers that reconcile it, and those that it has triggered or whose owner it names."""
    for runtime in manager.controllers:
        primary = runtime.informers[0].info
        if kind == runtime.name or is_called(primary, kind):
            yield runtime.name, _keyed(primary, key)
    for informer in manager.cache.informers:
        info = informer.info
        if not is_called(info, kind):
            continue
        data = informer.get(_keyed(info, key))
        owner = None if data is None else decode_meta(data).controller
        for runtime in manager.controllers:
            primary = runtime.informers[0].info
            if owner is not None and owner.kind == primary.kind and owner.api_version.rpartition("/")[0] == primary.group:
                yield runtime.name, _keyed(primary, Request(key.namespace, owner.name))
        if manager.flight_recorder is not None:
            yield from manager.flight_recorder.triggered_by(info.kind, _keyed(info, key))


def _keyed(info: KindInfo, key: Request) -> Request:
    return key if info.namespaced else Request("", key.name)


def is_called(info: KindInfo, name: str) -> bool:
    """Whether kubectl would take the name for this kind: kind, plural, singular or short name, with or without version and group."""
    name = name.lower()
    first, _, rest = name.partition(".")
    if first not in (info.kind.lower(), info.plural, info.singular, *info.short_names):
        return False
    return rest in ("", info.group.lower(), f"{info.version}.{info.group}".rstrip(".").lower())


def _nothing(manager: Manager, kind: str, key: Request, controller: str) -> str:
    watched = [informer.info for informer in manager.cache.informers]
    names = ", ".join(runtime.name for runtime in manager.controllers)
    if controller and _runtime(manager, controller) is None:
        return f"no controller {controller!r} runs here; these do: {names}"
    if not any(is_called(info, kind) for info in watched) and _runtime(manager, kind) is None:
        kinds = ", ".join(dict.fromkeys(info.kind for info in watched))
        return f"no controller here watches {kind!r}; {names} watches {kinds}"
    return (
        f"{kind} {key} has triggered no run here, as far as is remembered: is that its name and namespace? "
        "It may also have run so long ago that it was forgotten, or no controller wants it"
    )


# in words


def in_words(history: History) -> str:
    """A key's history as text: its runs, the oldest first, and what it waits for."""
    lines = [f"{history.kind} {history.key}  (controller {history.controller})"]
    for run in history.runs:
        lines.append("")
        lines += run_in_words(run)
    lines += ["", *rest_in_words(history)]
    return "\n".join(lines)


def run_in_words(run: Run) -> list[str]:
    """One run, a line for each thing that it was."""
    head = f"{clock(run.at)}  {ended(run)}"
    lines = [head]
    lines += [f"  because  {trigger_in_words(trigger)}" for trigger in run.triggers]
    reads = [
        f"{read.kind} {read.key}".rstrip() + (" (live)" if read.live else "") + (f" x{read.times}" if read.times > 1 else "")
        for read in run.reads
    ]
    if reads:
        lines.append(f"  read     {', '.join(reads)}")
    lines += [f"  wrote    {write_in_words(write)}" for write in run.writes]
    if run.skipped:
        lines.append(f"  skipped  apply of {', '.join(run.skipped)}: nothing would change")
    lines += [
        f"  called   {effect.call} in {seconds(effect.seconds)}{f': {effect.error}' if effect.error else ''}" for effect in run.effects
    ]
    if run.more:
        lines.append(f"  and {run.more} more triggers, reads or writes")
    if run.error:
        lines.append(f"  failed   {run.error}")
    return lines


def ended(run: Run) -> str:
    """How long a run took, and what came of it."""
    if not run.result:
        return f"runs, for {seconds(run.seconds)} so far"
    parts = [f"ran {seconds(run.seconds)}"]
    if run.waited >= 0.1:
        parts.append(f"after waiting {seconds(run.waited)}")
    if run.attempt > 1:
        parts.append(f"attempt {run.attempt}")
    parts.append(run.result if run.result != "requeue_after" else "success")
    if run.requeue_after is not None:
        parts.append(f"again in {seconds(run.requeue_after)}")
    return ", ".join(parts)


def trigger_in_words(trigger: Trigger) -> str:
    """One reason for a run."""
    if not trigger.kind:
        text = {"timer": "its timer went off (requeue_after)", "again": "it asked to run again now"}.get(trigger.source, trigger.what)
        if trigger.source == "backoff":
            text = f"it is tried again: {trigger.what}"
        return text + _times(trigger)
    text = f"{trigger.kind} {trigger.key} {trigger.what if trigger.what != 'listed' else 'was there at the start'}"
    if trigger.what == "changed":
        text += f" {trigger.old} -> {trigger.new}" if trigger.old else f" since its creation -> {trigger.new}"
    text += _times(trigger)
    if trigger.own == "this":
        text += ", by this controller's own write"
    elif trigger.by:
        text += f", by {trigger.by}" + (" (of this program)" if trigger.own == "process" else "")
    if trigger.mapper:
        text += f", mapped by {trigger.mapper}"
    if trigger.paths:
        text += f": {shortened(trigger.paths, shown=3)}"
    return text


def write_in_words(write: Write) -> str:
    """One write."""
    text = f"{write.operation} {write.kind} {write.key}{f' ({write.subresource})' if write.subresource else ''}"
    if write.code:
        return f"{text}: answered {write.code}" if write.code.isdigit() else f"{text}: no answer, so it may have happened or not"
    if not write.changed:
        return f"{text}: no change"
    if write.version:
        text += f" -> {write.version}"
    if write.paths:
        text += f": {'asked for ' if write.stated else ''}{shortened(write.paths, write.more)}"
    return text


def rest_in_words(history: History) -> list[str]:
    """What a key waits for, and what is wrong with it."""
    lines = [f"queued because  {trigger_in_words(trigger)}" for trigger in history.pending]
    if history.state == "held":
        lines.append("held until the cache has seen what came of a write that got no answer")
    if history.due is not None:
        lines.append(f"next run in {seconds(history.due)} at the latest")
    elif history.state == "waiting":
        lines.append("waits for a change; no timer is set")
    return lines + [f"goes round in circles: {text}" for text in history.loops]


def shortened(paths: list[str], more: int = 0, *, shown: int = 6) -> str:
    """The first few paths."""
    text = ", ".join(paths[:shown])
    left = len(paths) - len(paths[:shown]) + more
    return f"{text}, and {left} more" if left else text


def seconds(value: float) -> str:
    """A duration for people."""
    if value < 1:
        return f"{value * 1000:.3g} ms"
    return f"{value:.3g} s" if value < 120 else f"{value / 60:.3g} min"


def clock(at: float) -> str:
    """The time of day, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + "Z"


def _times(trigger: Trigger) -> str:
    return f" ({trigger.times} times)" if trigger.times > 1 else ""
