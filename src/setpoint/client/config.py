"""Which server, and as whom: a configuration, and where it is looked for.

It comes from a kubeconfig, else from the pod that the program runs in: the order in which kubectl looks.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

InteractiveMode: TypeAlias = Literal["Never", "IfAvailable", "Always"]


class ConfigError(Exception):
    """The configuration cannot be used; the text says why, and where."""


@dataclass(frozen=True, kw_only=True)
class ExecPlugin:
    """A program that prints credentials.

    `api_version` is that of the ExecCredential which it is asked for. `cluster_config` is what the cluster's extension
    `client.authentication.k8s.io/exec` holds for it.

    https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
    """

    command: str
    api_version: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: InteractiveMode = "IfAvailable"
    cluster_config: Any = None


@dataclass(frozen=True, kw_only=True)
class Config:
    """One server and how to talk to it. Certificates and keys are PEM; secrets are not in its repr.

    `ca_file`, `client_certificate_file` and `client_key_file` say where those were read from: they are read again when they change.
    `token_file` wins over `token`, and either over `exec`. `context`, `cluster` and `user` are names in the kubeconfig, empty in a pod.
    `source` is what it came from: a file, several, or the pod's service account.
    """

    server: str
    context: str = ""
    cluster: str = ""
    user: str = ""
    namespace: str = "default"
    ca_data: bytes | None = field(default=None, repr=False)
    ca_file: str | None = None
    insecure: bool = False
    tls_server_name: str | None = None
    disable_compression: bool = False
    client_certificate: bytes | None = field(default=None, repr=False)
    client_certificate_file: str | None = None
    client_key: bytes | None = field(default=None, repr=False)
    client_key_file: str | None = None
    token: str | None = field(default=None, repr=False)
    token_file: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    exec: ExecPlugin | None = None
    impersonate_user: str | None = None
    impersonate_uid: str | None = None
    impersonate_groups: tuple[str, ...] = ()
    impersonate_extra: tuple[tuple[str, tuple[str, ...]], ...] = ()
    proxy_url: str | None = None
    source: str = ""

    @property
    def title(self) -> str:
        """What to call it when speaking to people."""
        return f"context {self.context!r}" if self.context else self.source or self.server

    @property
    def whose(self) -> str:
        """What to call the one who asks."""
        return f"user {self.user!r}" if self.user else "the service account"


def load_config(path: str | None = None, context: str | None = None, *, env: Mapping[str, str] | None = None) -> Config:
    """The configuration of a context (the current one where it is None), from a file, else from KUBECONFIG, else from `~/.kube/config`.

    KUBECONFIG may list several files: of each entry the first one counts, and files that are missing are passed over. Paths inside a file
    are relative to it. Where neither file nor context is asked for, KUBECONFIG is not set and there is no `~/.kube/config`, or one that is
    empty, a program in a pod gets the configuration of its service account.

    Raises `ConfigError`, with one sentence that names file and remedy.
    """
    from setpoint.client.in_cluster import in_cluster_config, in_pod
    from setpoint.client.kubeconfig import read

    env = os.environ if env is None else env
    if path is None and context is None and in_pod(env) and not _says_something(env):
        return in_cluster_config(env=env)
    listed = [Path(part) for part in env.get("KUBECONFIG", "").split(os.pathsep) if part]
    files = [Path(path).expanduser()] if path is not None else listed or [_default_file(env)]
    return read(files, must_exist=path is not None or len(files) == 1).config(context)


def has_default_config(*, env: Mapping[str, str] | None = None) -> bool:
    """Whether KUBECONFIG is set, or the user's default kubeconfig exists: whether the user has said which cluster is meant."""
    env = os.environ if env is None else env
    return bool(env.get("KUBECONFIG")) or _default_file(env).exists()


def _says_something(env: Mapping[str, str]) -> bool:
    """Whether a kubeconfig says which cluster is meant. One that cannot be read may: it is for its reader to refuse it."""
    if env.get("KUBECONFIG"):
        return True
    try:
        return bool(_default_file(env).read_bytes().strip())
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _default_file(env: Mapping[str, str]) -> Path:
    home = env.get("HOME") or env.get("USERPROFILE")
    return (Path(home) if home else Path.home()) / ".kube" / "config"
