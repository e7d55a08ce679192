"""Owners, and what names them."""

from setpoint import Resource, Struct, kind


class TenantSpec(Struct):
    pass


class GrantSpec(Struct):
    tenant: str


@kind(group="corpus.example.com", version="v1")
class Tenant(Resource[TenantSpec, TenantSpec]):
    """Somebody to whom something is granted."""


@kind(group="corpus.example.com", version="v1")
class Grant(Resource[GrantSpec, TenantSpec]):
    """Something that is granted, for as long as there is such a tenant."""
