"""The group certificates.k8s.io: requests for certificates and bundles to trust are kept, and nothing is made of them.

https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/
"""

from __future__ import annotations

from collections.abc import Mapping

from setpoint.cluster.server.builtin.behaviour import Behaviour

BEHAVIOURS: Mapping[str, Behaviour] = {
    "CertificateSigningRequest": Behaviour(selectable=("spec.signerName",)),
    "ClusterTrustBundle": Behaviour(unconditional_update=False, selectable=("spec.signerName",)),
    "PodCertificateRequest": Behaviour(unconditional_update=False, selectable=("spec.signerName", "spec.podName", "spec.nodeName")),
}
