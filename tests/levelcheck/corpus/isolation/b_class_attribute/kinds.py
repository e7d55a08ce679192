"""The kind that both look after, and its pod."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import Container, Pod, PodSpec


class SessionSpec(Struct):
    image: str


class SessionStatus(Struct):
    image: str = ""


@kind(group="isolation.example.com", version="v1")
class Session(Resource[SessionSpec, SessionStatus]):
    """A pod that somebody works in."""


def pod_for(session: Session) -> Pod:
    """The pod, under a name that the server makes up."""
    return Pod(
        metadata=ObjectMeta(generate_name=f"{session.name}-", namespace=session.namespace, labels={"session": session.name}),
        spec=PodSpec(containers=[Container(name="shell", image=session.spec.image)]),
    )
