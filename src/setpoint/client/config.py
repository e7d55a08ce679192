"""Which server, and as whom: the kubeconfig.

https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml


class ConfigError(Exception):
    """The kubeconfig cannot be used; the text says why, and where."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """One server and how to talk to it. Certificates and keys are PEM; secrets are not in its repr.

    `token_file` wins over `token`. `source` is the file (or files) that it came from.
    """

    server: str
    context: str = ""
    cluster: str = ""
    user: str = ""
    namespace: str = "default"
    ca_data: bytes | None = field(default=None, repr=False)
    insecure: bool = False
    tls_server_name: str | None = None
    client_certificate: bytes | None = field(default=None, repr=False)
    client_key: bytes | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    token_file: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    impersonate_user: str | None = None
    impersonate_groups: tuple[str, ...] = ()
    proxy_url: str | None = None
    source: str = ""


def load_config(path: str | None = None, context: str | None = None, *, env: Mapping[str, str] | None = None) -> Config:
    """The configuration of a context (the current one where it is None), from a file, else from KUBECONFIG, else from `~/.kube/config`.

    KUBECONFIG may list several files: of each entry the first one counts, and files that are missing are passed over. Paths inside a file
    are relative to it. Raises `ConfigError`, with one sentence that names file and remedy.
    """
    return _Loaded.read(_files(path, os.environ if env is None else env), explicit=path is not None).config(context)


def has_default_config(*, env: Mapping[str, str] | None = None) -> bool:
    """Whether KUBECONFIG is set, or the user's default kubeconfig exists: whether the user has said which cluster is meant."""
    env = os.environ if env is None else env
    return bool(env.get("KUBECONFIG")) or _default_file(env).exists()


def _default_file(env: Mapping[str, str]) -> Path:
    home = env.get("HOME") or env.get("USERPROFILE")
    return (Path(home) if home else Path.home()) / ".kube" / "config"


def _files(path: str | None, env: Mapping[str, str]) -> list[Path]:
    if path is not None:
        return [Path(path).expanduser()]
    listed = [Path(part) for part in env.get("KUBECONFIG", "").split(os.pathsep) if part]
    return listed or [_default_file(env)]


@dataclass(frozen=True)
class _Entry:
    """What one file says under one name."""

    file: Path
    content: Mapping[str, Any]

    def text(self, key: str) -> str | None:
        """A text, None where there is none."""
        value = self.content.get(key)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            raise ConfigError(f"{self.file}: {key} should be a text, and is {type(value).__name__}")
        return value

    def path(self, key: str) -> Path | None:
        """A path, relative to the file that says it."""
        text = self.text(key)
        return None if text is None else self.file.parent / Path(text).expanduser()

    def data(self, what: str, owner: str) -> bytes | None:
        """`<what>-data` in base64, else the contents of the file that `<what>` names."""
        if (encoded := self.text(f"{what}-data")) is not None:
            try:
                return base64.b64decode(encoded, validate=True)
            except binascii.Error as error:
                raise ConfigError(f"{self.file}: {what}-data of {owner} is not base64: {error}") from error
        path = self.path(what)
        if path is None:
            return None
        try:
            return path.read_bytes()
        except OSError as error:
            raise ConfigError(
                f"{self.file}: {what} of {owner} names {path}, which cannot be read: {error.strerror}; get fresh credentials, "
                "or correct the path (it is relative to the kubeconfig)"
            ) from error


