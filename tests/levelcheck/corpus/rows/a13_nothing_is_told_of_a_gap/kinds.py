"""The kind, and the config map that it wants."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap


class NoteSpec(Struct):
    text: str


class NoteStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class Note(Resource[NoteSpec, NoteStatus]):
    """A text that is to be in a config map."""


def config_for(note: Note) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=note.name, namespace=note.namespace), data={"text": note.spec.text})
