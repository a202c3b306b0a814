"""Logs: the same from every kind of table, in order of time, with what was noticed."""

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from fullswap.inputs import Log, log_of

NAN = float("nan")
KINDS = {
    "dict": dict,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "arrow": pa.table,
    "batch": pa.RecordBatch.from_pydict,
    "pandas on arrow": lambda d: pa.table(d).to_pandas(types_mapper=pd.ArrowDtype),
}


def assert_same(a: Log, b: Log) -> None:
    for name in ("y", "p", "weight", "event", "time"):
        one, other = getattr(a, name), getattr(b, name)
        assert (one is None) == (other is None), name
        if one is not None:
            np.testing.assert_array_equal(one, other, err_msg=name)
    assert a.by.keys() == b.by.keys()
    for key in a.by:
        np.testing.assert_array_equal(a.by[key], b.by[key], err_msg=key)
    assert (a.labels, a.names, a.notes, a.event_names) == (
        b.labels, b.names, b.notes, b.event_names,
    )  # fmt: skip


rows_of_a_log = st.lists(
    st.tuples(
        st.sampled_from(["yes", "no", None]),
        st.one_of(st.none(), st.floats(0, 1)),
        st.sampled_from(["a", "b", "", None]),
        st.integers(0, 3),
        st.floats(0.1, 1),
    ),
    min_size=4,
    max_size=30,
).filter(lambda rows: sum(y is not None and p is not None for y, p, *_ in rows) >= 2)


def table_of(rows: list[Any]) -> dict[str, list[Any]]:
    names = ("won", "prob", "league", "round", "w")
    table: dict[str, list[Any]] = {
        k: list(v) for k, v in zip(names, zip(*rows, strict=True), strict=True)
    }
    start = datetime.date(2026, 1, 1)
    table["day"] = [start + datetime.timedelta(days=7 * k % 31) for k in range(len(rows))]
    return table


ROLES = {"y": "won", "p": "prob", "by": ["league", "round"], "time": "day", "sample_weight": "w"}


@given(rows_of_a_log)
def test_same_log_from_every_kind_of_table(rows: list[Any]) -> None:
    table = table_of(rows)
    first = log_of(table, **ROLES)
    for make in list(KINDS.values())[1:]:
        assert_same(log_of(make(table), **ROLES), first)


@given(rows_of_a_log)
def test_same_log_from_every_kind_of_column(rows: list[Any]) -> None:
    table = table_of(rows)

    def read(make: Any) -> Log:
        y, p, league, _, w = (make(table[k]) for k in ("won", "prob", "league", "round", "w"))
        return log_of(y, p, by={"league": league}, time=make(table["day"]), sample_weight=w)

    first = read(list)
    for make in (pd.Series, pl.Series, pa.array, lambda v: np.array(v, dtype=object), tuple):
        assert_same(read(make), first)


@given(rows_of_a_log, st.randoms(use_true_random=False))
def test_order_of_rows_is_no_matter_when_times_differ(rows: list[Any], random: Any) -> None:
    table = table_of(rows)
    table["day"] = list(range(len(rows)))
    perm = list(range(len(rows)))
    random.shuffle(perm)
    shuffled = {name: [column[k] for k in perm] for name, column in table.items()}
    a, b = log_of(table, **ROLES), log_of(shuffled, **ROLES)
    for name in ("y", "p", "weight", "time"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    np.testing.assert_array_equal(a.by["league"], b.by["league"])
    np.testing.assert_array_equal(a.order, np.array(perm)[b.order])


def test_what_a_log_holds() -> None:
    table = {
        "won": [1, 0, None, 1, 0.5, 0, 1, 1],
        "prob": [0.9, 0.1, 0.5, NAN, 0.5, 0.3, 0.6, 0.8],
        "league": ["a", "b", None, "a", "b", " a", "a", "b"],
        "home": [True, False, None, True, True, True, True, True],
        "size": [1, None, 3, 4, 5, 6, 7, 8],
    }
    log = log_of(table, y="won", p="prob", by=["league", "home", "size"])
    np.testing.assert_array_equal(log.order, [0, 1, 2, 5, 6, 7])
    np.testing.assert_array_equal(log.y, [1, 0, NAN, 0, 1, 1])
    np.testing.assert_array_equal(log.p, [0.9, 0.1, 0.5, 0.3, 0.6, 0.8])
    assert log.by["league"].tolist() == ["a", "b", "(missing)", "a", "a", "b"]
    assert log.by["home"].tolist() == ["True", "False", "(missing)", "True", "True", "True"]
    np.testing.assert_array_equal(log.by["size"], [1, NAN, 3, 6, 7, 8])
    assert (log.rows, log.pending, log.classes, len(log)) == (8, 1, 2, 6)
    assert log.names == {"y": "won", "p": "prob", "by": ["league", "home", "size"]}
    assert log.notes == [
        "column won: 1 outcome is neither yes nor no (0.5): left out",
        "column prob: 1 row without a forecast left out",
        "no time given: read in the order of the rows",
        "1 of 6 rows pending (16.7 %): if yes comes to be known earlier than no, give due, when "
        "each outcome is due",
    ]


def test_array_with_named_fields() -> None:
    array = np.array([(1, 0.7), (0, 0.2)], dtype=[("won", "i1"), ("prob", "f4")])
    log = log_of(array, y="won", p="prob")
    np.testing.assert_allclose(log.p, [0.7, 0.2], rtol=1e-6)
    assert log.y.tolist() == [1, 0]


def test_names_of_series_are_kept() -> None:
    y, p = pd.Series([1, 0], name="won"), pl.Series("prob", [0.7, 0.2])
    group = pd.Series(["a", "b"], name="league")
    log = log_of(y, p, by=group)
    assert log.names == {"y": "won", "p": "prob", "by": ["league"]}
    assert log_of([1, 0], [0.7, 0.2], by=["a", "a"]).names["by"] == ["by"]
