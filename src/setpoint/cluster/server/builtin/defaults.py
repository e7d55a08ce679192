"""The values that the API server fills into what pods and pod templates have in common.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

_FILE_MODE = 0o644


def default_template(template: Any) -> None:
    """Completes the pod template of a workload, if there is one."""
    if isinstance(template, dict) and isinstance(template.get("spec"), dict):
        default_pod_spec(template["spec"])


def default_claim_spec(spec: Any) -> None:
    """Completes the spec of a claim for a volume, or that in a template, if there is one."""
    if isinstance(spec, dict):
        spec.setdefault("volumeMode", "Filesystem")


def default_pod_spec(spec: Json) -> None:
    """Completes the spec of a pod, or that in a template."""
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("securityContext", {})
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("schedulerName", "default-scheduler")
    for container in dicts_in(spec.get("initContainers"), spec.get("containers"), spec.get("ephemeralContainers")):
        _container(container)
    for volume in dicts_in(spec.get("volumes")):
        _volume(volume)


def _container(container: Json) -> None:
    image = container.get("image", "")
    container.setdefault("imagePullPolicy", "Always" if _is_latest(image) else "IfNotPresent")
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    for probe in dicts_in([container.get(name) for name in ("livenessProbe", "readinessProbe", "startupProbe")]):
        for name, value in (("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)):
            probe.setdefault(name, value)
        _http_get(probe)
    lifecycle = container.get("lifecycle")
    if isinstance(lifecycle, dict):
        # A feature that is off: what is said of it is dropped.
        if lifecycle.pop("stopSignal", None) is not None and not lifecycle:
            del container["lifecycle"]
        for hook in dicts_in([lifecycle.get("postStart"), lifecycle.get("preStop")]):
            _http_get(hook)
    for variable in dicts_in(container.get("env")):
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
        for source in dicts_in(projected.get("sources")):
            downward.append(source.get("downwardAPI"))
            token = source.get("serviceAccountToken")
            if isinstance(token, dict):
                token.setdefault("expirationSeconds", 3600)
    for source in dicts_in(downward):
        for item in dicts_in(source.get("items")):
            _field_ref(item)
    ephemeral = volume.get("ephemeral")
    claim = ephemeral.get("volumeClaimTemplate") if isinstance(ephemeral, dict) else None
    if isinstance(claim, dict):
        default_claim_spec(claim.get("spec"))
    image = volume.get("image")
    if isinstance(image, dict):
        image.setdefault("pullPolicy", "Always" if _is_latest(image.get("reference")) else "IfNotPresent")


def dicts_in(*lists: Any) -> Iterator[Json]:
    """The objects in these lists, passing over whatever is neither."""
    for items in lists:
        if isinstance(items, list):
            yield from (item for item in items if isinstance(item, dict))
