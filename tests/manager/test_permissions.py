"""The check of permissions at the start: all that is missing in one message, with the rules to add. Nothing waits for it, unless asked."""

import asyncio
import json
import logging

import pytest
import yaml

from setpoint import Context, Controller, Request
from setpoint.api import Answer
from setpoint.api.status import failure
from setpoint.client import Connection
from setpoint.cluster import ControlPlane
from setpoint.k8s.apps.v1 import Deployment
from setpoint.k8s.core.v1 import ConfigMap, Namespace
from setpoint.manager import LeaderElection, Manager, Options, PermissionsMissing
from setpoint.manager.permissions import in_yaml, needs_of, rules_for
from setpoint.manager.self_check import CannotTell, missing
from setpoint.world import World, simulate

READS = {"verbs": ["get", "list", "watch"], "apiGroups": ["*"], "resources": ["*"]}


class Judge:
    """In front of a server: answers what we may do, by namespace ("" is everywhere), and refuses the rest of what is asked, too."""

    def __init__(self, inner, rules: dict[str, list[dict]], *, reviews: str = "all") -> None:
        self.inner, self.rules, self.reviews = inner, rules, reviews
        self.questions: list[str] = []

    def allows(self, verb: str, group: str, resource: str, namespace: str) -> bool:
        rules = [*self.rules.get("", []), *(self.rules.get(namespace, []) if namespace else [])]
        return any(
            {verb, "*"} & set(rule["verbs"]) and {group, "*"} & set(rule["apiGroups"]) and {resource, "*"} & set(rule["resources"])
            for rule in rules
        )

    async def send(self, operation):
        resource = operation.resource
        if resource is None:
            return await self.inner.send(operation)
        if resource.group == "authorization.k8s.io":
            self.questions.append(resource.resource)
            assert not operation.is_write
            spec = json.loads(operation.body)["spec"]
            if self.reviews == "slow":
                await asyncio.sleep(3600)
            if self.reviews == "none" or (self.reviews == "single" and resource.resource == "selfsubjectrulesreviews"):
                return failure(404, "NotFound", "the server could not find the requested resource").status.answer()
            if resource.resource == "selfsubjectrulesreviews":
                rules = [*self.rules.get("", []), *self.rules.get(spec["namespace"], [])]
                status = {"resourceRules": rules, "nonResourceRules": [], "incomplete": False}
            else:
                asked = spec["resourceAttributes"]
                what = "/".join(filter(None, (asked["resource"], asked.get("subresource"))))
                status = {"allowed": self.allows(asked["verb"], asked["group"], what, asked["namespace"])}
            return Answer(status=201, body=json.dumps({"spec": spec, "status": status}).encode())
        what = "/".join(filter(None, (resource.resource, operation.subresource)))
        if not self.allows(operation.verb, resource.group, what, operation.namespace):
            said = f'{resource.group_resource} is forbidden: User "x" cannot {operation.verb} resource "{resource.resource}"'
            return failure(403, "Forbidden", said).status.answer()
        return await self.inner.send(operation)

    async def close(self) -> None:
        await self.inner.close()


async def nothing(ctx: Context, request: Request) -> None:
    pass


CONTROLLER = Controller(Deployment, owns=[ConfigMap], reconciler=nothing)


def lacking(rules: dict[str, list[dict]], *, namespaces=("",), controllers=(CONTROLLER,), reviews: str = "all", election=None):
    """What is missing, and which questions were asked."""

    async def main(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            judge = Judge(plane.transport(), rules, reviews=reviews)
            found = await missing(Connection(judge, world), needs_of(controllers, namespaces, election))
            return [str(need) for need in found], judge.questions

    return simulate(main)


def test_nothing_is_missing_where_all_is_allowed():
    everything = {"": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]}
    assert lacking(everything)[0] == []
    assert lacking(everything, namespaces=("a", "b"))[0] == []


def test_all_that_is_missing_is_found():
    found, _ = lacking({"": [READS]})
    assert found == [
        "patch deployments.apps/status in the whole cluster",
        "create configmaps in the whole cluster",
        "delete configmaps in the whole cluster",
        "patch configmaps in the whole cluster",
        "update deployments.apps/finalizers in the whole cluster",
        "create events.events.k8s.io in the whole cluster",
        "patch events.events.k8s.io in the whole cluster",
    ]


def test_a_namespace_is_asked_about_in_one_request():
    everything = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*", "*/status"]}]
    found, questions = lacking({"a": everything, "b": everything}, namespaces=("a", "b"))
    assert found == []
    assert questions == ["selfsubjectrulesreviews"] * 2


def test_what_rules_do_not_tell_is_asked_right_by_right():
    everything = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]
    assert lacking({"a": everything}, namespaces=("a",), reviews="single")[0] == []
    found, _ = lacking({"a": everything}, namespaces=("a", "b"))
    assert found
    assert all(need.endswith('in namespace "b"') for need in found)


def test_in_a_namespace_no_right_in_the_whole_cluster_is_asked_for_but_for_kinds_without_namespaces():
    assert not [need for need in needs_of([CONTROLLER], ("a",)) if not need.namespace]
    wide = Controller(Namespace, name="wide", reconciler=nothing)
    assert {need.resource for need in needs_of([wide], ("a",)) if not need.namespace} == {"namespaces", "namespaces/status"}


