"""Pods made from templates, as the workload controllers make them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b

import msgspec

from setpoint.k8s.core.v1 import Pod, PodTemplateSpec
from setpoint.objects import ObjectMeta, to_builtins

HASH_LABEL = "pod-template-hash"
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


def pod_from(
    template: PodTemplateSpec,
    namespace: str,
    *,
    name: str = "",
    prefix: str = "",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> Pod:
    """A new pod, called `name`, or by a name that begins with `prefix`."""
    metadata = ObjectMeta(
        name=name or None,
        generate_name=None if name else prefix,
        namespace=namespace,
        labels=template.metadata.labels | dict(labels or {}),
        annotations=template.metadata.annotations | dict(annotations or {}),
        finalizers=template.metadata.finalizers,
    )
    return Pod(metadata=metadata, spec=template.spec)


def canonical(template: PodTemplateSpec, *, without: Iterable[str] = (HASH_LABEL,)) -> bytes:
    """Equal for templates that make the same pods, the labels `without` aside."""
    content = to_builtins(template)
    labels = content.get("metadata", {}).get("labels", {})
    for label in without:
        labels.pop(label, None)
    return msgspec.json.encode(content, order="sorted")


def hash_of(template: PodTemplateSpec, collisions: int) -> str:
    """Ten characters that tell templates apart."""
    digest = blake2b(canonical(template) + str(collisions or "").encode(), digest_size=10).digest()
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest)
