"""`SyncClient`: the verbs of `Client` for plain code. Each blocks its thread until it is done; nothing is decided here.

It is what `connect` gives to a `with` block, and what `ctx.client` is in a plain `def` reconciler.
"""

from __future__ import annotations

import builtins
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from typing import Any, Final, Literal, Protocol, TypeVar, overload

from setpoint.client.client import Client
from setpoint.client.port_forward import PortStream
from setpoint.client.process import Completed, Output, Process
from setpoint.client.raw import Patch
from setpoint.client.scale import ScaleState
from setpoint.client.token import Token
from setpoint.client.verbs import FieldValidation, Labels, PatchType, Propagation
from setpoint.client.watching import Seen
from setpoint.objects import Object, Request, Untyped
from setpoint.objects.indexes import IndexKey

T = TypeVar("T")
K = TypeVar("K", bound=Object)


class Closed(RuntimeError):
    """The client is closed."""


class Blocking(RuntimeError):
    """A call that blocks was made from where the client itself works: it would wait for itself."""


class Wait(Protocol):
    """How to have something awaited where the client lives: blocks, and gives or raises what it does. Raises `Closed`, `Blocking`."""

    def __call__(self, make: Callable[[], Awaitable[T]], /) -> T: ...


class SyncClient:
    """See the module, and `Client` for what each verb promises and raises."""

    def __init__(self, client: Client, wait: Wait) -> None:
        self._client = client
        self._wait = wait

    def bound(
        self,
        *,
        field_manager: str | None = None,
        dry_run: bool | None = None,
        field_validation: FieldValidation | None = None,
    ) -> SyncClient:
        """As `Client.bound`."""
        return SyncClient(self._client.bound(field_manager=field_manager, dry_run=dry_run, field_validation=field_validation), self._wait)

    def get(self, kind: type[K], key: Request | str, /, *, namespace: str | None = None, live: bool = False) -> K | None:
        """As `Client.get`."""
        return self._wait(lambda: self._client.get(kind, key, namespace=namespace, live=live))

    def list(
        self,
        kind: type[K],
        /,
        *,
        namespace: str | None = None,
        labels: Labels = None,
        fields: str = "",
        owner: Object | None = None,
        index: IndexKey[K] | None = None,
        limit: int = 500,
        live: bool = False,
    ) -> builtins.list[K]:
        """As `Client.list`."""
        return self._wait(
            lambda: self._client.list(
                kind, namespace=namespace, labels=labels, fields=fields, owner=owner, index=index, limit=limit, live=live
            )
        )

    def create(self, obj: K, /, *, owner: Object | None = None) -> K:
        """As `Client.create`."""
        return self._wait(lambda: self._client.create(obj, owner=owner))

    @overload
    def apply(self, obj: K, /, *, owner: Object | None = ..., force: bool = ..., subresource: str | None = ...) -> K: ...
    @overload
    def apply(
        self, obj: Mapping[str, Any], kind: type[K], /, *, owner: Object | None = ..., force: bool = ..., subresource: str | None = ...
    ) -> K: ...
    @overload
    def apply(
        self, obj: Mapping[str, Any], /, *, owner: Object | None = ..., force: bool = ..., subresource: str | None = ...
    ) -> Untyped: ...
    def apply(
        self, obj: Any, kind: Any = None, /, *, owner: Object | None = None, force: bool = True, subresource: str | None = None
    ) -> Any:
        """As `Client.apply`."""
        return self._wait(lambda: self._client.apply(obj, kind, owner=owner, force=force, subresource=subresource))

    def apply_all(self, objs: Iterable[K], /, *, owner: Object | None = None) -> builtins.list[K]:
        """As `Client.apply_all`."""
        return [self.apply(obj, owner=owner) for obj in objs]  # in the caller's thread, since what makes the objects may ask, too

    def update(self, obj: K, /) -> K:
        """As `Client.update`."""
        return self._wait(lambda: self._client.update(obj))

    def update_status(self, obj: K, /) -> K:
        """As `Client.update_status`."""
        return self._wait(lambda: self._client.update_status(obj))

    def edit(
        self,
        kind: type[K],
        key: Request | str,
        change: Callable[[K], None],
        /,
        *,
        subresource: Literal["", "status"] = "",
        namespace: str | None = None,
    ) -> K:
        """As `Client.edit`; `change` is called in another thread, and must not use this client: `Blocking`."""
        return self._wait(lambda: self._client.edit(kind, key, change, subresource=subresource, namespace=namespace))

    def patch(
        self,
        kind: type[K],
        key: Request | str,
        patch: Patch,
        /,
        *,
        type: PatchType | None = None,
        namespace: str | None = None,
        subresource: str | None = None,
    ) -> K:
        """As `Client.patch`."""
        return self._wait(lambda: self._client.patch(kind, key, patch, type=type, namespace=namespace, subresource=subresource))

    @overload
    def delete(self, obj: Object, /, *, propagation: Propagation = ..., grace_seconds: int | None = ...) -> None: ...
    @overload
    def delete(
        self,
        kind: type[Object],
        key: Request | str,
        /,
        *,
        namespace: str | None = ...,
        propagation: Propagation = ...,
        grace_seconds: int | None = ...,
    ) -> None: ...
    def delete(
        self,
        obj: Any,
        key: Any = None,
        /,
        *,
        namespace: str | None = None,
        propagation: Propagation = "Background",
        grace_seconds: int | None = None,
    ) -> None:
        """As `Client.delete`."""
        return self._wait(lambda: self._client.delete(obj, key, namespace=namespace, propagation=propagation, grace_seconds=grace_seconds))

    def delete_collection(
        self,
        kind: type[Object],
        /,
        *,
        namespace: str | None = None,
        labels: Labels = None,
        fields: str = "",
        propagation: Propagation = "Background",
    ) -> None:
        """As `Client.delete_collection`."""
        return self._wait(
            lambda: self._client.delete_collection(kind, namespace=namespace, labels=labels, fields=fields, propagation=propagation)
        )

    # following

    def watch(
        self, kind: type[K], /, *, namespace: str | None = None, labels: Labels = None, fields: str = ""
    ) -> Generator[Seen[K], None, None]:
        """As `Client.watch`, for a plain `for`; `contextlib.closing` ends it where the loop is left by an exception."""
        return self._iterated(self._client.watch(kind, namespace=namespace, labels=labels, fields=fields))

    def wait(
        self,
        kind: type[K],
        key: Request | str,
        /,
        until: Callable[[K], bool] = lambda obj: True,
        *,
        timeout: float = 60.0,
        namespace: str | None = None,
    ) -> K:
        """As `Client.wait`; `until` is called in another thread, and must not use this client: `Blocking`."""
        return self._wait(lambda: self._client.wait(kind, key, until, timeout=timeout, namespace=namespace))

    def wait_gone(self, kind: type[Object], key: Request | str, /, *, timeout: float = 60.0, namespace: str | None = None) -> None:
        """As `Client.wait_gone`."""
        return self._wait(lambda: self._client.wait_gone(kind, key, timeout=timeout, namespace=namespace))

    # scale, tokens, and what only pods have

    def get_scale(self, kind: type[Object], key: Request | str, /, *, namespace: str | None = None) -> ScaleState:
        """As `Client.get_scale`."""
        return self._wait(lambda: self._client.get_scale(kind, key, namespace=namespace))

    def set_scale(self, kind: type[Object], key: Request | str, replicas: int, /, *, namespace: str | None = None) -> ScaleState:
        """As `Client.set_scale`."""
        return self._wait(lambda: self._client.set_scale(kind, key, replicas, namespace=namespace))

    def request_token(
        self,
        service_account: Object | Request | str,
        /,
        *,
        audiences: Sequence[str] = (),
        seconds: int = 3600,
        bound_to: Object | None = None,
        namespace: str | None = None,
    ) -> Token:
        """As `Client.request_token`."""
        return self._wait(
            lambda: self._client.request_token(
                service_account, audiences=audiences, seconds=seconds, bound_to=bound_to, namespace=namespace
            )
        )

    def evict(self, pod: Object | Request | str, /, *, namespace: str | None = None, grace_seconds: int | None = None) -> None:
        """As `Client.evict`."""
        return self._wait(lambda: self._client.evict(pod, namespace=namespace, grace_seconds=grace_seconds))

    def logs(
        self,
        pod: Object | Request | str,
        /,
        *,
        container: str = "",
        follow: bool = False,
        previous: bool = False,
        tail: int | None = None,
        since_seconds: int | None = None,
        timestamps: bool = False,
        namespace: str | None = None,
    ) -> Generator[str, None, None]:
        """As `Client.logs`, for a plain `for`."""
        return self._iterated(
            self._client.logs(
                pod,
                container=container,
                follow=follow,
                previous=previous,
                tail=tail,
                since_seconds=since_seconds,
                timestamps=timestamps,
                namespace=namespace,
            )
        )

    @contextmanager
    def exec(
        self,
        pod: Object | Request | str,
        command: Sequence[str],
        /,
        *,
        container: str = "",
        stdin: bool = False,
        tty: bool = False,
        namespace: str | None = None,
    ) -> Iterator[SyncProcess]:
        """As `Client.exec`."""
        running = self._client.exec(pod, command, container=container, stdin=stdin, tty=tty, namespace=namespace)
        with self._held(running) as process:
            yield SyncProcess(process, self._wait)

    @contextmanager
    def attach(
        self,
        pod: Object | Request | str,
        /,
        *,
        container: str = "",
        stdin: bool = False,
        tty: bool = False,
        namespace: str | None = None,
    ) -> Iterator[SyncProcess]:
        """As `Client.attach`."""
        with self._held(self._client.attach(pod, container=container, stdin=stdin, tty=tty, namespace=namespace)) as process:
            yield SyncProcess(process, self._wait)

    @contextmanager
    def port_forward(self, pod: Object | Request | str, number: int, /, *, namespace: str | None = None) -> Iterator[SyncPortStream]:
        """As `Client.port_forward`."""
        with self._held(self._client.port_forward(pod, number, namespace=namespace)) as stream:
            yield SyncPortStream(stream, self._wait)

    @contextmanager
    def _held(self, manager: AbstractAsyncContextManager[T]) -> Iterator[T]:
        entered = self._wait(manager.__aenter__)
        try:
            yield entered
        finally:
            self._wait(lambda: manager.__aexit__(None, None, None))

    def _iterated(self, source: AsyncGenerator[T, None]) -> Generator[T, None, None]:
        return iterated(source, self._wait)


