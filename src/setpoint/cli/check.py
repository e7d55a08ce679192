"""`setpoint check`: whether a controller is level-based, as the level checker finds; see `setpoint.levelcheck`.

What a check needs beside its target is declared in one module: that of `--with`, or else a file `check_NAME.py` beside the target's
NAME.py, or else the target's own module, if it has a `workload`. `--workload` takes the place of the workload that is declared there.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from setpoint.cli.console import console
from setpoint.cli.failure import INTERRUPTED, USAGE, Failure
from setpoint.levelcheck import Assumptions, Periodic, Waiver, Workload
from setpoint.levelcheck.check import level_check, replay
from setpoint.levelcheck.finding import Verdict
from setpoint.levelcheck.outcome import Broken, Report
from setpoint.levelcheck.report.document import broken_document, document
from setpoint.levelcheck.report.page import page
from setpoint.levelcheck.report.regression import regression
from setpoint.levelcheck.report.text import WIDTH, Line, Style, lines, manner, refutation, sentence_of
from setpoint.levelcheck.report.token import BadToken, read
from setpoint.levelcheck.search.checking import SiteGone
from setpoint.manager.importing import BadTarget, module_and_attribute, named

EXITS: Mapping[Verdict, int] = {"HELD": 0, "REFUTED": 1, "PATH-DEPENDENT": 3, "INCONCLUSIVE": 4}
"""By verdict, with what the program ends; 2 is a mistake in options or arguments."""
_STYLES: Mapping[Style, str] = {
    "": "",
    "good": "bold green",
    "bad": "bold red",
    "unsure": "yellow",
    "heading": "bold",
    "decision": "bold magenta",
    "divergence": "red",
    "finding": "bold red",
    "dim": "dim",
}
_WIDEST, _NARROWEST = 160, 80

Hears = Callable[[int, int, str], None]


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for. `arguments` are those of the command line that say what is checked, for the command that replays a finding."""

    target: str
    workloads: tuple[str, ...]
    declared: str
    depth: int
    budget: float | None
    html: str
    regression: str
    token: str
    seed: int
    mode: str
    json: bool

    @property
    def command(self) -> str:
        """What checks the same again."""
        words = ["setpoint", "check", self.target]
        words += [word for each in self.workloads for word in ("--workload", each)]
        words += ["--with", self.declared] if self.declared else []
        words += ["--mode", self.mode] if self.mode != "fast" else []
        return shlex.join(words)


def check(asked: Asked) -> NoReturn:
    """Checks, or replays, tells what came of it on standard output, and ends with the exit code that says it. Raises `Failure`."""
    declared = _declared(asked)
    for file in (asked.html, asked.regression):
        if file and not Path(file).parent.is_dir():
            raise Failure(f"{file} cannot be written: there is no folder {Path(file).parent}", code=USAGE)
    if asked.token:
        sys.exit(_replayed(asked, declared))
    with _failures(), _progress() as hears:
        report = level_check(
            asked.target, **declared, depth=asked.depth, budget=asked.budget, seed=asked.seed, mode=asked.mode, progress=hears
        )
    if asked.json:
        _print_json(document(report))
    else:
        _print(lines(report, _width(), asked.command))
    if asked.html:
        _write(asked.html, page(report, asked.command))
    if asked.regression:
        _write_regression(asked, report)
    sys.exit(EXITS[report.verdict])


def _replayed(asked: Asked, declared: dict[str, Any]) -> int:
    if asked.html or asked.regression:
        raise Failure("--html and --regression are for a check, and not for --replay", code=USAGE)
    try:
        token = read(asked.token)
    except BadToken as error:
        raise Failure(str(error), code=USAGE) from error
    for remark in token.remarks:
        console().print(Text(f"note: {remark}", "yellow"))
    try:
        with _failures(), _progress() as hears:
            broken = replay(asked.target, **declared, mode=asked.mode, token=asked.token, progress=hears)
    except SiteGone as gone:
        _say_or_json(
            asked, {"verdict": "INCONCLUSIVE", "headline": f"site gone: {gone}"}, [Line(f"INCONCLUSIVE, site gone: {gone}", "unsure")]
        )
        return EXITS["INCONCLUSIVE"]
    if broken is None:
        said = "nothing is found with this token: what it showed is mended"
        _say_or_json(
            asked, {"verdict": "HELD", "headline": said}, [Line(f"HELD: {said} (this one run; `{asked.command}` checks the rest)", "good")]
        )
        return EXITS["HELD"]
    verdict: Verdict = broken.refutation.finding.verdict
    head = Line(f"{verdict}, {manner(broken)}: {sentence_of(broken)}", "bad")
    _say_or_json(asked, {"verdict": verdict, "broken": [broken_document(broken)]}, [head, Line(""), *refutation(broken, _width())])
    return EXITS[verdict]


# what is declared


class _Field(NamedTuple):
    """A name that a module may declare: whether a value is such a thing, and how that thing is called."""

    fits: Callable[[Any], bool]
    what: str


def _all(kind: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, Sequence) and not isinstance(value, str) and all(map(kind, value))


def _mapping(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) and callable(each) for name, each in value.items())


_FIELDS: Mapping[str, _Field] = {
    "workload": _Field(lambda value: isinstance(value, Workload), "a Workload: Workload.of(apply(...), wait(), ...)"),
    "outside": _Field(_mapping, 'a dictionary of functions or classes that make fakes: {"cloud": FakeCloud}'),
    "environment": _Field(
        _all(lambda each: isinstance(each, str) or callable(each) or hasattr(each, "kinds")), "a list of controllers or apps"
    ),
    "invariants": _Field(_all(callable), "a list of functions that take the state"),
    "roles": _Field(_mapping, 'a dictionary of functions by resource: {"pods": role_of}'),
    "waivers": _Field(_all(lambda each: isinstance(each, Waiver)), "a list of Waiver(...)"),
    "periodic": _Field(_all(lambda each: isinstance(each, Periodic)), "a list of Periodic(...)"),
    "assumptions": _Field(lambda value: isinstance(value, Assumptions), "Assumptions(...)"),
    "leaders": _Field(lambda value: isinstance(value, int) and value > 0, "a number, 1 or more"),
    "cluster_controllers": _Field(lambda value: isinstance(value, bool), "True or False"),
}


