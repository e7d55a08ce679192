"""The view is the base plus our own writes: at once, never hiding what somebody else did, never swallowing an event."""

import asyncio

from setpoint.api import LabelSelector
from setpoint.api.watch import encode_frame
from setpoint.cache import by_owner
from setpoint.objects import Request
from setpoint.world import simulate

from .model import ModelServer, Setup, bookmark, version_of, widget

A = Request("default", "a")


def held(scenario, *, existing=("a",), **selection):
    """Runs a scenario with the watch held back; at the end it is released, and view, base and server must be equal."""
    server = ModelServer()
    for name in existing:
        server.put(name)

    async def main(world):
        setup = await Setup(world, server, **selection).synced()
        server.hold()
        await scenario(setup, server)
        server.release()
        server.bookmark()
        await asyncio.sleep(1)
        view = {key: setup.informer.get(key) for key in server.state}
        assert setup.informer._view.own_writes == 0
        assert not setup.mistakes
        if not selection:
            assert view == server.state == setup.told.state
        return setup

    return simulate(main)


def test_an_own_update_is_visible_at_once_in_get_and_list_and_the_base_waits_for_its_event():
    async def scenario(setup, server):
        before = setup.get("a")
        after = server.put("a")
        setup.informer.wrote(after)
        assert setup.get("a") == after
        assert setup.informer.list() == [after]
        assert setup.informer.base(A) == before
        assert setup.told.names == ["+a"]

    assert held(scenario).told.names == ["+a", "~a"]


def test_an_own_create_is_visible_at_once_in_get_and_list_and_its_event_is_not_swallowed():
    async def scenario(setup, server):
        setup.informer.wrote(server.put("b"))
        assert setup.names() == ["a", "b"]
        assert setup.names(namespace="default") == ["a", "b"]
        assert len(setup.informer) == 2

    assert held(scenario).told.names == ["+a", "+b"]


def test_an_own_delete_is_visible_at_once_in_get_and_list_and_its_event_is_not_swallowed():
    async def scenario(setup, server):
        setup.informer.deleted(A, server.delete("a"))
        assert setup.get("a") is None
        assert setup.names() == []
        assert setup.told.names == ["+a"]

    assert held(scenario).told.names == ["+a", "-a"]


def test_recreated_under_the_same_name():
    async def scenario(setup, server):
        setup.informer.deleted(A, server.delete("a"))
        again = server.put("a")
        setup.informer.wrote(again)
        assert setup.get("a") == again

    assert held(scenario).told.names == ["+a", "-a", "+a"]


def test_created_and_deleted_before_the_base_saw_either():
    async def scenario(setup, server):
        setup.informer.wrote(server.put("b"))
        setup.informer.deleted(Request("default", "b"), server.delete("b"))
        assert setup.names() == ["a"]

    assert held(scenario).told.names == ["+a", "+b", "-b"]


def test_deleted_created_and_deleted_again_what_was_there_first_does_not_come_back():
    async def scenario(setup, server):
        setup.informer.deleted(A, server.delete("a"))
        setup.informer.wrote(server.put("a"))
        setup.informer.deleted(A, server.delete("a"))
        assert setup.get("a") is None
        assert setup.names() == []

    assert held(scenario).told.names == ["+a", "-a", "+a", "-a"]


def test_a_tombstone_holds_while_older_events_of_its_object_still_arrive():
    async def main(world):
        server = ModelServer()
        server.put("a")
        setup = await Setup(world, server).synced()
        server.hold()
        server.put("a")
        setup.informer.deleted(A, server.delete("a"))
        stream, (event, before, after) = server.held.pop(0)
        stream.deliver(event, before, after)
        await asyncio.sleep(1)
        assert setup.told.names == ["+a", "~a"]
        assert setup.get("a") is None, "what is deleted does not come back, however late its history arrives"
        server.release()
        await asyncio.sleep(1)
        assert setup.told.names == ["+a", "~a", "-a"]

    simulate(main)


