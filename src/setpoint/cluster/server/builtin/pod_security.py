"""Security contexts of pods and containers.

https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.cluster.server.schema.causes import FieldError, duplicate, invalid, not_supported, required
from setpoint.cluster.server.schema.gotext import as_json

from .go_print import go_name, refused
from .volume_sources import relative_path

Json = Mapping[str, Any]

_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_SYSCTL_FORM = r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = re.compile(_SYSCTL_FORM)
_CONTAINER_FIELDS = (
    "capabilities",
    "privileged",
    "seLinuxOptions",
    "windowsOptions",
    "runAsUser",
    "runAsGroup",
    "runAsNonRoot",
    "readOnlyRootFilesystem",
    "allowPrivilegeEscalation",
    "procMount",
    "seccompProfile",
    "appArmorProfile",
)


def _ids(context: Json, fields: tuple[str, ...], at: str) -> Iterator[FieldError]:
    for field in fields:
        if field in context:
            yield from _id(context[field], f"{at}.{field}")


def _id(value: int, at: str) -> Iterator[FieldError]:
    if not 0 <= value < 1 << 31:
        yield invalid(at, value, "must be between 0 and 2147483647, inclusive")


def _one_of(context: Json, field: str, values: tuple[str, ...], at: str) -> Iterator[FieldError]:
    value = context.get(field)
    if value is not None and value not in values:
        yield not_supported(f"{at}.{field}", value, values)


def validate_container_context(context: Json, at: str, *, host_users: bool) -> Iterator[FieldError]:
    """What is wrong with the context of a container, in a pod that shares its users with the node or does not."""
    yield from _ids(context, ("runAsUser", "runAsGroup"), at)
    yield from _one_of(context, "procMount", ("Default", "Unmasked"), at)
    if host_users and context.get("procMount") == "Unmasked":
        yield invalid(f"{at}.procMount", "Unmasked", "`hostUsers` must be false to use `Unmasked`")
    yield from _seccomp(context.get("seccompProfile"), f"{at}.seccompProfile")
    if context.get("allowPrivilegeEscalation") is False:
        detail = "cannot set `allowPrivilegeEscalation` to false and "
        if context.get("privileged"):
            yield refused(at, _shown(context), f"{detail}`privileged` to true")
        if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or []):
            yield refused(at, _shown(context), f"{detail}`capabilities.Add` CAP_SYS_ADMIN")
    yield from _app_armor(context.get("appArmorProfile"), f"{at}.appArmorProfile")


def _shown(context: Json) -> str:
    """As the server prints it, from a struct of its own."""
    return "{" + ",".join(f'"{go_name(field)}":{as_json(context.get(field))}' for field in _CONTAINER_FIELDS) + "}"


def validate_pod_context(context: Json, at: str) -> Iterator[FieldError]:
    """What is wrong with the context of a pod."""
    yield from _ids(context, ("fsGroup", "runAsUser", "runAsGroup"), at)
    for index, group in enumerate(context.get("supplementalGroups") or []):
        yield from _id(group, f"{at}.supplementalGroups[{index}]")
    yield from _sysctls(context.get("sysctls") or [], f"{at}.sysctls")
    yield from _one_of(context, "fsGroupChangePolicy", ("Always", "OnRootMismatch"), at)
    yield from _seccomp(context.get("seccompProfile"), f"{at}.seccompProfile")
    yield from _app_armor(context.get("appArmorProfile"), f"{at}.appArmorProfile")
    yield from _one_of(context, "supplementalGroupsPolicy", ("Merge", "Strict"), at)
    yield from _one_of(context, "seLinuxChangePolicy", ("MountOption", "Recursive"), at)


def _sysctls(sysctls: list[Json], at: str) -> Iterator[FieldError]:
    seen: dict[str, None] = {}
    for index, sysctl in enumerate(sysctls):
        here, name = f"{at}[{index}].name", sysctl.get("name", "")
        if not name:
            yield required(here)
        elif len(name) > 253 or not _SYSCTL.fullmatch(name):
            yield invalid(here, name, f"must have at most 253 characters and match regex ^{_SYSCTL_FORM}$")
        elif name in seen:
            yield duplicate(here, name)
        seen[name] = None


def _seccomp(profile: Json | None, at: str) -> Iterator[FieldError]:
    if profile is None:
        return
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    if not kind:
        yield required(f"{at}.type", "type is required when seccompProfile is set")
    elif kind not in _PROFILES:
        yield not_supported(f"{at}.type", kind, _PROFILES)
    if kind != "Localhost":
        if local is not None:
            shown = f'{{"Type":{as_json(kind)},"LocalhostProfile":{as_json(local)}}}'
            yield refused(f"{at}.localhostProfile", shown, "can only be set when seccomp type is Localhost")
    elif local is None:
        yield required(f"{at}.localhostProfile", "must be set when seccomp type is Localhost")
    else:
        yield from relative_path(local, f"{at}.localhostProfile")


def _app_armor(profile: Json | None, at: str) -> Iterator[FieldError]:
    if profile is None:
        return
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    if not kind:
        yield required(f"{at}.type", "type is required when appArmorProfile is set")
    elif kind not in _PROFILES:
        yield not_supported(f"{at}.type", kind, _PROFILES)
    elif kind != "Localhost":
        if local is not None:
            yield invalid(f"{at}.localhostProfile", local, "can only be set when AppArmor type is Localhost")
    elif local is None or not local.strip():
        yield required(f"{at}.localhostProfile", "must be set when AppArmor type is Localhost")
    elif local != local.strip():
        yield invalid(f"{at}.localhostProfile", local, "must not be padded with whitespace")
