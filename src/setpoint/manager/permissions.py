"""What a program must be allowed to do, as far as its controllers declare it, and the RBAC rules that allow it.

What they watch, own or index is read: `get`, `list`, `watch`. What they own they write as well, and the status of their primary kind, and
Events: that is what a controller usually does, while nobody can know what a reconciler will write. So reads are *required*, without them it
does not work at all, and writes are advice.

In certain namespaces nothing but rules in those namespaces is needed, unless a kind has no namespaces itself.

https://kubernetes.io/docs/reference/access-authn-authz/rbac/
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from setpoint.controller import Controller
from setpoint.controller.cluster_events import EVENTS
from setpoint.k8s.coordination.v1 import Lease
from setpoint.manager.election import LeaderElection
from setpoint.objects import KindInfo, kind_of

READ = ("get", "list", "watch")
WRITE = ("create", "delete", "patch")


class Need(NamedTuple):
    """One right: a verb on a resource (with its subresource: `webapps/status`). `namespace` is "" for all of them; `name` for any."""

    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""
    required: bool = False

    def __str__(self) -> str:
        """As people say it: `list deployments.apps in namespace "shop"`."""
        main, slash, subresource = self.resource.partition("/")
        what = f"{main}.{self.group}".rstrip(".") + slash + subresource
        where = f'in namespace "{self.namespace}"' if self.namespace else "in the whole cluster"
        return f"{self.verb} {what} {where}"


TO_FOLLOW = [Need(verb, "", "namespaces", required=True) for verb in ("list", "watch")]
"""What it takes to find the namespaces with certain labels. What is needed in them nobody can tell before."""


class Rule(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A rule of a role: each of the verbs on each of the resources."""

    api_groups: tuple[str, ...]
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    resource_names: tuple[str, ...] = ()


def needs_of(
    controllers: Iterable[Controller[Any]], namespaces: Sequence[str] = ("",), election: LeaderElection | None = None
) -> list[Need]:
    """What these controllers need, each once, in the order in which it is declared. `namespaces` of `("",)` are all of them."""
    found: dict[Need, None] = {}

    def need(verbs: Iterable[str], info: KindInfo, subresource: str = "", *, required: bool = False) -> None:
        for namespace in namespaces if info.namespaced else ("",):
            found.update((Need(verb, info.group, info.plural + subresource, namespace, required=required), None) for verb in verbs)

    for controller in controllers:
        for kind in controller.kinds:
            need(READ, kind_of(kind), required=True)
        primary = kind_of(controller.kind)
        if primary.has_status:
            need(["patch"], primary, "/status")
        for kind in controller.owns:
            need(WRITE, kind_of(kind))
        if controller.owns:
            # Where the server makes sure that nobody blocks another's deletion, that is what an owner reference needs.
            need(["update"], primary, "/finalizers")
        # Events about what has no namespace are in "default".
        for namespace in dict.fromkeys((*namespaces, *(() if primary.namespaced or "" in namespaces else ("default",)))):
            found.update((Need(verb, EVENTS.group, EVENTS.resource, namespace), None) for verb in ("create", "patch"))
    if election is not None:
        lease = kind_of(Lease)
        # A Lease that is yet to be created cannot be allowed by its name.
        for verb, name in (("create", ""), ("list", election.name), ("watch", election.name), ("patch", election.name)):
            found[Need(verb, lease.group, lease.plural, election.namespace, name, True)] = None
    return list(found)


def rules_for(needs: Iterable[Need]) -> dict[str, list[Rule]]:
    """The fewest rules that give just that, for each namespace; those of "" belong into a ClusterRole."""
    verbs: dict[tuple[str, str, str, str], dict[str, None]] = {}
    for need in needs:
        verbs.setdefault((need.namespace, need.group, need.resource, need.name), {})[need.verb] = None
    resources: dict[tuple[str, str, str, tuple[str, ...]], list[str]] = {}
    for (namespace, group, resource, name), wanted in verbs.items():
        resources.setdefault((namespace, group, name, tuple(sorted(wanted))), []).append(resource)
    found: dict[str, list[Rule]] = {}
    for (namespace, group, name, allowed), of_group in resources.items():
        rule = Rule(api_groups=(group,), resources=tuple(of_group), verbs=allowed, resource_names=(name,) if name else ())
        found.setdefault(namespace, []).append(rule)
    return found


def in_yaml(rules: Iterable[Rule], indent: str = "") -> str:
    """Rules as they stand in a role."""
    lines = []
    for rule in rules:
        fields = msgspec.to_builtins(rule)
        for number, (name, values) in enumerate(fields.items()):
            lines.append(f"{indent}{'  ' if number else '- '}{name}: {msgspec.json.format(msgspec.json.encode(values), indent=0).decode()}")
    return "\n".join(lines)
