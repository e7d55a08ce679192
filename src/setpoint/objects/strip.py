"""`Strip`: parts of objects that are left out of what is kept of them, by their paths; so it is known what a kept object cannot tell.

A path names fields from the top, with dots between: `data`, `metadata.managedFields`. A key that has dots itself stands in brackets:
`metadata.annotations["example.com/last-applied"]`. Lists are left out whole, not item by item.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import msgspec

Path: TypeAlias = tuple[str, ...]
Tree: TypeAlias = dict[str, "Tree | None"]

_STEP = re.compile(r"""\.?(?:([^.\[\]"']+)|\[(?:"([^"]+)"|'([^']+)')\])""")
_STRIPPABLE_METADATA = ("managedFields", "annotations", "selfLink")
"""The rest of the metadata is what selectors, owner maps, preconditions and finalizer verbs go by."""

_split = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_join = msgspec.json.Encoder().encode


class Strip:
    """What is left out. Falsy where nothing is. Two of equal paths are equal."""

    __slots__ = ("_tree", "paths")

    def __init__(self, paths: Iterable[str] = ()) -> None:
        """Raises `ValueError` for what is no path, or names what an object cannot be without."""
        if isinstance(paths, str):
            raise ValueError(f"strip takes a list of paths, not {paths!r}")
        self.paths: tuple[Path, ...] = tuple(dict.fromkeys(_parse(path) for path in paths))
        self._tree: Tree = {}
        for path in sorted(self.paths, key=len, reverse=True):  # The shorter one wins: it leaves out more.
            _plant(self._tree, path)

    def __bool__(self) -> bool:
        return bool(self.paths)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Strip) and set(self.paths) == set(other.paths)

    def __hash__(self) -> int:
        return hash(frozenset(self.paths))

    def __repr__(self) -> str:
        return f"Strip({[written(path) for path in self.paths]})"

    def of(self, data: bytes) -> bytes:
        """The object's bytes without what is left out; the same bytes where none of that is there."""
        return (_without(data, self._tree) or data) if self._tree else data

    def touched_by(self, content: Mapping[str, Any]) -> list[Path]:
        """Those of the paths that a manifest or merge patch states something about: at them, below them, or as a whole around them."""
        return [path for path in self.paths if _states(content, path)]


def written(path: Path) -> str:
    """A path as people write it."""
    return "".join(f'["{step}"]' if "." in step or "/" in step else f".{step}" for step in path).removeprefix(".")


def value_at(content: Any, path: Path) -> Any:
    """What is at a path, None where nothing is."""
    for step in path:
        content = content.get(step) if isinstance(content, Mapping) else None
    return content


def lacks(stated: Any, live: Any) -> bool:
    """Whether anything that `live` has is missing from `stated`: a key at any depth, or items at the end of a list."""
    if live is None:
        return False
    if isinstance(live, Mapping):
        return any(lacks(stated.get(key) if isinstance(stated, Mapping) else None, value) for key, value in live.items())
    if isinstance(live, list):
        return bool(live) and (not isinstance(stated, list) or len(stated) < len(live))
    return stated is None


def _parse(text: str) -> Path:
    steps: list[str] = []
    at = 0
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None:
            break
        steps.append(step[1] or step[2] or step[3])
        at = step.end()
    if not steps or at < len(text):
        raise ValueError(f'{text!r} is no path: write it as data, metadata.managedFields or metadata.annotations["example.com/x"]')
    if steps[0] in ("apiVersion", "kind") or (steps[0] == "metadata" and (len(steps) == 1 or steps[1] not in _STRIPPABLE_METADATA)):
        raise ValueError(
            f"{text!r} cannot be stripped: names, versions, labels, owners and finalizers are what an object is found and written by; "
            f"of the metadata only {', '.join(_STRIPPABLE_METADATA)} can go"
        )
    return tuple(steps)


def _plant(tree: Tree, path: Path) -> None:
    for step in path[:-1]:
        deeper = tree.get(step)
        if deeper is None:
            deeper = tree[step] = {}
        tree = deeper
    tree[path[-1]] = None


def _without(data: bytes | msgspec.Raw, tree: Tree) -> bytes | None:
    """The JSON without these parts; None if it has none of them."""
    try:
        members = _split(data)
    except msgspec.ValidationError:
        return None  # no map, so nothing is below it
    changed = False
    for name, deeper in tree.items():
        member = members.get(name)
        if member is None:
            continue
        if deeper is None:
            del members[name]
            changed = True
        elif (kept := _without(member, deeper)) is not None:
            changed = True
            if name == "annotations" and kept == b"{}":
                del members[name]  # as if nobody had ever set one
            else:
                members[name] = msgspec.Raw(kept)
    return _join(members) if changed else None


def _states(content: Any, path: Path) -> bool:
    for step in path:
        if not isinstance(content, Mapping):
            return True  # the whole around it is replaced, by something that is no map
        if step not in content:
            return False
        content = content[step]
    return True