def _declared(asked: Asked) -> dict[str, Any]:
    """What the check is given beside its target. Raises `Failure` for what is not there, or is something else."""
    try:
        named(asked.target)
        module = _module(asked)
    except BadTarget as error:
        raise Failure(str(error), code=USAGE) from error
    declared = {} if module is None else {name: getattr(module, name) for name in _FIELDS if hasattr(module, name)}
    for name, value in declared.items():
        if not _FIELDS[name].fits(value):
            raise Failure(f"{name} in {_file(module)} is of type {type(value).__name__}; it should be {_FIELDS[name].what}", code=USAGE)
    if asked.workloads:
        try:
            declared["workload"] = Workload.from_files(*asked.workloads)
        except ValueError as error:
            raise Failure(" ".join(str(error).split()), code=USAGE) from error
    if "workload" not in declared:
        where = asked.declared or f"{_neighbour(asked.target)} beside it"
        raise Failure(
            f"what is a user to do while {asked.target} is checked? Name manifests, as in --workload shop.yaml, or write "
            f"`workload = Workload.of(...)` in {where}",
            code=USAGE,
        )
    if not declared["workload"].steps:
        raise Failure("the workload has no steps: nothing would happen", code=USAGE)
    return declared


def _module(asked: Asked) -> ModuleType | None:
    """The module that declares. Raises `BadTarget`."""
    if asked.declared:
        return module_and_attribute(asked.declared)[0]
    neighbour = _neighbour(asked.target)
    is_there = Path(neighbour).is_file() if _is_file(_location(asked.target)) else _can_be_found(neighbour)
    if is_there:
        return module_and_attribute(neighbour)[0]
    own, _ = module_and_attribute(asked.target)
    return own if isinstance(getattr(own, "workload", None), Workload) else None


def _neighbour(target: str) -> str:
    """`check_webapp.py` for `webapp.py:controller`, `shop.check_webapp` for `shop.webapp`."""
    location = _location(target)
    if _is_file(location):
        path = Path(location)
        return str(path.with_name(f"check_{path.name}"))
    package, dot, name = location.rpartition(".")
    return f"{package}{dot}check_{name}"


def _location(target: str) -> str:
    location, colon, attribute = target.rpartition(":")
    return location if colon and attribute.isidentifier() and len(location) > 1 else target


def _is_file(location: str) -> bool:
    return location.endswith(".py") or "/" in location or "\\" in location


def _can_be_found(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


def _file(module: ModuleType | None) -> str:
    file = getattr(module, "__file__", None)
    return os.path.relpath(file) if file else str(module)


# what is said


def _say_or_json(asked: Asked, data: dict[str, Any], said: Sequence[Line]) -> None:
    if asked.json:
        _print_json(data)
    else:
        _print(iter(said))


def _print_json(data: dict[str, Any]) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n")


def _out() -> Console:
    return Console(file=sys.stdout, highlight=False, soft_wrap=True, color_system=None if os.environ.get("NO_COLOR") else "auto")


def _print(said: Iterator[Line]) -> None:
    out = _out()
    for line in said:
        out.print(Text(line.text, _STYLES[line.style]))


def _width() -> int:
    out = _out()
    if not (out.is_terminal or os.environ.get("COLUMNS")):
        return WIDTH  # a log or a pipe is as wide as it needs to be
    return min(max(out.width, _NARROWEST), _WIDEST)


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"{file} cannot be written: {error.strerror}", code=USAGE) from error
    console().print(Text(f"written: {file}", "dim"))


def _write_regression(asked: Asked, report: Report) -> None:
    broken: Broken | None = next(iter(report.broken), None)
    if broken is None:
        console().print(Text(f"{asked.regression} is not written: nothing was found", "dim"))
        return
    try:
        text = regression(report.case, broken, asked.target)
    except ValueError as error:
        raise Failure(f"{asked.regression} cannot be written: {error}", code=USAGE) from error
    _write(asked.regression, text)


@contextmanager
def _failures() -> Iterator[None]:
    """What a user has got wrong is a sentence; what the checker has is shown whole, and no verdict: nothing can be said then."""
    try:
        yield
    except (BadTarget, BadToken, ImportError) as error:  # what is not installed names itself, and how it is
        raise Failure(str(error), code=USAGE) from error
    except KeyboardInterrupt:
        console().print(Text("interrupted", "dim"))
        sys.exit(INTERRUPTED)
    except (SiteGone, Failure):
        raise
    except Exception:
        traceback.print_exc()
        console().print(Text("INCONCLUSIVE: the check itself has failed; this is a fault of Setpoint's", "yellow"))
        sys.exit(EXITS["INCONCLUSIVE"])


@contextmanager
def _progress() -> Iterator[Hears | None]:
    """A bar on a terminal, while it is open; nothing elsewhere."""
    err = console()
    if not err.is_terminal:
        yield None
        return
    columns = (TextColumn("[progress.description]{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # No thread of its own draws it: a check may fork.
    with Progress(*columns, console=err, transient=True, auto_refresh=False) as bar:
        task = bar.add_task("the run without faults", total=None)

        def hears(done: int, of: int, what: str) -> None:
            bar.update(task, completed=done, total=of or None, description=what, refresh=True)

        yield hears
