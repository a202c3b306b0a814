"""Words of Gambit's text formats, with the place of each for messages.

A file is a row of braces, commas, quoted strings and bare words (numbers and letters); white
space only separates. Inside quotes, a backslash before a quote or a backslash keeps it.

Words are found when they are asked for, each letter is looked at a few times at most, and numbers
and names have a longest length: a file of any content takes time in proportion to its size.
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
# no two parts may share digits: a long word that ends in a letter would be tried in all splits
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[0-9]{1,18}")  # so many digits fit into 64 bits
_SHOWN = 40  # letters of a wrong word that messages show
LONGEST_NUMBER = 4_000
"""Letters of a number; beyond, exact arithmetic takes its time."""
LONGEST_NAME = 10_000
"""Letters of the name of a player, an action or an information set."""
_SHORTEST = 2  # letters of a word with what separates it from the next


class Token(NamedTuple):
    """One word: kind is "mark", "text", "word" or "end"."""

    kind: str
    text: str
    offset: int


class Scanner:
    """Words of a text one after the other; whatever is not as expected is a ValueError."""

    def __init__(self, text: str, file: str) -> None:
        self.file, self._text = file, text
        self._matches = _TOKEN.finditer(text)
        self.next = self._scan()  # the word ahead, not yet taken

    def _scan(self) -> Token:
        match = next(self._matches, None)
        if match is None:
            return Token("end", "", len(self._text))
        kind = str(match.lastgroup)
        token = Token(kind, match[kind], match.start())
        if kind == "open":
            self.fail("a closing quote for the string that opens here, got none", token)
        return token

    def may_have(self, words: int) -> bool:
        """Whether the text ahead is long enough for so many words; False is certain."""
        return len(self._text) - self.next.offset + 1 >= _SHORTEST * words

    def count(self) -> int:
        """How many words are ahead; for messages, as it reads the whole rest."""
        return sum(1 for _ in _TOKEN.finditer(self._text, self.next.offset))

    def rest(self) -> str:
        """The text ahead."""
        return self._text[self.next.offset :]

    def skip_rest(self) -> None:
        """Take all that is ahead."""
        self._matches = _TOKEN.finditer(self._text, len(self._text))
        self.next = self._scan()

    def take(self) -> Token:
        """The word ahead."""
        token = self.next
        if token.kind != "end":
            self.next = self._scan()
        return token

    def place(self, token: Token) -> str:
        """File, line and column of a word."""
        line = self._text.count("\n", 0, token.offset) + 1
        column = token.offset - self._text.rfind("\n", 0, token.offset)
        return f"{self.file}, line {line}, column {column}"

    def fail(self, expected: str, token: Token | None = None) -> NoReturn:
        """ValueError with file, line and column of a word (the one ahead unless given)."""
        raise ValueError(f"{self.place(token or self.next)}: expected {expected}")

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

    def string(self, what: str, longest: int = LONGEST_NAME) -> str:
        """Take a quoted string."""
        if self.next.kind != "text":
            self.wrong(f"{what} in quotes")
        if len(self.next.text) > longest:
            self.fail(f"{what} of at most {longest:,} letters, got {len(self.next.text):,}")
        text = self.take().text
        return _ESCAPED.sub(r"\1", text) if "\\" in text else text

    def optional(self, what: str, longest: int = LONGEST_NAME) -> str:
        """Take a quoted string if one is ahead, else an empty one."""
        return self.string(what, longest) if self.next.kind == "text" else ""

    def comment(self) -> str:
        """Take a comment if one is ahead; it may be long."""
        return self.optional("the comment", len(self._text))

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
        if self.next.kind == "word" and len(text) > LONGEST_NUMBER:
            self.wrong(f"{what}, a number of at most {LONGEST_NUMBER:,} letters")
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
        if self.next.kind != "end":
            self.wrong(f"the end of the file after {what}")
