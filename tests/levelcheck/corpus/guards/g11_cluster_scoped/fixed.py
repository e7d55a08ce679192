"""A ConfigMap in each of the namespaces that a Policy names, as soon as there is such a namespace.

An owner without a namespace may own objects in any of them, so they go with it.
"""

from typing import Annotated

from setpoint import Context, Controller, Field, ObjectMeta, Request, Resource, Struct, kind, mappers
from setpoint.k8s.core.v1 import ConfigMap, Namespace


class PolicySpec(Struct):
    rules: str
    namespaces: Annotated[list[str], Field(list_type="set")] = []


class PolicyStatus(Struct):
    applied: list[str] = []


@kind(group="guards.example.com", version="v1", scope="Cluster")
class Policy(Resource[PolicySpec, PolicyStatus]):
    """Rules for namespaces."""


def rules_for(policy: Policy, namespace: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=f"policy-{policy.name}", namespace=namespace), data={"rules": policy.spec.rules})


controller = Controller(Policy, owns=[ConfigMap])
controller.watch(Namespace, map=mappers.to_all(Policy))


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    policy = await ctx.get(Policy, request)
    if policy is None or policy.is_terminating:
        return
    there = {namespace.name for namespace in await ctx.list(Namespace) if not namespace.is_terminating}
    applied = [name for name in sorted(policy.spec.namespaces) if name in there]
    kept = [await ctx.apply(rules_for(policy, name), owner=policy) for name in applied]
    await ctx.prune(ConfigMap, keep=kept, owner=policy)
    policy.status.applied = applied
    await ctx.update_status(policy)
