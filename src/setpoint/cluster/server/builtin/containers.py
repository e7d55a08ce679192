"""What a container must obey, whichever of a pod's three lists it is in.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#Container
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, duplicate, forbidden, invalid, not_supported, required
from setpoint.cluster.server.schema.gotext import quote
from setpoint.objects import Quantity

from .pod_fields import ENV_FIELDS, env_name, field_reference, file_reference, key_reference, object_reference, resource_reference
from .pod_handlers import HOOKS, validate_lifecycle, validate_probe
from .pod_security import validate_container_context
from .ports import host_port_conflicts, validate_ports
from .resource_names import HUGE_PAGES, container_resource, may_be_overcommitted, resource_amount
from .volume_sources import no_backsteps, relative_path

Json = Mapping[str, Any]

_ENV_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_ALONE = "may not be set for init containers without restartPolicy=Always"
_RESTARTS = ("Always", "Never", "OnFailure")


@dataclass(frozen=True, slots=True)
class Pod:
    """What of its pod a container depends on."""

    volumes: dict[str, Json] = field(default_factory=dict)
    """The sound ones, by name."""
    claims: tuple[str, ...] = ()
    """The names of claims for devices."""
    grace: int | None = None
    host_users: bool = True
    restarts: str = "Always"


def validate_containers(containers: list[Json], pod: Pod, at: str) -> Iterator[FieldError]:
    """What is wrong with the containers that make up a pod."""
    if not containers:
        yield required(at)
    seen: dict[str, None] = {}
    for index, container in enumerate(containers):
        here, name = f"{at}[{index}]", container.get("name", "")
        yield from _container(container, pod, here)
        if name in seen:
            yield duplicate(f"{here}.name", name)
        seen[name] = None
        yield from _hooks(container, pod, here)
        yield from _restart_policy(container, here)
    yield from host_port_conflicts(containers, at)


def validate_init_containers(containers: list[Json], others: list[Json], pod: Pod, at: str) -> Iterator[FieldError]:
    """What is wrong with the containers that run before the ``others``, or beside them."""
    seen = dict.fromkeys(other.get("name", "") for other in others)
    for index, container in enumerate(containers):
        here, name = f"{at}[{index}]", container.get("name", "")
        yield from _container(container, pod, here)
        yield from _restart_policy(container, here)
        if name in seen:
            yield duplicate(f"{here}.name", name)
        elif name:
            seen[name] = None
        yield from host_port_conflicts([container], at)
        if container.get("restartPolicy") == "Always":
            yield from _hooks(container, pod, here)
        else:
            yield from (forbidden(f"{here}.{hook}", _ALONE) for hook in ("lifecycle", *HOOKS) if hook in container)


def _restart_policy(container: Json, at: str) -> Iterator[FieldError]:
    policy = container.get("restartPolicy")
    if policy is not None and policy not in _RESTARTS:
        yield not_supported(f"{at}.restartPolicy", policy, _RESTARTS)


def _hooks(container: Json, pod: Pod, at: str) -> Iterator[FieldError]:
    if "lifecycle" in container:
        yield from validate_lifecycle(container["lifecycle"], pod.grace, f"{at}.lifecycle")
    for name in HOOKS:
        if name in container:
            yield from validate_probe(container[name], name, f"{at}.{name}")


def _container(container: Json, pod: Pod, at: str) -> Iterator[FieldError]:
    if name := container.get("name"):
        yield from (invalid(f"{at}.name", name, problem) for problem in names.dns_label(name))
    else:
        yield required(f"{at}.name")
    if not container.get("image"):
        yield required(f"{at}.image")
    yield from _one_of(container, "terminationMessagePolicy", ("File", "FallbackToLogsOnError"), at)
    yield from validate_ports(container.get("ports") or [], f"{at}.ports")
    yield from _environment(container.get("env") or [], f"{at}.env")
    yield from _environment_from(container.get("envFrom") or [], f"{at}.envFrom")
    mounts, devices = container.get("volumeMounts") or [], container.get("volumeDevices") or []
    yield from _mounts(mounts, devices, container, pod, f"{at}.volumeMounts")
    yield from _devices(devices, mounts, pod, f"{at}.volumeDevices")
    yield from _one_of(container, "imagePullPolicy", ("Always", "IfNotPresent", "Never"), at)
    yield from validate_resources(container.get("resources") or {}, pod.claims, f"{at}.resources")
    yield from _resize_policy(container.get("resizePolicy") or [], pod, f"{at}.resizePolicy")
    yield from validate_container_context(container.get("securityContext") or {}, f"{at}.securityContext", host_users=pod.host_users)


def _one_of(holder: Json, name: str, values: tuple[str, ...], at: str) -> Iterator[FieldError]:
    value = holder.get(name)
    if value is not None and value not in values:
        yield not_supported(f"{at}.{name}", value, values)


def _environment(variables: Iterable[Json], at: str) -> Iterator[FieldError]:
    for index, variable in enumerate(variables):
        here = f"{at}[{index}]"
        if name := variable.get("name"):
            yield from env_name(name, f"{here}.name")
        else:
            yield required(f"{here}.name")
        if "valueFrom" in variable:
            yield from _value_from(variable, f"{here}.valueFrom")


def _value_from(variable: Json, at: str) -> Iterator[FieldError]:
    source = variable["valueFrom"]
    stated = [kind for kind in _ENV_SOURCES if kind in source]
    for kind in stated:
        reference, here = source[kind], f"{at}.{kind}"
        match kind:
            case "fieldRef":
                yield from field_reference(reference, ENV_FIELDS, here)
            case "resourceFieldRef":
                yield from resource_reference(reference, here, container=False)
            case "fileKeyRef":
                yield from file_reference(reference, here)
            case _:
                yield from key_reference(reference, here)
    if not stated:
        options = ", ".join(f"`{kind}`" for kind in _ENV_SOURCES[:-1])
        yield invalid(at, "", f"must specify one of: {options} or `{_ENV_SOURCES[-1]}`")
    elif variable.get("value"):
        yield invalid(at, "", "may not be specified when `value` is not empty")
    elif len(stated) > 1:
        yield invalid(at, "", "may not have more than one field specified at a time")


def _environment_from(sources: Iterable[Json], at: str) -> Iterator[FieldError]:
    for index, source in enumerate(sources):
        if prefix := source.get("prefix"):
            yield from env_name(prefix, f"{at}[{index}].prefix")
        stated = [kind for kind in ("configMapRef", "secretRef") if kind in source]
        for kind in stated:
            yield from object_reference(source[kind], f"{at}[{index}].{kind}")
        if not stated:
            yield invalid(at, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(stated) > 1:
            yield invalid(at, "", "may not have more than one field specified at a time")


def _not_found(at: str, name: str, detail: str = "") -> FieldError:
    return FieldError("FieldValueNotFound", f"Not found: {quote(name)}{': ' if detail else ''}{detail}", at)


def _mounts(mounts: list[Json], devices: list[Json], container: Json, pod: Pod, at: str) -> Iterator[FieldError]:
    paths: dict[str, None] = {}
    for index, mount in enumerate(mounts):
        here, name, path = f"{at}[{index}]", mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield required(f"{here}.name")
        if name not in pod.volumes:
            yield _not_found(f"{here}.name", name)
        if not path:
            yield required(f"{here}.mountPath")
        if path in paths:
            yield invalid(f"{here}.mountPath", path, "must be unique")
        paths[path] = None
        if any(device.get("name") == name for device in devices):
            yield invalid(f"{here}.name", name, "must not already exist in volumeDevices")
        if any(device.get("devicePath") == path for device in devices):
            yield invalid(f"{here}.mountPath", path, "must not already exist as a path in volumeDevices")
        yield from _how_mounted(mount, container, here, at)


def _how_mounted(mount: Json, container: Json, here: str, at: str) -> Iterator[FieldError]:
    # The server leaves the mount's number out of most of these paths.
    part, expression = mount.get("subPath", ""), mount.get("subPathExpr", "")
    if part:
        yield from relative_path(part, f"{at}.subPath")
    if expression:
        if part:
            yield invalid(f"{here}.subPathExpr", expression, "subPathExpr and subPath are mutually exclusive")
        yield from relative_path(expression, f"{at}.subPathExpr")
    propagation, recursive = mount.get("mountPropagation"), mount.get("recursiveReadOnly")
    if propagation is not None:
        if propagation not in _PROPAGATIONS:
            yield not_supported(f"{at}.mountPropagation", propagation, _PROPAGATIONS)
        if propagation == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
            detail = "Bidirectional mount propagation is available only to privileged containers"
            yield forbidden(f"{at}.mountPropagation", detail)
    if recursive in ("Enabled", "IfPossible"):
        if not mount.get("readOnly"):
            yield forbidden(f"{at}.recursiveReadOnly", "may only be specified when readOnly is true")
        if propagation not in (None, "None"):
            yield forbidden(f"{at}.recursiveReadOnly", "may only be specified when mountPropagation is None or not specified")
    elif recursive not in (None, "Disabled"):
        yield not_supported(f"{at}.recursiveReadOnly", recursive, ("Disabled", "Enabled", "IfPossible"))


def _devices(devices: list[Json], mounts: list[Json], pod: Pod, at: str) -> Iterator[FieldError]:
    paths: dict[str, None] = {}
    seen: dict[str, None] = {}
    for index, device in enumerate(devices):
        here, name, path = f"{at}[{index}]", device.get("name", ""), device.get("devicePath", "")
        volume = pod.volumes.get(name)
        if not name:
            yield required(f"{here}.name")
        if name in seen:
            yield invalid(f"{here}.name", name, "must be unique")
        if volume is None:
            yield _not_found(f"{here}.name", name)
        elif "persistentVolumeClaim" not in volume and "ephemeral" not in volume:
            detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            yield invalid(f"{here}.name", name, detail)
        if not path:
            yield required(f"{here}.devicePath")
        if path in paths:
            yield invalid(f"{here}.devicePath", path, "must be unique")
        if any(True for _ in no_backsteps(path, here)):
            yield invalid(f"{here}.devicePath", path, "can not contain backsteps ('..')")
        else:
            paths[path] = None
        if any(mount.get("name") == name for mount in mounts):
            yield invalid(f"{here}.name", name, "must not already exist in volumeMounts")
        if any(mount.get("mountPath") == path for mount in mounts):
            yield invalid(f"{here}.devicePath", path, "must not already exist as a path in volumeMounts")
        if name:
            seen[name] = None


def validate_resources(resources: Json, claims: tuple[str, ...], at: str) -> Iterator[FieldError]:
    """What is wrong with what a container asks for and may use; ``claims`` are those of its pod."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, amount in limits.items():
        yield from container_resource(name, f"{at}.limits[{name}]")
        yield from resource_amount(name, amount, f"{at}.limits[{name}]")
        yield from _huge(name, amount, f"{at}.limits[{name}]")
    for name, amount in requests.items():
        yield from container_resource(name, f"{at}.requests[{name}]")
        yield from resource_amount(name, amount, f"{at}.requests[{name}]")
        if name in limits:
            if Quantity(amount) != limits[name] and not may_be_overcommitted(name):
                yield invalid(f"{at}.requests", amount, f"must be equal to {name} limit of {limits[name]}")
            elif Quantity(amount) > Quantity(limits[name]):
                yield invalid(f"{at}.requests", amount, f"must be less than or equal to {name} limit of {limits[name]}")
        elif not may_be_overcommitted(name):
            yield required(f"{at}.limits", "Limit must be set for non overcommitable resources")
        yield from _huge(name, amount, f"{at}.requests[{name}]")
    stated = {**limits, **requests}
    if any(name.startswith(HUGE_PAGES) for name in stated) and not {"cpu", "memory"} & stated.keys():
        yield forbidden(at, "HugePages require cpu or memory")
    yield from _claims(resources.get("claims") or [], claims, f"{at}.claims")


