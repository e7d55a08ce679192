"""Over HTTP: what was sent, what was not, and what nobody can know."""

import asyncio
import contextlib
import gc
import os
import socket
import threading

import pytest

from setpoint.api import Answer, NotSent, Operation, StreamBroken, Unknown
from setpoint.client import Config, ConfigError, Connection, HttpTransport, errors
from setpoint.client.http import CONNECT_TIMEOUT
from setpoint.world import real_world

from .http_server import (
    DELETE,
    PODS,
    READ,
    WATCH,
    Server,
    answering,
    authorization,
    certificate,
    chunked,
    http,
    pem,
    reset,
    send_read,
    server_context,
)


def test_an_answer_is_carried_whole():
    async def act(transport, server):
        operation = Operation(
            verb="create", resource=PODS, namespace="default", options={"fieldManager": "a b"}, body=b"{}", user_agent="me"
        )
        return await transport.send(operation), server.requests[0]

    warned = 'Warning: 299 - "use \\"v2\\""\r\nWarning: 299 - "second"\r\nRetry-After: 3\r\n'
    answer, request = http(answering(b'{"a":1}', "429 Too Many Requests", warned), act)
    assert (answer.status, answer.body, answer.warnings) == (429, b'{"a":1}', ('use "v2"', "second"))
    assert answer.headers["retry-after"] == "3"
    assert request.startswith("POST /api/v1/namespaces/default/pods?fieldManager=a+b HTTP/1.1\r\n")
    assert "User-Agent: me" in request


def test_a_write_whose_connection_came_too_late_is_held_back():
    async def main():
        async with Server(answering(b"{}")) as server:
            connection = Connection(HttpTransport(Config(server=server.url), real_world()), real_world())
            answers = [None, "the lease has run out meanwhile", None]  # asked at dispatch, and when there is a connection
            connection.fence = lambda: answers.pop(0)
            with pytest.raises(errors.NotLeading, match="run out meanwhile"):
                await connection.call(DELETE)
            before = list(server.requests)
            connection.fence = lambda: None
            await connection.call(DELETE)
            connection.fence = lambda: "no write"
            await connection.call(READ)
            await connection.close()
            return before, len(server.requests), answers

    assert asyncio.run(main()) == ([], 2, [None])


def test_refused_is_not_sent_and_names_the_server():
    async def main():
        async with Server(reset) as server:
            url = server.url
        transport = HttpTransport(Config(server=url), real_world())
        outcome = await transport.send(DELETE)
        await transport.close()
        return outcome, url

    outcome, url = asyncio.run(main())
    assert isinstance(outcome, NotSent)
    assert url in outcome.reason
    assert "refuses connections" in outcome.reason


def test_a_name_that_is_none_is_not_sent():
    async def main():
        transport = HttpTransport(Config(server="http://no-such-host.invalid:6443"), real_world())
        outcome = await transport.send(DELETE)
        await transport.close()
        return outcome

    outcome = asyncio.run(main())
    assert isinstance(outcome, NotSent)
    assert "no-such-host.invalid" in outcome.reason


async def half_an_answer(server, writer):
    writer.write(b"HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{")
    writer.close()


async def close(server, writer):
    writer.close()


async def garbage(server, writer):
    writer.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
    writer.close()


@pytest.mark.parametrize("respond", [reset, close, half_an_answer, garbage])
@pytest.mark.parametrize("verb", ["create", "update", "delete", "patch"])
def test_a_write_that_broke_after_it_was_sent_is_unknown_and_sent_once(respond, verb):
    async def act(transport, server):
        operation = Operation(verb=verb, resource=PODS, namespace="default", name="" if verb == "create" else "x", body=b"{}")
        return await transport.send(operation), len(server.requests)

    outcome, requests = http(respond, act)
    assert isinstance(outcome, Unknown)
    assert requests == 1


def test_a_delete_on_a_kept_alive_connection_that_breaks_is_not_repeated():
    async def first_well(server, writer):
        await (answering(b"{}")(server, writer) if len(server.requests) == 1 else reset(server, writer))

    async def act(transport, server):
        assert isinstance(await transport.send(READ), Answer)
        return await transport.send(DELETE), len(server.requests)

    outcome, requests = http(first_well, act)
    assert isinstance(outcome, Unknown)
    assert requests == 2


