"""Programs that give credentials: what they are asked, when they are run, and one sentence for each way in which they fail."""

import asyncio
import json
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from setpoint.api import Answer, NotSent
from setpoint.client import Config, ConfigError, Connection, ExecPlugin, HttpTransport, errors
from setpoint.client.credentials import Credential, Plugin
from setpoint.client.exec_plugin import obtain, question
from setpoint.client.tls import Pair
from setpoint.world import Printed, World, real_world, simulate

from .http_server import DELETE, READ, answering, authorization, certificate, http, pem, server_context

V1 = "client.authentication.k8s.io/v1"
PLUGIN = ExecPlugin(command="login", api_version=V1, interactive_mode="Never")
CONFIG = Config(server="https://lab:6443", user="jane", source="the-file", exec=PLUGIN)


def printed(token: str = "secret", **status: Any) -> bytes:
    status = {"token": token, **status}
    content = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in status.items() if value is not None}
    return json.dumps({"kind": "ExecCredential", "apiVersion": V1, "status": content}).encode()


class Programs:
    """Programs that print what was thought out in advance; each takes a second."""

    def __init__(self, *prints: bytes | Printed | Exception, terminal: bool = False, seconds: float = 1.0) -> None:
        self.prints = list(prints)
        self.terminal = terminal
        self.seconds = seconds
        self.asked: list[tuple[list[str], Mapping[str, str], bool]] = []

    async def run(
        self, command: Sequence[str], *, env: Mapping[str, str], interactive: bool, seconds: float, heard: Callable[[str], None]
    ) -> Printed:
        self.asked.append((list(command), env, interactive))
        await asyncio.sleep(self.seconds)
        heard("Opening the browser.")
        said = self.prints.pop(0)
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, Printed) else Printed(0, said)


def in_virtual_time(programs: Programs, act: Callable[[Plugin, World], Any], plugin: ExecPlugin = PLUGIN) -> Any:
    """Runs `act` with the credentials of a plugin: the clock is simulated, the world is said not to be."""

    async def main(world: World) -> Any:
        world = replace(world, programs=programs, simulated=False)
        credentials = Plugin(plugin, CONFIG, lambda: None, world)
        try:
            return await act(credentials, world)
        finally:
            await credentials.close()

    return simulate(main)


async def credential(plugin: Plugin, patience: float = 30.0) -> str:
    held = plugin.at_hand() or await plugin.waited_for(asyncio.get_running_loop().time() + patience)
    return held.authorization


# ---- what is asked


def test_a_program_is_told_which_api_version_it_should_speak_and_no_more() -> None:
    assert json.loads(question(PLUGIN, CONFIG, b"CA", interactive=False)) == {
        "kind": "ExecCredential",
        "apiVersion": V1,
        "spec": {"interactive": False},
    }


def test_a_program_that_wants_to_know_the_cluster_is_told() -> None:
    plugin = replace(PLUGIN, provide_cluster_info=True, cluster_config={"audience": "a"})
    config = replace(CONFIG, tls_server_name="kubernetes", proxy_url="http://proxy:3128", disable_compression=True)
    assert json.loads(question(plugin, config, b"CA", interactive=True))["spec"] == {
        "interactive": True,
        "cluster": {
            "server": "https://lab:6443",
            "tls-server-name": "kubernetes",
            "certificate-authority-data": "Q0E=",
            "proxy-url": "http://proxy:3128",
            "disable-compression": True,
            "config": {"audience": "a"},
        },
    }


@pytest.mark.parametrize(
    ("mode", "terminal", "interactive"),
    [("Never", True, False), ("IfAvailable", True, True), ("IfAvailable", False, False), ("Always", True, True)],
)
def test_a_program_may_ask_a_person_where_there_is_one_and_it_may(mode: Any, terminal: bool, interactive: bool) -> None:
    plugin = replace(PLUGIN, interactive_mode=mode, args=("get", "token"), env=(("PROFILE", "lab"),))
    programs = Programs(printed(), terminal=terminal)
    assert in_virtual_time(programs, lambda credentials, _: credential(credentials), plugin) == "Bearer secret"
    ((command, env, asked),) = programs.asked
    assert (command, env["PROFILE"], asked) == (["login", "get", "token"], "lab", interactive)
    assert json.loads(env["KUBERNETES_EXEC_INFO"])["spec"]["interactive"] is interactive


# ---- when it is run


def test_however_many_wait_the_program_runs_once() -> None:
    async def act(plugin: Plugin, world: World) -> list[str]:
        assert plugin.at_hand() is None
        return [*await asyncio.gather(*(credential(plugin) for _ in range(5))), await credential(plugin)]

    programs = Programs(printed())
    assert in_virtual_time(programs, act) == ["Bearer secret"] * 6
    assert len(programs.asked) == 1


