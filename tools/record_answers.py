"""Records what a real kube-apiserver answers to requests about built-in kinds, for ``tests/server/builtin/test_answers.py``.

    python tools/record_answers.py --kubeconfig FILE [NAME ...]

sends the requests of every file in ``tests/server/builtin/answers`` (or of those named, without ``.json``) to the server, in order, and
writes its answers beside them. A new case is a new entry with a ``name`` and its ``requests``, each with a ``do`` such as
``POST /api/v1/namespaces/configuration/endpoints`` and, where it sends one, a ``body``, in which the resourceVersion ``$last`` stands for
that of the answer before. Namespaced objects go to the namespace ``configuration``, which is made if it is not there. What was made is
removed again.
"""

from __future__ import annotations

import argparse
import json
import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote

from generate_k8s import Server

ANSWERS = Path(__file__).resolve().parent.parent / "tests" / "server" / "builtin" / "answers"
NAMESPACE = "configuration"
ASSIGNED = ("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "managedFields", "selfLink")
"""What of an object's metadata differs from run to run."""

Json = dict[str, Any]


class Recorder(Server):
    """Asks, and gives what is kept of an answer."""

    def ask(self, do: str, body: Json | None) -> tuple[Json, Json]:
        """The whole content of an answer, and what is kept of it."""
        method, _, path = do.partition(" ")
        request = urllib.request.Request(self._url + path, None if body is None else json.dumps(body).encode(), method=method)
        request.add_header("Authorization", f"Bearer {self._token}")
        request.add_header("Content-Type", "application/merge-patch+json" if method == "PATCH" else "application/json")
        try:
            with urllib.request.urlopen(request, context=self._tls) as response:
                code, headers, content = response.status, response.headers, response.read()
        except urllib.error.HTTPError as error:
            code, headers, content = error.code, error.headers, error.read()
        decoded = json.loads(content)
        warnings = [re.sub(r'^299 - "|"$', "", text).replace('\\"', '"') for text in headers.get_all("Warning", [])]
        return decoded, {"code": code, **({"warnings": warnings} if warnings else {}), **kept(decoded)}


def kept(content: Json) -> Json:
    """An object without what differs from run to run; of a refusal its reason, message and causes; of a list its length."""
    if content["kind"] == "Status":
        details = {key: value for key, value in content.get("details", {}).items() if key != "uid"}
        message = {"message": content["message"]} if "message" in content else {}
        return {"reason": content.get("reason", content["status"]), **message, **({"details": details} if details else {})}
    if content["kind"].endswith("List"):
        return {}
    return {"object": {**content, "metadata": {key: value for key, value in content["metadata"].items() if key not in ASSIGNED}}}


def filled(body: Json | None, version: str) -> Json | None:
    """The body with the version of the answer before where it asks for that."""
    if body is not None and body.get("metadata", {}).get("resourceVersion") == "$last":
        return {**body, "metadata": {**body["metadata"], "resourceVersion": version}}
    return body


def record(recorder: Recorder, case: Json) -> Json:
    """A case with its answers. What it has made is gone afterwards."""
    made: dict[str, None] = {}
    version = ""
    requests = []
    for request in case["requests"]:
        content, answer = recorder.ask(request["do"], filled(request.get("body"), version))
        metadata = content.get("metadata", {})
        version = metadata.get("resourceVersion", version)
        method, _, path = request["do"].partition(" ")
        if answer["code"] in (200, 201) and method in ("POST", "PUT") and "name" in metadata:
            made[path.partition("?")[0] + (f"/{quote(metadata['name'])}" if method == "POST" else "")] = None
        requests.append({"do": request["do"], **({"body": request["body"]} if "body" in request else {}), "answer": answer})
    for path in reversed(made):
        left, _ = recorder.ask(f"DELETE {path}", {"gracePeriodSeconds": 0})
        if left.get("metadata", {}).get("finalizers"):
            recorder.ask(f"PATCH {path}", {"metadata": {"finalizers": None}})
        if left["kind"] == "Namespace":
            recorder.ask(f"PUT {path}/finalize", {**left, "spec": {}})
    return {"name": case["name"], "requests": requests}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", type=Path, required=True, help="of a running API server, with a bearer token")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    recorder = Recorder(arguments.kubeconfig)
    recorder.ask("POST /api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    for file in sorted(ANSWERS.glob("*.json")):
        if not arguments.names or file.stem in arguments.names:
            recorded = [record(recorder, case) for case in json.loads(file.read_text())]
            lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in recorded)
            file.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
