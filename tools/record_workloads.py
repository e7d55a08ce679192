"""Records how a real kube-apiserver treats workloads and what they stand on, for ``tests/server/builtin/test_workloads.py``.

    python tools/record_workloads.py --kubeconfig FILE [FILE.json ...]

sends what the cases in ``tests/server/builtin/workloads`` (all files, or those named) say to the server and writes its answers beside
them. A case has a ``body``, which is created (as a dry run) or, where there is a ``first`` one, replaces that; with ``"at": "status"`` it
goes to that subresource, with ``status`` the first one has got a status before. A new case is a new entry without an answer. Objects are
removed again, and so is the namespace.
"""

from __future__ import annotations

import argparse
import json
import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from record_builtins import ASSIGNED, Recorder

CASES = Path(__file__).resolve().parent.parent / "tests" / "server" / "builtin" / "workloads"
NAMESPACE = "recorded-workloads"
WARNING = re.compile(r'299 - "(.*)"', re.DOTALL)
UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Json = dict[str, Any]


class Workloads(Recorder):
    def __init__(self, kubeconfig: Path) -> None:
        super().__init__(kubeconfig)
        self._resources: dict[tuple[str, str], tuple[str, bool]] = {}
        for path, resources in self.discovery().items():
            for resource in resources:
                kind = resource["responseKind"]["kind"]
                self._resources.setdefault((path.partition("/")[2], kind), (resource["resource"], resource["scope"] == "Namespaced"))

    def ask(self, method: str, path: str, body: Json) -> tuple[int, Json]:
        """As `Recorder.ask`; what the server warns of is under ``_warnings`` in an answer of success."""
        request = urllib.request.Request(self._url + path, json.dumps(body).encode(), method=method)
        request.add_header("Authorization", f"Bearer {self._token}")
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, context=self._tls) as response:
                warned = [WARNING.sub(r"\1", text).replace('\\"', '"') for text in response.headers.get_all("Warning") or []]
                return response.status, {**json.load(response), "_warnings": warned}
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def collection(self, body: Json) -> str:
        version = body["apiVersion"]
        plural, namespaced = self._resources[version, body["kind"]]
        return f"{'/api' if version == 'v1' else '/apis'}/{version}{f'/namespaces/{NAMESPACE}' if namespaced else ''}/{plural}"

    def record(self, case: Json) -> Json:
        """The case with the server's answer."""
        asked: Json = {key: case[key] for key in ("name", "first", "status", "at", "body") if key in case}
        body = case["body"]
        collection = self.collection(body)
        if "first" not in case:
            return {**asked, **answered(*self.ask("POST", f"{collection}?dryRun=All", body))}
        path = f"{collection}/{body['metadata']['name']}"
        code, old = self.ask("POST", collection, case["first"])
        assert code == 201, (case["name"], old)
        if "status" in case:
            old.pop("_warnings")
            code, old = self.ask("PUT", f"{path}/status", {**old, "status": case["status"]})
            assert code == 200, (case["name"], old)
        old.pop("_warnings", None)
        body = {**body, "metadata": {**body["metadata"], "resourceVersion": old["metadata"]["resourceVersion"]}}
        answer = answered(*self.ask("PUT", f"{path}/{case['at']}" if "at" in case else path, body))
        _, left = self.ask("DELETE", path, {"gracePeriodSeconds": 0, "propagationPolicy": "Background"})
        left.pop("_warnings", None)
        if left.get("metadata", {}).pop("finalizers", None):
            self.ask("PUT", path, left)
        return {**asked, **answer}


def answered(code: int, content: Json) -> Json:
    """What of an answer is kept."""
    if code not in (200, 201):
        details = content.get("details") or {}
        refused = {"code": code, "reason": content.get("reason", ""), "message": content["message"], "causes": details.get("causes", [])}
        return dict(json.loads(UID.sub("<uid>", json.dumps(refused))))
    warned = content.pop("_warnings", [])
    uid = content["metadata"].get("uid", "")
    kept = {**content, "metadata": {key: value for key, value in content["metadata"].items() if key not in ASSIGNED}}
    if kept["metadata"].get("namespace") == NAMESPACE:
        kept["metadata"]["namespace"] = "default"
    if "lastPhaseTransitionTime" in kept.get("status", {}):
        kept["status"]["lastPhaseTransitionTime"] = "<time>"
    for condition in kept.get("status", {}).get("conditions", []):
        if condition.get("reason") == "SchedulingGated":
            condition["lastTransitionTime"] = "<time>"
    stored = json.loads(json.dumps(kept).replace(uid, "<uid>")) if uid else kept
    return {"code": code, "stored": stored, **({"warnings": warned} if warned else {})}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", type=Path, required=True, help="of a running API server, with a bearer token")
    parser.add_argument("files", nargs="*", type=Path, default=sorted(CASES.glob("*.json")))
    options = parser.parse_args()
    recorder = Workloads(options.kubeconfig)
    recorder.ask("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    for file in options.files:
        lines = ",\n".join(json.dumps(recorder.record(case), ensure_ascii=False) for case in json.loads(file.read_text()))
        file.write_text(f"[\n{lines}\n]\n")
    _, left = recorder.ask("DELETE", f"/api/v1/namespaces/{NAMESPACE}", {})
    recorder.ask("PUT", f"/api/v1/namespaces/{NAMESPACE}/finalize", {**left, "spec": {}})


if __name__ == "__main__":
    main()
