"""Reading objects, one or many."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.talk import CONFIGMAPS, NAMESPACES, WIDGETS, Refused, Talk, config_map, names, talk, widget

from setpoint.cluster.server.storage import Compacted, MemoryStorage, Record


def test_objects_come_in_the_order_of_namespace_and_name() -> None:
    async def main(t: Talk) -> None:
        for namespace, name in (("kube-system", "a"), ("default", "b"), ("default", "a")):
            await t.create(CONFIGMAPS, config_map(name, namespace))
        everything = await t.do("list", CONFIGMAPS)
        assert [(item["metadata"]["namespace"], item["metadata"]["name"]) for item in everything["items"]] == [
            ("default", "a"),
            ("default", "b"),
            ("kube-system", "a"),
        ]
        assert everything["kind"] == "ConfigMapList"
        assert everything["metadata"]["resourceVersion"] == str(t.revision)
        assert names(await t.do("list", CONFIGMAPS, "kube-system/")) == ["a"]

    talk(main)


def test_pages_show_one_revision_whatever_happens_between_them() -> None:
    async def main(t: Talk) -> None:
        for number in range(5):
            await t.create(CONFIGMAPS, config_map(f"c{number}", labels={"at": "first"}))
        first = await t.do("list", CONFIGMAPS, "default/", limit="2")
        assert names(first) == ["c0", "c1"]
        assert first["metadata"]["remainingItemCount"] == 3
        await t.do("delete", CONFIGMAPS, "default/c3")
        await t.create(CONFIGMAPS, config_map("c2a"))
        await t.merge(CONFIGMAPS, "default/c4", {"metadata": {"labels": {"at": "second"}}})
        second = await t.do("list", CONFIGMAPS, "default/", limit="2", **{"continue": first["metadata"]["continue"]})
        third = await t.do("list", CONFIGMAPS, "default/", limit="2", **{"continue": second["metadata"]["continue"]})
        assert names(second) + names(third) == ["c2", "c3", "c4"]
        assert third["items"][0]["metadata"]["labels"] == {"at": "first"}
        assert {page["metadata"]["resourceVersion"] for page in (first, second, third)} == {first["metadata"]["resourceVersion"]}
        assert "continue" not in third["metadata"]
        token = first["metadata"]["continue"]
        assert json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))["v"] == "meta.k8s.io/v1"

    talk(main)


def test_an_expired_token_offers_another_one() -> None:
    async def main(t: Talk) -> None:
        for number in range(3):
            await t.create(CONFIGMAPS, config_map(f"c{number}"))
        first = await t.do("list", CONFIGMAPS, limit="1")
        await t.do("delete", CONFIGMAPS, "default/c1")
        t.server.compact()
        with pytest.raises(Refused) as refused:
            await t.do("list", CONFIGMAPS, limit="1", **{"continue": first["metadata"]["continue"]})
        assert (refused.value.code, refused.value.status["reason"]) == (410, "Expired")
        rest = await t.do("list", CONFIGMAPS, **{"continue": refused.value.status["metadata"]["continue"]})
        assert names(rest) == ["c2"]
        assert rest["metadata"]["resourceVersion"] == str(t.revision)

    talk(main)


def test_selectors_choose() -> None:
    async def main(t: Talk) -> None:
        for name, labels in (("a", {"x": "1"}), ("b", {"x": "2"}), ("c", {})):
            await t.create(CONFIGMAPS, config_map(name, labels=labels))
        assert names(await t.do("list", CONFIGMAPS, labelSelector="x")) == ["a", "b"]
        assert names(await t.do("list", CONFIGMAPS, labelSelector="x!=1")) == ["b", "c"]
        assert names(await t.do("list", CONFIGMAPS, labelSelector="x in (1,2)", limit="1")) == ["a"]
        assert names(await t.do("list", CONFIGMAPS, fieldSelector="metadata.name=b")) == ["b"]
        assert names(await t.do("list", CONFIGMAPS, fieldSelector="metadata.namespace!=default")) == []
        page = await t.do("list", CONFIGMAPS, labelSelector="x", limit="1")
        assert "remainingItemCount" not in page["metadata"]
        assert names(await t.do("list", CONFIGMAPS, labelSelector="x", **{"continue": page["metadata"]["continue"]})) == ["b"]
        with pytest.raises(Refused, match=r'"spec\.x" is not a known field selector'):
            await t.do("list", CONFIGMAPS, fieldSelector="spec.x=1")
        assert names(await t.do("list", NAMESPACES, fieldSelector="status.phase=Terminating")) == []

    talk(main)


def test_a_version_may_be_old_exact_or_too_new() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        made = await t.create(WIDGETS, widget("a"))
        then = made["metadata"]["resourceVersion"]
        await t.create(WIDGETS, widget("b"))
        assert names(await t.do("list", WIDGETS, resourceVersion="0")) == ["a", "b"]
        assert names(await t.do("list", WIDGETS, resourceVersion=then, resourceVersionMatch="NotOlderThan")) == ["a", "b"]
        exact = await t.do("list", WIDGETS, resourceVersion=then, resourceVersionMatch="Exact")
        assert (names(exact), exact["metadata"]["resourceVersion"]) == (["a"], then)
        for verb, where in (("list", ""), ("get", "default/a")):
            with pytest.raises(Refused) as refused:
                await t.do(verb, WIDGETS, where, resourceVersion="999")
            assert refused.value.code == 504
            assert refused.value.status["message"] == f"Timeout: Too large resource version: 999, current: {t.revision}"
            assert refused.value.status["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
            assert t.last.headers["retry-after"] == "1"
        t.server.compact()
        with pytest.raises(Refused, match="410"):
            await t.do("list", WIDGETS, resourceVersion=then, resourceVersionMatch="Exact")

    talk(main)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resourceVersionMatch": "Exact"}, "422 .*resourceVersionMatch is forbidden unless resourceVersion is provided"),
        (
            {"resourceVersionMatch": "Foo", "resourceVersion": "1"},
            '422 .*Unsupported value: "Foo": supported values: "Exact", "NotOlderThan"',
        ),
        ({"sendInitialEvents": "true"}, "422 .*sendInitialEvents is forbidden for list"),
        ({"continue": "abc"}, "400 invalid continue token: continue key is not valid"),
        ({"limit": "abc"}, '400 strconv.ParseInt: parsing "abc": invalid syntax'),
        ({"resourceVersion": "abc"}, '400 invalid resource version: resourceVersion: Invalid value: "abc"'),
        ({"labelSelector": "a b"}, "400 unable to parse requirement"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, str], message: str) -> None:
    async def main(t: Talk) -> None:
        with pytest.raises(Refused, match=message):
            await t.do("list", CONFIGMAPS, **options)

    talk(main)


def test_accept_asks_for_tables_and_metadata() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await t.create(WIDGETS, widget("w"))
        table = await t.do("list", WIDGETS, accept="application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
        assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Image"]
        assert table["rows"][0]["cells"] == ["w", "a"]
        partial = await t.do("get", WIDGETS, "default/w", accept="application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
        assert (partial["kind"], "spec" in partial) == ("PartialObjectMetadata", False)
        with pytest.raises(Refused, match="406 only the following media types are accepted"):
            await t.do("list", WIDGETS, accept="text/html")

    talk(main)


_KEYS = [f"{namespace}/{name}" for namespace in ("a", "a-b", "b") for name in ("x", "y", "z")]


@given(st.lists(st.tuples(st.sampled_from(_KEYS), st.booleans()), max_size=30), st.integers(0, 30), st.integers(0, 12))
def test_the_past_is_read_as_it_was(steps: list[tuple[str, bool]], at: int, window: int) -> None:
    storage = MemoryStorage(window=window)
    seen: dict[int, dict[str, bytes]] = {1: {}}
    state: dict[str, bytes] = {}
    for key, removes in steps:
        found, revision = storage.get("c", key), storage.revision + 1
        record = Record("c", key, str(revision).encode(), revision)
        if removes and found is not None:
            storage.delete(record, expected=found.revision)
            del state[key]
        elif not removes:
            storage.put(record, expected=found.revision if found else 0)
            state[key] = record.value
        else:
            continue
        seen[revision] = dict(state)
    revision = min(at + 1, storage.revision)
    try:
        page = storage.list("c", revision=revision)
    except Compacted:
        assert revision < storage.compacted
        return
    assert {record.key: record.value for record in page.records} == seen[revision]
    assert [record.key for record in page.records] == sorted(seen[revision])
    replayed = dict(seen[revision])
    for change in storage.history(revision):
        if change.deleted:
            del replayed[change.record.key]
        else:
            replayed[change.record.key] = change.record.value
    assert replayed == state


def test_a_limit_beyond_64_bits_is_refused() -> None:
    async def main(t: Talk) -> None:
        with pytest.raises(Refused, match=r'400 strconv\.ParseInt: parsing "99999999999999999999": value out of range'):
            await t.do("list", CONFIGMAPS, "default/", limit="99999999999999999999")

    talk(main)
