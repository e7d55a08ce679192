"""The reflector keeps a base in step, whatever happens to its requests and streams."""

import asyncio
import itertools
import logging

import pytest

from setpoint.api import Answer
from setpoint.api.status import expired, failure
from setpoint.api.watch import encode_frame
from setpoint.cache import HandlerFailed, ObjectSkipped, ReflectorState
from setpoint.objects import Request
from setpoint.world import World, simulate

from .model import ModelServer, Setup, bookmark, widget


def running(scenario, *, server=None, seed=0, **selection):
    """Runs a scenario on a cache whose first list is in, and checks at the end that base and handlers equal the server."""
    server = server or ModelServer()

    async def main(world: World):
        setup = Setup(world, server, **selection)
        await setup.synced()
        await scenario(setup, server)
        await asyncio.sleep(120)
        assert not setup.task.done()
        assert not setup.mistakes
        if not selection:
            assert setup.told.state == server.state
            assert {key: setup.informer.base(key) for key in server.state} == server.state
            assert len(setup.informer) == len(server.state)
        return setup

    return simulate(main, seed=seed)


def with_objects(*names, **options):
    server = ModelServer(**options)
    for name in names:
        server.put(name)
    return server


def test_one_streaming_list_lists_and_watches():
    async def scenario(setup, server):
        server.put("c")
        server.delete("a")

    setup = running(scenario, server=with_objects("a", "b"))
    assert setup.verbs()[0] == "stream"
    assert "list" not in setup.verbs()
    assert setup.told.names == ["+a", "+b", "+c", "-a"]
    assert [change.initial for change in setup.told.changes] == [True, True, False, False]


def test_the_streaming_list_is_asked_for_as_the_api_wants_it():
    async def scenario(setup, server):
        options = server.asked[0].options
        assert options["sendInitialEvents"] == "true"
        assert options["resourceVersionMatch"] == "NotOlderThan"
        assert options["allowWatchBookmarks"] == "true"
        assert 300 <= int(options["timeoutSeconds"]) <= 600

    running(scenario)


def test_a_server_that_refuses_streaming_lists_is_asked_for_pages_and_a_watch_from_their_version():
    async def scenario(setup, server):
        server.put("f")

    server = with_objects("a", "b", "c", "d", "e", streaming_lists=False)
    setup = running(scenario, server=server)
    assert setup.verbs()[:5] == ["stream", "list", "list", "list", "watch"]
    assert [operation.options.get("limit") for operation in server.asked[1:4]] == ["500"] * 3
    assert server.asked[4].options["resourceVersion"] == "5"
    assert setup.told.names == ["+a", "+b", "+c", "+d", "+e", "+f"]


@pytest.mark.parametrize("code", [400, 405, 406, 415, 422, 501])
def test_any_refusal_of_a_streaming_list_falls_back_to_pages(code):
    async def scenario(setup, server):
        assert setup.verbs()[:2] == ["stream", "list"]

    server = with_objects("a")
    server.failures = [failure(code, "", "no").status.answer()]
    running(scenario, server=server)


def test_a_server_that_never_ends_the_initial_events_is_asked_for_pages():
    async def scenario(setup, server):
        assert setup.verbs()[:2] == ["stream", "list"]
        assert asyncio.get_running_loop().time() < 20

    server = with_objects("a", "b")
    server.mute = True
    running(scenario, server=server)


def test_changes_between_pages_are_not_lost():
    async def main(world):
        server = with_objects("a", "b", "c", "d", streaming_lists=False)
        setup = Setup(world, server)
        while setup.verbs().count("list") < 1:
            await asyncio.sleep(0.0005)
        await asyncio.sleep(0.0008)
        server.delete("a")
        server.put("d")
        server.put("e")
        await setup.synced()
        await asyncio.sleep(1)
        assert setup.told.state == server.state

    simulate(main)


def test_half_a_list_is_never_shown():
    async def main(world):
        server = with_objects("a", "b", "c", "d", "e", streaming_lists=False)
        setup = Setup(world, server)
        seen = set()
        while not setup.informer.has_synced:
            seen.add(len(setup.informer))
            await asyncio.sleep(0.0002)
        assert seen == {0}
        assert len(setup.informer) == 5

    simulate(main)


