"""Groups of events: every form of the same membership gives the same table."""

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from fullswap.inputs.memberships import MOST_IN_EVENT, Memberships, memberships_of

NAN = float("nan")
NAMES = ("north", "south", 3, ("age", 40), "night")
TABLES = st.integers(0, 12).flatmap(
    lambda n: st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=n, max_size=n)
)


def lists(found: Memberships) -> list[list[Any]]:
    cut = [found.members[a:b] for a, b in zip(found.starts[:-1], found.starts[1:], strict=True)]
    return [[found.names[k] for k in part] for part in cut]


def plain(found: Memberships) -> Any:
    assert found.starts.dtype == found.members.dtype == np.int64
    return found.names, found.starts.tolist(), found.members.tolist()


@given(TABLES, st.randoms(use_true_random=False))
def test_all_forms_of_the_same_membership_give_the_same_table(table: Any, random: Any) -> None:
    events = len(table)
    array = np.array(table, dtype=bool).reshape(events, 5)
    names = [[NAMES[k] for k in range(5) if row[k]] for row in table]
    mixed = [random.sample(row, len(row)) + row[:1] for row in names]
    expected = (
        NAMES,
        [0, *np.cumsum(array.sum(axis=1)).tolist()],
        [k for row in table for k in range(5) if row[k]],
    )
    forms = [
        names,
        mixed,
        [tuple(row) for row in mixed],
        [set(row) for row in names],
        [[*row, None, "", NAN] for row in names],
        [row[0] if len(row) == 1 and not isinstance(row[0], tuple) else row for row in names],
        [row or None for row in names],
        pd.Series(names, dtype=object),
        array,
        array.astype(int),
        array.astype(np.float32),
        array.astype(object) if events else array,
        sp.csr_matrix(array),
        sp.coo_array(array.astype(float)),
    ]
    for form in forms:
        assert plain(memberships_of(form, events, NAMES)) == expected


@given(TABLES, st.randoms(use_true_random=False))
def test_some_events_and_the_events_of_a_group(table: Any, random: Any) -> None:
    events = len(table)
    array = np.array(table, dtype=bool).reshape(events, 5)
    found = memberships_of(array, events, NAMES)
    assert [rows.tolist() for rows in found.rows()] == [np.flatnonzero(c).tolist() for c in array.T]
    chosen = np.array([k for k in range(events) if random.random() < 0.6], dtype=np.int64)
    random.shuffle(chosen)
    part = memberships_of(array[chosen], len(chosen), NAMES)
    assert plain(found.taken(chosen)) == plain(part)


WORDS = st.sampled_from(["n", "s", "east", None])
COLUMNS = st.lists(st.tuples(WORDS, st.sampled_from([1, 2, 30, None])), max_size=15)


@given(COLUMNS)
def test_frames_are_lists_of_columns_and_values(rows: list[tuple[Any, Any]]) -> None:
    names = [
        [f"{column}={value}" for column, value in zip(("region", "band"), row, strict=True)
         if value is not None]
        for row in rows
    ]  # fmt: skip
    expected = plain(memberships_of(names, len(rows)))
    columns = {"region": [a for a, _ in rows], "band": [b for _, b in rows]}
    schema = {"region": pl.String, "band": pl.Int64}
    frame = pl.DataFrame(columns, schema=schema)
    forms = [
        columns,
        {key: np.array(column, dtype=object) for key, column in columns.items()},
        pd.DataFrame(columns),  # the band becomes floats where it has holes
        pd.DataFrame(columns).astype({"region": "category", "band": "Int64"}),
        frame,
        frame.lazy(),
        frame.with_columns(pl.col("region").cast(pl.Categorical)),
        frame.to_arrow(),
    ]
    for form in forms:
        assert plain(memberships_of(form, len(rows))) == expected


@given(st.lists(st.sampled_from(["n", "s", "", None]), max_size=15))
def test_single_names_are_lists_of_one(words: list[Any]) -> None:
    expected = plain(memberships_of([[word] if word else [] for word in words], len(words)))
    arrow = pa.array(words, pa.string())
    forms = [
        words,
        tuple(words),
        np.array(words, dtype=object),
        np.array([word or "" for word in words], dtype=str),
        pd.Series(words, dtype=object),
        pd.Series(words, dtype="string"),
        pd.Series(words, dtype="category"),
        pl.Series(words, dtype=pl.String),
        arrow,
        pa.chunked_array([arrow, arrow[:0]]),
    ]
    for form in forms:
        assert plain(memberships_of(form, len(words))) == expected


