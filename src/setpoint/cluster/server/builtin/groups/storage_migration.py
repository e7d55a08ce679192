"""The group storagemigration.k8s.io: migrations are kept, and nothing is made of them.

https://kubernetes.io/docs/tasks/manage-kubernetes-objects/storage-version-migration/
"""

from __future__ import annotations

from collections.abc import Mapping

from setpoint.cluster.server.builtin.behaviour import Behaviour

BEHAVIOURS: Mapping[str, Behaviour] = {"StorageVersionMigration": Behaviour(unconditional_update=False)}
