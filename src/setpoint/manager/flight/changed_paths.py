"""Which fields two states of an object differ in: their paths, never their values.

A path reads as in `spec.template.spec.containers[name=web].image`. Items of a list are told apart by what names them (`name` or `type`)
where each has such a name of its own, else by their place. What is called `key` may be one that opens something, and is no name.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_BOOKKEEPING = ("managedFields", "resourceVersion", "generation")
"""What the server changes with every write, and nobody asks for."""
_NAMES = ("name", "type")
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def changed_paths(before: bytes, after: bytes) -> list[str]:
    """The paths at which two states of an object differ, in the order of the fields. What is wholly new or gone is one path."""
    old, new = _fields(before), _fields(after)
    # A write changes one part of an object and leaves the others, large as they may be, to the byte.
    return paths_between(_read(old, new), _read(new, old))


def paths_between(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The same for states that are decoded already."""
    found: list[str] = []
    _compare("", _content(before), _content(after), found)
    return found


def stated_paths(body: bytes) -> list[str]:
    """The paths that a merge patch or an applied object states, which may or may not be changes; [] for anything else."""
    stated = msgspec.json.decode(body)
    if not isinstance(stated, dict):
        return []
    found: list[str] = []
    _leaves("", _content({name: value for name, value in stated.items() if name not in ("apiVersion", "kind")}), found)
    return found


def _read(fields: dict[str, msgspec.Raw], others: dict[str, msgspec.Raw]) -> dict[str, Any]:
    """What of the one state is written otherwise in the other."""
    return {
        name: _metadata(raw) if name == "metadata" else msgspec.json.decode(raw) for name, raw in fields.items() if others.get(name) != raw
    }


def _metadata(raw: msgspec.Raw) -> Any:
    try:
        fields = _fields(raw)
    except msgspec.ValidationError:
        return msgspec.json.decode(raw)
    return {name: msgspec.json.decode(value) for name, value in fields.items() if name not in _BOOKKEEPING}


def _content(state: dict[str, Any]) -> dict[str, Any]:
    metadata = state.get("metadata")
    if not isinstance(metadata, dict):
        return state
    return {**state, "metadata": {name: value for name, value in metadata.items() if name not in _BOOKKEEPING}}


def _compare(path: str, before: Any, after: Any, found: list[str]) -> None:
    if before == after and type(before) is type(after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys((*before, *after)):
            if name in before and name in after:
                _compare(_field(path, name), before[name], after[name], found)
            else:
                found.append(_field(path, name))
    elif isinstance(before, list) and isinstance(after, list):
        old, new = _items(before), _items(after)
        if old.keys() == new.keys() and before and [*old] != [*new]:
            found.append(path)  # the same items in another order, and perhaps more than that
        for name in dict.fromkeys((*old, *new)):
            if name in old and name in new:
                _compare(f"{path}[{name}]", old[name], new[name], found)
            else:
                found.append(f"{path}[{name}]")
    else:
        found.append(path)


def _items(items: list[Any]) -> dict[str, Any]:
    """The items by what tells them apart."""
    for field in _NAMES:
        names = [item.get(field) if isinstance(item, dict) else None for item in items]
        if all(isinstance(name, str) for name in names) and len(dict.fromkeys(names)) == len(names):
            return {f"{field}={name}": item for name, item in zip(names, items, strict=True)}
    return {str(place): item for place, item in enumerate(items)}


def _leaves(path: str, value: Any, found: list[str]) -> None:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            _leaves(_field(path, name), inner, found)
    elif path:
        found.append(path)


def _field(path: str, name: str) -> str:
    if not _PLAIN.fullmatch(name):
        return f'{path}["{name}"]'
    return f"{path}.{name}" if path else name
