"""Which module of `setpoint.k8s` each class is in, so that importing one kind loads what that kind needs and nothing else.

Every kind has a module of its own. It also holds the structs to which only that kind leads. A struct that several kinds use starts a
module as well, with all that can only be reached through it, if that is much (`PodSpec`); little ones share the module ``shared``,
unless they lead to a module of their own kind again: that would make modules import each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from setpoint.objects import python_name

MUCH = 8
"""Classes from which a group of them is worth a module."""

SHARED = "shared"

Graph = dict[str, list[str]]
"""For each schema those that its class must name."""


def modules(graph: Graph, kinds: Iterable[str], group_of: Callable[[str], str], class_of: Callable[[str], str]) -> dict[str, str]:
    """The module of each schema within its group version."""
    heads = _heads(graph, list(kinds), group_of)
    members: dict[str, list[str]] = {}
    for schema, head in heads.items():
        members.setdefault(head, []).append(schema)
    kinds = set(kinds)
    large = {head for head, found in members.items() if head in kinds or len(found) >= MUCH}

    def leads_on(head: str, seen: frozenset[str]) -> bool:
        """Whether a class that is reached from this one has a module of its own."""
        targets = [target for member in members[head] for target in graph[member] if heads[target] != head and target not in seen]
        return any(heads[target] in large or leads_on(heads[target], seen | {target}) for target in targets)

    own = {head for head in members if head in large or leads_on(head, frozenset())}
    return {schema: python_name(class_of(head)) if head in own else SHARED for schema, head in heads.items()}


def _heads(graph: Graph, kinds: list[str], group_of: Callable[[str], str]) -> dict[str, str]:
    """For each schema the one through which alone it is reached, as far up as its group version goes: a dominator."""
    users: dict[str, list[str]] = {schema: [] for schema in graph}
    for schema, targets in graph.items():
        for target in targets:
            if schema != target:
                users[target].append(schema)
    heads = {schema: schema for schema in graph}
    changed = True
    while changed:
        changed = False
        for schema in graph:
            above = {heads[user] for user in users[schema]}
            if schema in kinds or len(above) != 1 or heads[schema] != schema:
                continue
            (head,) = above
            if group_of(head) == group_of(schema):
                heads = {name: head if found == schema else found for name, found in heads.items()}
                changed = True
    return heads
