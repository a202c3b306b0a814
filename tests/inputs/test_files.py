"""Tables from files and from standard input, whole and batch by batch."""

import bz2
import csv
import gzip
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fullswap.inputs import log_of, read_batches, read_table, sources

PLAIN = b"won,prob,team\n1,0.7,a\n0,0.25,b\n,NA,c\n"
ROWS = {"won": [1, 0, None], "prob": [0.7, 0.25, None], "team": ["a", "b", "c"]}
LINES = (
    b'{"won": 1, "prob": 0.7, "team": "a"}\n{"won": 0, "prob": 0.25, "team": "b"}\n{"team": "c"}'
)


def parquet(table: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(table), buffer)
    return buffer.getvalue()


SAME = {
    "csv": PLAIN,
    "tabs": PLAIN.replace(b",", b"\t"),
    "semicolons": PLAIN.replace(b",", b";").replace(b"0.", b"0,"),
    "bars": PLAIN.replace(b",", b"|"),
    "mark and carriage returns": b"\xef\xbb\xbf" + PLAIN.replace(b"\n", b"\r\n"),
    "quotes": b'"won","prob","team"\n"1","0.7","a"\n"0","0.25","b"\n"","nan","c"\n',
    "blanks": b" won , prob,team\n1, 0.7 ,a\n0,0.25,b\n ,null,c\n",
    "no last newline": PLAIN.rstrip(),
    "blank lines": b"\n\n" + PLAIN.replace(b"\n0", b"\n\n0"),
    "gzip": gzip.compress(PLAIN),
    "two gzips": gzip.compress(PLAIN[:20]) + gzip.compress(PLAIN[20:]),
    "bz2": bz2.compress(PLAIN),
    "utf-16": PLAIN.decode().encode("utf-16"),
    "parquet": parquet(ROWS),
    "packed parquet": gzip.compress(parquet(ROWS)),
    "json lines": LINES,
    "json lines with NaN": LINES.replace(b'{"team"', b'{"prob": NaN, "team"'),
    "json array": b"[" + LINES.replace(b"\n", b",\n") + b"]",
}


