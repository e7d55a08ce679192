"""`View`: what a controller asks the cache for, and tells it. Without a cache it knows nothing, and every read goes live.

One kind may be held by several informers, under several selectors or as metadata alone, and each follows the server at its own pace. A run
that one of them has triggered must not read from another that has not come so far: it would see the state from before, and nothing would
make it run again. So those that a controller hears go first, and any other one serves it only where it is not behind them. Where it hears
several, what the furthest of them knows of an object holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import msgspec

from setpoint.api import GroupVersionKind, GroupVersionResource, LabelSelector
from setpoint.cache import AnyInformer, Cache, Informer, Scope, Selection
from setpoint.objects import KindInfo, Object, Request, decode_head, kind_of
from setpoint.objects.indexes import IndexKey
from setpoint.objects.strip import Strip

_ANY = LabelSelector()
_NONE: Sequence[AnyInformer] = ()


class View:
    """The informers of one cache, by kind."""

    def __init__(self, cache: Cache | None) -> None:
        self._cache = cache
        self._heard: dict[GroupVersionKind, list[AnyInformer]] = {}

    def informers(self, info: KindInfo) -> list[Informer]:
        """The informers of a kind."""
        return [] if self._cache is None else self._cache.informers_of(info)

    def kind_at(self, resource: GroupVersionResource) -> KindInfo | None:
        """The kind that is called so in paths; None if there is no informer of it."""
        if self._cache is None:
            return None
        return next((i.info for i in self._cache.informers if i.info.group_version_resource == resource), None)

    @property
    def scope(self) -> Scope:
        """The namespaces that are looked at."""
        return Scope(None) if self._cache is None else self._cache.scope

    # reading

    def hears(self, informer: AnyInformer) -> None:
        """The controller is triggered by what this informer sees, so what it reads of that kind must not be older."""
        self._heard.setdefault(informer.info.group_version_kind, []).append(informer)

    def hears_no_more(self, informer: AnyInformer) -> None:
        """Ends one `hears`."""
        self._heard[informer.info.group_version_kind].remove(informer)

    def read(self, kind: type[Object], info: KindInfo, key: Request) -> tuple[bytes | None, bool]:
        """The object as it is to be read as `kind`, and whether that is certain: what a filtered informer lacks may exist.

        An informer that has the object is right about it, whatever it selects. Those that the controller hears go first.
        """
        if self._cache is None:
            return None, False
        heard: Sequence[AnyInformer] = self._heard.get(info.group_version_kind, _NONE)
        if len(heard) == 1 and not heard[0].metadata_only and (found := heard[0].get(key)) is not None:
            return found, True  # as most reads are answered
        outdated = len(heard) > 1 and _outdated(dict.fromkeys(heard), key)
        for informer in (*heard, *(other for other in self._cache.declared(info) if other not in heard)):
            if informer.metadata_only and not _is_metadata(kind):
                continue
            if informer not in heard and not _in_step(informer, heard, key.namespace):
                continue
            if outdated and informer in outdated:
                continue
            found = informer.get(key)
            if found is not None:
                return found, True
            if informer.is_whole and self._cache.covers(informer, key.namespace or None, _ANY, key.name):
                return None, True
        return None, False

    def covering(
        self, kind: type[Object], labels: LabelSelector, namespace: str | None, index: IndexKey[Any] | None = None
    ) -> AnyInformer | None:
        """An informer that holds everything that such a list could find, as it is to be read as `kind`; None if there is none.

        One that the controller hears goes first; another one serves it only if it has come as far as what the controller has heard.
        """
        if self._cache is None:
            return None
        info = kind_of(kind)
        heard: Sequence[AnyInformer] = self._heard.get(info.group_version_kind, _NONE)
        metadata = _is_metadata(kind) and (index is None or _is_metadata(index.index.kind))

        def rivals(informer: AnyInformer) -> list[AnyInformer]:
            """Those that are heard and see all that is asked for, or nothing but what this one sees: it must not be behind them."""
            if len(heard) < 2:
                return []
            return [
                other
                for other in dict.fromkeys(heard)
                if other is not informer
                and (covers(other, namespace, labels) or covers(informer, other.selection.namespace or None, other.selection.labels))
            ]

        covers = self._cache.covers
        able = [
            informer
            for informer in self._cache.declared(info)
            if informer.is_whole and (metadata or not informer.metadata_only) and covers(informer, namespace, labels)
        ]
        first = (informer for informer in able if informer in heard and _in_step(informer, rivals(informer), namespace))
        others = (informer for informer in able if informer not in heard and _in_step(informer, heard, namespace))
        return next(chain(first, others), None)

    def selecting(self, kind: type[Object], selection: Selection) -> AnyInformer | None:
        """The informer of just these objects, and not just of their metadata; None if nobody has declared it."""
        declared = () if self._cache is None else self._cache.holding(kind_of(kind))
        return next((informer for informer in declared if informer.selection == selection), None)

    def stripped(self, info: KindInfo) -> Strip:
        """What the cache leaves out of objects of a kind."""
        return Strip() if self._cache is None else self._cache.form_of(info).strip

    def get(self, info: KindInfo, key: Request) -> bytes | None:
        """The object, if any informer has it, and not just its metadata: as the furthest of them has it, whatever that selects."""
        best: bytes | None = None
        for informer in self.informers(info):
            if informer.metadata_only:
                continue
            found = informer.get(key)
            if found is not None and (best is None or _version(found) > _version(best)):
                best = found
        return best

    def wrote(self, info: KindInfo, answer: bytes) -> None:
        """An own write was answered: reads see it from now on, also of a list that is under way and may be older."""
        for informer in self._shown(info):
            informer.wrote(answer)

    def hidden(self, info: KindInfo) -> list[Informer]:
        """The informers of a kind that may not hold an object that exists."""
        return [informer for informer in self.informers(info) if informer.is_filtered or informer.selection.namespace]

    def deleted(self, info: KindInfo, key: Request, uid: str) -> None:
        """An own delete has been done: reads do not see that object any more."""
        for informer in self._shown(info):
            informer.deleted(key, uid)

    def _shown(self, info: KindInfo) -> list[Informer]:
        """The informers that show own writes."""
        return self.informers(info) if self._cache is not None and self._cache.own_writes else []

    def wrote_or_deleted(self, info: KindInfo, key: Request, answer: bytes) -> None:
        """As the answer of a delete, or of a write that may have removed the last finalizer, says: does the object still exist?"""
        if still_exists(answer):
            self.wrote(info, answer)
        else:
            self.deleted(info, key, decode_head(answer).uid)


def still_exists(answer: bytes) -> bool:
    """Whether an object whose deletion was asked for still waits for finalizers or its grace period.

    Some kinds answer a finished delete with the object as it was, others with a Status.
    """
    content = msgspec.json.decode(answer)
    metadata = content.get("metadata") or {}
    if not metadata.get("deletionTimestamp"):
        return False
    if metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds"):
        return True
    # A namespace has finalizers of its own in its spec, and stays for these too.
    is_namespace = (content.get("apiVersion"), content.get("kind")) == ("v1", "Namespace")
    return is_namespace and bool((content.get("spec") or {}).get("finalizers"))


def is_status(answer: bytes) -> bool:
    """Whether the answer is a Status of the API itself, and not an object, whose kind may well be called so."""
    typed = _type_of(answer)
    return typed.kind == "Status" and typed.api_version == "v1"


class _Typed(msgspec.Struct, rename="camel", gc=False):
    api_version: str = ""
    kind: str = ""


_type_of = msgspec.json.Decoder(_Typed).decode


def is_a(info: KindInfo, answer: bytes) -> bool:
    """Whether the answer is an object of that kind."""
    typed = _type_of(answer)
    return (typed.api_version, typed.kind) == (info.api_version, info.kind)


def _is_metadata(kind: type[Object]) -> bool:
    """Whether a class reads metadata and nothing else."""
    return kind.__struct_fields__ == Object.__struct_fields__


def _in_step(informer: AnyInformer, heard: Sequence[AnyInformer], namespace: str | None) -> bool:
    """Whether an informer has come at least as far as those, in a namespace or in all."""
    return all(
        part.sees_own_writes and part.version >= other.version
        for each in heard
        for other in _parts(each, namespace)
        for part in _parts(informer, namespace)
        if not part.selection.namespace or not other.selection.namespace or part.selection.namespace == other.selection.namespace
    )


def _outdated(heard: Iterable[AnyInformer], key: Request) -> list[AnyInformer]:
    """Those of several informers that know less of one object than another one does: it has changed since, or come, or gone."""
    parts = {informer: part for informer in heard for part in _parts(informer, key.namespace) if part.sees_own_writes}
    found = {informer: data for informer, part in parts.items() if (data := part.get(key)) is not None}
    if not found:
        return []
    newest = max(found.values(), key=_version)
    version = _version(newest)
    lacking = {informer: part for informer, part in parts.items() if informer not in found}
    gone_by = max((part.version for part in lacking.values() if part.version >= version and part.selection.selects(key, newest)), default=0)
    if gone_by:  # or it is no more as it was, of which whoever had it does not know
        behind, version = list(found), gone_by
    else:
        behind = [informer for informer, data in found.items() if _version(data) < version]
    return behind + [informer for informer, part in lacking.items() if part.version < version]


def _version(data: bytes) -> int:
    version = decode_head(data).resource_version
    return int(version) if version.isdecimal() else 0


def _parts(informer: AnyInformer, namespace: str | None) -> list[Informer]:
    parts = [informer] if isinstance(informer, Informer) else informer.parts
    return [part for part in parts if not namespace or part.selection.namespace in ("", namespace)]
