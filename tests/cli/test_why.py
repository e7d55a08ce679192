"""`setpoint why`, where nobody answers, and what it takes for an object's name."""

from __future__ import annotations

import socket
import threading

import pytest

from setpoint.cli import why
from setpoint.cli.failure import Failure
from setpoint.cli.why import target
from setpoint.objects import Request

from .conftest import Cli


def test_a_manager_that_does_not_answer_is_one_sentence(cli: Cli) -> None:
    said = cli("why", "webapp", "default/shop", "--address", "http://127.0.0.1:1").refusal()
    assert said.startswith("no manager answers at 127.0.0.1:1: ")


def test_an_address_that_is_none_is_refused(cli: Cli) -> None:
    for address in ("ftp://127.0.0.1:80", "127.0.0.1", "http://127.0.0.1:x", "https://127.0.0.1:443"):
        assert "--address takes http://HOST:PORT" in cli("why", "webapp", "default/shop", "--address", address).refusal(2)


def test_what_listens_on_a_default_port_and_is_no_manager_is_passed_over(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        garbage = threading.Thread(target=_say_garbage, args=(listening,), daemon=True)
        garbage.start()
        monkeypatch.setattr(why, "DEFAULT_PORTS", [listening.getsockname()[1]])
        said = cli("why", "webapp", "default/shop").refusal()
        garbage.join()
    assert said.startswith("no manager answers on 127.0.0.1, ports ")
    assert "is `setpoint run` running on this machine?" in said


def _say_garbage(listening: socket.socket) -> None:
    connection, _ = listening.accept()
    with connection:
        connection.recv(1000)
        connection.sendall(b"220 mail.example.com ESMTP\r\n")


@pytest.mark.parametrize(
    ("words", "namespace", "key"),
    [
        (("webapp", "shop"), None, Request("default", "shop")),
        (("webapp", "shop"), "prod", Request("prod", "shop")),
        (("webapp", "prod/shop"), None, Request("prod", "shop")),
        (("webapp/shop",), None, Request("default", "shop")),
        (("webapp/shop",), "prod", Request("prod", "shop")),
    ],
)
def test_objects_are_named_as_in_kubectl(words: tuple[str, ...], namespace: str | None, key: Request) -> None:
    assert target(words, namespace) == ("webapp", key)


@pytest.mark.parametrize("words", [("webapp",), ("a", "b", "c"), ("a/b/c",), ("webapp", "a/b/c"), ("webapp", "/x"), ("", "x")])
def test_what_names_no_object_is_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(Failure, match="name one object"):
        target(words, None)


def test_two_different_namespaces_are_refused() -> None:
    with pytest.raises(Failure, match="two namespaces"):
        target(("webapp", "prod/shop"), "test")


def test_an_answer_that_no_manager_gives_is_one_sentence(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = threading.Thread(target=_say_json, args=(listening,), daemon=True)
        server.start()
        said = cli("why", "webapp", "default/shop", "--address", f"http://127.0.0.1:{listening.getsockname()[1]}").refusal()
        server.join()
    assert "is no manager, or one of another version of Setpoint" in said


def _say_json(listening: socket.socket) -> None:
    connection, _ = listening.accept()
    with connection:
        connection.recv(10_000)
        connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\nConnection: close\r\n\r\n{"runs": [1]}')
