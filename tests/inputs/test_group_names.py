"""Groups that values of columns make are called alike, wherever the columns come from."""

from __future__ import annotations

import csv
import datetime
import decimal
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fullswap as fs
from fullswap.inputs.group_names import group_name
from fullswap.inputs.memberships import groups_of_column, memberships_of
from fullswap.replay import ReplaySettings, replay_file

NAN = float("nan")


def names_of(values):
    codes, names = groups_of_column("c", values)
    assert list(memberships_of({"c": values}, len(values)).names) == names
    return [None if code < 0 else names[code] for code in codes.tolist()]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1, 1.0, "1", "1.0", "1.00 ", np.float32(1), np.int8(1), decimal.Decimal("1.0")], "1"),
        ([0.1, np.float32(0.1), "0.1", " 0.1", np.float64(0.1)], "0.1"),
        ([-0.0, 0, "0.0", "-0.0"], "0"),
        ([1e16, 10**16], "10000000000000000"),
        (["x", " x", "x "], "x"),
        (["1.10"], "1.10"),  # a version, say
        (["007"], "007"),
        ([True, np.True_], "True"),
        (
            [
                datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1), "2020-01-01",
                np.datetime64("2020-01-01"), np.datetime64("2020-01-01", "ns"),
                pd.Timestamp("2020-01-01"),
            ],
            "2020-01-01",
        ),
        ([datetime.datetime(2020, 1, 1, 6), pd.Timestamp("2020-01-01 06:00")],
         "2020-01-01 06:00:00"),
    ],
)  # fmt: skip
def test_a_value_is_called_alike_in_every_type(values, text):
    assert {group_name("c", value) for value in values} == {f"c={text}"}


@pytest.mark.parametrize("value", [None, NAN, pd.NA, pd.NaT, "", " ", "\t", np.datetime64("NaT")])
def test_no_value_is_no_group(value):
    assert group_name("c", value) is None


def test_columns_of_all_kinds():
    wanted = ["c=1", "c=2", None, "c=1"]
    for values in (
        [1, 2, None, 1], np.array([1.0, 2.0, NAN, 1.0]), pd.Series([1, 2, None, 1]),
        pd.Series([1, 2, None, 1], dtype="Int64"), pl.Series([1.0, 2.0, None, 1.0]),
        pl.Series([1.0, 2.0, NAN, 1.0]), pa.array([1.0, 2.0, None, 1.0]),
        pa.chunked_array([[1, 2], [None, 1]]), pd.Series(["1.0", "2.0", " ", "1"]),
        pa.array(["1", "2 ", "", " 1"]), np.array(["1", "2.0", " ", "1"]),
    ):  # fmt: skip
        assert names_of(values) == wanted
    assert names_of(pa.nulls(2)) == [None, None]


def test_short_floats_are_written_short():
    values = [0.1, 2.0, 0.3]
    for kind in ("float32", "float16"):
        own = np.array(values, kind)
        assert names_of(own) == ["c=0.1", "c=2", "c=0.3"]
        assert names_of(pa.array(own)) == ["c=0.1", "c=2", "c=0.3"]
    own = np.array(values, "float32")
    assert names_of(pd.Series(own)) == names_of(pl.Series(own)) == ["c=0.1", "c=2", "c=0.3"]


def test_dates_of_all_kinds():
    days = ["2020-01-01", None, "2020-01-02"]
    wanted = ["c=2020-01-01", None, "c=2020-01-02"]
    moments = np.array([day or "NaT" for day in days], "M8[D]")
    dates = [None if day is None else datetime.date.fromisoformat(day) for day in days]
    for values in (
        moments, moments.astype("M8[ns]"), pd.Series(moments), pd.Series(dates), pl.Series(dates),
        pl.Series(moments), pa.array(dates), pa.array(moments.astype("M8[us]")), dates, days,
    ):  # fmt: skip
        assert names_of(values) == wanted


COLUMNS = {
    "hour": [1.0, None, 2.0, 1.0] * 5, "place": ["x", "x ", " ", " x"] * 5,
    "p": [0.5, 0.4, 0.3, 0.6] * 5, "won": [1, 0, 0, 1] * 5,
}  # fmt: skip


def written(folder, kind, columns):
    path = folder / f"log.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table(columns), path)
    elif kind == "jsonl":
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        with open(path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_check_forecast_and_python_have_the_same_groups(tmp_path, kind):
    wanted = {"hour=1", "hour=2", "place=x"}
    path = written(tmp_path, kind, COLUMNS)
    roles = {"y": ["won"], "p": ["p"], "groups": ["hour", "place"]}
    found = replay_file(path, roles, ReplaySettings())
    assert {row.name for row in found.groups.rows} - {"everybody"} == wanted
    from fullswap.checking.files import check_file
    from fullswap.checking.settings import Settings

    checked = check_file(path, roles, Settings(recalibrate=False))
    assert {segment.value for segment in checked.segments} == wanted
    frame = pd.DataFrame(COLUMNS)
    alone = fs.check(frame, y="won", p="p", groups=["hour", "place"], recalibrate=False)
    assert {segment.value for segment in alone.segments} == wanted


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_missing_number_does_not_split_a_group_between_calls(tmp_path, kind):
    roles = {"y": ["won"], "p": ["p"], "groups": ["hour"]}
    state = tmp_path / "s"
    replay_file(written(tmp_path, kind, COLUMNS), roles, ReplaySettings(), state=state)
    later = {**COLUMNS, "hour": [1, 1, 2, 1] * 5, "p": [0.7, 0.4, 0.3, 0.6] * 5}
    found = replay_file(written(tmp_path, kind, later), roles, ReplaySettings(), state=state)
    assert {row.name for row in found.groups.rows} == {"everybody", "hour=1", "hour=2"}
