"""What is suggested, by the signature of a finding: a run made by hand for each, and what must be said of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from setpoint.levelcheck.finding import Finding, Refutation
from setpoint.levelcheck.outcome import Broken
from setpoint.levelcheck.plan import Decision, Plan, Site
from setpoint.levelcheck.recording import Key
from setpoint.levelcheck.report.suggestion import RULES, suggestion

from .stories import Story, duplicated, resized, stamped

APP = Key("apps.example.com", "default", "shop")
RUN = "app default/shop"
CHILD = Key("deployments.apps", "default", "shop")
OTHER = Key("services", "default", "shop")
OWNED = {"ownerReferences": [{"kind": "App", "name": "shop", "uid": "u1"}]}

Tells = Callable[[Story], None]


def app(**status: Any) -> dict[str, Any]:
    return {"kind": "App", "spec": {"replicas": 1}, **({"status": status} if status else {})}


def child(**spec: Any) -> dict[str, Any]:
    return {"kind": "Deployment", "metadata": OWNED, "spec": spec}


def broken(
    finding: Finding, tells: Tells, *decisions: Decision, variant: str = "", why: tuple[str, ...] = (), reference: Tells | None = None
) -> Broken:
    """A run that begins with an App, and goes on as told; and the reference, in which nothing more happens unless it is told."""
    plan = Plan(decisions, variant)
    runs = []
    for told in (True, False):
        story = Story()
        story.user("apply App default/shop", APP, app())
        if told:
            tells(story)
        elif reference is not None:
            reference(story)
        runs.append(story.done(plan if told else Plan()))
    return Broken(refutation=Refutation(plan, finding), recording=runs[0], reference=runs[1], token="", why=why)


def at_write(fault: str, how: str = "", key: Key = CHILD) -> Decision:
    return Decision(fault, Site("write", RUN, f"apply {key}"), how)


def hidden(key: Key, fault: str = "F8", how: str = "overwritten") -> Decision:
    return Decision(fault, Site("event", "", str(key)), how)


def writes(*steps: tuple[str, Key, dict[str, Any] | None]) -> Tells:
    """One run that reads the app, and writes these."""

    def tell(story: Story) -> None:
        story.begin(RUN)
        story.read(APP, "app.py:10")
        for verb, key, state in steps:
            story.read(key, "app.py:12")
            story.write(verb, key, state, "app.py:14")
        story.end()

    return tell


def crashes(*steps: tuple[str, Key, dict[str, Any] | None]) -> Tells:
    """The same, and then the process dies, and the next finds nothing to do."""

    def tell(story: Story) -> None:
        writes(*steps)(story)
        story.crash()
        story.restart()
        writes()(story)

    return tell


def status_crash(story: Story) -> None:
    story.begin(RUN)
    story.read(APP, "app.py:10")
    story.write("patch", APP, app(phase="Upgrading"), "app.py:13", subresource="status")
    story.crash()
    story.restart()
    writes()(story)


def old_counts(story: Story) -> None:
    story.change("environment", CHILD, {**child(replicas=2), "metadata": {"generation": 3}, "status": {"observedGeneration": 2}})
    story.fault(hidden(CHILD, "F5", "run"))
    writes(("apply", OTHER, {"kind": "Service", "spec": {"a": 1}}))(story)
    story.begin(RUN)
    story.read(CHILD, "app.py:10")
    story.write("apply", OTHER, {"kind": "Service", "spec": {"a": 2}}, "app.py:14")


def only_metadata(story: Story) -> None:
    story.begin(RUN)
    story.read(APP, "app.py:10")
    story.write("patch", APP, {**app(), "metadata": {"finalizers": ["example.com/mine"]}}, "app.py:11")
    story.end()


def calls(story: Story) -> None:
    story.begin(RUN)
    story.call("Cloud.create", "bucket", "id-1")


def fails(story: Story) -> None:
    story.begin(RUN)
    story.end("error", "KeyError: 'a'")


def defaulted(story: Story) -> None:
    for number in range(4):
        writes(("update", CHILD, child(policy="Always" if number % 2 else None)))(story)


CHILD_FOUND = {"resource": CHILD.resource, "role": CHILD.name}
OTHER_FOUND = {"resource": OTHER.resource, "role": OTHER.name}

CASES: list[tuple[str, Broken, str]] = [
    ("the guard is changed in the same pass", resized(), "Compare what is wanted with the *last* thing to change"),
    (
        "only in the branch of what was just created",
        broken(Finding("O1", "x", **OTHER_FOUND), crashes(("apply", CHILD, child())), at_write("F1", "after")),
        "Check each child on its own, and do not infer one from another",
    ),
    (
        "own status decides",
        broken(Finding("O2", "x", **CHILD_FOUND), status_crash, at_write("F1", "after", APP)),
        "Derive the phase from the children",
    ),
    ("a generated name twice", duplicated(), "Give it a name that follows from the owner"),
    (
        "a name that is drawn",
        broken(
            Finding("O1", "x", expected="0", found="1", **CHILD_FOUND),
            writes(("apply", Key(CHILD.resource, "default", "shop-79783"), child())),
            reference=writes(("apply", Key(CHILD.resource, "default", "shop-291326"), child())),
        ),
        "drawn by chance",
    ),
    (
        "deleted by name after a recreation",
        broken(
            Finding("O6", "x", verb="delete", **CHILD_FOUND),
            writes(("apply", CHILD, child()), ("delete", CHILD, None)),
            variant="recreate:0",
        ),
        "Have the owner's UID in the selector",
    ),
    (
        "deleted by an old list",
        broken(Finding("O6", "x", verb="delete", **CHILD_FOUND), writes(("apply", CHILD, child())), at_write("F6", "after")),
        "send the UID (and resourceVersion) as a precondition",
    ),
    (
        "a value comes back",
        broken(
            Finding("O5", "x", **CHILD_FOUND),
            writes(("apply", CHILD, child(min=1)), ("apply", CHILD, child(min=2))),
            at_write("F6", "after"),
        ),
        "refuse to go back behind it",
    ),
    (
        "a passing mark is unseen",
        broken(Finding("O8", "x", **OTHER_FOUND), writes(("apply", CHILD, child())), hidden(CHILD)),
        "Have a finalizer of your own on that object",
    ),
    (
        "old against new spec",
        broken(Finding("O12", "x", field=".spec.replicas", verdict="PATH-DEPENDENT", **CHILD_FOUND), writes(), hidden(APP)),
        'Waiver(oracle="O12", resource="deployments.apps", field=".spec.replicas", reason=...)',
    ),
    (
        "left over outside",
        broken(Finding("O8", "bucket shop is left"), calls, Decision("F13", Site("step", "user", "delete App default/shop"), "rest")),
        "Add a finalizer before the first call outside",
    ),
    (
        "a call outside that was not written down",
        broken(Finding("O8", "bucket shop is left"), calls, Decision("F1", Site("effect", "", "Cloud.create(bucket)"), "after")),
        "idempotency key",
    ),
    (
        "memory is lost",
        broken(
            Finding("O1", "x", **CHILD_FOUND),
            writes(),
            Decision("F12", Site("timer", "app", "default/shop")),
            why=("memory of app.SEEN is needed",),
        ),
        "(memory of app.SEEN is needed). Keep nothing between runs in modules, classes, instances or tasks",
    ),
    (
        "somebody else's finalizer",
        broken(Finding("O7", "x", field=".metadata.finalizers", **CHILD_FOUND), writes(), hidden(APP, "F5", "run")),
        "A merge patch replaces the whole list of finalizers",
    ),
    ("only a time differs", stamped(), "Nothing but .status.checkedAt differs"),
    ("defaults always differ", broken(Finding("O4", "x", **CHILD_FOUND), defaulted), "Compare only the fields that you set"),
    ("it waits for what it filters out", broken(Finding("O2", "x"), only_metadata), "go on in the same pass"),
    (
        "counts of an older generation",
        broken(Finding("O7", "x", **OTHER_FOUND), old_counts, hidden(CHILD, "F5", "run")),
        "status.observedGeneration >= metadata.generation",
    ),
    ("not watched", broken(Finding("O15", "x", resource="secrets"), writes()), "Watch secrets"),
    ("a lost reply", broken(Finding("O2", "x", **CHILD_FOUND), writes(), at_write("F3")), "take AlreadyExists of your own object"),
    (
        "a swallowed error",
        broken(Finding("O1", "x", **CHILD_FOUND), writes(), at_write("F2", "500")),
        "Let the exception out of the reconciler",
    ),
    ("drift is not mended", broken(Finding("O1", "x", **CHILD_FOUND), writes(), at_write("F19", "delete")), "Own or watch the kind"),
    ("late sight", broken(Finding("O7", "x", **CHILD_FOUND), writes(), hidden(CHILD, "F7", "other")), "A read was older than a write"),
    (
        "two clocks",
        broken(Finding("O1", "x", **CHILD_FOUND), writes(), Decision("F17", Site("start"), seconds=60.0)),
        "Compare stamps of one clock only",
    ),
    (
        "order of lists",
        broken(Finding("O1", "x", **CHILD_FOUND), writes(), Decision("F22", Site("start"), "reversed")),
        "sort by name or by age",
    ),
    ("it fails for ever", broken(Finding("O2", "x"), fails), "Every run fails with KeyError: 'a'"),
    (
        "what is no longer wanted stays",
        broken(Finding("O12", "x", field=".metadata.annotations.a", found="1", **CHILD_FOUND), writes()),
        "What is no longer wanted stays",
    ),
    ("path dependence in general", broken(Finding("O13", "x", expected="1", found="2", **CHILD_FOUND), writes()), "The end depends on"),
]


@pytest.mark.parametrize(("found", "said"), [pytest.param(each, said, id=name) for name, each, said in CASES])
def test_a_signature_has_its_suggestion(found: Broken, said: str) -> None:
    assert said in suggestion(found)


def test_no_rule_is_without_a_case() -> None:
    """But those that only come after more special ones."""
    used = {next(rule.__name__ for rule in RULES if rule(_evidence(found))) for _, found, _ in CASES}
    assert {rule.__name__ for rule in RULES} - used <= {"_spread"}


def test_where_nothing_fits_nothing_is_said() -> None:
    assert suggestion(broken(Finding("O14", "x"), writes())) == ""


def _evidence(found: Broken) -> Any:
    from setpoint.levelcheck.report.evidence import Evidence

    return Evidence(found)
