"""RE2 patterns on Python's regular expressions.

The API server's patterns are RE2 (https://github.com/google/re2/wiki/Syntax), as Go implements it. Most of that reads the same in Python;
this module rewrites what does not (`$`, `\\z`, `\\pN`, `[[:alpha:]]`, flags in the middle, `\\Q...\\E`) and refuses what RE2
does not know (lookaround, back references, possessive quantifiers), so that a schema accepted here is accepted by a real server.

Python's engine tries one way after another, and a pattern such as `^(a+)+$` has more of them than there is time. So it is given short texts
and simple patterns alone; for all else there is RE2 itself, whose time grows with the text and nothing else. Its bindings (the extra `re2`)
are not built for every system; where they are missing, Python's engine does that as well, in whatever time it takes.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re2

_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_PERL = {"d": "0-9", "s": "\\t\\n\\f\\r ", "w": "0-9A-Za-z_"}
_REPEAT = re.compile(r"\{(\d+)(,(\d*))?\}")
_GROUP_NAME = re.compile(r"\?P?<([A-Za-z0-9_]+)>")
_NAMED = re.compile(r"\?P?<")
_WRONG_FLAGS = re.compile(r"\?[imsU-]*.?", re.DOTALL)
_FLAGS = re.compile(r"\?([imsU]*)(?:-([imsU]+))?([:)])")
_LITERAL_ESCAPES = frozenset("aftnrv")


class PatternError(ValueError):
    """Not an RE2 expression, in the words of Go's parser where it has some."""

    def __init__(self, problem: str, where: str) -> None:
        super().__init__(f"error parsing regexp: {problem}: `{where}`")


SHORT = 256
"""Letters of a text that Python's engine may be given."""
_UNBOUNDED = re.compile(r"[*+]|\{\d+,\d*\}")


class Pattern:
    """A pattern that has been read. With RE2, finding out whether a text has it takes time in proportion to the text."""

    def __init__(self, pattern: str, quick: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._quick = quick
        self._simple = _is_simple(pattern)

    def search(self, text: str) -> bool:
        """Whether it is somewhere in the text."""
        sure = None if self._simple and len(text) <= SHORT else _sure(self._pattern)
        if sure is None:
            return self._quick.search(text) is not None
        return sure.search(text.encode("utf-8", "replace")) is not None


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> Pattern:
    """Reads a pattern. Raises PatternError."""
    translated = _Translator(pattern).run()
    try:
        quick = re.compile(translated)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(str(error), pattern) from error
    if not _is_simple(pattern):
        _sure(pattern)
    return Pattern(pattern, quick)


def _is_simple(pattern: str) -> bool:
    """Whether there are too few ways to match for Python's engine to get lost: two repetitions at most, and none of a group."""
    return not re.search(r"\)[*+?{]", pattern) and len(_UNBOUNDED.findall(pattern)) <= 2


@lru_cache(maxsize=1024)
def _sure(pattern: str) -> re2._Regexp | None:
    """The same for RE2, where that is installed. Raises PatternError, for a pattern that takes too much memory above all."""
    try:
        import re2  # when first needed: few patterns need it
    except ModuleNotFoundError:
        return None
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern.encode("utf-8", "replace"), options)
    except re2.error as error:
        raise PatternError(error.args[0].decode(errors="replace") if error.args else "too large", pattern) from error


