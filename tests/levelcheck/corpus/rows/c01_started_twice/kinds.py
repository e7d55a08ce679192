"""Tasks, which say on which node they are to run, and containers, in which they do."""

from setpoint import ObjectMeta, Request, Resource, Struct, kind

FINALIZER = "corpus.example.com/agent"
"""Of tasks: none is gone before its container is."""


class TaskSpec(Struct):
    node: str


class NoStatus(Struct):
    pass


class ContainerSpec(Struct):
    task: str
    node: str


@kind(group="corpus.example.com", version="v1")
class Task(Resource[TaskSpec, NoStatus]):
    """Something of which one is to run."""


@kind(group="corpus.example.com", version="v1")
class Container(Resource[ContainerSpec, NoStatus]):
    """A process on a node."""


def container_for(task: Task) -> Container:
    metadata = ObjectMeta(name=f"{task.spec.node}-{task.name}", namespace=task.namespace)
    return Container(metadata=metadata, spec=ContainerSpec(task=task.name, node=task.spec.node))


def task_of(container: Container) -> list[Request]:
    return [Request(container.namespace, container.spec.task)]
