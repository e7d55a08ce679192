"""Runs made by hand, for tests of how they are told: the classic bugs, moment by moment, as a recording would have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from setpoint.levelcheck.assumptions import Assumptions
from setpoint.levelcheck.case import Case
from setpoint.levelcheck.finding import Finding, Refutation
from setpoint.levelcheck.outcome import Broken, Covered, Report
from setpoint.levelcheck.plan import Decision, Plan, Site
from setpoint.levelcheck.recording import (
    AnyMoment,
    Called,
    Changed,
    Delivered,
    Died,
    Faulted,
    Key,
    Read,
    Recording,
    Rested,
    RunBegan,
    RunEnded,
    Started,
    Stepped,
    Wrote,
)
from setpoint.levelcheck.report import token
from setpoint.levelcheck.workload import Workload, apply, wait


class Story:
    """Moments in order, a tenth of a second apart. The user's first step is at second 2."""

    def __init__(self) -> None:
        self.moments: list[AnyMoment] = []
        self.objects: dict[Key, dict[str, Any]] = {}
        self.revision = 10
        self.at = 1.0
        self.process = "p1"
        self.run = ""
        self.steps = 0
        self._nth: dict[str, int] = {}
        self.say(Started(at=self.at, process="p1"))
        self.at = 1.9

    def say(self, moment: AnyMoment) -> None:
        self.moments.append(moment)

    def tick(self, by: float = 0.1) -> float:
        self.at = round(self.at + by, 3)
        return self.at

    def change(self, process: str, key: Key, state: dict[str, Any] | None) -> int:
        """An object is created, changed, or (by None) deleted."""
        self.revision += 1
        before = self.objects.get(key)
        after = before if state is None else {"metadata": {"name": key.name}, **state}
        assert after is not None
        metadata = {**after.get("metadata", {}), "name": key.name, "namespace": key.namespace, "resourceVersion": str(self.revision)}
        after = {**after, "metadata": metadata}
        if state is None:
            self.objects.pop(key)
        else:
            self.objects[key] = after
        encoded = None if before is None else msgspec.json.encode(before)
        changed = Changed(
            at=self.at,
            process=process,
            revision=self.revision,
            key=key,
            before=encoded,
            after=msgspec.json.encode(after),
            deleted=state is None,
        )
        self.say(changed)
        return self.revision

    def user(self, step: str, key: Key | None = None, state: dict[str, Any] | None = None, error: str = "") -> None:
        self.tick()
        if key is not None:
            self.change("user", key, state)
        self.say(Stepped(at=self.at, process="user", index=self.steps, step=step, error=error))
        self.steps += 1

    def begin(self, run: str) -> None:
        self.tick()
        self.run = run
        self.say(RunBegan(at=self.at, process=self.process, site=Site("run", "", run.partition(" ")[2]), run=run))

    def end(self, result: str = "success", error: str = "") -> None:
        self.say(RunEnded(at=self.at, process=self.process, run=self.run, result=result, error=error))

    def read(self, key: Key, line: str = "", behind: int = 0) -> None:
        at = self.tick(0.001)
        self.say(
            Read(
                at=at,
                process=self.process,
                run=self.run,
                resource=key.resource,
                namespace=key.namespace,
                name=key.name,
                seen=self.revision - behind,
                true=self.revision,
                line=line,
            )
        )

    def write(self, verb: str, key: Key, state: dict[str, Any] | None, line: str = "", *, subresource: str = "", fault: str = "") -> None:
        """A write; a state that is as it was is without effect."""
        self.tick(0.001)
        was = {name: value for name, value in self.objects.get(key, {}).items() if name != "metadata"}
        metadata_only = state is not None and state.get("metadata") != self.objects.get(key, {}).get("metadata")
        effective = (
            state is None or was != {n: v for n, v in state.items() if n != "metadata"} or bool(metadata_only and "metadata" in state)
        )
        revision = self.change(self.process, key, state) if effective else 0
        what = f"{verb} {key}"
        self._nth[what] = self._nth.get(what, 0) + 1
        self.say(
            Wrote(
                at=self.at,
                process=self.process,
                site=Site("write", self.run, what, self._nth[what]),
                verb=verb,
                key=key,
                subresource=subresource,
                code=0 if fault else 200,
                revision=revision,
                effective=effective,
                line=line,
                fault=fault,
            )
        )

    def call(self, call: str, arguments: str, result: str = "", error: str = "") -> None:
        self.tick()
        site = Site("effect", self.run, call)
        self.say(Called(at=self.at, process=self.process, site=site, call=call, arguments=arguments, result=result, error=error))

    def fault(self, decision: Decision) -> None:
        """Told as runs do: where it is decided, which is before the write that it may strike after."""
        self.say(Faulted(at=self.at, process=self.process, fault=decision.fault, text=str(decision)))

    def deliver(self, key: Key, type: str = "MODIFIED") -> None:
        self.say(Delivered(at=self.at, process=self.process, key=key, type=type, revision=self.revision))

    def crash(self) -> None:
        self.say(Died(at=self.at, process=self.process))

    def restart(self, after: float = 5.0) -> None:
        self.process = f"p{int(self.process[1:]) + 1}"
        self.say(Started(at=self.tick(after), process=self.process))

    def done(self, plan: Plan = Plan(), end: str = "rest") -> Recording:
        self.say(Rested(at=self.tick(1.0), process="server", nth=1, revision=self.revision))
        return Recording(
            plan=plan,
            moments=self.moments,
            objects=dict(self.objects),
            outside={},
            end="rest" if end == "rest" else "restless",
            began=2.0,
            ended=self.at,
        )


