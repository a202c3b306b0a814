"""Bias and logistic fits against a general minimiser, simulation, and records without a fit."""

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from fullswap.metrics import Cells, cox_of
from metrics_check.cases import logistic, yes_no
from naive.statistics import walks


def slow_fit(y, p, w):
    """Intercept, slope and their errors from the likelihood's second differences."""
    x = logit(np.clip(p, 1e-6, 1 - 1e-6))

    def loss(theta):
        eta = theta[0] + theta[1] * x
        return -np.sum(w * (y * np.log(expit(eta)) + (1 - y) * np.log(expit(-eta))))

    fit = minimize(loss, [0.0, 1.0], method="BFGS", options={"gtol": 1e-9})
    design = np.column_stack((np.ones_like(x), x))
    mu = expit(design @ fit.x)
    bread = np.linalg.inv((design * (w * mu * (1 - mu))[:, None]).T @ design)
    meat = (design * (w * w * mu * (1 - mu))[:, None]).T @ design
    return fit.x, np.sqrt(np.diag(bread @ meat @ bread))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [60, 800, 20_000])
def test_fits_equal_a_general_minimiser(n, weighted):
    y, p = logistic(n, n, shift=0.4, slope=0.7)
    p[:3] = (0.0, 1.0, 0.5)
    w = np.random.default_rng(n).exponential(size=n) if weighted else np.ones(n)
    cox = cox_of(Cells.of_events(y, p, w if weighted else None))
    theta, errors = slow_fit(y, p, w)
    close = {"rel": 1e-4, "abs": 2e-5}
    assert (cox.intercept, cox.slope) == pytest.approx(tuple(theta), **close)
    assert (cox.intercept_error, cox.slope_error) == pytest.approx(tuple(errors), **close)
    assert cox.bias == pytest.approx(np.average(p - y, weights=w))
    assert cox.bias_error == pytest.approx(np.sqrt(np.sum(w * w * p * (1 - p))) / w.sum())


def test_fits_equal_sklearn():
    y, p = logistic(500, 9, shift=-0.3, slope=1.4)
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(logit(p)[:, None], y)
    cox = cox_of(Cells.of_events(y, p))
    wanted = (model.intercept_[0], model.coef_[0, 0])
    assert (cox.intercept, cox.slope) == pytest.approx(wanted, rel=1e-5)


@given(yes_no(most=12))
def test_small_records_have_a_fit_or_none(drawn):
    y, p, w = drawn
    cox = cox_of(Cells.of_events(y, p, w))
    some = w > 0
    x = logit(np.clip(p[some], 1e-6, 1 - 1e-6))
    ones, zeros = x[y[some] == 1], x[y[some] == 0]
    apart = not len(ones) or not len(zeros)
    apart = apart or ones.min() >= zeros.max() or ones.max() <= zeros.min()
    assert (cox.slope is None) == apart
    assert np.isfinite([cox.bias, cox.bias_error]).all()
    rest = (cox.intercept, cox.intercept_error, cox.slope, cox.slope_error)
    assert all(v is None for v in rest) if apart else np.isfinite(rest).all()
    if not apart:  # the likelihood is flat there
        mu = expit(cox.intercept + cox.slope * x)
        slack = w[some] * (y[some] - mu)
        assert abs(slack.sum()) < 1e-6 and abs(slack @ x) < 1e-5


@pytest.mark.parametrize(
    "y, p",
    [
        ([0, 1], [0.2, 0.8]), ([0, 1, 0, 1], [0.5] * 4), ([1, 1, 1], [0.1, 0.5, 0.9]),
        ([1], [0.3]), ([0, 0, 1, 1], [0.9, 0.8, 0.2, 0.1]), ([0, 1, 1], [0.0, 0.0, 1.0]),
        ([0, 1, 0, 1], [0.5, 0.5, 0.5 + 1e-16, 0.5]), ([0, 1, 0, 1], [1e-9, 1e-8, 0.0, 1e-7]),
    ],
)  # fmt: skip
def test_records_without_a_fit(y, p):
    cox = cox_of(Cells.of_events(np.array(y, dtype=float), np.array(p)))
    assert cox.slope is None and cox.intercept is None and cox.slope_error is None
    assert cox.bias == pytest.approx(np.mean(p) - np.mean(y))


def test_errors_of_logs_come_from_events():
    runs, slopes, biases, careless = 150, [], [], []
    for run in range(runs):
        y, p, event = walks(150, 8, np.random.default_rng(run))
        cox = cox_of(Cells.of_events(y, p, event=event))
        rows = cox_of(Cells.of_events(y, p))
        slopes.append((cox.slope - 1) / cox.slope_error)
        biases.append(cox.bias / cox.bias_error)
        careless.append(rows.bias / rows.bias_error)
        assert (rows.slope, rows.bias) == pytest.approx((cox.slope, cox.bias))
    # in standard errors they have spread about 1
    assert 0.85 <= np.std(biases) <= 1.15 and np.std(careless) > 1.5
    assert 0.8 <= np.std(slopes) <= 1.3


def test_weights_of_shared_outcomes_count_as_repeats():
    y, p, event = walks(60, 4, np.random.default_rng(1))
    w = np.random.default_rng(2).integers(1, 4, len(p))
    weighted = cox_of(Cells.of_events(y, p, w.astype(float), event))
    repeated = cox_of(Cells.of_events(y.repeat(w), p.repeat(w), None, event.repeat(w)))
    one, two = vars(weighted), vars(repeated)
    assert list(one.values()) == pytest.approx(list(two.values()))
