"""The endpoint of hooks: `POST /hooks/CONTROLLER` and `/hooks/CONTROLLER/NAME`, each as the controller declared it.

What it answers:

- 202 and ``{"enqueued": 2}``: so many keys are in the queue;
- 400 and a sentence: the hook refuses the call, or names what is no key of that controller;
- 401: the caller does not know the secret;
- 404: there is no such controller, or no such hook;
- 408: the body has not come within 30 s;
- 413: the body is too large;
- 500: the hook has failed, or not returned within 30 s, which is logged;
- 503: the controller does not run here (yet, or any more, or another replica leads), or the secret cannot be read. Call again later.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from setpoint.controller import ControllerRuntime
from setpoint.controller.events import HookCalled
from setpoint.controller.hooks import Headers, Hook, SecretMissing
from setpoint.controller.said import in_words
from setpoint.controller.signatures import requests_of
from setpoint.controller.tools import ends_the_caller

if TYPE_CHECKING:
    from aiohttp import web

log = logging.getLogger("setpoint.manager")

DEADLINE = 30.0
"""Seconds for the body to come, and for the function to return: callers must not be able to keep connections open for ever."""

Find = Callable[[str], ControllerRuntime | None]
"""A running controller by its name."""


class TooLarge(Exception):
    """The body has more bytes than were asked for."""


async def answer(find: Find, controller: str, name: str, headers: Headers, body: Callable[[int], Awaitable[bytes]]) -> tuple[int, str]:
    """The code and the text of the answer to a call. `body` reads at most so many bytes, and raises `TooLarge` for more."""
    runtime = find(controller)
    hook = None if runtime is None else next((hook for hook in runtime.controller.hooks if hook.name == name), None)
    if runtime is None or hook is None:
        what = f"controller {controller!r}" if runtime is None else f"hook {name!r} of controller {controller!r}"
        return 404, f"there is no {what}\n"
    enqueued = 0
    try:
        enqueued = await _take(runtime, hook, headers, body)
        code, text = 202, f'{{"enqueued": {enqueued}}}\n'
    except _Refused as refused:
        code, text = refused.code, f"{refused}\n"
    runtime.world.observer.emit(HookCalled(controller=controller, hook=name, code=code, keys=enqueued))
    return code, text


class _Refused(Exception):
    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(" ".join(sentence.encode(errors="replace").decode().split()))
        self.code = code


async def _take(runtime: ControllerRuntime, hook: Hook, headers: Headers, body: Callable[[int], Awaitable[bytes]]) -> int:
    _check_runs(runtime)
    try:
        async with asyncio.timeout(DEADLINE):
            content = await body(hook.max_bytes)
    except TooLarge as error:
        raise _Refused(413, f"the body is larger than {hook.max_bytes} bytes") from error
    except TimeoutError as error:
        raise _Refused(408, f"the body has not come within {DEADLINE:g} s") from error
    _check_admitted(runtime, hook, headers, content)
    intake = runtime.inflow.intake
    try:
        async with asyncio.timeout(DEADLINE):
            given = await requests_of(hook.function, headers, content, runtime.inflow.feed)
        requests = dict.fromkeys(intake.check(request) for request in given)
    except ValueError as error:
        raise _Refused(400, str(error) or "the hook refuses this call") from error
    except BaseException as error:
        raise _failed(runtime, hook, error) from error
    _check_runs(runtime)
    await intake.offer_all(requests, f"hook {hook.name}".rstrip())
    return len(requests)


def _check_admitted(runtime: ControllerRuntime, hook: Hook, headers: Headers, content: bytes) -> None:
    try:
        admitted = hook.auth is None or hook.auth.admits(headers, content)
    except SecretMissing as error:
        log.error("nobody can call the hook %r of %s: %s", hook.name, runtime.name, error)
        raise _Refused(503, "the secret of this hook cannot be read") from error
    except BaseException as error:
        raise _failed(runtime, hook, error) from error
    if not admitted:
        raise _Refused(401, "the caller did not show that it knows the secret")


def _failed(runtime: ControllerRuntime, hook: Hook, error: BaseException) -> BaseException:
    """What is raised in place of an error that came out of a user's code."""
    if ends_the_caller(error):
        return error
    log.error("the hook %r of %s failed: %s", hook.name, runtime.name, in_words(error), exc_info=error)
    return _Refused(500, "the hook has failed")


def _check_runs(runtime: ControllerRuntime) -> None:
    if not runtime.takes_calls:
        raise _Refused(503, f"{runtime.controller} does not run here now")


def application(find: Find) -> web.Application:
    """The endpoint."""
    from aiohttp import web

    async def post(request: web.Request) -> web.Response:
        async def body(limit: int) -> bytes:
            content = bytearray()
            async for part in request.content.iter_any():
                content += part
                if len(content) > limit:
                    raise TooLarge
            return bytes(content)

        match = request.match_info
        code, text = await answer(find, match["controller"], match.get("name", ""), Headers(request.headers.items()), body)
        return web.Response(status=code, text=text, content_type="application/json" if code == 202 else "text/plain")

    made = web.Application()
    made.router.add_post("/hooks/{controller}", post)
    made.router.add_post("/hooks/{controller}/{name}", post)
    return made
