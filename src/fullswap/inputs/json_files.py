"""Tables of JSON: one object a line, or one array of objects."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

from fullswap.inputs.csv_files import malformed
from fullswap.inputs.frames import pick
from fullswap.inputs.sources import BLOCK, Source, arrow


class JsonLines:
    """One pass over JSON lines; lines that are no objects are put aside."""

    def __init__(self, source: Source, columns: list[str] | None, strict: bool) -> None:
        self.source, self.columns, self.strict = source, columns, strict
        self.bad: list[tuple[int, int, str]] = []
        self.as_written = False
        """Whether dates stay texts."""
        self._good = False

    def batches(self) -> Iterator[tuple[int, Any]]:
        """Line number of the first row, and the rows; types may differ between batches."""
        line = 1
        for chunk in self._chunks():
            table = self._table(chunk, line)
            if table is not None and table.num_rows:
                self._good = True
                for name in self.columns or ():
                    pick(dict.fromkeys(table.column_names), "columns", name)
                yield line, table.select(self.columns) if self.columns else table
            line += chunk.count(b"\n")
        if not self._good:
            raise ValueError(f"{self.source.name} must hold rows, got none that can be read")

    def _chunks(self) -> Iterator[bytes]:
        if self.source.kind == "json":
            text = self.source.stream.read()
            try:
                rows = json.loads(text)
            except ValueError as error:
                self.source.refuse(f"JSON that is broken ({error})")
            yield "\n".join(json.dumps(row) for row in rows).encode() + b"\n"
            return
        while chunk := self.source.stream.read(BLOCK):
            yield chunk + self.source.stream.readline()

    def _table(self, chunk: bytes, line: int) -> Any:
        pa = arrow()
        import pyarrow.json as reader

        def read(texts: list[str]) -> Any:
            schema = pa.schema([(name, pa.string()) for name in texts]) if texts else None
            return reader.read_json(
                pa.BufferReader(chunk),
                read_options=reader.ReadOptions(use_threads=False, block_size=len(chunk) + 1),
                parse_options=reader.ParseOptions(explicit_schema=schema),
            )

        try:
            table = read([])
            dates = [f.name for f in table.schema if pa.types.is_timestamp(f.type)]
            return read(dates).select(table.column_names) if self.as_written and dates else table
        except pa.ArrowInvalid:
            return self._slowly(chunk, line)

    def _slowly(self, chunk: bytes, line: int) -> Any:
        """Line by line, for what Arrow refuses: broken lines, NaN, columns of mixed types."""
        columns: dict[str, list[Any]] = {}
        count = 0
        for number, text in enumerate(io.BytesIO(chunk.removeprefix(b"\xef\xbb\xbf")), line):
            if not text.strip():
                continue
            try:
                row = json.loads(text)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                shown = text.decode("utf-8", "replace").strip()
                if self.strict:
                    raise ValueError(
                        f"line {number} of {self.source.name} must be a JSON object, got "
                        f"{shown[:80]!r}"
                    )
                self.bad.append((number, 0, shown))
                continue
            for name in row.keys() - columns.keys():
                columns[name] = [None] * count
            for name, values in columns.items():
                values.append(row.get(name))
            count += 1
        pa = arrow()
        return pa.table({name: array_of(values) for name, values in columns.items()})

    def notes(self) -> list[str]:
        """What to say about malformed lines."""
        return malformed(self.bad, self.source.name, "no JSON objects")


def array_of(values: list[Any]) -> Any:
    """An Arrow array; of texts if types do not go together."""
    pa = arrow()
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([None if v is None else str(v) for v in values])
