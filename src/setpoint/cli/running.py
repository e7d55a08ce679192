"""`setpoint run`: controllers and apps in a manager, against a cluster or the embedded control plane, until a signal."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import urlsplit

import msgspec

from setpoint.api import Operation
from setpoint.api.status import ApiError
from setpoint.cli import activity, console, manifests
from setpoint.cli.destination import configured
from setpoint.cli.embedded import embedded
from setpoint.cli.failure import Failure
from setpoint.cli.stopping import Ending, on_signal
from setpoint.cli.target import Target, load
from setpoint.client import Connection
from setpoint.client.config import Config, ConfigError
from setpoint.client.http import HttpTransport
from setpoint.client.install import NotEstablished, install
from setpoint.controller import Controller
from setpoint.manager import LeaderElection, LeadershipLost, Manager, Options
from setpoint.manager.importing import told
from setpoint.world import PortInUse, real_world
from setpoint.world.loop_thread import fast_loop

log = logging.getLogger("setpoint.run")

GRACE = 30.0
"""Seconds that runs may take to end after the first signal."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for on the command line. No namespaces are all; an endpoint of None is not served.

    `election` is the name and the namespace of a Lease, None for no election; its namespace may be empty, which is the context's.
    """

    targets: Sequence[str]
    manifests: Sequence[str]
    namespaces: tuple[str, ...]
    metrics: tuple[str, int] | None
    health: tuple[str, int] | None
    hooks: tuple[str, int] | None
    request_metrics: bool
    debug: tuple[str, int] | None
    election: tuple[str, str] | None
    verbose: bool


def run_embedded(asked: Run, port: int, write_kubeconfig: str | None, data: str | None = None) -> None:
    """Runs on an embedded control plane, with the kinds that the controllers bring, until a signal. Raises `Failure`."""
    program = _Program(asked)
    with program.ready_to_end(), embedded(port, write_kubeconfig, data=data) as (address, kubeconfig):
        console.introduce(address.url, kubeconfig, data)
        console.ready(kubeconfig)
        program.run(configured(str(kubeconfig), None), owns_cluster=True)


def run(asked: Run, kubeconfig: str | None, context: str | None) -> None:
    """Runs against the kubeconfig's cluster, or the pod's, until a signal. Raises `Failure`."""
    program = _Program(asked)
    with program.ready_to_end():
        program.run(configured(kubeconfig, context), owns_cluster=False)


class _Program:
    """One run: what it is made of is read, and refused, before anything is started."""

    def __init__(self, asked: Run) -> None:
        self._asked = asked
        self._targets = load(asked.targets)
        self._objects = manifests.read(asked.manifests)
        self._ending = Ending()

    @contextmanager
    def ready_to_end(self) -> Iterator[None]:
        """Logs are written and signals are heard while the context is open."""
        with console.logs(logging.DEBUG if self._asked.verbose else logging.INFO) as say, on_signal(self._ending, say, GRACE):
            yield

    def run(self, config: Config, *, owns_cluster: bool) -> None:
        """Runs until a signal. Kinds are installed only in a cluster of one's own. Raises `Failure`."""
        try:
            with asyncio.Runner(loop_factory=fast_loop) as runner:
                runner.run(self._ending.run(self._run(config, owns_cluster)))
        except ConfigError as error:  # what shows only when it is used: a pair that does not match, a token file that is gone
            raise Failure(str(error)) from error

    async def _run(self, config: Config, owns_cluster: bool) -> None:
        asked, world = self._asked, real_world()
        options = Options(
            namespaces=asked.namespaces or None,
            host=urlsplit(config.server).netloc,
            metrics=asked.metrics,
            health=asked.health,
            hooks=asked.hooks,
            request_metrics=asked.request_metrics,
            debug=asked.debug,
            grace=GRACE,
            process_metrics=True,
            leader_election=_election(asked, config),
        )
        async with AsyncExitStack() as stack:
            connection = Connection(HttpTransport(config, world), world, user_agent="setpoint")
            stack.push_async_callback(connection.close)
            stack.push_async_callback(world.threads.close)
            version = await _version(connection, config)
            if not owns_cluster:
                who: tuple[console.Part, ...] = ("Context ", (config.context, "bold")) if config.context else ("In a pod",)
                console.greet(*who, ", server ", (config.server, "bold"), f", Kubernetes {version}")
            manager = Manager(connection, options=options)
            stack.callback(world.observer.subscribe(activity.say, activity.HEARS))
            for target in self._targets:
                await stack.enter_async_context(_opened(target, manager))
            if not manager.controllers:
                raise Failure(f"{', '.join(asked.targets)} added no controller to the manager, so there is nothing to run")
            if owns_cluster:
                await _install(manager)
            await manifests.apply(manager.client, self._objects, next(iter(asked.namespaces), config.namespace))
            log.info("running %s", ", ".join(runtime.name for runtime in manager.controllers))
            self._ending.gently = manager.stop
            await _run_manager(manager)


