"""The ways in which a strategic merge patch fails, with the texts of the real server.

It answers three of them otherwise than a reader would expect: most misuse of a directive is an internal error there (500), and values that
Go cannot compare, or a null at the head of a list, make the request crash.
"""

from __future__ import annotations

from setpoint.cluster.server.schema import Json
from setpoint.cluster.server.schema.gotext import plain, type_name


class PatchFailure(ValueError):
    """The patch cannot be carried out; the real server blames itself (500)."""


class BadPatch(PatchFailure):
    """The patch itself is malformed (400)."""


class UnprocessablePatch(PatchFailure):
    """The patch wants what there is not (422)."""


class PatchCrash(PatchFailure):
    """The real server's code panics here."""


LIST, MAP = "[]interface {}", "map[string]interface {}"


def no_merge_key(item: Json, key: str) -> PatchFailure:
    """An item of a list that merges by a key does not have it."""
    return PatchFailure(f"map: {plain(item)} does not contain declared merge key: {key}")


def wrong_type(expected: str, value: Json) -> PatchFailure:
    """A value of one Go type where another one belongs."""
    return PatchFailure(f"expected a {expected}, but received a {'%!s(<nil>)' if value is None else type_name(value)}")


def unknown_directive(directive: Json, patch: Json) -> PatchFailure:
    """A `$patch` that says neither replace nor delete."""
    return PatchFailure(f"unknown patch type: {_as_text(directive)} in map: {plain(patch)}")


def _as_text(value: Json) -> str:
    """A value as Go's `%s` prints it, which only texts are meant for."""
    match value:
        case str():
            return value
        case dict():
            return "map[" + " ".join(f"{key}:{_as_text(item)}" for key, item in sorted(value.items())) + "]"
        case list():
            return "[" + " ".join(map(_as_text, value)) + "]"
        case None:
            return "%!s(<nil>)"
    return f"%!s({type_name(value)}={plain(value)})"


def bad_primitive_list() -> BadPatch:
    """A `$deleteFromPrimitiveList` without a field."""
    return BadPatch("invalid patch format of primitive list")


def bad_element_order() -> BadPatch:
    """A `$setElementOrder` without a field."""
    return BadPatch("invalid patch format of setElementOrder list")


def bad_retain_keys() -> BadPatch:
    """A `$retainKeys` that is no list, or does not name all that the patch sets."""
    return BadPatch("invalid patch format of retainKeys")
