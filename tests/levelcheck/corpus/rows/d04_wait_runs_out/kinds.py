"""A deployment of machines, and the sets that it makes: one for each template."""

from setpoint import ObjectMeta, Resource, Struct, kind


class TemplateSpec(Struct):
    template: str


class DeploymentStatus(Struct):
    current: str = ""


class SetStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class MachineDeployment(Resource[TemplateSpec, DeploymentStatus]):
    """Machines of one template."""


@kind(group="corpus.example.com", version="v1")
class MachineSet(Resource[TemplateSpec, SetStatus]):
    """Machines that were made from one template."""


def set_for(deployment: MachineDeployment, metadata: ObjectMeta) -> MachineSet:
    metadata.namespace = deployment.namespace
    return MachineSet(metadata=metadata, spec=TemplateSpec(template=deployment.spec.template))
