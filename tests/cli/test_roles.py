"""`setpoint rbac`: the roles that controllers need, as small as they can be."""

from __future__ import annotations

import yaml

from .conftest import Cli, Write

CONTROLLERS = """
from setpoint import Controller
from setpoint.k8s.apps.v1 import Deployment
from setpoint.k8s.core.v1 import ConfigMap, Namespace, Secret

first = Controller(ConfigMap, name="first")
first.watch(Secret, map=lambda secret: [])
second = Controller(Deployment, name="second", owns=[ConfigMap])
wide = Controller(Namespace, name="wide")

for controller in (first, second, wide):
    @controller.reconciler
    async def reconcile(ctx, request):
        return None
"""


def documents(text: str) -> dict[tuple[str, str], dict]:
    found = list(yaml.safe_load_all(text))
    return {(document["kind"], document["metadata"].get("namespace", "")): document for document in found}


def rights(role: dict) -> set[str]:
    return {
        ":".join(filter(None, (f"{verb} {resource}.{group}".rstrip("."), *rule.get("resourceNames", []))))
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def reads(*resources: str) -> set[str]:
    return {f"{verb} {resource}" for verb in ("get", "list", "watch") for resource in resources}


EVENTS = {"create events.events.k8s.io", "patch events.events.k8s.io"}


def test_what_is_watched_is_read_and_what_is_owned_is_written(cli: Cli, write: Write) -> None:
    write("two.py", CONTROLLERS)
    found = documents(cli("rbac", "two.py:second").out)
    assert [*found] == [("ClusterRole", ""), ("ClusterRoleBinding", "")]
    assert rights(found["ClusterRole", ""]) == {
        *reads("deployments.apps", "configmaps"),
        "create configmaps",
        "delete configmaps",
        "patch configmaps",
        "patch deployments/status.apps",
        "update deployments/finalizers.apps",
        *EVENTS,
    }


def test_a_controller_that_owns_nothing_gets_no_right_to_write_but_events(cli: Cli, write: Write) -> None:
    write("two.py", CONTROLLERS)
    found = documents(cli("rbac", "two.py:first", "-n", "shop").out)
    assert [*found] == [("Role", "shop"), ("RoleBinding", "shop")]
    assert rights(found["Role", "shop"]) == {*reads("configmaps", "secrets"), *EVENTS}


def test_only_a_kind_without_namespaces_needs_a_role_in_the_cluster(cli: Cli, write: Write) -> None:
    write("two.py", CONTROLLERS)
    found = documents(cli("rbac", "two.py", "-n", "b", "-n", "a").out)
    assert [*found] == [
        ("ClusterRole", ""),
        ("ClusterRoleBinding", ""),
        ("Role", "a"),
        ("RoleBinding", "a"),
        ("Role", "b"),
        ("RoleBinding", "b"),
        ("Role", "default"),
        ("RoleBinding", "default"),
    ]
    # Events about what has no namespace are there.
    assert rights(found["Role", "default"]) == {"create events.events.k8s.io", "patch events.events.k8s.io"}
    assert rights(found["ClusterRole", ""]) == {*reads("namespaces"), "patch namespaces/status"}
    assert rights(found["Role", "a"]) == rights(found["Role", "b"])
    assert documents(cli("rbac", "two.py", "-n", "b,a").out) == found
    (subject,) = found["RoleBinding", "a"]["subjects"]
    assert subject == {"kind": "ServiceAccount", "name": "two", "namespace": "b"}


def test_the_lease_of_an_election_is_allowed_by_its_name(cli: Cli, write: Write) -> None:
    write("two.py", CONTROLLERS)
    found = documents(cli("rbac", "two.py:first", "--leader-election-id", "two.example.com", "--service-account", "ops:two").out)
    assert rights(found["Role", "ops"]) == {
        "create leases.coordination.k8s.io",
        *(f"{verb} leases.coordination.k8s.io:two.example.com" for verb in ("list", "watch", "patch")),
    }
    assert found["ClusterRoleBinding", ""]["subjects"] == [{"kind": "ServiceAccount", "name": "two", "namespace": "ops"}]


def test_the_output_is_the_same_each_time(cli: Cli, write: Write) -> None:
    write("two.py", CONTROLLERS)
    assert cli("rbac", "two.py").out == cli("rbac", "two.py").out


def test_what_cannot_be_known_is_refused(cli: Cli, write: Write) -> None:
    write("two.py", CONTROLLERS)
    write("app.py", "async def app(manager): ...\n")
    assert "holds no controller at its top level" in cli("rbac", "app.py").refusal()
    assert "is no name" in cli("rbac", "two.py", "--name", "A B").refusal(2)
    assert "--namespace is 'A', which is no name" in cli("rbac", "two.py", "-n", "A").refusal(2)
    assert "--leader-elect needs" in cli("rbac", "two.py", "--leader-election-namespace", "x").refusal(2)
