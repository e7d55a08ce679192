"""The kind, and what is put on its objects."""

from setpoint import Resource, Struct, kind

FINALIZER = "corpus.example.com/provisioner"
BACKUP = "backup.example.com/protect"
PROTECTED = "backup.example.com/protected"


class ClusterSpec(Struct):
    region: str


class ClusterStatus(Struct):
    phase: str = ""


@kind(group="corpus.example.com", version="v1")
class Cluster(Resource[ClusterSpec, ClusterStatus]):
    """A cluster that is provisioned elsewhere."""
