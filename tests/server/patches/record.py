"""Asks a real API server what it makes of `cases`, and of some that are drawn, and writes its answers to recorded.json.gz.

    python -m tests.server.patches.record KUBECONFIG

The namespace `patches` is made and left; no controllers should run on the server.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import warnings
from pathlib import Path
from typing import Any

from tests.server.patches import drawn
from tests.server.patches.cases import BASES, MEDIA, explicit

from setpoint.cluster.server import builtin
from setpoint.cluster.server.patches.strategic import PatchCrash, PatchFailure, patch_type, strategic_merge

NAMESPACE = "patches"
DRAWN = 150
"""How many patches are drawn for each kind of patch and base."""


class Server:
    """A server to ask."""

    def __init__(self, kubeconfig: str) -> None:
        config = json.loads(Path(kubeconfig).read_text())
        cluster = config["clusters"][0]["cluster"]
        self._url, self._token = cluster["server"], config["users"][0]["user"]["token"]
        self._context = ssl.create_default_context(cafile=cluster["certificate-authority"])

    def ask(self, method: str, path: str, body: Any = None, media: str = "application/json") -> dict[str, Any]:
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._url}/{path}", method=method, data=data)
        request.add_header("Authorization", f"Bearer {self._token}")
        request.add_header("Content-Type", media)
        try:
            with urllib.request.urlopen(request, context=self._context) as answer:
                said = [re.sub(r'^299 - "(.*)"$', r"\1", text).replace('\\"', '"') for text in answer.headers.get_all("Warning") or []]
                return {"code": answer.status, "body": json.load(answer), "warnings": said}
        except urllib.error.HTTPError as error:
            text = error.read()
            return {"code": error.code, "body": json.loads(text) if text.startswith(b"{") else text.decode(), "warnings": []}


def path_of(base: str, name: str = "") -> str:
    """Where a base is served."""
    resource = BASES[base][0]
    root, _, plural = resource.rpartition("/")
    place = root if base == "definition" else f"{root}/namespaces/{NAMESPACE}"
    return f"{place}/{plural}" + (f"/{name}" if name else "")


def name_of(base: str) -> str:
    """What a base is called."""
    return "patchings.patches.setpoint.dev" if base == "definition" else base.replace(" ", "-")


def main() -> None:
    server = Server(sys.argv[1])
    server.ask("POST", "api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    live = {}
    for base, (_, obj) in BASES.items():
        path = path_of(base, name_of(base))
        server.ask("PATCH", path, {"metadata": {"finalizers": None}}, MEDIA["merge"])
        server.ask("DELETE", path)
        while server.ask("GET", path)["code"] != 404:
            time.sleep(0.1)
        whole = {**obj, "metadata": {**obj.get("metadata", {}), "name": name_of(base)}}
        for _ in range(50):
            made = server.ask("POST", path_of(base) + "?fieldManager=maker", whole)
            if made["code"] != 404:  # a definition is not served the moment that it is there
                break
            time.sleep(0.2)
        if made["code"] != 201:
            raise SystemExit(f"{base}: {made}")
        live[base] = made["body"]
    recorded = []
    for name, (base, media, body, options) in {**explicit(), **_drawn(live)}.items():
        data = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        query = urllib.parse.urlencode(
            {"dryRun": "All", "fieldManager": "patcher", **{key: value for key, value in options.items() if key != "sub"}}
        )
        sub = f"/{options['sub']}" if "sub" in options else ""
        answer = server.ask("PATCH", f"{path_of(base, name_of(base))}{sub}?{query}", data, MEDIA[media])
        recorded.append({"name": name, "base": base, "media": media, "data": base64.b64encode(data).decode(), "options": options, **answer})
    text = json.dumps({"live": live, "cases": recorded}, indent=0, sort_keys=True).encode()
    Path(__file__).with_name("recorded.json.gz").write_bytes(gzip.compress(text, mtime=0))


def _drawn(live: dict[str, Any]) -> dict[str, Any]:
    cases: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that examples are drawn outside of a test is what is wanted here
        for media, strategies in (("strategic", drawn.STRATEGIC), ("json", drawn.JSON), ("merge", drawn.MERGE)):
            for base, strategy in strategies.items():
                for number in range(DRAWN):
                    body = strategy.example()
                    if media != "strategic" or not _crashes(live[base], body):
                        cases[f"{media}: drawn for {base}, {number}"] = (base, media, body, {})
    return cases


def _crashes(live: dict[str, Any], patch: Any) -> bool:
    kind = next(kind for kind in builtin.kinds() if kind.kind == live["kind"])
    try:
        strategic_merge(live, patch, patch_type(kind.schema_name))
    except PatchCrash:
        return True
    except PatchFailure:
        pass
    return False


if __name__ == "__main__":
    main()
