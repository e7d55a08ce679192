"""The `Accept` header: what a client takes, the most wanted first, and what of it there is.

The real server looks twice where built-in kinds live: its routes take a media type as it is written, or `*/*`, and only then are the
parameters and the qualities read. Where custom kinds live it looks once.

https://www.rfc-editor.org/rfc/rfc9110#name-accept
"""

from __future__ import annotations

from functools import lru_cache

from setpoint.api import ApiError
from setpoint.api.operation import JSON, YAML
from setpoint.api.status import StatusDetails, failure

OFFERED = (JSON, YAML)
"""In what an answer can be written."""
WATCHED = (JSON,)
"""In what the events of a watch can be."""
COLLECTION = (*OFFERED, *(f"{media};stream=watch" for media in WATCHED))
"""What the real server's routes of a collection name."""
_ANY = ("*/*", "application/*")


@lru_cache(maxsize=256)
def by_quality(accept: str) -> list[tuple[str, dict[str, str]]]:
    """The clauses of an `Accept` header, the most wanted first: media type, and parameters. They are not to be changed.

    A quality that is no number is 1, and 0 is only the least wanted, as the real server has it.
    """
    clauses: list[tuple[float, str, dict[str, str]]] = []
    for clause in accept.split(","):
        media, *rest = (part.strip() for part in clause.split(";"))
        parameters = dict(part.split("=", 1) for part in rest if "=" in part)
        clauses.append((_quality(parameters.get("q", "1")), media, parameters))
    clauses.sort(key=lambda clause: (-clause[0], clause[1] in _ANY))
    return [(media, parameters) for _, media, parameters in clauses]


def _quality(text: str) -> float:
    try:
        return max(0.0, min(1.0, float(text))) if text.replace(".", "", 1).isdecimal() else 1.0
    except ValueError:
        return 1.0


def media_for(wanted: str, offered: tuple[str, ...] = OFFERED) -> str:
    """What a media type of an `Accept` header is here, or nothing."""
    return wanted if wanted in offered else offered[0] if wanted in _ANY else ""


@lru_cache(maxsize=256)
def form_of(accept: str, *, failed: bool = False) -> str:
    """The media type that an answer is written in, whatever it shows: the most wanted one, else JSON.

    What has failed has no views, so that who wants nothing but views is told of it in JSON.
    """
    wanted = (media for media, parameters in by_quality(accept) if not (failed and _is_view(parameters)))
    return next((found for media in wanted if (found := media_for(media))), JSON)


def _is_view(parameters: dict[str, str]) -> bool:
    return any(parameters.get(name) for name in ("as", "g", "v"))


@lru_cache(maxsize=256)
def wants_indents(accept: str) -> bool:
    """Whether the header asks for JSON that people read."""
    return any(parameters.get("pretty", "0").lower() not in ("0", "false") for _, parameters in by_quality(accept))


def check_route(accept: str, offered: tuple[str, ...] = OFFERED) -> None:
    """Raises `NotAcceptable` as the real server's routes do, which know nothing of qualities and parameters."""
    if accept in offered:
        return
    wanted = [clause.partition(";")[0].strip() for clause in accept.split(",")] if accept.strip() else ["*/*"]
    if not any(media == "*/*" or media in offered for media in wanted):
        message = f"406: Not Acceptable\n\nAvailable representations: {', '.join(offered)}"
        raise failure(406, "NotAcceptable", message, StatusDetails())


def not_acceptable(offered: tuple[str, ...] = OFFERED) -> ApiError:
    """406, which names what there is."""
    return failure(406, "NotAcceptable", f"only the following media types are accepted: {', '.join(offered)}")
