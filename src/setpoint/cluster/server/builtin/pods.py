"""What a pod's specification must obey, on its own or as a template, in the words of kube-apiserver.

Of the many rules these are the ones that people break: names and images, ports, environment, volumes and their mounts, probes, resources,
and what may change in a pod that exists. https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, duplicate, forbidden, invalid, not_supported, required
from setpoint.cluster.server.schema.gotext import quote
from setpoint.objects import Quantity

Json = Mapping[str, Any]

_ENV_NAME = re.compile(r"[ -<>-~]+")
_PORT_NAME = re.compile(r"[-a-z0-9]+")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_ENV_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_VOLUME_NEEDS = {
    "configMap": "name",
    "hostPath": "path",
    "nfs": "server",
    "persistentVolumeClaim": "claimName",
    "secret": "secretName",
}
_MAY_CHANGE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def validate_pod(new: Json, old: Json | None) -> Iterator[FieldError]:
    """What is wrong with a pod that has its defaults, or with its change."""
    spec = new.get("spec") or {}
    yield from validate_pod_spec(spec, "spec")
    # Templates get away with this.
    for index, container in enumerate(spec.get("containers") or []):
        image = container.get("image", "")
        if image != image.strip():
            yield invalid(f"spec.containers[{index}].image", image, "must not have leading or trailing whitespace")
    if old is not None:
        yield from _update(spec, old.get("spec") or {})


def validate_pod_spec(spec: Json, at: str) -> Iterator[FieldError]:
    """What is wrong with a pod's ``spec``, which has its defaults, at the path ``at``."""
    volumes = spec.get("volumes") or []
    yield from _volumes(volumes, f"{at}.volumes")
    mountable = {volume.get("name", ""): None for volume in volumes if volume.get("name")}
    containers = spec.get("containers") or []
    seen: dict[str, None] = {}
    if not containers:
        yield required(f"{at}.containers")
    for index, container in enumerate(containers):
        yield from _container(container, f"{at}.containers[{index}]", mountable, seen)
    for index, container in enumerate(spec.get("initContainers") or []):
        yield from _container(container, f"{at}.initContainers[{index}]", mountable, seen)
    yield from _one_of(spec, "restartPolicy", ("Always", "OnFailure", "Never"), at)
    yield from _one_of(spec, "dnsPolicy", ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"), at)
    for key, value in (spec.get("nodeSelector") or {}).items():
        yield from (invalid(f"{at}.nodeSelector", key, problem) for problem in names.label_key(key))
        yield from (invalid(f"{at}.nodeSelector", value, problem) for problem in names.label_value(value))
    if account := spec.get("serviceAccountName"):
        yield from (invalid(f"{at}.serviceAccountName", account, problem) for problem in names.dns_subdomain(account))
    if node := spec.get("nodeName"):
        yield from (invalid(f"{at}.nodeName", node, problem) for problem in names.dns_subdomain(node))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline < 1 << 31:
        yield invalid(f"{at}.activeDeadlineSeconds", deadline, "must be between 1 and 2147483647, inclusive")


def _update(new: Json, old: Json) -> Iterator[FieldError]:
    """What may not change in the ``spec`` of a pod that exists."""
    for name in ("containers", "initContainers"):
        now, before = new.get(name) or [], old.get(name) or []
        if len(now) != len(before):
            kind = "init containers" if name == "initContainers" else "containers"
            yield forbidden(f"spec.{name}", f"pod updates may not add or remove {kind}")
            return
    deadline, before = new.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds")
    if before is not None and (deadline is None or deadline > before):
        detail = (
            "must not update from a positive integer to nil value" if deadline is None else "must be less than or equal to previous value"
        )
        yield invalid("spec.activeDeadlineSeconds", deadline, detail)
    added = list(new.get("tolerations") or [])
    if any(toleration not in added for toleration in old.get("tolerations") or []):
        yield forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")
    if _fixed(new) != _fixed(old):
        yield forbidden("spec", _MAY_CHANGE)


def _fixed(spec: Json) -> dict[str, Any]:
    """The part of a specification that may not change."""
    fixed = {key: value for key, value in spec.items() if key not in ("activeDeadlineSeconds", "tolerations")}
    for name in ("containers", "initContainers"):
        if name in fixed:
            fixed[name] = [{key: value for key, value in container.items() if key != "image"} for container in fixed[name]]
    return fixed


def _one_of(holder: Json, name: str, values: tuple[str, ...], at: str) -> Iterator[FieldError]:
    value = holder.get(name)
    if value is not None and value not in values:
        yield not_supported(f"{at}.{name}", value, values)


def _name(value: str, at: str, seen: dict[str, None]) -> Iterator[FieldError]:
    """A name that is a DNS label and unique among its siblings."""
    if not value:
        yield required(at)
        return
    problems = names.dns_label(value)
    yield from (invalid(at, value, problem) for problem in problems)
    if value in seen:
        yield duplicate(at, value)
    elif not problems:
        seen[value] = None


def _container(container: Json, at: str, mountable: dict[str, None], seen: dict[str, None]) -> Iterator[FieldError]:
    yield from _name(container.get("name", ""), f"{at}.name", seen)
    if not container.get("image"):
        yield required(f"{at}.image")
    yield from _one_of(container, "terminationMessagePolicy", ("File", "FallbackToLogsOnError"), at)
    yield from _ports(container.get("ports") or [], f"{at}.ports")
    yield from _environment(container.get("env") or [], f"{at}.env")
    yield from _mounts(container.get("volumeMounts") or [], f"{at}.volumeMounts", mountable)
    yield from _one_of(container, "imagePullPolicy", ("Always", "IfNotPresent", "Never"), at)
    yield from _resources(container.get("resources") or {}, f"{at}.resources")
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if probe := container.get(name):
            yield from _probe(probe, f"{at}.{name}")


def _ports(ports: Iterable[Json], at: str) -> Iterator[FieldError]:
    seen: dict[str, None] = {}
    for index, port in enumerate(ports):
        here = f"{at}[{index}]"
        if name := port.get("name"):
            problem = port_name_problem(name)
            if problem:
                yield invalid(f"{here}.name", name, problem)
            elif name in seen:
                yield duplicate(f"{here}.name", name)
            seen[name] = None
        number = port.get("containerPort")
        if not number:
            yield required(f"{here}.containerPort")
        elif not 1 <= number <= 65535:
            yield invalid(f"{here}.containerPort", number, "must be between 1 and 65535, inclusive")
        host = port.get("hostPort")
        if host and not 1 <= host <= 65535:
            yield invalid(f"{here}.hostPort", host, "must be between 1 and 65535, inclusive")
        yield from _one_of(port, "protocol", ("SCTP", "TCP", "UDP"), here)


def port_name_problem(name: str) -> str:
    """What is wrong with the name of a port, or nothing."""
    if len(name) > 15:
        return "must be no more than 15 characters"
    if not _PORT_NAME.fullmatch(name):
        return "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not any(character.isalpha() for character in name):
        return "must contain at least one letter (a-z)"
    if "--" in name:
        return "must not contain consecutive hyphens"
    if name[0] == "-" or name[-1] == "-":
        return "must not begin or end with a hyphen"
    return ""


def _environment(variables: Iterable[Json], at: str) -> Iterator[FieldError]:
    for index, variable in enumerate(variables):
        here = f"{at}[{index}]"
        name = variable.get("name", "")
        if not name:
            yield required(f"{here}.name")
        elif not _ENV_NAME.fullmatch(name):
            yield invalid(
                f"{here}.name", name, "a valid environment variable name must consist only of printable ASCII characters other than '='"
            )
        source = variable.get("valueFrom")
        if source is None:
            continue
        stated = [kind for kind in _ENV_SOURCES if kind in source]
        if variable.get("value"):
            if stated:
                yield invalid(f"{here}.valueFrom", "", "may not be specified when `value` is not empty")
        elif not stated:
            options = ", ".join(f"`{kind}`" for kind in _ENV_SOURCES[:-1])
            yield invalid(f"{here}.valueFrom", "", f"must specify one of: {options} or `{_ENV_SOURCES[-1]}`")
        if len(stated) > 1:
            yield invalid(f"{here}.valueFrom", "", "may not have more than one field specified at a time")


def _mounts(mounts: Iterable[Json], at: str, mountable: dict[str, None]) -> Iterator[FieldError]:
    paths: dict[str, None] = {}
    for index, mount in enumerate(mounts):
        here = f"{at}[{index}]"
        name, path = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield required(f"{here}.name")
        if name not in mountable:
            yield FieldError("FieldValueNotFound", f"Not found: {quote(name)}", f"{here}.name")
        if not path:
            yield required(f"{here}.mountPath")
        if path in paths:
            yield invalid(f"{here}.mountPath", path, "must be unique")
        paths[path] = None


def _volumes(volumes: Iterable[Json], at: str) -> Iterator[FieldError]:
    seen: dict[str, None] = {}
    for index, volume in enumerate(volumes):
        here = f"{at}[{index}]"
        sources = [key for key in volume if key != "name"]
        # The server looks at the sources in an order of its own; which of two it calls one too many is the later one there.
        for extra in sorted(sources, key=_volume_order)[1:]:
            yield forbidden(f"{here}.{extra}", "may not specify more than 1 volume type")
        for kind in sources[:1]:
            needed = _VOLUME_NEEDS.get(kind)
            if needed and not volume[kind].get(needed):
                yield required(f"{here}.{kind}.{needed}")
        yield from _name(volume.get("name", ""), f"{here}.name", seen)


_VOLUME_ORDER = (
    "emptyDir",
    "hostPath",
    "gitRepo",
    "secret",
    "nfs",
    "iscsi",
    "persistentVolumeClaim",
    "downwardAPI",
    "configMap",
    "projected",
)


def _volume_order(kind: str) -> int:
    return _VOLUME_ORDER.index(kind) if kind in _VOLUME_ORDER else len(_VOLUME_ORDER)


def _resources(resources: Json, at: str) -> Iterator[FieldError]:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, amount in limits.items():
        if Quantity(amount) < 0:
            yield invalid(f"{at}.limits[{name}]", amount, "must be greater than or equal to 0")
    for name, amount in requests.items():
        if Quantity(amount) < 0:
            yield invalid(f"{at}.requests[{name}]", amount, "must be greater than or equal to 0")
        if name in limits and Quantity(amount) > Quantity(limits[name]):
            yield invalid(f"{at}.requests", amount, f"must be less than or equal to {name} limit of {limits[name]}")


def _probe(probe: Json, at: str) -> Iterator[FieldError]:
    handlers = [handler for handler in _HANDLERS if handler in probe]
    if not handlers:
        yield required(at, "must specify a handler type")
    for extra in handlers[1:]:
        yield forbidden(f"{at}.{extra}", "may not specify more than 1 handler type")
    for name in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"):
        if probe.get(name, 0) < 0:
            yield invalid(f"{at}.{name}", probe[name], "must be greater than or equal to 0")
