"""The canonical state is equal for runs that came to the same, and for no others."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.levelcheck.oracles.build import key_of, obj, uid

from setpoint.levelcheck.oracles import canonical
from setpoint.levelcheck.oracles.generated import made_up
from setpoint.levelcheck.recording import Key


def digest(*objects: dict[str, Any], keep: tuple[str, ...] = (), **outside: Any) -> str:
    return canonical({key_of(each): each for each in objects}, outside, keep=keep).digest


def web(number: int = 1, **fields: Any) -> dict[str, Any]:
    return obj("shops.example.com default/web", number, **fields)


_SUFFIXES = st.lists(st.text(alphabet="bcdfghjklmnpqrstvwxz2456789", min_size=5, max_size=5), min_size=5, max_size=5, unique=True)


def _fleet(uids: list[int], suffixes: list[str], *, hour: int, version: int, swapped: bool = False) -> dict[Key, bytes]:
    """A shop, its ReplicaSet with two pods that differ, a claim that names a pod, a Secret named after its claim; and their mentions."""
    first, second, claim, config, replicas = suffixes
    stamp = f"2026-01-01T{hour:02}:00:00Z"
    owner = obj("shops.example.com default/web", uids[0])
    owner["metadata"] |= {"resourceVersion": str(version), "generation": version, "creationTimestamp": stamp}
    owner["status"] = {
        "observedGeneration": version,
        "members": [f"web-{first}", f"web-{second}"],
        "claims": {f"web-{first}": f"data-{claim}"},
        "note": f"web-{second} is up since {stamp}",
    }
    sets = obj(f"replicasets.apps default/web-{replicas}", uids[1], owner=owner, metadata={"generateName": "web-"}, spec={"replicas": 2})
    pods = [
        obj(f"pods default/web-{suffix}", uids[2 + nth], owner=sets, metadata={"generateName": "web-"}, spec={"zone": zone})
        for nth, (suffix, zone) in enumerate(((first, "a"), (second, "b")))
    ]
    pods[0]["status"] = {"podIP": f"10.0.0.{uids[2] % 250}"}
    owner["status"]["address"] = f"http://10.0.0.{uids[2] % 250}:80"
    bound = obj(f"persistentvolumeclaims default/data-{claim}", uids[4], owner=pods[0], metadata={"generateName": "data-"})
    secret = obj(f"secrets default/data-{claim}-key", uids[5], owner=bound, data={"for": f"pod-{second}"})
    settings = obj(f"configmaps default/web-{config}", uids[6], owner=owner, data={"uid": uid(uids[0])}, metadata={"generateName": "web-"})
    objects = [owner, sets, *pods, bound, secret, settings]
    if swapped:
        objects.reverse()
    shuffled = {key_of(each): each for each in objects}
    return {key: msgspec.json.encode(dict(reversed(each.items())) if swapped else each) for key, each in shuffled.items()}


_UIDS = st.lists(st.integers(1, 10**6), min_size=7, max_size=7, unique=True)


@settings(max_examples=40)
@given(uids=_UIDS, suffixes=_SUFFIXES, hour=st.integers(0, 23), version=st.integers(1, 99), swapped=st.booleans())
def test_names_that_were_made_up_uids_hours_and_the_order_of_maps_change_nothing(
    uids: list[int], suffixes: list[str], hour: int, version: int, swapped: bool
) -> None:
    usual = canonical(_fleet([1, 2, 3, 4, 5, 6, 7], ["b2b2b", "c4c4c", "d5d5d", "f6f6f", "g7g7g"], hour=1, version=1))
    assert canonical(_fleet(uids, suffixes, hour=hour, version=version, swapped=swapped)) == usual


@settings(max_examples=20)
@given(suffixes=_SUFFIXES)
def test_which_of_two_things_a_made_up_name_means_is_told_apart(suffixes: list[str]) -> None:
    one = _fleet([1, 2, 3, 4, 5, 6, 7], suffixes, hour=1, version=1)
    # The claim is said to be that of the other pod.
    key = Key("shops.example.com", "default", "web")
    other = {**one, key: one[key].replace(f'"web-{suffixes[0]}":"data'.encode(), f'"web-{suffixes[1]}":"data'.encode())}
    assert canonical(one).digest != canonical(other).digest


def test_an_object_more_is_seen() -> None:
    pods = [
        obj(f"pods default/web-{suffix}", nth, metadata={"generateName": "web-"}) for nth, suffix in enumerate(("b2b2b", "c4c4c", "d5d5d"))
    ]
    assert digest(*pods[:2]) != digest(*pods)
    assert digest(*pods[:2]) == digest(*pods[1:])


def test_an_owner_of_another_uid_is_seen() -> None:
    owned = obj("configmaps default/web", 5, owner=web(1))
    assert digest(web(1), owned) != digest(web(2), owned)


def test_a_status_is_of_this_generation_or_of_an_older_one() -> None:
    def told(seen: int, generation: int) -> str:
        return digest(web(metadata={"generation": generation}, status={"observedGeneration": seen}))

    assert told(3, 3) == told(1, 1) != told(2, 3)


def test_a_time_that_the_user_has_said_is_compared() -> None:
    noon, one = (web(spec={"at": f"2026-01-01T{hour}:00:00Z"}) for hour in (12, 13))
    assert digest(noon) == digest(one)
    assert digest(noon, keep=("2026-01-01T12:00:00Z",)) != digest(one, keep=("2026-01-01T12:00:00Z",))


def test_what_is_allocated_is_not_compared_and_what_is_refused_an_address_is() -> None:
    one, other, headless = (obj("services default/web", 1, spec={"clusterIP": ip}) for ip in ("10.0.0.7", "10.0.0.9", "None"))
    assert digest(one) == digest(other) != digest(headless)


def test_a_password_that_was_made_up_is_not_compared_and_a_setting_is() -> None:
    def secret(value: str) -> str:
        return digest(obj("secrets default/web", 1, stringData={}, data={"it": value}))

    assert secret("czNjcjN0dG9rZW4xMjM0") == secret("YW5vdGhlcjEyMzR0b2tlbg==")
    assert secret("b24=") != secret("b2Zm")


def test_history_and_what_the_system_has_made_is_left_out() -> None:
    deployment = obj("deployments.apps default/web", 2)
    old = obj("replicasets.apps default/web-5b65f", 3, owner=deployment, spec={"replicas": 0}, status={"replicas": 0})
    root = obj("configmaps default/kube-root-ca.crt", 4, data={"ca.crt": "x"})
    assert digest(deployment, old, root) == digest(deployment)


def test_a_set_in_a_status_has_no_order_and_a_list_in_a_spec_has() -> None:
    assert digest(web(status={"zones": ["a", "b"]})) == digest(web(status={"zones": ["b", "a"]}))
    assert digest(web(spec={"zones": ["a", "b"]})) != digest(web(spec={"zones": ["b", "a"]}))


def test_the_outside_counts_and_is_told_by_the_same_names() -> None:
    one, other = (obj(f"pods default/web-{suffix}", 1, metadata={"generateName": "web-"}) for suffix in ("b2b2b", "c4c4c"))
    assert digest(one, cloud={"machines": {"vm-web-b2b2b": "up"}}) == digest(other, cloud={"machines": {"vm-web-c4c4c": "up"}})
    assert digest(one, cloud={"machines": {"vm-web-b2b2b": "up"}}) != digest(one, cloud={"machines": {}})


def test_two_entries_of_the_outside_for_things_that_look_alike_stay_two() -> None:
    pods = [obj(f"pods default/web-{suffix}", nth, metadata={"generateName": "web-"}) for nth, suffix in enumerate(("b2b2b", "c4c4c"))]
    assert digest(*pods, cloud={"web-b2b2b": 1, "web-c4c4c": 1}) != digest(*pods, cloud={"web-b2b2b": 1})


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("shop-x7k2p", "shop-*"),
        ("shop-5b65fgvtvl-t8tqw", "shop-*-*"),
        ("shop-3f9a1c0e", "shop-*"),
        ("backup-20260101", "backup-*"),
        ("shop-main", ""),
        ("db-0", ""),
        ("us-east1", ""),
        ("web-https", ""),
        ("shop", ""),
        ("data-db-12", ""),
    ],
)
def test_a_name_looks_made_up_or_given(name: str, pattern: str) -> None:
    assert made_up(name) == pattern


def test_the_order_of_objects_is_of_no_account() -> None:
    objects = list(_fleet([1, 2, 3, 4, 5, 6, 7], ["b2b2b", "c4c4c", "d5d5d", "f6f6f", "g7g7g"], hour=1, version=1).items())
    usual = canonical(dict(objects))
    for seed in range(5):
        random.Random(seed).shuffle(objects)
        assert canonical(dict(objects)) == usual


def test_a_status_in_which_nothing_is_set_is_none() -> None:
    assert digest(web()) == digest(web(status={"level": "", "used": 0, "ready": False, "parts": []}))
    assert digest(web(status={"used": 0})) != digest(web(status={"used": 1}))
    assert digest(web(spec={"replicas": 0})) != digest(web(spec={}))
    assert digest(cloud={"used": 0}) != digest(cloud={})
