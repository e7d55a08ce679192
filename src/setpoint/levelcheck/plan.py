"""Plans: what is to go wrong in a run, and where.

A place is named by what it means (the second write of this object by that run), and never by a step's number: so a plan still fits after
the code has changed a little, and after other decisions of the plan have been dropped.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Where: TypeAlias = Literal["write", "effect", "event", "run", "timer", "step", "rest", "start"]
"""A write, or a call to the outside, by the controller; a change of an object as the controller's watch will bring it; the beginning of a
run; a timer that is set; a step of the user; the cluster at rest; the beginning of everything."""


class Site(msgspec.Struct, frozen=True, order=True):
    """A place in a run. `who` is the run (`webapp default/shop`) or empty, `what` is done there, `nth` counts equal ones from 1 on.

    ============  ===========================  =========================================================
    `where`       `who`                        `what`
    ============  ===========================  =========================================================
    write         the run                      `apply deployments.apps default/shop` (with the subresource)
    effect        the run                      the call's name: `Cloud.ensure`
    event         empty                        `deployments.apps default/shop`; nth change of it in the server's history
    run           controller                   `default/shop`
    timer         controller                   `default/shop`
    step          `user`                       the step in words
    rest          empty                        empty; the last rest is the end of the run
    start         empty                        empty
    ============  ===========================  =========================================================
    """

    where: Where
    who: str = ""
    what: str = ""
    nth: int = 1

    def __str__(self) -> str:
        return f"{self.where}:{self.who}:{self.what}#{self.nth}"


class Decision(msgspec.Struct, frozen=True, order=True):
    """One thing that goes wrong. `fault` is its class, `how` its variant, and the rest what that variant needs.

    =====  ===============  ==========================  =============================================================
    fault  `site`           `how`                       further
    =====  ===============  ==========================  =============================================================
    F1     write, effect    `before`, `after`           `seconds` down, then a new process
    F1     write, effect    `down`                      down until the user has done the next step
    F2     write            `500`, `503`, `429`         `times`
    F3     write            ``                          it lands, the reply is lost
    F4     write            ``                          somebody else has changed the object just before
    F5     event            `run`                       the watch is late: until the next run that reads the resource has ended
    F5     event            `rest`                      the watch is late: until nothing else happens
    F6     write, rest...   `after`                     F1 there, and the list of `resource` is that of `revision`s before
    F7     event            `other`                     the watch is late: until another kind's next event
    F8     event            `coalesced`, `overwritten`  the watch is late: until the object's next change; the latter, if the user makes it
    F9     event            `expired`, `resumed`        the watch breaks before it; it is listed anew, or resumed
    F9     event            `silent`                    nothing comes by the watch any more, though it looks open
    F9     event            `short-gap`, `gap`          the watch is cut until the object's next change, as for F8; it is listed anew
    F11    run              `again`                     the key is run once more afterwards
    F11    start            `every`                     every run is
    F12    timer            ``                          the process dies while it waits
    F13    step             `rest`, `soon`              the process is down while the user does it, and comes back at rest, or soon
    F14    step             `recreate-...`              a variant of the workload
    F15    write            ``                          it is under way while another process becomes leader, and lands after that
    F16    start            ``                          the list of `resource` comes empty, and late
    F17    start, timer     `skewed`                    the process's clock is off by `seconds`, from then on
    F18    write            `delete`                    the user deletes the object that the run is for, just before
    F18    step, write      `finalizer`                 somebody has put a finalizer on `object`, just before
    F19    write, rest      `delete`, `spec`            somebody else does that to `object`
    F20    effect           `failed`, `lost`            the call outside fails; it has happened, and looks failed
    F22    start            `reversed`                  lists come in another order
    =====  ===============  ==========================  =============================================================
    """

    fault: str
    site: Site
    how: str = ""
    seconds: float = 0.0
    times: int = 1
    resource: str = ""
    revision: int = 0
    object: str = ""

    def __str__(self) -> str:
        further = [f"{name}={value}" for name, value in self.further().items()]
        return " ".join([self.fault, *([self.how] if self.how else []), "at", str(self.site), *further])

    @property
    def changes_history(self) -> bool:
        """Whether the user goes on before the controller has seen what was done: then another end may depend on the path alone."""
        return (self.fault, self.how) in (("F8", "overwritten"), ("F9", "gap"), ("F1", "down"))

    def further(self) -> dict[str, float | int | str]:
        """What is said beside fault, place and variant."""
        default = {"seconds": 0.0, "times": 1, "resource": "", "revision": 0, "object": ""}
        return {name: getattr(self, name) for name, unsaid in default.items() if getattr(self, name) != unsaid}


class Plan(msgspec.Struct, frozen=True):
    """What goes wrong in one run, in the order in which it does. `variant` names another workload than the user's own.

    `seed` decides how long requests are under way, and so the order in which things happen; 0 is the usual order.
    """

    decisions: tuple[Decision, ...] = ()
    variant: str = ""
    seed: int = 0

    def __str__(self) -> str:
        said = "; ".join(map(str, self.decisions)) or "nothing goes wrong"
        return f"{said}{f' (workload: {self.variant})' if self.variant else ''}{f' (seed {self.seed})' if self.seed else ''}"