@dataclass(frozen=True)
class _Loaded:
    """What all files say together."""

    source: str
    current: str
    contexts: dict[str, _Entry]
    clusters: dict[str, _Entry]
    users: dict[str, _Entry]

    @classmethod
    def read(cls, files: list[Path], *, explicit: bool) -> _Loaded:
        found = [(file, content) for file in files if (content := _content(file, must_exist=explicit or len(files) == 1)) is not None]
        source = os.pathsep.join(str(file) for file in files)
        if not found:
            raise ConfigError(f"none of the files in KUBECONFIG exists: {source}")
        if not any(content for _, content in found):
            raise ConfigError(f"the kubeconfig {source} is empty: write one with your cluster's tool, or point KUBECONFIG at another")
        sections: dict[str, dict[str, _Entry]] = {"contexts": {}, "clusters": {}, "users": {}}
        current = ""
        for file, content in found:
            stated = content.get("current-context") or ""
            current = current or (stated if isinstance(stated, str) else str(stated))
            for section, entries in sections.items():
                for name, entry in _named(file, section, content.get(section)):
                    entries.setdefault(name, entry)
        return cls(source, current, **sections)

    def config(self, wanted: str | None) -> Config:
        """The configuration of one context."""
        name = wanted or self.current
        if not name:
            raise ConfigError(f"{self.source} has no current-context: choose one with --context{_choice(self.contexts)}")
        context = self._find("context", name, self.contexts, "" if wanted else "current-context names it")
        cluster_name, user_name = context.text("cluster"), context.text("user")
        if cluster_name is None:
            raise ConfigError(f"{context.file}: context {name!r} names no cluster")
        cluster = self._find("cluster", cluster_name, self.clusters, f"context {name!r} names it")
        nobody = _Entry(context.file, {})
        user = nobody if user_name is None else self._find("user", user_name, self.users, f"context {name!r} names it")
        called = f"user {user_name!r}"
        _refuse_what_is_missing(user, called)
        server = cluster.text("server")
        if server is None or not server.startswith(("https://", "http://")):
            raise ConfigError(
                f"{cluster.file}: the server of cluster {cluster_name!r} should be an address like https://host:6443, and is {server!r}"
            )
        certificate, key = user.data("client-certificate", called), user.data("client-key", called)
        if (certificate is None) != (key is None):
            has, lacks = ("client-certificate", "client-key") if key is None else ("client-key", "client-certificate")
            raise ConfigError(f"{user.file}: {called} has a {has} but no {lacks}")
        token_file = user.path("tokenFile")
        groups = user.content.get("as-groups") or ()
        return Config(
            server=server.rstrip("/"),
            context=name,
            cluster=cluster_name,
            user=user_name or "",
            namespace=context.text("namespace") or "default",
            ca_data=cluster.data("certificate-authority", f"cluster {cluster_name!r}"),
            insecure=cluster.content.get("insecure-skip-tls-verify") is True,
            tls_server_name=cluster.text("tls-server-name"),
            client_certificate=certificate,
            client_key=key,
            token=user.text("token"),
            token_file=None if token_file is None else str(token_file),
            username=user.text("username"),
            password=user.text("password"),
            impersonate_user=user.text("as"),
            impersonate_groups=tuple(str(group) for group in groups),
            proxy_url=cluster.text("proxy-url"),
            source=self.source,
        )

    def _find(self, what: str, name: str, entries: Mapping[str, _Entry], why: str) -> _Entry:
        if name not in entries:
            reason = f" ({why})" if why else ""
            raise ConfigError(f"{self.source} has no {what} {name!r}{reason}{_choice(entries)}")
        return entries[name]


def _content(file: Path, *, must_exist: bool) -> Mapping[str, Any] | None:
    """What is in a file: nothing is an empty mapping, None stands for no file."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        if not must_exist:
            return None
        raise ConfigError(f"there is no kubeconfig at {file}: give another one with --kubeconfig or KUBECONFIG") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"the kubeconfig {file} is not a text in UTF-8") from error
    except OSError as error:
        raise ConfigError(f"the kubeconfig {file} cannot be read: {error.strerror}") from error
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark is not None else ""
        raise ConfigError(f"the kubeconfig {file} is not YAML{where}: {getattr(error, 'problem', None) or error}") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"the kubeconfig {file} should be a mapping, and is {type(content).__name__}")
    return content


def _named(file: Path, section: str, entries: Any) -> list[tuple[str, _Entry]]:
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise ConfigError(f"{file}: {section} should be a list, and is {type(entries).__name__}")
    singular = section.removesuffix("s")
    named = []
    for entry in entries:
        if not isinstance(entry, dict) or not entry.get("name"):
            raise ConfigError(f"{file}: an entry of {section} has no name")
        content = entry.get(singular) or {}
        if not isinstance(content, dict):
            raise ConfigError(f"{file}: {singular} {entry['name']!r} should be a mapping, and is {type(content).__name__}")
        named.append((str(entry["name"]), _Entry(file, content)))
    return named


def _refuse_what_is_missing(user: _Entry, called: str) -> None:
    """Credentials that come from somewhere else; accepting them in silence would end as an anonymous request."""
    remedy = "use a token, a token file or a client certificate, for instance of a service account"
    plugin = user.content.get("exec")
    if plugin:
        command = plugin.get("command", "?") if isinstance(plugin, dict) else plugin
        raise ConfigError(
            f"{user.file}: {called} gets its credentials from the program {command!r} (exec), which is not supported yet: {remedy}"
        )
    provider = user.content.get("auth-provider")
    if provider:
        name = provider.get("name", "?") if isinstance(provider, dict) else provider
        raise ConfigError(f"{user.file}: {called} gets its credentials from the auth-provider {name!r}, which is not supported: {remedy}")


def _choice(entries: Mapping[str, _Entry]) -> str:
    return f"; there is {', '.join(repr(name) for name in entries)}" if entries else "; there is none"
