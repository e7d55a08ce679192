"""The kind, and what depends on it: by a label, for it may be in another namespace."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap


class TenantSpec(Struct):
    quota: int


class TenantStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class Tenant(Resource[TenantSpec, TenantStatus]):
    """Somebody who may use so much."""


def quota_for(tenant: Tenant) -> ConfigMap:
    metadata = ObjectMeta(name=f"quota-{tenant.name}", namespace=tenant.namespace, labels={"tenant": tenant.name})
    return ConfigMap(metadata=metadata, data={"quota": str(tenant.spec.quota)})
