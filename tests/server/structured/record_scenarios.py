"""Runs `scenarios.py` on a real API server and writes what it answered to recorded.json.gz.

    python record_scenarios.py https://127.0.0.1:6443 TOKEN CA_FILE

The server must be fresh: it has none of the objects. No controllers should run on it.
"""

import gzip
import json
import ssl
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from scenarios import CRD, KINDS, SCENARIOS

CONTENT_TYPES = {
    "apply": "application/apply-patch+yaml",
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}


class Server:
    def __init__(self, url: str, token: str, ca: str) -> None:
        self.url, self.token = url, token
        self.context = ssl.create_default_context(cafile=ca)

    def ask(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> tuple[int, Any]:
        request = urllib.request.Request(self.url + path, method=method, data=None if body is None else json.dumps(body).encode())
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Content-Type", content_type)
        try:
            with urllib.request.urlopen(request, context=self.context) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            text = error.read()
            return error.code, json.loads(text) if text.startswith(b"{") else text.decode()


def run(server: Server, name: str, kind: str, steps: list[Any]) -> list[dict[str, Any]]:
    collection = KINDS[kind][0]
    object_name = "-".join("".join(c if c.isalnum() else " " for c in name.lower()).split())
    live: Any = None
    record = []
    for verb, manager, body, *rest in steps:
        options = rest[0] if rest else {}
        body = json.loads(json.dumps(body(live) if callable(body) else body))
        path = f"{collection}/{object_name}"
        if isinstance(body, dict) and verb in ("create", "apply", "put"):
            body["metadata"]["name"] = object_name
        query = f"?fieldManager={manager}" + ("&force=true" if options.get("force") else "")
        subresource = f"/{options['subresource']}" if "subresource" in options else ""
        if verb == "create":
            code, answer = server.ask("POST", collection + query, body)
        elif verb == "put":
            code, answer = server.ask("PUT", path + subresource + query, body)
        else:
            code, answer = server.ask("PATCH", path + subresource + query, body, CONTENT_TYPES[verb])
        record.append({"verb": verb, "manager": manager, "body": body, **options, "code": code, "answer": answer})
        if code in (200, 201):
            live = answer
        elif verb == "create":
            raise SystemExit(f"{name}: {answer}")
    return record


def main() -> None:
    server = Server(*sys.argv[1:4])
    server.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", CRD)
    while server.ask("GET", KINDS["Widget"][0])[0] != 200:
        time.sleep(0.1)
    recorded = {name: {"kind": kind, "steps": run(server, name, kind, steps)} for name, (kind, steps) in SCENARIOS.items()}
    schemas: dict[str, Any] = {}
    for _, _, root, document in KINDS.values():
        if root:
            found = server.ask("GET", f"/openapi/v3/{document}")[1]["components"]["schemas"]
            _keep(schemas, found, root)
    out = Path(__file__).with_name("recorded.json.gz")
    text = json.dumps({"scenarios": recorded, "schemas": schemas}, indent=1).encode()
    out.write_bytes(gzip.compress(text, mtime=0))


def _keep(kept: dict[str, Any], found: dict[str, Any], name: str) -> None:
    """Keeps a schema, without its prose, and what it refers to."""
    if name in kept:
        return
    kept[name] = _bare(found[name])
    for reference in _references(found[name]):
        _keep(kept, found, reference)


def _bare(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: _bare(value) for key, value in schema.items() if not (key == "description" and isinstance(value, str))}
    return [_bare(item) for item in schema] if isinstance(schema, list) else schema


def _references(schema: Any) -> list[str]:
    if isinstance(schema, dict):
        own = [schema["$ref"].rpartition("/")[2]] if isinstance(schema.get("$ref"), str) else []
        return own + [name for value in schema.values() for name in _references(value)]
    return [name for item in schema for name in _references(item)] if isinstance(schema, list) else []


if __name__ == "__main__":
    main()
