"""The kind."""

from setpoint import Resource, Struct, kind


class GaugeSpec(Struct):
    level: int


class GaugeStatus(Struct):
    level: int = 0


@kind(group="corpus.example.com", version="v1")
class Gauge(Resource[GaugeSpec, GaugeStatus]):
    """Its status is to show what its spec says."""
