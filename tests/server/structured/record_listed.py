"""Puts the cases of `listed` to a real API server, and writes its answers to listed.json.gz.

    python -m tests.server.structured.record_listed KUBECONFIG

No controllers should run on the server; what is made there is taken away first.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
import urllib.parse
from pathlib import Path
from typing import Any

from tests.server.patches.record import Server
from tests.server.structured.listed import GADGETS, cases
from tests.server.structured.listed_steps import MERGE, NAMESPACE, changed, name_of, request_of

_DEFINITIONS = "apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_PROPAGATION = 2.0
"""Seconds that a changed definition takes to be served everywhere."""


def main() -> None:
    server = Server(sys.argv[1])
    everything = cases()
    definitions = [GADGETS, *(definition for _, definition, _ in everything.values() if definition is not None)]
    server.ask("POST", "api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    for definition in definitions:
        path = f"{_DEFINITIONS}/{definition['metadata']['name']}"
        server.ask("DELETE", path)
        while server.ask("GET", path)["code"] != 404:
            time.sleep(0.2)
    for definition in definitions:
        made = server.ask("POST", _DEFINITIONS, definition)
        if made["code"] != 201:
            raise SystemExit(made["body"]["message"])
    time.sleep(2 * _PROPAGATION)
    recorded = {name: _run(server, name, *case) for name, case in everything.items()}
    text = json.dumps(recorded, indent=0, sort_keys=True).encode()
    Path(__file__).with_name("listed.json.gz").write_bytes(gzip.compress(text, mtime=0))


def _run(server: Server, case: str, kind: str, definition: Any, steps: list[Any]) -> list[dict[str, Any]]:
    name, live, answers = name_of(case), None, []
    if definition is None and kind != "Gadget":
        resource = "api/v1/namespaces/listed/configmaps" if kind == "ConfigMap" else "apis/apps/v1/namespaces/listed/deployments"
        server.ask("PATCH", f"{resource}/{name}", {"metadata": {"finalizers": None}}, MERGE)
        server.ask("DELETE", f"{resource}/{name}")
    for step in steps:
        if step[0] in ("schema", "versions"):
            answer = server.ask("PATCH", f"{_DEFINITIONS}/{definition['metadata']['name']}", changed(step, definition), MERGE)
            assert answer["code"] == 200, answer
            time.sleep(_PROPAGATION)
            continue
        request = request_of(step, kind, definition, name, live)
        root = f"apis/{request.group}/{request.version}" if request.group else f"api/{request.version}"
        path = f"{root}/namespaces/{NAMESPACE}/{request.resource}"
        if request.verb != "create":
            path += f"/{name}" + (f"/{request.sub}" if request.sub else "")
        method = {"create": "POST", "update": "PUT", "patch": "PATCH"}[request.verb]
        answer = server.ask(method, f"{path}?{urllib.parse.urlencode(request.options)}", request.body, request.media)
        if answer["code"] < 300 and not step[3].get("dry"):
            live = answer["body"] if step[3].get("sub") != "scale" else server.ask("GET", path.removesuffix("/scale"))["body"]
            answer["live"] = live
        answers.append(answer)
    return answers


if __name__ == "__main__":
    main()
