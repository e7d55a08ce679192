"""The list-watch of the official client with nothing around it: `python -m benchmarks.peers.official_client NAMESPACE widgets|pods`.

A list in pages, as its documentation has it, and then a watch from there on; what came is kept, by name. Prints what it took until the list
was there and the watch was open.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator
from typing import Any

from kubernetes import client, config, watch

from benchmarks.objects import GROUP
from benchmarks.peers.process import cpu, emit

PAGE = 500


def main(namespace: str, kind: str) -> None:
    """Lists, begins to watch, and tells."""
    loading: Any = config  # neither this nor the next has types
    watching: Any = watch
    loading.load_kube_config()
    began, before = time.perf_counter(), cpu()
    held, version, listing = pods(namespace) if kind == "pods" else widgets(namespace)
    for event in watching.Watch().stream(*listing, resource_version=version, timeout_seconds=1):
        held[event["object"]["metadata"]["name"]] = event["object"]
    emit({"seconds": time.perf_counter() - began, "cpu_phase_s": cpu() - before, "items": len(held)})


def widgets(namespace: str) -> tuple[dict[str, Any], str, tuple[Any, ...]]:
    """Mappings: the client has no class for a custom resource."""
    api: Any = client.CustomObjectsApi()
    wanted = (GROUP, "v1", namespace, "widgets")

    def pages() -> Iterator[Any]:
        token = ""
        for _ in itertools.count():
            page = api.list_namespaced_custom_object(*wanted, limit=PAGE, _continue=token)
            yield page
            if not (token := page["metadata"].get("continue", "")):
                return

    held: dict[str, Any] = {}
    for page in pages():
        held |= {each["metadata"]["name"]: each for each in page["items"]}
    return held, page["metadata"]["resourceVersion"], (api.list_namespaced_custom_object, *wanted)


def pods(namespace: str) -> tuple[dict[str, Any], str, tuple[Any, ...]]:
    """Objects of `V1Pod`."""
    api: Any = client.CoreV1Api()  # its types call optional what every answer of a server has
    held: dict[str, Any] = {}
    token: str | None = None
    while True:
        page = api.list_namespaced_pod(namespace, limit=PAGE, _continue=token)
        held |= {each.metadata.name: each for each in page.items}
        if not (token := page.metadata._continue):
            return held, page.metadata.resource_version, (api.list_namespaced_pod, namespace)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
