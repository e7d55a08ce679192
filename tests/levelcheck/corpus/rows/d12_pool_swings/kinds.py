"""The kind, a pod of it, and what of pods concerns it."""

from setpoint import ObjectMeta, Predicate, Resource, Struct, kind
from setpoint.k8s.core.v1 import Container, Pod, PodSpec


class PoolSpec(Struct):
    ready: int = 1


class PoolStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class Pool(Resource[PoolSpec, PoolStatus]):
    """Pods that wait to be used."""


def pod_for(pool: Pool) -> Pod:
    metadata = ObjectMeta(generate_name=f"{pool.name}-", namespace=pool.namespace)
    return Pod(metadata=metadata, spec=PodSpec(containers=[Container(name="sandbox", image="sandbox:1")]))


def is_ready(pod: Pod) -> bool:
    ready = [condition for condition in pod.status.conditions if condition.type == "Ready" and condition.status == "True"]
    return bool(ready) and not pod.is_terminating


def _has_come_or_gone(old: Pod | None, new: Pod | None) -> bool:
    if old is not None and new is not None:
        return is_ready(old) != is_ready(new)
    return new is None


COME_OR_GONE: Predicate[Pod] = Predicate(_has_come_or_gone)
"""A pod has become ready, or is ready no more, or is gone."""
