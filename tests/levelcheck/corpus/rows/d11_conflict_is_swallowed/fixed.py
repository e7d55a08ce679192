"""The correction: a conflict is let pass, and so makes another run."""

from setpoint import Context, Controller, Request, predicates

from .kinds import GitSource

controller = Controller(GitSource, name="source", predicate=predicates.generation_changed)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    source = await ctx.get(GitSource, request)
    if source is None or source.is_terminating:
        return
    source.status.artifact = f"artifact of {source.spec.url}"
    source.status.observed_generation = source.metadata.generation or 0
    ctx.set_condition(source, "Ready", True, reason="Fetched")
    await ctx.update_status(source)
