"""How a step of `listed` becomes a request, for the recorder and for the replay."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.server.structured.listed import GROUP

Json = dict[str, Any]
NAMESPACE = "listed"
MERGE, APPLY, JSON = "application/merge-patch+json", "application/apply-patch+yaml", "application/json"
_BUILT_IN = {"ConfigMap": ("", "v1", "configmaps"), "Deployment": ("apps", "v1", "deployments")}


@dataclass
class Request:
    """What is asked: `verb` is create, update or patch."""

    verb: str
    group: str
    version: str
    resource: str
    name: str
    sub: str
    body: bytes
    media: str
    options: dict[str, str]


def request_of(step: Any, kind: str, definition: Json | None, name: str, live: Json | None) -> Request:
    """The request of an `apply`, `update` or `merge`."""
    verb, manager, what, options = step
    group, version, resource = _BUILT_IN.get(kind, (GROUP, options.get("version", "v1"), "gadgets"))
    if definition is not None:
        kind, resource = definition["spec"]["names"]["kind"], definition["spec"]["names"]["plural"]
    query = {"fieldManager": manager}
    if options.get("force"):
        query["force"] = "true"
    if options.get("dry"):
        query["dryRun"] = "All"
    if "validation" in options:
        query["fieldValidation"] = options["validation"]
    what = what(live) if callable(what) else what
    request = Request("patch", group, version, resource, name, options.get("sub", ""), b"", APPLY, query)
    if verb == "merge":
        request.media, body = MERGE, what
    elif options.get("raw"):
        body = what
        if isinstance(what, dict):
            body = {**what, "metadata": {"name": name, **what.get("metadata", {})}}
    else:
        metadata = {"name": name}
        if kind == "ConfigMap":
            metadata, what = {**metadata, **what}, None
        body = {
            "apiVersion": f"{group}/{version}".lstrip("/"),
            "kind": kind,
            "metadata": metadata,
            **({"spec": what} if what is not None else {}),
        }
        if verb == "update":
            request.media, request.verb = JSON, "create" if live is None else "update"
            if live is not None:
                body = {**live, **body, "metadata": {**live["metadata"], **metadata}}
    request.body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return request


def changed(step: Any, definition: Json) -> Json:
    """The merge patch of a definition that a `schema` or `versions` step stands for."""
    verb, _, what, _ = step
    versions = definition["spec"]["versions"]
    if verb == "schema":
        return {"spec": {"versions": [{**version, "schema": {"openAPIV3Schema": what}} for version in versions]}}
    return {"spec": {"versions": [version for version in versions if version["name"] in what]}}


def name_of(case: str) -> str:
    """What the object of a case is called."""
    return "-".join("".join(c if c.isalnum() else " " for c in case.lower()).split())
