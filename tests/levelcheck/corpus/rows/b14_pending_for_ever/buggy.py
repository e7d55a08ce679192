"""Takes its own record of an interrupted upgrade for somebody else's upgrade."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import Release, ReleaseStatus, objects_of

controller = Controller(Release, name="release", owns=[ConfigMap])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    release = await ctx.get(Release, request)
    if release is None or release.is_terminating:
        return
    if release.status.phase == "pending-upgrade":
        raise RuntimeError("another operation (install/upgrade/rollback) is in progress")
    if release.status.version != release.spec.version:
        release.status.phase = "pending-upgrade"
        await ctx.update_status(release)
    await ctx.apply_all(objects_of(release), owner=release)
    deployed = ReleaseStatus(phase="deployed", version=release.spec.version)
    if release.status != deployed:
        release.status = deployed
        await ctx.update_status(release)
