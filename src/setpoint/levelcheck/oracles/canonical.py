"""`canonical`: the state of a cluster as far as a controller is answerable for it, equal for runs that came to the same.

UIDs are told by whose they are. A generated name is told by its pattern and by what bears it: the object's content, its owner, its labels
and what mentions it; never by its text, wherever it stands. So two states are equal if one is the other with other UIDs, other generated
names, at another hour. Ties are broken by rounds of refinement, as graphs are told apart by colours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from hashlib import blake2b
from math import inf
from typing import Any

import msgspec

from setpoint.levelcheck.oracles import generated
from setpoint.levelcheck.oracles.generated import UID
from setpoint.levelcheck.oracles.masks import NO_MASKS, Masks, blanked
from setpoint.levelcheck.oracles.reduced import Reduced, encode, ordered, ordered_outside, reduced, told, words
from setpoint.levelcheck.recording import Changed, Key, Recording

_ROUNDS = 3
"""A generated name is told by what is at most so many mentions away, always: so that one object more elsewhere changes nothing here."""
_NOBODY = "<nobody>"


class State(msgspec.Struct, dict=True):
    """Objects by resource, namespace and name, a star standing for what is made up in it: all of one name in order. `outside` by fakes."""

    objects: dict[Key, tuple[str, ...]]
    outside: dict[str, str]

    @cached_property
    def digest(self) -> str:
        """Equal for equal states."""
        taken = blake2b(digest_size=12)
        for key in sorted(self.objects):
            taken.update(f"{key}\n{len(self.objects[key])}\n".encode())
            for text in self.objects[key]:
                taken.update(text.encode())
        for name in sorted(self.outside):
            taken.update(f"\n{name}\n{self.outside[name]}".encode())
        return taken.hexdigest()


def canonical(
    objects: Mapping[Key, bytes | Mapping[str, Any]],
    outside: Mapping[str, Any] | None = None,
    *,
    keep: tuple[str, ...] = (),
    masks: Masks = NO_MASKS,
    gone: Mapping[str, str] | None = None,
) -> State:
    """The canonical state of objects (as JSON, or decoded) and of the outside.

    `keep` are words of the user that look like times or allocated values and are none. `gone` are names that were made up for objects that
    are no more, with their patterns: a mention of one is not told by its text either.
    """
    found: dict[Key, Reduced] = {}
    for key, obj in objects.items():
        raw = obj if isinstance(obj, bytes) else msgspec.json.encode(obj)
        kept = reduced(key.resource, raw, keep, masks.of(key.resource))
        if kept is not None:
            found[key] = kept
    external = {name: _outside(name, value, keep, masks) for name, value in (outside or {}).items()}
    return _Naming(found, external, gone or {}).state()


def state_of(recording: Recording, *, keep: tuple[str, ...] = (), masks: Masks = NO_MASKS) -> State:
    """The canonical state in which a run has ended."""
    return canonical(recording.objects, recording.outside, keep=keep, masks=masks, gone=gone_by(recording))


def gone_by(recording: Recording, at: float = inf) -> dict[str, str]:
    """Names that were made up for objects that are no more at that time, with their patterns."""
    found: dict[str, str] = {}
    for change in recording.changes:
        if change.at <= at:
            found.pop(change.key.name, None)
            if change.deleted and (kept := reduced(change.key.resource, change.after)) is not None and kept.pattern:
                found[kept.name] = kept.pattern
    return found


def _outside(name: str, value: Any, keep: tuple[str, ...], masks: Masks) -> str:
    masked = masks.of(name)
    return encode(told(blanked(value, masked) if masked else value, keep)).decode()


class _Naming:
    """Gives the things of one state names that another run's would have, too."""

    def __init__(self, found: dict[Key, Reduced], outside: dict[str, str], gone: Mapping[str, str]) -> None:
        self._whose = {kept.uid: f"<uid of {key}>" for key, kept in found.items() if kept.uid}
        self._patterns = self._all_patterns(found)
        self._bearers: dict[str, list[Key]] = {}
        names: dict[str, str] = {}
        for key, kept in found.items():
            if key.name in self._patterns:
                self._bearers.setdefault(key.name, []).append(key)
                names[kept.uid] = key.name
        fixed = _Marks({name: f"<gone {pattern}>" for name, pattern in gone.items() if name not in self._patterns}, gone)
        for key, kept in found.items():
            for address in kept.addresses:
                fixed.add(address, f"<address of {key}>", [address.rpartition(".")[2]])
        made_up = _Marks(dict.fromkeys(self._patterns, ""), self._patterns)
        self._texts: dict[Key, str] = {}
        self._unordered: dict[Key, None] = {}
        self._mentions: dict[Key, list[str]] = {}
        for key, kept in found.items():
            text = kept.text
            for uid in kept.uids:
                text = text.replace(uid, self._whose.get(uid, _NOBODY))
            text = fixed.put(text, kept.words)
            self._texts[key] = text
            if hits := made_up.hits(text, kept.words, [names[uid] for uid in kept.uids if uid in names]):
                self._mentions[key] = hits
                if any(name in kept.sets or f'{name}":' in text for name in hits):
                    self._unordered[key] = None
            if any(uid in kept.sets for uid in kept.uids):
                self._unordered[key] = None
        self._outside: dict[str, tuple[str, list[str]]] = {}
        for name, text in outside.items():
            text = UID.sub(self._owner, text)
            said = words(text)
            text = fixed.put(text, said)
            self._outside[name] = text, made_up.hits(text, said)

    def state(self) -> State:
        marks: dict[str, str] = {}
        if self._patterns:
            marks = {name: f"<{pattern}>" for name, pattern in self._patterns.items()}
            for _ in range(_ROUNDS):
                told = self._told(marks)
                marks = {name: self._marked(name, [told[key] for key in bearers]) for name, bearers in self._bearers.items()}
            marks = self._untied(marks)
        texts = self._told(marks)
        objects: dict[Key, list[str]] = {}
        for key, text in texts.items():
            objects.setdefault(self._named(key), []).append(text)
        outside = {name: ordered_outside(_rewritten(text, hits, marks)) for name, (text, hits) in self._outside.items()}
        return State({key: tuple(sorted(each)) for key, each in objects.items()}, outside)

    @staticmethod
    def _all_patterns(found: dict[Key, Reduced]) -> dict[str, str]:
        patterns = {key.name: kept.pattern for key, kept in found.items() if kept.pattern}
        if patterns:
            known = dict.fromkeys(part for name, pattern in patterns.items() for part in generated.parts(name, pattern))
            for key in found:
                if key.name in patterns or known.keys().isdisjoint(key.name.split("-")) or UID.search(key.name):
                    continue
                if pattern := generated.made_up(key.name, known):
                    patterns[key.name] = pattern
        return patterns

    def _told(self, marks: dict[str, str]) -> dict[Key, str]:
        # By the base text each time, with the names told better and better.
        found = dict(self._texts)
        for key, hits in self._mentions.items():
            found[key] = _rewritten(found[key], hits, marks)
        for key in self._unordered:
            found[key] = ordered(found[key])
        return found

    def _marked(self, name: str, texts: Iterable[str]) -> str:
        return f"<{self._patterns[name]}~{_digest(*sorted(texts))}>"

    def _untied(self, marks: dict[str, str]) -> dict[str, str]:
        """Names whose bearers are alike are told by who mentions them."""
        alike: dict[str, list[str]] = {}
        for name, mark in marks.items():
            alike.setdefault(mark, []).append(name)
        better = dict(marks)
        for name in [name for names in alike.values() if len(names) > 1 for name in names]:
            by = [
                _rewritten(self._texts[key], hits, {**marks, name: "<me>"})
                for key, hits in self._mentions.items()
                if name in hits and key.name != name
            ]
            if by:
                better[name] = f"{marks[name][:-1]}-{_digest(*sorted(by))}>"
        return better

    def _named(self, key: Key) -> Key:
        if pattern := self._patterns.get(key.name):
            return Key(key.resource, key.namespace, pattern)
        if UID.search(key.name):
            return Key(key.resource, key.namespace, UID.sub(self._owner, key.name))
        return key

    def _owner(self, found: re.Match[str]) -> str:
        return self._whose.get(found[0], _NOBODY)


