"""An operator for kopf: handlers for creation, change and deletion, a field, a timer, a daemon, and children that it adopts."""

from __future__ import annotations

import asyncio
from typing import Any

import kopf
from kubernetes_asyncio import client, config


@kopf.on.startup()
async def prepare(settings: kopf.OperatorSettings, **_: Any) -> None:
    settings.persistence.finalizer = "example.com/kopf"
    settings.posting.enabled = True


@kopf.on.create("widgets")
async def created(spec: kopf.Spec, namespace: str, name: str, logger: kopf.Logger, **_: Any) -> dict[str, Any]:
    child = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{name}-child"}, "data": {"size": str(spec["size"])}}
    kopf.adopt(child)
    await config.load_kube_config()
    async with client.ApiClient() as api:
        await client.CoreV1Api(api).create_namespaced_config_map(namespace, child)
    logger.info("made the child")
    return {"child": f"{name}-child"}


@kopf.on.field("widgets", field="spec.size")
async def resized(old: int | None, new: int, **_: Any) -> None:
    print(f"size {old} -> {new}", flush=True)


@kopf.on.update("widgets")
async def updated(body: kopf.Body, patch: kopf.Patch, spec: kopf.Spec, **_: Any) -> None:
    kopf.info(body, reason="Resized", message=f"it is {spec['size']} now")
    patch.status["seen"] = spec["size"]


@kopf.daemon("widgets", cancellation_timeout=5)
async def beside(name: str, **_: Any) -> None:
    print(f"daemon of {name} began", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        print(f"daemon of {name} ended", flush=True)


@kopf.timer("widgets", interval=0.2, initial_delay=0.1)
async def ticked(name: str, **_: Any) -> None:
    print(f"tick of {name}", flush=True)


@kopf.on.delete("widgets")
async def deleted(name: str, **_: Any) -> None:
    print(f"let go of {name}", flush=True)
