"""Classes, competing forecasters, and roles that are given wrongly."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fullswap.inputs import log_of

NAN = float("nan")
KINDS = (dict, pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table)
HALF = [0.5, 0.5]


class TestClasses:
    def test_frame_of_probabilities_names_the_classes(self) -> None:
        p = {"p_home": [0.5, 0.2], "p_tie": [0.3, 0.3], "p_away": [0.2, 0.5]}
        for make in KINDS:
            log = log_of(["tie", "home"], make(p))
            assert (log.y.tolist(), log.labels) == ([1, 0], ["home", "tie", "away"])
            np.testing.assert_allclose(log.p, [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
            assert log.classes == 3

    @pytest.mark.parametrize("roles", [
        {"classes": ["a", "b", "c"]}, {"p": ["a", "b", "c"], "classes": True},
        {"p": ["a", "b", "c"], "labels": ["a", "b", "c"]},
    ])  # fmt: skip
    def test_columns_of_a_frame(self, roles: dict[str, Any]) -> None:
        table = {"a": [0.5, 0.1], "b": [0.3, 0.3], "c": [0.2, 0.6], "y": ["c", "b"]}
        log = log_of(table, y="y", **roles)
        assert (log.y.tolist(), log.labels, log.models) == ([2, 1], ["a", "b", "c"], {})

    def test_one_column_a_class(self) -> None:
        table = {"a": [0.5, 0.1], "b": [0.3, 0.3], "c": [0.2, 0.6],
                 "ya": [1, 0], "yb": [0, 0], "yc": [0, 1]}  # fmt: skip
        log = log_of(table, y=["ya", "yb", "yc"], classes=["a", "b", "c"])
        assert (log.y.tolist(), log.labels) == ([0, 2], ["a", "b", "c"])

    @pytest.mark.parametrize(
        ("columns", "outcome", "options"),
        [
            (("no", "yes"), ["yes", "no"], {}),
            (("p_lost", "p_won"), ["won", "lost"], {}),
            (("dog", "cat"), ["cat", "dog"], {}),
            (("x", "y"), [1, 0], {}),
            (("dog", "cat"), ["cat", "dog"], {"pos_label": "cat"}),
            (("0", "1"), [1, 0], {}),
        ],
    )
    def test_two_columns(self, columns: Any, outcome: Any, options: Any) -> None:
        forwards = {columns[0]: [0.1, 0.8], columns[1]: [0.9, 0.2]}
        log = log_of(outcome, forwards, **options)
        np.testing.assert_allclose(log.p, [0.9, 0.2])
        assert log.y.tolist() == [1, 0]
        if columns == ("x", "y"):  # nothing but the order says which is yes
            return
        backwards = dict(reversed(forwards.items()))
        log = log_of(outcome, backwards, **options)
        same = log.y.tolist() == [1, 0]  # else the two swapped roles, and still agree
        np.testing.assert_allclose(log.p, [0.9, 0.2] if same else [0.1, 0.8])

    def test_no_label_is_yes_among_classes(self) -> None:
        with pytest.raises(ValueError, match="pos_label must be left out with 3 classes"):
            log_of([0, 1], [[0.2, 0.3, 0.5]] * 2, pos_label=1)


class TestModels:
    def test_several_forecasters(self) -> None:
        table = {"y": [1, 0, 1, None], "a": [0.7, NAN, 0.5, 0.4], "b": [0.6, NAN, NAN, 0.2],
                 "c": [NAN] * 4}  # fmt: skip
        log = log_of(table, y="y", p=["a", "b", "c"])
        assert log.p is None
        assert list(log.models) == ["a", "b"]
        np.testing.assert_array_equal(log.models["a"], [0.7, 0.5, 0.4])
        np.testing.assert_array_equal(log.models["b"], [0.6, NAN, 0.2])
        assert "without any forecast, left out: c" in log.notes
        assert "1 row without any forecast left out" in log.notes
        assert any("1 of 2 forecasters have gaps, b the most (1 row)" in v for v in log.notes)

    def test_marks_for_no_forecast_are_said(self) -> None:
        table = {"y": [1, 0, 1, 0], "a": [0.7, -1, -1, -1], "b": [0.6, 0.1, 0.9, NAN]}
        log = log_of(table, y="y", p=["a", "b"])
        assert log.notes[0] == "column a: -1 (3 times) read as no forecast"
        assert [note for note in log.notes if "column b" in note] == []

    def test_percents_are_told_from_all_columns(self) -> None:
        table = {"y": [1, 0], "a": [70, 10], "b": [60, 20], "c": [0.5, 1]}
        log = log_of(table, y="y", p=["a", "b", "c"])
        np.testing.assert_allclose(log.models["c"], [0.005, 0.01])
        assert "probabilities: read as percent (all)" in log.notes

    def test_labels_of_yes_no_events_leave_forecasters_apart(self) -> None:
        table = {"y": ["b", "a"], "p": [0.7, 0.1], "q": [0.6, 0.2], "r": [0.5, 0.5]}
        assert list(log_of(table, y="y", p=["p", "q"], labels=["a", "b"]).models) == ["p", "q"]
        assert len(log_of(table, y="y", p=["p", "q", "r"], labels=["a", "b"]).models) == 3

    @pytest.mark.parametrize("names", [pd.Index(["a", "b"]), np.array(["a", "b"]), ("a", "b")])
    def test_names_of_any_kind(self, names: Any) -> None:
        table = pd.DataFrame({"y": [1, 0], "a": [0.7, 0.1], "b": [0.3, 0.9]})
        assert list(log_of(table, y="y", p=names, by=names).models) == ["a", "b"]
        assert log_of(table, y="y", classes=names).names["p"] == ["a", "b"]

    def test_a_list_of_one_is_one(self) -> None:
        log = log_of({"y": [1, 0], "a": [0.7, 0.1]}, y=["y"], p=["a"], time=["a"])
        assert log.names["y"] == "y" and log.time is not None
        assert log.p is not None and not log.models


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: log_of([0.2, 0.3, 0.4], [1, 0, 1]),
            "y_true and y_proba look swapped: .*check.y, p",
        ),
        (lambda: log_of([20, 30, 45, 12, 60, 70, 80, 90, 5], [1, 0] * 4 + [1]), "look swapped"),
        (lambda: log_of([0.2, 0.3, 0.4], [True, False, True]), "look swapped"),
        (lambda: log_of([0.2, 0.3, 0.4], ["yes", "no", "no"]), "look swapped"),
        (
            lambda: log_of({"w": [1, 0, 1], "q": [0.2, 0.3, 0.4]}, y="q", p="w"),
            "y and p look swapped: column q holds probabilities .*give y='w', p='q'",
        ),
        (lambda: log_of([1, 0], [0.5]), "y_proba must be as long as y_true .2., got 1"),
        (lambda: log_of([], []), "y_true must hold outcomes, got no rows"),
        (
            lambda: log_of([1], [0.5]),
            "at least 2 known outcomes that have a forecast, got 1 in 1 row",
        ),
        (lambda: log_of([1, 0], [0.5, NAN]), "at least 2 known .* got 1 in 2 rows"),
        (lambda: log_of([None, NAN], HALF), "known outcomes, got 2 rows, all pending"),
        (lambda: log_of(None, HALF), "y_true must be outcomes, got None"),
        (lambda: log_of(["a", "b"], HALF, labels="ab"), "labels must be a list of names, got 'ab'"),
        (lambda: log_of(["a", "b"], HALF, pos_label=pd.NA), "pos_label must be a value of y_true"),
        (lambda: log_of([1, 0]), "y_proba must be probabilities, got None"),
        (lambda: log_of([1, 0], HALF, y="a"), "y must be left out with arrays"),
        (
            lambda: log_of({"won": [1]}, y="wno", p="won"),
            r"y must name a column \(won\), got 'wno': "
            "did you mean 'won'",
        ),
        (
            lambda: log_of({"won": [1], "b": [1]}, y="won"),
            "p must name the probability column.*won, b",
        ),
        (lambda: log_of({"won": [1], "b": [1]}, p="b"), "y must name the outcome column"),
        (lambda: log_of({}, y="a", p="b"), "must have columns"),
        (lambda: log_of(pd.DataFrame([[1, 0.5]], columns=["a", "a"]), y="a", p="a"), "'a' 2 times"),
        (lambda: log_of([1, 0], HALF, sample_weight=[1, -1]), "sample_weight must be at least 0"),
        (lambda: log_of([1, 0], HALF, sample_weight=[1, NAN]), "sample_weight must be 0 or lie in"),
        (lambda: log_of([1, 0], HALF, sample_weight=[0, 0]), "at least one positive entry"),
        (lambda: log_of([1, 0], HALF, by=["a", "b"]), "by must be a column or a dict"),
        (lambda: log_of([1, 0], HALF, by={"g": ["a"]}), "as long as y_true"),
        (lambda: log_of({"y": [1, 0], "p": HALF}, y="y", classes=["p"]), "classes must be names"),
    ],
)
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_hard_forecasts_are_not_swapped() -> None:
    assert log_of([1, 0, 1], [1, 0, 0]).p is not None
    assert log_of([1, 0, 1, 0.5], [1, 0, 0, 1]).rows == 4


@pytest.mark.parametrize(
    "labels", [["b", "a"], ("b", "a"), np.array(["b", "a"]), pd.Series(["b", "a"])]
)
def test_labels_of_any_kind(labels: Any) -> None:
    log = log_of(["a", "b"], HALF, labels=labels)
    assert (log.y.tolist(), log.labels) == ([1, 0], ["b", "a"])


def test_a_segment_may_be_called_as_a_role() -> None:
    with pytest.raises(ValueError, match="time must be as long as y_true"):
        log_of([1, 0], HALF, by={"time": ["a"]}, event={"time": ["a", "b"]})
    log = log_of([1, 0], HALF, by={"time": ["a", "b"]}, time=[2, 1])
    assert log.by["time"].tolist() == ["b", "a"]


def test_a_table_among_forecasters() -> None:
    table = {"y": [1, 0], "p": HALF, "q": np.full((2, 3), 1 / 3)}
    with pytest.raises(ValueError, match="column q must have shape"):
        log_of(table, y="y", p=["p", "q"])


def test_numbers_of_128_bits() -> None:
    ids = pl.Series([2**100, 2**100 + 1], dtype=pl.Int128)
    assert log_of([1, 0], HALF, event=ids).event_names == [str(2**100), str(2**100 + 1)]
