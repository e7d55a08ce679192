"""The kind, and the config map that it wants."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap


class WebPageSpec(Struct):
    html: str


class WebPageStatus(Struct):
    observed_generation: int = 0


@kind(group="corpus.example.com", version="v1")
class WebPage(Resource[WebPageSpec, WebPageStatus]):
    """A page, served out of a config map."""


def config_for(page: WebPage) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=page.name, namespace=page.namespace), data={"index.html": page.spec.html})
