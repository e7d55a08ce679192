"""From the start until the local copy is complete: processor time for an object, memory for an object, and the peak.

What a process takes without objects, in a namespace of the same server that is empty, is taken off; of the rest each object has its share.
The peak is the whole process's.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.figures import Goal
from benchmarks.peers import go, python, run
from benchmarks.workload import Failed, Figures, Row, Setting, Side, Workload

EMPTY = "empty"
Command = Callable[[Setting, str, int], list[str]]
"""How a side is started, for a namespace and the number of objects in it."""


def side(name: str, command: Command, kind: str = "widgets") -> Side:
    """Runs it without objects, and then with all."""

    def work(setting: Setting) -> Figures:
        servers = setting.servers
        full, empty = servers.filled(kind, count=setting.objects), servers.filled(own=EMPTY, count=0)
        bare = run(command(setting, empty, 0), servers.real.kubeconfig)
        return shares(run(command(setting, full, setting.objects), servers.real.kubeconfig), bare, setting.objects)

    return Side(name, work)


def shares(full: dict[str, float], bare: dict[str, float], objects: int) -> Figures:
    """Each object's share of what it took. Raises `Failed` where not all objects are held."""
    if full["items"] != objects:
        raise Failed(f"holds {full['items']:.0f} of {objects} objects")
    memory = "rss_freed_mb" if "rss_freed_mb" in full else "rss_mb"
    return {
        "cpu_us": (full["cpu_phase_s"] - bare["cpu_phase_s"]) / objects * 1e6,
        "cpu_s": full["cpu_phase_s"],
        "bytes": (full[memory] - bare[memory]) / objects * 2**20,
        "peak_mb": full["rss_peak_mb"],
        "bare_mb": bare[memory],
    }


def setpoint(*flags: str) -> Command:
    """Ours."""
    return lambda _, namespace, count: python("setpoint_peer", "sync", "-n", count, "--ns", namespace, *flags)


def controller_runtime(mode: str, *flags: str) -> Command:
    """controller-runtime."""
    return lambda setting, namespace, count: go.command(setting.servers, "sync", "-n", count, "-ns", namespace, "-mode", mode, *flags)


def kopf(_: Setting, namespace: str, count: int) -> list[str]:
    """kopf, with an index."""
    return python("kopf_peer", "sync", namespace, count, needs="kopf")


def official(kind: str) -> Command:
    """The official client."""
    return lambda _, namespace, count: python("official_client", namespace, kind, needs="kubernetes")


OURS = ("setpoint", "setpoint, compressed")
TYPED, UNSTRUCTURED = "controller-runtime", "controller-runtime, unstructured"


def rows(peers: list[str], goals: dict[tuple[str, str, str], Goal]) -> list[Row]:
    """Ours beside each peer; compressed, beside the first alone. `goals` are those of figure, side, peer."""
    told = {"cpu_us": ("CPU for an object", "µs"), "bytes": ("memory for an object", "B"), "peak_mb": ("peak memory of the process", "MB")}
    found = [Row("CPU of the whole sync", "cpu_s", "s", peer=peers[0]), Row("memory without objects", "bare_mb", "MB", peer=peers[0])]
    for figure, (what, unit) in told.items():
        for ours in OURS:
            for peer in peers if ours == "setpoint" else peers[:1]:
                found.append(Row(what, figure, unit, ours, peer, goals.get((figure, ours, peer))))
    return found


def widgets(name: str, objects: int, goals: dict[tuple[str, str, str], Goal]) -> Workload:
    """Custom resources, by all."""
    sides = [
        side("setpoint", setpoint()),
        side(TYPED, controller_runtime("typed")),
        side("setpoint, compressed", setpoint("--compress")),
        side(UNSTRUCTURED, controller_runtime("unstructured")),
        side("kopf", kopf),
        side("official client", official("widgets")),
    ]
    peers = [TYPED, UNSTRUCTURED, "kopf", "official client"]
    return Workload(name, "cache sync of custom resources of about 3 KB, from kube-apiserver", objects, sides, rows(peers, goals))


def pods(name: str, objects: int) -> Workload:
    """Pods; controller-runtime's typed client has them in protobuf."""
    sides = [
        side("setpoint", setpoint("--pods"), "pods"),
        side(TYPED, controller_runtime("typed", "-pods"), "pods"),
        side("setpoint, compressed", setpoint("--pods", "--compress"), "pods"),
        side(UNSTRUCTURED, controller_runtime("unstructured", "-pods"), "pods"),
        side("official client", official("pods"), "pods"),
    ]
    return Workload(
        name, "cache sync of pods of about 6 KB, from kube-apiserver", objects, sides, rows([TYPED, UNSTRUCTURED, "official client"], {})
    )


GOALS = {
    ("cpu_us", "setpoint", TYPED): Goal("ratio", 1 / 20),
    ("cpu_us", "setpoint", UNSTRUCTURED): Goal("ratio", 1 / 25),
    ("bytes", "setpoint", TYPED): Goal("ratio", 1 / 2),
    ("bytes", "setpoint, compressed", TYPED): Goal("ratio", 1 / 4),
}
PEAKS = {("peak_mb", "setpoint", TYPED): Goal("ratio", 1 / 2), ("peak_mb", "setpoint, compressed", TYPED): Goal("ratio", 1 / 3)}
KOPF = {("peak_mb", "setpoint", "kopf"): Goal("ratio", 1 / 10)}

WORKLOADS = [
    widgets("sync", 10_000, GOALS | KOPF),
    widgets("sync-large", 50_000, GOALS | PEAKS),
    pods("pods", 10_000),
    pods("pods-large", 50_000),
]
