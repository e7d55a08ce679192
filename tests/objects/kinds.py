"""The kinds that these tests are about: one of a user's, one in the manner of the built-in ones."""

from __future__ import annotations

from typing import Annotated

from setpoint.objects import UNSET as UNSET
from setpoint.objects import Column, Condition, Field, MicroTime, Object, Quantity, Resource, Scale, Struct, UnsetType, absent, kind


class WebAppSpec(Struct):
    image: str
    replicas: Annotated[int, Field(ge=0, le=100)] = 1
    paused: bool | None = None
    limit: int | UnsetType | None = UNSET


class WebAppStatus(Struct):
    ready_replicas: int = 0
    conditions: list[Condition] = []


@kind(
    group="apps.example.com",
    version="v1",
    short_names=["wa"],
    columns=[Column(name="Ready", type="integer", path=".status.readyReplicas")],
    scale=Scale(spec=".spec.replicas", status=".status.readyReplicas"),
)
class WebApp(Resource[WebAppSpec, WebAppStatus]):
    """A web application: one Deployment and one Service."""


class EmptyDir(Struct):
    medium: str | None = None
    size_limit: Quantity | None = None


class Volume(Struct):
    name: str
    empty_dir: EmptyDir | None = None


class Port(Struct):
    port: int
    protocol: str | None = None
    node_port: int | None = None


class LabelSelector(Struct):
    match_labels: dict[str, str] = {}


class PodSpec(Struct):
    containers: list[str]
    volumes: Annotated[list[Volume], Field(list_map_keys=["name"])] = []
    ports: Annotated[list[Port], Field(list_map_keys=["port", "protocol"])] = []
    cluster_ip: str | None = None
    pod_ips: list[str] = []


class DeploymentSpec(Struct):
    selector: LabelSelector
    template: PodSpec
    replicas: int | None = None
    renew_time: MicroTime | None = None


class DeploymentStatus(Struct):
    ready_replicas: int | None = None
    conditions: list[Condition] = []


@kind(group="apps", version="v1")
class Deployment(Object):
    spec: DeploymentSpec = absent(DeploymentSpec)
    status: DeploymentStatus = absent(DeploymentStatus)
