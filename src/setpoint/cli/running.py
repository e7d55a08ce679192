"""`setpoint run`: controllers and apps in a manager, against a cluster or the embedded control plane, until a signal."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from rich.markup import escape

from setpoint.api import Operation
from setpoint.api.status import ApiError
from setpoint.cli import console, manifests
from setpoint.cli.embedded import embedded
from setpoint.cli.failure import Failure
from setpoint.cli.target import Target, load
from setpoint.client import Client, Connection
from setpoint.client.config import Config, ConfigError, has_default_config, load_config
from setpoint.client.errors import NotServed
from setpoint.client.events import RequestDone
from setpoint.client.http import HttpTransport
from setpoint.client.install import NotEstablished, install
from setpoint.controller import Controller
from setpoint.manager import Manager, Options
from setpoint.manager.logs import configure
from setpoint.world import Event, PortInUse, World, real_world
from setpoint.world.loop_thread import fast_loop

log = logging.getLogger("setpoint.run")

KIND_PATIENCE = 10.0
"""Seconds for which `--apply` waits for a kind that a manifest before it defines."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for on the command line. `embedded` None is: where there is nothing else. An empty namespace is all."""

    targets: Sequence[str]
    embedded: bool | None
    apply: Sequence[str]
    kubeconfig: str | None
    context: str | None
    namespace: str
    port: int
    write_kubeconfig: str | None
    metrics: str | None
    health: str | None
    verbose: bool


def run(asked: Run) -> None:
    """Runs until SIGINT or SIGTERM; a second signal ends it without grace. Raises `Failure`."""
    targets = load(asked.targets)
    objects = manifests.read(asked.apply)
    with _logging(asked.verbose):
        if _is_embedded(asked):
            with embedded(asked.port, asked.write_kubeconfig) as (address, kubeconfig):
                _introduce(address.url, kubeconfig)
                console.ready(kubeconfig)
                _in_loop(_run(asked, targets, objects, load_config(str(kubeconfig)), install_kinds=True))
        else:
            if asked.port or asked.write_kubeconfig:
                raise Failure("--port and --write-kubeconfig are for the embedded control plane; add --embedded")
            try:
                config = load_config(asked.kubeconfig, asked.context)
            except ConfigError as error:
                raise Failure(str(error)) from error
            _in_loop(_run(asked, targets, objects, config, install_kinds=False))


def _is_embedded(asked: Run) -> bool:
    if asked.embedded is not None:
        if asked.embedded and (asked.kubeconfig or asked.context):
            raise Failure("--embedded brings its own cluster; leave out --kubeconfig and --context", code=2)
        return asked.embedded
    if asked.kubeconfig or asked.context or has_default_config():
        return False
    if os.environ.get("KUBERNETES_SERVICE_HOST"):
        raise Failure(
            "this runs in a pod, and in-cluster configuration is not supported yet; mount a kubeconfig and name it with --kubeconfig"
        )
    return True


def _introduce(url: str, kubeconfig: Path) -> None:
    out = console.console()
    shown = Path(os.path.relpath(kubeconfig)) if kubeconfig.is_relative_to(Path.cwd()) else kubeconfig
    out.print(f"[bold]Embedded control plane[/] at {url}, for development and tests; it keeps nothing when it ends.")
    out.print(f"Point kubectl at it:  [bold cyan]export KUBECONFIG={escape(str(shown))}[/]")


