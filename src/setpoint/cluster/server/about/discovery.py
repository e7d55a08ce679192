"""Discovery: which groups, versions and resources there are, in the form that every client understands; see `aggregated` for the other one.

https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

from setpoint.api import Answer
from setpoint.cluster.server.builtin import BuiltinKind
from setpoint.cluster.server.encoding import encode
from setpoint.cluster.server.kinds import Kinds, ServedKind

Json = dict[str, Any]

_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?", re.ASCII)
_MATURITY = {"": 0, "beta": 1, "alpha": 2}
_CHANGES = ("patch", "create", "update")
"""What is not told of a kind that is on its way out: its objects can only be seen and deleted."""


def discover(kinds: Kinds, path: str) -> Answer | None:
    """The document at a path without trailing slash (`/api`, `/apis/apps`, `/apis/apps/v1`), None where there is none."""
    match path.strip("/").split("/"):
        case ["api"]:
            return _answer({"kind": "APIVersions", "versions": versions(kinds.of_group("")), "serverAddressByClientCIDRs": []})
        case ["api", version]:
            return _resources([kind for kind in kinds.of_group("") if kind.version == version])
        case ["apis"]:
            groups = {kind.group: None for kind in kinds if kind.group}
            return _answer({"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(name, kinds.of_group(name)) for name in groups]})
        case ["apis", name]:
            served = kinds.of_group(name) if name else []
            return _answer({"kind": "APIGroup", "apiVersion": "v1", **_group(name, served)}) if served else None
        case ["apis", name, version]:
            return _resources([kind for kind in kinds.of_group(name) if name and kind.version == version])
    return None


def preference(version: str) -> tuple[int, int, int, int, str]:
    """Sorts versions as Kubernetes prefers them: v2, v1, v1beta2, v1beta1, v1alpha1, then other names by the alphabet.

    https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#version-priority
    """
    known = _VERSION.fullmatch(version)
    if known is None:
        return (1, 0, 0, 0, version)
    major, maturity, minor = known.groups()
    return (0, _MATURITY[maturity or ""], -int(major), -int(minor or 0), "")


def versions(kinds: Iterable[ServedKind]) -> list[str]:
    """The versions of these kinds, in the order of preference."""
    return sorted({kind.version: None for kind in kinds}, key=preference)


def _group(name: str, kinds: Iterable[ServedKind]) -> Json:
    served = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions(kinds)]
    return {"name": name, "versions": served, "preferredVersion": served[0]}


def _resources(kinds: Sequence[ServedKind]) -> Answer | None:
    if not kinds:
        return None
    first = kinds[0]
    # The core group's list, alone of all, has no apiVersion.
    head: Json = {"kind": "APIResourceList", "apiVersion": "v1"} if first.group else {"kind": "APIResourceList"}
    resources = [entry for kind in kinds for entry in _entries(kind)]
    return _answer({**head, "groupVersion": first.api_version, "resources": resources})


def _entries(kind: ServedKind) -> list[Json]:
    """The kind's own entry and those of its subresources."""
    own: Json = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": told_verbs(kind),
    }
    if kind.short_names:
        own["shortNames"] = list(kind.short_names)
    if kind.categories:
        own["categories"] = list(kind.categories)
    own["storageVersionHash"] = _storage_version_hash(kind)
    return [own, *(_subresource(kind, name) for name in kind.subresources)]


def told_verbs(kind: ServedKind) -> list[str]:
    """What is told of what can be done with a kind."""
    return [verb for verb in kind.verbs if not kind.closing or verb not in _CHANGES]


def _subresource(kind: ServedKind, name: str) -> Json:
    entry: Json = {"name": f"{kind.plural}/{name}", "singularName": "", "namespaced": kind.namespaced}
    group, version, shown = kind_of_subresource(kind, name)
    if (group, version) != (kind.group, kind.version):
        entry |= {"group": group, "version": version}
    return {**entry, "kind": shown, "verbs": list(kind.subresources[name])}


def kind_of_subresource(kind: ServedKind, name: str) -> tuple[str, str, str]:
    """The group, version and kind of what a subresource takes and answers."""
    if isinstance(kind.origin, BuiltinKind):
        found = next((sub for sub in kind.origin.subresources if sub.name == name), None)
        if found is not None:
            return found.group, found.version, found.kind
    return ("autoscaling", "v1", "Scale") if name == "scale" else (kind.group, kind.version, kind.kind)


def _storage_version_hash(kind: ServedKind) -> str:
    """Names the version in which objects are kept, so that who migrates stored objects sees it change."""
    group, version = kind.group, kind.storage_version or kind.version
    if kind.form is not None:
        group, version = kind.form.resource.group, kind.form.resource.version
    named = f"{group}/{version}/{kind.kind}"
    return base64.b64encode(hashlib.sha256(named.encode()).digest()[:8]).decode()


def _answer(document: Json) -> Answer:
    return Answer(status=200, body=encode(document))
