"""Probabilities in every writing that people use."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.inputs import probabilities

NAN = float("nan")
ONE = {
    "list": [0.2, 0.7],
    "texts": ["0.2", " 0.7"],
    "float32": np.array([0.25, 0.75], dtype=np.float32),
    "column": np.array([[0.2], [0.7]]),
    "two": np.array([[0.8, 0.2], [0.3, 0.7]]),
    "two lists": [[0.8, 0.2], [0.3, 0.7]],
    "pandas": pd.Series([0.2, 0.7]),
    "polars": pl.Series([0.2, 0.7]),
    "arrow": pa.array([0.2, 0.7]),
    "one column": pd.DataFrame({"p": [0.2, 0.7]}),
    "two columns": pl.DataFrame({"no": [0.8, 0.3], "yes": [0.2, 0.7]}),
    "percent": [20, 70],
    "percent texts": ["20%", "70 %"],
    "two of percent": [[80, 20], [30, 70]],
    "objects": np.array([0.2, 0.7], dtype=object),
}


@pytest.mark.parametrize("name", ONE)
def test_probabilities_of_yes(name: str) -> None:
    p, notes = probabilities("y_proba", ONE[name])
    expected = [0.25, 0.75] if name == "float32" else [0.2, 0.7]
    np.testing.assert_allclose(p, expected, rtol=1e-15)
    assert p.dtype == np.float64
    assert bool(notes) == ("percent" in name)


@pytest.mark.parametrize("missing", [None, NAN, pd.NA, "", "NA"])
def test_no_forecast(missing) -> None:
    p, notes = probabilities("y_proba", ["0.2" if isinstance(missing, str) else 0.2, missing])
    np.testing.assert_array_equal(p, [0.2, NAN])
    assert notes == ["y_proba: 1 row without a forecast left out"]


@pytest.mark.parametrize("missing", [None, "", "NA"])
def test_no_forecast_among_percent_signs(missing) -> None:
    np.testing.assert_array_equal(probabilities("p", ["20%", missing])[0], [0.2, NAN])


@given(st.lists(st.floats(0, 1), min_size=3, max_size=40))
def test_percents_come_back(shares: list[float]) -> None:
    percents = [100 * p for p in [*shares, 0.5]]
    p, notes = probabilities("p", percents)
    np.testing.assert_allclose(p, [*shares, 0.5], rtol=1e-14, atol=0)
    assert len(notes) == 1
    text, _ = probabilities("p", [f"{v!r}%" for v in percents])
    np.testing.assert_array_equal(text, p)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_shares_stay_as_they_are(shares: list[float]) -> None:
    p, notes = probabilities("p", shares)
    np.testing.assert_array_equal(p, shares)
    assert not notes


def test_rounding_is_clipped_without_a_word() -> None:
    p, notes = probabilities("p", [1 + 1e-12, -1e-12, 0.5])
    assert p.tolist() == [1.0, 0.0, 0.5]
    assert not notes


def test_rows_are_made_to_sum_to_one() -> None:
    exact = np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    p, notes = probabilities("p", exact)
    np.testing.assert_allclose(p, exact, rtol=1e-15)
    assert not notes
    p, notes = probabilities("p", [[0.33, 0.33, 0.33], [0.1, 0.1, 0.8]])
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-15)
    assert "1 row summed to 1 only after rounding (off by up to 0.01)" in notes[0]
    p, notes = probabilities("p", [[20, 30, 50], [NAN, 10, 80]])
    np.testing.assert_allclose(p[0], [0.2, 0.3, 0.5])
    assert np.isnan(p[1]).all()
    assert len(notes) == 2


def test_a_mark_for_no_forecast() -> None:
    p, notes = probabilities("p", [-1, 0.2, -1, 0.3, -1])
    np.testing.assert_array_equal(p, [NAN, 0.2, NAN, 0.3, NAN])
    assert notes[0] == "p: -1 (3 times) read as no forecast"


def test_told_that_these_are_percents() -> None:
    assert probabilities("p", [0.5, 1.0], percent=True)[0].tolist() == [0.005, 0.01]
    with pytest.raises(ValueError, match="got 20 at position 0"):
        probabilities("p", [20.0, 70.0], percent=False)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.2, 1.001], r"lie in \[0, 1\], got 1.001 at position 1; divide by 100"),
        ([0.2, -0.001], "got -0.001 at position 1: log-odds"),
        ([-2.2, 1.3, 0.2], "log-odds"),
        ([0.2, 101], "got 101 at position 1: log-odds"),
        ([0.2, np.inf], "got inf at position 1"),
        ([-np.inf] * 3 + [0.5], "got -inf at position 0"),
        ([0.5] * 200 + [37], "got 37 at position 200; divide by 100"),
        ([[0.5, 0.3], [0.5, 0.5]], "rows that sum to 1, got 0.8 at position 0"),
        ([[0.5, 0.3, 0.1]], "rows that sum to 1, got 0.9 at position 0"),
        ([[0.5, 0.7, -0.2]], r"got -0.2 at position \(0, 2\)"),
        (["0.2", "high"], "must be numbers, got 'high' at position 1"),
        (["20%", "0.3"], "the sign % in every row or in none, got '0.3' at position 1"),
        ([[0.5, 0.5], [1.0]], "must be"),
        (np.zeros((2, 2, 2)), "must have shape"),
        (np.zeros((2, 0)), "must have shape"),
        (np.array(["2026-01-01"], dtype="datetime64[D]"), "must be probabilities"),
        (0.5, "must have shape"),
    ],
)
def test_what_is_refused(values, message: str) -> None:
    with pytest.raises(ValueError, match=f"^y_proba must .*{message}|^y_proba {message}"):
        probabilities("y_proba", values)
