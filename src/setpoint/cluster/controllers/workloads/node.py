"""The one simulated node: Ready, with room for 110 pods, and without a heartbeat, since nothing happens on it by itself.

https://kubernetes.io/docs/concepts/architecture/nodes/
"""

from __future__ import annotations

from collections.abc import Sequence

from setpoint.client.errors import AlreadyExists
from setpoint.controller import Context, Controller
from setpoint.k8s.core.v1 import Namespace, Node, NodeAddress, NodeCondition, NodeStatus, NodeSystemInfo
from setpoint.objects import Object, ObjectMeta, Quantity, Request, whole_seconds

NODE = "setpoint"
NOT_READY = "node.kubernetes.io/not-ready"
FIRST_NAMESPACE = "kube-system"
_ADDRESS = "127.0.0.1"
_ROOM = {"cpu": "8", "memory": "16Gi", "ephemeral-storage": "100Gi", "pods": "110"}
_CONDITIONS: Sequence[tuple[str, str, str, str]] = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)


def node_controller() -> Controller[Node]:
    """Makes the node, again when it is deleted. Whatever somebody else makes of its status stays."""
    controller = Controller(Node, name="node", reconciler=reconcile)
    # The namespace is there from the start, and so asks for the node that is not.
    return controller.watch(Namespace, map=_the_node, fields=f"metadata.name={FIRST_NAMESPACE}", metadata_only=True)


def _is_said_unready(node: Node) -> bool:
    return any(condition.type == "Ready" and condition.status != "True" for condition in node.status.conditions)


def _the_node(obj: Object) -> list[Request]:
    return [Request("", NODE)]


async def reconcile(ctx: Context, request: Request) -> None:
    """Makes the node where it is missing, and gives it a status where it has none."""
    if request.name != NODE:
        return
    node = await ctx.get(Node, request)
    if node is None:
        labels = {"kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
        try:
            node = await ctx.create(Node(metadata=ObjectMeta(name=NODE, labels=labels)))
        except AlreadyExists:
            return
    if any(taint.key == NOT_READY for taint in node.spec.taints) and not _is_said_unready(node):
        # A new node has it from the server, until somebody finds the node ready.
        node.spec.taints = [taint for taint in node.spec.taints if taint.key != NOT_READY]
        node = await ctx.update(node)
    if not node.status.conditions:
        moment = whole_seconds(ctx.now())
        room = {name: Quantity(amount) for name, amount in _ROOM.items()}
        node.status = NodeStatus(
            capacity=room,
            allocatable=room,
            addresses=[NodeAddress(type="InternalIP", address=_ADDRESS), NodeAddress(type="Hostname", address=NODE)],
            conditions=[
                NodeCondition(
                    type=type, status=status, reason=reason, message=message, last_heartbeat_time=moment, last_transition_time=moment
                )
                for type, status, reason, message in _CONDITIONS
            ],
            node_info=NodeSystemInfo(
                architecture="amd64",
                boot_id="",
                container_runtime_version="setpoint://simulated",
                kernel_version="",
                kube_proxy_version="",
                kubelet_version="v1.37.0",
                machine_id="",
                operating_system="linux",
                os_image="simulated",
                system_uuid="",
            ),
        )
        await ctx.update_status(node)