def test_a_tombstone_is_kept_only_for_a_uid_that_the_view_holds():
    async def scenario(setup, server):
        setup.informer.deleted(A, "another uid")
        setup.informer.deleted(Request("default", "b"), "uid-b")
        assert setup.names() == ["a"]
        assert setup.informer._view.own_writes == 0

    held(scenario)


def test_a_tombstone_never_hides_another_object_of_that_name():
    async def scenario(setup, server):
        uid = server.delete("a")
        theirs = server.put("a")
        setup.informer.deleted(A, uid)
        server.release()
        await asyncio.sleep(1)
        assert setup.get("a") == theirs

    held(scenario)


def test_a_tombstone_ends_with_a_relist_without_it():
    async def scenario(setup, server):
        setup.informer.deleted(A, server.delete("a"))
        server.forget()
        server.cut()
        server.release()
        await asyncio.sleep(5)
        assert setup.informer._view.own_writes == 0
        assert setup.told.names == ["+a", "-a"]

    held(scenario)


def test_a_foreign_change_wins():
    async def scenario(setup, server):
        ours = server.put("a")
        theirs = server.put("a", labels={"by": "them"})
        setup.informer.wrote(ours)
        assert setup.get("a") == ours
        server.release()
        await asyncio.sleep(1)
        assert setup.get("a") == theirs

    held(scenario)


def test_a_foreign_change_that_came_first_is_not_hidden_by_a_late_answer():
    async def scenario(setup, server):
        ours = server.put("a")
        theirs = server.put("a", labels={"by": "them"})
        server.release()
        await asyncio.sleep(1)
        setup.informer.wrote(ours)
        assert setup.get("a") == theirs

    held(scenario)


def test_an_own_write_stays_while_the_base_still_catches_up_on_that_object():
    async def scenario(setup, server):
        server.put("a", labels={"by": "them"})
        ours = server.put("a", labels={"by": "us"})
        setup.informer.wrote(ours)
        stream, event = server.held.pop(0)
        stream.deliver(*event)
        await asyncio.sleep(1)
        assert setup.told.names == ["+a", "~a"]
        assert setup.get("a") == ours

    held(scenario)


def test_a_foreign_deletion_wins():
    async def scenario(setup, server):
        setup.informer.wrote(server.put("a"))
        server.delete("a")
        server.release()
        await asyncio.sleep(1)
        assert setup.names() == []

    held(scenario)


def test_answers_that_come_out_of_order_leave_the_newest():
    async def scenario(setup, server):
        first, second = server.put("a"), server.put("a")
        setup.informer.wrote(second)
        setup.informer.wrote(first)
        assert setup.get("a") == second
        setup.informer.deleted(A, server.delete("a"))
        setup.informer.wrote(second)
        assert setup.get("a") is None

    held(scenario)


def test_an_own_write_ends_with_a_bookmark_too():
    async def main(world):
        server = ModelServer()
        setup = await Setup(world, server, labels="app=x").synced()
        server.put("a", labels={"app": "x"})
        await asyncio.sleep(1)
        server.hold()
        left = server.put("a", labels={})
        setup.informer.wrote(left)
        assert setup.names() == []
        server.held.clear()
        server.streams[0].queue.put_nowait(bookmark(server.elsewhere()))
        await asyncio.sleep(1)
        assert setup.informer._view.own_writes == 0

    simulate(main)


def test_an_own_write_that_leaves_the_selection_leaves_the_view():
    async def main(world):
        server = ModelServer()
        server.put("a", labels={"app": "x"})
        setup = await Setup(world, server, labels="app=x").synced()
        server.hold()
        setup.informer.wrote(server.put("a", labels={"app": "y"}))
        setup.informer.wrote(server.put("b", labels={"app": "y"}))
        assert setup.names() == []
        back = server.put("a", labels={"app": "x"})
        setup.informer.wrote(back)
        assert setup.names() == ["a"]
        server.release()
        await asyncio.sleep(1)
        assert setup.get("a") == back

    simulate(main)


def test_an_own_write_in_another_namespace_is_none_of_the_informers():
    async def main(world):
        setup = await Setup(world, ModelServer(), namespace="here").synced()
        setup.informer.wrote(widget("a", 10, namespace="there"))
        assert setup.names() == []

    simulate(main)


