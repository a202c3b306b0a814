"""Tests, evidence and detectors on the same streams: the parts of the comparison, and its page."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, chi2, norm
from whole import DOCS

from studies import detection
from studies.__main__ import main
from studies.miscalibrated import stream


def drawn(seed, events=300, name="slope .75"):
    return stream(name, events, np.random.default_rng(seed))


# --- tests that are read once ---------------------------------------------------------------------


@pytest.mark.parametrize("name", detection.TESTS)
def test_one_look_rejects_what_is_right_once_in_twenty(name):
    runs, test = 800, detection.TESTS[name]
    rejected = sum(test(*drawn([1, run], 1_000, "right")) < 0.05 for run in range(runs))
    # for many events; with a thousand the chance may be a little beside it
    assert binom.ppf(5e-4, runs, 0.035) <= rejected <= binom.ppf(1 - 5e-4, runs, 0.06)


def test_hosmer_lemeshow_is_a_sum_over_groups():
    y, p = drawn(2, 203)
    pairs = sorted(zip(p.tolist(), y.tolist(), strict=True))
    cuts = [k * 203 // 10 for k in range(11)]
    statistic = 0.0
    for low, high in zip(cuts, cuts[1:], strict=False):
        excess = sum(happened - said for said, happened in pairs[low:high])
        statistic += excess**2 / sum(said * (1 - said) for said, _ in pairs[low:high])
    assert detection.hosmer_lemeshow(y, p) == pytest.approx(chi2.sf(statistic, 10))


def test_cox_is_a_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    y, p = drawn(3)
    logits = np.log(p / (1 - p))[:, None]
    fitted = LogisticRegression(C=1e12, tol=1e-10, max_iter=1_000).fit(logits, y)
    q = fitted.predict_proba(logits)[:, 1]
    ratio = np.log(np.where(y > 0, q / p, (1 - q) / (1 - p))).sum()
    assert detection.cox(y, p) == pytest.approx(chi2.sf(2 * ratio, 2), rel=1e-4)


@pytest.mark.parametrize("y", [np.zeros(50), np.ones(50), (np.arange(50) > 20).astype(float)])
def test_cox_ends_where_no_fit_is_best(y):
    p = np.linspace(0.01, 0.99, 50)
    right = np.log(np.where(y > 0, p, 1 - p)).sum()  # the best likelihood tends to 1
    assert detection.cox(y, p) == pytest.approx(chi2.sf(-2 * right, 2), abs=1e-3)
    assert 0 <= detection.cox(y, np.full(50, 0.3)) <= 1


def test_spiegelhalter_is_the_brier_score_beside_its_mean():
    y, p = drawn(4)
    brier = np.mean((y - p) ** 2)
    variance = np.sum((1 - 2 * p) ** 2 * p * (1 - p)) / 300**2
    z = (brier - np.mean(p * (1 - p))) / math.sqrt(variance)
    assert detection.spiegelhalter(y, p) == pytest.approx(2 * norm.sf(abs(z)))


def beyond(y, p):
    """Mean residual in standard errors."""
    return float((y - p).sum() / math.sqrt((p * (1 - p)).sum()))


def test_forecasts_stay_right_when_only_inputs_shift():
    y, p = detection.inputs_shift(40_000, 20_000, np.random.default_rng(0))
    for half in (slice(0, 20_000), slice(20_000, None)):
        assert abs(beyond(y[half], p[half])) < 4
        assert detection.spiegelhalter(y[half], p[half]) > 1e-4
    scores = detection.brier(y, p)
    assert scores[20_000:].mean() > 1.2 * scores[:20_000].mean()  # and yet it looks worse


@pytest.mark.parametrize("situation", ["shift", "slope"])
def test_changes_begin_where_they_should(situation):
    y, p = detection.SITUATIONS[situation](40_000, 20_000, np.random.default_rng(1))
    assert detection.cox(y[:20_000], p[:20_000]) > 1e-4
    assert detection.cox(y[20_000:], p[20_000:]) < 1e-12


def test_alarms_come_in_order_and_those_of_the_dummy_by_the_clock():
    y, p = detection.SITUATIONS["shift"](2_500, 300, np.random.default_rng(2))
    for name, alarms in detection.detectors().items():
        at = alarms(y, p, 0)
        assert at == sorted(set(at)) and all(0 <= t < 2_500 for t in at), name
        assert "dummy" not in name or set(np.diff(at)) == {1_000}


def test_what_rivers_detectors_watch():
    y, p = np.array([1.0, 0.0, 1.0]), np.array([0.7, 0.6, 0.2])
    assert detection.residual(y, p) == pytest.approx([0.3, -0.6, 0.8])
    assert detection.brier(y, p) == pytest.approx([0.09, 0.36, 0.64])
    assert detection.failed(y, p).tolist() == [0, 1, 1]


def test_the_command_fills_the_page_of_the_documentation(tmp_path, capsys):
    own = tmp_path / "page.md"
    own.write_text((DOCS / "detection.md").read_text(encoding="utf-8"), encoding="utf-8")
    asked = ["detection", "--quick", "--seed", "3", "--out", str(tmp_path), "--page", str(own)]
    assert main(asked) == 0
    once = own.read_text(encoding="utf-8")
    assert "with seed 3" in once and "5 runs of 600 events" in once and "nan" not in once
    assert "| too low, in the second half too high; 4,000 events |" in once
    assert once.count("| Monitor(100,000) |") == 1 and "inf |" not in once
    assert (tmp_path / "detection.csv").read_text(encoding="utf-8").startswith("part,test,last,")
    assert main(asked) == 0 and own.read_text(encoding="utf-8") == once
    assert "'part': 'watching'" in capsys.readouterr().err
