"""`View`: what a controller asks the cache for, and tells it. Without a cache it knows nothing, and every read goes live."""

from __future__ import annotations

import msgspec

from setpoint.api import GroupVersionResource, LabelSelector
from setpoint.cache import AnyInformer, Cache, Informer, Scope
from setpoint.objects import KindInfo, Object, Request, decode_head
from setpoint.objects.strip import Strip


class View:
    """The informers of one cache, by kind."""

    def __init__(self, cache: Cache | None) -> None:
        self._cache = cache

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

    def covering(self, kind: type[Object], labels: LabelSelector, namespace: str | None, name: str = "") -> AnyInformer | None:
        """An informer that is whole, and holds everything that such a read could find; `name` is that of the one object that is read."""
        if self._cache is None:
            return None
        informer = self._cache.find(kind, labels=labels, namespace=namespace, name=name)
        return informer if informer is not None and informer.is_whole else None

    def stripped(self, info: KindInfo) -> Strip:
        """What the cache leaves out of objects of a kind."""
        return Strip() if self._cache is None else self._cache.form_of(info).strip

    def get(self, info: KindInfo, key: Request) -> bytes | None:
        """The object, if any informer has it, and not just its metadata: one that has it is right about it, whatever it selects."""
        for informer in self.informers(info):
            if informer.metadata_only:
                continue
            found = informer.get(key)
            if found is not None:
                return found
        return None

    def wrote(self, info: KindInfo, answer: bytes) -> None:
        """An own write was answered: reads see it from now on, also of a list that is under way and may be older."""
        for informer in self.informers(info):
            informer.wrote(answer)

    def hidden(self, info: KindInfo) -> list[Informer]:
        """The informers of a kind that may not hold an object that exists."""
        return [informer for informer in self.informers(info) if informer.is_filtered or informer.selection.namespace]

    def deleted(self, info: KindInfo, key: Request, uid: str) -> None:
        """An own delete has been done: reads do not see that object any more."""
        for informer in self.informers(info):
            informer.deleted(key, uid)

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
    metadata = msgspec.json.decode(answer).get("metadata") or {}
    if not metadata.get("deletionTimestamp"):
        return False
    return bool(metadata.get("finalizers")) or bool(metadata.get("deletionGracePeriodSeconds"))


def is_status(answer: bytes) -> bool:
    """Whether the answer is a Status of the API itself, and not an object, whose kind may well be called so."""
    content = msgspec.json.decode(answer)
    return bool(content.get("kind") == "Status" and content.get("apiVersion") == "v1")
