"""A Route says of itself, by conditions, whether it is well formed and whether its backend is there. It writes nothing else."""

from setpoint import Condition, Context, Controller, Index, Request, Resource, Struct, kind, mappers
from setpoint.k8s.core.v1 import Service


class RouteSpec(Struct):
    path: str
    backend: str


class RouteStatus(Struct):
    observed_generation: int = 0
    conditions: list[Condition] = []


@kind(group="guards.example.com", version="v1")
class Route(Resource[RouteSpec, RouteStatus]):
    """Leads to a Service."""


BY_BACKEND = Index(Route, lambda route: [f"{route.namespace}/{route.spec.backend}"])

controller = Controller(Route)
controller.watch(Service, map=mappers.by_index(BY_BACKEND))


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    route = await ctx.get(Route, request)
    if route is None or route.is_terminating:
        return
    backend = await ctx.get(Service, route.spec.backend, namespace=route.namespace)
    accepted, resolved = route.spec.path.startswith("/"), backend is not None
    ctx.set_condition(route, "Accepted", accepted, reason="Accepted" if accepted else "PathIsRelative")
    ctx.set_condition(route, "ResolvedRefs", resolved, reason="Resolved" if resolved else "BackendNotFound")
    ctx.set_condition(route, "Ready", accepted and resolved, reason="Checked")
    route.status.observed_generation = route.metadata.generation or 0
    await ctx.update_status(route)