def test_credentials_are_renewed_before_they_expire_and_nobody_waits() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)

    async def act(plugin: Plugin, world: World) -> list[tuple[float, str]]:
        loop, seen = asyncio.get_running_loop(), []
        assert await credential(plugin) == "Bearer first"
        for until in (500.0, 541.0, 543.0, 1100.0):
            await asyncio.sleep(until - loop.time())
            held = plugin.at_hand()
            assert held is not None
            seen.append((loop.time(), held.authorization))
        return seen

    expires = start + timedelta(seconds=600)
    programs = Programs(printed("first", expirationTimestamp=expires), printed("second", expirationTimestamp=start + timedelta(hours=1)))
    seen = in_virtual_time(programs, act)
    assert seen == [(500.0, "Bearer first"), (541.0, "Bearer first"), (543.0, "Bearer second"), (1100.0, "Bearer second")]
    assert len(programs.asked) == 2


def test_expired_credentials_are_never_used() -> None:
    async def act(plugin: Plugin, world: World) -> str:
        await credential(plugin)
        await asyncio.sleep(100)
        assert plugin.at_hand() is None
        return await credential(plugin)

    expires = datetime(2026, 1, 1, 0, 1, tzinfo=UTC)
    assert in_virtual_time(Programs(printed("first", expirationTimestamp=expires), printed("second")), act) == "Bearer second"


def test_a_renewal_that_fails_is_logged_and_tried_again_while_the_old_credentials_are_good(caplog: pytest.LogCaptureFixture) -> None:
    async def act(plugin: Plugin, world: World) -> list[str]:
        seen = [await credential(plugin)]
        for until in (545.0, 547.0, 560.0, 562.0):
            await asyncio.sleep(until - asyncio.get_running_loop().time())
            seen.append(await credential(plugin))
        return seen

    expires = datetime(2026, 1, 1, 0, 10, tzinfo=UTC)
    programs = Programs(printed("first", expirationTimestamp=expires), Printed(1, b""), printed("second"))
    assert in_virtual_time(programs, act) == ["Bearer first"] * 4 + ["Bearer second"]
    assert "credentials could not be renewed yet: the-file: the program 'login'" in caplog.text


def test_a_program_that_failed_is_not_run_again_for_every_request() -> None:
    async def act(plugin: Plugin, world: World) -> str:
        for _ in range(20):
            with pytest.raises(ConfigError, match="failed with code 3; it says: Opening the browser"):
                await credential(plugin)
        await asyncio.sleep(10)
        return await credential(plugin)

    programs = Programs(Printed(3, b""), printed())
    assert in_virtual_time(programs, act) == "Bearer secret"
    assert len(programs.asked) == 2


def test_who_cannot_wait_as_long_is_told_so_and_the_program_goes_on_for_others() -> None:
    async def act(plugin: Plugin, world: World) -> str:
        with pytest.raises(ConfigError, match="the program 'login', which should give the credentials, has not done so yet"):
            await credential(plugin, patience=5)
        return await credential(plugin, patience=60)

    programs = Programs(printed(), seconds=20)
    assert in_virtual_time(programs, act) == "Bearer secret"
    assert len(programs.asked) == 1


def test_closing_ends_the_program_and_tells_those_who_wait() -> None:
    async def act(plugin: Plugin, world: World) -> None:
        waiting = asyncio.create_task(credential(plugin))
        await asyncio.sleep(1)
        await plugin.close()
        with pytest.raises(ConfigError, match="the connection is closed"):
            await waiting

    in_virtual_time(Programs(printed(), seconds=20), act)


def test_what_the_server_refuses_is_renewed_unless_it_is_brand_new() -> None:
    async def act(plugin: Plugin, world: World) -> str:
        first = Credential(await credential(plugin))
        assert not plugin.refused(first)
        await asyncio.sleep(10)
        assert plugin.refused(first)
        second = await credential(plugin)
        assert plugin.refused(first)  # sent before the renewal, refused after it
        assert not plugin.refused(Credential(second))
        return second

    programs = Programs(printed("first"), printed("second"))
    assert in_virtual_time(programs, act) == "Bearer second"
    assert len(programs.asked) == 2


# ---- what it prints


