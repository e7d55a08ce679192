"""The connection: every outcome becomes an answer or the right error, and the observer hears of it."""

import asyncio
from datetime import timedelta
from email.utils import format_datetime

import msgspec
import pytest

from setpoint.api import Answer, GroupVersionResource, NotSent, Operation, Unknown
from setpoint.client import Client, Connection, RequestDone, RequestRepeated, RequestSent, errors
from setpoint.world import World, simulate

from .servers import ConfigMap, Script, no, ok

WEBAPPS = GroupVersionResource("apps.example.com", "v1", "webapps")
READ = Operation(verb="get", resource=WEBAPPS, namespace="default", name="web")
WRITE = Operation(verb="patch", resource=WEBAPPS, namespace="default", name="web", body=b"{}")


def call(operation: Operation, *outcomes, **options):
    """Calls once; gives the answer or the error, the script, the seconds that it took, and the events."""

    async def main(world: World):
        script, events = Script(*outcomes), []
        world.observer.subscribe(events.append)
        connection = Connection(script, world, **options)
        loop = asyncio.get_running_loop()
        try:
            result = await connection.call(operation)
        except errors.ApiError as error:
            result = error
        return result, script, loop.time(), events

    return simulate(main)


@pytest.mark.parametrize(
    ("namespace", "name"), [("default", ".."), ("default", "a/b"), ("..", "a"), ("a/secrets", "b"), (".", "a"), ("default", "%2e%2e")]
)
@pytest.mark.parametrize("verb", ["get", "delete", "patch"])
def test_a_name_that_would_lead_to_another_object_is_refused_and_nothing_is_sent(verb, namespace, name):
    """Names come out of other people's objects: `DELETE .../configmaps/..` would be understood as the deletion of the namespace."""
    script = Script()

    async def main(world: World):
        with pytest.raises(ValueError, match="must not be"):
            await Connection(script, world).call(Operation(verb=verb, resource=WEBAPPS, namespace=namespace, name=name))

    simulate(main)
    assert script.sent == []


def test_what_was_not_sent_is_unreachable_and_not_tried_again():
    for operation in (READ, WRITE):
        error, script, _, _ = call(operation, NotSent("https://10.0.0.1:6443 refuses connections"))
        assert type(error) is errors.Unreachable
        assert "10.0.0.1:6443" in str(error)
        assert len(script.sent) == 1


def test_a_write_without_an_answer_is_of_unknown_outcome_and_never_sent_again():
    error, script, _, _ = call(WRITE, Unknown("connection reset"))
    assert type(error) is errors.OutcomeUnknown
    assert len(script.sent) == 1


def test_a_read_without_an_answer_is_sent_once_more():
    answer, script, _, _ = call(READ, Unknown("connection reset"), ok({}))
    assert isinstance(answer, Answer)
    assert len(script.sent) == 2
    error, script, _, _ = call(READ, Unknown("reset"), Unknown("reset"))
    assert type(error) is errors.Unreachable
    assert len(script.sent) == 2


def test_a_dry_run_is_a_read_in_this():
    answer, _, _, _ = call(Operation(verb="create", resource=WEBAPPS, options={"dryRun": "All"}), Unknown("reset"), ok({}))
    assert isinstance(answer, Answer)


@pytest.mark.parametrize("operation", [READ, WRITE])
def test_too_many_requests_is_obeyed_for_every_verb(operation):
    answer, script, seconds, _ = call(operation, no(429, retryAfterSeconds=3), no(429, retryAfterSeconds=4), ok({}))
    assert isinstance(answer, Answer)
    assert (len(script.sent), seconds) == (3, 7)


def test_patience_ends_with_the_deadline_and_with_the_tries():
    error, script, seconds, _ = call(READ, no(429, retryAfterSeconds=20), no(429, "TooManyRequests", "busy", retryAfterSeconds=20))
    assert type(error) is errors.TooManyRequests
    assert (error.retry_after, len(script.sent), seconds) == (20, 2, 20)
    error, script, _, _ = call(READ, *[no(429)] * 20)
    assert type(error) is errors.TooManyRequests
    assert len(script.sent) == 10


def test_a_write_that_the_server_failed_is_not_sent_again():
    for code, kind in ((500, errors.InternalError), (504, errors.Timeout)):
        error, script, _, _ = call(WRITE, no(code, message="etcd is slow", retryAfterSeconds=1), ok({}))
        assert type(error) is kind
        assert len(script.sent) == 1
        answer, _, seconds, _ = call(READ, no(code, message="etcd is slow", retryAfterSeconds=2), ok({}))
        assert isinstance(answer, Answer)
        assert seconds == 2


