"""The group flowcontrol.apiserver.k8s.io: priority levels and what belongs to them, with their defaults. Nothing here limits anything.

https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
"""

from __future__ import annotations

from collections.abc import Mapping

from setpoint.cluster.server.builtin.behaviour import Behaviour, Json

_PRECEDENCE = 1000
_SHARES = 30
_QUEUES = {"queues": 64, "handSize": 8, "queueLengthLimit": 50}


def _flow_schema(obj: Json) -> None:
    spec = obj.get("spec")
    if spec is not None and not spec.get("matchingPrecedence"):
        spec["matchingPrecedence"] = _PRECEDENCE


def _priority_level(obj: Json) -> None:
    spec = obj.get("spec") or {}
    if (exempt := spec.get("exempt")) is not None:
        for name in ("nominalConcurrencyShares", "lendablePercent"):
            exempt.setdefault(name, 0)
    limited = spec.get("limited")
    if limited is None:
        return
    if limited.get("nominalConcurrencyShares") is None:
        limited["nominalConcurrencyShares"] = _SHARES
    limited.setdefault("lendablePercent", 0)
    queuing = (limited.get("limitResponse") or {}).get("queuing")
    if queuing is not None:
        for name, number in _QUEUES.items():
            queuing[name] = queuing.get(name) or number


BEHAVIOURS: Mapping[str, Behaviour] = {
    "FlowSchema": Behaviour(defaults=_flow_schema, generation=True),
    "PriorityLevelConfiguration": Behaviour(defaults=_priority_level, generation=True),
}
