"""Triggers from an app and over HTTP: they end on the queue of the controller that they name, and say what is wrong with them."""

import asyncio
import hashlib
import hmac
import json
import logging
import os
import sys
import urllib.error
import urllib.request

import pytest

from setpoint import Context, Controller, ObjectMeta, Request
from setpoint.client import Connection
from setpoint.cluster import ControlPlane
from setpoint.controller import Bearer, HookCalled, QueueAdded, Signature
from setpoint.controller.hooks import Auth, Headers
from setpoint.k8s.core.v1 import ConfigMap, Namespace
from setpoint.manager import LeaderElection, Manager, Options
from setpoint.manager.hooks import TooLarge, answer
from setpoint.world import World, real_world, simulate

A, B = Request("default", "a"), Request("default", "b")


def counted(kind=ConfigMap, name="counted"):
    controller = Controller(kind, name=name, resync=None)
    runs = []

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        runs.append(str(request))

    return controller, runs


def managed(main, *controllers, **options):
    """Runs `main(manager)` beside a manager that has reconciled the config maps `a` and `b`, in simulated time."""

    async def body(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            manager = Manager(Connection(plane.transport(), world), options=Options(**options))
            for name in "ab":
                await manager.client.create(ConfigMap(metadata=ObjectMeta(name=name, namespace="default")))
            manager.add(*controllers)
            running = asyncio.create_task(manager.run())
            await asyncio.sleep(10)
            try:
                return await main(manager)
            finally:
                manager.stop()
                await running

    return simulate(body)


async def call(manager, path, body=b"", **headers):
    """What the endpoint answers, without a socket, and what it has to say."""
    controller, _, name = path.partition("/")

    async def read(limit):
        if len(body) > limit:
            raise TooLarge
        return body

    given = Headers((key.replace("_", "-"), value) for key, value in headers.items())
    return await answer({runtime.name: runtime for runtime in manager.controllers}.get, controller, name, given, read)


# ---- from an app


def test_an_app_asks_for_a_run_of_one_object_or_of_all():
    controller, runs = counted()
    heard = []

    async def main(manager):
        manager.world.observer.subscribe(lambda event: isinstance(event, QueueAdded) and heard.append(event))
        runs.clear()
        manager.trigger(controller, A, "the price has changed")
        manager.trigger("counted", B)
        await asyncio.sleep(1)
        assert runs == ["default/a", "default/b"]
        assert [event.reason for event in heard] == ["the price has changed", "triggered"]
        runs.clear()
        manager.trigger_all(controller, "new prices")
        await asyncio.sleep(1)
        assert runs == ["default/a", "default/b"]

    managed(main, controller)


def test_what_is_asked_for_before_the_start_is_done_at_the_start():
    controller, runs = counted()

    async def body(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            manager = Manager(Connection(plane.transport(), world))
            manager.add(controller)
            manager.trigger(controller, Request("default", "nobody"))
            manager.trigger_all(controller)
            running = asyncio.create_task(manager.run())
            await asyncio.sleep(10)
            manager.stop()
            await running
            manager.trigger(controller, A)  # too late: nothing happens

    simulate(body)
    assert runs == ["default/nobody"]


def test_another_thread_asks_for_a_run_and_hears_at_once_what_is_wrong():
    controller, runs = counted()

    async def main():
        world = real_world()
        async with ControlPlane(world, controllers=False) as plane:
            manager = Manager(Connection(plane.transport(), world))
            manager.add(controller)
            running = asyncio.create_task(manager.run())
            async with asyncio.timeout(20):
                while not manager.has_started:
                    await asyncio.sleep(0.01)

                def in_a_thread():
                    with pytest.raises(ValueError, match="in which namespace"):
                        manager.trigger_threadsafe(controller, Request("", "a"))
                    manager.trigger_threadsafe(controller, A)

                await asyncio.get_running_loop().run_in_executor(None, in_a_thread)
                while not runs:
                    await asyncio.sleep(0.01)
            manager.stop()
            await running
        await world.threads.close()
        return manager

    manager = asyncio.run(main())
    assert runs == ["default/a"]
    with pytest.raises(RuntimeError, match="closed"):
        manager.trigger_threadsafe(controller, A)


def test_what_cannot_be_triggered_is_refused_with_a_reason():
    controller, runs = counted()
    cluster_wide, _ = counted(Namespace, "cluster-wide")
    stranger, _ = counted()

    async def main(manager):
        runs.clear()
        for request, error, says in [
            ("default/a", TypeError, "takes a Request"),
            (Request("", "a"), ValueError, "in which namespace is ConfigMap 'a'"),
            (Request("default", ""), ValueError, "is no name"),
            (Request("default", "a/b"), ValueError, "is no name"),
            (Request("elsewhere", "a"), ValueError, "is in a namespace that is not watched here"),
        ]:
            with pytest.raises(error, match=says):
                manager.trigger(controller, request)
        with pytest.raises(ValueError, match="Namespace is in no namespace"):
            manager.trigger(cluster_wide, Request("default", "default"))
        with pytest.raises(LookupError, match="has no controller 'other'"):
            manager.trigger("other", A)
        with pytest.raises(LookupError, match="another 'counted'"):
            manager.trigger(stranger, A)
        await asyncio.sleep(1)
        assert runs == []

    managed(main, controller, cluster_wide, namespace="default")


# ---- over HTTP


def hooked(**declared):
    controller, runs = counted()

    @controller.hook("push", **declared)
    def push(headers, body):
        names = json.loads(body)
        if not names:
            raise ValueError("name at least one\nobject")
        return [Request("default", name) for name in names]

    return controller, runs


def test_a_hook_enqueues_what_its_function_gives_and_answers_with_the_number_of_keys():
    controller, runs = hooked()

    @controller.hook()
    async def everything(headers, body, reader):
        return [found.key for found in await reader.list(ConfigMap)]

    heard = []

    async def main(manager):
        manager.world.observer.subscribe(lambda event: isinstance(event, HookCalled | QueueAdded) and heard.append(event))
        runs.clear()
        assert await call(manager, "counted/push", b'["a", "a", "new"]') == (202, '{"enqueued": 2}\n')
        await asyncio.sleep(1)
        assert runs == ["default/a", "default/new"]
        runs.clear()
        assert await call(manager, "counted") == (202, '{"enqueued": 2}\n')
        await asyncio.sleep(1)
        assert runs == ["default/a", "default/b"]
        return [(event.hook, event.code, event.keys) for event in heard if isinstance(event, HookCalled)]

    assert managed(main, controller) == [("push", 202, 2), ("", 202, 2)]
    assert [event.reason for event in heard if isinstance(event, QueueAdded)] == ["hook push", "hook push", "hook", "hook"]


@pytest.mark.parametrize(
    ("path", "body", "code", "says"),
    [
        ("counted/push", b"[]", 400, "name at least one object\n"),
        ("counted/push", b"{", 400, "Expecting property name"),
        ("counted/push", b'[""]', 400, "which ConfigMap? '' is no name\n"),
        ("counted/push", b'["a", "b/c"]', 400, "is no name"),
        ("counted/push", b"[7]", 500, "the hook has failed\n"),
        ("counted/push", b"7", 500, "the hook has failed\n"),
        ("counted/push", b" " * 101, 413, "the body is larger than 100 bytes\n"),
        ("counted", b"", 404, "there is no hook '' of controller 'counted'\n"),
        ("counted/pull", b"", 404, "there is no hook 'pull' of controller 'counted'\n"),
        ("other/push", b"", 404, "there is no controller 'other'\n"),
    ],
)
def test_what_a_hook_refuses_is_said_in_one_sentence_and_enqueues_nothing(path, body, code, says, caplog):
    controller, runs = hooked(max_bytes=100)

    async def main(manager):
        runs.clear()
        answered, text = await call(manager, path, body)
        await asyncio.sleep(1)
        assert answered == code
        assert says in text
        assert text.count("\n") == 1
        assert runs == []

    with caplog.at_level(logging.ERROR):
        managed(main, controller)
    assert ("the hook 'push' of counted failed" in caplog.text) == (code == 500)


def test_a_hook_answers_503_before_its_controller_has_started_and_after_it_was_stopped():
    controller, _ = hooked()

    async def body(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            first, second = (
                Manager(
                    Connection(plane.transport(), world),
                    options=Options(leader_election=LeaderElection(name="hooks", namespace="default")),
                )
                for _ in range(2)
            )
            for manager in (first, second):
                manager.add(controller)
            assert (await call(first, "counted/push", b'["a"]'))[0] == 503
            leading = asyncio.create_task(first.run())
            await asyncio.sleep(10)
            standing_by = asyncio.create_task(second.run())
            await asyncio.sleep(10)
            assert (await call(first, "counted/push", b'["a"]'))[0] == 202
            assert await call(second, "counted/push", b'["a"]') == (503, "Controller 'counted' does not run here now\n")
            first.stop()
            await leading
            await asyncio.sleep(10)
            assert (await call(first, "counted/push", b'["a"]'))[0] == 503
            assert (await call(second, "counted/push", b'["a"]'))[0] == 202
            second.stop()
            await standing_by

    simulate(body)


def test_a_bearer_token_is_asked_for_and_read_again_when_it_is_rotated(tmp_path, caplog):
    secret = tmp_path / "token"
    controller, _ = hooked(auth=Bearer(file=secret))

    async def main(manager):
        assert (await call(manager, "counted/push", b'["a"]', authorization="Bearer x"))[0] == 503
        secret.write_text("\n")
        assert (await call(manager, "counted/push", b'["a"]', authorization="Bearer "))[0] == 503
        secret.write_text("open sesame\n")
        for wrong in ("", "Bearer", "Bearer open", "Basic open sesame", "open sesame", "Bearer \udcff"):
            assert (await call(manager, "counted/push", b'["a"]', authorization=wrong))[0] == 401
        assert (await call(manager, "counted/push", b'["a"]'))[0] == 401
        assert (await call(manager, "counted/push", b'["a"]', authorization="bearer open sesame"))[0] == 202
        secret.write_text("another")
        assert (await call(manager, "counted/push", b'["a"]', authorization="Bearer open sesame"))[0] == 401
        assert (await call(manager, "counted/push", b'["a"]', Authorization="Bearer another"))[0] == 202

    with caplog.at_level(logging.ERROR):
        managed(main, controller)
    assert "nobody can call the hook 'push' of counted" in caplog.text
    assert "sesame" not in caplog.text


def test_a_signature_of_the_body_is_asked_for(monkeypatch):
    monkeypatch.setenv("HOOK_SECRET", "It's a Secret to Everybody")
    controller, _ = hooked(auth=Signature(env="HOOK_SECRET"))
    # GitHub's own example of a secret, a body and their digest
    digest = hmac.new(b"It's a Secret to Everybody", b"Hello, World!", hashlib.sha256).hexdigest()
    assert digest == "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    signed = hmac.new(b"It's a Secret to Everybody", b'["a"]', hashlib.sha256).hexdigest()

    async def main(manager):
        for wrong in ("", digest, f"sha256={digest}", signed, f"sha1={signed}"):
            assert (await call(manager, "counted/push", b'["a"]', x_hub_signature_256=wrong))[0] == 401
        assert (await call(manager, "counted/push", b'["b"]', x_hub_signature_256=f"sha256={signed}"))[0] == 401
        assert (await call(manager, "counted/push", b'["a"]', X_Hub_Signature_256=f"sha256={signed}"))[0] == 202

    managed(main, controller)


def test_the_endpoint_is_plain_http_and_its_port_is_the_one_that_was_asked_for():
    controller, runs = hooked(max_bytes=1000)

    def post(url, body, method="POST"):
        try:
            with urllib.request.urlopen(urllib.request.Request(url, data=body, method=method), timeout=5) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    async def main():
        world = real_world()
        async with ControlPlane(world, controllers=False) as plane:
            manager = Manager(Connection(plane.transport(), world), options=Options(hooks=("127.0.0.1", 0)))
            manager.add(controller)
            running = asyncio.create_task(manager.run())
            async with asyncio.timeout(30):
                while not manager.has_started:
                    await asyncio.sleep(0.01)
                (address,) = manager.addresses
                loop = asyncio.get_running_loop()

                async def there(path, body, method="POST"):
                    return await loop.run_in_executor(None, post, f"{address}/hooks/{path}", body, method)

                found = [
                    await there("counted/push", b'["a"]'),
                    await there("counted/push", b" " * 5000),
                    await there("counted/pull", b""),
                    (await there("counted/push", b"", "PUT"))[0],
                ]
                while not runs:
                    await asyncio.sleep(0.01)
            manager.stop()
            await running
        await world.threads.close()
        return found

    assert asyncio.run(main()) == [
        (202, '{"enqueued": 1}\n'),
        (413, "the body is larger than 1000 bytes\n"),
        (404, "there is no hook 'pull' of controller 'counted'\n"),
        405,
    ]
    assert runs == ["default/a"]


# ---- declarations


def test_hooks_that_cannot_be_called_are_refused_at_the_declaration():
    controller, _ = counted()

    async def too_few(headers, body): ...

    def too_many(headers, body, reader): ...

    for wrong, says in [(too_few, "headers, body, reader"), (too_many, r"\(headers, body\)"), (7, "is not a function")]:
        with pytest.raises(TypeError, match=says):
            controller.hook("x")(wrong)
    with pytest.raises(TypeError, match="with the parentheses"):
        controller.hook(too_many)
    with pytest.raises(ValueError, match="lower-case"):
        controller.hook("A b")(lambda headers, body: [])
    with pytest.raises(TypeError, match="auth takes Bearer"):
        controller.hook("x", auth="secret")(lambda headers, body: [])
    with pytest.raises(ValueError, match="max_bytes"):
        controller.hook("x", max_bytes=-1)(lambda headers, body: [])
    controller.hook("x")(lambda headers, body: [])
    with pytest.raises(ValueError, match="has a hook 'x' already"):
        controller.hook("x")(lambda headers, body: [])
    for made in (Bearer, Signature, lambda: Bearer(env="A", file="b")):
        with pytest.raises(ValueError, match="env= or file="):
            made()
    with pytest.raises(ValueError, match="no algorithm"):
        Signature(env="A", algorithm="rot13")


# ---- watches at run time


def test_an_app_adds_and_ends_a_watch_while_the_manager_runs():
    controller, runs = counted()

    async def main(manager):
        runs.clear()
        watch = await manager.add_watch(controller, controller.new_watch(Namespace, map=lambda obj: [Request("default", obj.name)]))
        await asyncio.sleep(1)
        assert "default/default" in runs
        await manager.remove_watch("counted", watch)
        assert [informer.info.kind for informer in manager.cache.informers] == ["ConfigMap"]
        runs.clear()
        await manager.client.create(Namespace(metadata=ObjectMeta(name="late")))
        await asyncio.sleep(1)
        assert runs == []

    managed(main, controller)


# ---- nasty callers, nasty functions


def calling(function, **declared):
    controller, runs = counted()
    controller.hook("push", **declared)(function)
    return controller, runs


class Broken(Auth):
    def admits(self, headers, body):
        raise ValueError("the secret is s3cr3t")


async def hangs(headers, body, reader):
    await asyncio.sleep(1e6)


def ends_the_program(headers, body):
    sys.exit(3)


async def cancels_itself(headers, body, reader):
    raise asyncio.CancelledError


def named(name, namespace="default"):
    return lambda headers, body: [Request(namespace, name)]


@pytest.mark.parametrize(
    ("function", "declared", "code", "says"),
    [
        (hangs, {}, 500, "the hook has failed"),
        (ends_the_program, {}, 500, "the hook has failed"),
        (cancels_itself, {}, 500, "the hook has failed"),
        (named("a"), {"auth": Broken(env="X")}, 500, "the hook has failed"),
        (named(".."), {}, 400, "'..' is no name"),
        (named("a%2fb"), {}, 400, "is no name"),
        (named("\ud800"), {}, 400, "is no name"),
        (named("a", "../.."), {}, 400, "is no namespace"),
    ],
)
def test_whatever_a_hook_does_its_caller_gets_an_answer_and_the_program_goes_on(function, declared, code, says, caplog):
    controller, runs = calling(function, **declared)

    async def main(manager):
        runs.clear()
        answered, text = await call(manager, "counted/push")
        assert (answered, runs) == (code, [])
        assert says in text
        assert "s3cr3t" not in text
        text.encode()

    managed(main, controller)


def test_what_a_hook_says_can_be_sent_whatever_it_echoes():
    def refuses(headers, body):
        raise ValueError("no: " + body.decode("utf-8", "surrogateescape"))

    controller, _ = calling(refuses)

    async def main(manager):
        assert await call(manager, "counted/push", b"\xff\n\xfe") == (400, "no: ? ?\n")

    managed(main, controller)


def test_a_body_that_does_not_come_is_not_waited_for_for_ever():
    controller, _ = calling(named("a"))

    async def main(manager):
        async def never(limit):
            await asyncio.sleep(1e6)

        code, text = await answer(lambda name: manager.controllers[0], "counted", "push", Headers([]), never)
        assert (code, text) == (408, "the body has not come within 30 s\n")

    managed(main, controller)


def test_many_keys_of_one_call_let_others_run():
    controller, _ = calling(lambda headers, body: [Request("default", f"n{number}") for number in range(20_000)])

    async def main(manager):
        turns = 0

        async def others():
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        beside = asyncio.create_task(others())
        code, _ = await call(manager, "counted/push")
        beside.cancel()
        assert code == 202
        assert turns >= 20

    managed(main, controller)


def test_a_secret_of_any_bytes_is_a_secret(monkeypatch):
    monkeypatch.setenv("SECRET", os.fsdecode(b"\xff\xfe"))
    assert Bearer(env="SECRET").admits(Headers([("Authorization", "Bearer \udcff\udcfe")]), b"")


def test_the_namespaces_that_are_watched_now_are_those_whose_keys_are_taken():
    controller, runs = calling(named("x", "other"))

    async def main(manager):
        await manager.client.create(Namespace(metadata=ObjectMeta(name="other")))
        code, text = await call(manager, "counted/push")
        assert code == 400
        assert "not watched here" in text
        manager.set_namespaces(["other"])
        await asyncio.sleep(1)
        runs.clear()
        assert await call(manager, "counted/push") == (202, '{"enqueued": 1}\n')
        manager.trigger(controller, Request("other", "y"))
        await asyncio.sleep(1)
        assert runs == ["other/x", "other/y"]

    managed(main, controller, namespace="default")
