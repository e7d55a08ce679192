"""The cells of pods: most of the work is to sum up many containers in one word.

The word follows kube-apiserver: of a pod that still initializes the first init container that is not through tells it, else the first
container that waits or has ended, else the pod's phase.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from setpoint.cluster.server.tables.cells.parts import Cells
from setpoint.cluster.server.tables.durations import since
from setpoint.cluster.server.tables.tables import Object, age

Status = Mapping[str, Any]


def _cells(pod: Object, now: datetime) -> list[Any]:
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    summary = _Summary(spec, status)
    nominated, addresses = status.get("nominatedNodeName"), status.get("podIPs") or [{}]
    restarts = str(summary.restarts)
    if summary.restarts and summary.last_restart:
        restarts = f"{restarts} ({since(summary.last_restart, now)} ago)"
    return [
        pod["metadata"].get("name", ""),
        f"{summary.ready}/{summary.total}",
        _deletion(pod, status) or summary.reason,
        restarts,
        age(pod, now),
        addresses[0].get("ip") or "<none>",
        spec.get("nodeName") or "<none>",
        nominated or "<none>",
        _readiness_gates(spec, status),
    ]


def _deletion(pod: Object, status: Status) -> str | None:
    if not pod["metadata"].get("deletionTimestamp"):
        return None
    if status.get("reason") == "NodeLost":
        return "Unknown"
    return None if status.get("phase") in ("Succeeded", "Failed") else "Terminating"


def _readiness_gates(spec: Mapping[str, Any], status: Status) -> str:
    gates = spec.get("readinessGates") or ()
    if not gates:
        return "<none>"
    return f"{sum(_condition(status, gate['conditionType']) for gate in gates)}/{len(gates)}"


def _condition(status: Status, kind: str) -> bool:
    return any(condition["type"] == kind and condition["status"] == "True" for condition in status.get("conditions") or ())


class _Summary:
    """What all containers of a pod come to: how many are ready, how often they were restarted, and one word."""

    def __init__(self, spec: Mapping[str, Any], status: Status) -> None:
        # Init containers that restart always are sidecars, and count as containers.
        inits: Sequence[Mapping[str, Any]] = spec.get("initContainers") or ()
        self._sidecars = [container["name"] for container in inits if container.get("restartPolicy") == "Always"]
        self.total = len(spec.get("containers") or ()) + len(self._sidecars)
        self.ready = 0
        self.restarts = 0
        self.last_restart = ""
        self.reason: str = status.get("reason") or status.get("phase") or ""
        if any(c["type"] == "PodScheduled" and c.get("reason") == "SchedulingGated" for c in status.get("conditions") or ()):
            self.reason = "SchedulingGated"

        statuses: Sequence[Status] = status.get("initContainerStatuses") or ()
        seen, initializing = self._initialize(statuses, len(inits))
        if not initializing or _condition(status, "Initialized"):
            # Restarts of init containers no longer matter, those of sidecars do.
            counted = [container for container in statuses[:seen] if container["name"] in self._sidecars]
            self.restarts, self.last_restart = 0, ""
            for container in counted:
                self._count(container)
            self._run(status)

    def _count(self, container: Status) -> None:
        self.restarts += container.get("restartCount") or 0
        ended = ((container.get("lastState") or {}).get("terminated") or {}).get("finishedAt") or ""
        self.last_restart = max(self.last_restart, ended)

    def _initialize(self, statuses: Sequence[Status], total: int) -> tuple[int, bool]:
        """Look at init containers until one is not through: how many were looked at, and whether there was such a one."""
        for index, container in enumerate(statuses):
            self._count(container)
            state = container.get("state") or {}
            ended, waiting = state.get("terminated"), (state.get("waiting") or {}).get("reason")
            if ended is not None and not ended.get("exitCode"):
                continue
            if container["name"] in self._sidecars and container.get("started"):
                self.ready += bool(container.get("ready"))
                continue
            if ended is not None:
                self.reason = f"Init:{_end(ended)}"
            elif waiting and waiting != "PodInitializing":
                self.reason = f"Init:{waiting}"
            else:
                self.reason = f"Init:{index}/{total}"
            return index + 1, True
        return len(statuses), False

    def _run(self, status: Status) -> None:
        running, failed = False, ""
        # From the last to the first, so that the first container has the last word.
        for container in reversed(status.get("containerStatuses") or ()):
            self._count(container)
            state = container.get("state") or {}
            ended = state.get("terminated")
            if waiting := (state.get("waiting") or {}).get("reason"):
                self.reason = waiting
            elif ended is not None:
                self.reason = _end(ended)
                failed = self.reason if ended.get("exitCode") else failed
            elif container.get("ready") and state.get("running") is not None:
                running = True
                self.ready += 1
        if self.reason == "Completed":
            if running and _condition(status, "Ready"):
                self.reason = "Running"
            elif failed:
                self.reason = failed
            elif running:
                self.reason = "NotReady"


def _end(ended: Status) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode') or 0}"


def conditions(pod: Object) -> list[dict[str, str]]:
    """Conditions of the row of a pod: that it has come to its end."""
    phase = (pod.get("status") or {}).get("phase")
    messages = {"Succeeded": "The pod has completed successfully.", "Failed": "The pod failed."}
    if phase not in messages:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": messages[phase]}]


CELLS: dict[tuple[str, str], Cells] = {("", "pods"): _cells}
