"""What a server answers to a list of requests, in a form in which two servers can be compared."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from setpoint.api import Answer, GroupVersionResource, Operation
from setpoint.api.operation import APPLY_PATCH, JSON, JSON_PATCH, MERGE_PATCH

from .site import Plane, Site

GOLDEN = Path(__file__).parent / "golden"
RECORD = "SETPOINT_RECORD_CONTRACT"
"""Set in the environment, what the real server answers is written to `golden/` instead of compared."""

LIVE = "the version of the last answer"
"""Stands in a body for the resourceVersion that the object of that name was last answered with."""

_BODIES = {"apply": APPLY_PATCH, "merge": MERGE_PATCH, "json": JSON_PATCH}
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_RECORDED = re.compile(r"in record \(\d+\)")
_STATED_TIME = "2001-02-03T04:05:06Z"
"""A time that a test states itself, and wants to see again."""

RESOURCES = {
    "secrets": GroupVersionResource("", "v1", "secrets"),
    "configmaps": GroupVersionResource("", "v1", "configmaps"),
    "services": GroupVersionResource("", "v1", "services"),
    "pods": GroupVersionResource("", "v1", "pods"),
    "events": GroupVersionResource("", "v1", "events"),
    "deployments": GroupVersionResource("apps", "v1", "deployments"),
    "leases": GroupVersionResource("coordination.k8s.io", "v1", "leases"),
    "gadgets": GroupVersionResource("contract.example.com", "v1", "gadgets"),
}


def ask(
    verb: str,
    resource: str,
    name: str = "",
    body: Any = None,
    /,
    *,
    manager: str = "tester",
    subresource: str = "",
    options: Mapping[str, str] | None = None,
) -> Operation:
    """A request: `verb` is create, update, get, list, delete, or the sort of a patch (merge, json, apply)."""
    stated = dict(options or {})
    if verb not in ("get", "list", "delete", "deletecollection"):
        stated = {"fieldManager": manager, **stated}
    return Operation(
        verb="patch" if verb in _BODIES else verb,  # type: ignore[arg-type]  # the others are the API's own
        resource=RESOURCES[resource],
        name=name,
        subresource=subresource,
        options=stated,
        body=b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode(),
        content_type="" if body is None else _BODIES.get(verb, JSON),
    )


async def answers(site: Site, operations: list[Operation]) -> list[dict[str, Any]]:
    """What the server answers to each, one after the other; nothing that it refuses raises."""
    said: list[dict[str, Any]] = []
    versions: dict[tuple[GroupVersionResource | None, str], str] = {}
    for operation in operations:
        version = versions.get((operation.resource, operation.name), "")
        body = operation.body.replace(LIVE.encode(), version.encode())
        outcome = await site.line.send(msgspec.structs.replace(operation, namespace=site.namespace, body=body))
        assert isinstance(outcome, Answer), outcome
        try:
            answered = json.loads(outcome.body)
        except ValueError:
            answered = outcome.body.decode()
        step: dict[str, Any] = {"asked": _told(operation), "status": outcome.status, "body": answered}
        if outcome.ok and isinstance(answered, dict):
            metadata = answered.get("metadata", {})
            versions[operation.resource, metadata.get("name", "")] = metadata.get("resourceVersion", "")
        if outcome.warnings:
            step["warnings"] = list(outcome.warnings)
        said.append(step)
    return Normaliser(site.namespace).all(said)


def judge(plane: Plane, name: str, said: list[dict[str, Any]]) -> None:
    """Compares with what the real server has answered once, or records it."""
    path = GOLDEN / f"{name}.json"
    if plane.real and os.environ.get(RECORD):
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n")
        return
    right = json.loads(path.read_text())
    assert len(said) == len(right)
    for ours, theirs in zip(said, right, strict=True):
        assert ours == theirs


class Normaliser:
    """Replaces what differs from server to server and run to run, and keeps which of it are equal."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self._uids: dict[str, str] = {}

    def all(self, said: Any) -> Any:
        """The same, normalised as a whole; versions are numbered in their order."""
        versions = sorted({int(version) for version in _versions(said)})
        numbers = {str(version): f"V{number}" for number, version in enumerate(versions, 1)}
        return self._any(said, numbers)

    def _any(self, value: Any, numbers: dict[str, str], key: str = "") -> Any:
        if isinstance(value, dict):
            if generated := value.get("generateName"):
                value = {**value, "name": generated + "xxxxx"} if value.get("name") else value
            if isinstance(value.get("managedFields"), list):  # their order follows their times, which may differ by a second
                value = {**value, "managedFields": sorted(value["managedFields"], key=_who)}
            if "causes" in value:
                value = {**value, "causes": sorted(value["causes"], key=lambda cause: json.dumps(cause, sort_keys=True))}
            return {name: self._any(inner, numbers, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._any(item, numbers, key) for item in value]
        if not isinstance(value, str):
            return value
        if key == "resourceVersion":
            return numbers.get(value, value)
        if key == "continue":
            return "CONTINUE" if value else value
        if key in ("clusterIP", "clusterIPs") and value != "None":
            return "IP"
        text = value.replace(self._namespace, "NAMESPACE") if key not in ("manager", "fieldManager") else value
        text = _UID.sub(lambda found: self._uids.setdefault(found[0], f"UID{len(self._uids) + 1}"), text)
        text = _RECORDED.sub("in record (VERSION)", text)
        text = _TIME.sub(lambda found: found[0] if found[0] == _STATED_TIME else "TIME", text)
        return _in_order(text) if key == "message" else text


def _who(entry: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(entry.get(name, "")) for name in ("manager", "operation", "subresource", "apiVersion"))


def _in_order(message: str) -> str:
    """Several reasons in one sentence: Go's maps bring them in any order."""
    found = re.fullmatch(r"(.* is invalid: )\[(.*)\]", message)
    return f"{found[1]}[{', '.join(sorted(found[2].split(', ')))}]" if found else message


def _versions(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["resourceVersion"]] if str(value.get("resourceVersion", "")).isdigit() else []
        return own + [version for inner in value.values() for version in _versions(inner)]
    return [version for item in value for version in _versions(item)] if isinstance(value, list) else []


def _told(operation: Operation) -> str:
    options = "&".join(f"{name}={value}" for name, value in operation.options.items())
    return f"{operation} ?{options} {operation.body.decode()}".strip()
