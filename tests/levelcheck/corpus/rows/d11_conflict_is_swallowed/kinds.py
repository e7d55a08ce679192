"""The kind."""

from setpoint import Condition, Resource, Struct, kind


class GitSourceSpec(Struct):
    url: str


class GitSourceStatus(Struct):
    observed_generation: int = 0
    artifact: str = ""
    conditions: list[Condition] = []


@kind(group="corpus.example.com", version="v1")
class GitSource(Resource[GitSourceSpec, GitSourceStatus]):
    """A repository that is fetched."""
