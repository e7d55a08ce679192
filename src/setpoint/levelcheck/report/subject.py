"""What a finding is about: the object, and those that have to do with it; and short names for all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from setpoint.levelcheck.finding import Finding
from setpoint.levelcheck.recording import Changed, Key, Recording
from setpoint.levelcheck.report.changes import decoded


@dataclass(frozen=True)
class Subject:
    """The objects that a finding names, and their owners, children and siblings. Where it names none, everything has to do with it."""

    keys: tuple[Key, ...]
    related: tuple[Key, ...]

    def closeness(self, key: Key) -> int:
        """2 for the object itself, 1 for what has to do with it, 0 for the rest."""
        return 2 if key in self.keys else int(key in self.related or not self.keys)

    def closeness_of(self, resource: str) -> int:
        """That of the closest object of the resource."""
        if any(key.resource == resource for key in self.keys):
            return 2
        return int(not self.keys or any(key.resource == resource for key in self.related))


def subject_of(finding: Finding, *recordings: Recording) -> Subject:
    """What the finding is about, in any of these runs."""
    states = dict(state for recording in recordings for state in last_states(recording).items())
    of_resource = [key for key in states if finding.resource and key.resource == finding.resource]
    named = [key for key in of_resource if finding.role in (key.name, f"{key.namespace}/{key.name}", str(key))]
    keys = tuple(named or of_resource)  # a role that is no name stands for generated ones
    return Subject(keys, tuple(key for key in states if key not in keys and _is_related(key, keys, states)))


def last_states(recording: Recording) -> dict[Key, dict[str, Any]]:
    """The last state of every object that there has been, in the order in which they came."""
    states = {change.key: decoded(change.after) for change in recording.moments if isinstance(change, Changed)}
    return {**states, **recording.objects}


def owners_of(obj: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Kind and name of each owner."""
    references = (obj.get("metadata") or {}).get("ownerReferences") or []
    return [(reference.get("kind", ""), reference.get("name", "")) for reference in references]


def _is_related(key: Key, keys: tuple[Key, ...], states: Mapping[Key, dict[str, Any]]) -> bool:
    mine = owners_of(states[key])
    me = (states[key].get("kind", ""), key.name)
    for other in keys:
        theirs = owners_of(states[other])
        if me in theirs or (states[other].get("kind", ""), other.name) in mine or any(owner in theirs for owner in mine):
            return True
    return False


class Names:
    """Short names for objects, as short as they can be in these runs: `deployments/shop`."""

    def __init__(self, *recordings: Recording) -> None:
        keys = dict.fromkeys(key for recording in recordings for key in last_states(recording))
        groups = Counter(resource.partition(".")[0] for resource in dict.fromkeys(key.resource for key in keys))
        self._ambiguous = {plural for plural, count in groups.items() if count > 1}
        self._several_namespaces = len({key.namespace for key in keys if key.namespace}) > 1

    def resource(self, resource: str) -> str:
        """`deployments` for `deployments.apps`, unless another group has such, too."""
        plural = resource.partition(".")[0]
        return resource if plural in self._ambiguous else plural

    def key(self, key: Key) -> str:
        """Resource and name; the namespace where there are several."""
        return self.object(key.resource, key.namespace, key.name)

    def object(self, resource: str, namespace: str, name: str) -> str:
        """The same, of an object's parts; of a list, whose name is empty, the resource alone."""
        words: Iterable[str] = [self.resource(resource), *([namespace] if namespace and self._several_namespaces and name else []), name]
        return "/".join(word for word in words if word)
