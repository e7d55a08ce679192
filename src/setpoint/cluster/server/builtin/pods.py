"""What a pod's specification must obey, on its own or as a template, and what of it may change, in the words of kube-apiserver.

Containers, volumes, scheduling and security have files of their own.
https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, duplicate, forbidden, invalid, not_supported, required
from setpoint.cluster.server.schema.gotext import as_json

from .addresses import address_problems
from .containers import Pod, validate_containers, validate_init_containers
from .equality import same
from .go_print import refused
from .label_selectors import label_problems
from .pod_resources import validate_pod_resources
from .pod_scheduling import validate_affinity, validate_gates, validate_spread, validate_tolerations
from .pod_security import validate_pod_context
from .pod_volumes import validate_volumes
from .remembered import remembered

Json = Mapping[str, Any]

_SYSTEMS = ("linux", "windows")
_SEARCH_FORM = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*"
_SEARCH = re.compile(_SEARCH_FORM)
_SEARCH_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an "
    f"alphanumeric character (e.g. 'example.com', regex used for validation is '{_SEARCH_FORM}')"
)
_MAY_CHANGE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def validate_pod(new: Json, old: Json | None) -> Iterator[FieldError]:
    """What is wrong with a pod that has its defaults, or with its change."""
    spec = new.get("spec") or {}
    yield from validate_pod_spec(spec, "spec")
    yield from _only_for_pods(spec)
    if old is None:
        if spec.get("ephemeralContainers"):
            yield forbidden("spec.ephemeralContainers", "cannot be set on create")
        if spec.get("nodeName") and spec.get("schedulingGates"):
            yield forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")
    else:
        yield from _update(spec, old.get("spec") or {})


def _only_for_pods(spec: Json) -> Iterator[FieldError]:
    """Templates get away with this."""
    if not spec.get("serviceAccountName"):
        for index, volume in enumerate(spec.get("volumes") or []):
            for number, source in enumerate((volume.get("projected") or {}).get("sources") or []):
                if "serviceAccountToken" in source:
                    at = f"spec.volumes[{index}].projected.sources[{number}].serviceAccountToken"
                    yield forbidden(at, "must not be specified when serviceAccountName is not set")
    for name in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(name) or []):
            image = container.get("image", "")
            if image != image.strip():
                yield invalid(f"spec.{name}[{index}].image", image, "must not have leading or trailing whitespace")


@remembered
def validate_pod_spec(spec: Json, at: str) -> Iterator[FieldError]:
    """What is wrong with a pod's ``spec``, which has its defaults, at the path ``at``."""
    mountable: dict[str, Json] = {}
    yield from validate_volumes(spec.get("volumes") or [], mountable, f"{at}.volumes")
    claims = spec.get("resourceClaims") or []
    yield from _claims(claims, f"{at}.resourceClaims")
    pod = Pod(
        volumes=mountable,
        claims=tuple(claim.get("name", "") for claim in claims),
        grace=spec.get("terminationGracePeriodSeconds"),
        host_users=spec.get("hostUsers", True),
        restarts=spec.get("restartPolicy", "Always"),
    )
    containers, first = spec.get("containers") or [], spec.get("initContainers") or []
    yield from validate_containers(containers, pod, f"{at}.containers")
    yield from validate_init_containers(first, containers, pod, f"{at}.initContainers")
    yield from validate_pod_resources(spec, f"{at}.resources")
    if spec.get("hostNetwork"):
        yield from _ports_of_the_host(containers, f"{at}.containers")
    yield from _one_of(spec, "restartPolicy", ("Always", "OnFailure", "Never"), at)
    yield from _one_of(spec, "dnsPolicy", ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"), at)
    yield from label_problems(spec.get("nodeSelector") or {}, f"{at}.nodeSelector")
    yield from validate_pod_context(spec.get("securityContext") or {}, f"{at}.securityContext")
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        yield invalid(f"{at}.shareProcessNamespace", True, "ShareProcessNamespace and HostPID cannot both be enabled")
    yield from validate_affinity(spec.get("affinity") or {}, f"{at}.affinity")
    yield from _dns(spec, f"{at}.dnsConfig")
    for index, gate in enumerate(spec.get("readinessGates") or []):
        kind = gate.get("conditionType", "")
        yield from (invalid(f"{at}.readinessGates[{index}].conditionType", kind, problem) for problem in names.label_key(kind))
    yield from validate_gates(spec.get("schedulingGates") or [], f"{at}.schedulingGates")
    yield from validate_spread(spec.get("topologySpreadConstraints") or [], f"{at}.topologySpreadConstraints")
    if not spec.get("hostNetwork") and any(_in_host_process(context) for context in (spec, *first, *containers)):
        yield invalid(f"{at}.hostNetwork", False, "hostNetwork must be true if pod contains any hostProcess containers")
    if spec.get("hostUsers") is False:
        yield from (forbidden(f"{at}.{name}", "when `hostUsers` is false") for field, name in _HOST_FIELDS.items() if spec.get(field))
    yield from _names(spec, at)
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline < 1 << 31:
        yield invalid(f"{at}.activeDeadlineSeconds", deadline, "must be between 1 and 2147483647, inclusive")
    for name in ("hostname", "subdomain"):
        if value := spec.get(name):
            yield from (invalid(f"{at}.{name}", value, problem) for problem in names.dns_label(value))
    yield from validate_tolerations(spec.get("tolerations") or [], f"{at}.tolerations")
    yield from _host_aliases(spec.get("hostAliases") or [], f"{at}.hostAliases")
    for name in ("priorityClassName", "runtimeClassName"):
        if value := spec.get(name):
            yield from (invalid(f"{at}.{name}", value, problem) for problem in names.dns_subdomain(value))
    yield from _one_of(spec, "preemptionPolicy", ("Never", "PreemptLowerPriority"), at)
    yield from _system(spec, at)
    yield from _file_volumes(spec, at)


_HOST_FIELDS = {"hostNetwork": "hostNetwork", "hostPID": "HostPID", "hostIPC": "HostIPC"}
"""As the server spells them here."""


def _in_host_process(holder: Json) -> bool:
    return bool(((holder.get("securityContext") or {}).get("windowsOptions") or {}).get("hostProcess"))


def _names(spec: Json, at: str) -> Iterator[FieldError]:
    if account := spec.get("serviceAccountName"):
        yield from (invalid(f"{at}.serviceAccountName", account, problem) for problem in names.dns_subdomain(account))
    if node := spec.get("nodeName"):
        yield from (invalid(f"{at}.nodeName", node, problem) for problem in names.dns_subdomain(node))


def _one_of(holder: Json, name: str, values: tuple[str, ...], at: str) -> Iterator[FieldError]:
    value = holder.get(name)
    if value is not None and value not in values:
        yield not_supported(f"{at}.{name}", value, values)


def _claims(claims: list[Json], at: str) -> Iterator[FieldError]:
    seen: dict[str, None] = {}
    for index, claim in enumerate(claims):
        here, name = f"{at}[{index}]", claim.get("name", "")
        if not name:
            yield required(f"{here}.name")
        elif name in seen:
            yield duplicate(f"{here}.name", name)
        else:
            yield from (invalid(f"{here}.name", name, problem) for problem in names.dns_label(name))
        seen[name] = None
        sources = ("resourceClaimName", "resourceClaimTemplateName")
        stated = [source for source in sources if source in claim]
        if len(stated) != 1:
            fields = [("Name", as_json(name)), *((f"{source[0].upper()}{source[1:]}", as_json(claim.get(source))) for source in sources)]
            shown = "{" + ",".join(f'"{field}":{value}' for field, value in fields) + "}"
            detail = "at most one of {} may be specified" if stated else "must specify one of: {}"
            yield refused(here, shown, detail.format(", ".join(f"`{source}`" for source in sources)))


def _ports_of_the_host(containers: list[Json], at: str) -> Iterator[FieldError]:
    for index, container in enumerate(containers):
        for number, port in enumerate(container.get("ports") or []):
            host = port.get("hostPort", 0)
            if host and host != port.get("containerPort"):
                detail = "must match `containerPort` when `hostNetwork` is true"
                yield invalid(f"{at}[{index}].ports[{number}].hostPort", host, detail)


def _dns(spec: Json, at: str) -> Iterator[FieldError]:
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            yield required(at, "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not config.get("nameservers"):
            yield required(f"{at}.nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None")
            return
    config = config or {}
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    if len(servers) > 3:
        yield invalid(f"{at}.nameservers", servers, "must not have more than 3 nameservers")
    for index, server in enumerate(servers):
        yield from address_problems(f"{at}.nameservers[{index}]", server)
    if len(searches) > 32:
        yield invalid(f"{at}.searches", searches, "must not have more than 32 search paths")
    if len(" ".join(searches)) > 2048:
        yield invalid(f"{at}.searches", searches, "must not have more than 2048 characters (including spaces) in the search list")
    for index, search in enumerate(searches):
        if search != "." and not _SEARCH.fullmatch(search.removesuffix(".")):
            yield invalid(f"{at}.searches[{index}]", search.removesuffix("."), _SEARCH_TEXT)
    yield from (
        required(f"{at}.options[{index}]", "must not be empty")
        for index, option in enumerate(config.get("options") or [])
        if not option.get("name")
    )


def _host_aliases(aliases: list[Json], at: str) -> Iterator[FieldError]:
    for index, alias in enumerate(aliases):
        yield from address_problems(f"{at}[{index}].ip", alias.get("ip", ""))
        for number, host in enumerate(alias.get("hostnames") or []):
            yield from (invalid(f"{at}[{index}].hostnames[{number}]", host, problem) for problem in names.dns_subdomain(host))


def _system(spec: Json, at: str) -> Iterator[FieldError]:
    system = spec.get("os")
    if system is None:
        return
    name = system.get("name", "")
    if not name:
        yield required(f"{at}.os.name")
    elif name not in _SYSTEMS:
        yield not_supported(f"{at}.os", name, _SYSTEMS)
    elif name == "linux":
        if "windowsOptions" in (spec.get("securityContext") or {}):
            yield forbidden(f"{at}.securityContext.windowsOptions", "windows options cannot be set for a linux pod")
    else:
        context = spec.get("securityContext") or {}
        yield from (
            forbidden(f"{at}.securityContext.{field}", "cannot be set for a windows pod") for field in _NOT_FOR_WINDOWS if field in context
        )
        yield from (forbidden(f"{at}.{field}", "cannot be set for a windows pod") for field in ("hostPID", "hostIPC") if spec.get(field))


_NOT_FOR_WINDOWS = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
)


def _file_volumes(spec: Json, at: str) -> Iterator[FieldError]:
    """Variables from files come from volumes of the pod that are empty at first."""
    volumes = {volume.get("name", ""): volume for volume in spec.get("volumes") or []}
    for name in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(name) or []):
            for number, variable in enumerate(container.get("env") or []):
                reference = (variable.get("valueFrom") or {}).get("fileKeyRef")
                if reference is not None and reference.get("volumeName", "") not in volumes:
                    here = f"{at}.{name}[{index}].env[{number}].valueFrom.fileKeyRef.volumeName"
                    yield FieldError("FieldValueNotFound", f"Not found: {as_json(reference.get('volumeName', ''))}", here)


