"""The public functions: the same numbers as on cells, and what they refuse."""

import numpy as np
import pytest

from fullswap import metrics
from fullswap.metrics import Cells, benefit, cox_of, curve_of, decompose
from metrics_check.cases import logistic

Y, P = logistic(200, 0)
W = np.random.default_rng(1).random(200)
T = np.array([0.1, 0.5])
CALLS = {
    "score_decomposition": lambda *a, **k: metrics.score_decomposition(*a, **k),
    "corp_curve": lambda *a, **k: metrics.corp_curve(*a, **k),
    "cox_calibration": lambda *a, **k: metrics.cox_calibration(*a, **k),
    "net_benefit": lambda y, p, **k: metrics.net_benefit(y, p, T, **k),
}
OF_CELLS = {
    "score_decomposition": decompose,
    "corp_curve": curve_of,
    "cox_calibration": cox_of,
    "net_benefit": lambda cells: benefit.net_benefit(cells, T),
}


def flat(value):
    if isinstance(value, np.ndarray):
        return value
    return np.concatenate(
        [np.ravel(v) for v in vars(value).values() if isinstance(v, float | np.ndarray)]
    )


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_give_what_cells_give(name, weighted):
    w = W if weighted else None
    wanted = flat(OF_CELLS[name](Cells.of_events(Y, P, w)))
    weights = None if w is None else w.tolist()
    found = flat(CALLS[name](Y.astype(int).tolist(), P.tolist(), sample_weight=weights))
    np.testing.assert_array_equal(found, wanted)
    dropped = CALLS[name](np.append(Y, 1), np.append(P, 0.3), sample_weight=np.append(W, 0))
    np.testing.assert_allclose(flat(dropped), flat(CALLS[name](Y, P, sample_weight=W)))


@pytest.mark.parametrize("name", CALLS)
def test_bad_events_are_refused(name):
    call = CALLS[name]
    rows = np.column_stack((1 - P, P))
    with pytest.raises(ValueError, match=r"y_proba must have shape \(T,\).*give \(y_true == k\)"):
        call(Y.astype(int), rows)
    with pytest.raises(ValueError, match="y_proba must lie in .* got 1.5 at position 1"):
        call([0, 1], [0.5, 1.5])
    with pytest.raises(ValueError, match="y_true must lie in"):
        call([0, 2], [0.5, 0.5])
    with pytest.raises(ValueError, match=r"y_true must have shape \(2,\)"):
        call([0, 1, 1], [0.5, 0.5])
    with pytest.raises(ValueError, match="sample_weight must be 0 or lie in"):
        call([0, 1], [0.5, 0.5], sample_weight=[1, 1e200])


def test_bad_thresholds_are_refused():
    with pytest.raises(ValueError, match=r"thresholds must lie in \[0, 1\), got 1.0"):
        metrics.net_benefit(Y, P, [0.5, 1.0])
    assert metrics.net_benefit(Y, P, 0.2).shape == (1,)
    with pytest.raises(ValueError, match="score must be 'brier' or 'log'"):
        metrics.score_decomposition(Y, P, score="spherical")