def test_a_certificate_ends_the_credentials_where_nothing_else_does() -> None:
    cert, key = pem(certificate("client", days=5))

    async def act(plugin: Plugin, world: World) -> tuple[Credential, Any]:
        await credential(plugin)
        assert plugin._held is not None
        return plugin._held.credential, plugin._held.expires

    output = printed(token="", clientCertificateData=cert.decode(), clientKeyData=key.decode())
    held, expires = in_virtual_time(Programs(output), act)
    assert held == Credential("", Pair(cert, key))
    assert expires is not None


@pytest.mark.parametrize(
    ("output", "says"),
    [
        (b"", "printed nothing"),
        (b"secret", "printed something that is no ExecCredential in JSON"),
        (b'{"kind":"Status"}', "printed a Status instead of an ExecCredential"),
        (b"{}", "printed a document without a kind instead of an ExecCredential"),
        (b'{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"}', "the kubeconfig asks for"),
        (b'{"kind":"ExecCredential","status":{"token":5}}', "printed an ExecCredential that is none"),
        (b'{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"}', "gave neither a token nor a client certificate"),
        (printed(token=""), "gave neither a token nor a client certificate"),
        (printed(token="a\nb"), "gave a token that cannot be one"),
        (printed(clientKeyData="x"), "gave a client certificate without its key, or a key without its certificate"),
        (printed(clientCertificateData="x", clientKeyData="x"), "gave a client certificate that is not PEM"),
        (printed(expirationTimestamp=datetime(2025, 12, 31, tzinfo=UTC)), "had expired already, on 2025-12-31 00:00 UTC"),
        (Printed(1, b"secret"), "failed with code 1"),
        (Printed(-9, b"secret"), "was killed by signal 9"),
        (TimeoutError(), "had not ended after 60 seconds, and was killed"),
        (PermissionError(13, "Permission denied"), "cannot be used: Permission denied"),
        (FileNotFoundError(2, "No such file"), "is not there: install it from https://example.com"),
    ],
)
def test_a_program_that_gives_no_credentials_is_said_in_one_sentence(output: Any, says: str) -> None:
    plugin = replace(PLUGIN, install_hint="install it\nfrom  https://example.com")

    async def act(credentials: Plugin, world: World) -> str:
        with pytest.raises(ConfigError) as caught:
            await credential(credentials)
        return str(caught.value)

    said = in_virtual_time(Programs(output), act, plugin)
    assert said.startswith("the-file: the program 'login', which should give the credentials of user 'jane',")
    assert says in said
    assert "secret" not in said
    assert "\n" not in said


def test_one_that_must_ask_a_person_is_refused_where_there_is_none() -> None:
    async def act(credentials: Plugin, world: World) -> None:
        with pytest.raises(ConfigError, match=r"asks a person .interactiveMode Always., and standard input is no terminal"):
            await credential(credentials)

    programs = Programs(printed())
    in_virtual_time(programs, act, replace(PLUGIN, interactive_mode="Always"))
    assert programs.asked == []


def test_in_simulated_time_a_program_is_refused() -> None:
    async def main(world: World) -> None:
        with pytest.raises(ConfigError, match="cannot be run in simulated time"):
            await obtain(PLUGIN, CONFIG, None, world)

    simulate(main)


# ---- with real programs, over HTTP


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], ExecPlugin]:
    def script(text: str) -> ExecPlugin:
        path = tmp_path / "login"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return replace(PLUGIN, command=str(path), env=(("STATE", str(tmp_path / "state")),))

    return script


COUNTING = """
echo run >> "$STATE"
n=$(wc -l < "$STATE" | tr -d ' ')
echo "logging in" >&2
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"%s"}}' "t$n"
"""


@pytest.mark.parametrize("operation", [READ, DELETE], ids=["read", "write"])
def test_a_program_is_run_once_and_its_token_sent(script: Callable[[str], ExecPlugin], operation: Any) -> None:
    async def act(transport: HttpTransport, server: Any) -> list[str]:
        connection = Connection(transport, real_world())
        await connection.call(operation)
        await connection.call(operation)
        return [authorization(request) for request in server.requests]

    assert http(answering(b"{}"), act, exec=script(COUNTING)) == ["Bearer t1", "Bearer t1"]