# --------------------------------------------------------------------------------------------------------------- update


def _update(new: Json, old: Json) -> Iterator[FieldError]:
    """What may not change in the ``spec`` of a pod that exists."""
    for name in ("containers", "initContainers"):
        now, before = new.get(name) or [], old.get(name) or []
        if len(now) != len(before):
            yield forbidden(f"spec.{name}", "pod updates may not add or remove containers")
            return
    deadline, before = new.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds")
    if before is not None and (deadline is None or deadline > before):
        detail = (
            "must not update from a positive integer to nil value" if deadline is None else "must be less than or equal to previous value"
        )
        yield invalid("spec.activeDeadlineSeconds", deadline, detail)
        if deadline is not None:
            return
    added = [_but_for_seconds(toleration) for toleration in new.get("tolerations") or []]
    if any(_but_for_seconds(toleration) not in added for toleration in old.get("tolerations") or []):
        yield forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")
    gates = [gate.get("name") for gate in old.get("schedulingGates") or []]
    for index, gate in enumerate(new.get("schedulingGates") or []):
        if gate.get("name") not in gates:
            detail = f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'"
            yield forbidden(f"spec.schedulingGates[{index}].name", detail)
    now, was = _fixed(new), _fixed(old)
    if gates:
        yield from _still_gated(now, was)
    if not same(now, was):
        yield forbidden("spec", _MAY_CHANGE)


def _but_for_seconds(toleration: Json) -> Json:
    return {key: value for key, value in toleration.items() if key != "tolerationSeconds"}


def _still_gated(now: dict[str, Any], was: dict[str, Any]) -> Iterator[FieldError]:
    """Until it may be scheduled, a pod may become choosier about nodes; what has been looked at is made equal."""
    selector, before = now.get("nodeSelector") or {}, was.get("nodeSelector") or {}
    if any(selector.get(key) != value for key, value in before.items()):
        detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        yield invalid("spec.nodeSelector", selector, detail)
    now["nodeSelector"] = was["nodeSelector"] = {}
    affinity, had = ({**(spec.get("affinity") or {})} for spec in (now, was))
    if not had.get("nodeAffinity"):
        affinity.pop("nodeAffinity", None)
        now["affinity"] = affinity


def _fixed(spec: Json) -> dict[str, Any]:
    """The part of a specification that may not change."""
    fixed = {key: value for key, value in spec.items() if key not in ("activeDeadlineSeconds", "tolerations", "schedulingGates")}
    for name in ("containers", "initContainers"):
        if name in fixed:
            fixed[name] = [{key: value for key, value in container.items() if key != "image"} for container in fixed[name]]
    return fixed
