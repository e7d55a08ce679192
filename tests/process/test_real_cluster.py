"""The example, unmodified, on a real kube-apiserver with the controllers of a real kube-controller-manager."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from .programs import ROOT, Api, Json, Program, setpoint

pytestmark = pytest.mark.envtest

EXAMPLE = ROOT / "examples" / "webapp" / "webapp.py"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAMESPACE = "real-cluster"
WEBAPPS = f"/apis/apps.example.com/v1/namespaces/{NAMESPACE}/webapps"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
SERVICES = f"/api/v1/namespaces/{NAMESPACE}/services"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
REPLICAS = {"first": 1, "second": 2, "third": 3}
RESYNCS = 3


@pytest.fixture
def api(control_plane: Path) -> Api:
    """A namespace of its own, which serves WebApps."""
    api = Api(control_plane)
    with setpoint("crd", EXAMPLE) as printed:
        assert printed.end() == 0, printed.err
    api.ask("POST", f"{CRDS}?fieldValidation=Strict", yaml.safe_load("\n".join(printed.out)))
    api.until(CRDS, lambda found: all(condition_of(crd, "Established") == "True" for crd in found))
    api.ask("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    return api


def test_the_example_works_on_a_real_cluster_and_a_resync_changes_nothing(api: Api, control_plane: Path, tmp_path: Path) -> None:
    crd = api.items(CRDS)[0]
    assert api.warnings == []
    assert {c["type"]: c["status"] for c in crd["status"]["conditions"]} == {"NamesAccepted": "True", "Established": "True"}

    no_endpoints = ("--metrics-bind-address", "0", "--health-probe-bind-address", "0")
    with setpoint("run", EXAMPLE, "--kubeconfig", control_plane, "-n", NAMESPACE, *no_endpoints, cwd=tmp_path) as program:
        assert "envtest" in program.line("Context", of="err")
        for name, replicas in REPLICAS.items():
            metadata = {"name": name, "namespace": NAMESPACE}
            spec = {"image": "nginx:1.29", "replicas": replicas}
            api.ask("POST", WEBAPPS, {"apiVersion": "apps.example.com/v1", "kind": "WebApp", "metadata": metadata, "spec": spec})
        children_are_applied(api)
        api.until(PODS, lambda pods: len(pods) == sum(REPLICAS.values()))
        api.until(WEBAPPS, lambda apps: ready_of(apps) == dict.fromkeys(REPLICAS, 0))
        for pod in api.items(PODS):
            start(api, pod)
        apps = api.until(WEBAPPS, lambda apps: ready_of(apps) == REPLICAS)
        assert {condition_of(app, "Ready") for app in apps} == {"True"}
        program.signal(signal.SIGTERM)
        assert program.end() == 0, program.err
        assert not [line for line in program.err if "Traceback" in line or '"level":"error"' in line]

    before = versions(api)
    assert len(before) == 3 * len(REPLICAS)
    with Program(Path(__file__).parent / "told_controller.py", control_plane, EXAMPLE) as controller:
        # The start is a resync, too, of a process that remembers nothing: it may ask, but has nothing to change.
        for name in REPLICAS:  # one by one, since a key may run more often than once
            controller.line(f"end webapp {NAMESPACE}/{name}")
        assert versions(api) == before
        asked = len(writes(controller))
        for _ in range(RESYNCS):
            controller.tell("resync")
            controller.line("end webapp", count=len(ends(controller)) + len(REPLICAS))
        assert writes(controller)[asked:] == []
        assert set(ends(controller)) == {"success"}
    assert versions(api) == before
    assert api.warnings == []


def ends(controller: Program) -> list[str]:
    """How each run so far has ended."""
    return [line.split()[-1] for line in controller.out if line.startswith("end ")]


def children_are_applied(api: Api) -> None:
    for path in (DEPLOYMENTS, SERVICES):
        children = api.until(path, lambda found: {item["metadata"]["name"] for item in found} == set(REPLICAS))
        for child in children:
            (owner,) = child["metadata"]["ownerReferences"]
            assert (owner["kind"], owner["name"], owner["controller"]) == ("WebApp", child["metadata"]["name"], True)
            assert ("webapp", "Apply") in [(entry["manager"], entry["operation"]) for entry in child["metadata"]["managedFields"]]


def start(api: Api, pod: Json) -> None:
    """Does what a kubelet would."""
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    api.merge(f"{PODS}/{pod['metadata']['name']}/status", {"status": status})


def ready_of(apps: Sequence[Json]) -> dict[str, int | None]:
    return {app["metadata"]["name"]: app.get("status", {}).get("readyReplicas") for app in apps}


def condition_of(item: Json, type: str) -> str | None:
    conditions = item.get("status", {}).get("conditions") or []  # null, until the server has looked at it
    return next((condition["status"] for condition in conditions if condition["type"] == type), None)


def versions(api: Api) -> dict[str, str]:
    """The version of each WebApp and of all that it owns."""
    return {
        f"{path} {item['metadata']['name']}": item["metadata"]["resourceVersion"]
        for path in (WEBAPPS, DEPLOYMENTS, SERVICES)
        for item in api.items(path)
    }


def writes(controller: Program) -> list[str]:
    return [line for line in controller.out if line.startswith("write ")]
