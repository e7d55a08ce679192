"""What is there before anybody has asked for anything, as on a real server."""

from tests.server.talk import NAMESPACES, Talk, names, talk

from setpoint.api import GroupVersionResource
from setpoint.cluster.server import ApiServer

SERVICES = GroupVersionResource("", "v1", "services")
CLASSES = GroupVersionResource("scheduling.k8s.io", "v1", "priorityclasses")


def test_the_first_namespaces_priority_classes_and_the_service_of_the_server_are_there() -> None:
    async def main(talk: Talk) -> None:
        assert names(await talk.do("list", NAMESPACES)) == ["default", "kube-node-lease", "kube-public", "kube-system"]
        assert names(await talk.do("list", CLASSES)) == ["system-cluster-critical", "system-node-critical"]
        service = await talk.do("get", SERVICES, "default/kubernetes")
        assert service["metadata"]["labels"] == {"component": "apiserver", "provider": "kubernetes"}
        assert service["spec"]["clusterIP"] == "10.0.0.1"
        assert service["spec"]["ports"] == [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}]

    talk(main)


def test_a_server_on_the_same_storage_makes_them_once() -> None:
    async def main(talk: Talk) -> None:
        before = talk.revision
        await talk.do("delete", SERVICES, "default/kubernetes")
        server = ApiServer(talk.world, storage=talk.server.storage)
        # What is missing is made again, and nothing else.
        assert server.storage.revision == before + 2

    talk(main)
