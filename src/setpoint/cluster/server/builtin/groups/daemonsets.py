"""DaemonSets: their defaults, what must hold of one, and what counts as a change.

https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/
"""

from __future__ import annotations

from collections.abc import Iterator

from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object
from setpoint.cluster.server.builtin.counts import all_not_negative, at_most_all, count_or_percent, is_zero, not_decremented
from setpoint.cluster.server.builtin.defaults import default_template
from setpoint.cluster.server.builtin.equality import same
from setpoint.cluster.server.builtin.immutable import unchanged
from setpoint.cluster.server.builtin.label_selectors import selector_problems
from setpoint.cluster.server.builtin.selectors import invalid_selector, readable, selects_everything, shown
from setpoint.cluster.server.builtin.templates import not_taken, runs_for_ever, template_of, template_warnings, validate_template
from setpoint.cluster.server.schema.causes import FieldError, invalid, required
from setpoint.cluster.server.schema.gotext import as_json

_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
_COUNTS = (
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
)


def default(obj: Json) -> None:
    """A DaemonSet with its defaults. On its way through Go structs the template's generation has become an annotation, whoever sends it."""
    if "metadata" in obj:
        _note(obj, _number(obj))
    spec = obj["spec"]
    strategy = spec.setdefault("updateStrategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    elif "rollingUpdate" in strategy:
        for name in ("maxUnavailable", "maxSurge"):
            strategy["rollingUpdate"].setdefault(name, 0)
    spec.setdefault("revisionHistoryLimit", 10)
    default_template(spec.get("template"))


def prepare_create(obj: Json) -> None:
    """The generation of the template, which earlier versions of the API counted, stands in an annotation."""
    _note(obj, max(_number(obj), 1))


def prepare_update(new: Json, old: Object, subresource: str) -> None:
    """That generation goes up with the template, whatever is sent."""
    _note(new, _number(old) + (not same(template_of(new.get("spec") or {}), template_of(old.get("spec") or {}))))


def _note(obj: Json, generation: int) -> None:
    metadata = obj["metadata"]
    metadata["annotations"] = {**(metadata.get("annotations") or {}), _TEMPLATE_GENERATION: str(generation)}


def _number(obj: Object) -> int:
    text = (obj["metadata"].get("annotations") or {}).get(_TEMPLATE_GENERATION, "")
    return int(text) if text.isascii() and text.removeprefix("-").isdigit() else 0


def validate(new: Object, old: Object | None) -> Iterator[FieldError]:
    """What is wrong with a DaemonSet, or with its change."""
    spec = new.get("spec") or {}
    selector, template = spec.get("selector"), template_of(spec)
    if old is not None:
        yield from unchanged(spec, old.get("spec") or {}, ("selector",), shown={"selector": shown})
    yield from selector_problems(selector or {}, "spec.selector")
    if readable(selector):
        yield from not_taken(selector, template, "spec.template")
    if selects_everything(selector):
        yield invalid_selector("spec.selector", selector, "empty selector is invalid for daemonset")
    yield from validate_template(template, "spec.template")
    yield from runs_for_ever(template, "DaemonSet", "spec.template")
    yield from all_not_negative(spec, ("minReadySeconds",), "spec")
    yield from _strategy(spec.get("updateStrategy") or {})
    yield from all_not_negative(spec, ("revisionHistoryLimit",), "spec")


def _strategy(strategy: Object) -> Iterator[FieldError]:
    at, kind, rolling = "spec.updateStrategy", strategy.get("type"), strategy.get("rollingUpdate")
    if kind == "RollingUpdate":
        yield from _rolling(rolling or {}, f"{at}.rollingUpdate")
    elif kind != "OnDelete":
        # Here the server prints its own struct.
        unavailable, surge = (as_json((rolling or {}).get(name, 0)) for name in ("maxUnavailable", "maxSurge"))
        printed = "null" if rolling is None else f'{{"MaxUnavailable":{unavailable},"MaxSurge":{surge}}}'
        message = f'Unsupported value: {{"Type":{as_json(kind)},"RollingUpdate":{printed}}}: supported values: "RollingUpdate", "OnDelete"'
        yield FieldError("FieldValueNotSupported", message, at)


def _rolling(rolling: Object, at: str) -> Iterator[FieldError]:
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    yield from count_or_percent(unavailable, f"{at}.maxUnavailable")
    yield from count_or_percent(surge, f"{at}.maxSurge")
    yield from at_most_all(unavailable, f"{at}.maxUnavailable")
    yield from at_most_all(surge, f"{at}.maxSurge")
    if is_zero(unavailable) and is_zero(surge):
        yield required(f"{at}.maxUnavailable", "cannot be 0 when maxSurge is 0")
    elif not is_zero(unavailable) and not is_zero(surge):
        yield invalid(f"{at}.maxSurge", surge, "may not be set when maxUnavailable is non-zero")


def validate_status(new: Object, old: Object) -> Iterator[FieldError]:
    """What is wrong with a status."""
    yield from all_not_negative(new.get("status") or {}, _COUNTS, "status")
    yield from not_decremented(new.get("status") or {}, old.get("status") or {}, "collisionCount", "status")


BEHAVIOURS = {
    "DaemonSet": Behaviour(
        support="full",
        defaults=default,
        prepare_create=prepare_create,
        prepare_update=prepare_update,
        validate=validate,
        validate_status=validate_status,
        warns=lambda new, old: template_warnings(new, old, named=False),
        generation=True,
        field_annotation=_TEMPLATE_GENERATION,
    ),
}
