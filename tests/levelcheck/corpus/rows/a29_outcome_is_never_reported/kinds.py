"""The kind, and the job that it wants."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.batch.v1 import Job, JobSpec
from setpoint.k8s.core.v1 import Container, PodSpec, PodTemplateSpec


class PushSpec(Struct):
    commit: str


class PushStatus(Struct):
    phase: str = ""


@kind(group="corpus.example.com", version="v1")
class Push(Resource[PushSpec, PushStatus]):
    """A commit that is to be tested."""


def job_for(push: Push) -> Job:
    container = Container(name="test", image="builder:1", args=[push.spec.commit])
    pod = PodTemplateSpec(spec=PodSpec(containers=[container], restart_policy="Never"))
    return Job(metadata=ObjectMeta(name=push.name, namespace=push.namespace), spec=JobSpec(template=pod))


def outcome(job: Job) -> str:
    """Empty as long as it runs."""
    ended = {condition.type for condition in job.status.conditions if condition.status == "True"}
    return "Succeeded" if "Complete" in ended else "Failed" if "Failed" in ended else ""
