"""The kind."""

from setpoint import Resource, Struct, kind

QUEUES = ("slow", "fast")


class GangJobSpec(Struct):
    members: int = 1


class GangJobStatus(Struct):
    running: list[str] = []


@kind(group="corpus.example.com", version="v1")
class GangJob(Resource[GangJobSpec, GangJobStatus]):
    """Counts as running once all its pods are there, which somebody else makes."""