@asynccontextmanager
async def _opened(target: Target, manager: Manager) -> AsyncIterator[None]:
    """Adds a controller, or what an app brings while it is open."""
    if isinstance(target.value, Controller):
        _add(target.value, manager)
        yield
        return
    try:
        app: Any = target.value(manager)
    except Exception as error:
        raise Failure(f"{target.text} cannot be opened as an app: {told(error)}") from error
    if not isinstance(app, AbstractAsyncContextManager):
        if asyncio.iscoroutine(app):
            app.close()
        raise Failure(f"{target.text} is no app: decorate it with @contextlib.asynccontextmanager, and let it yield once it is ready")
    if asyncio.iscoroutine(body := getattr(app, "gen", None)):  # of @asynccontextmanager, which calls without asking what it calls
        body.close()
        raise Failure(f"{target.text} never yields, so it would end at once: add a yield where all is ready, which the manager runs in")
    try:
        await app.__aenter__()
    except Exception as error:
        raise Failure(f"the app {target.text} failed to start: {told(error)}") from error
    try:
        yield
    finally:
        try:
            await app.__aexit__(None, None, None)
        except Exception as error:
            raise Failure(f"the app {target.text} failed at its end: {told(error)}") from error


def _add(controller: Controller[Any], manager: Manager) -> None:
    try:
        manager.add(controller)
    except (TypeError, ValueError) as error:
        raise Failure(str(error)) from error


def _election(asked: Run, config: Config) -> LeaderElection | None:
    if asked.election is None:
        return None
    name, namespace = asked.election
    return LeaderElection(name=name, namespace=namespace or config.namespace)


async def _version(connection: Connection, config: Config) -> str:
    """Asks the server who it is, so that a wrong address or a worn-out credential is said at once, and by its name."""
    try:
        answer = await connection.call(Operation(verb="get", path="/version", user_agent="setpoint"))
        return str(msgspec.json.decode(answer.body).get("gitVersion", "of an unknown version"))
    except ApiError as error:
        raise Failure(f"{config.title} cannot be used: {error}") from error
    except (msgspec.DecodeError, AttributeError) as error:
        raise Failure(f"{config.server} is no Kubernetes API server: its /version is no JSON object") from error


async def _install(manager: Manager) -> None:
    try:
        await install(manager.client, manager.kinds)
    except (ApiError, NotEstablished) as error:
        raise Failure(f"a kind cannot be installed: {error}") from error
    except (TypeError, ValueError) as error:
        raise Failure(f"a kind has no schema: {error}") from error


async def _run_manager(manager: Manager) -> None:
    flags = "--metrics-bind-address, --health-probe-bind-address, --hooks-bind-address, --debug-bind-address"
    try:
        await manager.run()
    except LeadershipLost as error:
        raise Failure(str(error)) from error
    except PortInUse as error:
        raise Failure(f"{error.strerror} ({flags})") from error
    except OSError as error:
        raise Failure(f"an endpoint cannot listen: {error.strerror or error} ({flags})") from error
