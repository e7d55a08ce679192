"""What a real server serves and the embedded one does not: each is refused with the name of what is missing.

None of it is announced by discovery, so that clients that look there first say so themselves.
"""

from __future__ import annotations

from setpoint.api import ApiError, GroupVersionResource
from setpoint.api.status import not_supported_here

_POLICIES = "the group admissionregistration.k8s.io with its admission policies"
_WEBHOOKS = "the group admissionregistration.k8s.io with its webhooks"
_ACCESS = "the review of what somebody may do: whoever has the token may do everything. It"

ABSENT: dict[tuple[str, str], str] = {
    ("", "bindings"): "binding pods to nodes",
    ("", "componentstatuses"): "the kind ComponentStatus",
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies"): _POLICIES,
    ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings"): _POLICIES,
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"): _POLICIES,
    ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"): _POLICIES,
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"): _WEBHOOKS,
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"): _WEBHOOKS,
    ("apiregistration.k8s.io", "apiservices"): "aggregation of API servers (APIService)",
    ("authentication.k8s.io", "selfsubjectreviews"): "the review of who somebody is (SelfSubjectReview)",
    ("authentication.k8s.io", "tokenreviews"): "the review of tokens (TokenReview)",
    ("authorization.k8s.io", "localsubjectaccessreviews"): _ACCESS,
    ("authorization.k8s.io", "selfsubjectaccessreviews"): _ACCESS,
    ("authorization.k8s.io", "selfsubjectrulesreviews"): _ACCESS,
    ("authorization.k8s.io", "subjectaccessreviews"): _ACCESS,
}
"""Resources by group and plural: what is missing with them."""

ABSENT_SUBRESOURCES: dict[tuple[str, str, str], str] = {
    ("", "nodes", "proxy"): "the proxy to nodes, of which there are none that run,",
    ("", "pods", "attach"): "attaching to pods, in which nothing runs,",
    ("", "pods", "binding"): "binding pods to nodes",
    ("", "pods", "ephemeralcontainers"): "the subresource ephemeralcontainers of pods",
    ("", "pods", "eviction"): "eviction of pods",
    ("", "pods", "exec"): "exec into pods, in which nothing runs,",
    ("", "pods", "log"): "the log of pods, in which nothing runs,",
    ("", "pods", "portforward"): "port-forward to pods, in which nothing runs,",
    ("", "pods", "proxy"): "the proxy to pods, in which nothing runs,",
    ("", "pods", "resize"): "the subresource resize of pods",
    ("", "serviceaccounts", "token"): "the subresource token of service accounts",
    ("", "services", "proxy"): "the proxy to services, behind which nothing runs,",
    ("certificates.k8s.io", "certificatesigningrequests", "approval"): "approval of certificate signing requests",
}
"""Subresources by group, plural and name: what is missing with them."""


def refusal(resource: GroupVersionResource, subresource: str) -> ApiError | None:
    """What to say of something that a real server has and this one has not; None if it is nothing of that sort."""
    what = ABSENT.get((resource.group, resource.resource))
    if what is None and subresource:
        what = ABSENT_SUBRESOURCES.get((resource.group, resource.resource, subresource.partition("/")[0]))
    return None if what is None else not_supported_here(what)
