"""Variants of a workload: other ways to the same end. Each has a name, by which a plan asks for it.

==================  =================================================================  ===========================
name                what the user does                                                 is compared with
==================  =================================================================  ===========================
``direct``          the last manifests alone, on a fresh cluster                       the workload (O12)
``hasty``           the same steps without waiting                                     the workload
``back:N:FIELD``    after all, changes a field of object N, waits, and takes it back   the workload (O12)
``recreate:N``      after all, deletes object N and makes it anew at once              the workload
``deleted:N``       after all, deletes object N                                        nothing; for leaks
``undone:N``        makes object N, and deletes it at once                             ``made:N``
``made:N``          makes object N, waits, and deletes it                              nothing; for leaks
``cut:N``           makes object N, and no more; a fault deletes it                    ``made:N``
``edited:N:FIELD``  after all, changes a field of object N                             nothing; for leaks
``edit:N:FIELD``    the same steps; a fault changes the field                          ``edited:N:FIELD``
``keep:0,2``        only these steps                                                   the same without faults
==================  =================================================================  ===========================

Objects are counted in the order in which the user first applies them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from setpoint.levelcheck.workload import Apply, Delete, Patch, Recreate, Ref, Step, Wait, Workload


def variant(workload: Workload, name: str) -> Workload:
    """The workload of that name; the workload itself for an empty one. Raises `ValueError` for a name that is none."""
    sort, _, rest = name.partition(":")
    steps, objects = workload.steps, applied(workload)
    match sort:
        case "":
            return workload
        case "direct":
            return Workload((*_manifests(workload), Wait()))
        case "hasty":
            return Workload((*(step for step in steps if not isinstance(step, Wait)), Wait()))
        case "keep":
            chosen = {int(number) for number in rest.split(",") if number}
            return Workload(tuple(step for at, step in enumerate(steps) if at in chosen))
        case "back":
            number, _, field = rest.partition(":")
            ref, manifest = objects[int(number)]
            return Workload((*steps, Wait(), *_there_and_back(ref, manifest, field), Wait()))
        case "recreate":
            ref, manifest = objects[int(rest)]
            return Workload((*steps, Wait(), Recreate(ref, msgspec.json.encode(manifest)), Wait()))
        case "deleted":
            return Workload((*steps, Wait(), Delete(objects[int(rest)][0]), Wait()))
        case "edit":
            return workload
        case "edited":
            number, _, field = rest.partition(":")
            ref, manifest = objects[int(number)]
            return Workload((*steps, Wait(), Patch(ref, msgspec.json.encode({"spec": {field: other(manifest["spec"][field])}})), Wait()))
        case "cut":
            first = _first(workload, objects[int(rest)][0])
            return Workload((*steps[: first + 1], Wait()))
        case "made" | "undone":
            ref, _ = objects[int(rest)]
            first = _first(workload, ref)
            waits: tuple[Step, ...] = (Wait(),) if sort == "made" else ()
            return Workload((*steps[: first + 1], *waits, Delete(ref), Wait()))
    raise ValueError(f"there is no workload {name!r}")


def applied(workload: Workload) -> list[tuple[Ref, dict[str, Any]]]:
    """The objects that the user ever applies, with their last manifests, as far as patches let it be told."""
    found: dict[Ref, dict[str, Any]] = {}
    for step in workload.steps:
        match step:
            case Apply() | Recreate():
                found[step.ref] = msgspec.json.decode(step.manifest)
            case Patch(ref, patch, "") if ref in found:
                found[ref] = _merged(found[ref], msgspec.json.decode(patch))
    return list(found.items())


def remains(workload: Workload, ref: Ref) -> bool:
    """Whether the user leaves an object there at the end."""
    last = [step for step in workload.steps if isinstance(step, Apply | Recreate | Delete) and step.ref == ref]
    return bool(last) and not isinstance(last[-1], Delete)


def names(workload: Workload, *, kinds: frozenset[str]) -> Iterator[str]:
    """The variants that a workload has. Those of single objects are of the kinds that controllers reconcile."""
    objects = applied(workload)
    if len([step for step in workload.steps if not isinstance(step, Wait)]) > 1:
        yield "hasty"
    if any(remains(workload, ref) for ref, _ in objects):
        yield "direct"
    for number, ref, manifest in of_each_kind(workload, kinds):
        if remains(workload, ref):
            for field in fields(manifest):
                yield f"back:{number}:{field}"
            yield f"recreate:{number}"
            yield f"deleted:{number}"
        yield f"made:{number}"
        yield f"undone:{number}"


def of_each_kind(workload: Workload, kinds: frozenset[str]) -> Iterator[tuple[int, Ref, dict[str, Any]]]:
    """The first object of each of these kinds, with its number: what is tried with it stands for the others of its kind. One that the user
    has deleted by the end comes after those that are left.
    """
    seen: set[str] = set()
    numbered = enumerate(applied(workload))
    for number, (ref, manifest) in sorted(numbered, key=lambda each: not remains(workload, each[1][0])):
        if ref.kind in kinds and ref.kind not in seen:
            seen.add(ref.kind)
            yield number, ref, manifest


def against(name: str) -> str:
    """The variant that one is compared with; empty for the workload itself."""
    sort, _, rest = name.partition(":")
    if sort in ("undone", "cut"):
        return f"made:{rest}"
    if sort == "edit":
        return f"edited:{rest}"
    return name if sort in ("deleted", "made", "edited") else ""


def _first(workload: Workload, ref: Ref) -> int:
    return next(at for at, step in enumerate(workload.steps) if isinstance(step, Apply | Recreate) and step.ref == ref)


def _manifests(workload: Workload) -> tuple[Step, ...]:
    """The last manifests, and what was written to subresources."""
    patches = [step for step in workload.steps if isinstance(step, Patch) and step.subresource]
    return (*(Apply(msgspec.json.encode(manifest)) for ref, manifest in applied(workload) if remains(workload, ref)), *patches)


def fields(manifest: Mapping[str, Any]) -> list[str]:
    """The fields of a spec of which another value is easily made."""
    spec = manifest.get("spec")
    if not isinstance(spec, dict):
        return []
    return [name for name, value in spec.items() if isinstance(value, int | str) and other(value) != value]


def _there_and_back(ref: Ref, manifest: Mapping[str, Any], field: str) -> tuple[Step, ...]:
    there = {**manifest, "spec": {**manifest["spec"], field: other(manifest["spec"][field])}}
    return Apply(msgspec.json.encode(there)), Wait(), Apply(msgspec.json.encode(manifest))


def other(value: Any) -> Any:
    """Another value of the same sort."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return f"{value}-2" if value else "other"


def _merged(target: Any, patch: Any) -> Any:
    """https://www.rfc-editor.org/rfc/rfc7386"""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = _merged(merged.get(name), value)
    return merged