def test_bookmarks_advance_the_version():
    async def scenario(setup, server):
        version = server.elsewhere()
        server.bookmark()
        await setup.informer.reached(version)
        assert setup.informer.version == version
        server.cut()
        server.forget()
        await asyncio.sleep(5)
        assert setup.verbs() == ["stream", "watch"], "the version of the bookmark is young enough to resume from"

    running(scenario, server=with_objects("a"))


def test_a_cut_stream_resumes_without_loss_or_repetition():
    async def scenario(setup, server):
        server.hold()
        server.put("b")
        server.delete("a")
        server.cut()
        server.release()
        server.put("c")
        await asyncio.sleep(5)
        assert setup.told.names == ["+a", "+b", "-a", "+c"]
        assert "list" not in setup.verbs()
        assert setup.verbs().count("stream") == 1

    running(scenario, server=with_objects("a"))


def test_a_stream_that_the_server_ends_is_resumed_at_once():
    async def scenario(setup, server):
        await asyncio.sleep(400)
        server.end()
        server.put("b")
        await asyncio.sleep(0.1)
        assert setup.told.names == ["+a", "+b"]

    async def with_bookmarks(setup, server):
        async def every_minute():
            while True:
                await asyncio.sleep(60)
                server.bookmark()

        task = asyncio.get_running_loop().create_task(every_minute())
        await scenario(setup, server)
        task.cancel()

    running(with_bookmarks, server=with_objects("a"))


def test_a_server_that_ends_every_watch_at_once_is_not_asked_in_a_tight_loop():
    async def scenario(setup, server):
        asked = len(server.asked)
        for _ in range(6000):
            server.end()
            await asyncio.sleep(0.01)
        assert len(server.asked) - asked < 20

    running(scenario)


def _in_the_stream(server):
    server.say(encode_frame("ERROR", expired("too old resource version").status.encode()))
    server.say(None)


def _as_an_answer(server):
    server.cut()
    server.failures = [expired("too old resource version").status.answer()]


def _on_resuming(server):
    server.cut()
    server.forget()


@pytest.mark.parametrize("expire", [_in_the_stream, _as_an_answer, _on_resuming])
@pytest.mark.parametrize("streaming_lists", [True, False])
def test_410_in_any_form_relists_and_infers_what_was_deleted(expire, streaming_lists):
    async def scenario(setup, server):
        server.hold()
        server.delete("a")
        server.put("b")
        server.put("d")
        server.elsewhere()
        expire(server)
        server.release() if expire is not _in_the_stream else setattr(server, "held", None)
        await asyncio.sleep(5)
        assert setup.told.names[:3] == ["+a", "+b", "+c"]
        assert sorted(setup.told.names[3:]) == ["+d", "-a", "~b"]
        assert not any(change.initial for change in setup.told.changes[3:])

    running(scenario, server=with_objects("a", "b", "c", streaming_lists=streaming_lists, page=10))


def test_410_while_paging_starts_the_list_again_and_asks_for_all_at_once():
    async def main(world):
        server = with_objects("a", "b", "c", "d", "e", streaming_lists=False)
        setup = Setup(world, server)
        while setup.verbs().count("list") < 2:
            await asyncio.sleep(0.0005)
        server.put("f")
        server.forget()
        await setup.synced()
        assert "limit" not in [op for op in server.asked if op.verb == "list"][-1].options
        assert setup.told.state == server.state

    simulate(main)


def test_a_server_that_always_says_410_is_asked_ever_more_rarely():
    async def scenario(setup, server):
        asked = len(server.asked)
        for _ in range(6000):
            _in_the_stream(server)
            await asyncio.sleep(0.01)
        assert len(server.asked) - asked < 40

    running(scenario, server=with_objects("a"))


def test_an_error_event_of_another_kind_resumes_from_the_last_version():
    async def scenario(setup, server):
        server.say(encode_frame("ERROR", failure(500, "InternalError", "etcd is gone").status.encode()))
        await asyncio.sleep(5)
        assert setup.verbs() == ["stream", "watch"]

    running(scenario, server=with_objects("a"))


def test_a_version_that_goes_backwards_within_a_stream_forces_a_relist():
    async def scenario(setup, server):
        server.say(encode_frame("MODIFIED", widget("b", 9, uid="x")))
        server.say(encode_frame("MODIFIED", widget("b", 8, uid="x")))
        await asyncio.sleep(1)
        for _ in range(10):
            server.elsewhere()
        await asyncio.sleep(10)
        assert setup.verbs()[:2] == ["stream", "stream"]

    running(scenario, server=with_objects("a"))


