"""References from a container to something else: fields of its pod, its resources, keys of config maps and secrets.

https://kubernetes.io/docs/concepts/workloads/pods/downward-api/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, invalid, not_supported, required
from setpoint.objects import Quantity

from .volume_sources import no_backsteps

Json = Mapping[str, Any]

ENV_FIELDS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
FILE_FIELDS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_FIELDS = (*ENV_FIELDS, *FILE_FIELDS, "spec.restartPolicy", "spec.schedulerName", "status.phase", "spec.host")
_SUBSCRIPT = re.compile(r"(metadata\.(?:labels|annotations))\['(.*)'\]")
_RESOURCES = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_HUGE = ("limits.hugepages-", "requests.hugepages-")
_SIZES = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_DIVISORS = {
    "cpu": ("1m and 1", "cpu"),
    "memory": (", ".join(_SIZES), "memory"),
    "ephemeral-storage": (", ".join(_SIZES), "local ephemeral storage"),
}
_ENV_NAME = re.compile(r"[ -<>-~]+")
_ENV_TEXT = "a valid environment variable name must consist only of printable ASCII characters other than '='"


def env_name(name: str, at: str) -> Iterator[FieldError]:
    """The name of an environment variable, or the beginning of one."""
    if not _ENV_NAME.fullmatch(name):
        yield invalid(at, name, _ENV_TEXT)


def field_reference(reference: Json, allowed: tuple[str, ...], at: str) -> Iterator[FieldError]:
    """A reference to one of these fields of the pod, or to one label or annotation."""
    path, version = reference.get("fieldPath", ""), reference.get("apiVersion", "v1")
    if not path:
        yield required(f"{at}.fieldPath")
        return
    subscript = _SUBSCRIPT.fullmatch(path)
    if version != "v1":
        yield invalid(f"{at}.fieldPath", path, f"error converting fieldPath: unsupported pod version: {version}")
    elif subscript is not None:
        key = subscript[2] if subscript[1] == "metadata.labels" else subscript[2].lower()
        yield from (invalid(at, key, problem) for problem in names.label_key(key))
    elif path not in _FIELDS:
        yield invalid(f"{at}.fieldPath", path, f"error converting fieldPath: field label not supported: {path}")
    elif path not in allowed:
        yield not_supported(f"{at}.fieldPath", path, allowed)


def resource_reference(reference: Json, at: str, *, container: bool) -> Iterator[FieldError]:
    """A reference to a resource; with ``container``, it must say of which."""
    resource, divisor = reference.get("resource", ""), reference.get("divisor", "0")
    if container and not reference.get("containerName"):
        yield required(f"{at}.containerName")
    elif not resource:
        yield required(f"{at}.resource")
    elif resource not in _RESOURCES and not resource.startswith(_HUGE):
        yield not_supported(f"{at}.resource", resource, _RESOURCES)
    if Quantity(divisor) == 0:
        return
    if resource.startswith(_HUGE):
        texts, shown = ", ".join(_SIZES), "hugepages"
    else:
        texts, shown = _DIVISORS.get(resource.partition(".")[2], ("", ""))
    if shown and divisor not in (("1m", "1") if shown == "cpu" else _SIZES):
        yield invalid(f"{at}.divisor", resource, f"only divisor's values {texts} are supported with the {shown} resource")


def key_reference(reference: Json, at: str) -> Iterator[FieldError]:
    """A reference to a key of a config map or secret."""
    name, key = reference.get("name", ""), reference.get("key", "")
    yield from (invalid(f"{at}.name", name, problem) for problem in names.dns_subdomain(name))
    if key:
        yield from (invalid(f"{at}.key", key, problem) for problem in names.config_key(key))
    else:
        yield required(f"{at}.key")


def file_reference(reference: Json, at: str) -> Iterator[FieldError]:
    """A reference to a variable in a file of a volume."""
    if key := reference.get("key"):
        yield from env_name(key, f"{at}.key")
    else:
        yield required(f"{at}.key")
    if volume := reference.get("volumeName"):
        yield from (invalid(f"{at}.volumeName", volume, problem) for problem in names.dns_label(volume))
    else:
        yield required(f"{at}.volumeName")
    if path := reference.get("path"):
        yield from no_backsteps(path, f"{at}.path")
    else:
        yield required(f"{at}.path")


def object_reference(reference: Json, at: str) -> Iterator[FieldError]:
    """A reference to a whole config map or secret."""
    if name := reference.get("name"):
        yield from (invalid(f"{at}.name", name, problem) for problem in names.dns_subdomain(name))
    else:
        yield required(f"{at}.name")
