"""The kind, and the disruption budget that it wants."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.apps.v1 import LabelSelector
from setpoint.k8s.policy.v1 import PodDisruptionBudget, PodDisruptionBudgetSpec


class CassandraSpec(Struct):
    max_unavailable: int = 1


class CassandraStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class CassandraCluster(Resource[CassandraSpec, CassandraStatus]):
    """A ring of Cassandra nodes."""


def budget_for(cluster: CassandraCluster) -> PodDisruptionBudget:
    selector = LabelSelector(match_labels={"ring": cluster.name})
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=cluster.name, namespace=cluster.namespace),
        spec=PodDisruptionBudgetSpec(max_unavailable=cluster.spec.max_unavailable, selector=selector),
    )
