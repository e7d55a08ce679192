"""What a reconciler does wrong is said in the log, by its name and with the remedy; and the others go on."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from setpoint import Context, Controller, ObjectMeta, Request, Result
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.testing import Cluster

from .conftest import Write

PATIENCE = 60.0
# Of a kind that a new control plane has none of.
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: one}\n"


def logged(cluster: Cluster, controller: Controller[Any], caplog: pytest.LogCaptureFixture, by: timedelta) -> list[str]:
    """What is warned of when a reconciler meets an object."""
    caplog.set_level(logging.WARNING, "setpoint")
    cluster.create(ConfigMap(metadata=ObjectMeta(name="one", namespace="default")))
    cluster.start(controller)
    cluster.advance(by)
    return [record.getMessage() for record in caplog.records]


def test_one_that_hangs_is_named_once(setpoint_cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    controller = Controller(ConfigMap, name="hanging")

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        await asyncio.Event().wait()

    said = logged(setpoint_cluster, controller, caplog, timedelta(minutes=10))
    assert len(said) == 1
    assert re.fullmatch(r"the run hanging default/one has not ended for (60|70) s: does it wait for something\? .*deadline=.*", said[0])


def test_one_that_hangs_is_ended_at_its_deadline(setpoint_cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    controller = Controller(ConfigMap, name="hanging", deadline=5)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        await asyncio.Event().wait()

    said = logged(setpoint_cluster, controller, caplog, timedelta(seconds=6))
    assert re.fullmatch(
        r"reconcile failed, tried again in 0\.00\d+ s: DeadlineExceeded: it ran for more than its deadline of 5 s and was ended", said[0]
    )
    assert not caplog.records[0].exc_info


@pytest.mark.parametrize("wrong", [True, 5, "done", Result(requeue_after=float("nan"))], ids=repr)
def test_one_that_returns_the_wrong_type(wrong: Any, setpoint_cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    async def reconcile(ctx: Context, request: Request) -> Any:
        return wrong

    said = logged(setpoint_cluster, Controller(ConfigMap, name="odd", reconciler=reconcile), caplog, timedelta(seconds=1))
    assert len(said) > 1  # it is tried again: the code may be mended, and the state with it
    assert "WrongResult: the reconciler" in said[0]
    assert repr(wrong) in said[0]
    assert "None" in said[0]
    assert not caplog.records[0].exc_info


FAILING = """
from setpoint import Controller
from setpoint.k8s.core.v1 import Secret

controller = Controller(Secret, name="failing")

@controller.reconciler
async def reconcile(ctx, request):
    helper()

def helper():
    raise LookupError("no such zone")
"""

BLOCKING = """
import time
from setpoint import Controller
from setpoint.k8s.core.v1 import Secret

controller = Controller(Secret, name="blocking")

@controller.reconciler
async def reconcile(ctx, request):
    time.sleep(3600)
"""


@contextmanager
def running(*arguments: str, cwd: Path, stderr: Any = subprocess.PIPE, env: Mapping[str, str] | None = None) -> Iterator[Any]:
    """The program in a process of its own, killed at the end."""
    with subprocess.Popen(
        [sys.executable, "-m", "setpoint", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        cwd=cwd,
        env={**os.environ, "HOME": str(cwd), **(env or {})},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def first(process: Any, wanted: str) -> dict[str, Any]:
    """The first log line with a text."""
    for line in process.stderr:
        if wanted in line:
            found: dict[str, Any] = json.loads(line)
            return found
    raise AssertionError(f"it ended without a line with {wanted!r}")


def test_one_that_raises_shows_its_own_lines_and_none_of_ours(write: Write, alone: Path) -> None:
    path = write("failing.py", FAILING)
    write("one.yaml", SECRET)
    with running("run", "--embedded", "failing.py", "--apply", "one.yaml", cwd=alone) as process:
        line = first(process, "LookupError")
    assert (line["level"], line["controller"], line["request"]) == ("error", "failing", "default/one")
    assert re.fullmatch(r"reconcile failed, tried again in [\d.]+ s: LookupError: no such zone", line["msg"])
    places = [text.strip() for text in line["error"].splitlines() if text.strip().startswith("File ")]
    assert places == [f'File "{path}", line 9, in reconcile', f'File "{path}", line 12, in helper']


def test_one_that_blocks_the_event_loop_is_named_by_its_line(write: Write, alone: Path) -> None:
    path = write("blocking.py", BLOCKING)
    write("one.yaml", SECRET)
    with running("run", "--embedded", "blocking.py", "--apply", "one.yaml", cwd=alone) as process:
        line = first(process, "blocked")
    assert line["level"] == "warning"
    assert line["msg"].startswith(
        "the event loop has been blocked for 1 s, and with it every watch and timer: an async reconciler must not"
    )
    assert line["msg"].endswith(f'File "{path}", line 10, in reconcile\n    time.sleep(3600)')


def test_logs_are_json_where_nobody_looks(write: Write, alone: Path) -> None:
    write("failing.py", FAILING)
    write("one.yaml", SECRET)
    with running("run", "--embedded", "failing.py", "--apply", "one.yaml", cwd=alone) as process:
        assert process.stdout.readline() == f"ready {alone / '.setpoint' / 'kubeconfig'}\n"
        first(process, "LookupError")
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(PATIENCE) == 0
        assert process.stdout.read() == ""
    lines = [json.loads(line) for line in rest.splitlines()]
    assert all({"ts", "level", "logger", "msg"} <= line.keys() for line in lines)
    assert lines[-1]["msg"] == "stopping: what runs may end; a second signal ends it at once" or lines[-1]["level"] == "error"


@pytest.mark.parametrize(("env", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)], ids=["colour", "no colour"])
def test_people_on_a_terminal_see_lines_in_colour(write: Write, alone: Path, env: dict[str, str], coloured: bool) -> None:
    write("failing.py", FAILING)
    write("one.yaml", SECRET)
    ours, theirs = pty.openpty()
    try:
        with running("run", "--embedded", "failing.py", "--apply", "one.yaml", cwd=alone, stderr=theirs, env=env):
            shown = ""
            while "no such zone" not in shown and select.select([ours], [], [], PATIENCE)[0]:
                shown += os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\r\n", "\n")
    assert "Embedded control plane at https://127.0.0.1:" in plain
    assert "\nPoint kubectl at it:  export KUBECONFIG=.setpoint/kubeconfig\n" in plain
    assert re.search(r"\n\d\d:\d\d:\d\d  applied Secret default/one\n", plain)
    assert re.search(r"\n\d\d:\d\d:\d\d  error  reconcile failed, .*  controller=failing request=default/one\n", plain)
    assert "{" not in plain.partition("Traceback")[0]
    assert ("\x1b[" in shown) == coloured
