"""`Untyped`: an object of a kind that no class describes, as the JSON that it is."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, MutableMapping, ValuesView
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from setpoint.api.names import GroupVersionKind

from .frozen import FrozenDict, FrozenList
from .metadata import Object, ObjectMeta
from .struct import absent

_GIVEN = Object.__dict__["metadata"]
"""Where the constructor puts ``metadata=``, before it goes into the content."""


class Untyped(Object, kw_only=False):
    """An object as a mapping, in the wire's spelling: ``obj["spec"]["replicas"]``. It loses nothing that was read.

    ``Untyped({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {...}})`` keeps the dictionary that it is given.
    ``metadata`` is a view to read from; it can be assigned as a whole, and written to in parts as ``obj["metadata"]["labels"]``.
    """

    content: dict[str, Any]

    @property
    def api_version(self) -> str:
        """The object's ``apiVersion``. Raises `ValueError` if it has none."""
        return self._stated("apiVersion")

    @property
    def kind(self) -> str:
        """The object's ``kind``. Raises `ValueError` if it has none."""
        return self._stated("kind")

    @property
    def group_version_kind(self) -> GroupVersionKind:
        """What it is. Raises `ValueError` if it does not say so."""
        return GroupVersionKind.parse(self.api_version, self.kind)

    if not TYPE_CHECKING:
        # In place of the field that `Object` has. To type checkers it is still one, which is how it is used.

        @property
        def metadata(self) -> ObjectMeta:
            """The metadata as it is now, to read from."""
            content = self.content.get("metadata")
            return _view(content) if content else absent(ObjectMeta)

        @metadata.setter
        def metadata(self, metadata: ObjectMeta) -> None:
            self.content["metadata"] = msgspec.json.decode(msgspec.json.encode(metadata))

    def __post_init__(self) -> None:
        given = _GIVEN.__get__(self)
        if given:
            self.metadata = given
            _GIVEN.__set__(self, absent(ObjectMeta))

    def _stated(self, field: str) -> str:
        value = self.content.get(field)
        if isinstance(value, str) and value:
            return value
        raise ValueError(f'this object does not say its {field}: an Untyped needs "apiVersion" and "kind"')

    def __getitem__(self, key: str) -> Any:
        return self.content[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.content[key] = value

    def __delitem__(self, key: str) -> None:
        del self.content[key]

    def __contains__(self, key: object) -> bool:
        return key in self.content

    def __iter__(self) -> Iterator[str]:
        return iter(self.content)

    def __len__(self) -> int:
        return len(self.content)

    def get(self, key: str, default: Any = None) -> Any:
        """As `dict.get`."""
        return self.content.get(key, default)

    def keys(self) -> KeysView[str]:
        """As `dict.keys`."""
        return self.content.keys()

    def values(self) -> ValuesView[Any]:
        """As `dict.values`."""
        return self.content.values()

    def items(self) -> ItemsView[str, Any]:
        """As `dict.items`."""
        return self.content.items()

    def setdefault(self, key: str, default: Any = None) -> Any:
        """As `dict.setdefault`."""
        return self.content.setdefault(key, default)

    def update(self, other: Mapping[str, Any]) -> None:
        """As `dict.update`."""
        self.content.update(other)

    def pop(self, key: str, *default: Any) -> Any:
        """As `dict.pop`."""
        return self.content.pop(key, *default)


MutableMapping.register(Untyped)


class _MetadataView(ObjectMeta):
    """Metadata that is read from an `Untyped`."""

    def __setattr__(self, name: str, value: object) -> None:
        _refuse()


def _refuse() -> NoReturn:
    raise AttributeError('the metadata of an Untyped is a view: write to obj["metadata"], in the wire\'s spelling')


def _view(content: dict[str, Any]) -> ObjectMeta:
    stated = {name: value for name, value in content.items() if value is not None}
    view = msgspec.convert(stated, _MetadataView)
    for attribute in view.__struct_fields__:
        value = getattr(view, attribute)
        if isinstance(value, dict):
            msgspec.structs.force_setattr(view, attribute, FrozenDict(value, _refuse))
        elif isinstance(value, list):
            msgspec.structs.force_setattr(view, attribute, FrozenList(value, _refuse))
    return view
