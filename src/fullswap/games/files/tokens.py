"""Words of Gambit's text formats, with the place of each for messages.

A file is a row of braces, commas, quoted strings and bare words (numbers and letters); white
space only separates. Inside quotes, a backslash before a quote or a backslash keeps it.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import NamedTuple, NoReturn

_TOKEN = re.compile(
    r"""(?P<mark>[{},])
    | "(?P<text>[^"\\]*(?:\\.[^"\\]*)*)"
    | (?P<word>[^\s{},"]+)
    | (?P<open>")""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r'\\(["\\])')
_RATIONAL = re.compile(r"[+-]?[0-9]+(?:/[0-9]+)?")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[0-9]{1,18}")  # so many digits fit into 64 bits
_SHOWN = 40  # letters of a wrong word that messages show


class Token(NamedTuple):
    """One word: kind is "mark", "text", "word" or "end"."""

    kind: str
    text: str
    offset: int


class Scanner:
    """Words of a text one after the other; whatever is not as expected is a ValueError."""

    def __init__(self, text: str, file: str) -> None:
        self.file, self._text, self._at = file, text, 0
        self._tokens: list[Token] = []
        for match in _TOKEN.finditer(text):
            kind = str(match.lastgroup)
            token = Token(kind, match[kind], match.start())
            if kind == "open":
                self.fail("a closing quote for the string that opens here, got none", token)
            self._tokens.append(token)
        self._tokens.append(Token("end", "", len(text)))
        self.next = self._tokens[0]  # the word ahead, not yet taken

    @property
    def left(self) -> int:
        """How many words are ahead."""
        return len(self._tokens) - 1 - self._at

    def take(self) -> Token:
        """The word ahead."""
        token = self.next
        self._at = min(self._at + 1, len(self._tokens) - 1)
        self.next = self._tokens[self._at]
        return token

    def fail(self, expected: str, token: Token | None = None) -> NoReturn:
        """ValueError with file, line and column of a word (the one ahead unless given)."""
        offset = (token or self.next).offset
        line = self._text.count("\n", 0, offset) + 1
        column = offset - self._text.rfind("\n", 0, offset)
        raise ValueError(f"{self.file}, line {line}, column {column}: expected {expected}")

    def wrong(self, expected: str) -> NoReturn:
        """The same for a word ahead that is of the wrong kind, which is shown."""
        kind, text, _ = self.next
        short = text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
        shown = {"end": "the end of the file", "text": f'the string "{short}"'}
        self.fail(f"{expected}, got {shown.get(kind, repr(short))}")

    def is_mark(self, mark: str) -> bool:
        """Whether the word ahead is this brace or comma."""
        return self.next.kind == "mark" and self.next.text == mark

    def skip(self, mark: str) -> bool:
        """Take this brace or comma if it is ahead; whether it was."""
        ahead = self.is_mark(mark)
        if ahead:
            self.take()
        return ahead

    def mark(self, mark: str, where: str) -> None:
        """Take a brace."""
        if not self.skip(mark):
            self.wrong(f"'{mark}' {where}")

    def string(self, what: str) -> str:
        """Take a quoted string."""
        if self.next.kind != "text":
            self.wrong(f"{what} in quotes")
        text = self.take().text
        return _ESCAPED.sub(r"\1", text) if "\\" in text else text

    def optional(self, what: str) -> str:
        """Take a quoted string if one is ahead, else an empty one."""
        return self.string(what) if self.next.kind == "text" else ""

    def strings(self, what: str) -> list[str]:
        """Take { "…" "…" }, at least one."""
        self.mark("{", f"before {what}s")
        texts = [self.string(what)]
        while self.next.kind == "text":
            texts.append(self.string(what))
        self.mark("}", f"after {what}s")
        return texts

    def word(self, what: str, allowed: tuple[str, ...]) -> str:
        """Take one of several bare words."""
        if self.next.kind != "word" or self.next.text not in allowed:
            self.wrong(what)
        return self.take().text

    def header(self, kind: str, version: str) -> str:
        """Take kind of file, version, kind of numbers and title; the title is returned."""
        self.word(f"{kind}, the kind of file", (kind,))
        self.word(f"{version}, the version of the format", (version,))
        self.word("R or D, the kind of numbers", ("R", "D"))
        return self.string("the title")

    def whole(self, what: str, least: int = 0) -> int:
        """Take a whole number."""
        kind, text, _ = self.next
        if kind != "word" or not _WHOLE.fullmatch(text) or int(text) < least:
            self.wrong(f"{what}, a whole number >= {least}")
        self.take()
        return int(text)

    def number(self, what: str) -> float:
        """Take a number: whole, decimal with or without exponent, or a quotient such as 1/3."""
        text = self.next.text
        if self.next.kind != "word" or not (_RATIONAL.fullmatch(text) or _DECIMAL.fullmatch(text)):
            self.wrong(f"{what}, a number such as 2, -0.5, 1e-3 or 1/3")
        try:
            over, _, under = text.partition("/")
            value = int(over) / int(under) if under else float(text)
        except (ValueError, ArithmeticError):  # too many digits, overflow, division by zero
            value = math.nan
        if not math.isfinite(value):
            self.wrong(f"{what}, a finite number")
        self.take()
        return value

    def numbers(self, what: str, count: int) -> list[float]:
        """Take a, b, … }, commas optional, exactly count numbers and the closing brace."""
        values: list[float] = []
        while not self.is_mark("}"):
            if len(values) == count:
                self.wrong(f"'}}' after {count} {what}")
            values.append(self.number(f"{count} {what}"))
            self.skip(",")
        if len(values) < count:
            self.fail(f"{count} {what}, got {len(values)}")
        self.take()
        return values

    def probability(self, what: str) -> Fraction | float:
        """Take a number >= 0, exactly unless it is written as a decimal."""
        token = self.next
        value = self.number(what)
        if value < 0:
            self.fail(f"{what}, a number >= 0, got {token.text}", token)
        return Fraction(token.text) if _RATIONAL.fullmatch(token.text) else value

    def finish(self, what: str) -> None:
        """Nothing may follow."""
        if self.left:
            self.wrong(f"the end of the file after {what}")