def test_a_request_that_is_refused_is_sent_again_with_renewed_credentials(
    script: Callable[[str], ExecPlugin], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("setpoint.client.credentials.YOUNG", 0.0)

    async def only_the_second(server: Any, writer: Any) -> None:
        known = "Bearer t2" in server.requests[-1]
        await answering(b"{}" if known else b'{"kind":"Status","code":401}', "200 OK" if known else "401 Unauthorized")(server, writer)

    async def act(transport: HttpTransport, server: Any) -> list[str]:
        await Connection(transport, real_world()).call(DELETE)
        return [authorization(request) for request in server.requests]

    assert http(only_the_second, act, exec=script(COUNTING)) == ["Bearer t1", "Bearer t2"]


def test_credentials_that_are_refused_as_soon_as_they_are_new_are_told(script: Callable[[str], ExecPlugin]) -> None:
    async def act(transport: HttpTransport, server: Any) -> int:
        with pytest.raises(errors.Unauthorized):
            await Connection(transport, real_world()).call(DELETE)
        return len(server.requests)

    assert http(answering(b'{"kind":"Status","code":401}', "401 Unauthorized"), act, exec=script(COUNTING)) == 1


def test_a_write_that_may_no_longer_be_sent_once_its_credentials_are_there_is_not_sent(script: Callable[[str], ExecPlugin]) -> None:
    async def act(transport: HttpTransport, server: Any) -> list[str]:
        connection = Connection(transport, real_world())
        leading = iter([None, "the lease is over"])
        connection.fence = lambda: next(leading)
        with pytest.raises(errors.NotLeading):
            await connection.call(DELETE)
        return server.requests

    assert http(answering(b"{}"), act, exec=script(COUNTING)) == []


def test_a_program_that_hangs_is_killed_and_what_it_said_is_told(
    script: Callable[[str], ExecPlugin], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("setpoint.client.exec_plugin.TIME", 0.3)

    async def act(transport: HttpTransport, server: Any) -> Any:
        return await transport.send(READ)

    outcome = http(answering(b"{}"), act, exec=script('echo "asking the server" >&2; exec sleep 600'))
    assert isinstance(outcome, NotSent)
    assert "had not ended after 0 seconds, and was killed; it says: asking the server" in outcome.reason


def test_a_program_that_is_not_there_is_told_with_its_hint() -> None:
    async def act(transport: HttpTransport, server: Any) -> Any:
        return await transport.send(READ)

    plugin = replace(PLUGIN, command="no-such-program-anywhere", install_hint="Get it from the shop.")
    outcome = http(answering(b"{}"), act, exec=plugin)
    assert isinstance(outcome, NotSent)
    assert outcome.reason.endswith("is not there: Get it from the shop.")


def test_a_program_that_prints_without_end_is_killed(script: Callable[[str], ExecPlugin]) -> None:
    async def act(transport: HttpTransport, server: Any) -> Any:
        return await transport.send(READ)

    outcome = http(answering(b"{}"), act, exec=script("while :; do echo 0123456789012345678901234567890123456789; done"))
    assert isinstance(outcome, NotSent)
    assert "cannot be used: it printed more than 1048576 bytes" in outcome.reason


def test_of_a_line_without_end_only_the_beginning_is_told(script: Callable[[str], ExecPlugin], caplog: pytest.LogCaptureFixture) -> None:
    async def act(transport: HttpTransport, server: Any) -> Any:
        return await transport.send(READ)

    caplog.set_level("INFO", "setpoint.client.exec")
    outcome = http(answering(b"{}"), act, exec=script("head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1"))
    assert isinstance(outcome, NotSent)
    assert len(outcome.reason) < 3000
    assert max(len(record.getMessage()) for record in caplog.records) < 1000


def test_a_program_may_give_a_client_certificate(script: Callable[[str], ExecPlugin], tmp_path: Path, authority: Any) -> None:
    ca = pem(authority)[0]
    context = server_context(tmp_path, certificate("server.test", issuer=authority), client_ca=ca)
    cert, key = pem(certificate("client", issuer=authority))
    (tmp_path / "printed").write_bytes(printed(token=None, clientCertificateData=cert.decode(), clientKeyData=key.decode()))

    async def act(transport: HttpTransport, server: Any) -> Any:
        return await transport.send(READ)

    assert isinstance(http(answering(b"{}"), act, context, ca_data=ca, exec=script(f"cat {tmp_path / 'printed'}")), Answer)


def test_the_environment_is_this_programs_own_and_a_token_wins(
    script: Callable[[str], ExecPlugin], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FROM_OUTSIDE", "seen")

    async def act(transport: HttpTransport, server: Any) -> str:
        await transport.send(READ)
        return authorization(server.requests[0])

    plugin = script("""printf '{"kind":"ExecCredential","apiVersion":"%s","status":{"token":"%s"}}' """ + f'{V1} "$FROM_OUTSIDE"')
    assert http(answering(b"{}"), act, exec=plugin) == "Bearer seen"
    assert http(answering(b"{}"), act, exec=plugin, token="stated") == "Bearer stated"
    assert "KUBERNETES_EXEC_INFO" not in os.environ
