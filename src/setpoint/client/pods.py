"""What only pods have: logs, programs and ports, and being evicted.

https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any

import msgspec

from setpoint.api import Operation, Stream, StreamBroken
from setpoint.api.operation import JSON
from setpoint.objects import KindInfo, Request

POD = KindInfo(group="", version="v1", kind="Pod", singular="pod", plural="pods", list_kind="PodList", scope="Namespaced")
"""The kind, as far as these verbs need it: its class takes a while to load."""
PODS = POD.group_version_resource


def eviction(key: Request, *, uid: str = "", grace_seconds: int | None = None) -> Operation:
    """Evicts a pod; if a UID is given, only that one."""
    options: dict[str, Any] = {}
    if uid:
        options["preconditions"] = {"uid": uid}
    if grace_seconds is not None:
        options["gracePeriodSeconds"] = grace_seconds
    body: dict[str, Any] = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": key.name, "namespace": key.namespace}}
    if options:
        body["deleteOptions"] = options
    return Operation(
        verb="create",
        resource=PODS,
        namespace=key.namespace,
        name=key.name,
        subresource="eviction",
        body=msgspec.json.encode(body),
        content_type=JSON,
    )


def log(
    key: Request,
    *,
    container: str = "",
    follow: bool = False,
    previous: bool = False,
    tail: int | None = None,
    since_seconds: int | None = None,
    timestamps: bool = False,
) -> Operation:
    """Reads what a pod's container has written."""
    stated = {
        "container": container,
        "follow": "true" if follow else "",
        "previous": "true" if previous else "",
        "tailLines": "" if tail is None else str(tail),
        "sinceSeconds": "" if since_seconds is None else str(since_seconds),
        "timestamps": "true" if timestamps else "",
    }
    options = {name: value for name, value in stated.items() if value}
    return Operation(verb="get", resource=PODS, namespace=key.namespace, name=key.name, subresource="log", options=options, accept="*/*")


async def log_lines(
    open_stream: Callable[[Operation], Awaitable[Stream]], operation: Operation, *, silence: float | None = None
) -> AsyncGenerator[str, None]:
    """The lines of a log as they come, without their ends. Raises as `Connection.watch` does, and `StreamBroken`.

    A log that is there already comes without a pause: `silence` is the seconds after which such a one is given up.
    """
    stream = await open_stream(operation)
    try:
        while (lines := await _read(stream, silence)) is not None:
            for line in lines:
                yield line.decode(errors="replace")
    finally:
        await stream.close()


async def _read(stream: Stream, silence: float | None) -> list[bytes] | None:
    try:
        async with asyncio.timeout(silence):
            return await stream.read()
    except TimeoutError:
        raise StreamBroken(f"nothing was heard for {silence:g} seconds, and the log has not ended") from None


def program(
    key: Request, subresource: str, command: Sequence[str] = (), *, container: str, stdin: bool, stdout: bool, stderr: bool, tty: bool
) -> Operation:
    """Runs a program in a container (`exec`), or speaks to the one that runs there (`attach`)."""
    wanted = {"stdin": stdin, "stdout": stdout, "stderr": stderr, "tty": tty}
    options = {name: "true" for name, value in wanted.items() if value}
    if container:
        options["container"] = container
    arguments = tuple(("command", word) for word in command)
    # A websocket is asked for by GET, and needs the right to create all the same.
    return _connecting(key, subresource, options, arguments)


def port(key: Request, number: int) -> Operation:
    """Connects to a port of a pod."""
    return _connecting(key, "portforward", {"ports": str(number)}, ())


def _connecting(key: Request, subresource: str, options: dict[str, str], arguments: tuple[tuple[str, str], ...]) -> Operation:
    return Operation(
        verb="create",
        resource=PODS,
        namespace=key.namespace,
        name=key.name,
        subresource=subresource,
        options=options,
        arguments=arguments,
        accept="*/*",
    )
