"""The base of an update: the object as it was at the version that the caller has changed.

An update sends the difference between that base and what the object holds now. Nothing is kept on the object; its `resourceVersion` says
which base it is, and whoever has an object of that version, the cache or the server, has the base.
"""

from __future__ import annotations

from setpoint.api import ApiError
from setpoint.api.operation import MERGE_PATCH, Operation
from setpoint.api.status import modified, not_found
from setpoint.objects import KindInfo, Object, Request, decode_head


def base_in_cache(obj: Object, cached: bytes | None, info: KindInfo, key: Request, *, subresource: str = "") -> bytes | None:
    """The base, if the cache has just this version; None if it has an older one or nothing.

    Raises `Conflict` if it has a newer one: the request could only fail.
    """
    if cached is None:
        return None
    ours, theirs = version_of(obj, info, key), decode_head(cached).resource_version
    if ours == theirs:
        return cached
    if ours.isdigit() and theirs.isdigit() and int(theirs) > int(ours):
        raise _about(modified(info.group_version_resource, key.name), info, key, subresource)
    return None


def base_on_server(obj: Object, live: bytes | None, info: KindInfo, key: Request, *, subresource: str = "") -> bytes:
    """The base, from a live read. Raises `NotFound` if the object is gone, `Conflict` if it is at another version."""
    if live is None:
        raise _about(not_found(info.group_version_resource, key.name), info, key, subresource)
    if decode_head(live).resource_version != version_of(obj, info, key):
        raise _about(modified(info.group_version_resource, key.name), info, key, subresource)
    return live


def version_of(obj: Object, info: KindInfo, key: Request) -> str:
    """The version of an object that was read. Raises `ValueError` for one that was not."""
    if version := obj.metadata.resource_version:
        return version
    raise ValueError(f"{info.kind} {key} has no resourceVersion, so it was not read from a server: create or apply it")


def _about(error: ApiError, info: KindInfo, key: Request, subresource: str) -> ApiError:
    error.operation = Operation(
        verb="patch",
        resource=info.group_version_resource,
        namespace=key.namespace,
        name=key.name,
        subresource=subresource,
        content_type=MERGE_PATCH,
    )
    return error
