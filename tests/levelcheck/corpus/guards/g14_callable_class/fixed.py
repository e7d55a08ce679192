"""A mailing list for each Newsletter. Who is on it is asked of the mail server each time, and the difference made good.

The reconciler is an object. It holds what it needs to do its work, and nothing that it has learned.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from tests.levelcheck.corpus.guards.outside import MailingLists

from setpoint import Context, Controller, Field, Manager, Request, Resource, Struct, kind


class NewsletterSpec(Struct):
    readers: Annotated[list[str], Field(list_type="set")] = []


class NewsletterStatus(Struct):
    readers: int = 0


@kind(group="guards.example.com", version="v1")
class Newsletter(Resource[NewsletterSpec, NewsletterStatus]):
    """Is sent to its readers."""


class Subscriptions:
    """Keeps the lists as the newsletters say."""

    def __init__(self, lists: MailingLists, finalizer: str) -> None:
        self.lists = lists
        self.finalizer = finalizer

    async def __call__(self, ctx: Context, request: Request) -> None:
        newsletter = await ctx.get(Newsletter, request)
        if newsletter is None:
            return
        if newsletter.is_terminating:
            await self.bring_to(ctx, newsletter.name, [])
            await ctx.remove_finalizer(newsletter, self.finalizer)
            return
        await ctx.add_finalizer(newsletter, self.finalizer)
        await self.bring_to(ctx, newsletter.name, newsletter.spec.readers)
        newsletter.status.readers = len(newsletter.spec.readers)
        await ctx.update_status(newsletter)

    async def bring_to(self, ctx: Context, name: str, wanted: list[str]) -> None:
        there = await ctx.effect(self.lists.members, name)
        for address in wanted:
            if address not in there:
                await ctx.effect(self.lists.subscribe, name, address)
        for address in there:
            if address not in wanted:
                await ctx.effect(self.lists.unsubscribe, name, address)


@asynccontextmanager
async def app(manager: Manager, lists: MailingLists) -> AsyncIterator[None]:
    manager.add(Controller(Newsletter, reconciler=Subscriptions(lists, "guards.example.com/mailing-list")))
    yield
