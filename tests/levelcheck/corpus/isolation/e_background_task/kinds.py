"""The kind that both look after."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap


class ReportSpec(Struct):
    topic: str


class ReportStatus(Struct):
    topic: str = ""


@kind(group="isolation.example.com", version="v1")
class Report(Resource[ReportSpec, ReportStatus]):
    """Is written about a topic."""


def text_for(report: Report) -> ConfigMap:
    """The report's text."""
    meta = ObjectMeta(name=f"report-{report.name}", namespace=report.namespace)
    return ConfigMap(metadata=meta, data={"text": f"All about {report.spec.topic}."})
