"""The kind, and the config map that it wants."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap

FINALIZER = "corpus.example.com/widget"


class WidgetSpec(Struct):
    colour: str


class WidgetStatus(Struct):
    phase: str = ""


@kind(group="corpus.example.com", version="v1")
class Widget(Resource[WidgetSpec, WidgetStatus]):
    """Something with a colour."""


def config_for(widget: Widget) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=widget.name, namespace=widget.namespace), data={"colour": widget.spec.colour})
