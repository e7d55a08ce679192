"""node.k8s.io: runtime classes. They are kept and judged; there is nothing that runs containers.

https://kubernetes.io/docs/concepts/containers/runtime-class/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from setpoint.cluster.server import names
from setpoint.cluster.server.builtin.behaviour import Behaviour, Object
from setpoint.cluster.server.builtin.label_selectors import label_problems
from setpoint.cluster.server.builtin.resource_names import HUGE_PAGES, container_resource, resource_amount
from setpoint.cluster.server.builtin.tolerations import toleration_problems
from setpoint.cluster.server.schema.causes import FieldError, forbidden, invalid, required
from setpoint.cluster.server.schema.gotext import as_json
from setpoint.objects import Quantity

_HANDLER_LIMIT = 63


def _validate(runtime: Object, old: Object | None) -> Iterator[FieldError]:
    handler, scheduling = runtime.get("handler", ""), runtime.get("scheduling") or {}
    yield from _overhead_problems((runtime.get("overhead") or {}).get("podFixed") or {})
    yield from label_problems(scheduling.get("nodeSelector") or {}, "scheduling.nodeSelector")
    tolerations = scheduling.get("tolerations") or ()
    yield from toleration_problems(tolerations, "scheduling.tolerations")
    yield from _twice(tolerations)
    # The server judges these by another mechanism, after all the others.
    if old is not None and handler != old.get("handler", ""):
        yield invalid("handler", None, "field is immutable")
    if not handler:
        yield required("handler")
    elif len(handler.encode()) > _HANDLER_LIMIT:
        yield invalid("handler", handler, names.too_long(_HANDLER_LIMIT))
    else:
        yield from (invalid("handler", handler, problem) for problem in names.dns_label(handler))


def _overhead_problems(amounts: Mapping[str, str]) -> Iterator[FieldError]:
    for name, amount in amounts.items():
        at = f"overhead.limits[{name}]"
        yield from container_resource(name, at)
        yield from resource_amount(name, amount, at)
        if name.startswith(HUGE_PAGES) and not _whole_pages(name, amount):
            yield invalid(at, amount, f"{amount} is not positive integer multiple of {name}")
    if any(name.startswith(HUGE_PAGES) for name in amounts) and "cpu" not in amounts and "memory" not in amounts:
        yield forbidden("overhead", "HugePages require cpu or memory")


def _whole_pages(name: str, amount: str) -> bool:
    try:
        size = Quantity(name.partition("-")[2]).amount
    except ValueError:
        return False
    return size > 0 and size.denominator == 1 and Quantity(amount).amount % size == 0


def _twice(tolerations: Iterable[Mapping[str, object]]) -> Iterator[FieldError]:
    seen: dict[tuple[object, ...], None] = {}
    for index, toleration in enumerate(tolerations):
        key = tuple(toleration.get(name, "") for name in ("key", "operator", "value", "effect"))
        if key in seen:
            fields = dict(zip(("Key", "Operator", "Value", "Effect"), key, strict=True))
            # Here the server prints its own struct, in its own order.
            shown = ",".join(f'"{name}":{as_json(value)}' for name, value in fields.items())
            seconds = as_json(toleration.get("tolerationSeconds"))
            text = f'Duplicate value: {{{shown},"TolerationSeconds":{seconds}}}'
            yield FieldError("FieldValueDuplicate", text, f"scheduling.tolerations[{index}]")
        seen[key] = None


BEHAVIOURS = {
    "RuntimeClass": Behaviour(support="full", validate=_validate, create_on_update=True, unconditional_update=False, any_finalizer=True),
}
