"""Kubeconfigs: read, merged, and made into the configuration of one context, as kubectl does it.

What kubectl shows but refuses to use is refused here, too: two ways to say the same thing, a program without the version that it speaks.

https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import yaml

from setpoint.client.config import Config, ConfigError, ExecPlugin, InteractiveMode
from setpoint.client.server_address import address_of
from setpoint.objects.yaml_text import documents

_EXEC_GROUP = "client.authentication.k8s.io"
_EXEC_VERSIONS = (f"{_EXEC_GROUP}/v1", f"{_EXEC_GROUP}/v1beta1")
_EXEC_EXTENSION = f"{_EXEC_GROUP}/exec"
_PLUGIN_INSTEAD = {"gcp": "gke-gcloud-auth-plugin", "azure": "kubelogin", "oidc": "kubectl oidc-login"}
"""The programs that came after kubectl's built-in auth-providers."""


def read(files: Sequence[Path], *, must_exist: bool) -> Kubeconfig:
    """What all files say together: of each entry the first one counts, whole. Raises `ConfigError`."""
    found = [(file, content) for file in files if (content := _content(file, must_exist=must_exist)) is not None]
    source = os.pathsep.join(str(file) for file in files)
    if not found:
        raise ConfigError(f"none of the files in KUBECONFIG exists: {source}")
    if not any(content for _, content in found):
        raise ConfigError(f"the kubeconfig {source} is empty: write one with your cluster's tool, or point KUBECONFIG at another")
    sections: dict[str, dict[str, Entry]] = {"contexts": {}, "clusters": {}, "users": {}}
    current = ""
    for file, content in found:
        current = current or Entry(file, content).text("current-context") or ""
        for section, entries in sections.items():
            for name, entry in _named(file, section, content.get(section)).items():
                entries.setdefault(name, entry)
    return Kubeconfig(source, current, **sections)


@dataclass(frozen=True)
class Entry:
    """What one file says under one name. Every method raises `ConfigError` for a value of another type, as kubectl does."""

    file: Path
    content: Mapping[str, Any]

    def value(self, key: str, kind: type[Any], called: str) -> Any:
        """A value of a type, None where there is none."""
        value = self.content.get(key)
        if value is not None and not isinstance(value, kind):
            raise ConfigError(f"{self.file}: {key} should be {called}, and is {_type(value)}")
        return value

    def text(self, key: str) -> str | None:
        """A text, None where there is none."""
        return self.value(key, str, "a text") or None

    def line(self, key: str, owner: str) -> str | None:
        """A text that goes into a header of each request, None where there is none."""
        return None if (text := self.text(key)) is None else self._one_line(text, key, owner)

    def lines(self, key: str, owner: str) -> tuple[str, ...]:
        """A list of such texts."""
        return tuple(self._one_line(text, key, owner) for text in self.texts(key))

    def _one_line(self, text: str, key: str, owner: str) -> str:
        if not text.isprintable():
            raise ConfigError(
                f"{self.file}: {key} of {owner} holds a line break or another character that no header can carry: take it out"
            )
        return text

    def flag(self, key: str) -> bool:
        """True or false."""
        return bool(self.value(key, bool, "true or false"))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        values = self.value(key, list, "a list") or []
        for value in values:
            if not isinstance(value, str):
                raise ConfigError(f"{self.file}: {key} should be a list of texts, and {value!r} is {_type(value)}")
        return tuple(values)

    def path(self, key: str) -> Path | None:
        """A path, relative to the file that says it."""
        text = self.text(key)
        return None if text is None else Path(os.path.normpath(self.file.absolute().parent / text))

    def data(self, what: str, owner: str) -> tuple[bytes | None, str | None]:
        """`<what>-data` in base64, else the contents of the file that `<what>` names, and that file."""
        encoded, path = self.text(f"{what}-data"), self.path(what)
        if encoded is not None and path is not None:
            raise ConfigError(f"{self.file}: {owner} has both {what} and {what}-data: leave one out")
        if encoded is not None:
            try:
                return base64.b64decode(encoded.replace("\n", "").replace("\r", ""), validate=True), None
            except (binascii.Error, ValueError) as error:
                raise ConfigError(f"{self.file}: {what}-data of {owner} is not base64: {error}") from error
        if path is None:
            return None, None
        try:
            return path.read_bytes(), str(path)
        except OSError as error:
            raise ConfigError(
                f"{self.file}: {what} of {owner} names {path}, which cannot be read: {error.strerror}; get fresh credentials, "
                "or correct the path (it is relative to the kubeconfig)"
            ) from error


