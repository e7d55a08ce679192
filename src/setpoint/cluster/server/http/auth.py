"""Who asks: bearer tokens and the identities that they stand for. Nobody is anonymous, unless that is allowed.

There is no access control: whoever is known may do everything.

https://kubernetes.io/docs/reference/access-authn-authz/authentication/#static-token-file
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Mapping

from setpoint.api import ApiError, Identity
from setpoint.api.status import failure

ANONYMOUS = Identity(user="system:anonymous", groups=("system:unauthenticated",))
_AUTHENTICATED = "system:authenticated"
_EXTRA_SPACE = "the provided Authorization header contains extra space before the bearer token, and is ignored"


class Tokens:
    """The tokens that are accepted; with `anonymous`, so is who sends none."""

    def __init__(self, tokens: Mapping[str, Identity], *, anonymous: bool = False) -> None:
        # Looked up by digest, so that the time that a look-up takes tells nothing about a token.
        self._identities = {_digest(token): identity for token, identity in tokens.items()}
        self._anonymous = anonymous

    def identify(self, authorization: str, warnings: list[str], *, public: bool = False) -> Identity:
        """Who sends this `Authorization` header; `public` is what anybody may ask for.

        Raises `Unauthorized` for a token that is not known, wherever it is sent, and for who sends none where that is not allowed. Another
        scheme than `Bearer` is no token.
        """
        scheme, *words = authorization.strip().split(" ")
        if scheme.lower() == "bearer" and words:
            if words[0]:
                identity = self._identities.get(_digest(words[0]))
                if identity is None:
                    raise unauthorized()
                return identity
            warnings.append(_EXTRA_SPACE)
        if self._anonymous or public:
            return ANONYMOUS
        raise unauthorized()


def read_tokens(lines: Iterable[str]) -> dict[str, Identity]:
    """The tokens of a file as Kubernetes has it: in each line a token, a user, its uid and, in quotes with commas between, its groups.

    Raises `ValueError`, which says the line and never a token.
    """
    found: dict[str, Identity] = {}
    rows = csv.reader(lines, strict=True, skipinitialspace=True)
    try:
        for row in rows:
            if not row:
                continue
            if len(row) < 3:
                raise ValueError(
                    f"line {rows.line_num} has {len(row)} of the columns token, user, uid and groups: the first three are needed"
                )
            token, user, uid, *groups = (cell.strip() for cell in row)
            if not token or not user:
                raise ValueError(f"line {rows.line_num} has no {'user' if token else 'token'}")
            if not token.isascii() or " " in token:
                raise ValueError(f"line {rows.line_num} has a token that no request can carry: letters of ASCII, and no spaces")
            named = [group.strip() for group in (groups[0] if groups else "").split(",") if group.strip()]
            found[token] = Identity(user=user, uid=uid, groups=tuple(dict.fromkeys([*named, _AUTHENTICATED])))
    except csv.Error as error:
        raise ValueError(f"line {rows.line_num} cannot be read: {error}") from error
    return found


def unauthorized() -> ApiError:
    """401, which says nothing of why."""
    return failure(401, "Unauthorized", "Unauthorized")


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
