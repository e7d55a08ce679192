"""The environment: allocates a port for each listener that has none, never the same twice."""

from setpoint import Context, Controller, Request

from .kinds import Listener

controller = Controller(Listener, name="allocator")


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    listener = await ctx.get(Listener, request)
    if listener is not None and not listener.is_terminating and listener.spec.port is None:
        listener.spec.port = 30000 + (listener.metadata.generation or 0)
        await ctx.update(listener)