class _Translator:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._out: list[str] = []
        self._closers: list[str] = []
        self._multiline = [False]
        self._repeated = ""  # the quantifier just read, if that is what was just read
        self._trailing = 0  # groups that flags in the middle have opened, to be closed at the end

    def run(self) -> str:
        pattern, out = self._pattern, self._out
        can_repeat = False  # whether there is something before that a quantifier may follow
        while self._at < len(pattern):
            character = pattern[self._at]
            if character in "*+?" or (character == "{" and _REPEAT.match(pattern, self._at)):
                self._quantifier(can_repeat)
                can_repeat = False
                continue
            can_repeat = True
            self._repeated = ""
            self._at += 1
            match character:
                case "\\":
                    out.append(self._escape(in_class=False))
                case "[":
                    out.append(self._character_class())
                case "(":
                    can_repeat = self._open_group()
                case ")":
                    if not self._closers:
                        raise PatternError("unexpected )", pattern)
                    out.append(self._closers.pop())
                    self._multiline.pop()
                case "|":
                    out.append("|")
                    can_repeat = False
                case "$":
                    out.append("$" if self._multiline[-1] else "\\Z")
                case "{" | "}":
                    out.append("\\" + character)
                case _:
                    out.append(character)
        if self._closers:
            raise PatternError("missing closing )", pattern)
        return "".join(out) + ")" * self._trailing

    def _quantifier(self, can_repeat: bool) -> None:
        pattern = self._pattern
        found = _REPEAT.match(pattern, self._at)
        text = found[0] if found else pattern[self._at]
        if not can_repeat:
            if self._repeated:
                raise PatternError("invalid nested repetition operator", self._repeated + text)
            raise PatternError("missing argument to repetition operator", text)
        if found:
            low, high = int(found[1]), int(found[3]) if found[3] else 0
            if low > 1000 or high > 1000 or (found[3] and high < low):
                raise PatternError("invalid repeat count", text)
        self._at += len(text)
        if self._at < len(pattern) and pattern[self._at] == "?":
            text += "?"
            self._at += 1
        if self._out[-1] in ("^", "$", "\\Z"):
            self._out[-1] = f"(?:{self._out[-1]})"  # Python repeats no bare anchors
        self._out.append(text)
        self._repeated = text

    def _open_group(self) -> bool:
        """Read what follows `(`; say whether a quantifier may follow that."""
        pattern = self._pattern
        if not pattern.startswith("?", self._at):
            self._push("(", ")", self._multiline[-1])
            return False
        name = _GROUP_NAME.match(pattern, self._at)
        if name:
            self._at = name.end()
            # Names do not matter for matching, and RE2 lets them repeat.
            self._push("(", ")", self._multiline[-1])
            return False
        if _NAMED.match(pattern, self._at):
            raise PatternError("invalid named capture", pattern[self._at - 1 : pattern.find(">", self._at) + 1 or None])
        flags = _FLAGS.match(pattern, self._at)
        if not flags:
            wrong = _WRONG_FLAGS.match(pattern, self._at)
            raise PatternError("invalid or unsupported Perl syntax", f"({wrong[0] if wrong else ''}")
        if "U" in flags[1] or "U" in (flags[2] or ""):
            raise PatternError("the flag U is not supported by the embedded server", pattern)
        self._at = flags.end()
        multiline = ("m" in flags[1]) or (self._multiline[-1] and "m" not in (flags[2] or ""))
        opening = f"(?{flags[1]}{'-' + flags[2] if flags[2] else ''}:"
        if flags[3] == ":":
            self._push(opening, ")", multiline)
            return False
        # `(?i)` holds to the end of the group around it: close one more there.
        self._out.append(opening)
        self._multiline[-1] = multiline
        if self._closers:
            self._closers[-1] += ")"
        else:
            self._trailing += 1
        return False

    def _push(self, opening: str, closer: str, multiline: bool) -> None:
        self._out.append(opening)
        self._closers.append(closer)
        self._multiline.append(multiline)

    def _escape(self, *, in_class: bool) -> str:
        """Read what follows a backslash."""
        pattern = self._pattern
        if self._at >= len(pattern):
            raise PatternError("trailing backslash at end of expression", "")
        character = pattern[self._at]
        self._at += 1
        if character in "dsw":
            return _PERL[character] if in_class else f"[{_PERL[character]}]"
        if character in "DSW":
            return _complement(_PERL[character.lower()]) if in_class else f"[^{_PERL[character.lower()]}]"
        if character in "pP":
            return self._unicode_class(character == "P", in_class=in_class)
        if character == "x":
            found = re.compile(r"\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2})").match(pattern, self._at)
            if not found:
                raise PatternError("invalid escape sequence", "\\x")
            self._at = found.end()
            return _literal(int(found[1] or found[2], 16), found[0].removesuffix("}"))
        if character in "01234567" and (character == "0" or pattern[self._at : self._at + 1].isdigit()):
            found = re.compile(r"[0-7]{0,2}").match(pattern, self._at)
            rest = found[0] if found else ""
            self._at += len(rest)
            return _literal(int(character + rest, 8), character + rest)
        if character in _LITERAL_ESCAPES:
            return "\\" + character
        if not in_class:
            match character:
                case "A" | "b" | "B":
                    return "(?a:\\" + character + ")"
                case "z":
                    return "\\Z"
                case "Q":
                    text, _, _ = pattern[self._at :].partition("\\E")
                    self._at = min(len(pattern), self._at + len(text) + 2)
                    return re.escape(text)
        if character.isascii() and not character.isalnum():
            return "\\" + character
        raise PatternError("invalid escape sequence", "\\" + character)

    def _unicode_class(self, negated: bool, *, in_class: bool) -> str:
        pattern = self._pattern
        found = re.compile(r"\{(\^?)([A-Za-z_]+)\}|()([A-Z])").match(pattern, self._at)
        if not found:
            raise PatternError("invalid character class range", pattern[self._at - 2 : self._at + 1])
        self._at = found.end()
        negated ^= bool(found[1])
        ranges = _category(found[2] or found[4])
        inside = _inside(_others(ranges) if negated else ranges)
        return inside if in_class else f"[{inside}]"

    def _character_class(self) -> str:
        pattern, start = self._pattern, self._at - 1
        out = ["["]
        if pattern.startswith("^", self._at):
            out.append("^")
            self._at += 1
        first = True
        while True:
            if self._at >= len(pattern):
                raise PatternError("missing closing ]", pattern[start:])
            character = pattern[self._at]
            if character == "]" and not first:
                self._at += 1
                break
            posix = re.compile(r"\[:(\^?)([a-z]+):\]").match(pattern, self._at)
            if posix:
                if posix[2] not in _POSIX:
                    raise PatternError("invalid character class range", posix[0])
                self._at = posix.end()
                out.append(_complement(_POSIX[posix[2]]) if posix[1] else _POSIX[posix[2]])
            else:
                out.append(self._range())
            first = False
        return "".join(out) + "]"

    def _range(self) -> str:
        """Read a character inside a class, or a range of them, or an escape that stands for many."""
        start, low = self._at, self._class_member()
        if self._pattern[self._at : self._at + 1] != "-" or self._pattern[self._at + 1 : self._at + 2] in ("]", ""):
            return low
        if len(_one(low)) != 1:
            return low
        self._at += 1
        middle, high = self._at, self._class_member()
        if len(_one(high)) != 1:
            raise PatternError("invalid escape sequence", self._pattern[middle : self._at])
        if _one(high) < _one(low):
            raise PatternError("invalid character class range", self._pattern[start : self._at])
        return f"{low}-{high}"

    def _class_member(self) -> str:
        character = self._pattern[self._at]
        self._at += 1
        if character == "\\":
            return self._escape(in_class=True)
        # Python reserves doubled set operators inside classes; RE2 does not.
        return "\\" + character if character in "[&~|-]" else character


