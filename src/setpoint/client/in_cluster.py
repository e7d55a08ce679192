"""The configuration of a program in a pod: the files that the kubelet puts there for its service account.

https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/#directly-accessing-the-rest-api
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from setpoint.client.config import Config, ConfigError

SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


def in_pod(env: Mapping[str, str] | None = None) -> bool:
    """Whether the environment is that of a pod."""
    return bool((os.environ if env is None else env).get("KUBERNETES_SERVICE_HOST"))


def in_cluster_config(*, env: Mapping[str, str] | None = None, folder: str | Path | None = None) -> Config:
    """The pod's own: its cluster, its service account, its namespace. Token and authority are read again when they change.

    Raises `ConfigError` outside a pod, and where the pod has no service account's files.
    """
    env = os.environ if env is None else env
    files = Path(SERVICE_ACCOUNT if folder is None else folder)
    host, port = env.get("KUBERNETES_SERVICE_HOST"), env.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise ConfigError("this runs in no pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; use a kubeconfig")
    token, authority, namespace = files / "token", files / "ca.crt", files / "namespace"
    if not token.exists():
        raise ConfigError(
            f"this runs in a pod without the token of a service account: there is no {token}; set automountServiceAccountToken on the pod, "
            "or mount a kubeconfig and name it with --kubeconfig or KUBECONFIG"
        )
    try:
        ca = authority.read_bytes()
        where = namespace.read_text(encoding="utf-8").strip() if namespace.exists() else ""
    except OSError as error:
        raise ConfigError(f"this pod's {error.filename} cannot be read: {error.strerror}") from error
    return Config(
        server=f"https://{f'[{host}]' if ':' in host else host}:{port}",
        namespace=where or "default",
        ca_data=ca,
        ca_file=str(authority),
        token_file=str(token),
        source="the service account of this pod",
    )
