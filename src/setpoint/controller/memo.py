"""The apply memo: an apply that would change nothing is not sent.

An apply is skipped if this process has applied the very same body, and the object is still what the server answered then, its status
(where that is a subresource), `managedFields` and `resourceVersion` aside. So a child's status may churn without any write of ours, while
anybody's change to what we could have stated makes the next apply go out. Losing the memo costs requests, nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from hashlib import blake2b

import msgspec

from setpoint.cache import Change, Informer
from setpoint.client.manifest import Apply
from setpoint.objects import KindInfo, Request
from setpoint.objects.strip import Strip


class _Answered(msgspec.Struct, gc=False):
    """The body that was sent, the digest of the answer, and the object that was last found to have that digest.

    Its bytes tell that it is still the same, which its version does not: a server that was restored from a backup counts once more from
    there on. They are the cache's own, so keeping them costs little; where the cache keeps them in another form they are not kept.
    """

    body: bytes
    digest: bytes
    found: bytes
    strip: Strip
    keeps_found: bool


class ApplyMemo:
    """What one controller has applied, by object. An entry goes when the object does, which the informers that hold it tell."""

    def __init__(self) -> None:
        self._answered: dict[tuple[KindInfo, Request, str], _Answered] = {}
        self._heard: dict[Informer, Callable[[], None]] = {}

    def __len__(self) -> int:
        return len(self._answered)

    def knows(self, info: KindInfo, key: Request) -> bool:
        """Whether the object was applied."""
        return (info, key, "") in self._answered

    def is_settled(self, apply: Apply, cached: bytes | None) -> bool:
        """Whether sending it would change nothing, `cached` being the object as the cache has it."""
        known = self._answered.get((apply.info, apply.key, apply.subresource))
        if known is None or cached is None or known.body != apply.body:
            return False
        if cached != known.found and _digest(cached, apply, known.strip) != known.digest:
            return False
        if known.keeps_found:
            known.found = cached
        return True

    def answered(self, apply: Apply, answer: bytes, informers: Iterable[Informer]) -> None:
        """The server has answered an apply with this object. It is remembered if one of the kind's informers holds it."""
        holding = [informer for informer in informers if not informer.metadata_only and informer.get(apply.key) is not None]
        for informer in holding:
            if informer not in self._heard:
                self._heard[informer] = informer.subscribe(partial(self._hear, apply.info))
        if holding:
            form = holding[0].form
            keeps = not form.strip and form.packing is None
            self._answered[apply.info, apply.key, apply.subresource] = _Answered(
                apply.body, _digest(answer, apply, form.strip), answer if keeps else b"", form.strip, keeps
            )

    def close(self) -> None:
        """Listens no more."""
        for unsubscribe in self._heard.values():
            unsubscribe()
        self._heard.clear()

    def _hear(self, info: KindInfo, change: Change) -> None:
        if change.after is None and self._answered:
            for subresource in ("", "status", "scale"):
                self._answered.pop((info, change.key, subresource), None)


def _digest(data: bytes, apply: Apply, strip: Strip) -> bytes:
    content = msgspec.json.decode(strip.of(data))
    if apply.info.has_status and apply.subresource != "status":
        content.pop("status", None)
    metadata = content.get("metadata", {})
    metadata.pop("managedFields", None)
    if not strip or not strip.touched_by(msgspec.json.decode(apply.body)):
        # Where the cache does not show something that was applied, nothing but the version tells that it is as it was.
        metadata.pop("resourceVersion", None)
    # Sorted: the server may give the same object with its keys in another order.
    return blake2b(msgspec.json.encode(content, order="sorted"), digest_size=16).digest()
