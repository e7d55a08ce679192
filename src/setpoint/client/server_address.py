"""The address of a server, as a configuration says it."""

from __future__ import annotations

from urllib.parse import urlsplit


def address_of(stated: str | None) -> str:
    """The address without a slash at its end. Raises `ValueError` for what is none; its text says why, where that is not plain to see."""
    try:
        parts = urlsplit(stated or "")
    except ValueError as error:
        raise ValueError(f": {error}") from error
    if stated is None or stated != stated.strip() or parts.scheme not in ("https", "http"):
        raise ValueError
    netloc = parts.netloc.rpartition("@")[2]
    if netloc.count(":") > 1 and not netloc.startswith("["):
        raise ValueError(": an IPv6 address stands in brackets")
    try:
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f": {error}") from error
    if not host:
        raise ValueError(": it names no host")
    if "@" in parts.netloc:
        raise ValueError(": say who asks as username and password of the user")
    if parts.query or parts.fragment:
        raise ValueError(": it ends with its path")
    return f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")
