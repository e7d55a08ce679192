"""A program that prints credentials: what it is asked, and what is made of what it prints.

https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
"""

from __future__ import annotations

import base64
import logging
from collections import deque
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from setpoint.client.config import Config, ConfigError, ExecPlugin
from setpoint.client.tls import Pair, ends
from setpoint.world import World

TIME = 60.0
"""Seconds that a program may take, unless it asks a person."""
TIME_WITH_A_PERSON = 300.0
"""Seconds that a program may take that asks a person: a login in a browser."""

LONGEST_LINE = 500
"""Characters of a line of what a program says that are told: a program that has gone wrong may say megabytes."""

_log = logging.getLogger("setpoint.client.exec")


class Obtained(NamedTuple):
    """What a program gave: a token, a certificate, or both; until when it is good, None where nothing says so."""

    token: str
    pair: Pair | None
    expires: datetime | None


class _Status(msgspec.Struct):
    token: str | None = None
    clientCertificateData: str | None = None
    clientKeyData: str | None = None
    expirationTimestamp: datetime | None = None


class _Credential(msgspec.Struct):
    kind: str = ""
    apiVersion: str = ""
    status: _Status | None = None


async def obtain(plugin: ExecPlugin, config: Config, ca: bytes | None, world: World) -> Obtained:
    """Runs the program and gives what it prints.

    Raises `ConfigError` if it cannot be started, fails, takes too long, or prints something else: one sentence, with the last that the
    program itself said, and the kubeconfig's hint on how to install it where it is missing. Standard output is never shown: it is secret.
    """
    called = f"{config.source}: the program {plugin.command!r}, which should give the credentials of {config.whose},"
    if world.simulated:
        raise ConfigError(f"{called} cannot be run in simulated time: use a token or a client certificate")
    if plugin.interactive_mode == "Always" and not world.programs.terminal:
        raise ConfigError(f"{called} asks a person (interactiveMode Always), and standard input is no terminal")
    interactive = plugin.interactive_mode != "Never" and world.programs.terminal
    seconds = TIME_WITH_A_PERSON if interactive else TIME
    said: deque[str] = deque(maxlen=5)

    def heard(line: str) -> None:
        line = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}..."
        if line:
            said.append(line)
            _log.info("%s: %s", plugin.command, line)

    environment = {**dict(plugin.env), "KUBERNETES_EXEC_INFO": question(plugin, config, ca, interactive=interactive)}
    try:
        code, output = await world.programs.run(
            [plugin.command, *plugin.args], env=environment, interactive=interactive, seconds=seconds, heard=heard
        )
    except FileNotFoundError as error:
        hint = f": {' '.join(plugin.install_hint.split())}" if plugin.install_hint else "; install it, or correct the kubeconfig"
        raise ConfigError(f"{called} is not there{hint}") from error
    except TimeoutError as error:
        raise ConfigError(f"{called} had not ended after {seconds:.0f} seconds, and was killed{_quoted(said)}") from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"{called} cannot be used: {getattr(error, 'strerror', None) or error}") from error
    if code != 0:
        how = f"failed with code {code}" if code > 0 else f"was killed by signal {-code}"
        raise ConfigError(f"{called} {how}{_quoted(said)}")
    try:
        return _obtained(output, plugin, world.clock.now())
    except ValueError as error:
        raise ConfigError(f"{called} {error}{_quoted(said)}") from error


def question(plugin: ExecPlugin, config: Config, ca: bytes | None, *, interactive: bool) -> str:
    """The ExecCredential that asks, as the program finds it in its environment."""
    spec: dict[str, Any] = {"interactive": interactive}
    if plugin.provide_cluster_info:
        cluster = {
            "server": config.server,
            "tls-server-name": config.tls_server_name,
            "insecure-skip-tls-verify": config.insecure,
            "certificate-authority-data": None if ca is None else base64.b64encode(ca).decode(),
            "proxy-url": config.proxy_url,
            "disable-compression": config.disable_compression,
            "config": plugin.cluster_config,
        }
        spec["cluster"] = {name: value for name, value in cluster.items() if value}
    return msgspec.json.encode({"kind": "ExecCredential", "apiVersion": plugin.api_version, "spec": spec}).decode()


def _obtained(output: bytes, plugin: ExecPlugin, now: datetime) -> Obtained:
    """What was printed. Raises `ValueError`, whose text goes on from the program's name."""
    try:
        printed = msgspec.json.decode(output, type=_Credential)
    except msgspec.ValidationError as error:
        raise ValueError(f"printed an ExecCredential that is none: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ValueError("printed nothing" if not output.strip() else "printed something that is no ExecCredential in JSON") from error
    if printed.kind != "ExecCredential":
        raise ValueError(f"printed a {printed.kind or 'document without a kind'} instead of an ExecCredential")
    if printed.apiVersion != plugin.api_version:
        raise ValueError(f"printed an ExecCredential in {printed.apiVersion!r}, and the kubeconfig asks for {plugin.api_version!r}")
    status = printed.status or _Status()
    if (status.clientCertificateData is None) != (status.clientKeyData is None):
        raise ValueError("gave a client certificate without its key, or a key without its certificate")
    pair = None
    expires = status.expirationTimestamp
    if expires is not None and expires.tzinfo is None:
        raise ValueError("gave an expirationTimestamp without a time zone")
    if status.clientCertificateData and status.clientKeyData:
        pair = Pair(status.clientCertificateData.encode(), status.clientKeyData.encode())
        try:
            end = ends(pair.certificate)
        except ValueError as error:
            raise ValueError("gave a client certificate that is not PEM") from error
        expires = end if expires is None else min(expires, end)
    token = (status.token or "").strip()
    if not token and pair is None:
        raise ValueError("gave neither a token nor a client certificate")
    if not token.isprintable():
        raise ValueError("gave a token that cannot be one: it holds characters that end a line")
    if expires is not None and expires <= now:
        raise ValueError(f"gave credentials that had expired already, on {expires:%Y-%m-%d %H:%M} UTC: is this machine's clock right?")
    return Obtained(token, pair, expires)


def _quoted(said: deque[str]) -> str:
    return f"; it says: {' / '.join(said)}" if said else ""
