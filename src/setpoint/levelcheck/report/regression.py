"""A refutation as a test: it fails while the bug is there, passes when it is mended, and says so when the place of a fault is gone.

The token is written down and not the seed: a seed is worth nothing once the code has changed, whereas places that are named by what they
mean mostly stay.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from setpoint.levelcheck.assumptions import Assumptions
from setpoint.levelcheck.case import Case
from setpoint.levelcheck.outcome import Broken
from setpoint.levelcheck.report.decisions import decision_in_words, workload_in_words
from setpoint.levelcheck.report.text import sentence_of
from setpoint.levelcheck.workload import Advance, Apply, Delete, Patch, Recreate, Ref, Step, Wait, Workload

_WIDTH = 120


def regression(case: Case, broken: Broken, target: str) -> str:
    """The text of a pytest file with one test. `target` is what was checked, by its name.

    Raises `ValueError` for what the case holds that cannot be written down: a function without a name that can be imported.
    """
    writing = _Writing()
    options = "".join(f",\n        {name}={text}" for name, text in _options(case, writing))
    steps = writing.workload(case.workload)
    sentence = sentence_of(broken)
    said = textwrap.fill(f"{sentence[:1].upper()}{sentence[1:]}.", _WIDTH - 3, break_long_words=False)
    what = textwrap.fill(f"It is so where {_decided(broken)}.", _WIDTH, break_long_words=False, break_on_hyphens=False)
    call = f"{_python(target)},\n        WORKLOAD,\n        replay=TOKEN{options},"
    return (
        f'"""{said}\n\n{what}\nThis fails as long as it is so; where the place of a fault is gone, it says so and fails as well.\n"""\n\n'
        f"{writing.imports()}\n\nWORKLOAD = {steps}\nTOKEN = {_python(broken.token)}\n\n\n"
        f"def test_{_identifier(sentence)}(setpoint_check):\n    setpoint_check(\n        {call}\n    )\n"
    )


class _Writing:
    """Values as Python, and what has to be imported for that."""

    def __init__(self) -> None:
        self._names: dict[str, dict[str, None]] = {"setpoint.levelcheck": {}}

    def imports(self) -> str:
        lines = []
        for module in sorted(self._names):
            if names := self._names[module]:
                lines.append(f"from {module} import {', '.join(sorted(names))}")
        return "\n".join(lines)

    def ours(self, name: str) -> str:
        """A name of the level checker's."""
        self._names["setpoint.levelcheck"][name] = None
        return name

    def named(self, value: Any, what: str) -> str:
        """A function or class, by its name. Raises `ValueError` if no other module could import it."""
        module, name = getattr(value, "__module__", ""), getattr(value, "__qualname__", "")
        if not name.isidentifier() or getattr(sys.modules.get(module), name, None) is not value:
            raise ValueError(f"{what} is {value!r}, which cannot be imported by name: put it at the top level of a module")
        self._names.setdefault(module, {})[name] = None
        return str(name)

    def value(self, value: Any, what: str) -> str:
        """Anything that a case may hold."""
        if callable(value) and not isinstance(value, type(Workload)):
            return self.named(value, what)
        if isinstance(value, msgspec.Struct):
            given = {f.name: getattr(value, f.name) for f in msgspec.structs.fields(value) if getattr(value, f.name) != f.default}
            return f"{self.ours(type(value).__name__)}({', '.join(f'{name}={_python(each)}' for name, each in given.items())})"
        if isinstance(value, Mapping):
            return "{" + ", ".join(f"{_python(name)}: {self.value(each, f'{what}[{name!r}]')}" for name, each in value.items()) + "}"
        if isinstance(value, Sequence) and not isinstance(value, str):
            return "[" + ", ".join(self.value(each, what) for each in value) + "]"
        return _python(value)

    def workload(self, workload: Workload) -> str:
        steps = ",\n".join(textwrap.indent(self.step(step), "    ") for step in workload.steps)
        return f"{self.ours('Workload')}.of(\n{steps},\n)" if steps else f"{self.ours('Workload')}.of()"

    def step(self, step: Step) -> str:
        match step:
            case Apply(manifest=manifest):
                return self._call("apply", _literal(manifest))
            case Recreate(manifest=manifest):
                return self._call("recreate", _literal(manifest))
            case Patch(ref=ref, patch=patch, subresource=subresource):
                further = [f"subresource={_python(subresource)}"] if subresource else []
                return self._call("patch", _reference(ref), _literal(patch), *further)
            case Delete(ref=ref, propagation=propagation):
                further = [f"propagation={_python(propagation)}"] if propagation != "Background" else []
                return self._call("delete", _reference(ref), *further)
            case Wait():
                return f"{self.ours('wait')}()"
            case Advance(seconds=seconds):
                return f"{self.ours('advance')}({seconds:g})"

    def _call(self, name: str, *arguments: str) -> str:
        one = f"{self.ours(name)}({', '.join(arguments)})"
        if "\n" not in one and len(one) + 5 <= _WIDTH:
            return one
        several = ",\n".join(textwrap.indent(argument, "    ") for argument in arguments)
        return f"{name}(\n{several},\n)"


def _options(case: Case, writing: _Writing) -> list[tuple[str, str]]:
    """What the case says beside target and workload, as arguments."""
    said: list[tuple[str, str]] = []
    for name in ("outside", "environment", "invariants", "roles", "waivers", "periodic"):
        if value := getattr(case, name):
            said.append((name, writing.value(value, name)))
    if case.assumptions != Assumptions():
        said.append(("assumptions", writing.value(case.assumptions, "assumptions")))
    if case.leaders != 1:
        said.append(("leaders", repr(case.leaders)))
    if not case.cluster_controllers:
        said.append(("cluster_controllers", "False"))
    return said


def _decided(broken: Broken) -> str:
    plan = broken.refutation.plan
    said = [decision_in_words(decision) for decision in plan.decisions]
    return "; and ".join([*said, *([workload_in_words(plan)] if plan.variant else [])]) or "nothing goes wrong at all"


def _literal(text: bytes) -> str:
    return _python(msgspec.json.decode(text))


def _reference(ref: Ref) -> str:
    metadata = {"name": ref.name, "namespace": ref.namespace} if ref.namespace else {"name": ref.name}
    return _python({"apiVersion": ref.api_version, "kind": ref.kind, "metadata": metadata})


def _python(value: Any, room: int = _WIDTH - 8) -> str:
    """JSON's values as Python, in a line if there is room for it, else each part in lines of its own."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        parts, ends = [f"{_python(name)}: {_python(each, room - 4)}" for name, each in value.items()], "{}"
    elif isinstance(value, list):
        parts, ends = [_python(each, room - 4) for each in value], "[]"
    else:
        return repr(value)
    one = f"{ends[0]}{', '.join(parts)}{ends[1]}"
    if "\n" not in one and len(one) <= room:
        return one
    return f"{ends[0]}\n{''.join(textwrap.indent(f'{part},', '    ') + chr(10) for part in parts)}{ends[1]}"


def _identifier(sentence: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", sentence.lower()).strip("_")[:80].strip("_") or "it_is_level_based"
