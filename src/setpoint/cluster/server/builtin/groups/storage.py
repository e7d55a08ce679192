"""StorageClasses: defaults, what must hold of one, and that it does not change.

https://kubernetes.io/docs/concepts/storage/storage-classes/
"""

from __future__ import annotations

from collections.abc import Iterator

from setpoint.cluster.server import names
from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object
from setpoint.cluster.server.builtin.equality import same
from setpoint.cluster.server.builtin.immutable import changed
from setpoint.cluster.server.schema.causes import FieldError, duplicate, invalid, not_supported, required, too_long

_RECLAIM = ("Delete", "Retain")
_BINDING = ("Immediate", "WaitForFirstConsumer")
_MOST_PARAMETERS, _MOST_BYTES = 512, 256 * 1024


def default(obj: Json) -> None:
    """A class with its defaults."""
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def validate(new: Object, old: Object | None) -> Iterator[FieldError]:
    """What is wrong with a class, or with its change."""
    provisioner = new.get("provisioner", "")
    if provisioner:
        yield from (invalid("provisioner", provisioner.lower(), problem) for problem in names.label_key(provisioner.lower()))
    yield from _parameters(new.get("parameters") or {})
    for field, values in (("reclaimPolicy", _RECLAIM), ("volumeBindingMode", _BINDING)):
        if new.get(field) not in (*values, "") or (field == "volumeBindingMode" and not new.get(field)):
            yield not_supported(field, new.get(field), values)
    yield from _topologies(new.get("allowedTopologies") or [])
    if not provisioner:
        yield required("provisioner")
    if old is not None:
        for field in ("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"):
            if not same(new.get(field), old.get(field)):
                # The server shows no value here.
                yield changed(field, "null")


def _parameters(parameters: Object) -> Iterator[FieldError]:
    if len(parameters) > _MOST_PARAMETERS:
        yield too_long("parameters", _MOST_PARAMETERS)
        return
    yield from (invalid("parameters", key, "field can not be empty.") for key in parameters if not key)
    if sum(len(key.encode()) + len(value.encode()) for key, value in parameters.items()) > _MOST_BYTES:
        yield too_long("parameters", _MOST_BYTES)


def _topologies(topologies: list[Object]) -> Iterator[FieldError]:
    before: list[Json] = []
    for index, topology in enumerate(topologies):
        at, found = f"allowedTopologies[{index}].matchLabelExpressions", {}
        for number, requirement in enumerate(topology.get("matchLabelExpressions") or []):
            here, key, values = f"{at}[{number}]", requirement.get("key", ""), requirement.get("values") or []
            if not values:
                yield required(f"{here}.values")
            yield from (duplicate(f"{here}.values[{place}]", value) for place, value in enumerate(values) if value in values[:place])
            yield from (invalid(f"{here}.key", key, problem) for problem in names.label_key(key))
            if key in found:
                yield duplicate(f"{here}.key", key)
            found[key] = dict.fromkeys(values)
        if found in before:
            yield duplicate(at, "")
        before.append(found)


BEHAVIOURS = {"StorageClass": Behaviour(support="full", defaults=default, validate=validate, returns_deleted=True)}
