"""CustomResourceDefinitions that are made of classes: accepted without a warning, and served as the class says."""

from __future__ import annotations

from typing import Annotated

import msgspec
import pytest

from setpoint.client import errors, verbs
from setpoint.client.install import DEFINITION, definitions, install
from setpoint.k8s.core.v1 import LocalObjectReference, PodTemplateSpec, ServicePort
from setpoint.objects import Field, Request, Resource, Struct, crd, kind, kind_of

from .kinds import GROUP, KINDS, EarlyLamp, FirstLamp, FormerLamp, Gadget, GadgetSpec, Lamp, LampSpec, Ruled, RuledSpec, Tuning
from .site import Site, contract


@contract
async def test_a_definition_with_every_form_is_accepted_without_a_warning(site: Site) -> None:
    strict = {"fieldManager": "contract", "force": "true", "fieldValidation": "Strict"}
    for definition in definitions(KINDS):
        body, key = msgspec.json.encode(definition), Request("", definition["metadata"]["name"])
        operation = verbs.apply(DEFINITION, key, body, field_manager="contract", force=True)
        await site.connection.call(msgspec.structs.replace(operation, options=strict))
    assert site.warnings == []
    stored = await site.client.get_raw(DEFINITION, Request("", f"gadgets.{GROUP}"))
    assert stored is not None
    conditions = {c["type"]: c["status"] for c in msgspec.json.decode(stored)["status"]["conditions"]}
    assert (conditions["NamesAccepted"], conditions["Established"]) == ("True", "True")
    assert "NonStructuralSchema" not in conditions


class PlanSpec(Struct):
    template: PodTemplateSpec | None = None
    ports: Annotated[list[ServicePort], Field(list_map_keys=["port", "protocol"])] = []
    images: Annotated[list[LocalObjectReference], Field(list_map_keys=["name"])] = []


@kind(group=GROUP, version="v1")
class Plan(Resource[PlanSpec, Struct]):
    """A kind that holds structs of built-in kinds."""


@contract
async def test_a_definition_that_holds_structs_of_built_in_kinds_is_accepted_and_stored_as_it_is(site: Site) -> None:
    definition = crd(Plan)
    key = Request("", definition["metadata"]["name"])
    operation = verbs.apply(DEFINITION, key, msgspec.json.encode(definition), field_manager="contract", force=True)
    strict = {"fieldManager": "contract", "force": "true", "fieldValidation": "Strict"}
    await site.connection.call(msgspec.structs.replace(operation, options=strict))
    assert site.warnings == []
    stored = await site.client.get_raw(DEFINITION, key)
    assert stored is not None
    assert msgspec.json.decode(stored)["spec"]["versions"] == definition["spec"]["versions"]


@contract
async def test_what_is_stored_of_a_definition_says_what_the_class_says(site: Site) -> None:
    """So a second apply finds nothing to change, and tools that compare find no difference but the server's own defaults."""
    stored = await site.client.get_raw(DEFINITION, Request("", f"gadgets.{GROUP}"))
    assert stored is not None
    wanted, found = crd(Gadget)["spec"], msgspec.json.decode(stored)["spec"]
    assert {name: found[name] for name in wanted} == wanted
    assert found.keys() - wanted.keys() == {"conversion"}
    await install(site.client, KINDS)
    assert await site.client.get_raw(DEFINITION, Request("", f"gadgets.{GROUP}")) == stored


@contract
async def test_an_installed_kind_is_served_at_once(site: Site) -> None:
    @kind(group=f"{site.namespace}.example.com", version="v1")
    class Fresh(Resource[Struct, Struct]):
        pass

    assert await install(site.client, [Fresh]) == [f"freshes.{site.namespace}.example.com"]
    made = await site.client.create(Fresh(metadata=site.meta("a"), spec=Struct()))
    assert made.metadata.uid


@contract
async def test_rules_are_accepted_and_obeyed_or_refused_by_name(site: Site) -> None:
    if site.server is not None:
        with pytest.raises(errors.Invalid, match=r"CEL validation rules .* are not supported by the embedded server yet"):
            await install(site.client, [Ruled])
        return
    await install(site.client, [Ruled])
    assert site.warnings == []
    await site.client.apply({"apiVersion": f"{GROUP}/v1", "kind": "Ruled", "metadata": {"name": "r"}, "spec": {"fixed": "a"}})
    with pytest.raises(errors.Invalid, match="fixed is immutable"):
        await site.client.patch(Ruled, "r", {"spec": {"fixed": "b"}})
    with pytest.raises(errors.Invalid, match="too many workers"):
        await site.client.patch(Ruled, "r", {"spec": {"window": {"workers": 100}}})
    with pytest.raises(errors.Invalid, match="high is below low") as refused:
        await site.client.patch(Ruled, "r", {"spec": {"span": {"low": 2, "high": 1}}})
    assert [(cause.field, cause.reason) for cause in refused.value.causes] == [("spec.span.high", "FieldValueForbidden")]
    with pytest.raises(errors.Invalid, match="no odd name"):
        await site.client.create(Ruled(metadata=site.meta("odd"), spec=RuledSpec()))
    await site.client.patch(Ruled, "r", {"spec": {"once": 2}})
    with pytest.raises(errors.Invalid, match="failed rule: oldSelf"):
        await site.client.patch(Ruled, "r", {"spec": {"once": 1}})


@contract
async def test_several_versions_are_served_from_the_one_that_is_stored_and_warned_of_as_declared(site: Site) -> None:
    await install(site.client, [Lamp, FormerLamp, EarlyLamp, FirstLamp])
    assert site.warnings == []
    await site.client.create(FormerLamp(metadata=site.meta("a"), spec=LampSpec(watts=60)))
    await site.client.get(EarlyLamp, "a")
    assert site.warnings == ["use v2 of lamps", f"{GROUP}/v1beta1 Lamp is deprecated; use {GROUP}/v2 Lamp"]
    found = await site.client.get(Lamp, "a")
    assert found is not None
    assert found.spec.watts == 60
    with pytest.raises(errors.ApiError):
        await site.client.create(FirstLamp(metadata=site.meta("b"), spec=LampSpec()))
    stored = await site.client.get_raw(DEFINITION, Request("", f"lamps.{GROUP}"))
    assert stored is not None
    assert msgspec.json.decode(stored)["status"]["storedVersions"] == ["v1"]


@contract
async def test_defaults_are_the_class_s_own_wherever_they_are_filled_in(site: Site) -> None:
    body = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Gadget",
        "metadata": {"name": "d"},
        "spec": {"size": 1, "tuning": {}, "byName": {"x": {}}},
    }
    await site.client.create_raw(kind_of(Gadget), site.namespace, msgspec.json.encode(body))
    found = await site.client.get(Gadget, "d")
    assert found is not None
    assert found.spec == GadgetSpec(size=1, tuning=Tuning(), by_name={"x": Tuning()})
