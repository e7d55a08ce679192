"""The kind, and the secret that it owns softly: by a label."""

from setpoint import ObjectMeta, Request, Resource, Struct, kind
from setpoint.k8s.core.v1 import Secret

OWNER = "corpus.example.com/owner"


class ElasticsearchSpec(Struct):
    user: str


class ElasticsearchStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1", plural="elasticsearches")
class Elasticsearch(Resource[ElasticsearchSpec, ElasticsearchStatus]):
    """A search engine."""


def credentials_for(cluster: Elasticsearch) -> Secret:
    metadata = ObjectMeta(name=f"{cluster.name}-user", namespace=cluster.namespace, labels={OWNER: cluster.name})
    return Secret(metadata=metadata, string_data={"user": cluster.spec.user})


def owner_of(secret: Secret) -> list[Request]:
    name = secret.metadata.labels.get(OWNER)
    return [Request(secret.namespace, name)] if name else []
