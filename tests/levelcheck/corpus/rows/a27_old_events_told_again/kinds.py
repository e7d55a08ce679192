"""The kind, and the config map that it wants."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap


class RepoSpec(Struct):
    text: str


class RepoStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class Repo(Resource[RepoSpec, RepoStatus]):
    """A text that is to be in a config map."""


def config_for(repo: Repo) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=repo.name, namespace=repo.namespace), data={"text": repo.spec.text})
