"""Deletes what was wanted before and is not any more; what was wanted before is in a cache."""

from cachetools import LRUCache

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import Book, chapter_for

before: LRUCache[str, list[str]] = LRUCache(maxsize=1000)

controller = Controller(Book, owns=[ConfigMap])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    book = await ctx.get(Book, request)
    if book is None or book.is_terminating:
        return
    for chapter in book.spec.chapters:
        await ctx.apply(chapter_for(book, chapter), owner=book)
    for chapter in before.get(book.uid, []):
        if chapter not in book.spec.chapters:
            unwanted = await ctx.get(ConfigMap, f"{book.name}-{chapter}", namespace=book.namespace)
            if unwanted is not None:
                await ctx.delete(unwanted)
    before[book.uid] = book.spec.chapters
    book.status.chapters = len(book.spec.chapters)
    await ctx.update_status(book)
