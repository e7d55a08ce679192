"""What labels may look like, and what an API server says of those that do not.

https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
"""

from __future__ import annotations

import re
from functools import lru_cache

LABEL_FORM = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN_FORM = rf"{LABEL_FORM}(\.{LABEL_FORM})*"
_KEY_FORM = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
SUBDOMAIN = re.compile(SUBDOMAIN_FORM)
_KEY = re.compile(_KEY_FORM)
_KEY_RULE = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"


def with_form(rule: str, form: str, *examples: str) -> str:
    """A rule with examples and with the regular expression behind it."""
    shown = "" if not examples else "e.g. " + " or ".join(f"'{example}', " for example in examples)
    return f"{rule} ({shown}regex used for validation is '{form}')"


SUBDOMAIN_TEXT = with_form(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character",
    SUBDOMAIN_FORM,
    "example.com",
)

_KEY_TEXT = with_form(_KEY_RULE, _KEY_FORM, "MyName", "my.name", "123-abc")
_VALUE_TEXT = with_form(
    f"a valid label must be an empty string or {_KEY_RULE.removeprefix('must ')}", f"({_KEY_FORM})?", "MyValue", "my_value", "12345"
)


def text_size(text: str) -> int:
    """How long a text is, in bytes."""
    return len(text.encode())


def too_long(limit: int, unit: str = "bytes") -> str:
    """What is said of a text with more bytes than allowed; of names it is said in characters."""
    return f"must be no more than {limit} {unit}"


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
        found += [f"prefix part {too_long(253)}"] if text_size(prefix) > 253 else []
        found += [] if SUBDOMAIN.fullmatch(prefix) else [f"prefix part {SUBDOMAIN_TEXT}"]
    if not name:
        found.append("name part must be non-empty")
    elif text_size(name) > 63:
        found.append(f"name part {too_long(63)}")
    if not _KEY.fullmatch(name):
        found.append(f"name part {_KEY_TEXT}")
    return tuple(found)


@lru_cache(maxsize=4096)
def label_value(value: str) -> tuple[str, ...]:
    """What is wrong with the value of a label."""
    found = (too_long(63),) if text_size(value) > 63 else ()
    return found if not value or _KEY.fullmatch(value) else (*found, _VALUE_TEXT)
