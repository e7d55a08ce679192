"""The kind."""

from setpoint import Resource, Struct, kind

FINALIZER = "corpus.example.com/database"


class DatabaseSpec(Struct):
    engine: str


class DatabaseStatus(Struct):
    identifier: str = ""


@kind(group="corpus.example.com", version="v1")
class Database(Resource[DatabaseSpec, DatabaseStatus]):
    """A database that a cloud rents out."""
