"""Reading an object into its structs in one walk, and asking first whether it can be read: both say the same of any object."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from tests.k8s.schemas import KINDS, holds_everything

from setpoint.cluster.server.builtin.malformed import malformed
from setpoint.cluster.server.builtin.structs import Unreadable, as_go_reads, as_go_writes

ODD: tuple[Any, ...] = (
    None,
    "",
    0,
    False,
    True,
    [],
    {},
    1.5,
    -1,
    2**31,
    2**63,
    "1.5Gi",
    "=",
    [None],
    {"a": None},
    [1],
    {"a": 1},
    [{"a": []}],
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Each place in an object: what holds it, and its key there."""
    items = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    return [place for key, item in items for place in ((value, key), *places(item))]


@pytest.mark.parametrize("name", [pytest.param(name, id=name.rpartition(".")[2]) for name in KINDS])
def test_one_walk_reads_what_can_be_read_and_refuses_what_cannot(name: str) -> None:
    obj = {key: value for key, value in holds_everything(name).items() if key != "metadata"}
    assert as_go_reads(name, deepcopy(obj)) == as_go_writes(name, obj)
    for number, (holder, key) in enumerate(places(obj)[:400]):
        was, holder[key] = holder[key], ODD[number % len(ODD)]
        problem = malformed(name, obj)
        if problem is None:
            assert as_go_reads(name, obj) == as_go_writes(name, obj)
        else:
            with pytest.raises(Unreadable) as raised:
                as_go_reads(name, obj)
            assert str(raised.value) == problem
        holder[key] = was