def test_a_read_on_a_kept_alive_connection_that_breaks_is_sent_once_more():
    async def second_badly(server, writer):
        await (reset(server, writer) if len(server.requests) == 2 else answering(b"{}")(server, writer))

    async def act(transport, server):
        connection = Connection(transport, real_world())
        await connection.call(READ)
        await connection.call(READ)
        return len(server.requests)

    assert http(second_badly, act) == 3


def test_a_server_that_says_nothing_is_left_at_the_deadline():
    async def silent(server, writer):
        await asyncio.sleep(0)

    async def act(transport, server):
        connection = Connection(transport, real_world(), timeout=0.05)
        with pytest.raises(errors.OutcomeUnknown):
            await connection.call(DELETE)
        with pytest.raises(errors.Unreachable):
            await connection.call(READ)

    http(silent, act)


class JumpingLoop(asyncio.SelectorEventLoop):
    """A real loop whose time can be put forward, so that a test of a time limit need not wait for it."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead


def test_a_connection_that_does_not_come_about_before_the_deadline_was_not_sent():
    async def main():
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()

        async def say_nothing(reader, writer):
            loop.ahead += CONNECT_TIMEOUT + 1  # the client waits for our half of the TLS handshake
            await reader.read()
            writer.close()
            await writer.wait_closed()
            ended.set()

        server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        transport = HttpTransport(Config(server=f"https://127.0.0.1:{port}", insecure=True), real_world())
        with pytest.raises(errors.Unreachable, match="no connection in time"):
            await Connection(transport, real_world(), timeout=100 * CONNECT_TIMEOUT).call(DELETE)
        await transport.close()
        await ended.wait()
        server.close()
        await server.wait_closed()

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        runner.run(main())


def test_a_redirect_is_no_answer():
    async def act(transport, server):
        return await transport.send(READ), len(server.requests)

    outcome, requests = http(answering(b"", "302 Found", "Location: https://login.example.com\r\n"), act)
    assert isinstance(outcome, NotSent)
    assert "https://login.example.com" in outcome.reason
    assert requests == 1


# ---- watches


async def frames(transport, operation=WATCH):
    stream = await transport.send(operation)
    assert not isinstance(stream, Answer | NotSent | Unknown), stream
    batches = []
    try:
        while (batch := await stream.read()) is not None:
            assert batch
            batches.append(batch)
    finally:
        await stream.close()
        await stream.close()
    return batches


def lines_of(respond):
    async def act(transport, server):
        batches = await frames(transport)
        return [line for batch in batches for line in batch], server.requests[0]

    return http(respond, act)


def test_a_watch_gives_whole_lines_however_they_are_cut():
    lines, request = lines_of(chunked(b'{"a":', b'1}\n{"b":2}\n{"c', b'":3}', b"\n", b"\n"))
    assert lines == [b'{"a":1}', b'{"b":2}', b'{"c":3}']
    assert request.startswith("GET /api/v1/pods?resourceVersion=5&watch=true ")


def test_a_line_may_have_many_megabytes():
    part = b"x" * (1 << 20)
    lines, _ = lines_of(chunked(b'{"a":"', *[part] * 5, b'"}\n{"b":2}\n'))
    assert [len(line) for line in lines] == [5 * (1 << 20) + 8, 7]


@pytest.mark.parametrize(
    "respond",
    [
        chunked(b'{"a":1}\n', end=False),
        chunked(b'{"a":1}\n{"b":'),
        chunked(b'{"a":1}\n{"b":', end=False),
        chunked(b'{"a":1}\n', b"<html>\n"),
    ],
    ids=["no last chunk", "half a frame", "half a frame, no last chunk", "no frame"],
)
def test_an_end_that_the_server_did_not_mean_is_a_broken_stream(respond):
    async def act(transport, server):
        with pytest.raises(StreamBroken):
            await frames(transport)

    http(respond, act)


def test_a_reset_breaks_the_stream():
    async def respond(server, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n" + b'{"a":1}\n' + b"\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)
        await reset(server, writer)

    async def act(transport, server):
        stream = await transport.send(WATCH)
        assert await stream.read() == [b'{"a":1}']
        with pytest.raises(StreamBroken):
            await stream.read()
        assert await stream.read() is None

    http(respond, act)


def test_a_watch_that_is_refused_is_an_answer():
    async def act(transport, server):
        with pytest.raises(errors.Expired):
            await Connection(transport, real_world()).watch(WATCH)

    http(answering(b'{"kind":"Status","reason":"Expired","code":410}', "410 Gone"), act)


def test_closing_the_transport_ends_open_watches():
    async def open_ended(server, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n" + b'{"a":1}\n' + b"\r\n")

    async def act(transport, server):
        stream = await transport.send(WATCH)
        assert await stream.read() == [b'{"a":1}']
        reading = asyncio.create_task(stream.read())
        await asyncio.sleep(0)
        await transport.close()
        with contextlib.suppress(StreamBroken):
            assert await asyncio.wait_for(reading, 5) is None
        assert isinstance(await transport.send(READ), NotSent)

    http(open_ended, act)


# ---- who asks


def test_a_token_file_is_read_again_when_it_changes(tmp_path, caplog):
    file = tmp_path / "token"
    file.write_text("first\n")

    async def act(transport, server):
        await transport.send(READ)
        (tmp_path / "new").write_text("second\n")
        os.replace(tmp_path / "new", file)
        for change in (lambda: None, file.unlink, lambda: file.write_text(""), lambda: file.write_text("third")):
            change()
            await transport.send(READ)
        return [authorization(request) for request in server.requests]

    sent = http(answering(b"{}"), act, token_file=str(file))
    assert sent == ["Bearer first", "Bearer second", "Bearer second", "Bearer second", "Bearer third"]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert f"the token file {file} cannot be read: No such file or directory; the token from before" in caplog.text


@pytest.mark.parametrize(("content", "says"), [(None, "cannot be read: No such file"), (b" ", "holds no token"), (b"\xff", "is not text")])
def test_without_a_token_there_is_no_request(tmp_path, content, says):
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)

    outcome = http(answering(b"{}"), send_read, token_file=str(file))
    assert isinstance(outcome, NotSent)
    assert str(file) in outcome.reason
    assert says in outcome.reason


def test_impersonation_and_tokens_go_into_headers():
    async def act(transport, server):
        await transport.send(READ)
        return server.requests[0]

    request = http(answering(b"{}"), act, token="secret", impersonate_user="jane", impersonate_groups=("a", "b"))
    assert authorization(request) == "Bearer secret"
    assert [line for line in request.split("\r\n") if line.startswith("Impersonate")] == [
        "Impersonate-User: jane",
        "Impersonate-Group: a",
        "Impersonate-Group: b",
    ]


# ---- TLS


def test_a_server_is_trusted_by_its_authority_alone(tmp_path, authority):
    context = server_context(tmp_path, certificate("server.test", issuer=authority))
    ca = pem(authority)[0]
    assert isinstance(http(answering(b"{}"), send_read, context, ca_data=ca), Answer)
    assert isinstance(http(answering(b"{}"), send_read, context, insecure=True), Answer)
    untrusted = http(answering(b"{}"), send_read, context, ca_data=pem(certificate("other", ca=True))[0])
    assert isinstance(untrusted, NotSent)
    assert "is not trusted" in untrusted.reason


def test_a_request_that_was_given_up_leaves_no_connection_to_a_peer_that_does_not_let_go(tmp_path, authority, recwarn):
    """Taking leave over TLS takes two: whoever closes the transport may end its loop right after that."""
    context = server_context(tmp_path, certificate("server.test", issuer=authority))
    listening = socket.create_server(("127.0.0.1", 0))
    asked, done = threading.Event(), threading.Event()

    def silent() -> None:
        peer, _ = listening.accept()
        with context.wrap_socket(peer, server_side=True) as tls:
            tls.recv(1 << 16)
            asked.set()
            done.wait(60)

    async def main() -> None:
        config = Config(server=f"https://127.0.0.1:{listening.getsockname()[1]}", ca_data=pem(authority)[0])
        transport = HttpTransport(config, real_world())
        request = asyncio.create_task(transport.send(READ))
        await asyncio.to_thread(asked.wait, 60)
        request.cancel()
        await asyncio.gather(request, return_exceptions=True)
        await transport.close()

    with listening:
        server = threading.Thread(target=silent)
        server.start()
        try:
            asyncio.run(main())
            gc.collect()
        finally:
            done.set()
            server.join()
    assert [str(warning.message) for warning in recwarn] == []


def test_a_certificate_for_another_name_is_said_and_tls_server_name_helps(tmp_path, authority):
    context = server_context(tmp_path, certificate("server.test", issuer=authority, address="10.9.9.9"))
    ca = pem(authority)[0]
    outcome = http(answering(b"{}"), send_read, context, ca_data=ca)
    assert isinstance(outcome, NotSent)
    assert "tls-server-name" in outcome.reason
    assert isinstance(http(answering(b"{}"), send_read, context, ca_data=ca, tls_server_name="server.test"), Answer)


def test_a_client_certificate_is_shown(tmp_path, authority):
    ca = pem(authority)[0]
    context = server_context(tmp_path, certificate("server.test", issuer=authority), client_ca=ca)
    cert, key = pem(certificate("client", issuer=authority))
    assert isinstance(http(answering(b"{}"), send_read, context, ca_data=ca, client_certificate=cert, client_key=key), Answer)
    assert not isinstance(http(answering(b"{}"), send_read, context, ca_data=ca), Answer)


def test_tls_with_a_server_that_speaks_none_is_not_sent():
    async def main():
        ended = asyncio.Event()

        async def refuse(reader, writer):
            await reader.read(1)
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
            ended.set()

        server = await asyncio.start_server(refuse, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        transport = HttpTransport(Config(server=f"https://127.0.0.1:{port}", insecure=True), real_world())
        outcome = await transport.send(READ)
        await transport.close()
        await ended.wait()
        server.close()
        await server.wait_closed()
        return outcome

    outcome = asyncio.run(main())
    assert isinstance(outcome, NotSent)
    assert "does not speak TLS" in outcome.reason


def test_certificates_that_cannot_be_used_are_said_at_once(authority):
    def refused(**options) -> str:
        with pytest.raises(ConfigError) as caught:
            HttpTransport(Config(server="https://127.0.0.1:6443", user="me", cluster="here", source="the-file", **options), real_world())
        return str(caught.value)

    cert, key = pem(certificate("client", issuer=authority, days=-1))
    assert "expired on" in refused(client_certificate=cert, client_key=key)
    cert, _ = pem(certificate("client", issuer=authority))
    assert "do not make a pair" in refused(client_certificate=cert, client_key=key)
    assert "no PEM certificate" in refused(client_certificate=b"x", client_key=key)
    text = refused(ca_data=b"nonsense")
    assert "certificate-authority of cluster 'here'" in text
    assert "the-file" in text


# ---- what is renewed while it runs


def test_a_token_that_the_server_no_longer_takes_is_read_again_and_no_request_fails(tmp_path):
    file = tmp_path / "token"
    file.write_text("first")

    async def rotates(server, writer):
        if len(server.requests) == 2:
            file.write_text("second")
        taken = "Bearer second" if len(server.requests) > 1 else "Bearer first"
        good = authorization(server.requests[-1]) == taken
        await answering(b"{}" if good else b'{"kind":"Status","code":401}', "200 OK" if good else "401 Unauthorized")(server, writer)

    async def act(transport, server):
        connection = Connection(transport, real_world())
        await connection.call(DELETE)
        await connection.call(DELETE)
        return [authorization(request) for request in server.requests]

    assert http(rotates, act, token_file=str(file)) == ["Bearer first", "Bearer first", "Bearer second"]


def test_a_token_that_was_renewed_twice_in_one_tick_of_the_clock_is_read_when_it_is_refused(tmp_path):
    file = tmp_path / "token"

    def write(token):
        file.write_text(token)
        os.utime(file, ns=(1, 1))

    async def only_the_second(server, writer):
        known = "Bearer second" in server.requests[-1]
        await answering(b"{}" if known else b'{"kind":"Status","code":401}', "200 OK" if known else "401 Unauthorized")(server, writer)

    async def act(transport, server):
        write("first-")
        with pytest.raises(errors.Unauthorized):
            await Connection(transport, real_world()).call(READ)
        write("second")
        await Connection(transport, real_world()).call(READ)
        return [authorization(request) for request in server.requests]

    write("first-")
    assert http(only_the_second, act, token_file=str(file)) == ["Bearer first-", "Bearer first-", "Bearer second"]


def test_a_token_behind_a_link_follows_the_link(tmp_path):
    """So does the kubelet renew what it mounts: the folder behind `..data` is another one, and the files keep their names."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "token").write_text(name)
        os.utime(tmp_path / name / "token", ns=(1, 1))
    (tmp_path / "..data").symlink_to("one")
    (tmp_path / "token").symlink_to("..data/token")

    async def act(transport, server):
        await transport.send(READ)
        (tmp_path / "..data_tmp").symlink_to("two")
        os.replace(tmp_path / "..data_tmp", tmp_path / "..data")
        await transport.send(READ)
        return [authorization(request) for request in server.requests]

    assert http(answering(b"{}"), act, token_file=str(tmp_path / "token")) == ["Bearer one", "Bearer two"]


