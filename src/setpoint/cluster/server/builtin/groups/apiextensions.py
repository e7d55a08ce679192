"""Custom resource definitions, of which `custom.CrdStrategy` knows everything.

https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/
"""

from __future__ import annotations

from collections.abc import Mapping

from setpoint.cluster.server.builtin.behaviour import Behaviour

BEHAVIOURS: Mapping[str, Behaviour] = {"CustomResourceDefinition": Behaviour(support="common", generation=True)}
