"""`Row`: one published bug, or one correct controller, and what the level checker is expected to say of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from setpoint.levelcheck import Assumptions, Invariant, Periodic, Role, Waiver, Workload


@dataclass(frozen=True, kw_only=True)
class Row:
    """A folder of the corpus holds `buggy.py` and `fixed.py` (or, for a guard, `fixed.py` alone), each with a `controller` or an `app`.

    Expected of the buggy one is `verdict`, with a finding whose fault class is one of `faults` ("F0" where none is needed) and whose oracle
    is one of `oracles`, in at most `decisions` decisions. The fixed one is expected HELD, with nothing else changed.
    """

    name: str
    """The row's number in the corpus, such as "A1"; of a guard, what it is."""
    bug: str
    """Where it was published: `kubernetes/kubernetes#78124`."""
    workload: Workload
    faults: tuple[str, ...] = ()
    oracles: tuple[str, ...] = ()
    decisions: int = 1
    edge: bool = False
    """Whether it is a classic edge-triggered mistake."""
    verdict: Literal["REFUTED", "PATH-DEPENDENT"] = "REFUTED"
    assumptions: Assumptions = field(default_factory=Assumptions)
    outside: Mapping[str, Callable[[], object]] = field(default_factory=dict)
    """Fakes of systems outside the cluster, by the keyword by which the app takes them."""
    environment: tuple[str, ...] = ()
    """Other controllers in the cluster, which never fail: targets such as `tests.levelcheck.corpus.rows.e01.other:controller`."""
    invariants: tuple[Invariant, ...] = ()
    roles: Mapping[str, Role] = field(default_factory=dict)
    """By resource ("pods"): which role an object has among its owner's children."""
    waivers: tuple[Waiver, ...] = ()
    periodic: tuple[Periodic, ...] = ()
    leaders: int = 1
    """How many processes run at a time; with two, one leads."""
    depth: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)
