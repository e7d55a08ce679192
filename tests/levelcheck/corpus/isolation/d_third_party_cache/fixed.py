"""The correction: what is there and not wanted is found in the cluster, by owner."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import Book, chapter_for

controller = Controller(Book, owns=[ConfigMap])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    book = await ctx.get(Book, request)
    if book is None or book.is_terminating:
        return
    wanted = [await ctx.apply(chapter_for(book, chapter), owner=book) for chapter in book.spec.chapters]
    await ctx.prune(ConfigMap, keep=wanted, owner=book)
    book.status.chapters = len(book.spec.chapters)
    await ctx.update_status(book)
