"""What the server says of itself to the observer, and on what it does not serve."""

from __future__ import annotations

import pytest
from tests.server.talk import CONFIGMAPS, Refused, Talk, config_map, talk

from setpoint.api import Answer, GroupVersionResource, Operation, Verb
from setpoint.cluster.server import Served
from setpoint.world import Event


def test_the_observer_hears_every_answer_with_the_revision_after_it() -> None:
    async def main(t: Talk) -> None:
        heard: list[Event] = []
        t.world.observer.subscribe(heard.append)
        before = t.revision
        await t.create(CONFIGMAPS, config_map("a"))
        with pytest.raises(Refused):
            await t.do("get", CONFIGMAPS, "default/b")
        await t.watch(CONFIGMAPS)
        served = [(event.operation.verb, event.status, event.revision) for event in heard if isinstance(event, Served)]
        assert served == [("create", 201, before + 1), ("get", 404, before + 1), ("watch", 200, before + 1)]

    talk(main)


def test_what_is_not_served_is_said_as_the_real_server_says_it() -> None:
    async def main(t: Talk) -> None:
        async def refused(verb: Verb, resource: GroupVersionResource, where: str = "", sub: str = "") -> tuple[int, str]:
            namespace, _, name = where.rpartition("/")
            answer = await t.server.handle(Operation(verb=verb, resource=resource, namespace=namespace, name=name, subresource=sub))
            assert isinstance(answer, Answer)
            return answer.status, answer.content_type

        assert await refused("list", GroupVersionResource("nope.io", "v1", "foos")) == (404, "text/plain; charset=utf-8")
        assert await refused("list", GroupVersionResource("", "v1", "foos")) == (404, "application/json")
        assert await refused("create", CONFIGMAPS) == (405, "application/json")
        assert await refused("get", CONFIGMAPS, "default/a", "log") == (404, "application/json")

    talk(main)