@contextmanager
def _logging(verbose: bool) -> Iterator[None]:
    logger = logging.getLogger("setpoint")
    handler = configure(sys.stderr, logging.DEBUG if verbose else logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        handler.close()


def _in_loop(work: Any) -> None:
    with asyncio.Runner(loop_factory=fast_loop) as runner:
        runner.run(work)


async def _run(
    asked: Run, targets: list[Target], objects: list[tuple[str, dict[str, Any]]], config: Config, *, install_kinds: bool
) -> None:
    world = real_world()
    options = Options(
        namespace=asked.namespace,
        host=urlsplit(config.server).netloc,
        metrics=_address(asked.metrics, "0" if install_kinds else ":8080", "--metrics-bind-address"),
        health=_address(asked.health, "0" if install_kinds else ":8081", "--health-probe-bind-address"),
        process_metrics=True,
    )
    async with AsyncExitStack() as stack:
        connection = Connection(HttpTransport(config, world), world, user_agent="setpoint")
        stack.push_async_callback(connection.close)
        await _greet(connection, config, quiet=install_kinds)
        manager = Manager(connection, options=options)
        stack.callback(world.observer.subscribe(_Activity().hear))
        for target in targets:
            await _enter(stack, target, manager)
        if not manager.controllers:
            raise Failure(f"{', '.join(asked.targets)} added no controller to the manager, so there is nothing to run")
        if install_kinds:
            try:
                await install(manager.client, manager.kinds)
            except (ApiError, NotEstablished) as error:
                raise Failure(str(error)) from error
        await _apply(manager.client, objects, asked.namespace or "default")
        stack.push_async_callback(world.threads.close)
        await _until_signalled(manager, world)


async def _enter(stack: AsyncExitStack, target: Target, manager: Manager) -> None:
    try:
        if isinstance(target, Controller):
            manager.add(target)
        else:
            await stack.enter_async_context(target(manager))
    except (TypeError, ValueError) as error:
        raise Failure(str(error)) from error


async def _greet(connection: Connection, config: Config, *, quiet: bool) -> None:
    """Asks the server who it is: so a wrong address or a worn-out credential is said at once, and by its name."""
    try:
        answer = await connection.call(Operation(verb="get", path="/version", user_agent="setpoint"))
        version = msgspec.json.decode(answer.body).get("gitVersion", "of an unknown version")
    except ApiError as error:
        raise Failure(f"{config.context or 'the cluster'} at {config.server} cannot be used: {error}") from error
    except (msgspec.DecodeError, AttributeError) as error:
        raise Failure(f"{config.server} is no Kubernetes API server: its /version is no JSON object") from error
    if not quiet:
        console.console().print(
            f"Context [bold]{escape(config.context or '-')}[/], server {escape(config.server)}, Kubernetes {escape(version)}"
        )


async def _apply(client: Client, objects: list[tuple[str, dict[str, Any]]], namespace: str) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + KIND_PATIENCE
    for where, manifest in objects:
        while True:
            try:
                info = await client.kind_info(manifest)
                metadata = {"namespace": namespace, **manifest["metadata"]} if info.namespaced else manifest["metadata"]
                applied = await client.apply({**manifest, "metadata": metadata})
            except NotServed as error:
                if not any(known.get("kind") == "CustomResourceDefinition" for _, known in objects) or loop.time() > deadline:
                    raise Failure(f"{where}: {error}") from error
                await asyncio.sleep(0.1)
                continue
            except (ApiError, ValueError) as error:
                raise Failure(f"{where}: {error}") from error
            log.info("applied %s %s", info.kind, applied.key)
            break


async def _until_signalled(manager: Manager, world: World) -> None:
    loop = asyncio.get_running_loop()
    running = asyncio.ensure_future(manager.run())
    signals = (signal.SIGINT, signal.SIGTERM)
    stopping = False

    def stop() -> None:
        nonlocal stopping
        if stopping:
            running.cancel()
        else:
            stopping = True
            log.info("stopping: what runs may end; a second signal ends it at once")
            manager.stop()

    for one in signals:
        loop.add_signal_handler(one, stop)
    try:
        await running
    except PortInUse as error:
        raise Failure(f"{error.strerror} (--metrics-bind-address, --health-probe-bind-address)") from error
    except asyncio.CancelledError:
        if not stopping:
            raise
        raise Failure("ended by a second signal, without grace", code=130) from None
    finally:
        for one in signals:
            loop.remove_signal_handler(one)


def _address(text: str | None, default: str, flag: str) -> tuple[str, int] | None:
    """`HOST:PORT`, `:PORT` for every interface, `0` for no endpoint, as in controller-runtime."""
    text = default if text is None else text
    if text in ("0", ""):
        return None
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise Failure(f"{flag} takes HOST:PORT, :PORT, or 0 for no endpoint, not {text!r}", code=2)
    return host.strip("[]") or "0.0.0.0", int(port)


class _Activity:
    """Says what controllers write, as it happens."""

    def hear(self, event: Event) -> None:
        if isinstance(event, RequestDone) and event.operation.is_write and event.operation.run:
            log.info("%s: %s", event.operation.run, event.operation, extra={"code": event.code})