def test_numbers_and_lists_in_columns() -> None:
    assert memberships_of(np.array([7.0, NAN, -0.0, 0.0]), 4).names == (7, 0)
    assert memberships_of(np.array([7, 3, 7]), 3).members.tolist() == [0, 1, 0]
    nested = pl.Series([["a", "b"], [], ["b"]])
    assert lists(memberships_of(nested, 3)) == [["a", "b"], [], ["b"]]
    assert lists(memberships_of(nested.to_arrow(), 3)) == [["a", "b"], [], ["b"]]
    assert lists(memberships_of(np.array([["b", "a"], ["", "a"]]), 2)) == [["b", "a"], ["a"]]
    masked = np.ma.MaskedArray([1, 2], mask=[False, True])
    assert lists(memberships_of(masked, 2)) == [[1], []]


def test_days_and_truths_in_frames() -> None:
    days = np.array(["2026-01-01", "2026-01-02", "NaT"], dtype="M8[ns]")
    found = memberships_of({"day": days, "vip": [True, False, None]}, 3)
    assert found.names == ("day=2026-01-01", "vip=True", "day=2026-01-02",
                           "vip=False")  # fmt: skip
    assert lists(found)[2] == []


def test_columns_without_names_are_numbered() -> None:
    found = memberships_of(np.array([[0, 1, 1], [0, 0, 0]]), 2)
    assert plain(found) == ((0, 1, 2), [0, 2, 2], [1, 2])
    assert plain(memberships_of(sp.csc_matrix([[0, 1, 1], [0, 0, 0]]), 2)) == plain(found)
    assert found.events.tolist() == [0, 0]


def test_explicit_zeros_and_repeated_entries_of_sparse_tables() -> None:
    table = sp.csr_matrix((np.array([0.0, 1.0, 1.0]), np.array([2, 1, 1]), np.array([0, 3])))
    assert plain(memberships_of(table, 1, "abc")) == (("a", "b", "c"), [0, 1], [1])


def test_no_groups_at_all() -> None:
    assert plain(memberships_of(None, 2)) == ((), [0, 0, 0], [])
    assert plain(memberships_of([], 0, ["a"])) == (("a",), [0], [])


BAD = {
    "a text": ("north", "be names or lists of names"),
    "a number": (3, "be names or lists of names"),
    "a set": ({"a", "b"}, "be names or lists of names"),
    "short": ([["a"]], "2"),
    "a short column": ({"region": ["n"]}, "column 'region' of groups"),
    "a text as a column": ({"region": "no"}, "column 'region' of groups"),
    "no column": ({}, "at least one column"),
    "an unhashable name": ([[["a"]], []], "got \\['a'\\]"),
    "a dict": ([{"a": 1}, {"b": 1}], "got {'a': 1}"),
    "an infinite name": (["a", float("inf")], "got inf in event 1"),
    "an empty tuple": ([["a"], [()]], "got \\(\\) in event 1"),
    "a cube": (np.zeros((2, 1, 1)), "shape"),
    "a wrong shape": (np.zeros((3, 2)), "shape \\(2, G\\), got \\(3, 2\\)"),
    "a wrong sparse shape": (sp.csr_matrix((3, 2)), "shape \\(2, G\\), got \\(3, 2\\)"),
    "shares": (np.array([[0.5, 1], [0, 0]]), "0 and 1 .* got 0.5 at position"),
    "holes": (np.array([[0, 1], [0, NAN]]), "0 and 1 .* got nan"),
    "sparse shares": (sp.csr_matrix([[0.5, 1], [0, 0]]), "0 and 1 .* got 0.5"),
    "too many": ([["a"], [f"g{k}" for k in range(MOST_IN_EVENT + 1)]], "got 129 in event 1"),
    "a table too wide": (np.ones((2, 200)), "got 200 in event 0"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_refused(name: str) -> None:
    groups, words = BAD[name]
    with pytest.raises(ValueError, match=words):
        memberships_of(groups, 2)


def test_the_limit_counts_a_name_once() -> None:
    names = [f"g{k}" for k in range(MOST_IN_EVENT)]
    assert len(memberships_of([names + names], 1).members) == MOST_IN_EVENT


def test_names_that_are_not_known() -> None:
    with pytest.raises(ValueError, match=r"known names \(a, b\), got 'c' in event 1"):
        memberships_of([["a"], ["b", "c"]], 2, ["a", "b"])
    with pytest.raises(ValueError, match="give a table of 0 and 1 as an array"):
        memberships_of([[1, 0], [0, 1]], 2, ["a", "b"])
    with pytest.raises(ValueError, match=r"shape \(1, 2\), got \(1, 3\)"):
        memberships_of(np.zeros((1, 3)), 1, ["a", "b"])
    with pytest.raises(ValueError, match="known must have every name once"):
        memberships_of(["a"], 1, ["a", "a"])


def test_scipy_is_not_imported() -> None:
    code = (
        "import sys, numpy as np; from fullswap.inputs.memberships import memberships_of as m;"
        "m([['a']], 1); m(np.ones((1, 2)), 1); m({'a': ['x']}, 1);"
        "assert 'scipy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
