"""What metrics of forecasts refuse, and how they name it."""

from __future__ import annotations

import numpy as np
import pytest

from fullswap import Record, metrics

THIRDS = [[0.5, 0.5, 0.0], [0.2, 0.2, 0.6]]
BAD_EVENTS = [
    (([1, 0], [0.5, np.nan]), r"y_proba must lie in \[0, 1\], got nan at position 1"),
    (([1, 0], [0.5, np.inf]), "y_proba .* got inf at position 1"),
    (([1, 0], [-1e-9, 0.5]), "y_proba .* got -1e-09 at position 0"),
    (([1, 2], [0.5, 0.5]), r"y_true must lie in \[0, 1\], got 2.0 at position 1"),
    (([np.nan, 1], [0.5, 0.5]), "y_true .* got nan at position 0"),
    (([1], [0.5, 0.5]), r"y_true must have shape \(2,\), got \(1,\)"),
    (([], []), r"y_proba must have shape .*, got \(0,\)"),
    ((1, 0.5), r"y_proba must have shape .*, got \(\)"),
    (([1, 0], [[0.5], [0.5]]), r"y_proba must have shape .*, got \(2, 1\)"),
    ((["a", "b"], [0.5, 0.5]), "y_true must be 0 and 1, or words"),
    ((np.array(["1", 0.5, "x"], dtype=object), [0.5, 0.5, 0.5]), "y_true must be"),
    (
        (np.ma.array([1, 0], mask=[0, 1]), [0.5, 0.5]),
        "y_true must be numbers, .* masked",
    ),
    (([1, 0], [0.5, 0.5j]), "y_proba must be numbers, got"),
    (
        ([1, 0], [0.5, 0.5], [1, -1]),
        r"sample_weight must lie in \[0, 1e\+300\], got -1.0 at",
    ),
    (([1, 0], [0.5, 0.5], [1, np.inf]), "sample_weight .* got inf at position 1"),
    (([1, 0], [0.5, 0.5], [0, 0]), "sample_weight must be positive for some event, got 0 for all"),
    (([1, 0], [0.5, 0.5], [1]), r"sample_weight must have shape \(2,\), got \(1,\)"),
    (
        ([0, 2], [[0.5, 0.5, 0.1], [0.2, 0.2, 0.6]]),
        r"y_proba must .* sum to 1, got .* 0.1\] at",
    ),
    (([0, 3], THIRDS), "y_true must be whole numbers from 0 to 2, got 3.0 at position 1"),
    (([0, 0.5], THIRDS), "y_true .* got 0.5 at position 1"),
    (([0, np.nan], THIRDS), "y_true .* got nan at position 1"),
    (([[1, 0, 0], [0.5, 0, 0]], THIRDS), r"y_true must be .* sum to 1, got \[0.5, 0.0, 0.0\] at"),
    (([[1, 0, 0], [2, -1, 0]], THIRDS), r"y_true .* got 2.0 at position \(1, 0\)"),
    (
        ([[1, 0], [0, 1]], THIRDS),
        r"y_true must have shape \(2,\) of class .*, got \(2, 2\)",
    ),
]
ISSUED = [
    lambda y, p, w=None, **of: metrics.calibration_error(y, p, sample_weight=w, **of),
    metrics.l2_calibration_error,
    metrics.kl_calibration_error,
    metrics.brier_score,
    metrics.brier_decomposition,
    metrics.log_loss,
    metrics.smooth_calibration_error,
    lambda y, p, w=None: metrics.discretised_swap_regret(y, p, 0.5, sample_weight=w),
    lambda y, p, w=None: metrics.discretised_calibration_error(y, p, 0.5, sample_weight=w),
]


@pytest.mark.parametrize("arguments, message", BAD_EVENTS)
def test_bad_events_are_named(arguments, message):
    for metric in ISSUED:
        with pytest.raises(ValueError, match=message):
            metric(*arguments)


GOOD = ([0.0, 0.5], [[0, 1]], [[0.5, 0.5]], [1])
OF_RECORDS = [
    *ISSUED[:4],
    lambda y, p, of: metrics.discretised_swap_regret(y, p, 0.5, of=of),
    lambda y, p, of: metrics.discretised_calibration_error(y, p, step=0.5, of=of),
]