def test_what_a_resumed_stream_repeats_has_no_effect():
    async def scenario(setup, server):
        server.put("a")
        server.put("b")
        await asyncio.sleep(1)
        server.cut()
        while not server.streams:
            await asyncio.sleep(0.0005)
        stream = server.streams[0]
        for _, event, _, _, after in server.history:
            stream.queue.put_nowait(encode_frame(event, after))
        await asyncio.sleep(1)
        assert setup.told.names == ["+a", "~a", "+b"]
        assert setup.verbs() == ["stream", "watch"]

    running(scenario, server=with_objects("a"))


def test_a_silent_peer_is_noticed():
    async def scenario(setup, server):
        silent, server.streams = server.streams[0], []
        server.put("b")
        await asyncio.sleep(100)
        assert silent.closed
        assert setup.told.names == ["+a", "+b"]

    running(scenario, server=with_objects("a"))


def test_429_is_obeyed_for_ever():
    async def main(world):
        server = with_objects("a")
        refusal = failure(429, "TooManyRequests", "please wait").status
        server.failures = [Answer(status=429, body=refusal.encode(), headers={"retry-after": "20"}) for _ in range(50)]
        setup = Setup(world, server)
        await setup.synced()
        assert asyncio.get_running_loop().time() >= 50 * 20
        assert len(server.asked) == 51

    simulate(main)


@pytest.mark.parametrize("outcome", [failure(500, "InternalError", "x").status.answer(), failure(401, "Unauthorized", "x").status.answer()])
def test_a_failure_never_ends_it(outcome):
    async def main(world):
        server = with_objects("a")
        server.failures = [outcome] * 200
        setup = Setup(world, server)
        await setup.synced()
        assert asyncio.get_running_loop().time() < 200 * 31
        assert setup.names() == ["a"]

    simulate(main)


def test_pauses_grow_and_differ_between_clients():
    def pauses(seed):
        async def main(world):
            server = ModelServer()
            times = []
            original = server.send

            async def send(operation):
                times.append(asyncio.get_running_loop().time())
                return await original(operation)

            server.send = send
            server.failures = [failure(500, "InternalError", "x").status.answer()] * 8
            await Setup(world, server).synced()
            return [round(after - before, 3) for before, after in itertools.pairwise(times)]

        return simulate(main, seed=seed)

    assert pauses(1) == pauses(1)
    assert pauses(1) != pauses(2)
    assert all(earlier < later * 1.01 for earlier, later in zip(pauses(1), pauses(1)[2:], strict=False))


def test_a_kind_that_is_not_served_is_waited_for_and_said_so():
    async def main(world):
        server = with_objects("a")
        server.served = False
        states = []
        world.observer.subscribe(lambda event: states.append(event.state) if isinstance(event, ReflectorState) else None)
        setup = Setup(world, server)
        await asyncio.sleep(60)
        assert setup.informer.state.name == "NotServed"
        assert not setup.informer.has_synced
        server.served = True
        await setup.synced()
        assert setup.names() == ["a"]
        assert states[0] == "NotServed"
        assert states[-1] == "Watching"

    simulate(main)


def test_a_trouble_that_lasts_is_a_warning_once_and_again_after_it_was_over(caplog):
    async def main(world):
        server = with_objects("a")
        server.served = False
        setup = Setup(world, server)
        await asyncio.sleep(60)
        assert len(warnings()) == 1
        server.served = True
        await setup.synced()
        server.served = False
        _in_the_stream(server)
        await asyncio.sleep(60)
        assert len([text for text in warnings() if text == warnings()[0]]) == 2

    def warnings() -> list[str]:
        texts = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
        return [text.split("; trying again")[0] for text in texts]

    simulate(main)


def test_an_error_never_means_that_objects_are_gone():
    async def scenario(setup, server):
        server.served = False
        _in_the_stream(server)
        await asyncio.sleep(60)
        assert setup.informer.state.name == "NotServed"
        assert setup.names() == ["a"]
        server.served = True

    running(scenario, server=with_objects("a"))


