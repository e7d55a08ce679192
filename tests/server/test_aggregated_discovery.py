"""Aggregated discovery: the same kinds as the other form, in one answer, for those who ask for it."""

import asyncio
import json

import pytest
from tests.server.talk import CRDS, Talk
from tests.server.test_discovery import crd

from setpoint.api import Answer, Operation
from setpoint.world import simulate

FORM = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
OLDER = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"


async def ask(talk: Talk, path: str, accept: str = FORM, tag: str = "") -> Answer:
    answer = await talk.server.handle(Operation(verb="get", path=path, accept=accept, headers={"if-none-match": tag} if tag else {}))
    assert isinstance(answer, Answer)
    return answer


def groups(answer: Answer) -> dict:
    return {item["metadata"].get("name", ""): item for item in json.loads(answer.body)["items"]}


def test_both_forms_tell_the_same():
    async def main(world):
        talk = Talk(world)
        await talk.do("create", CRDS, body=crd(versions=("v1", "v1beta1"), shortNames=["wd"], categories=["all"]))
        found = {**groups(await ask(talk, "/api")), **groups(await ask(talk, "/apis"))}
        listed = json.loads((await ask(talk, "/apis", "application/json")).body)["groups"]
        assert list(found) == ["", *(group["name"] for group in listed)]
        for name, group in found.items():
            for version in group["versions"]:
                path = f"/apis/{name}/{version['version']}" if name else f"/api/{version['version']}"
                plain = {entry["name"]: entry for entry in json.loads((await ask(talk, path)).body)["resources"]}
                own = {"group": name, "version": version["version"]}
                for resource in version["resources"]:
                    entry = plain.pop(resource["resource"])
                    assert resource["verbs"] == entry["verbs"]
                    assert resource["responseKind"]["kind"] == entry["kind"]
                    assert resource["singularResource"] == entry["singularName"]
                    assert (resource["scope"] == "Namespaced") is entry["namespaced"]
                    assert resource.get("shortNames") == entry.get("shortNames")
                    assert resource.get("categories") == entry.get("categories")
                    for sub in resource.get("subresources", ()):
                        other = plain.pop(f"{resource['resource']}/{sub['subresource']}")
                        assert sub["verbs"] == other["verbs"]
                        kind = sub["responseKind"]
                        assert kind["kind"] == other["kind"]
                        assert (kind["group"] or name) == other.get("group", own["group"])
                        assert (kind["version"] or version["version"]) == other.get("version", own["version"])
                assert not plain

    simulate(main)


def test_the_answer_names_its_form_and_may_be_kept_until_the_kinds_change():
    async def main(world):
        talk = Talk(world)
        first = await ask(talk, "/apis")
        assert (first.status, first.content_type) == (200, FORM)
        assert (first.headers["vary"], first.headers["cache-control"]) == ("Accept", "public")
        tag = first.headers["etag"]
        again = await ask(talk, "/apis", tag=tag)
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)

        await talk.do("create", CRDS, body=crd())
        changed = await ask(talk, "/apis", tag=tag)
        assert changed.status == 200
        assert "example.com" in groups(changed)
        await talk.do("delete", CRDS, "widgets.example.com")
        await asyncio.sleep(1)
        assert (await ask(talk, "/apis", tag=changed.headers["etag"])).headers["etag"] == tag

    simulate(main)


@pytest.mark.parametrize(
    ("accept", "aggregated"),
    [
        (f"{FORM},{OLDER},application/json", True),  # kubectl 1.33
        (f"{OLDER},application/json", False),  # kubectl 1.27: its form is not there any more
        ("application/json", False),
        ("*/*", False),
        (f"application/json;q=0.1,{FORM}", True),
        ("application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io;profile=nopeer", True),
    ],
)
def test_a_client_gets_the_first_form_that_it_takes_and_the_server_has(accept: str, aggregated: bool):
    async def main(world):
        kind = json.loads((await ask(Talk(world), "/apis", accept)).body)["kind"]
        assert kind == ("APIGroupDiscoveryList" if aggregated else "APIGroupList")

    simulate(main)


def test_a_client_that_takes_nothing_of_it_is_told_what_there_is():
    async def main(world):
        answer = await ask(Talk(world), "/apis", OLDER)
        assert (answer.status, json.loads(answer.body)["reason"]) == (406, "NotAcceptable")

    simulate(main)


def test_groups_have_their_own_documents_in_the_other_form_alone():
    async def main(world):
        answer = await ask(Talk(world), "/apis/apps", f"{FORM},application/json")
        assert json.loads(answer.body)["kind"] == "APIGroup"

    simulate(main)
