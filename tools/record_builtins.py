"""Records how a real kube-apiserver treats objects of built-in kinds, for the tests in ``tests/server/builtin``.

    python tools/record_builtins.py --kubeconfig FILE

sends every body of ``created.json``, ``refused.json`` and ``updated.json`` to the server and writes its answers beside them. A new case is
a new entry with a ``body`` (and, in ``updated.json``, the ``first`` one that it replaces). Objects are removed again.
"""

from __future__ import annotations

import argparse
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from generate_k8s import Server

CASES = Path(__file__).resolve().parent.parent / "tests" / "server" / "builtin"
ASSIGNED = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
CLUSTER_SCOPED = ("Namespace",)

Json = dict[str, Any]


class Recorder(Server):
    def ask(self, method: str, path: str, body: Json) -> tuple[int, Json]:
        """Code and content of an answer, whether it is one of success or not."""
        request = urllib.request.Request(self._url + path, json.dumps(body).encode(), method=method)
        request.add_header("Authorization", f"Bearer {self._token}")
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, context=self._tls) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def create(self, body: Json) -> tuple[int, Json]:
        return self.ask("POST", collection_of(body), body)

    def delete(self, body: Json) -> None:
        path = f"{collection_of(body)}/{body['metadata']['name']}"
        _, left = self.ask("DELETE", path, {"gracePeriodSeconds": 0})
        if left["kind"] == "Namespace":
            self.ask("PUT", f"{path}/finalize", {**left, "spec": {}})


def collection_of(body: Json) -> str:
    root = "/api" if body["apiVersion"] == "v1" else "/apis"
    namespace = "" if body["kind"] in CLUSTER_SCOPED else "/namespaces/default"
    return f"{root}/{body['apiVersion']}{namespace}/{body['kind'].lower()}s"


def clean(stored: Json) -> Json:
    return {**stored, "metadata": {key: value for key, value in stored["metadata"].items() if key not in ASSIGNED}}


def answer_of(code: int, content: Json) -> Json:
    """What of an answer is kept: the object, the causes of a refusal, or the message of a bad request."""
    if code in (200, 201):
        return {"stored": clean(content)}
    return {"causes": content["details"]["causes"]} if code == 422 else {"message": content["message"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", type=Path, required=True, help="of a running API server, with a bearer token")
    recorder = Recorder(parser.parse_args().kubeconfig)
    for name in ("default", "robot"):
        recorder.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}})
    for file in ("created.json", "refused.json", "updated.json"):
        cases: list[Json] = json.loads((CASES / file).read_text())
        recorded = []
        for case in cases:
            kept: Json = {key: case[key] for key in ("name", "first", "body") if key in case}
            if "first" in case:
                code, old = recorder.create(case["first"])
                assert code == 201, (case["name"], old)
                body = {**case["body"], "metadata": {**case["body"]["metadata"], "resourceVersion": old["metadata"]["resourceVersion"]}}
                code, content = recorder.ask("PUT", f"{collection_of(body)}/{body['metadata']['name']}", body)
                kept["old"] = clean(old)
            else:
                code, content = recorder.create(case["body"])
            recorder.delete(case["body"])
            recorded.append({**kept, **answer_of(code, content)})
        lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in recorded)
        (CASES / file).write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
