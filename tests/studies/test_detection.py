"""Tests, evidence and detectors on the same streams: the parts of the comparison, and its page."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, chi2, norm

import fullswap as fs
from studies import bets, classical_tests, detection, detectors
from studies.__main__ import main
from studies.miscalibrated import sigmoid, stream
from studies.report import detection as page
from studies.report.detection_text import (
    looks_text,
    power_text,
    repeated_text,
    speed_text,
    watching_text,
)

DOCS = Path(__file__).parents[2] / "docs"


def drawn(seed, events=300, name="slope .75"):
    return stream(name, events, np.random.default_rng(seed))


# --- tests that are read once ---------------------------------------------------------------------


@pytest.mark.parametrize("name", classical_tests.TESTS)
def test_one_look_rejects_what_is_right_once_in_twenty(name):
    runs, test = 800, classical_tests.TESTS[name]
    rejected = sum(test(*drawn([1, run], 1_000, "right")) < 0.05 for run in range(runs))
    # for many events; with a thousand the chance may be a little beside it
    assert binom.ppf(5e-4, runs, 0.035) <= rejected <= binom.ppf(1 - 5e-4, runs, 0.06)


def test_hosmer_lemeshow_and_ece_are_sums_over_groups():
    y, p = drawn(2, 203)
    pairs = sorted(zip(p.tolist(), y.tolist(), strict=True))
    cuts = [k * 203 // 10 for k in range(11)]
    statistic = error = 0.0
    for low, high in zip(cuts, cuts[1:], strict=False):
        excess = sum(happened - said for said, happened in pairs[low:high])
        statistic += excess**2 / sum(said * (1 - said) for said, _ in pairs[low:high])
        error += abs(excess) / 203
    assert classical_tests.hosmer_lemeshow(y, p) == pytest.approx(chi2.sf(statistic, 10))
    assert classical_tests.ece(y, p) == pytest.approx(error)


def test_cox_is_a_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    y, p = drawn(3)
    logits = np.log(p / (1 - p))[:, None]
    fitted = LogisticRegression(C=1e12, tol=1e-10, max_iter=1_000).fit(logits, y)
    q = fitted.predict_proba(logits)[:, 1]
    ratio = np.log(np.where(y > 0, q / p, (1 - q) / (1 - p))).sum()
    assert classical_tests.cox(y, p) == pytest.approx(chi2.sf(2 * ratio, 2), rel=1e-4)


@pytest.mark.parametrize("y", [np.zeros(50), np.ones(50), (np.arange(50) > 20).astype(float)])
def test_cox_ends_where_no_fit_is_best(y):
    p = np.linspace(0.01, 0.99, 50)
    right = np.log(np.where(y > 0, p, 1 - p)).sum()  # the best likelihood tends to 1
    assert classical_tests.cox(y, p) == pytest.approx(chi2.sf(-2 * right, 2), abs=1e-3)
    assert 0 <= classical_tests.cox(y, np.full(50, 0.3)) <= 1


def test_spiegelhalter_is_the_brier_score_beside_its_mean():
    y, p = drawn(4)
    brier = np.mean((y - p) ** 2)
    variance = np.sum((1 - 2 * p) ** 2 * p * (1 - p)) / 300**2
    z = (brier - np.mean(p * (1 - p))) / math.sqrt(variance)
    assert classical_tests.spiegelhalter(y, p) == pytest.approx(2 * norm.sf(abs(z)))


def test_kuiper_is_the_range_of_a_walk():
    y, p = drawn(5)
    walk, heights = 0.0, [0.0]
    for said, happened in sorted(zip(p.tolist(), y.tolist(), strict=True)):
        walk += happened - said
        heights.append(walk)
    x = (max(heights) - min(heights)) / math.sqrt(np.sum(p * (1 - p)))
    assert classical_tests.kuiper(y, p) == pytest.approx(classical_tests.range_beyond(x))
    # the mean range of a Brownian motion is 2·√(2/π)
    mean = 0.5 + quad(classical_tests.range_beyond, 0.5, 12)[0]
    assert mean == pytest.approx(2 * math.sqrt(2 / math.pi), abs=1e-6)


def test_miscalibration_is_what_the_best_monotone_curve_gains():
    y, p = drawn(6, 25)
    own = y[np.argsort(p)]
    fitted = [  # the min–max formula
        max(min(own[a : b + 1].mean() for b in range(k, 25)) for a in range(k + 1))
        for k in range(25)
    ]
    gain = np.mean((y - p) ** 2) - np.mean((own - fitted) ** 2)
    assert classical_tests.miscalibration(y, p) == pytest.approx(gain)


def test_a_critical_value_is_exceeded_once_in_twenty():
    right = [drawn([7, run], 50, "right") for run in range(200)]
    limit = classical_tests.critical_value(classical_tests.ece, right, 0.05)
    assert sum(classical_tests.ece(y, p) > limit for y, p in right) == 10


# --- single families of bets ----------------------------------------------------------------------


def slow_wealth(q, y, p):
    return math.prod(
        a / b if happened else (1 - a) / (1 - b)
        for a, b, happened in zip(q, p, y, strict=True)
    )  # fmt: skip


def slow_lines(y, p):
    x = np.log(p / (1 - p))
    each = [slow_wealth(sigmoid(b * x + a), y, p) for b in bets.SLOPES for a in bets.SHIFTS]
    return float(np.mean(each))


def slow_bins(y, p):
    x, parts = np.log(p / (1 - p)), []
    for count in bets.PARTITIONS:
        product = 1.0
        for k in range(count):
            own = (p * count).astype(int) == k
            q = [sigmoid(x[own] + a) for a in bets.SHIFTS]
            product *= np.mean([slow_wealth(each, y[own], p[own]) for each in q])
        parts.append(product)
    return float(np.mean(parts))


def slow_recalibrator(y, p):
    ours, wealth = fs.Recalibrator(seed=0), 1.0
    for happened, said in zip(y.tolist(), p.tolist(), strict=True):
        forecast = ours.predict(said)
        q = (1 - bets.TRUST) * forecast.mean + bets.TRUST * said
        wealth *= q / said if happened else (1 - q) / (1 - said)
        ours.update(happened, forecast)
    return wealth


@pytest.mark.parametrize("name", ["lines", "bins", "recalibrator"])
def test_a_family_is_sure_at_the_first_event_where_its_wealth_is_large(name):
    until, slow = getattr(bets, name), globals()[f"slow_{name}"]
    for seed in range(3):
        y, p = stream("slope .6", 900, np.random.default_rng([8, seed]))
        took = until(y, p, 5.0)
        assert took > 1
        assert slow(y[:took], p[:took]) >= 5 > slow(y[: took - 1], p[: took - 1])
        assert until(y[: took - 1], p[: took - 1], 5.0) == -1


def test_the_chosen_bets_are_sure_when_the_running_evidence_first_is():
    y, p = drawn(9, 900, "slope .6")
    took = detection.chosen(y, p, 20.0)
    assert not detection.found(detection.evidence_of(y[: took - 1], p[: took - 1]))
    assert detection.evidence_of(y[:took], p[:took]).log10 >= math.log10(20)
    assert detection.chosen(y[: took - 1], p[: took - 1], 20.0) == -1


# --- streams and detectors ------------------------------------------------------------------------


def beyond(y, p):
    """Mean residual in standard errors."""
    return float((y - p).sum() / math.sqrt((p * (1 - p)).sum()))


def test_forecasts_stay_right_when_only_inputs_shift():
    y, p = detectors.inputs_shift(40_000, 20_000, np.random.default_rng(0))
    for half in (slice(0, 20_000), slice(20_000, None)):
        assert abs(beyond(y[half], p[half])) < 4
        assert classical_tests.spiegelhalter(y[half], p[half]) > 1e-4
    scores = detectors.brier(y, p)
    assert scores[20_000:].mean() > 1.2 * scores[:20_000].mean()  # and yet it looks worse


@pytest.mark.parametrize("make", [detectors.shifted, detectors.overconfident])
def test_changes_begin_where_they_should(make):
    y, p = make(40_000, 20_000, np.random.default_rng(1))
    assert classical_tests.cox(y[:20_000], p[:20_000]) > 1e-4
    assert classical_tests.cox(y[20_000:], p[20_000:]) < 1e-12


def test_every_detector_rings_in_order_and_the_dummy_by_the_clock(monkeypatch):
    y, p = detectors.shifted(600, 300, np.random.default_rng(2))
    for name, detector in detectors.detectors().items():
        rang = detector.alarms(y, p, 0)
        assert rang == sorted(set(rang)) and all(0 <= t < 600 for t in rang), name
    for seed in range(5):
        rang = detectors.Every(100).alarms(y, p, seed)
        assert len(rang) == 6 and set(np.diff(rang)) == {100}
    assert len({detectors.Every(100).alarms(y, p, seed)[0] for seed in range(5)}) > 1


def test_what_rivers_detectors_watch():
    y, p = np.array([1.0, 0.0, 1.0]), np.array([0.7, 0.6, 0.2])
    assert detectors.residual(y, p) == pytest.approx([0.3, -0.6, 0.8])
    assert detectors.brier(y, p) == pytest.approx([0.09, 0.36, 0.64])
    assert detectors.failed(y, p).tolist() == [0, 1, 1]


def test_forecasts_during_a_game_are_right_at_every_time():
    y, p, event = detection.game_log(20_000, 5, np.random.default_rng(3))
    assert (np.diff(event) >= 0).all() and set(np.bincount(event)) == {5}
    assert (y.reshape(-1, 5) == y.reshape(-1, 5)[:, :1]).all()
    for k in range(5):
        assert abs(beyond(y[k::5], p[k::5])) < 4
        assert classical_tests.spiegelhalter(y[k::5], p[k::5]) > 1e-4
    assert p[4::5].std() > 1.5 * p[::5].std()  # the later, the surer


def test_medians_of_what_may_never_come():
    assert detection.median_of([4, 2, -1, 6]) == 5 and detection.median_of([1, -1, -1]) is None
    took = np.random.default_rng(4).exponential(1_000, (400, 101)).astype(int) + 1
    errors = np.array([detection.median_error(row.tolist()) for row in took])
    assert errors.mean() == pytest.approx(np.median(took, axis=1).std(), rel=0.2)
    assert detection.median_error([5, 6, -1, -1]) is None


# --- the page -------------------------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch):
    plan = replace(
        detection.QUICK, look_runs=5, power_runs=4, null_runs=20, speed_runs=4, log_runs=4,
        detector_runs=2,
    )  # fmt: skip
    kept = {k: v for k, v in detectors.detectors().items() if not detectors.slow(k)}
    monkeypatch.setattr(page, "QUICK", plan)
    monkeypatch.setattr(detection, "detectors", lambda: kept)
    return plan


def test_the_command_fills_the_page_of_the_documentation(tmp_path, small, capsys):
    own = tmp_path / "page.md"
    before = (DOCS / "detection.md").read_text(encoding="utf-8")
    own.write_text(before, encoding="utf-8")
    asked = ["detection", "--quick", "--seed", "3", "--out", str(tmp_path), "--page", str(own)]
    assert main(asked) == 0
    once = own.read_text(encoding="utf-8")
    assert "with seed 3" in once and "5 runs of 600 events" in once
    assert (
        "| evidence with event= |" in once
        and "| too low, in the second half too high; 4,000 events |" in once
    )
    assert once.count("| Monitor(100,000) |") == 2 and "min_instances 30" in once
    assert "nan" not in once and "inf" not in once.replace("information", "")
    assert (tmp_path / "detection.csv").read_text(encoding="utf-8").startswith("part,test,last,")
    assert main(asked) == 0 and own.read_text(encoding="utf-8") == once
    assert "'part': 'watching'" in capsys.readouterr().err


def test_a_page_without_markers_is_left_alone(tmp_path, small, capsys):
    own = tmp_path / "page.md"
    own.write_text("nothing\n", encoding="utf-8")
    assert main(["detection", "--quick", "--out", str(tmp_path), "--page", str(own)]) == 1
    assert own.read_text(encoding="utf-8") == "nothing\n"
    assert "detection: the page must have" in capsys.readouterr().err


def test_sentences_follow_from_the_rows():
    plan = detection.Plan(look_runs=100)
    rows = [{"test": "Cox", "last": 5, "ever": 34, "runs": 100}]
    rows += [{"test": detection.EVIDENCE, "last": 1, "ever": 3, "runs": 100}]
    text = looks_text(rows, plan)
    assert "| Cox | 5.0 ± 2.5 | 34.0 ± 4.7 |" in text
    assert "34 to 34 % of runs" in text and "reached 20 in 3.0 %" in text
    fast = {family: 100.0 for family in detection.FAMILIES} | {detection.OURS: 110.0}
    rows = [
        {"stream": "top", "family": family, "median": events, "median_error": 5.0}
        for family, events in fast.items()
    ]
    text = speed_text(rows, plan)
    assert "quickest in 0 of 1 rows" in text and "needs 1.10 times" in text
    assert "| 110 ± 5 | **100 ± 5** |" in text


def test_what_is_lost_is_said():
    plan = detection.Plan(power_runs=200, log_runs=200)
    shares = {
        ("slope .75", 1_000): (60, 190),
        ("flip", 1_000): (150, 10),
        ("flip", 4_000): (200, 30),
    }
    rows = [
        {"stream": name, "events": events, "test": test, "found": count}
        for (name, events), counts in shares.items()
        for test, count in zip((detection.EVIDENCE, "Cox"), counts, strict=True)
    ]
    text = power_text(rows, plan)
    assert "| a little over-confident (slope 0.75) | 30 | **95** |" in text
    assert "in 1 of 3 rows" in text and "30 % against 95 % (Cox)" in text
    assert "75 % against 5.0 % with 1,000 events, 100 % against 15 % with 4,000 events" in text
    rejected = {"Cox": 120, detection.NAIVE: 196, detection.BY_EVENT: 1}
    rows = [{"test": test, "rejected": count, "runs": 200} for test, count in rejected.items()]
    text = repeated_text(rows, plan)
    assert "up to 60 % of the logs" in text and "not told, 98 %" in text
    assert "it rejects 0.5 %" in text


def test_who_is_quieter_and_who_is_quicker_is_said():
    plan = detection.Plan()
    monitor = "Monitor(100,000)"
    false = {monitor: 8, "quiet": 0, "loud": 100}
    delay = {monitor: 300.0, "quiet": 500.0, "loud": 20.0}
    rows = [
        {"situation": situation, "detector": name, "runs": 100, "false": count, "soon": 90,
         "runs_with_false": count, "watched": 100_000, "delay": delay[name]}
        for situation in detection.SITUATIONS
        for name, count in false.items()
    ]  # fmt: skip
    text = watching_text(rows, plan)
    assert "half of all runs nevertheless: loud." in text and "Quieter than ours: quiet." in text
    assert "ring after the shift: loud (100 %)." in text
    assert "| Monitor(100,000) | 8.0 ± 2.9 | 0.80 | 100 |" in text
    assert "| quiet | 0.0 ± 0.7 | 90.0 ± 3.1 | 500 | 90.0 ± 3.1 | 500 |" in text
