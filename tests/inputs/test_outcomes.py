"""Outcomes in every writing that people use."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fullswap.inputs import outcomes

NAN = float("nan")
YES_NO = {
    "ints": ([1, 0, 1], [0, 1]),
    "floats": (np.array([1.0, 0.0, 1.0]), [0, 1]),
    "small ints": (np.array([1, 0, 1], dtype=np.uint8), [0, 1]),
    "numpy bool": (np.array([True, False, True]), [False, True]),
    "python bool": ([True, False, True], [False, True]),
    "yes": (["yes", "NO ", " Yes"], ["NO", "yes"]),
    "true": (["true", "false", "TRUE"], ["false", "true"]),
    "y": (["y", "n", "Y"], ["n", "y"]),
    "t": (["t", "f", "t"], ["f", "t"]),
    "won": (["Won", "Lost", "Won"], ["Lost", "Won"]),
    "win": (["win", "loss", "win"], ["loss", "win"]),
    "texts": (["1", "0", "1"], [0, 1]),
    "text floats": (["1.0", "0.0", "1"], [0, 1]),
    "bytes": (np.array([b"yes", b"no", b"yes"]), ["no", "yes"]),
    "signs": ([1, -1, 1], [-1, 1]),
    "pandas": (pd.Series([1, 0, 1], name="won"), [0, 1]),
    "pandas category": (pd.Series(["yes", "no", "yes"], dtype="category"), ["no", "yes"]),
    "pandas int category": (pd.Series([1, 0, 1], dtype="category"), [0, 1]),
    "pandas index": (pd.Index(["yes", "no", "yes"]), ["no", "yes"]),
    "polars": (pl.Series([True, False, True]), [False, True]),
    "polars category": (pl.Series(["yes", "no", "yes"], dtype=pl.Categorical), ["no", "yes"]),
    "arrow": (pa.array([True, False, True]), [False, True]),
    "arrow chunks": (pa.chunked_array([["yes"], ["no", "yes"]]), ["no", "yes"]),
    "arrow dictionary": (pa.array(["yes", "no", "yes"]).dictionary_encode(), ["no", "yes"]),
    "column": (np.array([[1], [0], [1]]), [0, 1]),
}
PENDING = {
    "none": [1, None, 0],
    "nan": [1.0, NAN, 0.0],
    "bools": [True, None, False],
    "NA": [True, pd.NA, False],
    "nullable": pd.Series([True, None, False], dtype="boolean"),
    "nullable ints": pd.Series([1, None, 0], dtype="Int64"),
    "arrow in pandas": pd.Series([True, None, False], dtype="bool[pyarrow]"),
    "polars": pl.Series([True, None, False]),
    "arrow": pa.array([True, None, False]),
    "empty text": ["yes", "", "no"],
    "NA text": ["yes", "NA", "no"],
    "NA among numbers": ["1", "NA", "0"],
    "blank": ["1", " ", "0"],
    "NaT": np.array([True, pd.NaT, False], dtype=object),
    "masked": np.ma.masked_array([1, 1, 0], mask=[False, True, False]),
    "category": pd.Series(["yes", None, "no"], dtype="category"),
    "dictionary": pa.array(["yes", None, "no"]).dictionary_encode(),
}


@pytest.mark.parametrize("name", YES_NO)
def test_yes_and_no_in_every_writing(name: str) -> None:
    values, labels = YES_NO[name]
    read = outcomes("y_true", values)
    assert read.codes.tolist() == [1.0, 0.0, 1.0]
    assert read.codes.dtype == np.float64
    assert read.labels == labels
    assert [type(v) for v in read.labels] == [type(v) for v in labels]
    assert not read.absent.any()


@pytest.mark.parametrize("name", PENDING)
def test_missing_outcomes_are_pending(name: str) -> None:
    read = outcomes("y_true", PENDING[name])
    np.testing.assert_array_equal(read.codes, [1.0, NAN, 0.0])
    assert not read.absent.any()


@pytest.mark.parametrize(
    ("values", "pos_label", "codes", "labels"),
    [
        (["home", "away", "home"], "home", [1, 0, 1], ["away", "home"]),
        (["home", "away", "home"], "HOME", [1, 0, 1], ["away", "home"]),
        ([1, 2, 2], 2, [0, 1, 1], [1, 2]),
        ([1, 2, 2], "2", [0, 1, 1], [1, 2]),
        ([True, False, None], False, [0, 1, NAN], [True, False]),
        ([0, 1, 1], 0, [1, 0, 0], [1, 0]),
        (["yes", "no", "no"], "no", [0, 1, 1], ["yes", "no"]),
        (["A", "a", "A"], "a", [0, 1, 0], ["A", "a"]),
        (["a", "b", "c"], "a", [1, 0, 0], ["not a", "a"]),
        (pd.Series(["x", "y", None], dtype="category"), "x", [1, 0, NAN], ["y", "x"]),
    ],
)
def test_any_label_may_mean_yes(values, pos_label, codes, labels) -> None:
    read = outcomes("y_true", values, pos_label=pos_label)
    np.testing.assert_array_equal(read.codes, codes)
    assert read.labels == labels


def test_labels_are_no_and_yes() -> None:
    read = outcomes("y_true", ["a", "b", None], labels=["b", "a"])
    np.testing.assert_array_equal(read.codes, [1.0, 0.0, NAN])
    assert read.labels == ["b", "a"]


def test_only_one_of_the_words_is_there() -> None:
    assert outcomes("y", ["won", "won"]).labels == ["lost", "won"]
    assert outcomes("y", ["False", "False"]).labels == ["False", "true"]


def test_a_tie_is_left_out_and_said() -> None:
    read = outcomes("column won", [1, 0, 0.5, 1])
    np.testing.assert_array_equal(read.codes, [1, 0, NAN, 1])
    assert read.absent.tolist() == [False, False, True, False]
    assert read.notes == ["column won: 1 outcome is neither yes nor no (0.5): left out"]


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (["home", "away"], {}, "got 'home' and 'away': name the one that means yes: pos_label="),
        (["a", "b", "c"], {}, "got 'a' at position 0"),
        ([1, 2, 1], {}, "got 1 and 2: name the one"),
        ([0, 1, 2], {}, "got 2 at position 2: for more than two classes"),
        ([0.1, 0.2, 0.3, 1], {}, "got 0.1 at position 0: these look like probabilities"),
        ([0, 1, -1], {}, "got -1 at position 2: leave outcomes that are pending empty"),
        ([0.5, 0.5, 1], {}, "got 0.5 at position 0"),
        (["a", "b"], {"pos_label": "c"}, "pos_label must be a value of y_true .*got 'c'"),
        (["a", "b"], {"labels": ["a"]}, "labels must be .no, yes."),
        (["a", "c"], {"labels": ["a", "b"]}, "one of the labels .a, b., got 'c' at position 1"),
        ("won", {}, "must be a column of values, got 'won'"),
        ({1, 0}, {}, "must be a column of values"),
        ([[1, 0], [0]], {}, "must be"),
        ([datetime.date(2026, 1, 1)], {}, "must be outcomes, not times"),
        (np.zeros((2, 2, 2)), {}, "must have shape"),
        ([[1], [{}]], {}, "must be one column"),
        (np.array([1j]), {}, "must be numbers, texts"),
    ],
)
def test_what_is_refused(values, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        outcomes("y_true", values, **options)


class TestClasses:
    @pytest.mark.parametrize(
        ("values", "labels", "classes", "codes", "called"),
        [
            ([0, 2, 1], None, 3, [0, 2, 1], [0, 1, 2]),
            (["h", "t", "a"], ["h", "t", "a"], 3, [0, 1, 2], ["h", "t", "a"]),
            (["H", "t ", None], ["h", "t", "a"], 3, [0, 1, NAN], ["h", "t", "a"]),
            (["c", "a", "b"], None, 3, [2, 0, 1], ["a", "b", "c"]),
            ([3, 1, 2], None, 3, [2, 0, 1], [1, 2, 3]),
            (["home", "away"], None, ["home", "tie", "away"], [0, 2], ["home", "tie", "away"]),
            (
                ["home", "away"],
                None,
                ["p_home", "p_tie", "p_away"],
                [0, 2],
                ["home", "tie", "away"],
            ),
            ([2, 0], None, ["x", "y", "z"], [2, 0], ["x", "y", "z"]),
            (["none", "NA"], ["none", "some", "all"], 3, [0, NAN], ["none", "some", "all"]),
        ],
    )
    def test_names_and_codes(self, values, labels, classes, codes, called) -> None:
        read = outcomes("y", values, labels=labels, classes=classes)
        np.testing.assert_array_equal(read.codes, codes)
        assert read.labels == called

    def test_sorted_order_is_said(self) -> None:
        assert "sorted order (a, b, c)" in outcomes("y", ["c", "a", "b"], classes=3).notes[0]

    def test_one_column_a_class(self) -> None:
        table = np.array([[1, 0, 0], [0, 0, 1], [NAN, NAN, NAN], [0.5, 0.5, 0]])
        read = outcomes("y", table, classes=["w", "t", "l"])
        np.testing.assert_array_equal(read.codes, [0, 2, NAN, NAN])
        assert read.absent.tolist() == [False, False, False, True]
        assert read.labels == ["w", "t", "l"]
        frame = pd.DataFrame(table, columns=["a", "b", "c"])
        assert outcomes("y", frame, classes=3).labels == ["a", "b", "c"]

    def test_two_columns_are_no_and_yes(self) -> None:
        assert outcomes("y", [[0, 1], [1, 0]]).codes.tolist() == [1, 0]

    @pytest.mark.parametrize(
        ("values", "labels", "classes", "message"),
        [
            (["a", "b"], None, 3, "whole numbers from 0 to 2 or 3 names, got 2"),
            (["a", "x"], ["a", "b", "c"], 3, "got 'x' at position 1"),
            ([0, 1], ["a", "b"], 3, "labels must be 3 different names"),
            ([0, 1], ["a", "A", "c"], 3, "labels must be 3 different names"),
            (["q"], None, ["a", "b", "c"], "got 'q' at position 0: give labels"),
            ([[1, 1, 0], [0, 1, 1]], None, 3, "one 1 a row"),
            ([[1, 0], [0, 1]], None, 3, "shape"),
        ],
    )
    def test_what_is_refused(self, values, labels, classes, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            outcomes("y", values, labels=labels, classes=classes)


def test_numbers_of_classes_may_have_names_to_show():
    names = ["home", "draw", "away"]
    result = outcomes("y_true", [2, 0, 1, None], labels=names, classes=3)
    assert result.codes[:3].tolist() == [2, 0, 1] and np.isnan(result.codes[3])
    assert result.labels == names
    with pytest.raises(ValueError, match="must be one of the labels"):
        outcomes("y_true", [3, 0, 1], labels=names, classes=3)
    with pytest.raises(ValueError, match="must be one of the labels"):
        outcomes("y_true", [0, 1, 2], labels=[10, 20, 30], classes=3)
