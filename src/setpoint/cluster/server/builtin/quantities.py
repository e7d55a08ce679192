"""Quantities: what can be read as one, and the canonical form that the API server stores: ``1000m`` becomes ``1``, ``1.5Gi`` ``1536Mi``."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Any

from setpoint.objects import Quantity

_TEXT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_TOO_LONG = "quantities of a thousand digits, or with an exponent of more than three, are not supported by the embedded server"
_FORM = re.compile(r"([+-]?)(\d+\.?\d*|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+|)", re.ASCII)
_DECIMAL = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


@lru_cache(maxsize=4096)
def quantity_problem(text: str) -> str:
    """Why a text cannot be read as a quantity, or nothing. One that would take for ever to be compared cannot be."""
    if not _FORM.fullmatch(text):
        return _TEXT
    return "" if _is_quantity(text) else _TOO_LONG


def _is_quantity(text: str) -> bool:
    try:
        Quantity(text)
    except ValueError:
        return False
    return True


def canonical(value: Any) -> Any:
    """The quantity with the largest suffix of its own family that leaves no fraction, rounded up to thousandths.

    What is no quantity comes back as it is: `quantity_problem` refuses it. Numbers become text. Follows ``resource.Quantity``.
    """
    text = value if isinstance(value, str) else str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else ""
    written = _canonical(text)
    return value if written is None else written


@lru_cache(maxsize=4096)
def _canonical(text: str) -> str | None:
    form = _FORM.fullmatch(text)
    if form is None or not _is_quantity(text):
        return None
    sign, digits, suffix = form.groups()
    number = Fraction(digits.rstrip(".") or "0")
    if suffix in _BINARY[1:]:
        amount = number * 1024 ** _BINARY.index(suffix)
        # Below 1024 and with a fraction, binary suffixes have no form; the decimal one takes over.
        written = _binary(amount) if amount.denominator == 1 else _decimal(amount)
    elif suffix[:1] in ("e", "E") and suffix != "E":
        written = _exponential(number * Fraction(10) ** int(suffix[1:]))
    else:
        written = _decimal(number * Fraction(1000) ** (_DECIMAL.index(suffix) - 3))
    return f"-{written}" if sign == "-" and written != "0" else written


def _thousandths(amount: Fraction) -> int:
    return ceil(amount * 1000)


def _decimal(amount: Fraction) -> str:
    count, power = _thousandths(amount), 2
    while count and count % 1000 == 0 and power < len(_DECIMAL) - 1:
        count, power = count // 1000, power + 1
    return f"{count}{_DECIMAL[power]}" if count else "0"


def _binary(amount: Fraction) -> str:
    count, power = int(amount), 0
    while count and count % 1024 == 0 and power < len(_BINARY) - 1:
        count, power = count // 1024, power + 1
    return f"{count}{_BINARY[power]}"


def _exponential(amount: Fraction) -> str:
    count, exponent = _thousandths(amount), -3
    while count and count % 1000 == 0:
        count, exponent = count // 1000, exponent + 3
    return f"{count}e{exponent}" if count and exponent else f"{count}"
