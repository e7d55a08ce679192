"""Says in each run that the topic has become ready just now."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import Topic, TopicStatus, config_for

controller = Controller(Topic, name="topic", owns=[ConfigMap])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    topic = await ctx.get(Topic, request)
    if topic is None or topic.is_terminating:
        return
    await ctx.apply(config_for(topic), owner=topic)
    topic.status = TopicStatus(ready=True, last_transition_time=ctx.now().isoformat())
    await ctx.update_status(topic)
