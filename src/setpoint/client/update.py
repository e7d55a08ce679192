"""The base of an update: the object as it was at the version that the caller has changed.

An update sends the difference between that base and what the object holds now. Nothing is kept on the object; its `resourceVersion` says
which base it is, and whoever has an object of that version, the cache or the server, has the base.

A cache may have stripped parts of it. What is not seen is then left as it is; where something is stated about a stripped part, the object
is read live, and anything of that part that would go because it was never seen is refused.
"""

from __future__ import annotations

from typing import Any

import msgspec

from setpoint.api import ApiError
from setpoint.api.operation import MERGE_PATCH, Operation
from setpoint.api.status import modified, not_found
from setpoint.objects import Difference, KindInfo, Object, Part, Request, decode, decode_head, difference, to_builtins
from setpoint.objects.strip import Path, Strip, lacks, value_at, written


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


def visible_difference(base: bytes, obj: Object, strip: Strip, *, part: Part) -> tuple[Difference | None, list[Path]]:
    """The difference to what a reader of the cache sees of the base, and the stripped parts that it says something about."""
    seen = strip.of(base)
    found = difference(seen, obj, part=part)
    if found is None:
        return None, []
    if found.merge is None:
        return found, list(strip.paths)  # a JSON patch: it sets null somewhere, which is rare
    for path in strip.paths:
        _spare(found.merge, msgspec.json.decode(seen), path)
    return found, strip.touched_by(found.merge)


def whole_difference(live: bytes, obj: Object, strip: Strip, touched: list[Path], *, part: Part) -> Difference | None:
    """The difference to the object as it is, in these stripped parts as well.

    Raises `ValueError` if that would remove something of them: whether it was removed or never seen cannot be told.
    """
    base = Strip(written(path) for path in strip.paths if path not in touched).of(live)
    whole, held = to_builtins(decode(type(obj), base)), to_builtins(obj)
    for path in touched:
        if lacks(value_at(held, path), value_at(whole, path)):
            raise ValueError(
                f"this update of {obj.key} would remove what the server has in {written(path)}: the cache strips that, so an object "
                "from it does not show it. Read the object with live=True before changing it there; to remove something of it, use patch"
            )
    return difference(base, obj, part=part)


def _spare(merge: dict[str, Any], seen: Any, path: Path) -> None:
    """Where all that is seen around a stripped part is to go, makes just that go, and not what is not seen."""
    for step in path[:-1]:
        seen = seen.get(step) if isinstance(seen, dict) else None
        value = merge.get(step, ...)
        if value is None and isinstance(seen, dict):
            merge[step] = dict.fromkeys(seen)
        if not isinstance(value, dict):
            return
        merge = value


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