def test_a_token_that_is_refused_and_the_same_as_before_is_told(tmp_path):
    (tmp_path / "token").write_text("first")

    async def act(transport, server):
        with pytest.raises(errors.Unauthorized):
            await Connection(transport, real_world()).call(READ)
        return len(server.requests)

    assert http(answering(b'{"kind":"Status","code":401}', "401 Unauthorized"), act, token_file=str(tmp_path / "token")) == 1


def test_a_client_certificate_that_is_renewed_is_shown_from_then_on(tmp_path, authority, caplog):
    ca = pem(authority)[0]
    context = server_context(tmp_path, certificate("server.test", issuer=authority), client_ca=ca)
    first, second = pem(certificate("first", issuer=authority)), pem(certificate("second", issuer=authority))
    files = [tmp_path / "client.crt", tmp_path / "client.key"]

    def write(certificate, key):
        files[0].write_bytes(certificate)
        files[1].write_bytes(key)

    async def says_whom(server, writer):
        subject = dict(part[0] for part in writer.get_extra_info("peercert")["subject"])
        await answering(subject["commonName"].encode())(server, writer)

    async def act(transport, server):
        seen = [(await transport.send(READ)).body]
        write(second[0], first[1])
        seen.append((await transport.send(READ)).body)
        write(*second)
        seen.append((await transport.send(READ)).body)
        files[1].unlink()
        seen.append((await transport.send(READ)).body)
        return seen

    write(*first)
    names = [str(file) for file in files]
    seen = http(
        says_whom,
        act,
        context,
        ca_data=ca,
        client_certificate=first[0],
        client_certificate_file=names[0],
        client_key=first[1],
        client_key_file=names[1],
    )
    assert seen == [b"first", b"first", b"second", b"second"]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "those from before stay in use" in caplog.text