def _one(member: str) -> str:
    """The character that a member of a class stands for, or a longer text if it is not a single one."""
    if len(member) == 10 and member.startswith("\\U"):
        return chr(int(member[2:], 16))
    return member[1:] if len(member) == 2 and member[0] == "\\" and not member[1].isalnum() else member


def _literal(code: int, written: str) -> str:
    if code > sys.maxunicode:
        raise PatternError("invalid escape sequence", f"\\x{written}")
    return f"\\U{code:08x}"


@lru_cache(maxsize=64)
def _category(name: str) -> tuple[tuple[int, int], ...]:
    """The characters of a Unicode general category (`L`, `Lu`, ...), as ranges. Raises PatternError."""
    ranges: list[tuple[int, int]] = []
    start: int | None = None
    for code in range(sys.maxunicode + 2):
        inside = code <= sys.maxunicode and unicodedata.category(chr(code)).startswith(name)
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            ranges.append((start, code - 1))
            start = None
    if not ranges:
        problem = "Unicode scripts are not supported by the embedded server, only general categories"
        raise PatternError(problem, f"\\p{{{name}}}")
    return tuple(ranges)


def _others(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """The characters that are in none of these ranges, which are in order."""
    result = []
    after = 0
    for first, last in ranges:
        if first > after:
            result.append((after, first - 1))
        after = last + 1
    if after <= sys.maxunicode:
        result.append((after, sys.maxunicode))
    return tuple(result)


def _inside(ranges: tuple[tuple[int, int], ...]) -> str:
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


def _complement(ascii_class: str) -> str:
    """The inside of the class that holds every character but these, all of which are ASCII."""
    matcher = re.compile(f"[{ascii_class}]")
    return _inside(_others(tuple((code, code) for code in range(128) if matcher.match(chr(code)))))
