"""The kind, and the config map that it wants."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap


class MemoSpec(Struct):
    text: str


class MemoStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class Memo(Resource[MemoSpec, MemoStatus]):
    """A text that is to be in a config map."""


def config_for(memo: Memo) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=memo.name, namespace=memo.namespace), data={"text": memo.spec.text})
