"""Selectable fields of custom kinds: lists and watches by a field's value."""

from typing import Any

import pytest
from tests.server.talk import CRDS, Refused, Talk, names, talk

from setpoint.api import GroupVersionResource

V1, V2, V3 = (GroupVersionResource("ex.dev", version, "pens") for version in ("v1", "v2", "v3"))
PATHS = (".spec.color", ".spec.size", ".spec.on", ".spec.labels.x", ".spec.nib-kind", ".spec.note")


def version(name: str, *paths: str) -> dict[str, Any]:
    text = {"type": "string"}
    spec = {
        "type": "object",
        "properties": {
            "color": text,
            "size": {"type": "integer"},
            "on": {"type": "boolean"},
            "labels": {"type": "object", "additionalProperties": text},
            "nib-kind": text,
            "note": {"type": "string", "nullable": True},
        },
    }
    schema = {"type": "object", "description": name, "properties": {"spec": spec}}
    fields = {"selectableFields": [{"jsonPath": path} for path in paths]} if paths else {}
    return {"name": name, "served": True, "storage": name == "v1", "schema": {"openAPIV3Schema": schema}, **fields}


def definition(*versions: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "pens.ex.dev"},
        "spec": {"group": "ex.dev", "scope": "Namespaced", "names": {"plural": "pens", "kind": "Pen"}, "versions": list(versions)},
    }


PENS = {
    "a": {"color": "red", "size": 3, "on": True, "labels": {"x": "1"}, "nib-kind": "f", "note": None},
    "b": {"color": "", "size": 0, "on": False},
    "c": {},
}


def pen(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "ex.dev/v1", "kind": "Pen", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


async def shop(talk: Talk) -> None:
    await talk.create(CRDS, definition(version("v1", *PATHS), version("v2", PATHS[0]), version("v3")))
    for name, spec in PENS.items():
        await talk.create(V1, pen(name, spec))


async def found(talk: Talk, resource: GroupVersionResource, selector: str) -> list[str]:
    return names(await talk.do("list", resource, "default/", fieldSelector=selector))


@pytest.mark.parametrize(
    ("selector", "wanted"),
    [
        ("spec.color=red", ["a"]),
        ("spec.color=", ["b", "c"]),
        ("spec.color!=red", ["b", "c"]),
        ("spec.size=3", ["a"]),
        ("spec.size=0", ["b"]),
        ("spec.size=", ["c"]),
        ("spec.on=true", ["a"]),
        ("spec.on=false", ["b"]),
        ("spec.on=", ["c"]),
        ("spec.labels.x=1", ["a"]),
        ("spec.nib-kind=f", ["a"]),
        ("spec.note=", ["a", "b", "c"]),
        ("metadata.name=a,spec.color=red", ["a"]),
        ("metadata.name=b,spec.color=red", []),
    ],
)
def test_a_list_is_selected_by_the_value_as_text_and_what_is_absent_is_empty(selector: str, wanted: list[str]) -> None:
    async def main(talk: Talk) -> None:
        await shop(talk)
        assert await found(talk, V1, selector) == wanted

    talk(main)


def test_each_version_has_its_own_fields_for_the_same_objects() -> None:
    async def main(talk: Talk) -> None:
        await shop(talk)
        assert await found(talk, V2, "spec.color=red") == ["a"]
        for resource, selector, unknown in (
            (V2, "spec.size=3", "spec.size"),
            (V3, "metadata.name=a,spec.color=red", "spec.color"),
            (V1, ".spec.color=red", ".spec.color"),
        ):
            with pytest.raises(Refused, match=f"400 field label not supported: {unknown}"):
                await found(talk, resource, selector)

    talk(main)


def test_what_was_stored_before_a_field_became_selectable_is_found_by_it() -> None:
    async def main(talk: Talk) -> None:
        made = await talk.create(CRDS, definition(version("v1")))
        await talk.create(V1, pen("old", {"color": "red"}))
        changed = definition(version("v1", ".spec.color"))
        changed["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"]
        await talk.do("update", CRDS, "pens.ex.dev", changed)
        assert await found(talk, V1, "spec.color=red") == ["old"]
        assert await found(talk, V1, "spec.color=blue") == []

    talk(main)


def test_a_watch_tells_when_an_object_enters_and_leaves_the_selection() -> None:
    async def main(talk: Talk) -> None:
        await shop(talk)
        watch = await talk.watch(V1, "default/", fieldSelector="spec.color=red")
        for name, color in (("b", "red"), ("b", "blue"), ("c", "blue"), ("a", "green")):
            await talk.merge(V1, f"default/{name}", {"spec": {"color": color}})
        assert await watch.told() == [("ADDED", "a"), ("ADDED", "b"), ("DELETED", "b"), ("DELETED", "a")]

    talk(main)
