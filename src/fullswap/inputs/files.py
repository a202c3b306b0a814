"""Tables read from files and standard input: whole, or batch by batch in bounded memory."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any

from fullswap.inputs.csv_files import Text
from fullswap.inputs.frames import pick
from fullswap.inputs.json_files import JsonLines
from fullswap.inputs.sources import Source, arrow, opened
from fullswap.inputs.typed import Typing, typed

ROWS = 65_536
"""Rows of a batch of a Parquet file."""


def read_table(
    path: Any,
    columns: Sequence[str] | None = None,
    *,
    strict: bool = False,
    notes: list[str] | None = None,
) -> Any:
    """The table in a file, as an Arrow table.

    Read are CSV (also with semicolons, tabs or bars; also packed with gzip), Parquet and JSON
    lines, told apart by what the file holds. A column is one of numbers if all its values are;
    empty fields, NA, NaN and null are then missing values.

    Parameters
    ----------
    path
        The file, or "-" for standard input.
    columns
        Which columns to read; None: all.
    strict
        Whether to raise at the first malformed line, instead of leaving it out.
    notes
        A list to which is added what there is to say: malformed lines, with their numbers.

    Raises
    ------
    ValueError
        If there is no such file, or it holds no table.
    """
    pa = arrow()
    wanted = None if columns is None else list(columns)
    with opened(path) as source:
        if source.kind == "parquet":
            return _parquet(source, path, wanted).read(columns=wanted)
        reader = _reader(source, wanted, strict)
        batches = [batch for _, batch in reader.batches()]
        if notes is not None:
            notes += reader.notes()
        if isinstance(reader, Text):
            table = pa.Table.from_batches(batches)
            parts = [typed(column, reader.separator == ";") for column in table.columns]
            return pa.table(parts, names=reader.names)
        return joined(batches)


def read_batches(
    path: Any,
    columns: Sequence[str] | None = None,
    *,
    text: Sequence[str] = (),
    strict: bool = False,
    notes: list[str] | None = None,
) -> Iterator[tuple[int, Any]]:
    """The same, batch by batch: the line number of the first row, and an Arrow record batch.

    Memory does not grow with the file, except for Parquet from standard input. A column of numbers
    that meets a text is text from that batch on; those named in ``text`` are text from the start,
    as names of segments should be.
    Line numbers are those of the file unless it has blank lines or fields with line breaks; in
    Parquet files they count rows from 1. The notes come with the last batch.
    """
    arrow()
    wanted = None if columns is None else list(columns)
    with opened(path) as source:
        if source.kind == "parquet":
            row = 1
            for batch in _parquet(source, path, wanted).iter_batches(ROWS, columns=wanted):
                yield row, batch
                row += len(batch)
            return
        reader = _reader(source, wanted, strict)
        kinds = Typing(isinstance(reader, Text) and reader.separator == ";", text)
        for line, batch in reader.batches():
            if isinstance(reader, Text):
                yield line, kinds.batch(reader.names, batch.columns)
            else:
                for part in batch.combine_chunks().to_batches():
                    yield line, part
        if notes is not None:
            notes += reader.notes()


def written_batches(
    path: Any, *, strict: bool = False, notes: list[str] | None = None
) -> Generator[tuple[Any, bool], None, None]:
    """The same as it is written: fields of a text table stay texts, as dates in JSON do.

    Yields Arrow tables, each with whether numbers may have a decimal comma.
    """
    pa = arrow()
    with opened(path) as source:
        if source.kind == "parquet":
            for batch in _parquet(source, path, None).iter_batches(ROWS):
                yield pa.Table.from_batches([batch]), False
            return
        reader = _reader(source, None, strict)
        if isinstance(reader, JsonLines):
            reader.as_written = True
        comma = isinstance(reader, Text) and reader.separator == ";"
        for _, batch in reader.batches():
            if isinstance(reader, Text):
                batch = pa.table(batch.columns, names=reader.names)
            yield batch, comma
        if notes is not None:
            notes += reader.notes()


def _reader(source: Source, columns: list[str] | None, strict: bool) -> Text | JsonLines:
    kind = Text if source.kind == "csv" else JsonLines
    return kind(source, columns, strict)


def _parquet(source: Source, path: Any, columns: list[str] | None) -> Any:
    pa = arrow()
    import pyarrow.parquet as pq

    whole = source.path is None or source.packed  # else only what is asked for is read
    file = pq.ParquetFile(pa.BufferReader(source.stream.read()) if whole else path)
    for name in columns or ():
        pick(dict.fromkeys(file.schema_arrow.names), "columns", name)
    if not file.metadata.num_rows:
        raise ValueError(f"{source.name} must have rows, got none")
    return file


def joined(tables: list[Any]) -> Any:
    """Batches of JSON in one table; a column whose types do not go together becomes text."""
    pa = arrow()
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        pass
    kinds: dict[str, set[Any]] = {}
    for table in tables:
        for field in table.schema:
            if not pa.types.is_null(field.type):
                kinds.setdefault(field.name, set()).add(field.type)
    numbers = (pa.types.is_integer, pa.types.is_floating)
    mixed = {
        name for name, found in kinds.items()
        if len(found) > 1 and not all(any(is_it(k) for is_it in numbers) for k in found)
    }  # fmt: skip
    plain = [
        pa.table({name: table[name].cast(pa.string()) if name in mixed else table[name]
                  for name in table.column_names})
        for table in tables
    ]  # fmt: skip
    return pa.concat_tables(plain, promote_options="permissive")
