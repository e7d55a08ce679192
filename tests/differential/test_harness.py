"""The comparison itself: what it takes for equal, and that it sees what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from .compare import differences
from .golden import Golden, broad, replay
from .machine import define
from .normalise import Normaliser
from .servers import EmbeddedServer
from .steps import Answer, Json, Memory, Step
from .waivers import LIMIT, WAIVERS

GET = Step("get", "config", "GET", "/api/v1/namespaces/NS/configmaps/a", about="configmaps/a")


def told(*bodies: Json) -> list[Json]:
    normaliser = Normaliser(Memory("d-1"))
    return [normaliser.answer(GET, Answer(200, "application/json", (), body)) for body in bodies]


def config(version: int, uid: str, **data: str) -> Json:
    return {"metadata": {"name": "a", "namespace": "d-1", "uid": uid, "resourceVersion": str(version)}, "data": data}


UID = "12345678-1234-1234-1234-1234567890ab"
OTHER = "87654321-1234-1234-1234-1234567890ab"


def test_versions_and_uids_of_two_servers_are_equal_if_their_order_is() -> None:
    assert told(config(5, UID), config(9, UID)) == told(config(700, OTHER), config(701, OTHER))


@pytest.mark.parametrize(
    "other",
    [
        pytest.param((config(9, OTHER), config(5, OTHER)), id="versions that go back"),
        pytest.param((config(5, OTHER), config(5, OTHER)), id="a write that was none"),
        pytest.param((config(5, OTHER), config(9, UID)), id="another object"),
        pytest.param((config(5, OTHER), config(9, OTHER, a="1")), id="other contents"),
    ],
)
def test_what_differs_is_seen(other: tuple[Json, ...]) -> None:
    assert list(differences("", told(config(5, UID), config(9, UID)), told(*other)))


def test_true_is_not_one() -> None:
    assert [found.place for found in differences("", {"a": [1, True]}, {"a": [True, True]})] == [("a", 0)]


def test_a_golden_of_another_answer_is_noticed() -> None:
    golden = broad()[0]
    changed = Golden.of({**golden.plain(), "told": [*golden.plain()["told"][:-1], {"status": 418}]})
    server = EmbeddedServer()
    define(server)
    assert list(replay(replace(golden, told=changed.told), server, "d0000000-000000"))
    server.close()


def test_waivers_are_few_and_have_names() -> None:
    assert len(WAIVERS) <= LIMIT
    assert len({waiver.name for waiver in WAIVERS}) == len(WAIVERS)
