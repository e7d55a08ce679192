"""The hunt: what is made up goes to both servers, and what they differ about is made small."""

from __future__ import annotations

import copy
import http.client
import json
import re
import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from tests.differential.normalise import _sorted_reasons
from tests.differential.servers import Server
from tests.differential.steps import Answer, Json, Request

from .definitions import DefinitionMaker
from .objects import ObjectMaker

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def ask(
    server: Server, method: str, target: str, body: Json = None, content_type: str = "application/json", accept: str = "application/json"
) -> Answer:
    """One request."""
    data = body.encode() if isinstance(body, str) else b"" if body is None else json.dumps(body).encode()
    request = Request(method, target, data, content_type if data else "", accept)
    try:
        return server.begin(request)()
    except http.client.RemoteDisconnected:
        # The real server panics over some schemas, and ends the connection.
        return Answer(0, "", (), None)


def told(answer: Answer) -> dict[str, Json]:
    """What is compared of an answer to a write that leaves nothing: all but what is chance or comes later."""
    said: dict[str, Json] = {"status": answer.status, "warnings": sorted(answer.warnings)}
    body = copy.deepcopy(answer.body)
    if isinstance(body, dict) and body.get("kind") == "Status":
        causes = (body.get("details") or {}).get("causes") or []
        body.setdefault("details", {})["causes"] = sorted(causes, key=lambda cause: json.dumps(cause, sort_keys=True))
        if len(causes) > 1:
            body["message"] = len(body["message"])
        else:
            body["message"] = _sorted_reasons(body["message"])
    elif isinstance(body, dict):
        for name in ("uid", "creationTimestamp", "resourceVersion", "managedFields"):
            (body.get("metadata") or {}).pop(name, None)
        if body.get("kind") == "CustomResourceDefinition":
            body.get("status", {}).pop("conditions", None)
            body.get("status", {}).pop("acceptedNames", None)
    said["body"] = _plain(body)
    return said


def _plain(value: Json) -> Json:
    """A value without what no two servers have in common."""
    text = json.dumps(value)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "uid", text)
    text = re.sub(r'(resourceVersion\\*": ?\\*")\d+', r"\1version", text)
    return json.loads(re.sub(r"202[6-9]-\d\d-\d\dT\d\d:\d\d:\d\dZ", "time", text))


def definition_tells(server: Server, crd: Json) -> dict[str, Json]:
    """What a server says to a definition, without making it."""
    return told(ask(server, "POST", f"{CRDS}?dryRun=All&fieldValidation=Warn", crd))


def smaller(value: Json) -> Iterator[Json]:
    """The value with one thing less in it."""
    if isinstance(value, dict):
        for key in list(value):
            yield {name: inner for name, inner in value.items() if name != key}
        for key, inner in value.items():
            for less in smaller(inner):
                yield {**value, key: less}
    elif isinstance(value, list):
        for at in range(len(value)):
            yield value[:at] + value[at + 1 :]
        for at, inner in enumerate(value):
            for less in smaller(inner):
                yield [*value[:at], less, *value[at + 1 :]]


def shrink(value: Json, differs: Callable[[Json], bool], limit: int = 400) -> Json:
    """The smallest value found that still differs."""
    tried = 0
    found = True
    while found and tried < limit:
        found = False
        for less in smaller(value):
            tried += 1
            if differs(less):
                value, found = less, True
                break
            if tried >= limit:
                break
    return value


def first_difference(real: Any, ours: Any, place: str = "") -> tuple[str, str, str] | None:
    """Where two things differ first."""
    if isinstance(real, dict) and isinstance(ours, dict):
        for key in sorted({*real, *ours}):
            if (found := first_difference(real.get(key, "(absent)"), ours.get(key, "(absent)"), f"{place}.{key}")) is not None:
                return found
        return None
    if isinstance(real, list) and isinstance(ours, list):
        only_real = [each for each in real if each not in ours]
        only_ours = [each for each in ours if each not in real]
        if only_real or only_ours or len(real) != len(ours):
            return place, json.dumps(only_real), json.dumps(only_ours)
        return None if real == ours else (place, json.dumps(real), json.dumps(ours))
    if real != ours or type(real) is not type(ours):
        return place, json.dumps(real), json.dumps(ours)
    return None