def test_an_own_write_before_the_first_list_is_visible_after_it():
    async def main(world):
        server = ModelServer()
        setup = Setup(world, server)
        setup.informer.wrote(widget("a", 10))
        await setup.synced()
        assert setup.names() == ["a"]

    simulate(main)


def test_versions_that_are_no_integers_have_no_own_writes_and_the_cache_works():
    async def main(world):
        server = ModelServer()
        server.mute = True
        setup = Setup(world, server)
        while not server.streams:
            await asyncio.sleep(0.001)
        stream = server.streams[0]
        for frame in (encode_frame("ADDED", widget("a", "v-one")), bookmark("v-two", initial_end=True)):
            stream.queue.put_nowait(frame)
        await setup.synced()
        assert not setup.informer.sees_own_writes
        assert setup.informer.version == 0
        await setup.informer.reached(10)
        setup.informer.wrote(widget("a", "v-three"))
        setup.informer.deleted(A, "uid-a")
        assert setup.get("a") == widget("a", "v-one")
        stream.queue.put_nowait(encode_frame("MODIFIED", widget("a", "v-a")))
        stream.queue.put_nowait(encode_frame("DELETED", widget("a", "v-0")))
        await asyncio.sleep(1)
        assert setup.told.names == ["+a", "~a", "-a"]

    simulate(main)


def test_the_owner_index_knows_own_writes():
    async def main(world):
        server = ModelServer()
        setup = await Setup(world, server).synced()
        setup.informer.index(by_owner)
        owner = {"apiVersion": "v1", "kind": "X", "name": "o", "uid": "owner-1", "controller": True}
        setup.informer.wrote(widget("a", 5, ownerReferences=[owner]))
        setup.informer.wrote(widget("b", 6, ownerReferences=[{**owner, "controller": False}]))
        assert setup.names(owner="owner-1") == ["a"]
        assert setup.names(owner="owner-1", namespace="elsewhere") == []
        setup.informer.wrote(widget("a", 7, ownerReferences=[{**owner, "uid": "owner-2"}]))
        assert setup.names(owner="owner-1") == []
        assert setup.names(owner="owner-2") == ["a"]
        setup.informer.deleted(A, "uid-a")
        assert setup.names(owner="owner-2") == []

    simulate(main)


def test_waiting_for_a_version_ends_when_the_base_has_reached_it_and_not_before():
    async def scenario(setup, server):
        ours = server.put("a")
        setup.informer.wrote(ours)
        waiting = asyncio.get_running_loop().create_task(setup.informer.reached(version_of(ours)))
        await asyncio.sleep(30)
        assert not waiting.done()
        server.release()
        await asyncio.sleep(0.01)
        assert waiting.done()
        await setup.informer.reached(1)

    held(scenario)


def test_waiting_for_a_version_ends_with_the_history_that_it_belongs_to():
    async def scenario(setup, server):
        waiting = asyncio.get_running_loop().create_task(setup.informer.reached(version_of(server.put("a"))))
        await asyncio.sleep(1)
        assert not waiting.done()
        server.restore(0)
        server.release()
        await asyncio.sleep(300)
        assert waiting.done()

    held(scenario)


def test_labels_select_own_writes_as_they_are_now():
    async def scenario(setup, server):
        setup.informer.wrote(server.put("a", labels={"tier": "web"}))
        assert setup.names(labels=LabelSelector.parse("tier=web")) == ["a"]
        assert setup.names(labels=LabelSelector.parse("tier!=web")) == []

    held(scenario)


def test_what_we_made_and_somebody_deleted_before_the_base_could_show_it_is_told_of():
    """A list that lacks it is the only sign: without being told, an owner that has read its own write would never run again."""

    async def scenario(setup, server):
        setup.informer.wrote(server.put("b"))
        server.delete("b")
        server.forget()
        server.cut()
        await asyncio.sleep(30)

    assert held(scenario).told.names == ["+a", "+b", "-b"]
