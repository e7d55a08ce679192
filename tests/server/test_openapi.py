"""OpenAPI v3: what kubectl reads to validate and to explain."""

import asyncio
import json

from tests.server.talk import CRDS, Talk
from tests.server.test_discovery import crd

from setpoint.api import Operation
from setpoint.api.operation import MERGE_PATCH
from setpoint.cluster.server import ApiServer
from setpoint.world import simulate

WIDGETS = "/openapi/v3/apis/example.com/v1"


def get(server, target, accept="application/json", **headers):
    path, _, query = target.partition("?")
    options = dict(part.split("=") for part in query.split("&")) if query else {}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return server.handle(Operation(verb="get", path=path, options=options, accept=accept, headers=named))


async def index(server):
    return json.loads((await get(server, "/openapi/v3")).body)["paths"]


def references(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"].removeprefix("#/components/schemas/")
        for child in value.values():
            yield from references(child)
    elif isinstance(value, list):
        for child in value:
            yield from references(child)


def test_the_index_leads_to_every_document():
    async def main(world):
        talk = Talk(world)
        await talk.do("create", CRDS, body=crd())
        places = await index(talk.server)
        assert list(places) == sorted(places)
        assert {"api/v1", "apis/apps/v1", "apis/autoscaling/v1", "apis/autoscaling/v2", "apis/example.com/v1"} <= set(places)
        for place, entry in places.items():
            answer = await get(talk.server, entry["serverRelativeURL"])
            assert answer.status == 200, place
            document = json.loads(answer.body)
            assert document["openapi"] == "3.0.0"
            missing = [name for name in references(document) if name not in document["components"]["schemas"]]
            assert missing == [], place

    simulate(main)


def test_a_document_of_the_right_hash_may_be_kept_for_ever():
    async def main(world):
        server = ApiServer(world)
        url = (await index(server))["apis/apps/v1"]["serverRelativeURL"]
        answer = await get(server, url)
        assert answer.headers["cache-control"] == "public, immutable"
        assert answer.headers["expires"].endswith("GMT")
        again = await get(server, url, if_none_match=answer.headers["etag"])
        assert (again.status, again.body) == (304, b"")

    simulate(main)


def test_a_document_of_an_old_hash_is_sent_on():
    async def main(world):
        talk = Talk(world)
        await talk.do("create", CRDS, body=crd())
        old = (await index(talk.server))["apis/example.com/v1"]["serverRelativeURL"]
        schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "description": "New."}}}}
        versions = [{**crd()["spec"]["versions"][0], "schema": schema}]
        await talk.do("patch", CRDS, "widgets.example.com", {"spec": {"versions": versions}}, content_type=MERGE_PATCH)
        answer = await get(talk.server, old)
        new = (await index(talk.server))["apis/example.com/v1"]["serverRelativeURL"]
        assert (answer.status, answer.headers["location"]) == (301, new)
        assert new != old

    simulate(main)


def test_documents_of_other_groups_stay_when_a_kind_changes():
    async def main(world):
        talk = Talk(world)
        before = await index(talk.server)
        await talk.do("create", CRDS, body=crd())
        after = await index(talk.server)
        assert {place: after[place] for place in before} == before
        await talk.do("delete", CRDS, "widgets.example.com")
        await asyncio.sleep(1)
        assert await index(talk.server) == before

    simulate(main)


def test_writes_can_be_validated_and_only_built_in_kinds_offer_strategic_merge():
    async def main(world):
        talk = Talk(world)
        await talk.do("create", CRDS, body=crd())
        for target, name in ((f"{WIDGETS}", "widgets"), ("/openapi/v3/apis/apps/v1", "deployments")):
            document = json.loads((await get(talk.server, target)).body)
            root = target.removeprefix("/openapi/v3")
            patch = document["paths"][f"{root}/namespaces/{{namespace}}/{name}/{{name}}"]["patch"]
            assert {"dryRun", "fieldValidation"} <= {parameter["name"] for parameter in patch["parameters"]}
            assert "application/merge-patch+json" in patch["requestBody"]["content"]
            kind = patch["x-kubernetes-group-version-kind"]["kind"]
            assert kind in ("Widget", "Deployment")
            assert ("application/strategic-merge-patch+json" in patch["requestBody"]["content"]) == (kind == "Deployment")

    simulate(main)


def test_every_path_of_a_kind_is_there():
    async def main(world):
        talk = Talk(world)
        await talk.do("create", CRDS, body=crd())
        paths = json.loads((await get(talk.server, WIDGETS)).body)["paths"]
        root = "/apis/example.com/v1/namespaces/{namespace}/widgets"
        operations = {path: [method for method in item if method != "parameters"] for path, item in paths.items()}
        assert operations == {
            "/apis/example.com/v1/widgets": ["get"],
            root: ["delete", "get", "post"],
            f"{root}/{{name}}": ["delete", "get", "patch", "put"],
            f"{root}/{{name}}/scale": ["get", "patch", "put"],
            f"{root}/{{name}}/status": ["get", "patch", "put"],
        }
        ids = [item[method]["operationId"] for path, item in paths.items() for method in operations[path]]
        assert len(set(ids)) == len(ids)
        assert "patchExampleComV1NamespacedWidgetStatus" in ids

    simulate(main)


def fields(message):
    """The fields of a protobuf message that has nothing but strings and messages."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value

    while at < len(message):
        key, length = varint(), varint()
        assert key & 7 == 2
        yield key >> 3, message[at : at + length]
        at += length


def inner(message, *numbers):
    """What the first field of each of these numbers leads to."""
    for number in numbers:
        message = next(content for found, content in fields(message) if found == number)
    return message


def test_v2_says_in_protobuf_which_kinds_the_server_validates():
    async def main(world):
        talk = Talk(world)
        await talk.do("create", CRDS, body=crd())
        answer = await get(talk.server, "/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
        assert (answer.status, answer.content_type) == (200, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf")
        assert inner(answer.body, 1) == b"2.0"
        paths = [content for number, content in fields(inner(answer.body, 8)) if number == 2]
        assert [inner(path, 2, 8, 8, 1, 2, 3, 4) for path in paths] == [b"fieldValidation"] * len(paths)
        kinds = {inner(path, 1): inner(path, 2, 8, 13, 2, 2) for path in paths}
        assert kinds[b"/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"] == b"group: 'example.com'\nkind: Widget\nversion: v1\n"
        assert kinds[b"/api/v1/namespaces/{name}"] == b"group: ''\nkind: Namespace\nversion: v1\n"

    simulate(main)


def test_what_is_not_there_is_not_found():
    async def main(world):
        server = ApiServer(world)
        for target in ("/openapi/v2", "/openapi/v3/apis/nope/v1", "/openapi/v4", "/openapi"):
            assert (await get(server, target)).status == 404, target

    simulate(main)


def test_a_client_that_takes_no_json_is_told_so():
    async def main(world):
        server = ApiServer(world)
        protobuf = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
        assert (await get(server, "/openapi/v3/api/v1", protobuf)).status == 406
        assert (await get(server, "/openapi/v3/api/v1", f"{protobuf}, */*;q=0.5")).status == 200

    simulate(main)
