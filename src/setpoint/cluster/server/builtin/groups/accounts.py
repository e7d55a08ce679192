"""ServiceAccounts.

https://kubernetes.io/docs/concepts/security/service-accounts/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object

_MOUNTABLE = "kubernetes.io/enforce-mountable-secrets"


def _prepare(account: Json) -> None:
    if "secrets" in account:
        # Of a secret only the name counts.
        account["secrets"] = [{"name": secret["name"]} if secret.get("name") else {} for secret in account["secrets"]]


def _prepare_update(account: Json, old: Object, subresource: str) -> None:
    _prepare(account)


def _annotations(account: Object) -> Mapping[str, str]:
    return account["metadata"].get("annotations") or {}


def _warnings(account: Object, old: Object | None) -> Iterator[str]:
    if _MOUNTABLE in _annotations(account) and (old is None or _MOUNTABLE not in _annotations(old)):
        why = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
        yield f"metadata.annotations[{_MOUNTABLE}]: {why}"


BEHAVIOURS = {
    "ServiceAccount": Behaviour(
        support="full", prepare_create=_prepare, prepare_update=_prepare_update, warns=_warnings, returns_deleted=True
    ),
}