def test_the_lease_is_asked_for_by_its_name():
    election = LeaderElection(name="x.example.com", namespace="ops")
    named = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["leases"], "resourceNames": ["x.example.com"]}
    every = {"verbs": ["*"], "apiGroups": [""], "resources": ["*"]}
    found, _ = lacking({"ops": [named, every]}, controllers=(), election=election)
    assert found == []


@pytest.mark.parametrize(("reviews", "why"), [("none", "could not find"), ("slow", "has not answered for 10 s")])
def test_a_server_that_cannot_tell_is_not_waited_for(reviews, why):
    with pytest.raises(CannotTell, match=why):
        lacking({}, reviews=reviews)


def test_the_embedded_server_cannot_tell_or_allows_all():
    async def main(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            try:
                return await missing(Connection(plane.transport(), world), needs_of([CONTROLLER]))
            except CannotTell:
                return []

    assert simulate(main) == []


def test_the_rules_are_few_and_are_yaml_that_gives_just_what_is_needed():
    needs = needs_of([CONTROLLER], ("a", ""))
    for namespace, rules in rules_for(needs).items():
        given = {
            (verb, group, resource)
            for rule in yaml.safe_load(in_yaml(rules))
            for group in rule["apiGroups"]
            for resource in rule["resources"]
            for verb in rule["verbs"]
        }
        assert given == {(need.verb, need.group, need.resource) for need in needs if need.namespace == namespace}


def running(rules: dict[str, list[dict]], *, reviews: str = "all", seconds: float = 100, **options) -> bool:
    """Runs a manager for a while: whether it has come to work."""

    async def main(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            judge = Judge(plane.transport(), rules, reviews=reviews)
            manager = Manager(Connection(judge, world), options=Options(**{"namespace": "a", **options}))
            manager.add(CONTROLLER)
            life = asyncio.create_task(manager.run())
            await asyncio.sleep(seconds)
            started = manager.has_started
            manager.stop()
            await life
            return started

    return simulate(main)


def test_a_manager_that_requires_its_permissions_does_not_start_without():
    with pytest.raises(PermissionsMissing) as raised:
        running({"a": [{**READS, "resources": ["deployments"]}]}, require_permissions=True)
    said = str(raised.value)
    assert 'list configmaps in namespace "a"' in said
    assert "list deployments" not in said
    assert 'create configmaps in namespace "a"' in said  # once it is said, all of it is
    rules = yaml.safe_load(said.partition("add to a Role in namespace 'a':\n")[2])["rules"]
    assert {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "delete", "get", "list", "patch", "watch"]} in rules


def test_what_is_only_usual_is_no_reason_not_to_start(caplog):
    with caplog.at_level(logging.WARNING, logger="setpoint.manager"):
        assert running({"a": [READS]}, require_permissions=True)
    assert "may not do what its controllers usually need" in caplog.text


def test_a_manager_that_requires_its_permissions_starts_where_nobody_can_tell(caplog):
    with caplog.at_level(logging.WARNING, logger="setpoint.manager"):
        assert running({"a": [READS]}, require_permissions=True, reviews="none")
    assert "cannot tell what this program may do" in caplog.text


def test_namespaces_that_are_found_by_their_labels_take_the_right_to_find_them():
    with pytest.raises(PermissionsMissing) as raised:
        running({}, require_permissions=True, namespace="", namespace_labels="team=blue")
    said = str(raised.value)
    assert "list namespaces in the whole cluster" in said
    assert "configmaps" not in said


def test_a_set_of_namespaces_takes_rights_in_each_of_them():
    with pytest.raises(PermissionsMissing) as raised:
        running({"a": [READS]}, require_permissions=True, namespace="", namespaces=("a", "b"))
    assert 'list configmaps in namespace "b"' in str(raised.value)
    assert "in the whole cluster" not in str(raised.value)


def test_a_refusal_names_the_rule_once(caplog):
    with caplog.at_level(logging.WARNING, logger="setpoint.manager"):
        assert not running({"a": [{**READS, "resources": ["deployments"]}]}, seconds=3600)
    said = [record.getMessage() for record in caplog.records if "refuses to" in record.getMessage()]
    assert len(said) == len(set(said))
    (listing,) = [text for text in said if 'list configmaps in namespace "a"' in text]
    assert yaml.safe_load(listing.partition("add to a Role in namespace 'a':\n")[2])["rules"] == [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}
    ]


def test_a_manager_that_is_told_to_stop_does_not_wait_for_the_check():
    async def main(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            manager = Manager(Connection(Judge(plane.transport(), {}, reviews="slow"), world), options=Options(require_permissions=True))
            manager.add(CONTROLLER)
            life = asyncio.create_task(manager.run())
            await asyncio.sleep(1)
            manager.stop()
            async with asyncio.timeout(1):
                await life
            assert manager.phase.value == "ended"

    simulate(main)


def test_a_check_that_fails_leaves_nothing_behind():
    async def main(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            before = len(asyncio.all_tasks())
            judge = Judge(plane.transport(), {}, reviews="none")
            with pytest.raises(CannotTell):
                await missing(Connection(judge, world), needs_of([CONTROLLER], ("a", "b", "c")))
            return len(asyncio.all_tasks()) - before

    assert simulate(main) == 0


def test_events_about_what_has_no_namespace_need_a_right_in_default():
    controller = Controller(Namespace, reconciler=nothing)
    assert [need.namespace for need in needs_of([controller], ("a",)) if need.resource == "events"] == ["a", "a", "default", "default"]
    assert [need.namespace for need in needs_of([controller]) if need.resource == "events"] == ["", ""]
