"""What is special about a built-in kind beyond its schema: a `Behaviour` for each, kept in ``groups``, a file per API group (or idea).

Everything in a behaviour is a function of the object alone; what depends on other objects is in `served`. Objects have been read
(`malformed` finds nothing in them), have lost their nulls and stand as Go would write them; from validation on they have their defaults. A
function that changes an object may replace what is at the top levels (``obj``, ``obj["metadata"]``, ``obj["spec"]``, ``obj["status"]``),
never something deeper in place, unless it is said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from setpoint.api import StatusCause
from setpoint.cluster.server import names
from setpoint.cluster.server.builtin.equality import same

Json: TypeAlias = dict[str, Any]
Object: TypeAlias = Mapping[str, Any]

Support: TypeAlias = Literal["full", "common", "schema"]
"""How near a kind is to the real server: `full` has its defaults and all of its validation, `common` its defaults and the validation of
value, `schema` only what OpenAPI tells; who writes one of those is warned."""


def _nothing(obj: Json) -> None:
    pass


def _keeps(new: Json, old: Object, subresource: str) -> None:
    pass


def _valid(new: Object, old: Object | None) -> Iterable[StatusCause]:
    return ()


def _quiet(new: Object, old: Object | None) -> Iterable[str]:
    return ()


def _settled(new: Json, old: Object | None, now: str) -> None:
    pass


def spec_changed(new: Object, old: Object) -> bool:
    """Whether what is wanted has changed."""
    return not same(new.get("spec"), old.get("spec"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Behaviour:
    """One kind. What is not said is as for a kind of which only the schema is known."""

    support: Support = "schema"
    defaults: Callable[[Json], None] = _nothing
    """Fills in what the server fills in, at any depth: the object is the function's own. A second time changes nothing."""
    prepare_create: Callable[[Json], None] = _nothing
    """Before the validation of a new object that has its name: its first status, what the cluster gives it. Where status is a subresource,
    it stands as Go writes an empty one (but for `keeps_first_status`)."""
    keeps_first_status: bool = False
    """Whether a new object may come with a status, though that is a subresource."""
    fills_status: bool = False
    """Whether a new object is stored without the defaults of its status, which it is shown with: then its next write is always a change."""
    prepare_update: Callable[[Json, Object, str], None] = _keeps
    """`(new, old, subresource)`, before the validation of a changed object: takes over from `old` what this request may not touch. Spec and
    status have been seen to where `status` is a subresource."""
    validate: Callable[[Object, Object | None], Iterable[StatusCause]] = _valid
    """`(new, old)`: what is wrong with the object, or with its change where `old` is not None, in kube-apiserver's words and order.
    Metadata has been looked at."""
    validate_status: Callable[[Object, Object], Iterable[StatusCause]] | None = None
    """The same for a write of the status; None where `validate` judges that as well."""
    settle: Callable[[Json, Object | None, str], None] = _settled
    """`(new, old, now)`, after the validation of a new or changed object: what depends on the time."""
    generation: bool = False
    """Whether ``metadata.generation`` counts changes of what is wanted (`counts`)."""
    counts: Callable[[Object, Object], bool] = spec_changed
    create_on_update: bool = False
    """Whether an update of an absent object creates it."""
    returns_deleted: bool = False
    """Whether a delete answers with the object instead of a Status."""
    unconditional_update: bool = True
    """Whether an update may leave out the resourceVersion."""
    status_keeps: tuple[str, ...] | None = ()
    """What of the metadata a write of the status leaves as it is; None for all of it."""
    any_finalizer: bool = False
    """Whether finalizers need no domain."""
    name_rule: names.NameRule = names.dns_subdomain
    selectable: tuple[str, ...] = ()
    """Field paths by which lists can be selected, beyond metadata.name and metadata.namespace."""
    no_field: str = "field label not supported: {}"
    """What is said, where there are such paths, of any other."""
    warns: Callable[[Object, Object | None], Iterable[str]] = _quiet
    """`(new, old)`: the warnings that who writes this valid object gets."""
    field_annotation: str = ""
    """An annotation that stands for a field of the Go struct: it is shown with the whole object, but not where metadata alone are shown."""
    zero_replicas: bool = False
    """Whether an object with nothing in it wants 0 replicas, instead of not saying how many: Go holds a plain number."""
    deprecation: str = ""
    """The warning that every request for this kind gets."""
