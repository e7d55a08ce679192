"""Carrying out a strategic merge patch on an object."""

from __future__ import annotations

import copy
from typing import Any

from setpoint.cluster.server.schema import Json
from setpoint.cluster.server.schema.gotext import plain

from .order import DELETE, DIRECTIVE, arranged, identity, key_of, one_kind, without_repeats
from .problems import (
    LIST,
    PatchCrash,
    PatchFailure,
    UnprocessablePatch,
    bad_element_order,
    bad_primitive_list,
    bad_retain_keys,
    no_merge_key,
    unknown_directive,
    wrong_type,
)
from .types import PatchType

Object = dict[str, Any]

_RETAIN_KEYS = "$retainKeys"
_DELETE_FROM = "$deleteFromPrimitiveList"
_ORDER = "$setElementOrder"
_REPLACE, _MERGE = "replace", "merge"


def strategic_merge(live: Object, patch: Object, type: PatchType) -> tuple[Object, Object]:
    """The live object after the patch, and the patch as it then is: without the directives that were carried out.

    Neither argument is changed, but the results may share parts with `live`. A field that is null is removed; of a field that is new,
    nulls inside are left out, and so is what a directive inside would have deleted. Raises PatchFailure.
    """
    patch = copy.deepcopy(patch)
    return _merge_maps(live, patch, type), patch


def _merge_maps(live: Object, patch: Object, type: PatchType) -> Object:
    if DIRECTIVE in patch:
        return _directed(patch)
    result = dict(live)
    _retain_keys(result, patch)
    _order_lists(result, patch, type)
    for name, value in patch.items():
        field, deleting = _field_to_delete_from(name) or (name, False)
        if value is None:
            result.pop(field, None)
        elif field in result and isinstance(value, dict) and isinstance(result[field], dict):
            found = type.field(field)
            result[field] = value if found.strategy == _REPLACE else _merge_maps(result[field], value, found.type)
        elif field in result and isinstance(value, list) and isinstance(result[field], list):
            found = type.list_field(field)
            if deleting or found.strategy == _MERGE:
                result[field], _ = _merge_lists(result[field], value, found.type, found.merge_key, deleting=deleting)
            else:
                result[field] = value
        elif not deleting:
            _discard_nulls(value)
            _put(result, field, value)
    return result


def _directed(patch: Object) -> Object:
    """What becomes of a map whose patch says so for all of it."""
    match patch[DIRECTIVE]:
        case "replace":
            del patch[DIRECTIVE]
            return patch
        case "delete":
            return {}
        case other:
            raise unknown_directive(other, patch)


def _put(result: Object, field: str, value: Json) -> None:
    """Sets a field to what a patch has for it, without what is under a directive there."""
    kept, value = _without_directives(value)
    if kept:
        result[field] = value
    else:
        result.pop(field, None)


def _without_directives(value: Json) -> tuple[bool, Json]:
    """Whether there is anything left of a value without what is under a directive, and what."""
    if isinstance(value, dict):
        if DIRECTIVE in value:
            return False, None
        for name in list(value):
            kept, value[name] = _without_directives(value[name])
            if not kept:
                del value[name]
    elif isinstance(value, list):
        return True, [item for kept, item in map(_without_directives, value) if kept]
    return True, value


def _discard_nulls(value: Json) -> None:
    if isinstance(value, dict):
        for name in [name for name, item in value.items() if item is None]:
            del value[name]
        for item in value.values():
            _discard_nulls(item)
    elif isinstance(value, list):
        for item in value:
            _discard_nulls(item)


# ---------------------------------------------------------------------------------------------------------- directives


def _retain_keys(result: Object, patch: Object) -> None:
    if _RETAIN_KEYS not in patch:
        return
    listed = patch.pop(_RETAIN_KEYS)
    if not isinstance(listed, list):
        raise bad_retain_keys()
    kept = {identity(name): None for name in listed}
    for name, value in patch.items():
        if value is not None and not name.startswith((_DELETE_FROM, _ORDER)) and identity(name) not in kept:
            raise bad_retain_keys()
    for name in [name for name in result if identity(name) not in kept]:
        del result[name]


def _field_to_delete_from(name: str) -> tuple[str, bool] | None:
    if not name.startswith(_DELETE_FROM):
        return None
    prefix, slash, field = name.partition("/")
    if not slash or prefix != _DELETE_FROM:
        raise bad_primitive_list()
    return field or name, True


