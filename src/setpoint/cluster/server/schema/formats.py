"""The string formats that the API server checks, and the ranges of the numeric ones; any other format is a comment."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable
from datetime import date
from functools import cache, lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_network
from unicodedata import category
from urllib.parse import urlsplit


def _lazily(pattern: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    """A regular expression that is compiled at its first use: few formats are ever asked for, and a start should not pay for the rest."""
    return cache(lambda: re.compile(pattern, flags))


_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SHORT_NAME = _lazily(_LABEL)
_LONG_NAME = _lazily(rf"{_LABEL}(\.{_LABEL})*")
_HOSTNAME = _lazily(r"[a0s](-?[a0s]{0,62})|([a0s]([a0s-]{0,61}[a0s])?\.)+a{2,63}")
_TIME = _lazily(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))")
_DATE = _lazily(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_GO_DURATION = _lazily(r"[-+]?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+|[-+]?0", re.ASCII)
_LOOSE_DURATION = _lazily(r"(\d+)\s*([A-Za-zµ]+)", re.ASCII)
_DURATION_UNITS = (
    ("ns", "nano"),
    ("us", "µs", "micro"),
    ("ms", "milli"),
    ("s", "sec"),
    ("m", "min"),
    ("h", "hr", "hour"),
    ("d", "day"),
    ("w", "wk", "week"),
)
_ADDRESS = r"""(?:[^\s"(),.:;<>@[\]\\]+(?:\.[^\s"(),.:;<>@[\]\\]+)*|"[^"\\]*")@(?:[^\s@<>",]+|\[[^\]]*\])"""
_EMAIL = _lazily(rf"{_ADDRESS}|[^<>@,]*<{_ADDRESS}>")
_PERCENT = _lazily(r"%(?![0-9a-fA-F]{2})")
_MAC = _lazily(
    r"[0-9a-f]{2}(:[0-9a-f]{2}){5}|[0-9a-f]{2}(:[0-9a-f]{2}){7}|[0-9a-f]{2}(:[0-9a-f]{2}){19}"
    r"|[0-9a-f]{2}(-[0-9a-f]{2}){5}|[0-9a-f]{2}(-[0-9a-f]{2}){7}|[0-9a-f]{2}(-[0-9a-f]{2}){19}"
    r"|[0-9a-f]{4}(\.[0-9a-f]{4}){2}|[0-9a-f]{4}(\.[0-9a-f]{4}){3}|[0-9a-f]{4}(\.[0-9a-f]{4}){9}"
    r"|[0-9a-f]{12}|[0-9a-f]{16}|[0-9a-f]{40}",
    re.IGNORECASE,
)
_BASE64 = _lazily(r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")
_OCTET = r"(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])"
_RGB = _lazily(rf"rgb\(\s*{_OCTET}\s*,\s*{_OCTET}\s*,\s*{_OCTET}\s*\)")
_CREDIT_CARD = _lazily(
    r"4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35\d{3})\d{11}"
)


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = _lazily(pattern, re.IGNORECASE | re.ASCII)
    return lambda text: compiled().fullmatch(text) is not None


def _is_date(text: str) -> bool:
    if not _DATE().fullmatch(text):
        return False
    try:
        # Go has a year 0, a leap year; Python has none.
        date.fromisoformat(text.replace("0000", "2000", 1) if text.startswith("0000") else text)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=1024)
def _is_datetime(text: str) -> bool:
    day, separator, clock = text.lower().partition("t")
    found = _TIME().fullmatch(clock)
    if not separator or found is None or not _is_date(day):
        return False
    return found[1] <= "23" and found[2] <= "59" and found[3] <= "59"


def _is_duration(text: str) -> bool:
    if _GO_DURATION().fullmatch(text):
        return True
    for _, unit in _LOOSE_DURATION().findall(text):
        lowered = unit.lower()
        if any(lowered in names or lowered.startswith(names[-1]) for names in _DURATION_UNITS):
            return True
    return False


def _is_ipv4(text: str) -> bool:
    # Leading zeros are tolerated, and an IPv4 address may be written as an IPv6 one.
    if ":" in text:
        return "." in text and _is_ipv6(text)
    parts = text.split(".")
    return len(parts) == 4 and all(part.isascii() and part.isdigit() and int(part) <= 255 and len(part) <= 16 for part in parts)


def _is_ipv6(text: str) -> bool:
    try:
        return ":" in text and "%" not in text and bool(IPv6Address(text) or True)
    except AddressValueError:
        return False


def _is_cidr(text: str) -> bool:
    address, slash, length = text.partition("/")
    if not slash or not (length.isascii() and length.isdigit()):
        return False
    if ":" in address:
        return _is_ipv6(address) and int(length) <= 128
    if not _is_ipv4(address):
        return False
    plain = str(IPv4Address(".".join(str(int(part)) for part in address.split("."))))
    try:
        return bool(ip_network(f"{plain}/{int(length)}", strict=False))
    except ValueError:
        return False


def _is_uri(text: str) -> bool:
    # A request URI: absolute, a path from the root, or an asterisk.
    if any(character <= " " or character == "\x7f" for character in text):
        return False
    hierarchical = text if text.startswith("/") else text.partition(":")[2]
    if hierarchical.startswith("/") and _PERCENT().search(text.partition("?")[0]):
        return False
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    return bool(parts.scheme) or text.startswith("/") or text == "*"


def _is_base64(text: str) -> bool:
    try:
        return _BASE64().fullmatch(text) is not None and bool(b64decode(text, validate=True) or True)
    except Base64Error:
        return False


def _digits(text: str) -> str:
    return re.sub(r"[\s-]+", "", text)


def _is_isbn10(text: str) -> bool:
    code = _digits(text)
    if re.fullmatch(r"[0-9]{9}X|[0-9]{10}", code) is None:
        return False
    values = [10 if character == "X" else int(character) for character in code]
    return sum((index + 1) * value for index, value in enumerate(values)) % 11 == 0


def _is_isbn13(text: str) -> bool:
    code = _digits(text)
    return re.fullmatch(r"[0-9]{13}", code) is not None and sum(int(c) * (3 if i % 2 else 1) for i, c in enumerate(code)) % 10 == 0


def _is_credit_card(text: str) -> bool:
    code = re.sub(r"[^0-9]+", "", text)
    if _CREDIT_CARD().fullmatch(code) is None:
        return False
    doubled = [int(c) * (2 if i % 2 else 1) for i, c in enumerate(reversed(code))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def _is_hostname(text: str) -> bool:
    # Letters and symbols of any script are allowed: look at the shape of the name.
    shape = "".join(map(_hostname_sort, text))
    sizes = [len(label.encode()) for label in text.split(".")]
    return _HOSTNAME().fullmatch(shape) is not None and len(text.encode()) <= 255 and max(sizes) <= 63


def _hostname_sort(character: str) -> str:
    if character.isascii() and (character.isdigit() or character in ".-"):
        return "0" if character.isdigit() else character
    return {"L": "a", "S": "s"}.get(category(character)[0], "?")


_HEX = "[0-9a-f]"
_CHECKS: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": _matches(rf"{_HEX}{{24}}"),
    "uri": _is_uri,
    "email": lambda text: _EMAIL().fullmatch(text.strip()) is not None,
    "hostname": _is_hostname,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "cidr": _is_cidr,
    "mac": lambda text: _MAC().fullmatch(text) is not None,
    "uuid": _matches(rf"{_HEX}{{8}}-?{_HEX}{{4}}-?{_HEX}{{4}}-?{_HEX}{{4}}-?{_HEX}{{12}}"),
    "uuid3": _matches(rf"{_HEX}{{8}}-?{_HEX}{{4}}-?3{_HEX}{{3}}-?{_HEX}{{4}}-?{_HEX}{{12}}"),
    "uuid4": _matches(rf"{_HEX}{{8}}-?{_HEX}{{4}}-?4{_HEX}{{3}}-?[89ab]{_HEX}{{3}}-?{_HEX}{{12}}"),
    "uuid5": _matches(rf"{_HEX}{{8}}-?{_HEX}{{4}}-?5{_HEX}{{3}}-?[89ab]{_HEX}{{3}}-?{_HEX}{{12}}"),
    "isbn": lambda text: _is_isbn10(text) or _is_isbn13(text),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "creditcard": _is_credit_card,
    "ssn": _matches(r"\d{3}[- ]\d{2}[- ]\d{4}"),
    "hexcolor": _matches(rf"#?({_HEX}{{3}}|{_HEX}{{6}})"),
    "rgbcolor": lambda text: _RGB().fullmatch(text) is not None,
    "byte": _is_base64,
    "password": lambda text: True,
    "date": _is_date,
    "duration": _is_duration,
    "datetime": _is_datetime,
    "k8sshortname": lambda text: len(text) <= 63 and _SHORT_NAME().fullmatch(text) is not None,
    "k8slongname": lambda text: len(text) <= 253 and _LONG_NAME().fullmatch(text) is not None,
}


def known_format(types: tuple[str, ...], format: str) -> str:
    """`format` if the server checks it for a value of these types, else the empty string."""
    match types:
        case () | ("string",):
            return format if format.replace("-", "") in _CHECKS else ""
        case ("integer",):
            return format if format in ("int32", "int64") else ""
        case ("number",):
            return format if format in ("float", "double") else ""
    return ""


def has_format(text: str, format: str) -> bool:
    """Whether `text` is of this string format. A format that is not a string's accepts everything."""
    check = _CHECKS.get(format.replace("-", ""))
    return check is None or check(text)
