"""What names, label keys, label values and finalizers may look like, and what kube-apiserver says of those that do not.

https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

NameRule: TypeAlias = Callable[[str, bool], list[str]]
"""What is wrong with a name; with True, with a prefix that more will be added to."""

_LABEL_FORM = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_FORM = rf"{_LABEL_FORM}(\.{_LABEL_FORM})*"
_LABEL_1035_FORM = "[a-z]([-a-z0-9]*[a-z0-9])?"
_KEY_FORM = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_CONFIG_KEY_FORM = "[-._a-zA-Z0-9]+"

_LABEL = re.compile(_LABEL_FORM)
_LABEL_1035 = re.compile(_LABEL_1035_FORM)
_SUBDOMAIN = re.compile(_SUBDOMAIN_FORM)
_KEY = re.compile(_KEY_FORM)
_CONFIG_KEY = re.compile(_CONFIG_KEY_FORM)
_PORT_NAME = re.compile("[-a-z0-9]+")
_SMALL_LETTER = re.compile("[a-z]")

_KEY_RULE = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"


def _with_form(rule: str, form: str, *examples: str) -> str:
    shown = "" if not examples else "e.g. " + " or ".join(f"'{example}', " for example in examples)
    return f"{rule} ({shown}regex used for validation is '{form}')"


_LABEL_TEXT = _with_form(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character",
    _LABEL_FORM,
    "my-name",
    "123-abc",
)
_LABEL_1035_TEXT = _with_form(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character",
    _LABEL_1035_FORM,
    "my-name",
    "abc-123",
)
_SUBDOMAIN_TEXT = _with_form(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character",
    _SUBDOMAIN_FORM,
    "example.com",
)
_WILDCARD_TEXT = _with_form(
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric "
    "characters, '-' or '.' and end with an alphanumeric character",
    rf"\*\.{_SUBDOMAIN_FORM}",
    "*.example.com",
)
_KEY_TEXT = _with_form(_KEY_RULE, _KEY_FORM, "MyName", "my.name", "123-abc")
_VALUE_TEXT = _with_form(
    f"a valid label must be an empty string or {_KEY_RULE.removeprefix('must ')}", f"({_KEY_FORM})?", "MyValue", "my_value", "12345"
)
_CONFIG_KEY_TEXT = _with_form(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'", _CONFIG_KEY_FORM, "key.name", "KEY_NAME", "key-name"
)


def too_long(limit: int, unit: str = "bytes") -> str:
    """What is said of a text with more bytes than allowed; of names it is said in characters."""
    return f"must be no more than {limit} {unit}"


def _masked(name: str, prefix: bool) -> str:
    """A prefix may end with a dash, since more follows; then the character before it is not looked at either."""
    return name[:-2] + "a" if prefix and len(name) > 1 and name.endswith("-") else name


def _size(text: str) -> int:
    return len(text.encode())


def dns_subdomain(name: str, prefix: bool = False) -> list[str]:
    """RFC 1123 subdomain: the rule for most kinds."""
    name = _masked(name, prefix)
    found = [too_long(253, "characters")] if _size(name) > 253 else []
    return found if _SUBDOMAIN.fullmatch(name) else [*found, _SUBDOMAIN_TEXT]


def dns_label(name: str, prefix: bool = False) -> list[str]:
    """RFC 1123 label: the rule for namespaces."""
    name = _masked(name, prefix)
    found = [too_long(63, "characters")] if _size(name) > 63 else []
    if _LABEL.fullmatch(name):
        return found
    return [*found, "must not contain dots" if _SUBDOMAIN.fullmatch(name) else _LABEL_TEXT]


def dns_1035_label(name: str, prefix: bool = False) -> list[str]:
    """RFC 1035 label."""
    name = _masked(name, prefix)
    found = [too_long(63, "characters")] if _size(name) > 63 else []
    return found if _LABEL_1035.fullmatch(name) else [*found, _LABEL_1035_TEXT]


def wildcard_subdomain(name: str) -> list[str]:
    """RFC 1123 subdomain behind ``*.``: the rule for hosts with a wildcard."""
    found = [too_long(253, "characters")] if _size(name) > 253 else []
    return found if name.startswith("*.") and _SUBDOMAIN.fullmatch(name[2:]) else [*found, _WILDCARD_TEXT]


def port_name(name: str) -> list[str]:
    """The name of a port (RFC 6335), in small letters."""
    rules = (
        (_size(name) > 15, too_long(15, "characters")),
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


@lru_cache(maxsize=4096)
def label_key(key: str) -> tuple[str, ...]:
    """What is wrong with a label key, annotation key (in lower case) or finalizer: an optional domain, then a name."""
    prefix, slash, name = key.partition("/")
    if not slash:
        prefix, name = "", key
    if "/" in name:
        return (f"a valid label key {_KEY_TEXT} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",)
    found: list[str] = []
    if slash and not prefix:
        found.append("prefix part must be non-empty")
    elif slash:
        found += [f"prefix part {too_long(253)}"] if _size(prefix) > 253 else []
        found += [] if _SUBDOMAIN.fullmatch(prefix) else [f"prefix part {_SUBDOMAIN_TEXT}"]
    if not name:
        found.append("name part must be non-empty")
    elif _size(name) > 63:
        found.append(f"name part {too_long(63)}")
    if not _KEY.fullmatch(name):
        found.append(f"name part {_KEY_TEXT}")
    return tuple(found)


@lru_cache(maxsize=4096)
def label_value(value: str) -> tuple[str, ...]:
    """What is wrong with the value of a label."""
    found = (too_long(63),) if _size(value) > 63 else ()
    return found if not value or _KEY.fullmatch(value) else (*found, _VALUE_TEXT)


def config_key(key: str) -> list[str]:
    """What is wrong with a key of a ConfigMap's or a Secret's data."""
    found = [too_long(253, "characters")] if _size(key) > 253 else []
    if not _CONFIG_KEY.fullmatch(key):
        found.append(_CONFIG_KEY_TEXT)
    if key in (".", ".."):
        found.append(f"must not be '{key}'")
    elif key.startswith(".."):
        found.append("must not start with '..'")
    return found
