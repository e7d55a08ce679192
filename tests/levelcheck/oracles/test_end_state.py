"""O1, O12, O16: where a run has ended."""

from __future__ import annotations

from tests.levelcheck.oracles.build import CASE, ended, obj

from setpoint.levelcheck import Periodic, Waiver, Workload, apply
from setpoint.levelcheck.case import Case
from setpoint.levelcheck.oracles import Mask, Masks, judge, judge_path, judge_reference, waived


def case(**declared: object) -> Case:
    return Case(target="somewhere:controller", workload=Workload(()), **declared)  # type: ignore[arg-type]  # passed on


def db(replicas: int, /, **status: object) -> dict[str, object]:
    return obj("statefulsets.apps default/db", 1, spec={"replicas": replicas}, status=status)


def test_equal_ends_are_no_finding() -> None:
    assert judge(CASE, ended(db(3)), ended(db(3))) == []


def test_a_field_that_ends_otherwise_is_told_in_words() -> None:
    (found,) = judge(CASE, ended(db(3)), ended(db(2)))
    assert found.sentence == "statefulset default/db: .spec.replicas is 2, and 3 without the fault"
    assert (found.oracle, found.resource, found.role, found.field) == ("O1", "statefulsets.apps", "default/db", ".spec.replicas")
    assert (found.expected, found.found, found.verdict, found.warning) == ("3", "2", "REFUTED", False)


def test_what_is_missing_and_what_is_too_much() -> None:
    claim = obj("persistentvolumeclaims default/data-0", 2)
    (missing,) = judge(CASE, ended(db(3), claim), ended(db(3)))
    assert missing.sentence == "persistentvolumeclaim default/data-0 is missing, and is there without the fault"
    (extra,) = judge(CASE, ended(db(3)), ended(db(3), claim))
    assert extra.sentence == "persistentvolumeclaim default/data-0 is there, and is not there without the fault"


def test_how_many_there_are_of_made_up_names() -> None:
    pods = [
        obj(f"pods default/web-{suffix}", nth, metadata={"generateName": "web-"}) for nth, suffix in enumerate(("b2b2b", "c4c4c", "d5d5d"))
    ]
    (found,) = judge(CASE, ended(*pods[:2]), ended(*pods))
    assert found.sentence == "there are 3 of pod default/web-*, and 2 without the fault"


def test_what_is_wanted_comes_before_what_is_told_and_what_follows_from_it_last() -> None:
    one = [db(3, replicas=3), obj("pods default/db-2", 2)]
    told = [found.sentence.partition(",")[0] for found in judge(CASE, ended(*one), ended(db(2, replicas=2)))]
    assert told == [
        "statefulset default/db: .spec.replicas is 2",
        "statefulset default/db: .status.replicas is 2",
        "pod default/db-2 is missing",
    ]


def test_an_item_of_a_list_is_named_by_its_key() -> None:
    one, other = (db(3, conditions=[{"type": "Up", "status": up}, {"type": "A", "status": "True"}]) for up in ("True", "False"))
    (found,) = judge(CASE, ended(one), ended(other))
    assert found.field == ".status.conditions[Up].status"


def test_a_run_that_has_no_end_is_not_compared() -> None:
    assert [found.oracle for found in judge(CASE, ended(db(3)), ended(db(2), end="restless", why="30 writes a minute"))] == ["O2"]


def test_more_outside_is_a_leak_and_less_is_not() -> None:
    (leak,) = judge(CASE, ended(outside={"cloud": {}}), ended(outside={"cloud": {"balancer": "web"}}))
    assert (leak.oracle, leak.sentence) == ("O8", "cloud outside: .balancer is web, and is not set without the fault")
    (lost,) = judge(CASE, ended(outside={"cloud": {"balancer": "web"}}), ended(outside={"cloud": {}}))
    assert lost.oracle == "O1"


def test_what_the_user_declares_to_be_periodic_is_not_compared() -> None:
    declared = case(periodic=(Periodic(resource="statefulsets.apps", field=".spec.replicas", reason="breathes"),))
    findings, masks = judge_reference(declared, ended(db(3)))
    assert findings == []
    assert masks.notes == ("statefulsets.apps .spec.replicas is not compared: breathes",)
    assert judge(declared, ended(db(3)), ended(db(2)), masks) == []


def test_what_differs_without_a_fault_by_chance_is_masked() -> None:
    one, other = db(3, token="k2j4h5g6"), db(3, token="z9x8c7v6")
    findings, masks = judge_reference(CASE, ended(one), [ended(other)])
    assert findings == []
    assert masks.cover("statefulsets.apps", ".status.token")
    assert judge(CASE, ended(one), ended(db(3, token="q1w2e3r4")), masks) == []
    assert judge(CASE, ended(one), ended(db(2, token="q1w2e3r4")), masks) != []


def test_what_differs_without_a_fault_and_not_by_chance_is_a_finding() -> None:
    (found, *_), masks = judge_reference(CASE, ended(db(3)), [ended(db(3)), ended(db(2))])
    assert (found.oracle, found.field) == ("O16", ".spec.replicas")
    assert masks == Masks()


def test_a_masked_value_that_tells_things_apart_does_so_no_more() -> None:
    def fleet(first: str, second: str) -> list[dict[str, object]]:
        return [
            obj("configmaps default/first-x7k2p", 1, metadata={"generateName": "first-"}, data={"token": first}),
            obj("shops.example.com default/web", 2, status={"uses": "first-x7k2p", "token": second}),
        ]

    findings, masks = judge_reference(CASE, ended(*fleet("a1b2c3d4", "x")), [ended(*fleet("e5f6g7h8", "x"))])
    assert findings == []
    assert masks.fields == (Mask("configmaps", ".data.token", "it is another in each order of events"),)


def test_another_way_to_the_same_manifests_is_its_own_verdict() -> None:
    (found,) = judge_path(CASE, ended(db(3)), ended(db(2)))
    assert (found.oracle, found.verdict) == ("O12", "PATH-DEPENDENT")
    assert found.sentence == "statefulset default/db: .spec.replicas is 3, and 2 if only the last manifests are applied"


def test_a_waiver_fits_what_it_names() -> None:
    (found,) = judge_path(CASE, ended(db(3)), ended(db(2)))
    for waiver, fits in [
        (Waiver(reason="sticky", oracle="O12"), True),
        (Waiver(reason="sticky", oracle="O12", resource="statefulsets.apps", name="db", field=".spec"), True),
        (Waiver(reason="sticky", oracle="O12", name="default/db", field=".spec.replicas"), True),
        (Waiver(reason="sticky", oracle="O1"), False),
        (Waiver(reason="sticky", oracle="O12", field=".spec.rep"), False),
        (Waiver(reason="sticky", oracle="O12", resource="pods"), False),
    ]:
        assert (waived(found, case(waivers=(waiver,))) == waiver) is fits


def test_an_address_that_the_user_has_given_is_compared() -> None:
    def service(address: str) -> dict[str, object]:
        return obj("services default/web", 1, spec={"clusterIP": address})

    given = Case(target="x:y", workload=Workload.of(apply(service("10.0.0.7"))))
    assert judge(CASE, ended(service("10.0.0.7")), ended(service("10.0.0.8"))) == []
    (found,) = judge(given, ended(service("10.0.0.7")), ended(service("10.0.0.8")))
    assert found.field == ".spec.clusterIP"
