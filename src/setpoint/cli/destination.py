"""Where a program runs, in which namespace, and on which ports.

It runs against a cluster of the kubeconfig, against the one whose pod it is in, or on the embedded control plane.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from setpoint.cli.failure import USAGE, Failure
from setpoint.client.config import Config, ConfigError, has_default_config, load_config
from setpoint.client.in_cluster import in_pod

_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def is_embedded(asked: bool, kubeconfig: str | None, context: str | None, *, env: Mapping[str, str] | None = None) -> bool:
    """Whether it is the embedded one: when asked for, or when nothing else is there.

    Nothing else is there when KUBECONFIG is unset, the user has no default kubeconfig, and this is no pod. A kubeconfig that is there
    and broken is not passed over, nor is a pod without a service account: that would be a cluster other than the one that is meant.
    Raises `Failure`.
    """
    env = os.environ if env is None else env
    if asked:
        if kubeconfig or context:
            raise Failure("--embedded brings its own cluster; leave out --kubeconfig and --context", code=USAGE)
        return True
    return not (kubeconfig or context or has_default_config(env=env) or in_pod(env))


def configured(kubeconfig: str | None, context: str | None) -> Config:
    """The kubeconfig's cluster, or the one that this pod runs in. Raises `Failure`."""
    try:
        return load_config(kubeconfig, context)
    except ConfigError as error:
        raise Failure(str(error)) from error


def namespaces(chosen: str | None, everywhere: bool, *, env: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The namespaces to watch, () for all: what the command line says, else WATCH_NAMESPACE; with commas between. Raises `Failure`."""
    if everywhere:
        if chosen:
            raise Failure("--namespace and --all-namespaces exclude each other", code=USAGE)
        return ()
    source, text = (
        ("--namespace", chosen) if chosen else ("WATCH_NAMESPACE", (os.environ if env is None else env).get("WATCH_NAMESPACE", ""))
    )
    names = tuple(dict.fromkeys(name.strip() for name in text.split(","))) if text else ()
    for name in names:
        if not _NAMESPACE.fullmatch(name):
            raise Failure(f"{source} is {text!r}, and {name!r} is no name of a namespace", code=USAGE)
    return names


def election(asked: bool, name: str | None, namespace: str | None) -> tuple[str, str] | None:
    """Name and namespace of the Lease, the latter "" for the default; None without an election. Raises `Failure`."""
    if not asked:
        if name or namespace:
            raise Failure("--leader-election-id and --leader-election-namespace are for --leader-elect; add it", code=USAGE)
        return None
    if not name:
        raise Failure(
            "--leader-elect needs --leader-election-id, the name of the Lease that all replicas of this program share, and no other "
            "program, such as shop.example.com",
            code=USAGE,
        )
    if len(name) > 253 or not all(_NAMESPACE.fullmatch(part) for part in name.split(".")):
        raise Failure(f"--leader-election-id is {name!r}, which is no name of a Lease: lower-case letters, digits, '-' and '.'", code=USAGE)
    if namespace and not _NAMESPACE.fullmatch(namespace):
        raise Failure(f"--leader-election-namespace is {namespace!r}, which is no name of a namespace", code=USAGE)
    return name, namespace or ""


def endpoint(text: str, flag: str) -> tuple[str, int] | None:
    """`HOST:PORT`, `:PORT` for every interface, `0` for no endpoint, as in controller-runtime. Raises `Failure`."""
    if text in ("0", ""):
        return None
    host, colon, port = text.rpartition(":")
    if not (colon and port.isdigit() and port.isascii() and int(port) <= 65535):
        raise Failure(f"{flag} takes HOST:PORT, :PORT, or 0 for no endpoint, not {text!r}", code=USAGE)
    return host.strip("[]") or "0.0.0.0", int(port)