@pytest.mark.parametrize("operation", [READ, WRITE])
def test_a_server_that_is_not_up_yet_and_says_when_to_come_back_is_asked_again_for_every_verb(operation):
    answer, script, seconds, _ = call(operation, no(503, "ServiceUnavailable", "starting", retryAfterSeconds=3), ok({}))
    assert isinstance(answer, Answer)
    assert (len(script.sent), seconds) == (2, 3)
    error, script, _, _ = call(operation, no(503, "ServiceUnavailable", "error trying to reach service"), ok({}))
    assert type(error) is errors.ServiceUnavailable
    assert len(script.sent) == 1


def test_a_proxy_may_give_a_date_to_come_back_at():
    async def main(world: World):
        when = format_datetime(world.clock.now() + timedelta(seconds=7), usegmt=True)
        busy = Answer(status=429, body=b"busy", headers={"retry-after": when})
        await Connection(Script(busy, ok({})), world).call(WRITE)
        assert asyncio.get_running_loop().time() == pytest.approx(7, abs=1)
        nonsense = Answer(status=429, body=b"busy", headers={"retry-after": "soon"})
        await Connection(Script(nonsense, ok({})), world).call(WRITE)
        assert asyncio.get_running_loop().time() == pytest.approx(8, abs=1)

    simulate(main)


class Silent(Script):
    async def send(self, operation, /):
        self.sent.append(operation)
        await asyncio.get_running_loop().create_future()


def test_every_call_has_a_deadline():
    async def main(world: World):
        connection = Connection(Silent(), world, timeout=30)
        with pytest.raises(errors.OutcomeUnknown):
            await connection.call(WRITE)
        assert asyncio.get_running_loop().time() == 30
        with pytest.raises(errors.Unreachable):
            await connection.call(READ)
        assert asyncio.get_running_loop().time() == 60

    simulate(main)


def test_a_request_that_never_had_its_turn_was_not_sent():
    async def main(world: World):
        script = Silent()
        connection = Connection(script, world, max_in_flight=1)
        first = asyncio.create_task(connection.call(READ))
        await asyncio.sleep(1)
        with pytest.raises(errors.Unreachable, match="turn"):
            await connection.call(Operation(verb="delete", resource=WEBAPPS, name="x", deadline=5.0))
        assert len(script.sent) == 1
        first.cancel()

    simulate(main)


def test_the_fence_holds_back_writes_alone_and_at_their_dispatch():
    async def main(world: World):
        script = Script(ok({}), ok({}), no(429, retryAfterSeconds=1), ok({}))
        connection = Connection(script, world)
        connection.fence = lambda: "this process is not the leader"
        await connection.call(READ)
        with pytest.raises(errors.NotLeading, match="not the leader"):
            await connection.call(WRITE)
        assert len(script.sent) == 1
        connection.fence = lambda: None
        await connection.call(WRITE)
        connection.fence = lambda: "the lease has ended" if len(script.sent) >= 3 else None
        with pytest.raises(errors.NotLeading):
            await connection.call(WRITE)
        assert len(script.sent) == 3

    simulate(main)


def test_the_observer_hears_of_each_try():
    _, _, _, events = call(READ, no(429), ok({}))
    assert [type(event) for event in events] == [RequestSent, RequestDone, RequestRepeated, RequestSent, RequestDone]
    assert [event.code for event in events if isinstance(event, RequestRepeated)] == ["429"]
    assert [event.code for event in events if isinstance(event, RequestDone)] == ["429", "200"]
    _, _, _, events = call(READ, NotSent("down"))
    assert events[-1].code == "<error>"
    assert events[-1].operation.user_agent == "setpoint"


def test_a_cancelled_call_is_told_as_unknown():
    async def main(world: World):
        events = []
        world.observer.subscribe(events.append)
        task = asyncio.create_task(Connection(Silent(), world).call(WRITE))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return events

    assert isinstance(simulate(main)[-1].outcome, Unknown)


def test_each_warning_of_the_server_is_said_once(caplog):
    call(READ, Answer(status=200, body=b"{}", warnings=("v1beta1 is deprecated", "v1beta1 is deprecated")))
    assert [record.getMessage() for record in caplog.records] == [
        "the server warns: get webapps.apps.example.com default/web: v1beta1 is deprecated"
    ]


