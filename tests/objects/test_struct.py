"""What a Struct states, and what survives copying: the ground that everything else stands on."""

import copy
import json
import pickle
import types
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import msgspec
import pytest

from setpoint.objects import (
    OMIT,
    UNSET,
    DecodeError,
    Field,
    ObjectMeta,
    Resource,
    Struct,
    absent,
    decode,
    encode,
    field,
    is_absent,
    kind,
    to_builtins,
)

from .kinds import Deployment, DeploymentSpec, EmptyDir, LabelSelector, PodSpec, Volume, WebApp, WebAppSpec, WebAppStatus

COPIES: list[Callable[[Any], Any]] = [copy.copy, copy.deepcopy, lambda obj: pickle.loads(pickle.dumps(obj)), msgspec.structs.replace]


def stated(obj: Struct) -> Any:
    return json.loads(msgspec.json.encode(obj))


def test_a_partial_apply_states_zero_and_omits_what_the_class_requires() -> None:
    assert msgspec.json.encode(DeploymentSpec(replicas=0, selector=OMIT, template=OMIT)) == b'{"replicas":0}'


def test_a_value_is_stated_even_if_it_is_the_default() -> None:
    class Values(Struct):
        number: int = 1
        big: int = 8080
        text: str = ""
        flag: bool = False
        named: int = field(default=7, name="n")
        shared: ClassVar[int] = 3
        few: list[str] = ["a"]

    assert stated(Values()) == {"number": 1, "big": 8080, "text": "", "flag": False, "n": 7, "few": ["a"]}
    assert stated(Values(number=OMIT, big=int("8080"), text=OMIT, flag=OMIT, named=OMIT, few=[])) == {"big": 8080, "few": []}
    assert Values.shared == 3
    assert Values().few is not Values().few


def test_only_a_class_variable_is_taken_for_one() -> None:
    class ClassVariety(Struct):
        x: int = 1

    class Holder(Struct):
        variety: ClassVariety = ClassVariety(x=5)
        shared: "ClassVar[int]" = 3

    assert stated(Holder()) == {"variety": {"x": 5}}
    assert Holder().variety is not Holder().variety


SpecT = TypeVar("SpecT", bound=Struct)


class Sized(Resource[SpecT, WebAppStatus], Generic[SpecT]):
    """Half of a kind."""

    size: int = 2


class Wide(Sized[SpecT], Generic[SpecT]):
    """A quarter more."""


def test_a_kind_may_come_by_way_of_generic_classes_of_its_own() -> None:
    @kind(group="test.example.com", version="v1")
    class Thing(Wide[WebAppSpec]):
        """The rest."""

    thing = Thing(spec=WebAppSpec(image="x"))
    assert thing.status == WebAppStatus()
    assert thing.status is not Thing(spec=WebAppSpec(image="y")).status
    assert decode(Thing, encode(thing)) == thing
    assert type(decode(Thing, encode(thing)).spec) is WebAppSpec
    with pytest.raises(DecodeError, match=r"\.spec\.image"):
        decode(Thing, b'{"metadata":{"name":"a"},"spec":{"image":1}}')


def test_none_unset_absent_and_empty_are_not_stated() -> None:
    assert stated(PodSpec(containers=[])) == {"containers": []}
    assert stated(WebAppSpec(image="x", limit=UNSET, paused=None)) == {"image": "x", "replicas": 1}
    assert to_builtins(Deployment(metadata=ObjectMeta(labels={}))) == {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {}}


def test_an_empty_struct_that_is_assigned_is_stated() -> None:
    assert stated(Volume(name="tmp", empty_dir=EmptyDir())) == {"name": "tmp", "emptyDir": {}}
    volume = Volume(name="tmp")
    volume.empty_dir = EmptyDir()
    assert msgspec.json.decode(msgspec.json.encode(volume), type=Volume) == volume


def test_only_a_nullable_field_tells_null_from_absent() -> None:
    def spec(limit: str) -> WebAppSpec:
        return decode(WebApp, b'{"spec":{"image":"x"%b}}' % limit.encode()).spec

    assert spec("").limit is UNSET
    assert spec(',"limit":null').limit is None
    assert spec(',"limit":3').limit == 3
    assert stated(spec(',"limit":null')) == {"image": "x", "replicas": 1, "limit": None}


def test_names_are_the_wires_own() -> None:
    class Odd(Struct):
        port: int = field(name="Port")
        schema_: Annotated[str, Field(name="$schema")] = "s"

    assert stated(PodSpec(containers=[], cluster_ip="1", pod_ips=["2"])) == {"containers": [], "clusterIP": "1", "podIPs": ["2"]}
    assert stated(Odd(port=1)) == {"Port": 1, "$schema": "s"}


