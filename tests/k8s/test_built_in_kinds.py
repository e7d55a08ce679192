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

from setpoint.cluster.server.builtin import kinds as builtin_kinds
from setpoint.k8s.apiextensions.v1 import JSONSchemaProps
from setpoint.k8s.apps.v1 import Deployment, DeploymentSpec, LabelSelector, PodTemplateSpec
from setpoint.k8s.coordination.v1 import Lease, LeaseSpec
from setpoint.k8s.core.v1 import Container, EmptyDirVolumeSource, PodSpec, Secret, Service, ServicePort, ServiceSpec, Volume
from setpoint.objects import MicroTime, ObjectMeta, decode, encode, kind_of

from .schemas import KINDS, class_of

PACKAGES = [*dict.fromkeys(class_of(name).__module__.rpartition(".")[0] for name in KINDS), "setpoint.k8s.meta.v1"]
BY_KIND = {(kind["group"], kind["version"], kind["kind"]): class_of(name) for name, kind in KINDS.items()}
RECORDED = json.loads((Path(__file__).parents[1] / "server" / "builtin" / "created.json").read_text())


def loaded_by(code: str) -> list[str]:
    """The modules of built-in kinds that a new interpreter has loaded after this code."""
    code += "\nimport sys; print(*[name for name in sys.modules if name.startswith('setpoint.k8s.')])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("stored", [pytest.param(case["stored"], id=case["name"]) for case in RECORDED])
def test_what_the_server_stores_comes_back_unchanged(stored: dict[str, Any]) -> None:
    group, _, version = stored["apiVersion"].rpartition("/")
    cls = BY_KIND[group, version, stored["kind"]]
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


@pytest.mark.parametrize("name", KINDS)
def test_kinds_are_declared_as_discovery_announces_them(name: str) -> None:
    announced, info = KINDS[name], kind_of(class_of(name))
    assert (info.group, info.version, info.kind, info.scope) == tuple(announced[key] for key in ("group", "version", "kind", "scope"))
    assert info.has_status == ("status" in announced["subresources"])
    assert (info.scale is not None) == ("scale" in announced["subresources"])
    if "resource" in announced:  # else only a subresource takes it
        assert (info.plural, info.singular) == (announced["resource"], announced["singularResource"])
    assert list(info.short_names) == announced.get("shortNames", [])
    assert list(info.categories) == announced.get("categories", [])


def test_the_embedded_server_and_the_classes_agree() -> None:
    for kind in builtin_kinds():
        info = kind_of(BY_KIND[kind.group, kind.version, kind.kind])
        assert (info.plural, info.singular, info.namespaced, info.has_status, info.list_kind) == (
            kind.plural, kind.singular, kind.namespaced, kind.has_status, kind.list_kind,
        )  # fmt: skip
        assert (info.scale is None) == (kind.scale is None)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_is_there(package: str) -> None:
    loaded = importlib.import_module(package)
    assert [name for name in loaded.__all__ if not hasattr(loaded, name)] == []
    assert set(loaded.__all__) <= set(dir(loaded))
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        loaded.Nothing  # to ask for it is the test


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    assert loaded_by("import setpoint, setpoint.objects, setpoint.k8s") == []
    packages = loaded_by("import setpoint.k8s.core.v1, setpoint.k8s.apps.v1, setpoint.k8s.rbac.v1")
    assert [name for name in packages if name.count(".") > 3] == []


def test_a_kind_brings_along_only_what_it_holds() -> None:
    core, apps = "setpoint.k8s.core.v1", "setpoint.k8s.apps.v1"
    assert [name for name in loaded_by(f"from {core} import ConfigMap") if name.count(".") > 3] == [f"{core}.config_map"]
    brought = loaded_by(f"from {apps} import Deployment")
    assert f"{core}.pod_spec" in brought
    assert [name for name in brought if name in (f"{core}.pod", f"{core}.node", f"{core}.service", f"{apps}.stateful_set")] == []


def test_one_class_is_one_class_wherever_it_is_taken_from() -> None:
    from setpoint.k8s.apps import v1 as apps
    from setpoint.k8s.batch import v1 as batch

    assert apps.PodTemplateSpec is batch.PodTemplateSpec is PodTemplateSpec
    assert apps.LabelSelector is LabelSelector


def test_a_schema_is_typed_all_the_way_down() -> None:
    content = {
        "type": "object",
        "properties": {"items": {"type": "array", "items": {"type": "string", "default": {"a": None}}}},
        "additionalProperties": False,
        "x-kubernetes-preserve-unknown-fields": True,
        "$ref": "#/elsewhere",
    }
    schema = decode(JSONSchemaProps, json.dumps(content).encode())
    items = schema.properties["items"].items
    assert isinstance(items, JSONSchemaProps)
    assert (items.type, items.default, schema.additional_properties) == ("string", {"a": None}, False)
    assert json.loads(encode(schema)) == content
