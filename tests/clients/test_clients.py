"""The Python clients on the embedded control plane: each its own program, which does with the cluster what its users do."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from tests.process.programs import Api, Json, Program, setpoint

PROGRAMS = Path(__file__).parent / "programs"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
MAPS = "/api/v1/namespaces/default/configmaps"
EVENTS = "/api/v1/namespaces/default/events"
EVERYTHING = {"create", "list", "patch", "watch", "delete", "apply", "custom resource"}
NO_LOGS = "the log of pods, in which nothing runs, is not supported by the embedded server"


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A control plane that serves widgets."""
    path = tmp_path_factory.mktemp("clients") / "kubeconfig"
    with setpoint("server", "--write-kubeconfig", path) as server:
        server.line("ready")
        api = Api(path)
        api.ask("POST", CRDS, yaml.safe_load((PROGRAMS / "crd.yaml").read_text()))
        yield path
        server.signal(signal.SIGTERM)
        assert server.end() == 0, server.err
        assert not [line for line in server.err if "Traceback" in line]


@pytest.mark.parametrize("client", ["kubernetes", "kubernetes_asyncio", "kr8s", "lightkube"])
def test_a_client_does_all_that_it_does_with_a_cluster(client: str, kubeconfig: Path) -> None:
    assert find_spec(client) is not None, "the extra `test` installs it"
    with Program(PROGRAMS / f"with_{client}.py", env={"KUBECONFIG": str(kubeconfig)}) as program:
        assert program.end() == 0, program.err
        done, refused = [line for line in program.out if not line.startswith("logs:")], [line for line in program.out if "logs:" in line]
        assert set(done) >= EVERYTHING, done
        assert len(refused) == 1
        assert NO_LOGS in refused[0]


def test_an_operator_of_kopf_works_to_completion(kubeconfig: Path) -> None:
    api = Api(kubeconfig)
    arguments = ("-m", "kopf", "run", "--standalone", "-n", "default", PROGRAMS / "widget_operator.py")
    with Program(*arguments, env={"KUBECONFIG": str(kubeconfig)}, executable=sys.executable) as operator:
        widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "kopf"}, "spec": {"size": 1}}
        made = api.ask("POST", WIDGETS, widget)
        operator.line("size None -> 1")
        operator.line("tick of kopf", count=2)
        maps = api.until(MAPS, lambda found: any(_named(item, "kopf-child") for item in found))
        (child,) = (item for item in maps if _named(item, "kopf-child"))
        assert child["metadata"]["ownerReferences"][0]["uid"] == made["metadata"]["uid"]
        (seen,) = api.until(WIDGETS, lambda found: any("created" in item.get("status", {}) for item in found))
        assert seen["status"]["created"] == {"child": "kopf-child"}
        assert seen["metadata"]["finalizers"] == ["example.com/kopf"]

        api.merge(f"{WIDGETS}/kopf", {"spec": {"size": 2}})
        operator.line("size 1 -> 2")
        api.until(WIDGETS, lambda found: any(item.get("status", {}).get("seen") == 2 for item in found))
        api.until(EVENTS, lambda found: any(event["reason"] == "Resized" for event in found))

        api.ask("DELETE", f"{WIDGETS}/kopf")
        operator.line("let go of kopf")
        operator.line("daemon of kopf ended")
        api.until(WIDGETS, lambda found: not found)
        api.until(MAPS, lambda found: not any(_named(item, "kopf-child") for item in found))  # its owner is gone
        operator.signal(signal.SIGTERM)
        assert operator.end() == 0, operator.err
        assert not [line for line in operator.err if "Traceback" in line]


def _named(item: Json, name: str) -> bool:
    return bool(item["metadata"]["name"] == name)
