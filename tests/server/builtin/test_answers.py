"""Requests about built-in kinds are answered as by a real kube-apiserver: its answers are in ``answers`` (`tools/record_answers.py`)."""

import copy
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from setpoint.api import Answer
from setpoint.api.paths import from_http
from setpoint.cluster.server import ApiServer
from setpoint.world import World, simulate

Json = dict[str, Any]

ANSWERS = Path(__file__).parent / "answers"
NAMESPACE = "configuration"
ASSIGNED = ("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "managedFields")
GENERATED = re.compile(r"(?<=_B-)[a-z0-9]{5}\b|^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
"""What the server makes up for a name."""


def cases() -> list[Any]:
    recorded = [(file.stem, case) for file in sorted(ANSWERS.glob("*.json")) for case in json.loads(file.read_text())]
    return [pytest.param(case, id=f"{stem}: {case['name']}") for stem, case in recorded]


class Asker:
    """Sends requests to a server of its own."""

    def __init__(self, world: World) -> None:
        self.server = ApiServer(world)
        self.version = ""

    async def ask(self, do: str, body: Json | None) -> Json:
        """What is kept of an answer, as in the records."""
        method, _, target = do.partition(" ")
        path, _, query = target.partition("?")
        content_type = "application/merge-patch+json" if method == "PATCH" else "application/json"
        content = json.dumps(self.filled(body)).encode() if body is not None else b""
        operation = from_http(method, path, query, {"content-type": content_type}, content)
        answer = await self.server.handle(operation)
        assert isinstance(answer, Answer)
        decoded = json.loads(answer.body)
        self.version = decoded.get("metadata", {}).get("resourceVersion", self.version)
        # That roles, quotas and such are not enforced is true of the embedded server alone.
        warnings = [text for text in answer.warnings if " is kept but not enforced by the embedded server: " not in text]
        return {"code": answer.status, **({"warnings": warnings} if warnings else {}), **kept(decoded)}

    def filled(self, body: Json) -> Json:
        if body.get("metadata", {}).get("resourceVersion") == "$last":
            return {**body, "metadata": {**body["metadata"], "resourceVersion": self.version}}
        return body


def kept(content: Json) -> Json:
    if content["kind"] == "Status":
        details = {key: value for key, value in content.get("details", {}).items() if key != "uid"}
        message = {"message": content["message"]} if "message" in content else {}
        return {"reason": content.get("reason", content["status"]), **message, **({"details": details} if details else {})}
    if content["kind"].endswith("List"):
        return {}
    return {"object": {**content, "metadata": {key: value for key, value in content["metadata"].items() if key not in ASSIGNED}}}


def comparable(answer: Mapping[str, Any]) -> Json:
    """An answer without what is left to chance: names that were made up, and the order in which Go walks through maps."""
    found: Json = json.loads(json.dumps(answer), object_hook=_named)
    causes = found.get("details", {}).get("causes")
    if causes and any("labels" in cause["field"].lower() or "[" in cause["field"] for cause in causes):
        found["details"]["causes"] = sorted(causes, key=json.dumps)
        del found["message"]  # it is all of the causes, in their order
    return found


def _named(obj: Json) -> Json:
    return {key: GENERATED.sub("made-up", value) if isinstance(value, str) else value for key, value in obj.items()}


@pytest.mark.parametrize("case", cases())
def test_the_answers_are_those_of_the_real_server(case: Json) -> None:
    async def main(world: World) -> None:
        asker = Asker(world)
        await asker.ask("POST /api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        for request in copy.deepcopy(case["requests"]):
            assert comparable(await asker.ask(request["do"], request.get("body"))) == comparable(request["answer"])

    simulate(main)
