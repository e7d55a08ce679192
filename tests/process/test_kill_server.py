"""`kill -9` for a server amid concurrent writes, again and again on one data folder: nothing that it has told is lost or told otherwise.

By default a few kills amid some hundred writes. The long form, twenty kills amid 2,000 concurrent writes each:

    SETPOINT_KILLS=20 SETPOINT_WRITES=2000 pytest -s tests/process/test_kill_server.py
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import os
import random
import resource
import ssl
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import yaml

from .programs import PATIENCE, Json, Program, setpoint

KILLS = int(os.environ.get("SETPOINT_KILLS", "3"))
WRITES = int(os.environ.get("SETPOINT_WRITES", "100"))
WATCHERS = 4
PATH = "/api/v1/namespaces/default/configmaps"
MERGE = {"Content-Type": "application/merge-patch+json"}
SHARED = [f"shared-{number}" for number in range(20)]
"""Objects that many write to; the others have one writer each."""


@dataclass
class Truth:
    """All that the server has ever told, by revision. What is told again must be the same."""

    told: dict[int, str] = field(default_factory=dict)
    events: dict[int, str] = field(default_factory=dict)
    newest: int = 0

    def hears(self, obj: Json) -> int:
        """Gives the revision."""
        revision = int(obj["metadata"]["resourceVersion"])
        obj = {key: value for key, value in obj.items() if key not in ("kind", "apiVersion")}  # items of lists do not have them
        digest = hashlib.sha256(json.dumps(obj, sort_keys=True).encode()).hexdigest()
        assert self.told.setdefault(revision, digest) == digest, f"revision {revision} has been told with two contents"
        self.newest = max(self.newest, revision)
        return revision


@dataclass
class Round:
    """What was acknowledged until the server was killed: (event type, revision), and what was deleted, by uid."""

    since: int
    kept: dict[int, str] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    unknown: int = 0

    @property
    def acknowledged(self) -> int:
        return len(self.kept) + len(self.deleted)


@dataclass
class Watcher:
    """Somebody who watches for as long as there is a server, and goes on where the last one left off."""

    truth: Truth
    version: int
    events: list[tuple[int, str]] = field(default_factory=list)

    async def follow(self, api: Client, until: int | None = None) -> None:
        """Reads until the server is gone, or until that revision has been read."""
        try:
            async with api.session.get(f"{PATH}?watch=1&resourceVersion={self.version}") as answer:
                assert answer.status == 200, await answer.text()
                async for line in answer.content:
                    if not line.endswith(b"\n"):
                        return  # cut in the middle of an event: it has not been heard
                    event = json.loads(line)
                    assert event["type"] in ("ADDED", "MODIFIED", "DELETED"), event
                    revision = self.truth.hears(event["object"])
                    assert revision > self.version, f"{revision} after {self.version}"
                    self.version = revision
                    self.events.append((revision, event["type"]))
                    if until is not None and revision >= until:
                        return
        except aiohttp.ClientError:
            assert until is None, "the server has gone"


class Client:
    """HTTP over the kubeconfig that the server has written, as many connections as there are requests. Open while the context is."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        tls = ssl.create_default_context(cadata=b64decode(cluster["certificate-authority-data"]).decode())
        self.session = aiohttp.ClientSession(
            cluster["server"],
            connector=aiohttp.TCPConnector(ssl=tls, limit=0),
            headers={"Authorization": f"Bearer {user['token']}", "Accept": "application/json"},
            timeout=aiohttp.ClientTimeout(total=PATIENCE * 3),
        )

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.session.close()

    async def json(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> tuple[int, Json]:
        async with self.session.request(method, path, json=body, headers=headers) as answer:
            return answer.status, await answer.json()


def test_every_acknowledged_write_outlives_kill_9_and_watches_go_on_without_loss(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8192)), hard))
    try:
        asyncio.run(killed_again_and_again(tmp_path))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def killed_again_and_again(folder: Path) -> None:
    chance, truth = random.Random(1), Truth()
    watchers: list[Watcher] = []
    rounds: list[Round] = []
    for number in range(KILLS + 1):
        with a_server(folder) as server:
            async with Client(folder / "kubeconfig") as api:
                listed = await state(api, truth)
                if rounds:
                    await nothing_is_lost(api, truth, rounds[-1], listed)
                else:
                    watchers = [Watcher(truth, listed) for _ in range(WATCHERS)]
                if number < KILLS:
                    following = [asyncio.create_task(watcher.follow(api)) for watcher in watchers]
                    rounds.append(await writes_until_killed(api, truth, server, number, chance))
                    await asyncio.gather(*following)
                    print(f"kill {number + 1}: {rounds[-1].acknowledged} acknowledged, {rounds[-1].unknown} not, revision {truth.newest}")
                else:
                    for watcher in watchers:
                        if watcher.version < truth.newest:
                            await watcher.follow(api, until=truth.newest)
                    server.process.terminate()
                    assert server.end() == 0, server.err
    for watcher in watchers:
        assert watcher.events == sorted(truth.events.items()), "a watch has missed something, or heard it twice"
    acknowledged, unknown = sum(round.acknowledged for round in rounds), sum(round.unknown for round in rounds)
    print(f"{KILLS} kills, {acknowledged} writes acknowledged, {unknown} not; {len(truth.events)} events for each of {WATCHERS} watches")


