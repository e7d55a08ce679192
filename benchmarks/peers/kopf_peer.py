"""kopf: `python -m benchmarks.peers.kopf_peer sync|converge NAMESPACE COUNT`.

`sync` holds the widgets of a namespace as its handler of events gets them, and prints what it took until all are there. (Its own cache, an
index, takes processor time that grows with the square of their number.) `converge` gives each widget a status, as `setpoint_peer converge`
does: it says `started` and goes on until it is ended, for others to see.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from typing import Any

import kopf

from benchmarks.objects import GROUP
from benchmarks.peers.process import cpu, emit

WIDGETS = (GROUP, "v1", "widgets")


async def sync(namespace: str, count: int) -> None:
    """Until all are held."""
    registry = kopf.OperatorRegistry()
    held: dict[str, kopf.Body] = {}
    complete, stop = asyncio.Event(), asyncio.Event()

    @kopf.on.event(*WIDGETS, registry=registry)
    async def seen(name: str, body: kopf.Body, **_: Any) -> None:
        held[name] = body
        if len(held) == count:
            complete.set()

    began, before = time.perf_counter(), cpu()
    running = asyncio.create_task(operator(registry, namespace, stop))
    if count:
        await complete.wait()
    else:
        await asyncio.sleep(1.0)
    emit({"seconds": time.perf_counter() - began, "cpu_phase_s": cpu() - before, "items": len(held)})
    stop.set()
    await running


async def converge(namespace: str) -> None:
    """Until the process is ended."""
    registry = kopf.OperatorRegistry()

    @kopf.on.resume(*WIDGETS, registry=registry)
    @kopf.on.create(*WIDGETS, registry=registry)
    @kopf.on.update(*WIDGETS, registry=registry)
    async def reconcile(meta: kopf.Meta, spec: kopf.Spec, patch: kopf.Patch, **_: Any) -> None:
        patch.status["phase"] = "Ready"
        patch.status["observedGeneration"] = meta["generation"]
        patch.status["readyReplicas"] = spec["replicas"]

    print("started", flush=True)
    await operator(registry, namespace, asyncio.Event())


async def operator(registry: kopf.OperatorRegistry, namespace: str, stop: asyncio.Event) -> None:
    """kopf as it comes, but for events, which cost it requests, and peering, which needs a definition of its own."""
    kopf.on.login(registry=registry)(kopf.login_with_kubeconfig)
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    await kopf.operator(registry=registry, settings=settings, namespaces=[namespace], standalone=True, stop_flag=stop)


if __name__ == "__main__":
    logging.disable(logging.INFO)
    command, place, number = sys.argv[1:]
    asyncio.run(sync(place, int(number)) if command == "sync" else converge(place))
