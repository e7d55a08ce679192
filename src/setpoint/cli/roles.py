"""`setpoint rbac`: the roles that controllers need, and their bindings to a service account.

In certain namespaces these are Roles, so that nothing is allowed elsewhere; only a kind that has no namespaces needs a ClusterRole then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import msgspec

from setpoint.cli.failure import USAGE, Failure
from setpoint.controller import Controller
from setpoint.manager import LeaderElection
from setpoint.manager.permissions import Rule, needs_of, rules_for

_GROUP = "rbac.authorization.k8s.io"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")


def roles(
    controllers: Sequence[Controller[Any]],
    target: str,
    namespaces: Sequence[str],
    *,
    name: str | None,
    service_account: str | None,
    election: tuple[str, str] | None,
) -> list[dict[str, Any]]:
    """The objects, a role and its binding for each namespace; those for the whole cluster first. Raises `Failure`."""
    name = _name(name or _called(target), "--name")
    for namespace in namespaces:
        _name(namespace, "--namespace")
    home, _, account = (service_account or name).rpartition(":")
    home = _name(home or next(iter(namespaces), "default"), "--service-account")
    _name(account, "--service-account")
    lease = None if election is None else LeaderElection(name=election[0], namespace=election[1] or home)
    rules = rules_for(needs_of(controllers, list(dict.fromkeys(namespaces)) or [""], lease))
    subject = {"kind": "ServiceAccount", "name": account, "namespace": home}
    return [
        document
        for namespace in sorted(rules, key=lambda namespace: (namespace != "", namespace))
        for document in _role(name, namespace, rules[namespace], subject)
    ]


def _role(name: str, namespace: str, rules: list[Rule], subject: dict[str, str]) -> list[dict[str, Any]]:
    kind = "Role" if namespace else "ClusterRole"
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    head = {"apiVersion": f"{_GROUP}/v1"}
    return [
        {**head, "kind": kind, "metadata": dict(metadata), "rules": [_plain(rule) for rule in rules]},
        {
            **head,
            "kind": f"{kind}Binding",
            "metadata": dict(metadata),
            "roleRef": {"apiGroup": _GROUP, "kind": kind, "name": name},
            "subjects": [dict(subject)],
        },
    ]


def _plain(rule: Rule) -> dict[str, list[str]]:
    return {name: list(values) for name, values in msgspec.to_builtins(rule).items()}


def _called(target: str) -> str:
    """What a target is called: `webapp` for `examples/webapp.py:controller` and for `examples.webapp`."""
    location = target.rpartition(":")[0] or target
    name = PurePath(location).stem if location.endswith(".py") else location.rpartition(".")[2]
    return name.lower().replace("_", "-").strip("-.")


def _name(text: str, option: str) -> str:
    if not _NAME.fullmatch(text):
        raise Failure(f"{option} is {text!r}, which is no name: lower-case letters, digits, '-' and '.'", code=USAGE)
    return text
