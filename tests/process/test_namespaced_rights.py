"""In one namespace, no right beyond it is needed: with the roles that `setpoint rbac` prints, and no others, on a real kube-apiserver."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from .programs import ROOT, Api, Json, setpoint
from .test_real_cluster import CRDS, condition_of, ready_of

pytestmark = pytest.mark.envtest

EXAMPLE = ROOT / "examples" / "webapp" / "webapp.py"
ROLES = "/apis/rbac.authorization.k8s.io/v1"
NO_ENDPOINTS = ("--metrics-bind-address", "0", "--health-probe-bind-address", "0")
LEASE = "webapp.apps.example.com"


@pytest.fixture
def kinds(control_plane: Path) -> Iterator[None]:
    """WebApps are served, until the end of the test."""
    api = Api(control_plane)
    with setpoint("crd", EXAMPLE) as printed:
        assert printed.end() == 0, printed.err
    crd = yaml.safe_load("\n".join(printed.out))
    place = f"{CRDS}/{crd['metadata']['name']}"
    api.ask("PATCH", f"{place}?fieldManager=test", crd, "application/apply-patch+yaml")
    api.until(CRDS, lambda found: all(condition_of(crd, "Established") == "True" for crd in found))
    yield
    api.ask("DELETE", place)
    api.until(CRDS, lambda found: crd["metadata"]["name"] not in [one["metadata"]["name"] for one in found])


class Tenant:
    """Namespaces with a service account that has the roles which `setpoint rbac` prints, and a kubeconfig for it."""

    def __init__(self, control_plane: Path, folder: Path, namespace: str, *others: str) -> None:
        self.api, self.namespace, self.folder = Api(control_plane), namespace, folder
        self.namespaces = (namespace, *others)
        self.kubeconfig = folder / "kubeconfig"
        api = self.api
        for name in self.namespaces:
            api.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
        api.ask("POST", accounts, {"metadata": {"name": "webapp"}})
        with setpoint("rbac", EXAMPLE, "-n", ",".join(self.namespaces), "--leader-election-id", LEASE) as printed:
            assert printed.end() == 0, printed.err
        self.printed: list[Json] = list(yaml.safe_load_all("\n".join(printed.out)))
        for document in self.printed:
            where = document["metadata"]["namespace"]
            api.ask("POST", f"{ROLES}/namespaces/{where}/{document['kind'].lower()}s?fieldValidation=Strict", document)
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        token = api.ask("POST", f"{accounts}/webapp/token", request)["status"]["token"]
        config = yaml.safe_load(control_plane.read_text())
        config["users"][0]["user"] = {"token": token}
        self.kubeconfig.write_text(yaml.safe_dump(config))

    def run(self, *more: str):
        return setpoint(
            "run", EXAMPLE, "--kubeconfig", self.kubeconfig, "-n", ",".join(self.namespaces), *NO_ENDPOINTS, *more, cwd=self.folder
        )

    def path(self, group: str, resource: str, namespace: str = "") -> str:
        return f"/{group}/namespaces/{namespace or self.namespace}/{resource}"

    def converges(self, namespace: str = "") -> None:
        """A WebApp comes to be ready, with what it owns."""
        api, webapps = self.api, self.path("apis/apps.example.com/v1", "webapps", namespace)
        spec = {"image": "nginx:1.29", "replicas": 2}
        api.ask("POST", webapps, {"apiVersion": "apps.example.com/v1", "kind": "WebApp", "metadata": {"name": "shop"}, "spec": spec})
        pods = self.path("api/v1", "pods", namespace)
        for pod in api.until(pods, lambda pods: len(pods) == 2):
            status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
            api.merge(f"{pods}/{pod['metadata']['name']}/status", {"status": status})
        api.until(webapps, lambda apps: ready_of(apps) == {"shop": 2})

    def refusals(self) -> int:
        """How many requests the server has refused so far, whoever sent them."""
        found = re.findall(r'^apiserver_request_total\{[^}]*code="403"[^}]*\} (\d+)', self.api.text("/metrics"), re.MULTILINE)
        return sum(map(int, found))


def test_the_printed_roles_are_all_that_a_namespace_needs(kinds: None, control_plane: Path, tmp_path: Path) -> None:
    """Among what would be refused, and counted: a list of namespaces or of definitions, and anything in the whole cluster."""
    tenant = Tenant(control_plane, tmp_path, "tenant")
    assert {document["kind"] for document in tenant.printed} == {"Role", "RoleBinding"}
    before = tenant.refusals()
    with tenant.run("--leader-elect", "--leader-election-id", LEASE, "--leader-election-namespace", "tenant") as program:
        tenant.converges()
        program.signal(signal.SIGTERM)
        assert program.end() == 0, program.err
    assert tenant.refusals() == before
    assert not [line for line in program.err if "may not" in line or "refuse" in line or "error" in line], program.err


def test_nor_does_a_set_of_namespaces_need_more(kinds: None, control_plane: Path, tmp_path: Path) -> None:
    tenant = Tenant(control_plane, tmp_path, "tenant-of-two", "tenant-of-two-as-well")
    assert {document["kind"] for document in tenant.printed} == {"Role", "RoleBinding"}
    before = tenant.refusals()
    with tenant.run() as program:
        for namespace in tenant.namespaces:
            tenant.converges(namespace)
        program.signal(signal.SIGTERM)
        assert program.end() == 0, program.err
    assert tenant.refusals() == before
    assert not [line for line in program.err if "may not" in line or "refuse" in line or "error" in line], program.err


def test_what_is_missing_is_said_at_once_with_the_rule_to_add_and_then_it_goes_on(kinds: None, control_plane: Path, tmp_path: Path) -> None:
    tenant = Tenant(control_plane, tmp_path, "tenant-of-too-little")
    role = tenant.path("apis/rbac.authorization.k8s.io/v1", "roles") + "/webapp"
    rules = tenant.api.get(role)["rules"]
    tenant.api.merge(role, {"rules": [rule for rule in rules if "services" not in rule["resources"]]})
    with tenant.run() as program:
        said = program.line("may not do", of="err")
        for verb in ("get", "list", "watch", "create", "patch", "delete"):
            assert f'{verb} services in namespace \\"{tenant.namespace}\\"' in said, said
        assert "deployments" not in said
        assert 'resources: [\\"services\\"]' in said
        tenant.api.merge(role, {"rules": rules})
        tenant.converges()
        program.signal(signal.SIGTERM)
        assert program.end() == 0, program.err
    assert len([line for line in program.err if "may not do" in line]) == 1


def test_a_right_that_is_missing_in_a_run_is_named_once(kinds: None, control_plane: Path, tmp_path: Path) -> None:
    tenant = Tenant(control_plane, tmp_path, "tenant-of-no-status")
    role = tenant.path("apis/rbac.authorization.k8s.io/v1", "roles") + "/webapp"
    with tenant.run() as program:
        program.line("running", of="err")
        tenant.converges()
        rules = tenant.api.get(role)["rules"]
        tenant.api.merge(role, {"rules": [rule for rule in rules if "webapps/status" not in rule["resources"]]})
        webapps = tenant.path("apis/apps.example.com/v1", "webapps")
        tenant.api.merge(f"{webapps}/shop", {"spec": {"replicas": 3}})
        said = program.line("refuses to", of="err")
        assert f'patch webapps.apps.example.com/status in namespace \\"{tenant.namespace}\\"' in said
        assert 'resources: [\\"webapps/status\\"]' in said
        program.line("reconcile failed", of="err", count=3)
    assert len([line for line in program.err if "refuses to" in line]) == 1
