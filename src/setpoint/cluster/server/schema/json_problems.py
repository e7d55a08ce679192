"""What Go's JSON scanner says of text that is no JSON: the first character that does not fit, and where it stands.

It reads bytes: of a character that takes several, the first byte is named as if it were a character of Latin-1.

https://pkg.go.dev/encoding/json
"""

from __future__ import annotations

import re

from setpoint.cluster.server.schema.gotext import quote

END = "unexpected end of JSON input"
_SPACE = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_DIGITS = re.compile("[0-9]*")
_LITERALS = {"t": "true", "f": "false", "n": "null"}


class _Problem(Exception):
    pass


def json_problem(body: bytes) -> str:
    """What is wrong with a body; that it ends too early, if nothing else is."""
    try:
        _Scanner(body.decode("latin-1")).document()
    except _Problem as problem:
        return str(problem)
    return END


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def document(self) -> None:
        """One value and nothing after it. Objects and lists are not walked by recursion, whatever their depth."""
        open_: list[str] = []
        while True:
            while self._begins(open_):
                pass
            while open_ and self._closes(open_):
                pass
            if not open_:
                break
        if self._next():
            self._refuse("after top-level value")

    def _begins(self, open_: list[str]) -> bool:
        """Reads a value. Whether it has opened an object or a list whose first value comes next."""
        character = self._needed()
        if character not in "{[":
            self._scalar(character)
            return False
        self._at += 1
        inside = self._needed()
        if inside == ("}" if character == "{" else "]"):
            self._at += 1
            return False
        open_.append(character)
        if character == "{":
            self._key()
        return True

    def _closes(self, open_: list[str]) -> bool:
        """Reads what follows a value within an object or a list. Whether that has ended; else its next value comes."""
        character, inside = self._needed(), open_[-1]
        self._at += 1
        if character == ("}" if inside == "{" else "]"):
            open_.pop()
            return True
        if character != ",":
            self._at -= 1
            self._refuse("after object key:value pair" if inside == "{" else "after array element")
        if inside == "{":
            self._key()
        return False

    def _key(self) -> None:
        if self._needed() != '"':
            self._refuse("looking for beginning of object key string")
        self._string()
        if self._needed() != ":":
            self._refuse("after object key")
        self._at += 1

    def _scalar(self, character: str) -> None:
        if character == '"':
            self._string()
        elif character in _LITERALS:
            self._literal(_LITERALS[character])
        elif character == "-" or character in "0123456789":
            self._number()
        else:
            self._refuse("looking for beginning of value")

    def _string(self) -> None:
        self._at += 1
        while True:
            self._skip(_PLAIN)
            character = self._here()
            if character == '"':
                self._at += 1
                return
            if character != "\\":
                self._refuse("in string literal")
            self._at += 1
            escape = self._here()
            if escape not in '"\\/bfnrtu':
                self._refuse("in string escape code")
            self._at += 1
            for _ in range(4 if escape == "u" else 0):
                if self._here() not in "0123456789abcdefABCDEF":
                    self._refuse("in \\u hexadecimal character escape")
                self._at += 1

    def _literal(self, word: str) -> None:
        for expected in word:
            if self._here() != expected:
                self._refuse(f"in literal {word} (expecting '{expected}')")
            self._at += 1

    def _number(self) -> None:
        if self._here() == "-":
            self._at += 1
            if self._here() not in "0123456789":
                self._refuse("in numeric literal")
        if self._here() == "0":
            self._at += 1  # nothing but a fraction or an exponent may follow
        else:
            self._skip(_DIGITS)
        if self._peek() == ".":
            self._at += 1
            if self._here() not in "0123456789":
                self._refuse("after decimal point in numeric literal")
            self._skip(_DIGITS)
        if self._peek() and self._peek() in "eE":
            self._at += 1
            if self._here() in "+-":
                self._at += 1
            if self._here() not in "0123456789":
                self._refuse("in exponent of numeric literal")
            self._skip(_DIGITS)

    # characters

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _here(self) -> str:
        """The character at hand, space or not."""
        character = self._peek()
        if not character:
            raise _Problem(END)
        return character

    def _next(self) -> str:
        """The next character that is no space; nothing at the end."""
        self._skip(_SPACE)
        return self._peek()

    def _needed(self) -> str:
        self._skip(_SPACE)
        return self._here()

    def _skip(self, what: re.Pattern[str]) -> None:
        found = what.match(self._text, self._at)
        assert found is not None, "it may be empty"
        self._at = found.end()

    def _refuse(self, where: str) -> None:
        character = self._here()
        shown = {"'": "\\'", '"': '"'}.get(character) or quote(character)[1:-1]
        raise _Problem(f"invalid character '{shown}' {where}")
