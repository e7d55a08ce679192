"""The kind that both look after."""

from typing import Annotated

from setpoint import Field, ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap


class BookSpec(Struct):
    chapters: Annotated[list[str], Field(list_type="set")] = []


class BookStatus(Struct):
    chapters: int = 0


@kind(group="isolation.example.com", version="v1")
class Book(Resource[BookSpec, BookStatus]):
    """Has chapters."""


def chapter_for(book: Book, chapter: str) -> ConfigMap:
    """A chapter."""
    return ConfigMap(metadata=ObjectMeta(name=f"{book.name}-{chapter}", namespace=book.namespace), data={"title": chapter})
