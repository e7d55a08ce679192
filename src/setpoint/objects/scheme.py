"""`Scheme`: which class stands for which kind. One for each manager or client; there is no global one."""

from __future__ import annotations

from collections.abc import Iterator

from setpoint.api.names import GroupVersionKind, GroupVersionResource

from .kind_info import KindInfo, kind_of
from .metadata import Object


class SchemeConflict(ValueError):
    """Two different classes were added for one kind, or two kinds for one URL."""


class Scheme:
    """The kinds that one manager or client knows, in the order in which they were added."""

    def __init__(self, *classes: type[Object]) -> None:
        self._kinds: dict[GroupVersionKind, type[Object]] = {}
        self._resources: dict[GroupVersionResource, type[Object]] = {}
        self.add(*classes)

    def add(self, *classes: type[Object]) -> None:
        """Adds classes; one that is there already is no news.

        Raises `SchemeConflict` if another class stands for the same kind or has the same URL, `TypeError` for a class without `@kind`.
        """
        for cls in classes:
            info = kind_of(cls)
            known = self._kinds.get(info.group_version_kind) or self._resources.get(info.group_version_resource)
            if known is cls:
                continue
            if known is not None:
                raise SchemeConflict(
                    f"{_place(cls)} and {_place(known)} both claim {info.plural} of {info.api_version} (kind {info.kind}):"
                    " use one class for one kind"
                )
            self._kinds[info.group_version_kind] = cls
            self._resources[info.group_version_resource] = cls

    def remove(self, cls: type[Object]) -> None:
        """Takes a class away again, for a kind that is gone. Does nothing if it is not there."""
        if cls in self:
            info = kind_of(cls)
            del self._kinds[info.group_version_kind]
            del self._resources[info.group_version_resource]

    def find(self, api_version: str, kind: str) -> type[Object] | None:
        """The class for an object's ``apiVersion`` and ``kind``, None if there is none."""
        return self._kinds.get(GroupVersionKind.parse(api_version, kind))

    def find_kind(self, kind: GroupVersionKind) -> type[Object] | None:
        """The class for a kind, None if there is none."""
        return self._kinds.get(kind)

    def info(self, cls: type[Object]) -> KindInfo:
        """What `@kind` declared about a class of this scheme. Raises `LookupError` for a class that was not added."""
        if cls not in self:
            raise LookupError(f"{_place(cls)} is not in this scheme: add it first")
        return kind_of(cls)

    def __contains__(self, cls: object) -> bool:
        info = cls.__dict__.get("__kind__") if isinstance(cls, type) else None
        return isinstance(info, KindInfo) and self._kinds.get(info.group_version_kind) is cls

    def __iter__(self) -> Iterator[type[Object]]:
        return iter(self._kinds.values())

    def __len__(self) -> int:
        return len(self._kinds)


def _place(cls: type[Object]) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