def test_everything_is_by_keyword() -> None:
    with pytest.raises(TypeError):
        WebAppSpec("x")  # type: ignore[call-arg]  # that is the point
    with pytest.raises(TypeError, match="image"):
        WebAppSpec()  # type: ignore[call-arg]  # that is the point


@pytest.mark.parametrize("copied", COPIES)
def test_a_copy_is_equal_and_shares_the_stand_in(copied: Callable[[Any], Any]) -> None:
    deployment = Deployment(metadata=ObjectMeta(name="a"))
    again = copied(deployment)
    assert again == deployment
    assert again.spec is deployment.spec is absent(DeploymentSpec)
    assert encode(again) == encode(deployment)
    app = WebApp(metadata=ObjectMeta(name="a"), spec=WebAppSpec(image="x", limit=None))
    assert encode(copied(app)) == encode(app)


def test_absent_reads_as_empty_and_is_false() -> None:
    spec = Deployment().spec
    assert not spec
    assert is_absent(spec)
    assert isinstance(spec, DeploymentSpec)
    assert spec.replicas is None
    assert spec.selector.match_labels.get("app") is None
    assert [volume.name for volume in spec.template.volumes] == []
    assert list(spec.template.containers) == []
    assert repr(spec) == "absent(DeploymentSpec)"


def test_absent_equals_only_itself() -> None:
    assert Deployment().metadata != ObjectMeta()
    assert ObjectMeta() != Deployment().metadata
    assert Deployment() == Deployment()


def test_absent_is_never_sent_wherever_it_is_put() -> None:
    assert stated(DeploymentSpec(selector=Deployment().spec.selector, template=absent(PodSpec))) == {"selector": {}, "template": {}}


@pytest.mark.parametrize(
    ("write", "says"),
    [
        (lambda d: setattr(d.spec, "replicas", 1), "spec is absent: assign a DeploymentSpec"),
        (lambda d: delattr(d.spec, "replicas"), "spec is absent: assign a DeploymentSpec"),
        (lambda d: d.status.conditions.append(1), "status is absent: assign a DeploymentStatus"),
        (lambda d: d.spec.selector.match_labels.update(a="b"), "selector is absent: assign a LabelSelector"),
        (lambda d: d.metadata.labels.__setitem__("a", "b"), "metadata is absent: assign an ObjectMeta"),
        (lambda d: msgspec.structs.replace(d.spec, replicas=1), "spec is absent: assign a DeploymentSpec"),
    ],
)
def test_a_write_to_absent_says_what_to_do(write: Callable[[Deployment], Any], says: str) -> None:
    with pytest.raises(AttributeError, match=says):
        write(Deployment())
    assert Deployment().spec.replicas is None
    assert Deployment().status.conditions == []


class Part(Struct):
    x: int = 1


def test_absent_of_a_class_with_defaults_reads_as_those() -> None:
    class Filled(Struct):
        names: list[str] = ["a"]
        labels: dict[str, str] = {"a": "b"}
        inner: Part = Part()

    stand_in = absent(Filled)
    assert (stand_in.names, stand_in.labels, stand_in.inner.x) == (["a"], {"a": "b"}, 1)
    assert not stand_in
    with pytest.raises(AttributeError, match="absent"):
        stand_in.names.append("b")
    with pytest.raises(TypeError, match=r"absent\(\) takes a Struct class"):
        absent(list[Filled])


def test_a_class_may_be_made_by_a_function() -> None:
    made = types.new_class("Made", (Resource[WebAppSpec, WebAppStatus],))
    assert made(spec=WebAppSpec(image="x")).status == WebAppStatus()


def test_lists_read_from_absent_copy_to_plain_ones() -> None:
    for conditions in (copy.copy(Deployment().status.conditions), pickle.loads(pickle.dumps(Deployment().status.conditions))):
        conditions.clear()
        assert type(conditions) is list


def test_a_resource_has_the_types_that_it_was_given() -> None:
    app = decode(WebApp, b'{"spec":{"image":"x"}}')
    assert (type(app.spec), type(app.status)) == (WebAppSpec, WebAppStatus)
    assert app.status.ready_replicas == 0
    assert app.status is not decode(WebApp, b'{"spec":{"image":"x"}}').status


class Needy(Struct):
    name: str


def test_a_resource_refuses_a_status_that_new_objects_cannot_have() -> None:
    with pytest.raises(TypeError, match=r"Bad: Needy\.name needs a default"):

        class Bad(Resource[LabelSelector, Needy]):
            pass


def test_bounds_are_not_looked_at_when_reading() -> None:
    assert decode(WebApp, b'{"spec":{"image":"x","replicas":1000}}').spec.replicas == 1000
