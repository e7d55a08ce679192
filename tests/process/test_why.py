"""`setpoint why`: asked in a second terminal, it tells why a controller ran and what it wrote; what cannot be told is one sentence."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from .programs import ROOT, Program

EXAMPLE = ROOT / "examples" / "webapp"


class Running:
    """The example, on an embedded control plane, in a process of its own; `why` is another process that asks it."""

    def __init__(self, program: Program, address: str, folder: Path) -> None:
        self.program = program
        self.address = address
        self._folder = folder

    def why(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-W", "error", "-m", "setpoint", "why", *arguments, "--address", self.address]
        env = {**os.environ, "NO_COLOR": "1", "HTTP_PROXY": "http://127.0.0.1:1", "http_proxy": "http://127.0.0.1:1"}
        return subprocess.run(command, cwd=self._folder, env=env, capture_output=True, text=True, timeout=60)

    def get(self, path: str, host: str = "") -> bytes:
        request = urllib.request.Request(self.address + path, headers={"Host": host} if host else {})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            body: bytes = answer.read()
            return body


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("running")
    arguments = ("run", "--embedded", EXAMPLE / "webapp.py", "--apply", EXAMPLE / "shop.yaml", "--debug-bind-address", "127.0.0.1:0")
    with Program("-W", "error", "-m", "setpoint", *arguments, cwd=folder) as program:
        line = program.line("/debug;", of="err")
        address = re.search(r"http://[0-9.:]+", line)
        assert address is not None
        assert f"setpoint why KIND NAMESPACE/NAME --address {address[0]}" in line
        program.line("created services default/shop", of="err")
        program.line("patched webapps", of="err", count=2)  # its pods are ready
        yield Running(program, address[0], folder)


def test_it_tells_the_runs_their_causes_and_what_they_wrote(running: Running) -> None:
    answer = running.why("webapp", "default/shop", "--last", "10")
    assert answer.returncode == 0, answer
    assert answer.stderr == ""
    lines = answer.stdout.splitlines()
    assert lines[0] == "WebApp default/shop  controller webapp"
    assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3}  \d+ s ago  ran \S+ m?s, success", lines[1])
    assert lines[2] in ("  because  WebApp default/shop was there at the start", "  because  WebApp default/shop created, by setpoint")
    assert any(re.fullmatch(r"  wrote    created Deployment default/shop -> \d+", line) for line in lines)
    assert any(
        re.match(r"  because  Deployment default/shop changed .*, by deployment: status\.", line)
        and "status.readyReplicas" in answer.stdout
        for line in lines
    )
    assert "by this controller's own write" in answer.stdout
    assert "skipped  apply of Deployment default/shop, Service default/shop: nothing would change" in answer.stdout


def test_an_owned_object_leads_to_the_one_that_it_triggers(running: Running) -> None:
    answer = running.why("deploy/shop", "-o", "json")
    assert answer.returncode == 0, answer
    (history,) = json.loads(answer.stdout)
    assert (history["controller"], history["kind"], history["key"]) == ("webapp", "WebApp", "default/shop")
    run = history["runs"][0]
    assert run["result"] == "success"
    assert [write["operation"] for write in run["writes"]][:2] == ["created", "created"]
    assert history["loops"] == []


def test_only_so_many_runs_are_shown_and_the_rest_is_mentioned(running: Running) -> None:
    answer = running.why("wa", "shop", "-n", "default", "--last", "1")
    assert re.search(r"^\d+ earlier runs are remembered: --last \d+$", answer.stdout, re.MULTILINE)
    assert len(re.findall(r" ran \S+ m?s, ", answer.stdout)) == 1


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("pods", "default/x"), "no controller here watches 'pods'; webapp watches WebApp, Deployment, Service"),
        (("webapp", "default/nope"), "webapp default/nope has triggered no run here, as far as is remembered"),
        (("webapp", "default/shop", "--controller", "other"), "no controller 'other' runs here; these do: webapp"),
    ],
)
def test_what_is_not_known_is_one_sentence(running: Running, asked: tuple[str, ...], told: str) -> None:
    answer = running.why(*asked)
    assert answer.returncode == 1
    assert answer.stdout == ""
    assert answer.stderr.startswith(f"setpoint: {told}")
    assert len(answer.stderr.splitlines()) == 1


def test_queues_and_caches_are_shown(running: Running) -> None:
    queues = json.loads(running.get("/debug/keys"))
    assert queues["webapp"]["started"] is True
    assert set(queues["webapp"]) == {"started", "ready", "processing", "keys", "timers"}
    caches = {cache["kind"]: cache for cache in json.loads(running.get("/debug/cache"))}
    deployments = caches["apps/v1, Kind=Deployment"]
    assert (deployments["objects"], deployments["synced"], deployments["state"]) == (1, True, "Watching")
    assert deployments["bytes"] > 500
    assert deployments["silent"] is not None


def test_a_web_page_under_another_name_is_told_nothing(running: Running) -> None:
    """A browser that was led to loopback by somebody's DNS asks under that name."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        running.get("/debug", host="evil.example.com:8082")
    with refused.value as answer:
        assert answer.code == 421
    assert json.loads(running.get("/debug", host="localhost:8082"))["program"] == "setpoint"
