"""Tokens for service accounts, made on request and good for a while.

https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from setpoint.api import Operation
from setpoint.api.operation import JSON
from setpoint.objects import KindInfo, Object, Request

SERVICE_ACCOUNT = KindInfo(
    group="",
    version="v1",
    kind="ServiceAccount",
    singular="serviceaccount",
    plural="serviceaccounts",
    list_kind="ServiceAccountList",
    scope="Namespaced",
)


class Token(NamedTuple):
    """A token, which is a secret, and the time at which it ends."""

    token: str
    expires: datetime

    def __repr__(self) -> str:
        return f"Token(expires={self.expires.isoformat()})"


class _Status(msgspec.Struct, rename="camel"):
    token: str
    expiration_timestamp: datetime


class _Answer(msgspec.Struct):
    status: _Status


_answer = msgspec.json.Decoder(_Answer).decode


def token_request(key: Request, *, audiences: Sequence[str], seconds: int, bound_to: Object | None, info: KindInfo | None) -> Operation:
    """Asks for a token; `bound_to`, of the kind `info`, is what it ends with."""
    spec: dict[str, Any] = {"audiences": list(audiences), "expirationSeconds": seconds}
    if bound_to is not None and info is not None:
        spec["boundObjectRef"] = {"apiVersion": info.api_version, "kind": info.kind, "name": bound_to.name, "uid": bound_to.metadata.uid}
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    return Operation(
        verb="create",
        resource=SERVICE_ACCOUNT.group_version_resource,
        namespace=key.namespace,
        name=key.name,
        subresource="token",
        body=msgspec.json.encode(body),
        content_type=JSON,
    )


def read_token(body: bytes) -> Token:
    """The token in the answer."""
    status = _answer(body).status
    return Token(status.token, status.expiration_timestamp)
