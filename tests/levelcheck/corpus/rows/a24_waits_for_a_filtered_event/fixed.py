"""The correction: it goes on in the same run, and the filter passes changes of finalizers."""

from setpoint import Context, Controller, Request, predicates
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import FINALIZER, Widget, config_for

controller = Controller(Widget, owns=[ConfigMap], predicate=predicates.generation_changed, resync=None)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    widget = await ctx.get(Widget, request)
    if widget is None:
        return
    if widget.is_terminating:
        await ctx.remove_finalizer(widget, FINALIZER)
        return
    await ctx.add_finalizer(widget, FINALIZER)
    if widget.is_terminating:
        return
    await ctx.apply(config_for(widget), owner=widget)
    widget.status.phase = "Ready"
    await ctx.update_status(widget)
