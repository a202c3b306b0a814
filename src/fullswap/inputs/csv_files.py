"""Text tables: fields between commas, semicolons, tabs or bars."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator
from typing import Any

from fullswap.base.amounts import counted
from fullswap.inputs.frames import listed, pick
from fullswap.inputs.moments import parse
from fullswap.inputs.sources import BLOCK, SHOWN, Source, arrow, opened

SEPARATORS = ",;\t|"


def separator_of(head: bytes) -> str:
    r"""What stands between the fields: the sign that all first lines have equally often.

    Examples
    --------
    >>> separator_of(b"won;prob\n1;0,7\n0;0,2\n")
    ';'
    >>> separator_of(b"won\n1\n0\n")
    ','
    """
    lines = head.decode("utf-8", "replace").splitlines()[:20]
    if len(lines) > 2:
        lines = lines[:-1]  # the last one may be cut
    best, most = ",", (0.0, 0)
    for sign in SEPARATORS:
        rows = [row for row in csv.reader(lines, delimiter=sign) if row]
        if not rows or len(rows[0]) < 2:
            continue
        alike = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
        if (alike, len(rows[0])) > most:
            best, most = sign, (alike, len(rows[0]))
    return best


FIRST_ROWS = 20
"""Rows that are looked at to tell names from values."""


def header_of(source: Source, separator: str) -> dict[str, str]:
    """The names of the columns without blanks -> as they are written, from the first line."""
    text = source.head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    rows = (r for r in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if r)
    written = next(rows)
    replaced = "\ufffd"
    if any(replaced in name for name in written) and replaced.encode() not in source.head:
        source.refuse_bytes(source.head.split(b"\n"))
    names = [name.strip() for name in written]
    below = [row for row in itertools.islice(rows, FIRST_ROWS) if len(row) == len(names)]
    if _are_values(names, below, separator == ";"):
        source.refuse(
            f"a first line of values ({separator.join(names[:5])})",
            "put a line of column names above",
        )
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(
            f"column names must differ, got {twice[0]!r} {names.count(twice[0])} times in "
            f"{source.name}: rename one of them"
        )
    return dict(zip(names, written, strict=True))


def _are_values(names: list[str], below: list[list[str]], comma: bool) -> bool:
    """Whether the first line is a row like those below it, and no line of names.

    A word above a column of numbers or dates is a name. Whole numbers that go up by 1 may be names
    of classes or years.
    """
    kinds = [_kind(name, comma) for name in names]
    if all(kind == "number" for kind in kinds):
        return True
    alike = []
    for k, kind in enumerate(kinds):
        found = {_kind(row[k], comma) for row in below if row[k].strip()}
        if len(found) == 1 and found != {""}:
            if found != {kind}:
                return False
            alike.append(names[k])
    if all(name.isdigit() for name in alike):
        numbers = [int(name) for name in alike]
        return numbers != list(range(numbers[0], numbers[0] + len(numbers))) if numbers else False
    return bool(alike)


def _kind(text: str, comma: bool) -> str:
    """What a field holds: a number, a date, or neither."""
    if parse(text) is not None:
        return "date"
    try:
        float(text.replace(",", ".") if comma else text)
    except ValueError:
        return ""
    return "number"


class Text:
    """One pass over a text table, all fields as text; malformed lines are put aside."""

    def __init__(self, source: Source, columns: list[str] | None, strict: bool) -> None:
        self.source, self.strict = source, strict
        self.separator = separator_of(source.head)
        header = header_of(source, self.separator)
        for name in columns or ():
            pick(header, "columns", name)
        self._header = header
        self.names = list(header) if columns is None else list(columns)
        self.bad: list[tuple[int, int, str]] = []
        """Number of the row in the file (blank lines not counted), fields, text."""
        self._good = 0

    def batches(self) -> Iterator[tuple[int, Any]]:
        """Line number of the first row, and the rows."""
        pa = arrow()
        import pyarrow.csv as reader

        def put_aside(row: Any) -> str:
            self.bad.append((row.number or 0, row.actual_columns, row.text))
            return "skip"

        stream = reader.open_csv(
            self.source.stream,
            read_options=reader.ReadOptions(  # rows have numbers only without threads
                use_threads=False, block_size=BLOCK,
            ),
            parse_options=reader.ParseOptions(
                delimiter=self.separator, newlines_in_values=True,
                invalid_row_handler=put_aside,
            ),
            convert_options=reader.ConvertOptions(
                column_types=dict.fromkeys(self._header.values(), pa.string()),
                include_columns=[self._header[name] for name in self.names],
                strings_can_be_null=False,
            ),
        )  # fmt: skip
        for batch in stream:
            self._refuse_if_strict()
            if len(batch):
                yield self._line(), batch
                self._good += len(batch)
        self._refuse_if_strict()
        if not self._good:
            what = f"{counted(len(self.bad), 'malformed line')} only" if self.bad else "none"
            raise ValueError(
                f"{self.source.name} must have rows below the line of names "
                f"({listed(self._header, 8)}), got {what}"
            )

    def _line(self) -> int:
        line = 2 + self._good
        for number, _, _ in self.bad:
            line += number <= line
        return line

    def _refuse_if_strict(self) -> None:
        if self.strict and self.bad:
            number, fields, text = self._lines()[0]
            raise ValueError(
                f"line {number} of {self.source.name} must have {len(self._header)} fields, got "
                f"{fields}: {text[:80]!r}"
            )

    def _lines(self) -> list[tuple[int, int, str]]:
        """The malformed rows, the first few with their true lines.

        Arrow counts rows, so that blank lines and fields with line breaks are in the way; a file
        is then read once more up to there.
        """
        bad = sorted(self.bad)
        if not bad or self.source.path is None:
            return bad
        lines, row, line = {}, 0, 0
        with opened(self.source.path) as again:
            text = io.TextIOWrapper(again.stream, "utf-8-sig", "replace", newline="")
            reader = csv.reader(text, delimiter=self.separator)
            for found in reader:
                row += bool(found)
                if found:
                    lines[row] = line + 1
                line = reader.line_num
                if row >= bad[:SHOWN][-1][0]:
                    break
        behind = lines[row] - row if row in lines else 0
        return [(lines.get(number, number + behind), fields, text) for number, fields, text in bad]

    def notes(self) -> list[str]:
        """What to say about malformed lines."""
        return malformed(self._lines(), self.source.name, f"not {len(self._header)} fields")


def malformed(bad: list[tuple[int, int, str]], name: str, why: str) -> list[str]:
    """The note on lines that were left out: how many, and where the first are."""
    if not bad:
        return []
    first = ", ".join(str(number) for number, _, _ in itertools.islice(sorted(bad), SHOWN))
    more = ", …" if len(bad) > SHOWN else ""
    lines = "line" if len(bad) == 1 else "lines"
    return [
        f"{counted(len(bad), 'malformed line')} of {name} left out ({why}): {lines} {first}{more}"
    ]
