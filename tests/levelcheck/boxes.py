"""A small controller for the tests of the level checker: each Box gets a ConfigMap; its status says what the ConfigMap holds."""

from setpoint import Context, Controller, ObjectMeta, Request, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.levelcheck import Workload, apply, wait


class BoxSpec(Struct):
    """What is wanted."""

    size: int = 1


class BoxStatus(Struct):
    """What is there."""

    size: int = 0


@kind(group="tests.example.com", version="v1")
class Box(Resource[BoxSpec, BoxStatus]):
    """A box."""


controller = Controller(Box, owns=[ConfigMap])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    """Makes what is there what is wanted."""
    box = await ctx.get(Box, request)
    if box is None or box.is_terminating:
        return
    meta = ObjectMeta(name=box.name, namespace=box.namespace)
    made = await ctx.apply(ConfigMap(metadata=meta, data={"size": str(box.spec.size)}), owner=box)
    box.status.size = int(made.data["size"])
    await ctx.update_status(box)


def box(size: int, name: str = "a") -> dict:
    """A manifest."""
    return {
        "apiVersion": "tests.example.com/v1",
        "kind": "Box",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"size": size},
    }


workload = Workload.of(apply(box(1)), wait(), apply(box(2)), wait())
