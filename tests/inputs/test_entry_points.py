"""What `check` reads, metrics, forecasters and monitors read too."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fullswap as fs

P = [0.2, 0.7, 0.6, 0.1]
PLAIN = [1, 0, 1, 0]
WORDS = ["yes", "no", "Yes", "NO "]
OUTCOMES = {
    "bool": [True, False, True, False],
    "numpy bool": np.array(PLAIN, dtype=bool),
    "nullable": pd.Series([True, False, True, False], dtype="boolean"),
    "polars": pl.Series([True, False, True, False]),
    "arrow": pa.array([True, False, True, False]),
    "words": WORDS,
    "numpy words": np.array(WORDS),
    "category": pd.Series(WORDS, dtype="category"),
    "polars words": pl.Series(WORDS),
    "arrow words": pa.array(WORDS),
}


def watched(y, p):
    monitor = fs.Monitor()
    monitor.update(y, p)
    return monitor.evidence


USES = {
    "metric": lambda y, p: fs.metrics.brier_score(y, p),
    "forecaster": lambda y, _: fs.Forecaster(seed=0).run(y).issued.tolist(),
    "recalibrator": lambda y, p: fs.Recalibrator(seed=0).run(p, y).issued.tolist(),
    "monitor": watched,
    "check": lambda y, p: fs.check(y, p, recalibrate=False).metrics,
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", OUTCOMES)
def test_outcomes_of_every_kind(use, kind):
    assert USES[use](OUTCOMES[kind], P) == USES[use](PLAIN, P)


@pytest.mark.parametrize("use", ["metric", "recalibrator", "monitor", "check"])
@pytest.mark.parametrize(
    "p", [pl.Series(P), pa.array(P), pa.chunked_array([P]), pd.Series(P, dtype="Float64")]
)
def test_probabilities_of_every_kind(use, p):
    assert USES[use](PLAIN, p) == USES[use](PLAIN, P)


def test_single_words_and_what_is_refused():
    forecaster, other = fs.Forecaster(seed=0), fs.Forecaster(seed=0)
    for one, same in (("yes", 1), ("no", 0)):
        forecaster.predict()
        other.predict()
        forecaster.update(one)
        other.update(same)
    assert forecaster.to_json() == other.to_json()
    forecaster.predict()
    for bad in ("perhaps", "", None):
        with pytest.raises(ValueError, match="outcome must"):
            forecaster.update(bad)
    for call in (
        lambda: fs.metrics.brier_score(["yes", "maybe"], [0.5, 0.5]),
        lambda: fs.metrics.brier_score(["yes", None], [0.5, 0.5]),
        lambda: fs.Forecaster().run(["yes", None]),
        lambda: fs.Forecaster().run(["blue", "red"]),
    ):
        with pytest.raises(ValueError, match="must"):
            call()
