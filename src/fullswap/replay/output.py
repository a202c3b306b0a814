"""The rows of a log with their forecasts, written as text."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.terminal import visible
from fullswap.inputs.classes import without_common
from fullswap.inputs.sources import arrow
from fullswap.replay.reading import Reading
from fullswap.replay.streams import Made

KINDS = (".csv", ".jsonl", ".parquet")
MOST_ROWS = 65_536
"""Rows that are made text at once."""
PAIR = ("lower", "upper", "upper_chance")
DECLARED = "declared"
SPECIAL = '[",\r\n]'
"""Signs for which a field of a CSV file is put between quotes."""


def column_names(reading: Reading) -> list[str]:
    """Names of the columns that are added."""
    if reading.classes == 2:
        return ["issued", "mean", *PAIR]
    named = reading.p if reading.is_classes else [str(label) for label in reading.labels]
    names = without_common(named)
    return [*(f"{what}_{name}" for what in ("issued", "mean") for name in names), DECLARED]


def _columns(made: Made, reading: Reading) -> list[Any]:
    """What is in them, as Arrow arrays; no value where nothing was forecast."""
    pa = arrow()
    if reading.classes == 2:
        numbers = [made.issued, made.mean, made.lower, made.upper, made.upper_chance]
    else:
        numbers = [*made.issued.T, *made.mean.T]
    columns = [pa.array(column, mask=np.isnan(column)) for column in numbers]
    if reading.classes > 2:
        labels = [str(label) for label in reading.labels]
        named = [None if np.isnan(k) else labels[int(k)] for k in made.declared]
        columns.append(pa.array(named, pa.string()))
    return columns


def refuse_taken(columns: list[str], reading: Reading) -> None:
    """Columns that are added must be new."""
    for name in column_names(reading):
        if name in columns:
            raise ValueError(f"the log must have no column {name!r}, which is added: rename it")


def with_forecasts(table: Any, made: Made, reading: Reading) -> Any:
    """The rows of a table with the columns that are added; no value where nothing was forecast."""
    for name, column in zip(column_names(reading), _columns(made, reading), strict=True):
        table = table.append_column(name, column)
    return table


def csv_lines(table: Any) -> bytes:
    """Rows as lines of CSV, without the line of names."""
    pa = arrow()
    import pyarrow.compute as pc

    rows = csv_rows(table)
    whole = pa.ListArray.from_arrays(pa.array([0, len(rows)], pa.int32()), rows)
    text = pc.binary_join(whole, "\n")[0].as_py()
    return f"{text}\n".encode()


def csv_rows(table: Any) -> Any:
    """Rows as texts of CSV, in an Arrow array."""
    import pyarrow.compute as pc

    parts = []
    for column in table.columns:
        column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        text = pc.fill_null(_texts(column), "")
        odd = pc.match_substring_regex(text, SPECIAL)
        if pc.any(odd).as_py():
            quoted = pc.binary_join_element_wise(
                '"', pc.replace_substring(text, '"', '""'), '"', ""
            )
            text = pc.if_else(odd, quoted, text)
        parts.append(text)
    rows = pc.binary_join_element_wise(*parts, ",")
    return rows.combine_chunks() if hasattr(rows, "combine_chunks") else rows


def _texts(column: Any) -> Any:
    pa = arrow()
    if pa.types.is_string(column.type):
        return column
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # lists and structures
        plain = column.to_pylist()
        return pa.array([None if v is None else json.dumps(v, default=str) for v in plain])


def header_line(names: list[str]) -> bytes:
    """The line of names."""
    pa = arrow()
    return csv_lines(pa.table({str(k): [name] for k, name in enumerate(names)}))


def json_lines(table: Any) -> bytes:
    """Rows as JSON objects, one a line."""
    lines = [json.dumps(row, ensure_ascii=False, default=str) for row in table.to_pylist()]
    return ("\n".join(lines) + "\n").encode()


class Output:
    """Where the rows go: a file, standard output, or nowhere."""

    def __init__(self, path: Any, reading: Reading) -> None:
        self.path = None if path is None or path == "-" else Path(path)
        self._reading = reading
        self.kind = ".csv" if self.path is None else self.path.suffix.lower()
        self.length = 0
        """Bytes so far; before it is opened, those that are kept."""
        self.fresh = False
        """Whether a file was begun."""
        self._file: Any = None
        self._parquet: Any = None
        self._on_terminal = path == "-" and sys.stdout.isatty()
        if path == "-":
            self._file = sys.stdout.buffer
        elif self.path is not None:
            if self.path.is_dir() or not self.path.absolute().parent.is_dir():
                checks.refuse("out", "be a file in a folder that exists", str(path))

    @property
    def wanted(self) -> bool:
        """Whether anything is written."""
        return self._file is not None or self.path is not None

    def __enter__(self) -> Output:
        """Open the file, cut to what it held when the state was saved."""
        length, self.length = self.length, 0
        self._open(length)
        return self

    def __exit__(self, *error: object) -> None:
        self._close()

    def _open(self, length: int) -> None:
        if self.path is None or self.kind == ".parquet":
            return
        there = self.path.stat().st_size if self.path.is_file() else 0
        if there < length:
            raise ValueError(
                f"out must be the file that was written so far ({length:,} bytes), got {there:,} "
                f"bytes in {self.path}: it was changed since"
            )
        self.fresh = not length
        self._file = open(self.path, "ab" if length else "wb")
        if length:
            self._file.truncate(length)
        self.length = length

    def write(self, table: Any, made: Made) -> None:
        """Rows with their forecasts."""
        if not self.wanted:
            return
        full = with_forecasts(table, made, self._reading)
        if self.kind == ".parquet":
            self._write_parquet(full)
            return
        if self.kind == ".jsonl":
            self._put(json_lines(full))
            return
        if not self.length:
            self._put(header_line(full.column_names))
        for start in range(0, full.num_rows, MOST_ROWS):  # an Arrow text holds 2 GB at most
            self._put(csv_lines(full.slice(start, MOST_ROWS)))

    def _put(self, content: bytes) -> None:
        if self._on_terminal:
            content = visible(content.decode()).encode()
        self._file.write(content)
        self.length += len(content)

    def _write_parquet(self, table: Any) -> None:
        import pyarrow.parquet as pq

        assert self.path is not None
        if self._parquet is None:
            self._parquet = pq.ParquetWriter(self.path, table.schema)
        self._parquet.write_table(table.cast(self._parquet.schema))

    def sync(self, to_disk: bool = True) -> None:
        """All that was written is there, also after a crash."""
        if self._file is not None:
            self._file.flush()
            if to_disk and self.path is not None:
                os.fsync(self._file.fileno())

    def _close(self) -> None:
        if self._parquet is not None:
            self._parquet.close()
        if self._file is not None:
            self._file.flush()
            if self.path is not None:
                self._file.close()


def refuse_kind(path: Any, with_state: bool) -> None:
    """Files are CSV, JSON lines or Parquet; the last cannot be gone on with."""
    if path is None or path == "-":
        return
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        checks.refuse("out", f"end in {', '.join(KINDS)}, or be - for standard output", str(path))
    if with_state and kind == ".parquet":
        checks.refuse("out", "be CSV or JSON lines where a state is kept", str(path))
