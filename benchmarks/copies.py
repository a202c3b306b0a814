"""Copies of a forecaster, and probabilities for a row that a copy alone sees."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks import Prepare, Result, best_times
from fullswap import Forecaster

TIMES = 1000
PROBA_LIMIT = 2.0


def benchmark(quick: bool) -> list[Result]:
    """A copy against saving and loading; one row of ``predict_proba`` against its validation."""
    forecaster = Forecaster(1000, seed=1)
    forecaster.run(np.zeros(500))

    def repeated(action: Callable[[], object]) -> Prepare:
        def loop() -> None:
            for _ in range(TIMES):
                action()

        return lambda: loop

    turns = [
        ("copy", repeated(forecaster.copy)),
        ("json", repeated(lambda: Forecaster.from_json(forecaster.to_json()))),
    ]
    best = {key: seconds / TIMES for key, seconds in best_times(turns, passes=5).items()}
    name = "copies: copy() against saving and loading"
    results = [Result(name, best["copy"], best["json"], 3.0, faster=True)]
    return results + _proba(repeated)


def _proba(repeated: Callable[[Callable[[], object]], Prepare]) -> list[Result]:
    try:
        from sklearn.linear_model import LogisticRegression
        from sklearn.utils.validation import validate_data

        from fullswap.integrations.sklearn import CalibratedOnlineClassifier
    except ImportError:
        print("scikit-learn is not installed: no comparison of predict_proba")
        return []
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    bare = LogisticRegression().fit(features, labels)
    ours = CalibratedOnlineClassifier(LogisticRegression(), random_state=0).fit(features, labels)
    row = features[:1]
    turns = [
        ("bare", repeated(lambda: bare.predict_proba(row))),
        ("ours", repeated(lambda: ours.predict_proba(row))),
        ("validation", repeated(lambda: validate_data(bare, row, reset=False))),
    ]
    best = {key: seconds / TIMES for key, seconds in best_times(turns, passes=3).items()}
    name = "copies: what predict_proba of one row adds, against scikit-learn's validation of it"
    return [Result(name, best["ours"] - best["bare"], best["validation"], PROBA_LIMIT)]
