"""The `Accept` header: what a client takes, the most wanted first.

https://www.rfc-editor.org/rfc/rfc9110#name-accept
"""

from __future__ import annotations


def by_quality(accept: str) -> list[tuple[str, dict[str, str]]]:
    """The clauses of an `Accept` header, the most wanted first: media type in small letters, and parameters. Quality 0 is not there."""
    clauses: list[tuple[float, str, dict[str, str]]] = []
    for clause in accept.split(","):
        media, *rest = (part.strip() for part in clause.split(";"))
        parameters = dict(part.split("=", 1) for part in rest if "=" in part)
        quality = parameters.get("q", "1")
        clauses.append((float(quality) if quality.replace(".", "", 1).isdigit() else 0.0, media.lower(), parameters))
    clauses.sort(key=lambda clause: -clause[0])
    return [(media, parameters) for quality, media, parameters in clauses if quality > 0]