def _huge(name: str, amount: str, at: str) -> Iterator[FieldError]:
    """Huge pages come whole."""
    if name.startswith(HUGE_PAGES):
        try:
            page = Quantity(name.removeprefix(HUGE_PAGES))
        except ValueError:
            return
        if page > 0 and (Quantity(amount).amount / page.amount).denominator != 1:
            yield invalid(at, amount, f"{amount} is not positive integer multiple of {name}")


def _claims(wanted: list[Json], claims: tuple[str, ...], at: str) -> Iterator[FieldError]:
    seen: dict[tuple[str, str], None] = {}
    for index, claim in enumerate(wanted):
        name, request = claim.get("name", ""), claim.get("request", "")
        if not name:
            yield required(f"{at}[{index}]")
            continue
        if (name, request) in seen:
            yield duplicate(f"{at}[{index}]", f"{name}/{request}" if request else name)
        elif name not in claims:
            known = f": {', '.join(sorted(claims))}" if claims else " which is empty"
            yield _not_found(f"{at}[{index}]", name, f"must be one of the names in pod.spec.resourceClaims{known}")
        seen[name, request] = None


def _resize_policy(policies: list[Json], pod: Pod, at: str) -> Iterator[FieldError]:
    seen: dict[str, None] = {}
    for index, policy in enumerate(policies):
        name, restart = policy.get("resourceName", ""), policy.get("restartPolicy", "")
        if name in seen:
            yield duplicate(f"{at}[{index}]", name)
        seen[name] = None
        for value, values in ((name, ("cpu", "memory")), (restart, ("NotRequired", "RestartContainer"))):
            if not value:
                yield required(at)
            elif value not in values:
                yield not_supported(at, value, values)
        if pod.restarts == "Never" and restart != "NotRequired":
            yield invalid(at, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")
