"""Watches that stall, are refused or expire, and credentials that run out: nothing stays blind, and while it is, that is said."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from setpoint import Context, Controller, Manager, Request
from setpoint.api import ADMIN, Identity
from setpoint.client import Client, Config, Connection, HttpTransport
from setpoint.client.install import install
from setpoint.cluster import ControlPlane
from setpoint.cluster.server.http.auth import Tokens, unauthorized
from setpoint.cluster.server.http.serving import serve
from setpoint.controller import RunEnded
from setpoint.manager.health import TROUBLED
from setpoint.objects import ObjectMeta
from setpoint.world import real_world

from .faults import Line
from .planes import Embedded, Real
from .scenes import Thing, ThingSpec

A_MINUTE = timedelta(minutes=1)


def _reader(seen: dict[str, str | None]) -> Controller[Thing]:
    """Notes the value of each Thing; None for one that is gone."""
    reader = Controller(Thing, name="reader")

    @reader.reconciler
    async def read(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        seen[request.name] = thing.spec.value if thing is not None else None

    return reader


def _unready(cluster: Embedded | Real) -> str:
    """What the last process says of why it is not ready; empty if it is."""
    said = cluster.managers[-1].health.ready["caches"]()
    assert said is None or isinstance(said, str)
    return said or ""


# ---- silence


def test_a_watch_whose_peer_is_gone_without_a_word_does_not_wait_for_it_for_ever(embedded: Embedded) -> None:
    """opensandbox-group/OpenSandbox#1533: the control plane is upgraded, and the peer of a watch vanishes without a FIN. The client blocks
    in a read, since only the server, which is gone, would have ended it; six hours go by.
    """
    seen: dict[str, str | None] = {}
    line = embedded.launch(_reader(seen))
    embedded.settle()
    line.mute("things")
    embedded.thing("missed", value="new")
    embedded.advance(timedelta(seconds=95))  # a bookmark is due each minute
    assert seen == {"missed": "new"}
    assert not _unready(embedded)


def test_a_process_that_hears_nothing_any_more_does_not_say_that_it_is_ready(embedded: Embedded) -> None:
    """opensandbox-group/OpenSandbox#1533: all those six hours the cache says that it is synced, so nobody is told. Once the server is back,
    it takes no restart.
    """
    seen: dict[str, str | None] = {}
    line = embedded.launch(_reader(seen))
    embedded.settle()
    line.vanish()
    embedded.thing("missed", value="new")
    embedded.advance(timedelta(seconds=106))
    assert "nothing was heard of things.pains.example.com" in _unready(embedded)
    embedded.advance(timedelta(hours=1))
    assert "nothing was heard of things.pains.example.com" in _unready(embedded)
    assert seen == {}
    line.come_back()
    embedded.advance(A_MINUTE)
    assert seen == {"missed": "new"}
    assert not _unready(embedded)


# ---- refusals


@pytest.mark.parametrize("header", [True, False], ids=["header and body", "body alone"])
def test_a_watch_that_is_refused_for_too_many_requests_is_not_given_up(embedded: Embedded, header: bool) -> None:
    """nolar/kopf#1108, #1195 (of its kind: #962, #1011, #787, #1145, #1276): a watch is answered 429 with a Status that says
    `retryAfterSeconds: 1`. The watcher's task dies of it, and the operator runs on, blind.
    """
    seen: dict[str, str | None] = {}
    line = embedded.launch(_reader(seen))
    embedded.settle()
    line.refuse("things", header=header)
    line.cut("things")
    embedded.thing("missed", value="new")
    embedded.advance(timedelta(seconds=TROUBLED + 30))
    assert "things.pains.example.com" in _unready(embedded)
    asked = len(line.asked("watch", "list", plural="things"))
    embedded.advance(timedelta(minutes=30))
    asked = len(line.asked("watch", "list", plural="things")) - asked
    assert 30 < asked <= 1800, "it goes on asking, and no sooner than it was told to"
    line.refuse("things", times=1)
    embedded.advance(A_MINUTE)
    assert seen == {"missed": "new"}
    assert not _unready(embedded)


def test_a_start_that_is_refused_for_too_many_requests_is_no_end(embedded: Embedded) -> None:
    """nolar/kopf#1195: the same, with the very first request."""
    seen: dict[str, str | None] = {}
    embedded.thing("there", value="old")
    line = embedded.launch(_reader(seen), prepare=lambda line: line.refuse("things", times=25))
    embedded.settle()
    assert seen == {"there": "old"}
    assert len(line.asked("watch", "list", plural="things")) == 26


# ---- versions that the server has forgotten


def _as_an_answer(line: Line) -> None:
    line.cut("things")


def _in_the_stream(line: Line) -> None:
    line.end("things", expired=True)


def _between_pages(line: Line) -> None:
    line.in_pages("things", 1)
    line.forget_pages("things")
    line.cut("things")


