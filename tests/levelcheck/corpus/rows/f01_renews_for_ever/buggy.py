"""Leads once, and for ever."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.levelcheck.corpus.raw import beside

from setpoint import ApiError, Manager

from .candidate import PERIOD, acquire, act, renew

NAME = "first"


async def lead(manager: Manager) -> None:
    while True:
        try:
            leads = await acquire(manager, NAME)
        except ApiError:
            leads = False
        while leads:
            try:
                await act(manager, NAME)
                await asyncio.sleep(PERIOD)
                await renew(manager, NAME)
            except (ApiError, RuntimeError):
                await asyncio.sleep(PERIOD)  # and tries again, for ever
        await asyncio.sleep(2.0)


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    async with beside(lead(manager)):
        yield
