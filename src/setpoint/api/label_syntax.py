"""The syntax of label selectors: words and signs, read one after the other, with the API server's sentences for what does not fit.

https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
"""

from __future__ import annotations

import re
from typing import NamedTuple

_SIGNS = ("==", "!=", "=", "!", "(", ")", ",", ">", "<")
_WORD = re.compile(r"[^\s=!(),><]+")
_OPERATORS = "in, notin, =, ==, !=, gt, lt"


class SyntaxProblem(Exception):
    """What was found in place of what."""


class Stated(NamedTuple):
    """One condition as it was written; the operator is `exists`, `!`, or the one in the text."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class Reader:
    """Reads the conditions of a selector. Keys and values are not judged here."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0

    def next(self) -> Stated | None:
        """The next condition, None at the end. Raises `SyntaxProblem`."""
        token = self._peek()
        if not token:
            return None
        if token in _SIGNS and token != "!":
            raise SyntaxProblem(f"found '{token}', expected: !, identifier, or 'end of string'")
        try:
            return self._condition()
        except SyntaxProblem as problem:
            raise SyntaxProblem(f"unable to parse requirement: {problem}") from None

    def separator(self) -> None:
        """What stands between two conditions, or the end. Raises `SyntaxProblem`."""
        token = self._take()
        if token and token != ",":
            raise SyntaxProblem(f"found '{token}', expected: ',' or 'end of string'")
        following = self._peek()
        if token and (not following or (following in _SIGNS and following != "!")):
            raise SyntaxProblem(f"found '{following}', expected: identifier after ','")

    def _condition(self) -> Stated:
        absent = self._peek() == "!"
        if absent:
            self._take()
        key = self._word("identifier")
        if absent:
            return Stated(key, "!")
        if self._peek() in ("", ","):
            return Stated(key, "exists")
        operator = self._take()
        if operator in ("in", "notin"):
            return Stated(key, operator, self._values())
        if operator not in ("=", "==", "!=", ">", "<"):
            raise SyntaxProblem(f"found '{operator}', expected: {_OPERATORS}")
        return Stated(key, operator, ("" if self._peek() in ("", ",") else self._word("identifier"),))

    def _values(self) -> tuple[str, ...]:
        if (token := self._take()) != "(":
            raise SyntaxProblem(f"found '{token}' expected: '('")
        first = self._peek()
        if first != ")" and first != "," and (not first or first in _SIGNS):
            raise SyntaxProblem(f"found '{first}', expected: ',', ')' or identifier")
        values: dict[str, None] = {}
        while True:
            if self._peek() in (",", ")"):
                values[""] = None
            else:
                values[self._word("',', or identifier")] = None
            token = self._take()
            if token == ")":
                return tuple(sorted(values))
            if token != ",":
                raise SyntaxProblem(f"found '{token}', expected: ',' or ')'")

    def _word(self, expected: str) -> str:
        token = self._take()
        if not token or token in _SIGNS:
            raise SyntaxProblem(f"found '{token}', expected: {expected}")
        return token

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self._at += 1
        return token


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        word = _WORD.match(text, at)
        token = word[0] if word else next(sign for sign in _SIGNS if text.startswith(sign, at))
        tokens.append(token)
        at += len(token)
    return tokens