def test_an_object_that_cannot_be_read_is_reported_and_the_others_go_on():
    async def scenario(setup, server):
        skipped = []
        setup.world.observer.subscribe(lambda event: skipped.append(event) if isinstance(event, ObjectSkipped) else None)
        server.say(b"not even JSON")
        server.say(encode_frame("ADDED", b'{"metadata":{"name":7}}'))
        server.say(encode_frame("ADDED", b'{"metadata":{}}'))
        server.say(encode_frame("BOOKMARK", b'{"metadata":7}'))
        server.put("b")
        await asyncio.sleep(1)
        assert len(skipped) == 4
        assert setup.told.names == ["+a", "+b"]
        assert setup.verbs() == ["stream"]

    running(scenario, server=with_objects("a"))


def test_a_handler_that_raises_harms_nobody_else():
    async def scenario(setup, server):
        failed = []
        setup.world.observer.subscribe(lambda event: failed.append(event.key.name) if isinstance(event, HandlerFailed) else None)
        setup.informer.subscribe(lambda change: 1 / 0)
        late = []
        setup.informer.subscribe(lambda change: late.append(change.key.name))
        server.put("b")
        await asyncio.sleep(1)
        assert failed == ["a", "b"]
        assert late == ["a", "b"]
        assert len(setup.mistakes) == 2
        setup.mistakes.clear()

    running(scenario, server=with_objects("a"))


def test_an_older_list_is_refused_so_the_base_never_goes_back():
    async def scenario(setup, server):
        server.put("b")
        await asyncio.sleep(1)
        version, state, history = server.version, dict(server.state), list(server.history)
        server.version, server.state, server.history = 1, {Request("default", "a"): state[Request("default", "a")]}, history[:1]
        _in_the_stream(server)
        await asyncio.sleep(0.5)
        assert setup.names() == ["a", "b"]
        assert setup.informer.version == version
        server.version, server.state, server.history = version, state, history
        await asyncio.sleep(5)
        assert setup.told.names == ["+a", "+b"]

    running(scenario, server=with_objects("a"))


def test_a_server_with_another_history_is_accepted_after_it_has_insisted():
    async def scenario(setup, server):
        server.version, server.history, server.state = 0, [], {}
        server.put("z")
        server.cut()
        server.failures = [expired("unknown version").status.answer()]
        await asyncio.sleep(100)
        assert setup.names() == ["z"]
        assert setup.informer.version == 1

    running(scenario, server=with_objects("a", "b", "c"))


@pytest.mark.parametrize("bookmarks", [True, False])
def test_a_server_that_is_restored_from_a_backup_is_noticed_by_its_bookmarks_or_its_silence(bookmarks):
    """It has no reason to refuse a watch from a version that it has not reached again; it would merely leave out what comes until then."""

    async def scenario(setup, server):
        for label in "1234":
            server.put("a", labels={"n": label})
        server.put("lost")
        await asyncio.sleep(1)
        server.restore(3)
        server.delete("b")
        server.put("new")
        for _ in range(6):
            await asyncio.sleep(50)
            if bookmarks:
                server.bookmark()
        assert setup.told.state == server.state
        assert setup.names() == ["a", "new"]
        assert setup.informer.version == server.version < 6

    running(scenario, server=with_objects("a", "b"))


def test_a_version_that_is_used_once_more_for_another_state_is_a_change():
    async def scenario(setup, server):
        server.put("a", labels={"n": "before"})
        server.put("b")
        await asyncio.sleep(1)
        server.restore(1)
        server.put("a", labels={"n": "after"})
        await asyncio.sleep(300)
        assert setup.told.names == ["+a", "~a", "+b", "-b", "~a"]

    running(scenario, server=with_objects("a"))


def test_the_order_of_frames_is_kept_whatever_they_arrive_with():
    """The end of the initial events and what comes after it may be one read."""

    async def main(world):
        server = with_objects("a")
        server.mute = True
        setup = Setup(world, server)
        while not server.streams:
            await asyncio.sleep(0.0005)
        stream = server.streams[0]
        for frame in (bookmark(1, initial_end=True), encode_frame("ADDED", widget("b", 2)), bookmark(5)):
            stream.queue.put_nowait(frame)
        await setup.synced()
        assert setup.told.names == ["+a", "+b"]
        assert setup.informer.version == 5

    simulate(main)


def test_the_cache_ends_with_its_streams_closed():
    async def main(world):
        server = with_objects("a")
        setup = await Setup(world, server).synced()
        stream = server.streams[0]
        setup.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await setup.task
        assert stream.closed

    simulate(main)
