"""The correction: only what is its own to say is written."""

from setpoint import Context, Controller, Request

from .kinds import Ensemble, Listener, listener_for

controller = Controller(Ensemble, name="zookeeper", owns=[Listener])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    ensemble = await ctx.get(Ensemble, request)
    if ensemble is None or ensemble.is_terminating:
        return
    wanted = listener_for(ensemble)
    listener = await ctx.get(Listener, request)
    if listener is None:
        await ctx.create(wanted, owner=ensemble)
    else:
        listener.spec.target = wanted.spec.target
        await ctx.update(listener)
