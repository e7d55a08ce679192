"""A ConfigMap for each language of a Banner. Nothing in it knows of the election: what the other one did is there to be read.

A write that the old leader had on its way may land after the new one has done its work. It changes a child, and so it is looked at again.
"""

from setpoint import Context, Controller, ObjectMeta, Request, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap


class BannerSpec(Struct):
    texts: dict[str, str] = {}


class BannerStatus(Struct):
    languages: list[str] = []


@kind(group="guards.example.com", version="v1")
class Banner(Resource[BannerSpec, BannerStatus]):
    """A text in several languages."""


def text_for(banner: Banner, language: str) -> ConfigMap:
    return ConfigMap(
        metadata=ObjectMeta(name=f"{banner.name}-{language}", namespace=banner.namespace),
        data={"text": banner.spec.texts[language]},
    )


controller = Controller(Banner, owns=[ConfigMap])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    banner = await ctx.get(Banner, request)
    if banner is None or banner.is_terminating:
        return
    languages = sorted(banner.spec.texts)
    texts = await ctx.apply_all([text_for(banner, language) for language in languages], owner=banner)
    await ctx.prune(ConfigMap, keep=texts, owner=banner)
    banner.status.languages = languages
    await ctx.update_status(banner)
