"""The values that the API server fills into objects of built-in kinds, since OpenAPI tells of few of them.

Follows what each kind's reference page says of its defaults, as a server of version 1.37 applies them. Custom resource definitions have
theirs where custom resources are.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

from .loader import kind_named
from .structs import as_go_writes

Json = dict[str, Any]

_FILE_MODE = 0o644


def apply_defaults(kind_name: str, obj: Json) -> None:
    """Brings an object into the form in which the server keeps it: written as Go would write it, with all defaults.

    ``obj`` itself changes, what it holds is replaced, not changed. ``metadata`` stays as it is, but for a default. Needs neither name nor
    namespace; defaults that depend on more than the object (a service's address) belong to `strategy.prepare_create`.
    A second time changes nothing. Kinds without defaults of their own are only brought into form; CustomResourceDefinition is not touched.
    """
    kind = kind_named(kind_name)
    if kind is None or kind_name == "CustomResourceDefinition":
        return
    metadata = obj.get("metadata")
    written = as_go_writes(kind.group, kind.version, kind.schema_name, {key: value for key, value in obj.items() if key != "metadata"})
    written.pop("metadata", None)
    obj.clear()
    obj.update({"apiVersion": written.pop("apiVersion", ""), "kind": written.pop("kind", "")})
    if metadata is not None:
        obj["metadata"] = metadata
    obj.update(written)
    if kind_name in _DEFAULTS:
        _DEFAULTS[kind_name](obj)


def _deployment(obj: Json) -> None:
    spec = obj.get("spec")
    if not isinstance(spec, dict):
        return
    spec.setdefault("replicas", 1)
    strategy = spec.setdefault("strategy", {})
    if isinstance(strategy, dict):
        strategy.setdefault("type", "RollingUpdate")
        if strategy["type"] == "RollingUpdate":
            rolling = strategy.setdefault("rollingUpdate", {})
            if isinstance(rolling, dict):
                rolling.setdefault("maxUnavailable", "25%")
                rolling.setdefault("maxSurge", "25%")
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)
    _template(spec)


def _replica_set(obj: Json) -> None:
    spec = obj.get("spec")
    if not isinstance(spec, dict):
        return
    spec.setdefault("replicas", 1)
    _template(spec)
    status = obj.get("status")
    if isinstance(status, dict):
        status.setdefault("replicas", 0)


def _template(spec: Json) -> None:
    template = spec.get("template")
    if isinstance(template, dict) and isinstance(template.get("spec"), dict):
        _pod_spec(template["spec"])


def _pod(obj: Json) -> None:
    spec, status = obj.get("spec"), obj.get("status")
    if isinstance(spec, dict):
        for container in _dicts(spec.get("initContainers"), spec.get("containers")):
            resources = container.get("resources")
            if isinstance(resources, dict) and isinstance(limits := resources.get("limits"), dict):
                resources["requests"] = {**limits, **(resources.get("requests") or {})}
        _pod_spec(spec)
        spec.setdefault("enableServiceLinks", True)
        if isinstance(spec["terminationGracePeriodSeconds"], int) and spec["terminationGracePeriodSeconds"] < 0:
            spec["terminationGracePeriodSeconds"] = 1
        if spec.get("hostNetwork"):
            for container in _dicts(spec.get("initContainers"), spec.get("containers")):
                for port in _dicts(container.get("ports")):
                    port.setdefault("hostPort", port.get("containerPort", 0))
    if isinstance(status, dict):
        _pod_addresses(status)


def _pod_addresses(status: Json) -> None:
    address, addresses = status.get("podIP"), status.get("podIPs")
    if address and (not addresses or addresses[0].get("ip") != address):
        status["podIPs"] = [{"ip": address}]
    elif addresses and not address:
        status["podIP"] = addresses[0].get("ip", "")


def _pod_spec(spec: Json) -> None:
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("securityContext", {})
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("schedulerName", "default-scheduler")
    for container in _dicts(spec.get("initContainers"), spec.get("containers"), spec.get("ephemeralContainers")):
        _container(container)
    for volume in _dicts(spec.get("volumes")):
        _volume(volume)


def _container(container: Json) -> None:
    image = container.get("image", "")
    container.setdefault("imagePullPolicy", "Always" if _is_latest(image) else "IfNotPresent")
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    for probe in _dicts([container.get(name) for name in ("livenessProbe", "readinessProbe", "startupProbe")]):
        for name, value in (("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)):
            probe.setdefault(name, value)
        _http_get(probe)
    lifecycle = container.get("lifecycle")
    if isinstance(lifecycle, dict):
        for hook in _dicts([lifecycle.get("postStart"), lifecycle.get("preStop")]):
            _http_get(hook)
    for variable in _dicts(container.get("env")):
        source = variable.get("valueFrom")
        if isinstance(source, dict):
            _field_ref(source)


def _is_latest(image: object) -> bool:
    """Whether an image name means the tag ``latest``: it says so, or it has neither tag nor digest."""
    if not isinstance(image, str) or not image:
        return False
    name, _, digest = image.partition("@")
    _, colon, tag = name.rpartition("/")[2].rpartition(":")
    return tag == "latest" if colon else not digest


def _http_get(probe: Json) -> None:
    action = probe.get("httpGet")
    if isinstance(action, dict):
        action.setdefault("path", "/")
        action.setdefault("scheme", "HTTP")


def _field_ref(source: Json) -> None:
    reference = source.get("fieldRef")
    if isinstance(reference, dict):
        reference.setdefault("apiVersion", "v1")


def _volume(volume: Json) -> None:
    if set(volume) <= {"name"}:
        volume["emptyDir"] = {}
    host_path = volume.get("hostPath")
    if isinstance(host_path, dict):
        host_path.setdefault("type", "")
    for name in ("secret", "configMap", "downwardAPI", "projected"):
        source = volume.get(name)
        if isinstance(source, dict):
            source.setdefault("defaultMode", _FILE_MODE)
    downward = [volume.get("downwardAPI")]
    projected = volume.get("projected")
    if isinstance(projected, dict):
        for source in _dicts(projected.get("sources")):
            downward.append(source.get("downwardAPI"))
            token = source.get("serviceAccountToken")
            if isinstance(token, dict):
                token.setdefault("expirationSeconds", 3600)
    for source in _dicts(downward):
        for item in _dicts(source.get("items")):
            _field_ref(item)
    ephemeral = volume.get("ephemeral")
    claim = ephemeral.get("volumeClaimTemplate") if isinstance(ephemeral, dict) else None
    if isinstance(claim, dict) and isinstance(claim.get("spec"), dict):
        claim["spec"].setdefault("volumeMode", "Filesystem")
    image = volume.get("image")
    if isinstance(image, dict):
        image.setdefault("pullPolicy", "Always" if _is_latest(image.get("reference")) else "IfNotPresent")


def _service(obj: Json) -> None:
    spec = obj.get("spec")
    if not isinstance(spec, dict):
        return
    kind = spec.setdefault("type", "ClusterIP")
    affinity = spec.setdefault("sessionAffinity", "None")
    if affinity == "None":
        spec.pop("sessionAffinityConfig", None)
    elif affinity == "ClientIP":
        config = spec.get("sessionAffinityConfig")
        client = config.get("clientIP") if isinstance(config, dict) else None
        if not isinstance(client, dict) or client.get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}
    for port in _dicts(spec.get("ports")):
        port.setdefault("protocol", "TCP")
        if "port" in port and port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port["port"]
    if (kind in ("NodePort", "LoadBalancer")) or (kind == "ClusterIP" and spec.get("externalIPs")):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if kind in ("ClusterIP", "NodePort", "LoadBalancer"):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
        status = obj.get("status")
        balancer = status.get("loadBalancer") if isinstance(status, dict) else None
        for entry in _dicts(balancer.get("ingress") if isinstance(balancer, dict) else None):
            if entry.get("ip"):
                entry.setdefault("ipMode", "VIP")


def _secret(obj: Json) -> None:
    obj.setdefault("type", "Opaque")
    text = obj.pop("stringData", None)
    if isinstance(text, dict):
        obj["data"] = {**(obj.get("data") or {}), **{key: base64.b64encode(value.encode()).decode() for key, value in text.items()}}


def _namespace(obj: Json) -> None:
    status, metadata = obj.get("status"), obj.get("metadata")
    if isinstance(status, dict):
        status.setdefault("phase", "Active")
    if isinstance(metadata, dict) and metadata.get("name"):
        labels = {**(metadata.get("labels") or {}), "kubernetes.io/metadata.name": metadata["name"]}
        if labels != metadata.get("labels"):
            obj["metadata"] = {**metadata, "labels": labels}


def _event(obj: Json) -> None:
    # These three are written even when there is none.
    for name in ("firstTimestamp", "lastTimestamp", "eventTime"):
        obj.setdefault(name, None)


def _dicts(*lists: Any) -> Iterator[Json]:
    """The objects in these lists, passing over whatever is neither."""
    for items in lists:
        if isinstance(items, list):
            yield from (item for item in items if isinstance(item, dict))


_DEFAULTS: dict[str, Callable[[Json], None]] = {
    "Deployment": _deployment,
    "Event": _event,
    "Namespace": _namespace,
    "Pod": _pod,
    "ReplicaSet": _replica_set,
    "Secret": _secret,
    "Service": _service,
}