@pytest.mark.parametrize(
    "place, value, message",
    [
        (0, [0.0, 1.5], r"points must lie in \[0, 1\], got 1.5 at position 1"),
        (0, [], r"points must have shape \(n,\), .*, got \(0,\)"),
        (1, [[0, 2]], r"indices must be whole numbers from 0 to 1, got 2 at position \(0, 1\)"),
        (1, [[0, -1]], r"indices .* got -1 at position \(0, 1\)"),
        (1, [[0, 0.5]], r"indices .* got 0.5 at position \(0, 1\)"),
        (1, [0, 1], r"indices must have shape \(1, 2\) as weights, got \(2,\)"),
        (2, [[0.5, 0.4]], r"weights must be .* sum to 1, got \[0.5, 0.4\] at position 0"),
        (2, [[1.5, -0.5]], r"weights .* got 1.5 at position \(0, 0\)"),
        (2, [[np.nan, 0.5]], r"weights .* got nan at position \(0, 0\)"),
        (2, [0.5, 0.5], r"weights must have shape \(T, k\), got \(2,\)"),
        (3, [2], r"y_true .* got 2.0 at position 0"),
        (3, [1, 0], r"y_true must have shape \(1,\), got \(2,\)"),
    ],
)
def test_bad_distributions_are_named(place, value, message):
    arguments = [*GOOD[:place], value, *GOOD[place + 1 :]]
    for metric in OF_RECORDS:
        metric(GOOD[3], Record.of_forecasts(*GOOD[:3]), of="distributions")
        with pytest.raises(ValueError, match=message):
            metric(arguments[3], Record.of_forecasts(*arguments[:3]), of="distributions")


def test_draws_that_are_read_must_be_there():
    undrawn = Record.of_forecasts(*GOOD[:3])
    beyond = Record.of_forecasts(*GOOD[:3], [2])
    for metric in OF_RECORDS:
        with pytest.raises(ValueError, match="issued_indices must be given for of='issued'"):
            metric([1], undrawn, of="issued")
        with pytest.raises(ValueError, match="issued_indices must be whole numbers from 0 to 1"):
            metric([1], beyond, of="issued")
        with pytest.raises(ValueError, match="of must be 'issued' or 'distributions', got 'all'"):
            metric([1], undrawn, of="all")
        with pytest.raises(ValueError, match="y_proba must be a Record for of='distributions'"):
            metric([1], [0.5], of="distributions")
    with pytest.raises(ValueError, match="issued_indices must be given"):
        undrawn.issued  # noqa: B018
    with pytest.raises(ValueError, match=r"issued_indices must have shape \(1,\), got \(2,\)"):
        Record.of_forecasts(*GOOD[:3], [0, 1])


def test_bad_choices_are_named():
    y, p = [1, 0], [0.5, 0.5]
    for choice, message in [
        ({"norm": "L2"}, "norm must be 'l1', 'l2' or 'max', got 'L2'"),
        ({"kind": "all"}, "kind must be 'classwise', .*, got 'all'"),
        ({"bins": 0}, "bins must be a whole number .*, got 0"),
        ({"bins": 2.5}, "bins must .*, got 2.5"),
        ({"bins": True}, "bins must .*, got True"),
        ({"bins": np.nan}, "bins must .*, got nan"),
        ({"bins": [0.1, 1]}, "bins must .* from <= 0 to >= 1"),
        ({"bins": [0, 0.5, 0.5, 1]}, "bins must .* increase"),
        ({"bins": [0, np.nan, 1]}, "bins must .* increase"),
    ]:
        with pytest.raises(ValueError, match=message):
            metrics.calibration_error(y, p, **choice)
    with pytest.raises(ValueError, match="bins must be None for kind='joint', got 3"):
        metrics.calibration_error([0, 1], THIRDS, kind="joint", bins=3)
    for step in (0.3, 0, -0.5, 2, np.nan, "0.3", 1e-9, True):
        with pytest.raises(ValueError, match="step must divide 1"):
            metrics.discretised_swap_regret(y, p, step)
    with pytest.raises(ValueError, match="must be given, the other None, got None and None"):
        metrics.discretised_swap_regret(y, p)
    with pytest.raises(ValueError, match="one of step and actions must be given"):
        metrics.discretised_swap_regret(y, p, 0.5, actions=[0, 1])
    with pytest.raises(ValueError, match="step must be None for classes .*, got 0.5"):
        metrics.discretised_swap_regret([0, 1], THIRDS, 0.5)
    with pytest.raises(ValueError, match="actions must have 1 coordinates .*, got 3"):
        metrics.discretised_swap_regret(y, p, actions=np.eye(3))
    with pytest.raises(ValueError, match="y_proba must have shape .*, got 3 classes"):
        metrics.smooth_calibration_error([0, 1], THIRDS)
