"""The kind."""

from setpoint import Resource, Struct, kind


class TaskSpec(Struct):
    pass


class TaskStatus(Struct):
    node: str = ""


@kind(group="corpus.example.com", version="v1")
class Task(Resource[TaskSpec, TaskStatus]):
    """Work that is to be bound to a node."""
