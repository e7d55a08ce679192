"""Killed at any moment, started again, and nothing is lost: the end is that of a run that nobody disturbed."""

from __future__ import annotations

import difflib
import json
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path

import yaml

from .programs import ROOT, Api, Json, Program, setpoint
from .workload import Change, end_state, until_all_is_handled, until_converged, wanted_after, workload

SEED = 4
APPS, BATCHES = 50, 5
MOMENTS = (*["between"] * 12, *["sent"] * 2, *["lost"] * 2, *["answered"] * 2, *["outside"] * 2)
CRD_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
EXAMPLE = ROOT / "examples" / "webapp" / "webapp.py"


def test_a_controller_that_is_killed_again_and_again_ends_where_an_undisturbed_one_does(tmp_path: Path) -> None:
    batches = workload(SEED, apps=APPS, batches=BATCHES)
    chance = random.Random(SEED)
    moments = list(MOMENTS)
    chance.shuffle(moments)

    with a_server(tmp_path / "undisturbed") as api, a_controller(tmp_path / "undisturbed") as controller:
        for number, batch in enumerate(batches):
            make(api, batch)
            until_converged(api, wanted_after(batches[: number + 1]))
        until_all_is_handled(api)
        undisturbed = end_state(api)
        assert not controller.err

    traces: list[list[str]] = []
    with a_server(tmp_path / "killed") as api:
        for number, batch in enumerate(batches):
            # Half of a batch is asked for while the controller runs, half while it is down.
            halves = [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
            kills = moments[number * len(moments) // BATCHES : (number + 1) * len(moments) // BATCHES]
            for moment in kills:
                traces.append(a_killed_life(tmp_path / "killed", api, moment, chance.randint(1, 6), halves.pop(0) if halves else ()))
            with a_controller(tmp_path / "killed"):
                for half in halves:
                    make(api, half)
                until_converged(api, wanted_after(batches[: number + 1]))
                if number == BATCHES - 1:
                    until_all_is_handled(api)
        killed = end_state(api)

    services = [service for service in undisturbed["services"] if service["metadata"]["name"] != "kubernetes"]  # the cluster's own
    assert len(undisturbed["webapps"]) == len(services) == len(wanted_after(batches)) + 1  # and the last one's
    assert killed == undisturbed, difference(undisturbed, killed)
    cut = [trace for trace in traces if fell_between_two_writes_of_a_run(trace)]
    print(f"{len(traces)} kills, {len(cut)} of them between two writes of one run")
    assert len(traces) == 20
    assert len(cut) >= 10


def a_killed_life(folder: Path, api: Api, moment: str, number: int, changes: Sequence[Change]) -> list[str]:
    """Starts the controller, lets it be killed at a moment, and gives what it has said by then."""
    with a_controller(folder, wait=False) as controller:
        if moment != "outside":
            controller.tell(f"kill {moment} {number}")
        make(api, changes)
        if moment == "outside":
            controller.line("answer ", count=number)
            controller.kill()
        assert controller.end() == -9, controller.err
        return controller.out


def fell_between_two_writes_of_a_run(trace: Sequence[str]) -> bool:
    """Whether the last run of a trace had a write answered, and was about to make another when the process died."""
    opened = max(number for number, line in enumerate(trace) if line.startswith("run "))
    writes = [line.split()[0] for line in trace[opened:] if line.startswith(("write ", "answer ", "end "))]
    return writes[-3:] == ["write", "answer", "write"]


def difference(undisturbed: dict[str, list[Json]], killed: dict[str, list[Json]]) -> str:
    """What differs between two states, object by object."""
    pairs = (pair for resource in undisturbed for pair in zip_longest(undisturbed[resource], killed[resource]) if pair[0] != pair[1])
    texts = ([json.dumps(item, indent=1).splitlines() for item in pair] for pair in pairs)
    return "\n".join(line for pair in texts for line in difflib.unified_diff(*pair, "undisturbed", "killed", lineterm="", n=9))


def make(api: Api, changes: Sequence[Change]) -> None:
    for change in changes:
        change.make(api)


@contextmanager
def a_server(folder: Path) -> Iterator[Api]:
    """An embedded control plane that serves WebApps."""
    folder.mkdir()
    with setpoint("crd", EXAMPLE) as printed:
        assert printed.end() == 0, printed.err
    (folder / "crd.yaml").write_text("\n".join(printed.out))
    with setpoint("server", "--write-kubeconfig", folder / "kubeconfig", cwd=folder) as server:
        server.line("ready ")
        api = Api(folder / "kubeconfig")
        api.ask("POST", CRD_PATH, yaml.safe_load((folder / "crd.yaml").read_text()))
        yield api
        server.process.terminate()
        assert server.end() == 0, server.err


@contextmanager
def a_controller(folder: Path, *, wait: bool = True) -> Iterator[Program]:
    """The controller's process."""
    with Program(Path(__file__).parent / "told_controller.py", folder / "kubeconfig", EXAMPLE) as controller:
        if wait:
            controller.line("ready")
        yield controller