@dataclass(frozen=True)
class Kubeconfig:
    """Contexts, clusters and users by name. `source` is the file, or the files, that it was read from."""

    source: str
    current: str
    contexts: dict[str, Entry]
    clusters: dict[str, Entry]
    users: dict[str, Entry]

    def config(self, wanted: str | None = None) -> Config:
        """The configuration of one context, of the current one where none is named. Raises `ConfigError`."""
        name = wanted or self.current
        if not name:
            raise ConfigError(f"{self.source} has no current-context: choose one with --context{_choice(self.contexts)}")
        context = self._find("context", name, self.contexts, "" if wanted else "current-context names it")
        cluster_name, user_name = context.text("cluster"), context.text("user")
        if cluster_name is None:
            raise ConfigError(f"{context.file}: context {name!r} names no cluster")
        cluster = self._find("cluster", cluster_name, self.clusters, f"context {name!r} names it")
        nobody = Entry(context.file, {})
        user = nobody if user_name is None else self._find("user", user_name, self.users, f"context {name!r} names it")
        return Config(
            context=name,
            cluster=cluster_name,
            user=user_name or "",
            namespace=context.text("namespace") or "default",
            source=self.source,
            **_of_cluster(cluster, f"cluster {cluster_name!r}"),
            **_of_user(user, f"user {user_name!r}", cluster),
        )

    def _find(self, what: str, name: str, entries: Mapping[str, Entry], why: str) -> Entry:
        if name not in entries:
            reason = f" ({why})" if why else ""
            raise ConfigError(f"{self.source} has no {what} {name!r}{reason}{_choice(entries)}")
        return entries[name]


def _of_cluster(cluster: Entry, called: str) -> dict[str, Any]:
    stated = cluster.text("server")
    try:
        server = address_of(stated)
    except ValueError as error:
        shown = None if stated is None else re.sub("//[^/]*@", "//...@", stated)  # there may be a password in it
        raise ConfigError(
            f"{cluster.file}: the server of {called} should be an address like https://host:6443, and is {shown!r}{error}"
        ) from None
    ca, ca_file = cluster.data("certificate-authority", called)
    insecure = cluster.flag("insecure-skip-tls-verify")
    if insecure and ca is not None:
        raise ConfigError(
            f"{cluster.file}: {called} has a certificate-authority and insecure-skip-tls-verify, which would not look at it: leave one out"
        )
    proxy = cluster.text("proxy-url")
    if proxy is not None and not proxy.startswith(("http://", "https://")):
        scheme, colon, _ = proxy.partition("://")
        which = f"{scheme} is not supported" if colon else "it has no scheme"
        raise ConfigError(f"{cluster.file}: the proxy-url of {called} should begin with http:// or https://: {which}")
    return {
        "server": server,
        "ca_data": ca,
        "ca_file": ca_file,
        "insecure": insecure,
        "tls_server_name": cluster.text("tls-server-name"),
        "disable_compression": cluster.flag("disable-compression"),
        "proxy_url": proxy,
    }


def _of_user(user: Entry, called: str, cluster: Entry) -> dict[str, Any]:
    plugin = _exec(user, called, cluster)
    _refuse_an_auth_provider(user, called)
    certificate, certificate_file = user.data("client-certificate", called)
    key, key_file = user.data("client-key", called)
    if (certificate is None) != (key is None):
        has, lacks = ("client-certificate", "client-key") if key is None else ("client-key", "client-certificate")
        raise ConfigError(f"{user.file}: {called} has a {has} but no {lacks}")
    token, token_file = user.line("token", called), user.path("tokenFile")
    username, password = user.text("username"), user.text("password")
    if (token or token_file) and username:
        raise ConfigError(f"{user.file}: {called} has both a token and a username: leave one out")
    if password and not username:
        raise ConfigError(f"{user.file}: {called} has a password but no username")
    extra = user.value("as-user-extra", dict, "a mapping") or {}
    extras = Entry(user.file, extra)
    impersonated = user.line("as", called)
    if not impersonated and any(user.content.get(key) for key in ("as-uid", "as-groups", "as-user-extra")):
        raise ConfigError(f"{user.file}: {called} has as-uid, as-groups or as-user-extra without as: say who it acts as")
    return {
        "client_certificate": certificate,
        "client_certificate_file": certificate_file,
        "client_key": key,
        "client_key_file": key_file,
        "token": token,
        "token_file": None if token_file is None else str(token_file),
        "username": username,
        "password": password,
        "exec": plugin,
        "impersonate_user": impersonated,
        "impersonate_uid": user.line("as-uid", called),
        "impersonate_groups": user.lines("as-groups", called),
        "impersonate_extra": tuple((str(name), extras.lines(name, called)) for name in extra),
    }