CLUSTER = Key("clusters.example.com", "default", "db")
SET = Key("statefulsets.apps", "default", "db")
CLAIM = Key("persistentvolumeclaims", "default", "data-db-0")
RUN = "cluster default/db"
_OWNED = {"metadata": {"ownerReferences": [{"kind": "Cluster", "name": "db", "uid": "u1"}]}}


def cluster(size: str) -> dict[str, Any]:
    return {"kind": "Cluster", "spec": {"size": size}}


def stateful_set(size: str) -> dict[str, Any]:
    return {**_OWNED, "kind": "StatefulSet", "spec": {"template": size}}


def claim(size: str) -> dict[str, Any]:
    return {**_OWNED, "kind": "PersistentVolumeClaim", "spec": {"resources": {"requests": {"storage": size}}}}


def _resize(before: Callable[[Story], None] | None, after: Callable[[Story], None] | None) -> Story:
    story = Story()
    story.user("apply Cluster default/db", CLUSTER, cluster("10Gi"))
    story.begin(RUN)
    story.read(CLUSTER, "cluster.py:20")
    story.write("create", SET, stateful_set("10Gi"), "cluster.py:31")
    story.change("environment", CLAIM, claim("10Gi"))
    story.end()
    story.user("wait")
    story.user("apply Cluster default/db", CLUSTER, cluster("15Gi"))
    story.begin(RUN)
    story.read(CLUSTER, "cluster.py:20")
    story.read(SET, "cluster.py:22")
    if before is not None:
        before(story)
    story.write("delete", SET, None, "cluster.py:24")
    if after is not None:
        after(story)
        return story
    story.write("patch", CLAIM, claim("15Gi"), "cluster.py:26")
    story.write("create", SET, stateful_set("15Gi"), "cluster.py:27")
    story.end()
    return story


def resized() -> Broken:
    """The classic: a crash between deleting a StatefulSet and enlarging its claims."""
    site = Site("write", RUN, f"delete {SET}")
    plan = Plan((Decision("F1", site, "after", seconds=5.0),))

    def crash(story: Story) -> None:
        story.crash()
        story.restart()
        story.begin(RUN)
        story.read(CLUSTER, "cluster.py:20")
        story.read(SET, "cluster.py:22")
        story.write("create", SET, stateful_set("15Gi"), "cluster.py:31")
        story.end()
        story.begin(RUN)
        story.read(CLUSTER, "cluster.py:20")
        story.read(SET, "cluster.py:22")
        story.end()

    finding = Finding(
        oracle="O1",
        sentence="Claim default/data-db-0 stays at 10Gi for ever",
        resource="persistentvolumeclaims",
        role="data-db-0",
        field=".spec.resources.requests.storage",
        expected="15Gi",
        found="10Gi",
    )
    why = ("without the crash the claim grows to 15Gi", "with the crash one write later it grows, too")
    return _broken(plan, finding, _resize(lambda story: story.fault(plan.decisions[0]), crash).done(plan), _resize(None, None).done(), why)


