"""A program whose kind the server does not serve yet says which one it waits for, and works once it is there; and so again, if it goes."""

from __future__ import annotations

import signal
from pathlib import Path

import yaml

from .programs import Api, setpoint

CONTROLLER = """
from setpoint import Controller, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap

class ShelfSpec(Struct):
    boards: int = 1

class ShelfStatus(Struct):
    boards: int = 0

@kind(group="test.example.com", version="v1", plural="shelves")
class Shelf(Resource[ShelfSpec, ShelfStatus]):
    pass

controller = Controller(Shelf)

@controller.reconciler
async def reconcile(ctx, request):
    if await ctx.get(Shelf, request) is not None:
        print("saw", request, flush=True)
"""
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SHELVES = "/apis/test.example.com/v1/namespaces/default/shelves"
NO_ENDPOINTS = ("--metrics-bind-address", "0", "--health-probe-bind-address", "0")


def test_a_missing_kind_is_named_and_then_worked_on_and_so_it_is_when_it_comes_back(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    (tmp_path / "shelves.py").write_text(CONTROLLER)
    with setpoint("crd", "shelves.py", cwd=tmp_path) as printed:
        assert printed.end() == 0, printed.err
    crd = yaml.safe_load("\n".join(printed.out))
    with setpoint("server", "--write-kubeconfig", kubeconfig, cwd=tmp_path) as server:
        server.line("ready ")
        api = Api(kubeconfig)
        with setpoint("run", "shelves.py", "--kubeconfig", kubeconfig, *NO_ENDPOINTS, cwd=tmp_path) as program:
            said = program.line("shelves.test.example.com", of="err")
            assert "CustomResourceDefinition" in said
            for name in ("first", "second"):
                api.ask("POST", CRDS, crd)
                served(api)
                api.ask("POST", SHELVES, {"apiVersion": "test.example.com/v1", "kind": "Shelf", "metadata": {"name": name}, "spec": {}})
                program.line(f"saw default/{name}")
                api.ask("DELETE", f"{CRDS}/shelves.test.example.com")
                api.until(CRDS, lambda found: not found)
            program.signal(signal.SIGTERM)
            assert program.end() == 0, program.err
            assert not [line for line in program.err if "Traceback" in line]


def served(api: Api) -> None:
    def established(crd: dict) -> bool:
        conditions = crd.get("status", {}).get("conditions") or []  # null, until the server has looked at it
        return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)

    api.until(CRDS, lambda found: bool(found) and all(map(established, found)))
