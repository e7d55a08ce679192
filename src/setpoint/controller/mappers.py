"""Mappers that most controllers can use as they are: from an object that a controller watches to the keys of its own kind.

`controller.watch(Pod, map=mappers.to_owner(WebApp))`. They are made for a controller where it is declared, so what cannot work for its kind
is said there. Each is asked about the object before a change and after it, as every mapper is.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Generic, TypeVar

from setpoint.cache import Selection
from setpoint.objects import Index, KindInfo, Object, Request, kind_of

from .reads import Reader, keys_from, uid_from
from .signatures import ReadyMapper

W = TypeVar("W", bound=Object)

log = logging.getLogger("setpoint.controller")


class _ByKey(ReadyMapper):
    """From text on an object that names an object of the primary kind."""

    def __init__(self, key: str, namespace: str | None) -> None:
        if not isinstance(key, str) or not key:
            raise ValueError(f"{type(self).__name__} takes a key such as 'app.kubernetes.io/instance', not {key!r}")
        self._key = key
        self._namespace = namespace

    def bound(self, primary: type[Object], watched: type[Object], selection: Selection) -> Callable[[Object], Iterable[Request]]:
        """For a controller's kind."""
        info, its = kind_of(primary), kind_of(watched)
        if self._namespace is not None and not info.namespaced:
            raise ValueError(f"{self}: {info.kind} is in no namespace, and so there is none to look for it in")
        if info.namespaced and not its.namespaced and self._namespace is None and not self._says_namespace:
            raise ValueError(f"{self}: {its.kind} is in no namespace; say in which one the {info.kind} is, with namespace=")

        def named(obj: Object) -> list[Request]:
            text = self._text(obj)
            if not text:
                return []
            request = self._request(text, obj, info)
            if request is None:
                log.warning("%s %s names no %s: %s is %r", its.kind, obj.key, info.kind, self._key, text)
                return []
            return [request]

        return named

    _says_namespace = False

    @abstractmethod
    def _text(self, obj: Object) -> str: ...

    def _request(self, text: str, obj: Object, info: KindInfo) -> Request | None:
        """The request that the text names; None if it names nothing."""
        if "/" in text:
            return None
        return Request((self._namespace or obj.namespace) if info.namespaced else "", text)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._key!r})"


class by_label(_ByKey):  # called as a function is
    """The object whose name is the value of a label, such as ``app.kubernetes.io/instance``: in the same namespace, or in `namespace`."""

    def __init__(self, label: str, *, namespace: str | None = None) -> None:
        super().__init__(label, namespace)

    def _text(self, obj: Object) -> str:
        return obj.metadata.labels.get(self._key, "")


class by_annotation(_ByKey):
    """The object whose name is the value of an annotation: ``name``, in the same namespace or in `namespace`, or ``namespace/name``.

    What names nothing is logged and left out.
    """

    _says_namespace = True

    def __init__(self, annotation: str, *, namespace: str | None = None) -> None:
        super().__init__(annotation, namespace)

    def _text(self, obj: Object) -> str:
        return obj.metadata.annotations.get(self._key, "").strip()

    def _request(self, text: str, obj: Object, info: KindInfo) -> Request | None:
        namespace, slash, name = text.rpartition("/")
        if not slash:
            found = super()._request(text, obj, info)
            return None if found is None or (info.namespaced and not found.namespace) else found
        return Request(namespace, name) if info.namespaced and namespace and name and "/" not in namespace else None


class _OfPrimary(ReadyMapper):
    """To objects of the primary kind, which is named for the reader's sake, and checked."""

    def __init__(self, kind: type[Object]) -> None:
        kind_of(kind)
        self._kind = kind

    def _check(self, primary: type[Object]) -> None:
        if kind_of(self._kind).group_version_kind != kind_of(primary).group_version_kind:
            raise TypeError(f"{self}: requests are keys of {primary.__name__}, the controller's kind, and not of {self._kind.__name__}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._kind.__name__})"


class to_owner(_OfPrimary):
    """The objects of a kind that own it, by any owner reference; `owns=[...]` is for the one that controls it alone.

    A reference to one that has gone, while another has its name now, concerns nobody: the owner's UID is compared with the cache's.
    """

    def bound(
        self, primary: type[Object], watched: type[Object], selection: Selection
    ) -> Callable[[Object, Reader], Awaitable[list[Request]]]:
        """For a controller's kind."""
        self._check(primary)
        info = kind_of(primary)

        async def owners(obj: Object, reader: Reader) -> list[Request]:
            found = []
            for reference in obj.metadata.owner_references:
                if reference.kind == info.kind and reference.api_version.rpartition("/")[0] == info.group:
                    key = Request(obj.namespace if info.namespaced else "", reference.name)
                    if await uid_from(reader, primary, key) in (None, reference.uid):
                        found.append(key)
            return found

        return owners


class to_all(_OfPrimary):
    """Every object of a kind that the controller looks after: for what concerns them all, such as one settings object."""

    def bound(
        self, primary: type[Object], watched: type[Object], selection: Selection
    ) -> Callable[[Object, Reader], Awaitable[list[Request]]]:
        """For a controller's kind."""
        self._check(primary)

        async def everything(obj: Object, reader: Reader) -> list[Request]:
            return await keys_from(reader, primary, selection)

        return everything


class by_index(ReadyMapper, Generic[W]):
    """All objects of its own that an index of the controller's kind finds: those that refer to this one, if it is by what they refer to.

    `value_of` says by which value, or values; ``namespace/name`` unless given. The controller keeps the index from then on.
    """

    def __init__(self, index: Index[Any], value_of: Callable[[W], str | Iterable[str]] | None = None) -> None:
        if not isinstance(index, Index):
            raise TypeError(f"by_index takes an Index(Kind, function), not {index!r}")
        self._index = index
        self._value_of = value_of
        self.indexes = (index,)

    def bound(self, primary: type[Object], watched: type[Object], selection: Selection) -> Callable[[W, Reader], Awaitable[list[Request]]]:
        """For a controller's kind."""
        if kind_of(self._index.kind).group_version_kind != kind_of(primary).group_version_kind:
            raise TypeError(f"{self}: requests are keys of {primary.__name__}, the controller's kind; use an index of that kind")
        value_of: Callable[[W], str | Iterable[str]] = self._value_of or (lambda obj: str(obj.key))

        async def referring(obj: W, reader: Reader) -> list[Request]:
            values = value_of(obj)
            found: dict[Request, None] = {}
            for value in (values,) if isinstance(values, str) else values:
                if value:
                    found.update(dict.fromkeys(await keys_from(reader, primary, selection, self._index(value))))
            return list(found)

        return referring

    def __repr__(self) -> str:
        return f"by_index({self._index!r})"


__all__ = ["by_annotation", "by_index", "by_label", "to_all", "to_owner"]
