"""What a real kube-apiserver answered goes through the typed classes without loss (`tools/record_builtins.py` records it)."""

import importlib
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from setpoint.k8s.apiextensions.v1 import CustomResourceDefinition
from setpoint.k8s.apps.v1 import Deployment, DeploymentSpec, LabelSelector, PodTemplateSpec, ReplicaSet
from setpoint.k8s.coordination.v1 import Lease, LeaseSpec
from setpoint.k8s.core.v1 import (
    ConfigMap,
    Container,
    EmptyDirVolumeSource,
    Event,
    Namespace,
    Pod,
    PodSpec,
    Secret,
    Service,
    ServiceAccount,
    ServicePort,
    ServiceSpec,
    Volume,
)
from setpoint.objects import MicroTime, Object, ObjectMeta, decode, encode, kind_of

MODULES = ("apiextensions.v1", "apps.v1", "coordination.v1", "core.v1", "meta.v1")
KINDS: list[type[Object]] = [
    ConfigMap, CustomResourceDefinition, Deployment, Event, Lease, Namespace, Pod, ReplicaSet, Secret, Service, ServiceAccount,
]  # fmt: skip
BY_NAME = {cls.__name__: cls for cls in KINDS}
RECORDED = json.loads((Path(__file__).parents[1] / "server" / "builtin" / "created.json").read_text())


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("stored", [pytest.param(case["stored"], id=case["name"]) for case in RECORDED])
def test_what_the_server_stores_comes_back_unchanged(stored: dict[str, Any]) -> None:
    cls = BY_NAME[stored["kind"]]
    assert msgspec.json.decode(encode(decode(cls, msgspec.json.encode(stored)))) == without_nulls(stored)


def test_a_deployment_states_what_it_holds() -> None:
    labels = {"app": "web"}
    deployment = Deployment(
        metadata=ObjectMeta(name="web"),
        spec=DeploymentSpec(
            replicas=0,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=labels),
                spec=PodSpec(
                    containers=[Container(name="web", image="nginx")],
                    volumes=[Volume(name="scratch", empty_dir=EmptyDirVolumeSource())],
                ),
            ),
        ),
    )
    assert json.loads(encode(deployment)) == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "web", "image": "nginx"}], "volumes": [{"name": "scratch", "emptyDir": {}}]},
            },
        },
    }


def test_what_is_not_there_reads_as_empty() -> None:
    deployment = decode(Deployment, b'{"metadata":{"name":"web"},"spec":{"selector":{},"template":{}}}')
    assert (deployment.status.ready_replicas or 0) == 0
    assert deployment.status.conditions == []
    assert not deployment.status


def test_names_on_the_wire_are_the_api_s_own() -> None:
    service = Service(spec=ServiceSpec(cluster_ip="None", cluster_ips=["None"], external_ips=["1.2.3.4"], ports=[ServicePort(port=80)]))
    assert json.loads(encode(service))["spec"] == {
        "clusterIP": "None",
        "clusterIPs": ["None"],
        "externalIPs": ["1.2.3.4"],
        "ports": [{"port": 80}],
    }


def test_a_lease_has_its_six_digits_and_a_secret_its_bytes() -> None:
    lease = Lease(spec=LeaseSpec(renew_time=MicroTime.of(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))))
    assert json.loads(encode(lease))["spec"] == {"renewTime": "2026-01-02T03:04:05.000000Z"}
    assert decode(Secret, encode(Secret(data={"key": b"\x00\xff"}))).data == {"key": b"\x00\xff"}


def test_kinds_are_declared_as_discovery_announces_them() -> None:
    from setpoint.cluster.server.builtin import kinds

    for kind in kinds():
        info = kind_of(BY_NAME[kind.kind])
        assert (info.group, info.version, info.kind, info.plural, info.singular, info.namespaced, info.has_status) == (
            kind.group, kind.version, kind.kind, kind.plural, kind.singular, kind.namespaced, kind.has_status,
        )  # fmt: skip
        assert (info.short_names, info.categories, info.list_kind) == (kind.short_names, kind.categories, kind.list_kind)
        assert (info.scale is None) == (kind.scale is None)


@pytest.mark.parametrize("module", MODULES)
def test_every_exported_name_is_there(module: str) -> None:
    loaded = importlib.import_module(f"setpoint.k8s.{module}")
    assert [name for name in loaded.__all__ if not hasattr(loaded, name)] == []


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    code = "import setpoint, setpoint.objects, setpoint.k8s, sys; print([name for name in sys.modules if name.startswith('setpoint.k8s.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
