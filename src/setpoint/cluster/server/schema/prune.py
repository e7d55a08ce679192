"""Pruning: what the schema does not know is dropped, and named, so that field validation can warn or refuse.

Follows https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning.
"""

from __future__ import annotations

from setpoint.cluster.server.schema.metadata import OBJECT_META
from setpoint.cluster.server.schema.structural import Json, Structural

_META_FIELDS = ("apiVersion", "kind", "metadata")


def prune(obj: dict[str, Json], schema: Structural) -> tuple[dict[str, Json], list[str]]:
    """`obj` without the fields that `schema` does not know, and the paths of these.

    The argument is left as it is; what did not change is shared with the answer. Paths read `spec.items[0].x`; those below the object's own
    `metadata` come first, those below the metadata of embedded resources last, each group in order, as the real server lists them.
    apiVersion, kind and metadata are kept at the root and in embedded resources; metadata itself is pruned by what Kubernetes knows of it.
    """
    if _knows_all(obj, schema, _META_FIELDS) and _knows_all_of_metadata(obj.get("metadata")):
        return obj, []
    own: list[str] = []
    unknown: list[str] = []
    embedded: list[str] = []
    pruner = _Pruner(unknown, embedded)
    pruned = pruner.fields(obj, schema, "", is_resource=True, keep_unknown=schema.preserve_unknown)
    metadata = pruned.get("metadata")
    if isinstance(metadata, dict):
        kept = _Pruner(own, own).value(metadata, OBJECT_META, "metadata")
        if kept is not metadata:
            pruned = {**pruned, "metadata": kept}
    return pruned, sorted(own) + sorted(unknown) + sorted(embedded)


def _knows_all_of_metadata(metadata: Json) -> bool:
    return type(metadata) is not dict or _knows_all(metadata, OBJECT_META)


def _knows_all(value: dict[str, Json], node: Structural, names: tuple[str, ...] = ()) -> bool:
    """Whether pruning drops nothing of a map, as is nearly always so: asked first, since it costs little. False where it may.

    `names` are keys that are nobody's to judge here.
    """
    properties = node.properties
    for key, item in value.items():
        child = properties.get(key)
        if child is None:
            if key in names or (node.preserve_unknown and not node.open):
                continue
            if not node.open:
                return False
            child = node.additional
        if type(item) in _CONTAINERS and key not in names and not _knows_all_in(item, child):
            return False
    return True


def _knows_all_in(value: Json, node: Structural | None) -> bool:
    """The same of a map or a list."""
    if not value:
        return True
    if node is None or node.embedded_resource:
        return False
    if type(value) is dict:
        return _knows_all(value, node)
    if node.preserve_unknown:
        return node.items is None
    child = node.items
    return all(type(item) not in _CONTAINERS or _knows_all_in(item, child) for item in value)


def unknown_fields(obj: dict[str, Json], schema: Structural) -> list[str]:
    """The paths that `prune` would drop."""
    return prune(obj, schema)[1]


class _Pruner:
    def __init__(self, unknown: list[str], embedded: list[str]) -> None:
        self._unknown = unknown
        self._embedded = embedded

    def value(self, value: Json, node: Structural | None, path: str) -> Json:
        if type(value) is dict:
            if node is None:
                self._unknown.extend(f"{path}.{key}" if path else key for key in value)
                return {} if value else value
            return self.fields(value, node, path, is_resource=node.embedded_resource, keep_unknown=node.preserve_unknown)
        if type(value) is list:
            return self._list(value, node, path)
        return value

    def fields(self, value: dict[str, Json], node: Structural, path: str, *, is_resource: bool, keep_unknown: bool) -> dict[str, Json]:
        result = value
        properties = node.properties
        for key, item in value.items():
            if is_resource and key in _META_FIELDS:
                if key == "metadata" and path and type(item) is dict:
                    kept = _Pruner(self._embedded, self._embedded).value(item, OBJECT_META, f"{path}.metadata")
                else:
                    kept = item
            elif (child := properties.get(key)) is not None:
                kept = self.value(item, child, f"{path}.{key}" if path else key) if type(item) in _CONTAINERS else item
            elif node.open:
                kept = self.value(item, node.additional, f"{path}.{key}" if path else key) if type(item) in _CONTAINERS else item
            elif keep_unknown:
                kept = item
            else:
                self._unknown.append(f"{path}.{key}" if path else key)
                if result is value:
                    result = dict(value)
                del result[key]
                continue
            if kept is not item:
                if result is value:
                    result = dict(value)
                result[key] = kept
        return result

    def _list(self, value: list[Json], node: Structural | None, path: str) -> list[Json]:
        result = value
        child = node.items if node is not None else None
        keep_unknown = node is not None and node.preserve_unknown
        if keep_unknown and child is None:
            return value
        for index, item in enumerate(value):
            if type(item) not in _CONTAINERS:
                continue
            where = f"{path}[{index}]"
            kept = self._kept(item, child, where) if keep_unknown and child is not None else self.value(item, child, where)
            if kept is not item:
                if result is value:
                    result = list(value)
                result[index] = kept
        return result

    def _kept(self, item: Json, node: Structural, path: str) -> Json:
        """An item of a list that preserves unknown fields: it does so too, though its own node may not say so."""
        if type(item) is dict:
            return self.fields(item, node, path, is_resource=node.embedded_resource, keep_unknown=True)
        if node.items is None:
            return item
        return [self._kept(inner, node.items, f"{path}[{i}]") if type(inner) in _CONTAINERS else inner for i, inner in enumerate(item)]


_CONTAINERS = (dict, list)
