"""A ConfigMap for each Redirect: created if there is none, updated if it is another one than is wanted.

One of the same name that belongs to somebody else, such as to the Redirect's predecessor, is waited for.
"""

from setpoint import Context, Controller, Object, ObjectMeta, Request, Resource, Result, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap


class RedirectSpec(Struct):
    target: str
    code: int = 302


class RedirectStatus(Struct):
    target: str = ""


@kind(group="guards.example.com", version="v1")
class Redirect(Resource[RedirectSpec, RedirectStatus]):
    """Sends visitors elsewhere."""


def belongs_to(child: Object, owner: Object) -> bool:
    return any(reference.controller and reference.uid == owner.uid for reference in child.metadata.owner_references)


def rules(redirect: Redirect) -> dict[str, str]:
    return {"redirect.conf": f"{redirect.spec.code} {redirect.spec.target}"}


controller = Controller(Redirect, owns=[ConfigMap])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> Result | None:
    redirect = await ctx.get(Redirect, request)
    if redirect is None or redirect.is_terminating:
        return None
    found = await ctx.get(ConfigMap, request)
    if found is None:
        wanted = ConfigMap(metadata=ObjectMeta(name=redirect.name, namespace=redirect.namespace), data=rules(redirect))
        await ctx.create(wanted, owner=redirect)
    elif not belongs_to(found, redirect):
        return Result(requeue_after=2)
    elif found.data != rules(redirect):
        found.data = rules(redirect)
        await ctx.update(found)
    redirect.status.target = redirect.spec.target
    await ctx.update_status(redirect)
    return None
