"""`connect`: a client in one line, for scripts, notebooks and programs that are no controllers.

`async with connect() as client` gives a `Client` on the caller's event loop. `with connect() as client` gives a `SyncClient`, whose loop
runs in a thread of its own, so it works where an event loop runs already: in a notebook, say.
"""

from __future__ import annotations

import atexit
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Never, TypeAlias, TypeVar

from setpoint.client.client import Client
from setpoint.client.config import Config, load_config
from setpoint.client.connection import Connection
from setpoint.client.http import HttpTransport
from setpoint.client.sync import Blocking, Closed, SyncClient
from setpoint.objects import Scheme
from setpoint.world import real_world
from setpoint.world.loop_thread import LoopThread

T = TypeVar("T")
_Opened: TypeAlias = AbstractAsyncContextManager[Client]


def connect(
    kubeconfig: str | None = None,
    context: str | None = None,
    *,
    config: Config | None = None,
    namespace: str | None = None,
    as_user: str | None = None,
    as_groups: Sequence[str] = (),
    field_manager: str = "setpoint",
    user_agent: str = "setpoint",
    timeout: float = 30.0,
    max_in_flight: int = 100,
    scheme: Scheme | None = None,
) -> Connecting:
    """A client of the cluster of a kubeconfig, or of the pod that the program runs in; or of the one that `config` describes.

    `namespace` is where objects are whose key does not say; by default that of the context. `as_user` and `as_groups` act as somebody else.
    `timeout` is the seconds that one call may take, tries included; at most `max_in_flight` requests are under way at a time.

    Nothing is read before the block is entered, which raises `ConfigError`; nothing is sent before a verb is called.
    """

    def settled() -> Config:
        found = config if config is not None else load_config(kubeconfig, context)
        if as_user is not None or as_groups:
            if as_user is None:
                raise ValueError("as_groups needs as_user: who is it that should be in those groups?")
            found = replace(found, impersonate_user=as_user, impersonate_groups=tuple(as_groups))
        return found

    @asynccontextmanager
    async def opened() -> AsyncIterator[Client]:
        world, found = real_world(), settled()
        connection = Connection(HttpTransport(found, world), world, user_agent=user_agent, timeout=timeout, max_in_flight=max_in_flight)
        where = found.namespace if namespace is None else namespace
        try:
            yield Client(connection, scheme=scheme, field_manager=field_manager, namespace=where)
        finally:
            await connection.close()

    return Connecting(opened)


class Connecting:
    """What `connect` gives, for `with` and `async with`. Each leaves nothing open and nothing running.

    Where no block fits, such as over the cells of a notebook, `open` gives the client and `close` ends it.
    """

    def __init__(self, opened: Callable[[], _Opened]) -> None:
        self._opened = opened
        self._async: _Opened | None = None
        self._stack: ExitStack | None = None
        self._thread: LoopThread | None = None

    async def __aenter__(self) -> Client:
        self._refuse_twice()
        self._async = self._opened()
        try:
            return await self._async.__aenter__()
        except BaseException:
            self._async = None
            raise

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        opened, self._async = self._async, None
        assert opened is not None
        await opened.__aexit__(kind, error, trace)

    def __enter__(self) -> SyncClient:
        return self.open()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def open(self) -> SyncClient:
        """The client, until `close` or the end of the program. Raises `ConfigError`."""
        self._refuse_twice()
        with ExitStack() as stack:
            thread = self._thread = stack.enter_context(LoopThread("setpoint-client"))
            stack.callback(self._no_longer)
            client = stack.enter_context(thread.hold(self._opened))
            # A thread that is still at work when the interpreter ends would be stopped in the middle of it.
            atexit.register(self.close)
            stack.callback(atexit.unregister, self.close)
            self._stack = stack.pop_all()
        return SyncClient(client, partial(self._waited, thread))

    def close(self) -> None:
        """Ends what is under way, the connections and the thread; does nothing where nothing is open."""
        stack, self._stack = self._stack, None
        if stack is not None:
            stack.close()

    if not TYPE_CHECKING:  # a type checker is to refuse what it does not know, and knows nothing of this

        def __getattr__(self, name: str) -> Never:
            hint = "; this is no client yet: `with setpoint.connect() as client`, or `client = connection.open()`"
            raise AttributeError(f"'Connecting' object has no attribute {name!r}{hint if hasattr(SyncClient, name) else ''}")

    def _no_longer(self) -> None:
        self._thread = None

    def _refuse_twice(self) -> None:
        if self._async is not None or self._thread is not None:
            raise RuntimeError("this is open already: call connect() once more for another client")

    def _waited(self, thread: LoopThread, make: Callable[[], Awaitable[T]], /) -> T:
        if thread.is_mine:
            raise Blocking(
                "this call blocks, and here it could only wait for itself: what is given to edit or wait looks at its argument alone"
            )
        if self._thread is not thread:
            raise Closed("this client is closed")
        try:
            future = thread.submit(_awaited(make))
        except RuntimeError:
            raise Closed("this client is closed, or was opened by the process that this one was forked from") from None
        try:
            return future.result()
        except BaseException:
            if future.cancelled() and self._thread is not thread:
                raise Closed("this client was closed in the middle of the call: what it asked for may have happened") from None
            # Ctrl-C ends the waiting: what is waited for must not go on behind its back.
            future.cancel()
            raise


async def _awaited(make: Callable[[], Awaitable[T]]) -> T:
    return await make()