class SyncOutput:
    """As `Output`."""

    def __init__(self, output: Output, wait: Wait) -> None:
        self._output = output
        self._wait = wait

    def read(self) -> bytes:
        """As `Output.read`."""
        return self._wait(self._output.read)

    def read_all(self) -> bytes:
        """As `Output.read_all`."""
        return self._wait(self._output.read_all)

    def __iter__(self) -> Iterator[bytes]:
        while part := self.read():
            yield part


class SyncProcess:
    """As `Process`."""

    def __init__(self, process: Process, wait: Wait) -> None:
        self._process = process
        self._wait = wait
        self.stdout: SyncOutput = SyncOutput(process.stdout, wait)
        self.stderr: SyncOutput = SyncOutput(process.stderr, wait)

    def write(self, data: bytes | str, /) -> None:
        """As `Process.write`."""
        self._wait(lambda: self._process.write(data))

    def close_stdin(self) -> None:
        """As `Process.close_stdin`."""
        self._wait(self._process.close_stdin)

    def resize(self, width: int, height: int) -> None:
        """As `Process.resize`."""
        self._wait(lambda: self._process.resize(width, height))

    def wait(self) -> int:
        """As `Process.wait`."""
        return self._wait(self._process.wait)

    def communicate(self, data: bytes | str = b"", /) -> Completed:
        """As `Process.communicate`."""
        return self._wait(lambda: self._process.communicate(data))


class SyncPortStream:
    """As `PortStream`."""

    def __init__(self, stream: PortStream, wait: Wait) -> None:
        self._stream = stream
        self._wait = wait

    def read(self) -> bytes:
        """As `PortStream.read`."""
        return self._wait(self._stream.read)

    def write(self, data: bytes, /) -> None:
        """As `PortStream.write`."""
        self._wait(lambda: self._stream.write(data))

    def __iter__(self) -> Iterator[bytes]:
        while data := self.read():
            yield data


_END: Final = object()


def iterated(source: AsyncGenerator[T, None], wait: Wait) -> Generator[T, None, None]:
    """An asynchronous generator as a plain one, which closes it when it is left."""

    async def following() -> Any:
        return await anext(source, _END)

    try:
        while (item := wait(following)) is not _END:
            yield item
    finally:
        # Closed, and so is everything that it held; or collected as garbage on the client's own thread, whose loop closes the source.
        with suppress(Closed, Blocking):
            wait(source.aclose)