def _order_lists(result: Object, patch: Object, type: PatchType) -> None:
    """Merges the lists that the patch gives an order for; they are then done with."""
    for directive in [name for name in patch if name.startswith(_ORDER)]:
        wanted = patch.pop(directive)
        if not isinstance(wanted, list):
            raise wrong_type(LIST, wanted)
        prefix, slash, name = directive.partition("/")
        if not slash or prefix != _ORDER:
            raise bad_element_order()
        live, given = result.get(name, []), patch.get(name, [])
        for value in (live, given):
            if not isinstance(value, list):
                raise wrong_type(LIST, value)
        found = type.list_field(name)
        _check_order(given, wanted, found.merge_key)
        if name in result and name in patch:
            if found.strategy == _MERGE:
                merged, live = _merge_lists(live, given, found.type, found.merge_key)
            else:
                merged = given
        elif name in result or name in patch:
            merged = live if name in result else _without_directives(given)[1]
        else:
            continue
        if not (live or given):
            raise PatchFailure("no elements in any of the given slices")
        # The items are of one type, or merging would have failed already, unless there was nothing to merge.
        _element_type(live, given)
        result[name] = arranged(merged, wanted, live, found.merge_key)
        patch.pop(name, None)


def _check_order(given: list[Json], wanted: list[Json], merge_key: str) -> None:
    """The items of a patch must be in the order that the patch asks for."""
    if not given or not wanted:
        return
    items = given
    if merge_key:
        for item in given:
            if not isinstance(item, dict):
                raise wrong_type("map[string]interface {}", item)
        items = [item for item in given if item.get(DIRECTIVE) != DELETE]
    at = 0
    for place, name in enumerate(wanted):
        while at < len(items) and isinstance(items[at], dict) and DIRECTIVE in items[at]:
            at += 1
        if at == len(items):
            return
        item = items[at]
        same = identity(key_of(item, merge_key)) == identity(key_of(name, merge_key)) if merge_key else identity(item) == identity(name)
        at += same
        if at < len(items) and place == len(wanted) - 1:
            raise PatchFailure(f"The order in patch list:\n{plain(given)}\n doesn't match {_ORDER} list:\n{plain(wanted)}\n")


# --------------------------------------------------------------------------------------------------------------- lists


def _merge_lists(
    live: list[Json], patch: list[Json], type: PatchType, merge_key: str, *, deleting: bool = False
) -> tuple[list[Json], list[Json]]:
    """The merged list, and the live list as the order of items is read from it: without those that were deleted, and with new ones in
    their places."""
    if not live and not patch:
        return live, live
    if _element_type(live, patch) is not dict:
        if deleting:
            gone = {identity(item): None for item in patch}
            return [item for item in live if identity(item) not in gone], live
        return arranged(without_repeats(live + patch), patch, live, merge_key), live
    if not merge_key:
        raise PatchFailure(f"cannot merge lists without merge key for {type.kind}")
    kept, items = _deletions(live, patch, merge_key)
    merged = list(kept)
    for item in items:
        name = identity(key_of(item, merge_key))
        at = next((at for at, other in enumerate(merged) if merge_key in other and identity(other[merge_key]) == name), None)
        if at is None:
            merged.append(item)
        else:
            merged[at] = _merge_maps(merged[at], item, type)
    return arranged(merged, items, kept, merge_key), merged[: len(live)]


def _element_type(live: list[Json], patch: list[Json]) -> type:
    """The one type that all items have."""
    first = (live or patch)[0]
    if first is None:
        raise PatchCrash("runtime error: invalid memory address or nil pointer dereference")
    if isinstance(first, list):
        raise UnprocessablePatch("lists of lists are not supported")
    if not one_kind(live, patch):
        raise PatchFailure(f"list element types are not identical: {plain([live, patch])}")
    return type(first)


def _deletions(live: list[Json], patch: list[Json], merge_key: str) -> tuple[list[Json], list[Json]]:
    """The live list without what the patch deletes, and the patch without its directives.

    If the patch replaces the list, its items are all that is left, and there is nothing more to merge.
    """
    items: list[Json] = []
    replace = False
    for item in patch:
        if DIRECTIVE not in item:
            items.append(item)
            continue
        match item[DIRECTIVE]:
            case "delete":
                if merge_key not in item:
                    raise no_merge_key(item, merge_key)
                gone = identity(item[merge_key])
                live = [other for other in live if merge_key not in other or identity(other[merge_key]) != gone]
            case "replace":
                replace = True
            case "merge":
                raise PatchFailure("merging lists cannot yet be specified in the patch")
            case other:
                raise unknown_directive(other, item)
    return (items, []) if replace else (live, items)