class _Marks:
    """Finds names in texts by their made-up parts, which are rare, and puts marks in their places."""

    def __init__(self, marks: dict[str, str], patterns: Mapping[str, str]) -> None:
        self._marks: dict[str, str] = {}
        self._by_part: dict[str, list[str]] = {}
        for name, mark in marks.items():
            self.add(name, mark, generated.parts(name, patterns[name]))

    def add(self, name: str, mark: str, parts: Iterable[str]) -> None:
        self._marks[name] = mark
        for part in parts:
            self._by_part.setdefault(part, []).append(name)

    def hits(self, text: str, said: frozenset[str], also: Iterable[str] = ()) -> list[str]:
        """The names in a text, the longest first: a pod's name begins with its ReplicaSet's. `also` are there in any case."""
        if not self._by_part:
            return []
        found = dict.fromkeys(name for part in said.intersection(self._by_part) for name in self._by_part[part] if name in text)
        found.update(dict.fromkeys(also))
        return sorted(found, key=lambda name: (-len(name), name))

    def put(self, text: str, said: frozenset[str]) -> str:
        return _rewritten(text, self.hits(text, said), self._marks)


def _rewritten(text: str, hits: list[str], marks: Mapping[str, str]) -> str:
    for name in hits:
        text = text.replace(name, marks[name])
    return text


def _digest(*texts: str) -> str:
    taken = blake2b(digest_size=5)
    for text in texts:
        taken.update(text.encode())
        taken.update(b"\0")
    return taken.hexdigest()


def objects_at(changes: Iterable[Changed]) -> dict[Key, bytes]:
    """The objects that a history leaves."""
    found: dict[Key, bytes] = {}
    for change in changes:
        if change.deleted:
            found.pop(change.key, None)
        else:
            found[change.key] = change.after
    return found
