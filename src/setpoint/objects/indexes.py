"""`Index`: which values an object is found by, such as the annotation that names its source. A declaration; a cache keeps the entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from .metadata import Object

K = TypeVar("K", bound=Object)


class Index(Generic[K]):
    """``BY_SOURCE = Index(Secret, lambda secret: [secret.metadata.annotations.get(SOURCE, "")])``; ``BY_SOURCE("a/b")`` finds by one value.

    ``values`` depends on the object alone: it is called once for each version of it. An empty text is no value.
    """

    __slots__ = ("kind", "values")

    def __init__(self, kind: type[K], values: Callable[[K], Iterable[str]], /) -> None:
        self.kind: type[K] = kind
        self.values: Callable[[K], Iterable[str]] = values

    def __call__(self, value: str, /) -> IndexKey[K]:
        """What `list` takes as ``index=``."""
        return IndexKey(self, value)

    def values_of(self, obj: K, /) -> list[str]:
        """The values of one object, each once, in the order given. Raises `TypeError` if the function gives something else than texts."""
        values = self.values(obj)
        if isinstance(values, str):
            raise TypeError(f"{self!r} gave {values!r} instead of a list: write [{values!r}]")
        found: dict[str, None] = {}
        for value in values:
            if not isinstance(value, str):
                raise TypeError(f"{self!r} gave {value!r} among its values: an index is by text")
            if value:
                found[value] = None
        return list(found)

    def __repr__(self) -> str:
        return f"Index({self.kind.__name__}, {getattr(self.values, '__qualname__', self.values)})"


class IndexKey(Generic[K]):
    """One value of one index."""

    __slots__ = ("index", "value")

    def __init__(self, index: Index[K], value: str) -> None:
        self.index: Index[K] = index
        self.value: str = value

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, IndexKey) and other.index is self.index and other.value == self.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"{self.index!r}({self.value!r})"
