"""Names and amounts of resources: CPU, memory and what devices add.

https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
"""

from __future__ import annotations

from collections.abc import Iterator

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, invalid
from setpoint.objects import Quantity

from .counts import NOT_NEGATIVE

HUGE_PAGES = "hugepages-"
_CONTAINER = ("cpu", "memory", "ephemeral-storage")
_STANDARD = (
    *_CONTAINER,
    "requests.ephemeral-storage",
    "limits.ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "limits.cpu",
    "limits.memory",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "storage",
    "requests.storage",
    "services.nodeports",
    "services.loadbalancers",
)
_INTEGER = (
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
)
_OWN_DOMAIN = "kubernetes.io/"


def resource_name(name: str, at: str) -> Iterator[FieldError]:
    """What is wrong with the name of a resource of any sort."""
    problems = names.label_key(name)
    yield from (invalid(at, name, problem) for problem in problems)
    if not problems and "/" not in name and not _is_standard(name):
        yield invalid(at, name, "must be a standard resource type or fully qualified")


def _is_standard(name: str) -> bool:
    return name in _STANDARD or name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}"))


def is_standard_of_quotas(name: str) -> bool:
    """Whether a resource is one that quotas know without a domain."""
    return name != "storage" and _is_standard(name)


def quota_resource(name: str, at: str) -> Iterator[FieldError]:
    """What is wrong with the name of a resource that a quota limits."""
    yield from resource_name(name, at)
    if "/" not in name and not is_standard_of_quotas(name):
        yield invalid(at, name, "must be a standard resource for quota")


def container_resource(name: str, at: str) -> Iterator[FieldError]:
    """What is wrong with the name of a resource that containers ask for."""
    yield from resource_name(name, at)
    if "/" not in name:
        if name not in _CONTAINER and not name.startswith(HUGE_PAGES):
            yield invalid(at, name, "must be a standard resource for containers")
    elif not is_native(name) and not is_extended(name):
        yield invalid(at, name, "doesn't follow extended resource name standard")


def is_native(name: str) -> bool:
    """Whether a resource is the cluster's own, and no device's."""
    return "/" not in name or _OWN_DOMAIN in name


def is_extended(name: str) -> bool:
    """Whether a resource is a device's."""
    return not is_native(name) and not name.startswith("requests.") and not names.label_key(f"requests.{name}")


def may_be_overcommitted(name: str) -> bool:
    """Whether less may be asked for of a resource than may be used."""
    return is_native(name) and not name.startswith(HUGE_PAGES)


def resource_amount(name: str, amount: str, at: str) -> Iterator[FieldError]:
    """What is wrong with an amount of a resource."""
    if Quantity(amount) < 0:
        yield invalid(at, amount, NOT_NEGATIVE)
    if (name in _INTEGER or is_extended(name)) and Quantity(amount).amount.denominator != 1:
        yield invalid(at, amount, "must be an integer")
