"""What a running manager exposes, for tests: one in which all that has a metric has happened once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from prometheus_client.parser import text_string_to_metric_families

from setpoint import Context, Controller, ObjectMeta, Request, Result, TerminalError
from setpoint.api import Answer, Operation, Outcome
from setpoint.api.status import StatusDetails, failure
from setpoint.client import Connection
from setpoint.cluster import ControlPlane
from setpoint.k8s.core.v1 import ConfigMap, Secret
from setpoint.manager import LeaderElection, Manager, Options
from setpoint.manager.metrics.exposition import exposition
from setpoint.world import World, simulate


@dataclass(frozen=True)
class Exposed:
    """One metric as it is exposed; `bounds` are the buckets' labels `le`, in order."""

    type: str
    labels: tuple[str, ...]
    bounds: tuple[str, ...] = ()


def parsed(text: str) -> dict[str, Exposed]:
    """The metrics of a text, by name: for a counter with its `_total`, for a histogram without `_bucket`."""
    found: dict[str, Exposed] = {}
    for family in text_string_to_metric_families(text):
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels: dict[str, None] = {}
        bounds: dict[str, None] = {}
        for sample in family.samples:
            for label, value in sample.labels.items():
                if label == "le":
                    bounds[value] = None
                else:
                    labels[label] = None
        found[name] = Exposed(family.type, tuple(sorted(labels)), tuple(bounds))
    return found


def samples(text: str) -> dict[str, float]:
    """Each sample's value, by its name and labels as they are written."""
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in text.splitlines() if line and not line.startswith("#")}


class Refusing:
    """A way to the server that asks for patience once."""

    def __init__(self, plane: ControlPlane) -> None:
        self._transport = plane.transport()
        self._asked = False

    async def send(self, operation: Operation, /) -> Outcome:
        if operation.verb == "get" and not self._asked:
            self._asked = True
            answer: Answer = failure(429, "TooManyRequests", "later", StatusDetails(retry_after_seconds=1)).status.answer()
            return answer
        return await self._transport.send(operation)

    async def close(self) -> None:
        await self._transport.close()


def busy() -> Controller[ConfigMap]:
    """A controller to which everything happens."""
    controller = Controller(ConfigMap, name="busy", owns=[Secret], deadline=5.0)
    failed: dict[str, None] = {}

    async def outside(fails: bool) -> None:
        await asyncio.sleep(0.1)
        if fails:
            raise OSError("not there")

    @controller.watch(Secret)
    async def mapper(reader: object, secret: Secret) -> list[Request]:
        if "mapped" not in failed:
            failed["mapped"] = None
            raise RuntimeError("no map")
        return []

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> Result | None:
        config = await ctx.get(ConfigMap, request)
        if config is None or request.name in failed:
            return None
        failed[request.name] = None
        match request.name:
            case "later":
                return Result(requeue_after=1000)
            case "terminal":
                raise TerminalError("never")
            case "panic":
                raise KeyError("a fault")
            case "error":
                raise RuntimeError("no luck")
            case "slow":
                await asyncio.sleep(10)
            case "race":
                await ctx.get(ConfigMap, request, live=True)
                config.metadata.resource_version = "1"
                config.data = {"a": "b"}
                await ctx.update(config)
            case "effect":
                await ctx.effect(outside, False)
                await ctx.effect(outside, True)
            case "applied":
                secret = Secret(metadata=ObjectMeta(name="s", namespace="default"), string_data={})
                await ctx.apply(secret)
                await ctx.apply(secret)
        return None

    return controller


@lru_cache(maxsize=1)
def full() -> str:
    """The text of a manager with everything switched on that has a metric."""

    async def main(world: World) -> str:
        async with ControlPlane(world, controllers=False) as plane:
            options = Options(
                host="server:6443",
                process_metrics=True,
                request_metrics=True,
                leader_election=LeaderElection(name="busy", namespace="default"),
            )
            manager = Manager(Connection(Refusing(plane), world), options=options)
            for name in ("ok", "later", "terminal", "panic", "error", "slow", "race", "effect", "applied"):
                await manager.client.create(ConfigMap(metadata=ObjectMeta(name=name, namespace="default")))
            manager.add(busy())
            running = asyncio.create_task(manager.run())
            await asyncio.sleep(100)
            text = exposition(manager.metrics.registry).decode()
            manager.stop()
            await running
            return text

    return simulate(main)


def names(text: str) -> Mapping[str, Exposed]:
    """All names that a query may use, with a histogram's parts."""
    found: dict[str, Exposed] = {}
    for name, metric in parsed(text).items():
        if metric.type == "histogram":
            found[f"{name}_bucket"] = Exposed("histogram", (*metric.labels, "le"))
            found[f"{name}_sum"] = found[f"{name}_count"] = metric
        else:
            found[name] = metric
    return found
