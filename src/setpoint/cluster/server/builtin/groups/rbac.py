"""rbac.authorization.k8s.io: roles and who has them. They are kept and judged as on a real server; nothing is enforced.

https://kubernetes.io/docs/reference/access-authn-authz/rbac/
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object
from setpoint.cluster.server.builtin.label_selectors import selector_problems
from setpoint.cluster.server.schema.causes import FieldError, invalid, not_supported, required

GROUP = "rbac.authorization.k8s.io"


def _role_defaults(role: Json) -> None:
    role.setdefault("rules", None)


def _validate_role(role: Object, old: Object | None, *, namespaced: bool) -> Iterator[FieldError]:
    rules = role.get("rules") or ()
    for index, rule in enumerate(rules):
        yield from _rule_problems(rule, f"rules[{index}]", namespaced)
    aggregation = role.get("aggregationRule")
    if aggregation is not None:
        yield from _aggregation_problems(aggregation, old)
    for index, rule in enumerate(rules):
        if not rule.get("verbs"):
            yield required(f"rules[{index}].verbs")


def _rule_problems(rule: Object, at: str, namespaced: bool) -> Iterator[FieldError]:
    urls = rule.get("nonResourceURLs")
    if urls:
        if namespaced:
            yield invalid(f"{at}.nonResourceURLs", urls, "namespaced rules cannot apply to non-resource URLs")
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            yield invalid(f"{at}.nonResourceURLs", urls, "rules cannot apply to both regular resources and non-resource URLs")
        return
    if not rule.get("apiGroups"):
        yield required(f"{at}.apiGroups", "resource rules must supply at least one api group")
    if not rule.get("resources"):
        yield required(f"{at}.resources", "resource rules must supply at least one resource")


def _aggregation_problems(aggregation: Object, old: Object | None) -> Iterator[FieldError]:
    selectors, field = aggregation.get("clusterRoleSelectors") or (), "aggregationRule.clusterRoleSelectors"
    if not selectors:
        yield required(field, "at least one clusterRoleSelector required if aggregationRule is non-nil")
    before = ((old or {}).get("aggregationRule") or {}).get("clusterRoleSelectors") or ()
    any_values = any(next(selector_problems(selector, field), None) for selector in before)
    for index, selector in enumerate(selectors):
        at = f"{field}[{index}]"
        yield from selector_problems(selector, at, any_values=any_values)
        if next(selector_problems(selector, at), None) is not None:
            yield invalid(at, None, "invalid label selector.")


def _binding_defaults(binding: Json) -> None:
    reference = binding.setdefault("roleRef", {})
    if not reference.get("apiGroup"):
        reference["apiGroup"] = GROUP
    for subject in binding.get("subjects") or ():
        if not subject.get("apiGroup") and subject.get("kind") in ("User", "Group"):
            subject["apiGroup"] = GROUP


def _validate_binding(binding: Object, old: Object | None, *, kinds: tuple[str, ...]) -> Iterator[FieldError]:
    reference, subjects = binding["roleRef"], binding.get("subjects") or ()
    changed = old is not None and reference != old["roleRef"]
    if reference.get("apiGroup") != GROUP:
        yield not_supported("roleRef.apiGroup", reference.get("apiGroup", ""), (GROUP,))
    if reference.get("kind") not in kinds:
        yield not_supported("roleRef.kind", reference.get("kind", ""), kinds)
    name = reference.get("name", "")
    if changed and not name:
        yield required("roleRef.name")
    yield from (invalid("roleRef.name", name, problem) for problem in names.path_segment(name))
    for index, subject in enumerate(subjects):
        yield from _subject_problems(subject, f"subjects[{index}]", namespaced="Role" in kinds)
    # The server judges these by another mechanism, after all the others.
    if changed:
        shown = {"APIGroup": reference.get("apiGroup", ""), "Kind": reference.get("kind", ""), "Name": name}
        yield invalid("roleRef", shown, "field is immutable")
    yield from (required(f"subjects[{index}].name") for index, subject in enumerate(subjects) if not subject.get("name"))
    if old is None and not name:
        yield required("roleRef.name")


def _subject_problems(subject: dict[str, Any], at: str, *, namespaced: bool) -> Iterator[FieldError]:
    kind, name, group = subject.get("kind", ""), subject.get("name", ""), subject.get("apiGroup", "")
    if kind == "ServiceAccount":
        if name:
            yield from (invalid(f"{at}.name", name, problem) for problem in names.dns_subdomain(name))
        if group:
            yield not_supported(f"{at}.apiGroup", group, ("",))
        if not namespaced and not subject.get("namespace"):
            yield required(f"{at}.namespace")
    elif kind in ("User", "Group"):
        if group != GROUP:
            yield not_supported(f"{at}.apiGroup", group, (GROUP,))
    else:
        yield not_supported(f"{at}.kind", kind, ("ServiceAccount", "User", "Group"))


def _role(*, namespaced: bool) -> Behaviour:
    return Behaviour(
        support="full",
        defaults=_role_defaults,
        validate=partial(_validate_role, namespaced=namespaced),
        create_on_update=True,
        name_rule=names.path_segment,
    )


def _binding(*kinds: str) -> Behaviour:
    return Behaviour(
        support="full",
        defaults=_binding_defaults,
        validate=partial(_validate_binding, kinds=kinds),
        create_on_update=True,
        name_rule=names.path_segment,
    )


BEHAVIOURS = {
    "Role": _role(namespaced=True),
    "ClusterRole": _role(namespaced=False),
    "RoleBinding": _binding("Role", "ClusterRole"),
    "ClusterRoleBinding": _binding("ClusterRole"),
}
