"""The test that is written for a refutation: it can be read, and checks the same."""

from __future__ import annotations

import ast
from typing import Any

import msgspec
import pytest

from setpoint.levelcheck import Assumptions, Periodic, State, Waiver, Workload, advance, apply, delete, patch, recreate, wait
from setpoint.levelcheck.case import Case
from setpoint.levelcheck.report.regression import regression

from .stories import resized

DB = {"apiVersion": "example.com/v1", "kind": "Cluster", "metadata": {"name": "db", "namespace": "default"}}
STEPS = Workload.of(
    apply({**DB, "spec": {"size": "10Gi", "paused": False, "note": 'with "quotes"', "nothing": None, "ports": [80, 443]}}),
    wait(),
    patch(DB, {"status": {"phase": "Ready"}}, subresource="status"),
    advance(90),
    recreate({**DB, "spec": {"a" * 40: "b" * 60, "c" * 40: ["d" * 60]}}),
    delete({**DB, "metadata": {"name": "everywhere"}}, propagation="Foreground"),
    delete(DB),
)


class Cloud:
    """Something outside."""


def never(state: State) -> str | None:
    """An invariant."""
    return None


def role(obj: dict[str, Any]) -> str | None:
    """A role."""
    return None


def written(**further: Any) -> str:
    return regression(Case(target=None, workload=STEPS, **further), resized(), "cluster.py:controller")


def carried_out(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(text, "test_regression_written.py", "exec"), names)
    return names


def called(text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """With what the test calls the fixture."""
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    names = carried_out(text)
    (test,) = [value for name, value in names.items() if name.startswith("test_")]
    test(lambda *words, **options: calls.append((words, options)))
    (call,) = calls
    return call


def test_it_checks_the_same_target_workload_and_token() -> None:
    (target, workload), options = called(written())
    assert target == "cluster.py:controller"
    assert [_data(step) for step in workload.steps] == [_data(step) for step in STEPS.steps]
    assert options == {"replay": resized().token}


def test_what_is_declared_goes_along_by_name() -> None:
    _, options = called(
        written(
            outside={"cloud": Cloud},
            invariants=(never,),
            roles={"pods": role},
            waivers=(Waiver(reason="it is meant", oracle="O12", resource="pods"),),
            periodic=(Periodic(resource="secrets", field=".data", reason="rotated"),),
            assumptions=Assumptions(lists="old"),
            leaders=2,
            environment=("other.py:controller",),
        )
    )
    assert options.pop("replay")
    assert options == {
        "outside": {"cloud": Cloud},
        "invariants": [never],
        "roles": {"pods": role},
        "waivers": [Waiver(reason="it is meant", oracle="O12", resource="pods")],
        "periodic": [Periodic(resource="secrets", field=".data", reason="rotated")],
        "assumptions": Assumptions(lists="old"),
        "leaders": 2,
        "environment": ["other.py:controller"],
    }


def test_a_function_that_cannot_be_imported_is_named() -> None:
    with pytest.raises(ValueError, match=r"outside\['cloud'\] is .*lambda.* put it at the top level of a module"):
        written(outside={"cloud": lambda: None})


def test_it_is_named_and_told_after_what_is_wrong() -> None:
    text = written()
    module = ast.parse(text)
    assert (ast.get_docstring(module) or "").startswith(
        "Claim default/data-db-0 stays at 10Gi for ever.\n\nIt is so where the process dies just after `delete"
    )
    assert "def test_claim_default_data_db_0_stays_at_10gi_for_ever(setpoint_check):" in text


def _data(step: Any) -> Any:
    return type(step).__name__, {
        name: msgspec.json.decode(value) if isinstance(value, bytes) else value for name, value in msgspec.structs.asdict(step).items()
    }