def _exec(user: Entry, called: str, cluster: Entry) -> ExecPlugin | None:
    content = user.value("exec", dict, "a mapping")
    if content is None:
        return None
    entry = Entry(user.file, content)
    command, version = entry.text("command"), entry.text("apiVersion")
    if command is None:
        raise ConfigError(f"{user.file}: exec of {called} has no command")
    if version not in _EXEC_VERSIONS:
        raise ConfigError(
            f"{user.file}: exec of {called} ({command}) should have an apiVersion of {' or '.join(_EXEC_VERSIONS)}, and has {version!r}: "
            "let your cluster's tool write the kubeconfig anew"
        )
    modes: tuple[InteractiveMode, ...] = get_args(InteractiveMode)
    stated = entry.text("interactiveMode") or ("IfAvailable" if version == _EXEC_VERSIONS[1] else None)
    mode = next((mode for mode in modes if mode == stated), None)
    if mode is None:
        raise ConfigError(
            f"{user.file}: exec of {called} ({command}) should have an interactiveMode of {', '.join(modes)}, and has {stated!r}"
        )
    return ExecPlugin(
        # A bare name is looked for on PATH.
        command=str(entry.path("command")) if os.sep in command else command,
        api_version=version,
        args=entry.texts("args"),
        env=tuple(_variables(entry, called)),
        install_hint=(entry.text("installHint") or "").strip(),
        provide_cluster_info=entry.flag("provideClusterInfo"),
        interactive_mode=mode,
        cluster_config=_extension(cluster),
    )


def _variables(entry: Entry, called: str) -> list[tuple[str, str]]:
    variables = []
    for item in entry.value("env", list, "a list") or []:
        variable = Entry(entry.file, item if isinstance(item, dict) else {})
        name = variable.text("name")
        if name is None:
            raise ConfigError(f"{entry.file}: a variable in env of exec of {called} has no name")
        variables.append((name, variable.text("value") or ""))
    return variables


def _extension(cluster: Entry) -> Any:
    """What the cluster says to credential plugins alone."""
    for item in cluster.value("extensions", list, "a list") or []:
        if isinstance(item, dict) and item.get("name") == _EXEC_EXTENSION:
            return item.get("extension")
    return None


def _refuse_an_auth_provider(user: Entry, called: str) -> None:
    """Accepting it in silence would end as an anonymous request."""
    provider = user.content.get("auth-provider")
    if not provider:
        return
    name = provider.get("name", "?") if isinstance(provider, dict) else provider
    instead = f"the program {_PLUGIN_INSTEAD[name]!r} as exec" if name in _PLUGIN_INSTEAD else "a program as exec"
    raise ConfigError(
        f"{user.file}: {called} gets its credentials from the auth-provider {name!r}, which is not supported: "
        f"use {instead}, a token, or a client certificate"
    )


def _content(file: Path, *, must_exist: bool) -> Mapping[str, Any] | None:
    """What is in a file: nothing is an empty mapping, None stands for no file."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        if not must_exist:
            return None
        raise ConfigError(f"there is no kubeconfig at {file}: give another one with --kubeconfig or KUBECONFIG") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"the kubeconfig {file} is not a text in UTF-8") from error
    except OSError as error:
        raise ConfigError(f"the kubeconfig {file} cannot be read: {error.strerror}") from error
    try:
        found = [content for content in documents(text) if content is not None]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark is not None else ""
        raise ConfigError(f"the kubeconfig {file} is not YAML{where}: {getattr(error, 'problem', None) or error}") from error
    if len(found) > 1:
        raise ConfigError(f"the kubeconfig {file} holds {len(found)} documents, and only the first would count: keep one")
    content = found[0] if found else {}
    if not isinstance(content, dict):
        raise ConfigError(f"the kubeconfig {file} should be a mapping, and is {_type(content)}")
    version, kind = content.get("apiVersion") or "v1", content.get("kind") or "Config"
    if (version, kind) != ("v1", "Config"):
        raise ConfigError(f"{file} is no kubeconfig but a {kind} in {version}: a kubeconfig is a Config in v1")
    return content


def _named(file: Path, section: str, entries: Any) -> dict[str, Entry]:
    if entries is None:
        return {}
    if not isinstance(entries, list):
        raise ConfigError(f"{file}: {section} should be a list, and is {_type(entries)}")
    singular = section.removesuffix("s")
    named: dict[str, Entry] = {}
    for entry in entries:
        if not isinstance(entry, dict) or not entry.get("name"):
            raise ConfigError(f"{file}: an entry of {section} has no name")
        name = entry["name"]
        if not isinstance(name, str):
            raise ConfigError(f"{file}: the name {name!r} in {section} should be a text, and is {_type(name)}: put it in quotes")
        content = entry.get(singular) or {}
        if not isinstance(content, dict):
            raise ConfigError(f"{file}: {singular} {name!r} should be a mapping, and is {_type(content)}")
        if name in named:
            raise ConfigError(f"{file}: {section} has two entries of the name {name!r}: rename one, or take it out")
        named[name] = Entry(file, content)
    return named


def _type(value: Any) -> str:
    return {dict: "a mapping", list: "a list", str: "a text", bool: "a truth value", int: "a number", float: "a number"}.get(
        type(value), f"of type {type(value).__name__}"
    )


def _choice(entries: Mapping[str, Entry]) -> str:
    return f"; there is {', '.join(repr(name) for name in entries)}" if entries else "; there is none"
