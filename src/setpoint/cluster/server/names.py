"""What names, label keys, label values and finalizers may look like, and what kube-apiserver says of those that do not.

https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from setpoint.api.label_rules import (
    LABEL_FORM,
    SUBDOMAIN,
    SUBDOMAIN_FORM,
    SUBDOMAIN_TEXT,
    label_key,
    label_value,
    text_size,
    too_long,
    with_form,
)

__all__ = [
    "NameRule",
    "config_key",
    "dns_1035_label",
    "dns_label",
    "dns_subdomain",
    "label_key",
    "label_value",
    "path_segment",
    "port_name",
    "too_long",
    "wildcard_subdomain",
]

NameRule: TypeAlias = Callable[[str, bool], list[str]]
"""What is wrong with a name; with True, with a prefix that more will be added to."""

_LABEL_1035_FORM = "[a-z]([-a-z0-9]*[a-z0-9])?"
_CONFIG_KEY_FORM = "[-._a-zA-Z0-9]+"

_LABEL = re.compile(LABEL_FORM)
_LABEL_1035 = re.compile(_LABEL_1035_FORM)
_CONFIG_KEY = re.compile(_CONFIG_KEY_FORM)
_PORT_NAME = re.compile("[-a-z0-9]+")
_SMALL_LETTER = re.compile("[a-z]")

_LABEL_TEXT = with_form(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character",
    LABEL_FORM,
    "my-name",
    "123-abc",
)
_LABEL_1035_TEXT = with_form(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character",
    _LABEL_1035_FORM,
    "my-name",
    "abc-123",
)
_WILDCARD_TEXT = with_form(
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric "
    "characters, '-' or '.' and end with an alphanumeric character",
    rf"\*\.{SUBDOMAIN_FORM}",
    "*.example.com",
)
_CONFIG_KEY_TEXT = with_form(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'", _CONFIG_KEY_FORM, "key.name", "KEY_NAME", "key-name"
)


def _masked(name: str, prefix: bool) -> str:
    """A prefix may end with a dash, since more follows; then the character before it is not looked at either."""
    return name[:-2] + "a" if prefix and len(name) > 1 and name.endswith("-") else name


def dns_subdomain(name: str, prefix: bool = False) -> list[str]:
    """RFC 1123 subdomain: the rule for most kinds."""
    name = _masked(name, prefix)
    found = [too_long(253, "characters")] if text_size(name) > 253 else []
    return found if SUBDOMAIN.fullmatch(name) else [*found, SUBDOMAIN_TEXT]


def dns_label(name: str, prefix: bool = False) -> list[str]:
    """RFC 1123 label: the rule for namespaces."""
    name = _masked(name, prefix)
    found = [too_long(63, "characters")] if text_size(name) > 63 else []
    if _LABEL.fullmatch(name):
        return found
    return [*found, "must not contain dots" if SUBDOMAIN.fullmatch(name) else _LABEL_TEXT]


def dns_1035_label(name: str, prefix: bool = False) -> list[str]:
    """RFC 1035 label."""
    name = _masked(name, prefix)
    found = [too_long(63, "characters")] if text_size(name) > 63 else []
    return found if _LABEL_1035.fullmatch(name) else [*found, _LABEL_1035_TEXT]


def wildcard_subdomain(name: str) -> list[str]:
    """RFC 1123 subdomain behind ``*.``: the rule for hosts with a wildcard."""
    found = [too_long(253, "characters")] if text_size(name) > 253 else []
    return found if name.startswith("*.") and SUBDOMAIN.fullmatch(name[2:]) else [*found, _WILDCARD_TEXT]


def port_name(name: str) -> list[str]:
    """The name of a port (RFC 6335), in small letters."""
    rules = (
        (text_size(name) > 15, too_long(15, "characters")),
        (not _PORT_NAME.fullmatch(name), "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"),
        (not _SMALL_LETTER.search(name), "must contain at least one letter (a-z)"),
        ("--" in name, "must not contain consecutive hyphens"),
        (name.startswith("-") or name.endswith("-"), "must not begin or end with a hyphen"),
    )
    return [text for broken, text in rules if broken]


def path_segment(name: str, prefix: bool = False) -> list[str]:
    """What any name must obey, so that it fits into a URL."""
    if not prefix and name in (".", ".."):
        return [f"may not be '{name}'"]
    return [f"may not contain '{illegal}'" for illegal in "/%" if illegal in name]


def config_key(key: str) -> list[str]:
    """What is wrong with a key of a ConfigMap's or a Secret's data."""
    found = [too_long(253, "characters")] if text_size(key) > 253 else []
    if not _CONFIG_KEY.fullmatch(key):
        found.append(_CONFIG_KEY_TEXT)
    if key in (".", ".."):
        found.append(f"must not be '{key}'")
    elif key.startswith(".."):
        found.append("must not start with '..'")
    return found