def sort_of(found: tuple[str, str, str] | None) -> str:
    """A difference without paths and numbers, so that the same mistake in two places is one sort."""
    if found is None:
        return ""
    place, real, ours = found
    return re.sub(r"\d+", "N", " | ".join([re.sub(r"\.(N|\d+|[a-z]\w*)$", "", place), *(_messages(text) for text in (real, ours))]))


def _messages(text: str) -> str:
    try:
        causes = json.loads(text)
    except ValueError:
        return text
    if isinstance(causes, list) and causes and all(isinstance(cause, dict) and "message" in cause for cause in causes):
        return " ".join(
            sorted(
                {
                    re.sub(r": .*: ", ": ..: ", cause["message"])[:90] + re.sub(r"\[.*?\]", "", cause.get("field", ""))[-25:]
                    for cause in causes
                }
            )
        )
    return str(type(causes).__name__)


def made_definitions(seed: int, group: str) -> Iterator[tuple[int, Json]]:
    """Definitions, each with the seed that makes it again."""
    while True:
        random = Random(seed)
        faults = random.choice([0, 0.005, 0.02, 0.05])
        groups = [group, group, group, "made-up.x-k8s.io", "made-up.k8s.io", "made-up.kubernetes.io"]
        yield seed, DefinitionMaker(random, faults, random.choice(groups), "thing").definition()
        seed += 1


def object_tells(server: Server, method: str, target: str, text: str, content_type: str = "application/json") -> dict[str, Json]:
    """What a server says to an object, without keeping it."""
    said = told(ask(server, method, target, text, content_type))
    body = said["body"]
    if isinstance(body, dict) and body.get("kind") == "Status" and (body.get("details") or {}).get("name", "").startswith("g-"):
        body["details"]["name"] = body["message"] = "generated"
    if isinstance(body, dict) and str((body.get("metadata") or {}).get("name", "")).startswith("g-"):
        body["metadata"]["name"] = "generated"
    return said


def established(server: Server, crd: Json, patience: int = 200) -> list[str]:
    """The paths of the collections of a definition that has been made, once they are served; none if they never are."""
    spec = crd["spec"]
    where = "/namespaces/default" if spec["scope"] == "Namespaced" else ""
    paths = [
        f"/apis/{spec['group']}/{version['name']}{where}/{spec['names']['plural']}" for version in spec["versions"] if version["served"]
    ]
    for _ in range(patience):
        if paths and all(ask(server, "GET", path).status == 200 for path in paths):
            return paths
        time.sleep(0.05)
    return []


def object_requests(seed: int, crd: Json, paths: list[str], count: int = 30) -> Iterator[tuple[str, str, str, str]]:
    """Requests about objects of a definition, each as method, target, body and content type. None but the first of `x1` leaves anything."""
    random = Random(seed)
    served = [version for version in crd["spec"]["versions"] if version["served"]]
    for path, version in zip(paths, served, strict=True):
        for _ in range(count):
            maker = ObjectMaker(random, random.choice([0, 0.01, 0.03, 0.1]), crd, version)
            strict = random.choice(["Warn", "Warn", "Strict", "Ignore"])
            yield "POST", f"{path}?dryRun=All&fieldValidation={strict}", maker.text(maker.whole("x1")), "application/json"
    for path, version in zip(paths, served, strict=True):
        maker = ObjectMaker(random, 0, crd, version)
        yield "POST", path, json.dumps(maker.whole("x1")), "application/json"
    for path, version in zip(paths, served, strict=True):
        yield "GET", f"{path}/x1", "", "application/json"
        for _ in range(count // 2):
            maker = ObjectMaker(random, random.choice([0, 0.01, 0.05]), crd, version)
            asked = f"?dryRun=All&fieldValidation={random.choice(['Warn', 'Strict'])}"
            yield "PATCH", f"{path}/x1{asked}", json.dumps(maker.patch()), "application/merge-patch+json"
            if (version.get("subresources") or {}).get("status") is not None:
                status = {"status": maker.value(maker.schema.get("properties", {}).get("status", {}))}
                yield "PATCH", f"{path}/x1/status{asked}", json.dumps(status), "application/merge-patch+json"