def _not_at_all(line: Line) -> None:
    line.end("things")


@pytest.mark.parametrize("fault", [_as_an_answer, _in_the_stream, _between_pages, _not_at_all])
def test_what_was_deleted_while_a_watch_was_away_does_not_stay(cluster: Embedded | Real, fault: Callable[[Line], None]) -> None:
    """As in the code of some clients for Python: one lists onto the old store, so that what was deleted in a gap stays in it, and stops
    after the first page; one opens the watch again with the very version that was called too old, in a tight loop; one lets the error in
    the stream out past its own hook; and one takes the end of a stream, which is in the best of order, for the end of all.
    """
    seen: dict[str, str | None] = {}
    for name in ("stays", "goes", "changes"):
        cluster.thing(name, value="old")
    line = cluster.launch(_reader(seen))
    cluster.settle()
    line.hold("things")
    goes, changes = (cluster.get(Thing, f"{cluster.namespace}/{name}") for name in ("goes", "changes"))
    cluster.delete(goes)
    cluster.edit(changes, value="new")
    cluster.thing("comes", value="new")
    asked = len(line.asked("watch", "list", plural="things"))
    fault(line)
    line.release("things")
    cluster.until(lambda: len(seen) == 4 and seen["goes"] is None)
    cluster.settle()
    assert seen == {"stays": "old", "goes": None, "changes": "new", "comes": "new"}
    assert len(line.asked("watch", "list", plural="things")) - asked <= 8
    assert not _unready(cluster)
    (informer,) = cluster.managers[-1].cache.informers
    left = informer.keys()
    assert sorted(key.name for key in left) == ["changes", "comes", "stays"]


def test_a_stream_that_the_server_ends_at_once_each_time_is_not_asked_for_in_a_tight_loop(embedded: Embedded) -> None:
    """The same code: nothing stands between the end of a watch and the next one."""
    seen: dict[str, str | None] = {}
    line = embedded.launch(_reader(seen))
    embedded.settle()
    asked = len(line.asked("watch", "list", plural="things"))
    for _ in range(600):
        line.end("things", expired=True)
        embedded.advance(timedelta(seconds=0.1))
    assert len(line.asked("watch", "list", plural="things")) - asked < 40
    embedded.thing("late", value="new")
    embedded.advance(A_MINUTE)
    assert seen == {"late": "new"}


# ---- credentials


def test_no_run_fails_when_the_token_is_renewed_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """nolar/kopf#934, scylladb/scylla-operator#2287, VictoriaMetrics/VictoriaLogs#995, Infisical/kubernetes-operator#113: the token of the
    service account is renewed in its file, and the server takes the old one no more. From then on everything is answered 401, for ever, or
    one task dies of it and the process lives on.
    """
    file, renewals, refused = tmp_path / "token", list[str](), list[str]()
    file.write_text("first")

    def identify(tokens: Tokens, authorization: str, warnings: list[str], *, public: bool = False) -> Identity:
        """Takes what is in the file. A renewal comes just when a request with the old token is under way."""
        if renewals:
            file.write_text(renewals.pop())
        token = authorization.removeprefix("Bearer ")
        if token != file.read_text():
            refused.append(token)
            raise unauthorized()
        return ADMIN

    monkeypatch.setattr(Tokens, "identify", identify)

    async def main() -> tuple[set[str], list[str]]:
        world, ended, seen = real_world(), list[RunEnded](), list[str]()
        async with ControlPlane(world, controllers=False) as plane, serve(plane.server, world) as address:
            transport = HttpTransport(Config(server=address.url, ca_data=address.ca_pem, token_file=str(file)), world)
            manager = Manager(Connection(transport, world))
            other = Client(Connection(plane.transport(), world))
            await install(other, [Thing])
            keeper = Controller(Thing, name="keeper")

            @keeper.reconciler
            async def keep(ctx: Context, request: Request) -> None:
                thing = await ctx.get(Thing, request)
                if thing is not None and thing.status.seen != thing.spec.value:
                    thing.status.seen = thing.spec.value
                    await ctx.update_status(thing)
                    seen.append(thing.spec.value)

            manager.add(keeper)
            world.observer.subscribe(lambda event: ended.append(event) if isinstance(event, RunEnded) else None)
            async with manager.running(), asyncio.timeout(60):
                await other.create(Thing(metadata=ObjectMeta(name="a", namespace="default"), spec=ThingSpec(value="first")))
                while "first" not in seen:
                    await asyncio.sleep(0.01)
                for token in ("second", "third"):
                    await other.patch(Thing, "default/a", {"spec": {"value": token}})
                    renewals.append(token)
                    while token not in seen:
                        await asyncio.sleep(0.01)
            await manager.client.connection.close()
            await world.threads.close()
        return {run.result for run in ended}, seen

    results, seen = asyncio.run(main())
    assert refused == ["first", "second"]
    assert seen == ["first", "second", "third"]
    assert results == {"success"}
