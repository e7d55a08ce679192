"""Pod templates inside workloads: what must hold of one, and of the selector that has to take it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, forbidden, invalid, not_supported

from .equality import same
from .label_selectors import label_problems
from .pod_warnings import name_warnings, pod_warnings
from .pods import validate_pod_spec
from .selectors import selector_matches

Json = Mapping[str, Any]


def template_of(spec: Json) -> Json:
    """The template of a workload's ``spec``, empty if it has none."""
    template: Json = spec.get("template") or {}
    return template


def labels_of(template: Json) -> Json | None:
    """The labels that the template's pods get; None if there are none, which is how a refusal shows it."""
    labels: Json | None = (template.get("metadata") or {}).get("labels")
    return labels


def not_taken(selector: Json | None, template: Json, at: str) -> Iterator[FieldError]:
    """The selector, which can be asked, takes the pods of the template at the path ``at``."""
    labels = labels_of(template)
    if not selector_matches(selector, labels or {}):
        yield invalid(f"{at}.metadata.labels", labels, "`selector` does not match template `labels`")


def validate_template(template: Json, at: str) -> Iterator[FieldError]:
    """What is wrong with a template at the path ``at``."""
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    # The server leaves `metadata` out of these two paths.
    yield from label_problems(metadata.get("labels") or {}, f"{at}.labels")
    for key in metadata.get("annotations") or {}:
        yield from (invalid(f"{at}.annotations", key, problem) for problem in names.label_key(key.lower()))
    yield from validate_pod_spec(spec, f"{at}.spec")
    if spec.get("ephemeralContainers"):
        yield forbidden(f"{at}.spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


def template_warnings(new: Json, old: Json | None, at: str = "spec", *, named: bool = True) -> Iterator[str]:
    """What is odd about a new workload that has a template at the path ``at``, or about the changed template of an old one.

    ``named``: whether its name is part of those of its pods.
    """
    if old is None and named:
        yield from name_warnings(new)
    now, was = (_at(holder or {}, at) for holder in (new, old))
    if old is None or not same(now, was):
        yield from pod_warnings(now.get("spec") or {}, f"{at}.template.spec" if at else "template.spec")


def _at(holder: Json, path: str) -> Json:
    for step in filter(None, path.split(".")):
        holder = holder.get(step) or {}
    return template_of(holder)


def runs_for_ever(template: Json, kind: str, at: str) -> Iterator[FieldError]:
    """The pods of a workload that keeps them running are restarted and have no deadline."""
    spec = template.get("spec") or {}
    policy = spec.get("restartPolicy", "Always")
    if policy != "Always":
        yield not_supported(f"{at}.spec.restartPolicy", policy, ("Always",))
    if spec.get("activeDeadlineSeconds") is not None:
        yield forbidden(f"{at}.spec.activeDeadlineSeconds", f"activeDeadlineSeconds in {kind} is not Supported")
