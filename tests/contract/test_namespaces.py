"""Namespaces that are deleted: what is said meanwhile."""

from __future__ import annotations

from setpoint.k8s.core.v1 import ConfigMap, Namespace, Secret

from .site import Plane, Site, contract

HOLD, KEEP = "contract.example.com/hold", "contract.example.com/keep"


@contract
async def held(site: Site) -> None:
    kept = [
        await site.client.create(ConfigMap(metadata=site.meta("one", finalizers=[HOLD, KEEP]))),
        await site.client.create(ConfigMap(metadata=site.meta("two", finalizers=[HOLD]))),
        await site.client.create(Secret(metadata=site.meta("three", finalizers=[HOLD]))),
    ]
    space = await site.client.get(Namespace, site.namespace)
    assert space is not None
    await site.client.delete(space)

    async def said() -> dict[str, tuple[str, str | None, str | None]]:
        found = await site.client.get(Namespace, site.namespace)
        assert found is not None
        return {condition.type: (condition.status, condition.reason, condition.message) for condition in found.status.conditions}

    assert await site.until(said) == {
        "NamespaceDeletionDiscoveryFailure": ("False", "ResourcesDiscovered", "All resources successfully discovered"),
        "NamespaceDeletionGroupVersionParsingFailure": ("False", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
        "NamespaceDeletionContentFailure": (
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        "NamespaceContentRemaining": (
            "True",
            "SomeResourcesRemain",
            "Some resources are remaining: configmaps. has 2 resource instances, secrets. has 1 resource instances",
        ),
        "NamespaceFinalizersRemaining": (
            "True",
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {HOLD} in 3 resource instances, {KEEP} in 1 resource instances",
        ),
    }
    for obj in kept:
        found = await site.client.get(type(obj), obj.name)
        assert found is not None
        found.metadata.finalizers = []
        await site.client.update(found)

    async def gone() -> bool:
        return await site.client.get(Namespace, site.namespace) is None

    await site.until(gone)


def test_a_namespace_says_what_it_waits_for(whole_plane: Plane) -> None:
    held(whole_plane)