POOL = Key("pools.example.com", "default", "web")


def duplicated() -> Broken:
    """A second pass that does not see the pod of the first, and makes another."""
    site = Site("event", "", "pods default/web-x7k2p")
    plan = Plan((Decision("F5", site, "run"),))

    def pod(name: str) -> Key:
        return Key("pods", "default", name)

    def make(late: bool) -> Story:
        story = Story()
        owned = {"ownerReferences": [{"kind": "Pool", "name": "web", "uid": "u1"}], "generateName": "web-"}
        story.user("apply Pool default/web", POOL, {"kind": "Pool", "spec": {"replicas": 1}})
        story.begin("pool default/web")
        story.read(POOL, "pool.py:12")
        story.read(Key("pods", "default", ""), "pool.py:14")
        story.write("create", pod("web-x7k2p"), {"kind": "Pod", "metadata": owned}, "pool.py:18")
        story.end()
        if late:
            story.fault(plan.decisions[0])
        story.begin("pool default/web")
        story.read(POOL, "pool.py:12")
        story.read(Key("pods", "default", ""), "pool.py:14", behind=1 if late else 0)
        if late:
            story.write("create", pod("web-q9m4t"), {"kind": "Pod", "metadata": owned}, "pool.py:18")
        story.end()
        return story

    finding = Finding(
        oracle="O9",
        sentence="two pods of default/web at a time",
        resource="pods",
        verb="create",
        line="pool.py:18",
        found="2",
        expected="1",
    )
    return _broken(plan, finding, make(True).done(plan), make(False).done(), ("with that one read fresh, nothing is found",))


APP = Key("webapps.apps.example.com", "default", "shop")


def stamped(rounds: int = 40) -> Broken:
    """A status with a new time in every pass, which asks for the next."""
    story = Story()
    story.user("apply WebApp default/shop", APP, {"kind": "WebApp", "spec": {"replicas": 1}})
    for round in range(rounds):
        story.begin("webapp default/shop")
        story.read(APP, "webapp.py:11")
        state = {"kind": "WebApp", "spec": {"replicas": 1}, "status": {"checkedAt": f"2026-01-01T00:00:{round:02}Z"}}
        story.write("patch", APP, state, "webapp.py:14", subresource="status")
        story.end()
    recording = story.done(end="restless")
    finding = Finding(oracle="O11", sentence="WebApp default/shop is written for ever", resource=APP.resource, role="shop", verb="patch")
    return _broken(Plan(), finding, recording, recording)


def report_of(*broken: Broken, **further: Any) -> Report:
    """A report with these refutations."""
    workload = Workload.of(
        apply({"apiVersion": "example.com/v1", "kind": "Cluster", "metadata": {"name": "db", "namespace": "default"}}), wait()
    )
    given: dict[str, Any] = {
        "case": Case(target="cluster.py", workload=workload, assumptions=Assumptions(lists="old")),
        "name": "cluster.py",
        "verdict": "REFUTED" if broken else "HELD",
        "depth": 1,
        "bound": "for this workload, under every single fault of the classes F1 to F4 at 12 places, in 40 runs",
        "broken": broken,
        "coverage": (
            Covered(fault="F1", name="crash at a write", tried=12, cuts={"the write changed nothing": 3}),
            Covered(fault="F6", name="old list after a restart", tried=0, skipped="lists are consistent here"),
        ),
        "runs": 40,
        "seconds": 0.4,
        "seeds": (1, 2),
        "notes": ("claims are not grown by anybody but the controller",),
    }
    return Report(**{**given, **further})


def _broken(plan: Plan, finding: Finding, recording: Recording, reference: Recording, why: tuple[str, ...] = ()) -> Broken:
    refutation = Refutation(plan, finding, others=3)
    return Broken(refutation=refutation, recording=recording, reference=reference, token=token.encode(plan), why=why)
