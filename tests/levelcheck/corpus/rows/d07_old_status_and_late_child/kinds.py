"""A pipeline run and its task run."""

from setpoint import ObjectMeta, Resource, Struct, kind


class PipelineRunSpec(Struct):
    task: str


class PipelineRunStatus(Struct):
    task_run: str = ""


@kind(group="corpus.example.com", version="v1")
class PipelineRun(Resource[PipelineRunSpec, PipelineRunStatus]):
    """One run of a pipeline of one task."""


class TaskRunSpec(Struct):
    task: str


class TaskRunStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class TaskRun(Resource[TaskRunSpec, TaskRunStatus]):
    """One run of a task."""


def task_run_for(run: PipelineRun, metadata: ObjectMeta) -> TaskRun:
    metadata.namespace = run.namespace
    return TaskRun(metadata=metadata, spec=TaskRunSpec(task=run.spec.task))
