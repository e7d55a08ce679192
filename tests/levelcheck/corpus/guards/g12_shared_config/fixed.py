"""A Secret for each Agent, made of a ConfigMap that it names, and made again whenever that changes, appears or goes."""

from setpoint import Context, Controller, Index, ObjectMeta, Request, Resource, Struct, kind, mappers
from setpoint.k8s.core.v1 import ConfigMap, Secret


class AgentSpec(Struct):
    settings: str


class AgentStatus(Struct):
    level: str = ""


@kind(group="guards.example.com", version="v1")
class Agent(Resource[AgentSpec, AgentStatus]):
    """Runs with settings."""


BY_SETTINGS = Index(Agent, lambda agent: [f"{agent.namespace}/{agent.spec.settings}"])

controller = Controller(Agent, owns=[Secret])
controller.watch(ConfigMap, map=mappers.by_index(BY_SETTINGS))


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    agent = await ctx.get(Agent, request)
    if agent is None or agent.is_terminating:
        return
    settings = await ctx.get(ConfigMap, agent.spec.settings, namespace=agent.namespace)
    level = settings.data.get("level", "") if settings is not None else ""
    file = Secret(
        metadata=ObjectMeta(name=f"agent-{agent.name}", namespace=agent.namespace),
        data={"agent.conf": f"name={agent.name} level={level or 'warning'}".encode()},
    )
    await ctx.apply(file, owner=agent)
    agent.status.level = level
    await ctx.update_status(agent)