def test_an_authority_that_is_renewed_is_trusted_from_then_on(tmp_path, authority):
    context = server_context(tmp_path, certificate("server.test", issuer=authority))
    file = tmp_path / "ca.crt"
    other = pem(certificate("other", ca=True))[0]
    file.write_bytes(other)

    async def act(transport, server):
        before = await transport.send(READ)
        file.write_bytes("# Főtanúsítvány\n".encode() + pem(authority)[0])
        return before, await transport.send(READ)

    before, after = http(answering(b"{}"), act, context, ca_data=other, ca_file=str(file))
    assert isinstance(before, NotSent)
    assert isinstance(after, Answer)


def test_requests_go_through_the_proxy_that_the_kubeconfig_names():
    async def act(transport, server):
        behind = HttpTransport(Config(server="http://kube.invalid:8080", proxy_url=server.url), real_world())
        outcome = await behind.send(READ)
        await behind.close()
        return outcome, server.requests[0]

    outcome, request = http(answering(b"{}"), act)
    assert isinstance(outcome, Answer)
    assert request.startswith("GET http://kube.invalid:8080/api/v1/namespaces/default/pods/x HTTP/1.1")


def test_impersonation_of_uid_and_extra_goes_into_headers():
    async def act(transport, server):
        await transport.send(READ)
        return server.requests[0].split("\r\n")

    extra = (("example.com/reason", ("a", "b")),)
    lines = http(answering(b"{}"), act, impersonate_user="jane", impersonate_uid="5", impersonate_extra=extra)
    assert [line for line in lines if line.startswith("Impersonate")] == [
        "Impersonate-User: jane",
        "Impersonate-Uid: 5",
        "Impersonate-Extra-example.com%2Freason: a",
        "Impersonate-Extra-example.com%2Freason: b",
    ]