async def state(api: Client, truth: Truth) -> int:
    """Lists everything; gives the revision, which never goes back."""
    _, listing = await api.json("GET", PATH)
    for item in listing["items"]:
        truth.hears(item)
    revision = int(listing["metadata"]["resourceVersion"])
    assert revision >= truth.newest, f"the server is at {revision}, and has told of {truth.newest}"
    return revision


async def nothing_is_lost(api: Client, truth: Truth, last: Round, listed: int) -> None:
    """Replays the last round: every write that was acknowledged is in it, under its revision and with its content."""
    replayed: dict[int, str] = {}
    deleted: list[str] = []
    async with api.session.get(f"{PATH}?watch=1&resourceVersion={last.since}&timeoutSeconds=1") as answer:
        async for line in answer.content:
            event = json.loads(line)
            revision = truth.hears(event["object"])
            assert revision > max(replayed, default=last.since)
            replayed[revision] = event["type"]
            if event["type"] == "DELETED":
                deleted.append(event["object"]["metadata"]["uid"])
    for revision, type in last.kept.items():
        assert replayed.get(revision) == type, f"revision {revision} was acknowledged and is lost"
    assert set(last.deleted) <= set(deleted), "a deletion was acknowledged and is lost"
    assert max(replayed, default=0) <= listed
    truth.events.update(replayed)


async def writes_until_killed(api: Client, truth: Truth, server: Program, number: int, chance: random.Random) -> Round:
    """Writers by the hundred, each on a connection of its own with one write under way at any time; SIGKILL after so many answers."""
    since = await state(api, truth)
    round = Round(since)
    fatal = chance.randrange(WRITES // 4, WRITES * 2)

    async def write(method: str, name: str, body: Any = None) -> None:
        path, headers = (PATH, None) if method == "POST" else (f"{PATH}/{name}", MERGE if method == "PATCH" else None)
        status, answer = await api.json(method, path, body, headers)
        if status in (404, 409):
            return  # another writer was there first
        assert status < 300, answer
        if method == "DELETE":
            round.deleted.append(answer["details"]["uid"])
        else:
            round.kept[truth.hears(answer)] = "ADDED" if method == "POST" else "MODIFIED"
        if round.acknowledged == fatal:
            server.process.kill()

    async def writer(index: int) -> None:
        own, shared = f"own-{number}-{index}", SHARED[index % len(SHARED)]
        try:
            await api.json("GET", f"{PATH}/{own}")  # opens the connection
            for turn in itertools.count():
                body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"round": str(number), "turn": str(turn), "text": "x" * 500}}
                for name in (own, shared):
                    await write("POST", name, {**body, "metadata": {"name": name}})
                    await write("PATCH", name, {"data": {"by": f"{number} {index} {turn}"}})
                await write("DELETE", chance.choice((own, shared, f"own-{number - 1}-{index}")))
        except (aiohttp.ClientError, ConnectionError):
            round.unknown += 1

    await asyncio.gather(*map(writer, range(WRITES)))
    assert round.unknown == WRITES
    return round


@contextmanager
def a_server(folder: Path) -> Iterator[Program]:
    """The program, which is killed at the end."""
    with setpoint("server", "--data", folder / "data", "--write-kubeconfig", folder / "kubeconfig", cwd=folder) as server:
        server.line("ready ")
        yield server
