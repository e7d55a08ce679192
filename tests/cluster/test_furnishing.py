"""What each namespace has from the start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from setpoint.client import Client, Config, Connection, HttpTransport
from setpoint.cluster.controllers import control_plane_controllers
from setpoint.cluster.hosted import hosted
from setpoint.k8s.core.v1 import ConfigMap, Namespace, ServiceAccount
from setpoint.manager import Manager
from setpoint.objects import ObjectMeta
from setpoint.testing import Cluster
from setpoint.world import real_world

CA = "-----BEGIN CERTIFICATE-----"
FIRST = ["default", "kube-node-lease", "kube-public", "kube-system"]


@asynccontextmanager
async def furnished(manager: Manager) -> AsyncIterator[None]:
    async with control_plane_controllers(manager, workloads=False, root_ca=CA):
        yield


@pytest.fixture
def cluster(cluster: Cluster) -> Cluster:
    """One whose controllers know whom clients are to trust."""
    cluster.start(furnished)
    cluster.settle()
    return cluster


def test_each_namespace_has_a_service_account_and_the_authority_to_trust(cluster: Cluster) -> None:
    cluster.create(Namespace(metadata=ObjectMeta(name="shop")))
    cluster.settle()
    assert [(found.namespace, found.name) for found in cluster.list(ServiceAccount)] == [(name, "default") for name in [*FIRST, "shop"]]
    published = cluster.list(ConfigMap)
    assert [(found.namespace, found.name) for found in published] == [(name, "kube-root-ca.crt") for name in [*FIRST, "shop"]]
    assert all(found.data == {"ca.crt": CA} for found in published)
    assert "CA bundle" in published[0].metadata.annotations["kubernetes.io/description"]


def test_what_is_deleted_or_changed_of_it_comes_back(cluster: Cluster) -> None:
    account, published = cluster.get(ServiceAccount, "default/default"), cluster.get(ConfigMap, "default/kube-root-ca.crt")
    assert account is not None
    assert published is not None
    cluster.delete(account)
    published.data = {"ca.crt": "another"}
    cluster.update(published)
    elsewhere = cluster.get(ConfigMap, "kube-public/kube-root-ca.crt")
    assert elsewhere is not None
    cluster.delete(elsewhere)
    cluster.settle()
    assert cluster.refresh(published).data == {"ca.crt": CA}
    assert cluster.refresh(elsewhere).data == {"ca.crt": CA}
    again = cluster.get(ServiceAccount, "default/default")
    assert again is not None
    assert again.uid != account.uid


def test_a_namespace_that_goes_is_not_furnished_again(cluster: Cluster) -> None:
    namespace = cluster.create(Namespace(metadata=ObjectMeta(name="shop")))
    cluster.settle()
    cluster.delete(namespace)
    cluster.settle()
    assert cluster.get(Namespace, "shop") is None
    assert [found.namespace for found in cluster.list(ServiceAccount)] == FIRST


def test_a_server_that_is_reached_over_https_publishes_its_own_authority() -> None:
    with hosted() as address:

        async def main() -> str:
            world = real_world()
            transport = HttpTransport(Config(server=address.url, ca_data=address.ca_pem, token=address.token), world)
            client = Client(Connection(transport, world))
            try:
                async with asyncio.timeout(120):
                    while (found := await client.get(ConfigMap, "default/kube-root-ca.crt")) is None:
                        await asyncio.sleep(0.02)
                return found.data["ca.crt"]
            finally:
                await client.connection.close()

        assert asyncio.run(main()) == address.ca_pem.decode()
