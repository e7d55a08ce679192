"""One sequence on both servers: each step is asked of both, and the answers are compared; at the end, what their watches have seen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .compare import Difference, differences
from .normalise import Normaliser
from .servers import Server, Standing
from .settling import DEFINITIONS, collapsed, note, settle
from .steps import Answer, Json, Memory, Request, Step
from .waivers import explain

FIRST = Step(
    "namespace",
    "",
    "POST",
    "/api/v1/namespaces",
    (),
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "NS"}},
    "application/json",
)


class Different(AssertionError):
    """The servers differ, and nothing explains it."""

    def __init__(self, step: Step, found: list[Difference]) -> None:
        super().__init__("\n".join([f"after {step}", *(f"    {difference}" for difference in found)]))
        self.step = step
        self.found = found


@dataclass
class Side:
    """One server in one sequence. `told` is what it answered to each step, normalised."""

    server: Server
    namespace: str
    told: list[Json] = field(default_factory=list)
    definitions: dict[str, str] = field(default_factory=dict)
    """The definitions of the sequence, and the version of each that was seen last."""

    def __post_init__(self) -> None:
        self.memory = Memory(self.namespace)
        self.normaliser = Normaliser(self.memory)

    def same_version(self, new: str, old: str) -> None:
        """A version that the server has made of another by itself is the same to those who compare."""
        self.normaliser.same_version(new, old)

    def note(self, step: Step, answer: Answer) -> Json:
        """Learns from an answer, and gives what is compared of it."""
        if step.generates and isinstance(answer.body, dict):
            name = (answer.body["metadata"] if answer.ok else answer.body.get("details") or {}).get("name", "")
            if name.startswith(step.body["metadata"]["generateName"].replace("NS", self.namespace)):
                self.memory.names[step.generates] = name
        said = self.normaliser.answer(step, answer)
        if answer.ok:
            note(step, answer.body, self.definitions)
        self.memory.learn(step, answer)
        self.told.append(said)
        return said


@dataclass
class Watching:
    """A watch that is open on a side."""

    step: Step
    streams: list[Standing]


def fresh(memory: Memory, step: Step) -> Request | None:
    """What makes a server's cache as new as its storage before a step that is answered from the cache: a consistent list."""
    if step.what == "watch" or ("resourceVersion", "0") in step.query:
        return Request(
            "GET",
            memory.resolve(step.path.rpartition("/")[0] if step.what == "get" else step.path) + "?limit=1",
            b"",
            "",
            "application/json",
        )
    return None


class Session:
    """A sequence under way on the sides given: two to compare, or one to record or replay."""

    def __init__(self, sides: Iterable[Side]) -> None:
        self.sides = list(sides)
        self.steps: list[Step] = []
        self.waived: list[str] = []
        self.watching: list[Watching] = []

    def take(self, step: Step) -> Answer:
        """Asks all sides; gives the first one's answer. Raises `Different`."""
        self.steps.append(step)
        if step.what == "watch":
            return self._open(step)
        requests = [(side, side.memory.request(step)) for side in self.sides]
        if (first := fresh(self.sides[0].memory, step)) is not None:
            self.sides[0].server.begin(first)()
        waiting = [(side, side.server.begin(request)) for side, request in requests]
        answers = [(side, receive()) for side, receive in waiting]
        told = [side.note(step, answer) for side, answer in answers]
        if step.about.startswith(f"{DEFINITIONS}/") and step.method != "GET" and answers[0][1].ok:
            for side in self.sides:
                settle(side, step)
        self._judge(step, told)
        return answers[0][1]

    def _open(self, step: Step) -> Answer:
        if (first := fresh(self.sides[0].memory, step)) is not None:
            self.sides[0].server.begin(first)()
        opened = [side.server.watch(side.memory.request(step)) for side in self.sides]
        streams = [each for each in opened if not isinstance(each, Answer)]
        answers = [each if isinstance(each, Answer) else Answer(200, "", (), None) for each in opened]
        if len(streams) == len(opened):
            self.watching.append(Watching(step, streams))
        else:
            for stream in streams:
                stream.close()
        self._judge(step, [side.note(step, answer) for side, answer in zip(self.sides, answers, strict=True)])
        return answers[0]

    def drain(self, watching: Watching) -> None:
        """Reads a watch until what bears its mark has come, and compares. Raises `Different`."""
        told: list[list[Json]] = []
        for side, stream in zip(self.sides, watching.streams, strict=True):
            try:
                events = stream.until(lambda event: _bears(event, watching.step.mark))
            except TimeoutError:
                events = [{"type": "SILENCE", "object": {}}]
            finally:
                stream.close()
            if watching.step.about == f"{DEFINITIONS}/":
                events = collapsed(events)
            told.append([said for event in events if (said := side.normaliser.event(event)) is not None])
        watching.streams = []
        for side, seen in zip(self.sides, told, strict=True):
            side.told.append({"events": seen})
        self._judge(watching.step, [{"events": seen} for seen in told])

    def perform(self, steps: Iterable[Step]) -> None:
        """Takes all steps of a sequence, and reads the watches whose mark has been made. Raises `Different`."""
        steps = list(steps)
        try:
            for step in steps:
                self.take(step)
            marked = {step.mark for step in steps if step.what == "marker"}
            for watching in self.watching:
                if watching.step.mark in marked:
                    self.drain(watching)
        finally:
            self.close()

    def close(self) -> None:
        """Leaves the watches that are still open."""
        for watching in self.watching:
            for stream in watching.streams:
                stream.close()
        self.watching.clear()

    def _judge(self, step: Step, told: list[Json]) -> None:
        if len(told) < 2:
            return
        found, waived = explain(step, differences(str(step), told[0], told[1]))
        self.waived += waived
        if found:
            raise Different(step, found)


def _bears(event: Json, mark: str) -> bool:
    obj = event["object"]
    if obj.get("kind") == "Table":
        obj = ((obj.get("rows") or [{}])[0]).get("object") or {}
    return (obj.get("metadata", {}).get("annotations") or {}).get("marker") == mark


__all__ = ["FIRST", "Different", "Session", "Side", "Watching"]
