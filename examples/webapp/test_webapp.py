"""The example's own tests, in simulated time: what a user of it may rely on."""

from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from webapp import WebApp, WebAppSpec, controller

from setpoint import Invalid, ObjectMeta, crd
from setpoint.k8s.apps.v1 import Deployment
from setpoint.k8s.core.v1 import Pod, Service
from setpoint.testing import Cluster

HERE = Path(__file__).parent


@pytest.fixture
def cluster(setpoint_cluster: Cluster) -> Cluster:
    """A cluster in which the controller runs."""
    setpoint_cluster.start(controller)
    return setpoint_cluster


def webapp(name: str = "shop", replicas: int = 3) -> WebApp:
    return WebApp(metadata=ObjectMeta(name=name, namespace="default"), spec=WebAppSpec(image="nginx:1.29", replicas=replicas))


def settled(cluster: Cluster, app: WebApp) -> WebApp:
    cluster.settle()
    return cluster.refresh(app)


def test_it_becomes_ready(cluster: Cluster) -> None:
    app = settled(cluster, cluster.create(webapp()))
    assert app.status.ready_replicas == 3
    (ready,) = app.status.conditions
    assert (ready.type, ready.status, ready.observed_generation) == ("Ready", "True", 1)
    deployment, service = cluster.get(Deployment, app.key), cluster.get(Service, app.key)
    assert deployment is not None
    assert deployment.metadata.owner_references[0].uid == app.uid
    assert service is not None
    assert [port.port for port in service.spec.ports] == [80]
    assert len(cluster.list(Pod, labels={"app": "shop"})) == 3


@pytest.mark.parametrize("replicas", [5, 1, 0])
def test_it_follows_what_is_wanted(cluster: Cluster, replicas: int) -> None:
    app = settled(cluster, cluster.create(webapp()))
    app.spec.replicas = replicas
    assert settled(cluster, cluster.update(app)).status.ready_replicas == replicas
    assert len(cluster.list(Pod, labels={"app": "shop"})) == replicas


@pytest.mark.parametrize("kind", [Deployment, Service])
def test_a_deleted_child_comes_back(cluster: Cluster, kind: type[Deployment] | type[Service]) -> None:
    app = settled(cluster, cluster.create(webapp()))
    before = cluster.get(kind, app.key)
    assert before is not None
    cluster.delete(before)
    assert settled(cluster, app).status.ready_replicas == 3
    after = cluster.get(kind, app.key)
    assert after is not None
    assert after.uid != before.uid


def test_what_somebody_else_changes_is_put_right(cluster: Cluster) -> None:
    app = settled(cluster, cluster.create(webapp()))
    deployment = cluster.get(Deployment, app.key)
    assert deployment is not None
    deployment.spec.replicas = 7
    cluster.update(deployment)
    settled(cluster, app)
    assert cluster.refresh(deployment).spec.replicas == 3


def test_what_happened_while_it_was_down_is_acted_on_at_start(cluster: Cluster) -> None:
    app = settled(cluster, cluster.create(webapp()))
    cluster.stop()
    app.spec.replicas = 4
    cluster.update(app)
    deployment = cluster.get(Deployment, app.key)
    assert deployment is not None
    cluster.delete(deployment)
    cluster.settle()
    cluster.start(controller)
    assert settled(cluster, app).status.ready_replicas == 4


def test_nothing_is_written_when_nothing_is_to_be_done(cluster: Cluster) -> None:
    app = settled(cluster, cluster.create(webapp()))
    cluster.settle()
    before = cluster.writes
    cluster.settle(timedelta(hours=1))
    cluster.stop()
    cluster.start(controller)  # and a restart changes nothing either
    settled(cluster, app)
    assert cluster.writes == before


def test_its_children_go_with_it(cluster: Cluster) -> None:
    app = settled(cluster, cluster.create(webapp()))
    cluster.delete(app)
    cluster.settle()
    assert [cluster.list(kind) for kind in (WebApp, Deployment, Pod)] == [[], [], []]
    assert cluster.get(Service, app.key) is None


def test_too_many_replicas_are_refused(cluster: Cluster) -> None:
    with pytest.raises(Invalid, match="less than or equal to 100"):
        cluster.create(webapp(replicas=101))


def test_the_manifests_are_those_of_the_class(cluster: Cluster) -> None:
    """`setpoint crd webapp.py > crd.yaml` writes the one, and the other can be applied."""
    assert yaml.safe_load((HERE / "crd.yaml").read_text()) == crd(WebApp)
    cluster.apply(yaml.safe_load((HERE / "shop.yaml").read_text()))
    assert settled(cluster, webapp()).status.ready_replicas == 3
