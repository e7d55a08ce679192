"""The verbs that only pods have: their logs, programs in them and their ports, and being evicted."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager

from setpoint.api import Operation
from setpoint.client import port_forward, process
from setpoint.client.pods import POD, eviction, log, log_lines, port, program
from setpoint.client.port_forward import PortStream
from setpoint.client.process import Process
from setpoint.client.raw import RawVerbs
from setpoint.objects import Object, Request


class PodVerbs(RawVerbs):
    """A pod is one that was read, or its key."""

    async def evict(self, pod: Object | Request | str, /, *, namespace: str | None = None, grace_seconds: int | None = None) -> None:
        """Asks for a pod to be evicted, which its disruption budgets may forbid; one that was read is evicted only if it is still that one.

        Raises `TooManyRequests` while a budget forbids it, `NotFound` if the pod is gone, `Conflict` if another one has its name.
        """
        uid = (pod.metadata.uid or "") if isinstance(pod, Object) else ""
        await self.call(eviction(self._pod(pod, namespace), uid=uid, grace_seconds=grace_seconds))

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
    ) -> AsyncGenerator[str, None]:
        """The lines of a container's log, of the last `tail` and the last `since_seconds`; with `follow`, those to come, too.

        `previous` is the container that ran before this one. Close what is not read to its end (`contextlib.aclosing`). Raises `BadRequest`
        while the container has not started or where a pod of several needs `container`, `StreamBroken` where the connection is lost.
        """
        where = self._pod(pod, namespace)
        operation = log(
            where, container=container, follow=follow, previous=previous, tail=tail, since_seconds=since_seconds, timestamps=timestamps
        )
        return log_lines(self.stream, operation, silence=None if follow else self.connection.timeout)

    @asynccontextmanager
    async def exec(
        self,
        pod: Object | Request | str,
        command: Sequence[str],
        /,
        *,
        container: str = "",
        stdin: bool = False,
        tty: bool = False,
        namespace: str | None = None,
    ) -> AsyncIterator[Process]:
        """Runs a program in a container, for as long as the block lasts. No shell is involved but one that `command` names.

        With `stdin` it gets input, with `tty` a terminal. Raises `BadRequest` while the pod is on no node or where a pod of several needs
        `container`, `StreamBroken` where the connection is lost, and `ApiError` from `Process.wait` for a program that cannot be run.
        """
        if isinstance(command, str):
            raise TypeError(f"a program is a list of words, not one text: ['sh', '-c', {command!r}] has a shell read it")
        where = self._pod(pod, namespace)
        operation = program(where, "exec", command, container=container, stdin=stdin, stdout=True, stderr=not tty, tty=tty)
        async with self._running(operation) as running:
            yield running

    @asynccontextmanager
    async def attach(
        self,
        pod: Object | Request | str,
        /,
        *,
        container: str = "",
        stdin: bool = False,
        tty: bool = False,
        namespace: str | None = None,
    ) -> AsyncIterator[Process]:
        """Speaks to the program that runs in a container already; `stdin` and `tty` must be as the container declares them."""
        where = self._pod(pod, namespace)
        operation = program(where, "attach", container=container, stdin=stdin, stdout=True, stderr=not tty, tty=tty)
        async with self._running(operation) as running:
            yield running

    @asynccontextmanager
    async def port_forward(self, pod: Object | Request | str, number: int, /, *, namespace: str | None = None) -> AsyncIterator[PortStream]:
        """One connection to a port of a pod, for as long as the block lasts. Raises as `exec`."""
        operation = port(self._pod(pod, namespace), number)
        stream = PortStream(await self.connect(operation, port_forward.PROTOCOLS))
        try:
            yield stream
        finally:
            await stream.close()

    @asynccontextmanager
    async def _running(self, operation: Operation) -> AsyncIterator[Process]:
        running = Process(await self.connect(operation, process.PROTOCOLS), operation)
        try:
            yield running
        finally:
            await running.close()

    def _pod(self, pod: Object | Request | str, namespace: str | None) -> Request:
        return self.key(POD, pod.key if isinstance(pod, Object) else pod, namespace)
