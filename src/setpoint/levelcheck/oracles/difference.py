"""`differences`: what is otherwise in one canonical state than in another, field by field, the most telling first."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from setpoint.levelcheck.oracles.canonical import State
from setpoint.levelcheck.oracles.masks import at, items
from setpoint.levelcheck.recording import Key

_MARK = re.compile(r"<([^<>~]*)~[0-9a-f-]+>")
_LONGEST = 60


class Difference(msgspec.Struct, frozen=True):
    """`field` is empty where an object is missing, or one too many; then `expected` and `found` are how many there are.

    `resource` is that of an object, or `outside`. `kind` is the object's kind in lower case.
    """

    resource: str
    role: str
    kind: str
    field: str
    expected: str
    found: str

    @property
    def what(self) -> str:
        """The object in words: `statefulset default/db`."""
        if self.resource == "outside":
            return f"{self.role} outside"
        return f"{self.kind} {self.role}"

    @property
    def is_extra(self) -> bool:
        """Whether something is there that should not be."""
        return self.expected == _ABSENT if self.field else int(self.found) > int(self.expected)

    def sentence(self, other: str) -> str:
        """In words; `other` says when it is as expected: `without the fault`."""
        if not self.field:
            if self.expected == "0":
                return f"{self.what} is there{'' if self.found == '1' else f' {self.found} times'}, and is not there {other}"
            if self.found == "0":
                return f"{self.what} is missing, and is there {other}"
            return f"there are {self.found} of {self.what}, and {self.expected} {other}"
        if self.found == _ABSENT:
            return f"{self.what}: {self.field} is not set, and {self.expected} {other}"
        if self.expected == _ABSENT:
            return f"{self.what}: {self.field} is {self.found}, and is not set {other}"
        return f"{self.what}: {self.field} is {self.found}, and {self.expected} {other}"


_ABSENT = "absent"


def differences(expected: State, found: State) -> list[Difference]:
    """Empty exactly where the digests are equal. What follows from something else, as pods from a Deployment, comes after it."""
    told: list[Difference] = []
    if expected.digest == found.digest:
        return told
    for key in sorted({**expected.objects, **found.objects}):
        told += _of_objects(key, expected.objects.get(key, ()), found.objects.get(key, ()))
    for name in sorted({**expected.outside, **found.outside}):
        one, other = _decoded(expected.outside.get(name)), _decoded(found.outside.get(name))
        told += [Difference("outside", name, "outside", *each) for each in _of_values("", one, other)]
    return sorted(told, key=_rank)


def _of_objects(key: Key, expected: tuple[str, ...], found: tuple[str, ...]) -> list[Difference]:
    if expected == found:
        return []
    role = _role(key)
    lost, extra = list(expected), list(found)
    for text in expected:
        if text in extra:
            extra.remove(text)
            lost.remove(text)
    kind = _decoded((*expected, *found)[0])["kind"].lower()
    if len(expected) != len(found):
        return [Difference(key.resource, role, kind, "", str(len(expected)), str(len(found)))]
    told = []
    for one, other in zip(lost, extra, strict=True):
        told += [Difference(key.resource, role, kind, *each) for each in _of_values("", _decoded(one), _decoded(other))]
    return told


def _of_values(path: str, expected: Any, found: Any) -> list[tuple[str, str, str]]:
    if type(expected) is type(found) and expected == found:
        return []
    if isinstance(expected, dict) and isinstance(found, dict):
        pairs = {at(path, key): (expected.get(key), found.get(key)) for key in sorted({**expected, **found})}
    elif isinstance(expected, list) and isinstance(found, list) and (expected or found):
        one, other = items(path, expected), items(path, found)
        if not all(isinstance(item, dict) for item in (*expected, *found)):
            return [(path, _told(expected), _told(found))]
        pairs = {here: (one.get(here), other.get(here)) for here in {**one, **other}}
    else:
        return [(path or ".", _told(expected), _told(found))]
    return [difference for here, (one_side, other_side) in pairs.items() for difference in _of_values(here, one_side, other_side)]


def _decoded(text: str | None) -> Any:
    return None if text is None else msgspec.json.decode(text)


def _role(key: Key) -> str:
    return f"{key.namespace}/{key.name}" if key.namespace else key.name


def _told(value: Any) -> str:
    if value is None:
        return _ABSENT
    text = value if isinstance(value, str) and value and " " not in value else msgspec.json.encode(value).decode()
    text = _MARK.sub(r"\1", text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."


_FOLLOWING = ("replicasets.apps", "pods", "persistentvolumes", "persistentvolumeclaims", "endpoints", "endpointslices.discovery.k8s.io")


def _rank(difference: Difference) -> tuple[int, int, str, str, str]:
    """What is missing or too many, what is wanted, what is told; and what the cluster makes of that after it."""
    field = difference.field
    telling = 0 if not field else 1 if field.startswith((".spec", ".data")) else 3 if field.startswith(".status") else 2
    if difference.resource == "outside":
        telling = 0
    return (1 if difference.resource in _FOLLOWING else 0, telling, difference.resource, difference.role, field)
