"""A seeded workload of WebApps in batches, and the state that a cluster is in after it."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from typing import Any

from .programs import Api, Json

WEBAPPS = "/apis/apps.example.com/v1/namespaces/default/webapps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
REPLICASETS = "/apis/apps/v1/namespaces/default/replicasets"
PODS = "/api/v1/namespaces/default/pods"
SERVICES = "/api/v1/namespaces/default/services"
IMAGES = ("nginx:1.27", "nginx:1.28", "nginx:1.29")
LAST = "zz-last"


class Change:
    """One request of a user: `spec` to be there, or None for a deletion."""

    def __init__(self, name: str, spec: Json | None, *, new: bool) -> None:
        self.name = name
        self.spec = spec
        self.new = new

    def make(self, api: Api) -> None:
        """Asks for it."""
        if self.new:
            metadata = {"name": self.name, "namespace": "default"}
            api.ask("POST", WEBAPPS, {"apiVersion": "apps.example.com/v1", "kind": "WebApp", "metadata": metadata, "spec": self.spec})
        elif self.spec is None:
            api.ask("DELETE", f"{WEBAPPS}/{self.name}")
        else:
            api.merge(f"{WEBAPPS}/{self.name}", {"spec": self.spec})


def workload(seed: int, *, apps: int, batches: int) -> list[list[Change]]:
    """So many WebApps, created, changed and deleted.

    No batch touches a WebApp twice: then what Deployments remember is the same each time.
    """
    chance = random.Random(seed)
    names = [f"app-{number:02}" for number in range(apps)]
    specs: dict[str, Json] = {}
    planned: list[list[Change]] = []
    for number in range(batches):
        old = list(specs)
        chance.shuffle(old)
        batch = []
        for name in names[number * apps // batches : (number + 1) * apps // batches]:
            specs[name] = {"image": chance.choice(IMAGES), "replicas": chance.randint(0, 2)}
            batch.append(Change(name, dict(specs[name]), new=True))
        for name in old[:3]:
            specs[name] = {
                "image": chance.choice(IMAGES) if chance.random() < 0.4 else specs[name]["image"],
                "replicas": chance.randint(0, 2),
            }
            batch.append(Change(name, dict(specs[name]), new=False))
        for name in old[3:4]:
            del specs[name]
            batch.append(Change(name, None, new=False))
        chance.shuffle(batch)
        planned.append(batch)
    return planned


def wanted_after(batches: Sequence[Sequence[Change]]) -> dict[str, Json]:
    """The specs that the WebApps have then."""
    specs: dict[str, Json] = {}
    for change in (change for batch in batches for change in batch):
        if change.spec is None:
            specs.pop(change.name, None)
        else:
            specs[change.name] = change.spec
    return specs


def until_converged(api: Api, specs: dict[str, Json]) -> None:
    """Waits until all that follows from the specs is there, and nothing else: from the pods up to the WebApps' status."""
    pods = sum(spec["replicas"] for spec in specs.values())

    def rolled_out(found: Sequence[Json]) -> bool:
        return {item["metadata"]["name"] for item in found} == set(specs) and all(
            _is_rolled_out(item, specs[item["metadata"]["name"]]) for item in found
        )

    def reported(found: Sequence[Json]) -> bool:
        return {item["metadata"]["name"]: item["spec"] for item in found} == specs and all(
            item.get("status", {}).get("readyReplicas") == item["spec"]["replicas"] for item in found
        )

    api.until(SERVICES, lambda found: {item["metadata"]["name"] for item in found} - {"kubernetes"} == set(specs))
    api.until(DEPLOYMENTS, rolled_out)
    api.until(PODS, lambda found: len(found) == pods)
    api.until(WEBAPPS, reported)


def until_all_is_handled(api: Api) -> None:
    """Waits until nothing is under way any more. A WebApp that is the last to come to a queue, and whose Deployment is the last to become
    ready, is done only when all that came before it has been."""
    spec = {"image": IMAGES[0], "replicas": 1}
    Change(LAST, spec, new=True).make(api)
    api.until(
        WEBAPPS,
        lambda found: any(app["metadata"]["name"] == LAST and app.get("status", {}).get("readyReplicas") == 1 for app in found),
    )


def end_state(api: Api) -> dict[str, list[Json]]:
    """All that is there, without what is another each time: versions, moments, addresses, names made by chance. UIDs and
    addresses of pods become names, wherever they stand."""
    found = {
        path.rpartition("/")[2]: [_normal(item) for item in api.items(path)] for path in (WEBAPPS, DEPLOYMENTS, REPLICASETS, PODS, SERVICES)
    }
    text = json.dumps(found)
    for item in (item for items in found.values() for item in items):
        for own in (item["metadata"]["uid"], item.get("status", {}).get("podIP")):
            if own:
                text = re.sub(rf"\b{re.escape(own)}\b", item["metadata"]["name"], text)
    state: dict[str, list[Json]] = json.loads(text)
    return {resource: sorted(items, key=str) for resource, items in state.items()}


def _is_rolled_out(deployment: Json, spec: Json) -> bool:
    status, replicas = deployment.get("status", {}), spec["replicas"]
    return (
        deployment["spec"]["replicas"] == replicas
        and deployment["spec"]["template"]["spec"]["containers"][0]["image"] == spec["image"]
        and status.get("observedGeneration") == deployment["metadata"]["generation"]
        and all(status.get(field, 0) == replicas for field in ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"))
    )


_ANOTHER_EACH_TIME = {
    *("resourceVersion", "creationTimestamp", "time"),
    *("lastTransitionTime", "lastUpdateTime", "startTime", "startedAt", "lastHeartbeatTime"),
    *("clusterIP", "clusterIPs", "containerID"),
}


def _normal(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: _normal(item) for key, item in value.items() if key not in _ANOTHER_EACH_TIME}
        if "generateName" in kept:
            kept["name"] = "made by chance"
        if "managedFields" in kept:
            kept["managedFields"] = sorted(kept["managedFields"], key=str)  # the server sorts them by time
        return kept
    return [_normal(item) for item in value] if isinstance(value, list) else value
