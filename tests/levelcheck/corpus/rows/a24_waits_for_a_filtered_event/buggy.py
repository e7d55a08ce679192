"""Returns after adding its finalizer, and counts on that to bring it back."""

from setpoint import Context, Controller, Predicate, Request, predicates
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import FINALIZER, Widget, config_for

generation: Predicate[Widget] = predicates.changed(lambda widget: widget.metadata.generation)
controller = Controller(Widget, owns=[ConfigMap], predicate=generation, resync=None)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    widget = await ctx.get(Widget, request)
    if widget is None:
        return
    if widget.is_terminating:
        await ctx.remove_finalizer(widget, FINALIZER)
        return
    if FINALIZER not in widget.metadata.finalizers:
        await ctx.add_finalizer(widget, FINALIZER)
        return  # the update triggers the next run
    await ctx.apply(config_for(widget), owner=widget)
    widget.status.phase = "Ready"
    await ctx.update_status(widget)
