"""What a cache needs for each object, plain, stripped, compressed, metadata alone: bytes, and CPU microseconds for each put and typed read.

python benchmarks/cache_memory.py [OBJECTS]

Bytes are those of the process (its resident memory before and after), and those that the cache itself counts.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import random
import sys
import time

from setpoint.cache import Form
from setpoint.cache.packing import Packing
from setpoint.cache.store import Store
from setpoint.objects import Object, Request, Resource, Struct, decode, kind
from setpoint.objects.strip import Strip


class Spec(Struct):
    image: str = ""
    replicas: int = 0
    env: dict[str, str] = {}


class Status(Struct):
    ready: int = 0


@kind(group="bench.example.com", version="v1")
class Thing(Resource[Spec, Status]):
    """A custom resource of some two kilobytes."""


FORMS = {
    "plain": lambda: Form(),
    "managedFields stripped": lambda: Form(strip=Strip(["metadata.managedFields"])),
    "compressed": lambda: Form(packing=Packing()),
    "stripped and compressed": lambda: Form(strip=Strip(["metadata.managedFields"]), packing=Packing()),
    "metadata alone": lambda: Form(metadata_only=True),
}


def thing(number: int, chance: random.Random) -> bytes:
    """As a server gives it: with owners, labels, managed fields and conditions."""
    fields = {f"f:{name}": {} for name in ("image", "replicas", "env", "ports", "template", "selector")}
    return json.dumps(
        {
            "apiVersion": "bench.example.com/v1",
            "kind": "Thing",
            "metadata": {
                "name": f"thing-{number}",
                "namespace": f"team-{number % 50}",
                "uid": f"{chance.getrandbits(128):032x}",
                "resourceVersion": str(1000 + number),
                "generation": 1,
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "labels": {"app.kubernetes.io/name": f"app-{number % 200}", "app.kubernetes.io/managed-by": "bench"},
                "ownerReferences": [
                    {"apiVersion": "v1", "kind": "Owner", "name": f"owner-{number // 3}", "uid": f"{chance.getrandbits(128):032x}"}
                ],
                "managedFields": [
                    {"manager": m, "operation": "Apply", "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:spec": fields}}
                    for m in ("bench", "kubectl")
                ],
            },
            "spec": {
                "image": f"registry.example.com/team/app:{chance.getrandbits(40):x}",
                "replicas": number % 10,
                "env": {f"SETTING_{at}": f"{chance.getrandbits(32):08x}" for at in range(20)},
            },
            "status": {
                "ready": number % 10,
                "conditions": [
                    {"type": t, "status": "True", "reason": "AsExpected", "message": "all replicas are available and up to date"}
                    for t in ("Ready", "Available", "Progressing")
                ],
            },
        },
        separators=(",", ":"),
    ).encode()


def resident() -> int:
    """The process's resident memory, in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def measure(name: str, count: int) -> str:
    """One line of the table."""
    chance, form, store = random.Random(1), FORMS[name](), Store()
    put = 0.0
    gc.collect()
    before = resident()
    for start in range(0, count, 1000):
        batch = [thing(number, chance) for number in range(start, min(start + 1000, count))]
        began = time.process_time()
        for data in batch:
            store.put(*form.read(data))
        put += time.process_time() - began
        del batch
    gc.collect()
    taken = resident() - before
    keys = [Request(f"team-{number % 50}", f"thing-{number}") for number in range(0, count, 5)]
    began = time.process_time()
    for key in keys:
        entry = store.get(key)
        assert entry is not None
        decode(Object if form.metadata_only else Thing, entry.data)
    read = time.process_time() - began
    return f"{name:26} {taken / count:9.0f} {store.size / count:9.0f} {put / count * 1e6:8.1f} {read / len(keys) * 1e6:8.1f}"


def main() -> None:
    """Prints the table; each line is measured in a process of its own."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    print(f"{count} objects of {len(thing(1, random.Random(1)))} bytes")
    print(f"{'':26} {'B/object':>9} {'of bytes':>9} {'µs put':>8} {'µs read':>8}")
    spawn = multiprocessing.get_context("spawn")
    for name in FORMS:
        with spawn.Pool(1) as pool:
            print(pool.apply(measure, (name, count)))


if __name__ == "__main__":
    main()