def written(folder: Path, content: bytes, name: str = "log") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def give_input(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def plain(table: pa.Table) -> dict[str, list[Any]]:
    return {name: [None if v != v else v for v in values] for name, values in
            table.to_pydict().items()}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_same_table_in_every_form(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    path = written(tmp_path, SAME[name])
    assert plain(read_table(path)) == ROWS
    assert plain(read_table(str(path), ["prob"])) == {"prob": ROWS["prob"]}
    batches = list(read_batches(path))
    assert plain(pa.Table.from_batches([batch for _, batch in batches])) == ROWS
    give_input(monkeypatch, SAME[name])
    assert plain(read_table("-")) == ROWS
    give_input(monkeypatch, SAME[name])
    assert [line for line, _ in read_batches("-")] == [line for line, _ in batches]


def test_parquet_by_its_name(tmp_path: Path) -> None:
    path = written(tmp_path, SAME["parquet"], "log.parquet")
    assert plain(read_table(path)) == ROWS
    with pytest.raises(ValueError, match="columns must name a column .*got 'probs'.*'prob'"):
        read_table(path, ["probs"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must hold a table, got an empty file"),
        (b"\n \n", "must hold a table, got an empty file"),
        (b"\xef\xbb\xbf", "got an empty file"),
        (gzip.compress(b"", mtime=0), "got an empty file"),
        (b"won,prob\n", r"rows below the line of names \(won, prob\), got none"),
        (b"won,prob\n1\n0\n", "got 2 malformed lines only"),
        (b"1,0.7\n0,0.2\n", r"got a first line of values \(1,0.7\): put a line of column names"),
        (b"2022-01-01,0.275,1\n2022-01-02,0.3,0\n", "put a line of column names"),
        (b"BTC,0.275,1\nETH,0.3,0\n", "put a line of column names"),
        (b"a;0,275;1\nb;0,3;0\n", "put a line of column names"),
        (b"won,won\n1,0\n", "column names must differ, got 'won' 2 times"),
        (bytes(range(256)) * 4, "got other binary data"),
        (b"PK\x03\x04....", "spreadsheet file: save the sheet as CSV"),
        (b"team,p\n\xe9,0.5\n", "must be UTF-8, got other bytes in line 2: save it as UTF-8"),
        (b"r\xe9gen,p\n1,0.5\n", "must be UTF-8, got other bytes in line 1: save it as UTF-8"),
        (gzip.compress(PLAIN * 100, mtime=0)[:40], "damaged gzip file"),
        (b"PAR1 and no more", "damaged or of another kind"),
        (parquet({"won": pa.array([], pa.int64())}), "must have rows, got none"),
        (b'[{"won": 1},', "JSON that is broken"),
        (b'{"won": 1\n{"won"\n', "must hold rows, got none that can be read"),
    ],
)
def test_what_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, content)
    with pytest.raises(ValueError, match=message):
        read_table(path)
    with pytest.raises(ValueError, match=message):
        list(read_batches(path))


@pytest.mark.parametrize(
    "names",
    ["won,2019", "label,0,1", "city,2019,2020", "won,0.1,0.5,0.9", "day,2022-01-01"],
)
def test_numbers_may_be_names(names: str, tmp_path: Path) -> None:
    widths = len(names.split(",")) - 1
    first = {"won": "1", "label": "cat", "city": "Rom", "day": "2022-01-01"}[names.split(",")[0]]
    path = written(tmp_path, f"{names}\n{first}{',0.5' * widths}\n".encode())
    assert read_table(path).column_names == names.split(",")


def test_no_such_file(tmp_path: Path) -> None:
    written(tmp_path, PLAIN, "forecasts.csv")
    with pytest.raises(ValueError, match="that exists, got .*forecast.csv'.*'forecasts.csv'"):
        read_table(tmp_path / "forecast.csv")
    with pytest.raises(ValueError, match="must be a file, got the folder"):
        read_table(tmp_path)
    with pytest.raises(ValueError, match="that exists"):
        read_table(tmp_path / "none" / "x.csv")


class TestMalformed:
    CONTENT = b'won,note\n1,"two\nlines"\n\n0\n1,b\n0,c,d\n1,e\n0,f,,\n1\n'

    def test_lines_are_named(self, tmp_path: Path) -> None:
        path, notes = written(tmp_path, self.CONTENT), []
        assert read_table(path, notes=notes)["won"].to_pylist() == [1, 1, 1]
        assert notes == [f"4 malformed lines of {path} left out (not 2 fields): lines 5, 7, 9, …"]
        notes = []
        list(read_batches(path, notes=notes))
        assert notes[0].endswith("lines 5, 7, 9, …")

    def test_strict(self, tmp_path: Path) -> None:
        path = written(tmp_path, self.CONTENT)
        with pytest.raises(ValueError, match="line 5 of .* must have 2 fields, got 1: '0'"):
            read_table(path, strict=True)
        with pytest.raises(ValueError, match="line 5 of"):
            list(read_batches(path, strict=True))

    def test_json(self, tmp_path: Path) -> None:
        path, notes = written(tmp_path, b'{"a": 1}\n\n{"a"\n{"a": 2.5}\n[3]\n'), []
        assert read_table(path, notes=notes)["a"].to_pylist() == [1, 2.5]
        assert notes == [f"2 malformed lines of {path} left out (no JSON objects): lines 3, 5"]
        with pytest.raises(ValueError, match="line 3 of .* must be a JSON object"):
            read_table(path, strict=True)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few rows, so that small files have many."""
    for module in ("csv_files", "json_files", "sources"):
        monkeypatch.setattr(f"fullswap.inputs.{module}.BLOCK", 64)
    monkeypatch.setattr(sources, "HEAD", 48)


class TestBlocks:
    def test_types_that_change(self, tmp_path: Path, small_blocks: None) -> None:
        cells = [str(k) for k in range(50)] + ["0.5"] + ["x"] + [str(k) for k in range(50)]
        path = written(tmp_path, ("k,v\n" + "".join(f"{c},1\n" for c in cells)).encode())
        assert read_table(path)["k"].to_pylist() == cells
        batches = list(read_batches(path))
        assert len(batches) > 5
        kinds = [batch.schema.field("k").type for _, batch in batches]
        assert kinds[0] == pa.int64() and kinds[-1] == pa.string()
        assert kinds.index(pa.string()) + kinds[::-1].count(pa.string()) >= len(kinds)
        assert [str(v) for _, b in batches for v in b["k"].to_pylist()] == cells
        text = list(read_batches(path, text=["k"]))
        assert {b.schema.field("k").type for _, b in text} == {pa.string()}

    def test_line_numbers(self, tmp_path: Path, small_blocks: None) -> None:
        lines = [f"{k},1" if k % 7 else "bad" for k in range(2, 90)]
        path = written(tmp_path, ("line,v\n" + "\n".join(lines) + "\n").encode())
        firsts = [(line, batch["line"][0].as_py()) for line, batch in read_batches(path)]
        assert len(firsts) > 5
        assert all(line == first for line, first in firsts)

    def test_json_of_many_kinds(self, tmp_path: Path, small_blocks: None) -> None:
        values: list[Any] = [*range(20), "2026-01-01", 0.5, None, True, *range(20), "x"]
        content = "\n".join(json.dumps({"v": v, f"k{i // 30}": i}) for i, v in enumerate(values))
        path = written(tmp_path, content.encode())
        table = read_table(path)
        assert table.num_rows == len(values)
        assert table["v"].type == pa.string() and table["k0"].type == pa.int64()
        assert [k for k, v in enumerate(table["v"].to_pylist()) if v is None] == [22]
        assert [v for v in table["k0"].to_pylist() if v is not None] == list(range(30))
        rows = [(line, len(batch)) for line, batch in read_batches(path)]
        assert len(rows) > 5
        assert [line for line, _ in rows] == np.cumsum([1] + [n for _, n in rows])[:-1].tolist()

    def test_mixed_numbers_stay_numbers(self, tmp_path: Path, small_blocks: None) -> None:
        content = "".join(f'{{"v": {k if k < 30 else k + 0.5}}}\n' for k in range(60))
        assert read_table(written(tmp_path, content.encode()))["v"].type == pa.float64()


class Endless(io.RawIOBase):
    """The same line again and again, without end."""

    def __init__(self, line: bytes, first: bytes = b"") -> None:
        self.line, self.rest, self.given = line * 1000, first, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while len(self.rest) < len(buffer):
            self.rest += self.line
        buffer[:] = self.rest[: len(buffer)]
        self.rest = self.rest[len(buffer) :]
        self.given += len(buffer)
        assert self.given < 10**8, "all is read before anything is handed on"
        return len(buffer)


@pytest.mark.parametrize("json_lines", [False, True])
def test_rows_come_before_the_end(json_lines: bool, monkeypatch: Any, small_blocks: None) -> None:
    monkeypatch.setattr("fullswap.inputs.csv_files.BLOCK", 1 << 12)
    monkeypatch.setattr("fullswap.inputs.json_files.BLOCK", 1 << 12)
    line, first = (b'{"v": 0.5}\n', b"") if json_lines else (b"0.5,x\n", b"v,w\n")
    stream = io.BufferedReader(Endless(line, first))
    monkeypatch.setattr(sys, "stdin", stream)
    batches = read_batches("-")
    for _ in range(20):
        assert set(next(batches)[1]["v"].to_pylist()) == {0.5}
    batches.close()  # type: ignore[attr-defined]


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=20), sign=st.sampled_from(",;\t|")
)
def test_texts_come_back(rows: list[tuple[str, str]], sign: str, tmp_path: Path) -> None:
    """What the csv module writes is read, line breaks and quotes within fields too."""
    rows = [("first", "second"), *((f"x{a}", f"y{b}") for a, b in rows)]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=sign, quoting=csv.QUOTE_ALL).writerows(rows)
    table = read_table(written(tmp_path, text.getvalue().encode()))
    assert table.column_names == ["first", "second"]
    assert list(zip(*(column.to_pylist() for column in table.columns), strict=True)) == rows[1:]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (["1", "2", "NA"], pa.int64()),
        (["1", "2.5", "NaN"], pa.float64()),
        (["", "", ""], pa.int64()),
        (["007", "008", "1"], pa.string()),
        (["45%", "7%", "1%"], pa.string()),
        (["True", "False", "True"], pa.string()),
        (["1", "two", "3"], pa.string()),
        ([str(2**62), "0", "1"], pa.int64()),
    ],
)
def test_kinds_of_columns(column: list[str], kind: pa.DataType, tmp_path: Path) -> None:
    path = written(tmp_path, ("v,w\n" + "".join(f"{v},x\n" for v in column)).encode())
    assert read_table(path)["v"].type == kind
    assert next(read_batches(path))[1]["v"].type == kind


def test_from_file_to_log(tmp_path: Path) -> None:
    path = written(
        tmp_path, b"won;prob;day\nyes;45%;2026-03-02\nno;7%;2026-03-01\n;50%;2026-03-03\n"
    )
    log = log_of(read_table(path), y="won", p="prob", time="day")
    np.testing.assert_allclose(log.p, [0.07, 0.45, 0.5])
    assert (log.y[:2].tolist(), log.pending) == ([0, 1], 1)


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, PLAIN)

    def refuse(*_: Any) -> None:
        raise PermissionError(13, "Permission denied", os.fspath(path))

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(ValueError, match="can be read, got .*Permission denied"):
        read_table(path)
