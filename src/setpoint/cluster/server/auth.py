"""Who asks: bearer tokens and the identities that they stand for. Nobody is anonymous.

https://kubernetes.io/docs/reference/access-authn-authz/authentication/#static-token-file
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from setpoint.api import ApiError, Identity
from setpoint.api.status import failure


class Tokens:
    """The tokens that are accepted."""

    def __init__(self, tokens: Mapping[str, Identity]) -> None:
        # Looked up by digest, so that the time that a look-up takes tells nothing about a token.
        self._identities = {_digest(token): identity for token, identity in tokens.items()}

    def identify(self, authorization: str) -> Identity:
        """Who sends this `Authorization` header. Raises `Unauthorized`."""
        scheme, _, token = authorization.strip().partition(" ")
        identity = self._identities.get(_digest(token.strip())) if scheme.lower() == "bearer" else None
        if identity is None:
            raise unauthorized()
        return identity


def unauthorized() -> ApiError:
    """401, which says nothing of why."""
    return failure(401, "Unauthorized", "Unauthorized")


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
