"""Namespaces."""

from __future__ import annotations

import pytest
from tests.server.talk import CONFIGMAPS, NAMESPACES, Refused, Talk, config_map, names, talk


def test_some_are_there_from_the_start_and_some_of_them_stay() -> None:
    async def main(t: Talk) -> None:
        assert names(await t.do("list", NAMESPACES)) == ["default", "kube-node-lease", "kube-public", "kube-system"]
        for name in ("default", "kube-system", "kube-public"):
            with pytest.raises(Refused, match=f'403 namespaces "{name}" is forbidden: this namespace may not be deleted'):
                await t.do("delete", NAMESPACES, name)

    talk(main)


def test_a_new_one_is_active_labelled_and_held() -> None:
    async def main(t: Talk) -> None:
        made = await t.do("create", NAMESPACES, "", {"metadata": {"name": "n"}})
        assert made["spec"] == {"finalizers": ["kubernetes"]}
        assert made["status"] == {"phase": "Active"}
        assert made["metadata"]["labels"] == {"kubernetes.io/metadata.name": "n"}

    talk(main)


def test_objects_need_a_namespace_that_is_there() -> None:
    async def main(t: Talk) -> None:
        with pytest.raises(Refused, match='404 namespaces "nowhere" not found'):
            await t.create(CONFIGMAPS, config_map("c", "nowhere"))

    talk(main)


def test_a_terminating_one_takes_nothing_new_and_goes_when_it_is_finalized() -> None:
    async def main(t: Talk) -> None:
        await t.do("create", NAMESPACES, "", {"metadata": {"name": "n"}})
        marked = await t.do("delete", NAMESPACES, "n")
        assert marked["status"] == {"phase": "Terminating"}
        assert "deletionTimestamp" in marked["metadata"]
        with pytest.raises(Refused) as refused:
            await t.create(CONFIGMAPS, config_map("c", "n"))
        assert refused.value.code == 403
        assert refused.value.status["message"] == (
            'configmaps "c" is forbidden: unable to create new content in namespace n because it is being terminated'
        )
        assert refused.value.status["details"]["causes"] == [
            {"reason": "NamespaceTerminating", "message": "namespace n is being terminated", "field": "metadata.namespace"}
        ]
        finalized = await t.do("update", NAMESPACES, "n", {"metadata": {"name": "n"}, "spec": {"finalizers": []}}, sub="finalize")
        assert finalized["status"] == {"phase": "Terminating"}
        with pytest.raises(Refused, match="404"):
            await t.do("get", NAMESPACES, "n")

    talk(main)


def test_the_phase_says_whether_a_namespace_is_going() -> None:
    async def main(t: Talk) -> None:
        await t.create(NAMESPACES, {"metadata": {"name": "n"}})
        with pytest.raises(Refused, match=r"status\.Phase: Invalid value: .X.: may only be 'Active' if `deletionTimestamp` is empty"):
            await t.merge(NAMESPACES, "n", {"status": {"phase": "X"}}, sub="status")
        await t.do("delete", NAMESPACES, "n")
        with pytest.raises(Refused, match="may only be 'Terminating' if `deletionTimestamp` is not empty"):
            await t.merge(NAMESPACES, "n", {"status": {"phase": "Active"}}, sub="status")

    talk(main)
