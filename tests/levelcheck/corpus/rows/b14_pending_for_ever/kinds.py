"""The kind, and what a release consists of."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap


class ReleaseSpec(Struct):
    version: str


class ReleaseStatus(Struct):
    phase: str = ""
    version: str = ""


@kind(group="corpus.example.com", version="v1")
class Release(Resource[ReleaseSpec, ReleaseStatus]):
    """A chart in some version."""


def objects_of(release: Release) -> list[ConfigMap]:
    metadata = ObjectMeta(name=f"{release.name}-chart", namespace=release.namespace)
    return [ConfigMap(metadata=metadata, data={"version": release.spec.version})]