def test_nobody_hears_of_warnings_who_does_not_want_to(caplog):
    call(READ, Answer(status=200, body=b"{}", warnings=("v1beta1 is deprecated",)), say_warnings=False)
    assert not caplog.records


def test_errors_name_what_was_asked_and_what_to_do():
    message = 'webapps.apps.example.com "web" is forbidden: User "nobody" cannot patch resource "webapps"'
    error, *_ = call(WRITE, no(403, "Forbidden", message))
    assert type(error) is errors.Forbidden
    assert str(error) == (
        f"patch webapps.apps.example.com default/web: {message} "
        "(allow the verb 'patch' on resource 'webapps' of API group 'apps.example.com' in namespace 'default')"
    )
    error, *_ = call(WRITE, no(403, "Forbidden", "quota exceeded"))
    assert "allow" not in str(error)
    causes = [{"field": "spec.replicas", "message": "Invalid value: -1"}, {"field": "spec.image", "message": "Required value"}]
    error, *_ = call(WRITE, no(422, "Invalid", 'WebApp "web" is invalid', causes=causes))
    assert type(error) is errors.Invalid
    assert str(error).endswith("(spec.replicas: Invalid value: -1; spec.image: Required value)")
    error, *_ = call(WRITE, no(404, "NotFound", 'namespaces "x" not found', name="x", kind="namespaces"))
    assert "create the namespace" in str(error)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=404, body=b"404 page not found\n", content_type="text/plain"),
        no(404, "NotFound", "the server could not find the requested resource"),
        no(404, "NotFound", "the server could not find the requested resource", causes=[]),
    ],
)
def test_a_kind_that_is_not_served_is_not_a_missing_object(answer):
    error, *_ = call(READ, answer)
    assert type(error) is errors.NotServed
    assert "CustomResourceDefinition" in str(error)
    error, *_ = call(READ, no(404, "NotFound", 'webapps.apps.example.com "web" not found', name="web", kind="webapps"))
    assert type(error) is errors.NotFound


@pytest.mark.parametrize(
    "when", ["²", "9" * 5000, "-5", "1e9", "1000000000", "Mon, 1 Jan 9999999999999999999 0:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", ""]
)
@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("operation", [READ, WRITE])
def test_an_absurd_time_to_come_back_is_the_same_refusal_within_the_deadline(when, status, operation):
    refusal = Answer(status=status, body=b"busy", headers={"retry-after": when})
    error, _, seconds, _ = call(operation, *[refusal] * 10, timeout=20.0)
    assert type(error) is (errors.TooManyRequests if status == 429 else errors.ServiceUnavailable)
    assert seconds <= 20


def test_writes_are_cut_also_while_the_time_of_one_of_them_has_just_run_out():
    """Between the end of its time and the end of its task, there is a while: what is cut then must not stop at it."""

    class Slow:
        async def send(self, operation: Operation):
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                await asyncio.sleep(5)  # it takes its time to be over
                raise

        async def close(self) -> None: ...

    async def main(world: World):
        connection, loop = Connection(Slow(), world, timeout=100.0), asyncio.get_running_loop()
        ending = asyncio.ensure_future(connection.call(msgspec.structs.replace(WRITE, deadline=10.0)))
        other = asyncio.ensure_future(connection.call(WRITE))
        await asyncio.sleep(12)
        connection.cut_writes()
        connection.cut_writes()
        for writing in (ending, other):
            with pytest.raises(errors.OutcomeUnknown):
                await writing
        return loop.time()

    assert simulate(main) == pytest.approx(17, abs=0.1)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"<html>", b"null", b"{}", b'{"kind":"Status","status":"Success"}', b"[" * 5000, b'{"items":{}}']
)
def test_an_answer_that_is_another_document_is_never_taken_for_an_empty_one(body):
    """A list that cannot be read must not say that there is nothing, nor a discovery that a kind is gone."""
    page = Answer(status=200, body=body)

    async def main(world: World):
        client = Client(Connection(Script(*[page] * 4), world), namespace="default")
        for asked in (client.list(ConfigMap), client.find_kind("x.io/v1", "X"), client.discovery.everything()):
            with pytest.raises(errors.Unreachable, match="cannot be read"):
                await asked
        with pytest.raises(errors.OutcomeUnknown, match="cannot be read"):
            await client.request_token("robot")

    simulate(main)
