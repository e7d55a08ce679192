"""Nothing is silently accepted: who writes what the embedded server keeps and does not carry out is told so."""

import pytest
from tests.server.talk import Talk, talk

from setpoint.api import GroupVersionResource
from setpoint.cluster.server.builtin import kinds
from setpoint.cluster.server.builtin.unenforced import UNENFORCED

ROLES = GroupVersionResource("rbac.authorization.k8s.io", "v1", "roles")
QUOTAS = GroupVersionResource("", "v1", "resourcequotas")


def test_what_is_named_is_served() -> None:
    assert set(UNENFORCED) <= {kind.kind for kind in kinds()}


@pytest.mark.parametrize(("resource", "kind"), [(ROLES, "Role"), (QUOTAS, "ResourceQuota")])
def test_every_write_is_warned_of_and_reads_are_not(resource: GroupVersionResource, kind: str) -> None:
    said = f"{kind} is kept but not enforced by the embedded server: {UNENFORCED[kind]}"

    async def main(t: Talk) -> None:
        await t.create(resource, {"metadata": {"name": "a", "namespace": "default"}})
        assert list(t.warnings) == [said]
        found = await t.do("get", resource, "default/a")
        assert list(t.warnings) == []
        await t.do("update", resource, "default/a", found)
        assert list(t.warnings) == [said]
        await t.do("delete", resource, "default/a")
        assert list(t.warnings) == []

    talk(main)
