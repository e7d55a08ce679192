"""Values that the API writes as text or number: quantities, and integers that may be names (ports) or percentages."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

IntOrString: TypeAlias = int | str
"""A port by number or name, a count or a percentage."""

# So many digits are more than anybody means, and few enough that none of them takes long to compare.
_DIGITS, _MORE = r"\d{1,999}", r"\d{0,999}"
_FORM = re.compile(rf"([+-]?(?:{_DIGITS}\.?{_MORE}|\.{_DIGITS}))(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d{{1,3}}))?", re.ASCII)
_DECIMAL = {suffix: Fraction(1000) ** power for power, suffix in enumerate(("n", "u", "m", "", "k", "M", "G", "T", "P", "E"), -3)}
_BINARY = {suffix: Fraction(1024) ** power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)}
_FACTOR = _DECIMAL | _BINARY


class Quantity(str):
    """An amount such as ``500m``, ``1.5Gi`` or ``1e3``: text as it was given, equal and ordered by what it amounts to.

    ``Quantity("1000m") == Quantity("1")``, also when compared with plain text or a number. Raises `ValueError` for text of another
    form. Follows ``resource.Quantity`` of the Kubernetes API. As a key of a dictionary, do not mix it with plain text.
    """

    __slots__ = ()

    def __new__(cls, amount: str | int | float | Quantity) -> Quantity:
        text = str.__str__(amount) if isinstance(amount, str) else str(amount)
        if not _FORM.fullmatch(text):
            raise ValueError(f'not a quantity: {text!r}; write a number with at most one suffix, such as "500m", "2" or "1.5Gi"')
        return super().__new__(cls, text)

    @property
    def amount(self) -> Fraction:
        """The exact amount."""
        return _parsed(str.__str__(self))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and str.__eq__(self, other):
            return True
        amount = _amount(other)
        return amount is not None and self.amount == amount

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: Any) -> bool:
        amount = _amount(other)
        if amount is None:
            return NotImplemented
        return self.amount < amount

    # All four, since str has orders of its own.
    def __le__(self, other: Any) -> bool:
        amount = _amount(other)
        if amount is None:
            return NotImplemented
        return self.amount <= amount

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __hash__(self) -> int:
        return hash(self.amount)

    def __repr__(self) -> str:
        return f"Quantity({str.__str__(self)!r})"


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Fraction:
    form = _FORM.fullmatch(text)
    assert form is not None
    number, suffix, exponent = form.groups()
    return Fraction(number.rstrip(".") or "0") * (Fraction(10) ** int(exponent) if exponent else _FACTOR[suffix or ""])


def _amount(value: object) -> Fraction | None:
    if isinstance(value, Quantity):
        return value.amount
    if isinstance(value, str):
        return Quantity(value).amount if _FORM.fullmatch(value) else None
    if isinstance(value, (int, float, Fraction)) and not isinstance(value, bool):
        return Fraction(value)
    return None
