"""What `@kind` declares about a class: how the API calls it, and how it is shown."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from setpoint.api.names import GroupVersionKind, GroupVersionResource

from .metadata import Object
from .schema_field import Rule

Scope: TypeAlias = Literal["Namespaced", "Cluster"]


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """A column of ``kubectl get``. ``path`` is a JSON path such as ``.status.readyReplicas``.

    With a ``priority`` above 0 it is shown by ``-o wide`` only.
    """

    name: str
    path: str
    type: Literal["integer", "number", "string", "boolean", "date"] = "string"
    format: str | None = None
    description: str | None = None
    priority: int = 0


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """The scale subresource, for ``kubectl scale`` and autoscalers.

    JSON paths of the wanted number, the actual number, and the pods' label selector as text.
    """

    spec: str
    status: str
    selector: str | None = None


class KindInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of the API, as `@kind` declared it. ``scope`` is "Namespaced" or "Cluster"; ``plural`` is what its URL says."""

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    list_kind: str
    scope: Scope = "Namespaced"
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    scale: Scale | None = None
    selectable_fields: tuple[str, ...] = ()
    """The JSON paths by which lists and watches can be selected, such as ``.spec.color``."""
    has_status: bool = False
    """Whether status is a subresource: written by a request of its own."""
    cel: tuple[Rule, ...] = ()
    """Validation rules on the object as a whole."""
    deprecated: bool | str = False
    """Whether the server warns those who use this version; a text is the warning, else the server words it."""
    served: bool = True
    """Whether the server answers for this version."""
    stored: bool = False
    """Whether this is the version in which objects are stored, whichever is newest."""

    @property
    def api_version(self) -> str:
        """``apps/v1``, or ``v1`` for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def namespaced(self) -> bool:
        """Whether its objects live in namespaces."""
        return self.scope == "Namespaced"

    @property
    def group_version_kind(self) -> GroupVersionKind:
        """As objects name it."""
        return GroupVersionKind(self.group, self.version, self.kind)

    @property
    def group_version_resource(self) -> GroupVersionResource:
        """As URLs name it."""
        return GroupVersionResource(self.group, self.version, self.plural)


def kind_of(cls: type[Object]) -> KindInfo:
    """What `@kind` declared about exactly this class. Raises `TypeError` for a class without it."""
    info = cls.__dict__.get("__kind__") if isinstance(cls, type) else None
    if isinstance(info, KindInfo):
        return info
    if isinstance(cls, type) and issubclass(cls, Object):
        raise TypeError(f'{cls.__name__} is not a kind of the API: decorate it with @kind(group="...", version="...")')
    raise TypeError(f"{cls!r} is not a kind of the API: it takes a class that @kind decorates")
