"""Recalibration: measured within guaranteed against adversaries; what it does to forecasts."""

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.makers import column, kind_behind, point_columns, row_of
from fullswap.forecasting import Recalibrator
from fullswap.kernels.columns import LEVEL
from fullswap.kernels.experts import AWAKE_LOSS, WEIGHT, experts_parts

FEEDBACK = ("realised", "distribution")


def calibration_by_hand(events, cells):
    """Σδ + κ·Σ_s c_s + n·[½·ln(1/π) + ln(1 + T/(κn))] with κ = 2 and π = ¼."""
    points = [k / cells for k in range(cells + 1)]
    n, spread = len(points), sum(max(s, 1 - s) ** 2 for s in points)
    own = math.log(4) / 2 + math.log1p(events / (2 * n))
    return min(events, events / (4 * cells**2) + 2 * spread + n * own)


def excess_by_hand(events, cells, prior):
    """Σδ + n·½·ln(1/(1 − π)) + ½·ln(T/prior)."""
    kept = min(events, (cells + 1) / 2 * math.log(4 / 3))
    return min(events, events / (4 * cells**2) + kept + math.log(events / prior) / 2)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def overconfident(events, seed=0):
    """Probabilities whose log odds are twice too large, and outcomes."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 1.2, events)
    return sigmoid(2 * logits), (rng.random(events) < sigmoid(logits)).astype(float)


# --- slow, independent measures ---------------------------------------------------------------


def slow_calibration(rows):
    """Σ over distinct forecasts of mass·(forecast − mean outcome)²; rows of (s, mass, y)."""
    mass, ones = defaultdict(float), defaultdict(float)
    for s, g, y in rows:
        mass[s] += g
        ones[s] += g * y
    return sum(g * (s - ones[s] / g) ** 2 for s, g in mass.items() if g > 0)


def slow_brier(rows):
    return sum(g * (s - y) ** 2 for s, g, y in rows)


def rows_of(run, outcomes, feedback):
    if feedback == "realised":
        return [(s, 1.0, y) for s, y in zip(run.issued.tolist(), outcomes, strict=True)]
    return [
        (s, w, y)
        for points, weights, y in zip(run.points[run.indices], run.weights, outcomes, strict=True)
        for s, w in zip(points.tolist(), weights.tolist(), strict=True)
        if w > 0
    ]


# --- adversaries: (t, rng) -> p, and (forecast mean, tallies, t, rng) -> outcome ----------------


class Adversary:
    """A model's probability and an outcome, each round; sees the forecast's distribution."""

    def __init__(self, name, rng):
        self.name, self.rng, self.t = name, rng, 0
        self.mass, self.ones = defaultdict(float), defaultdict(float)
        self.planned = 0.0

    def claim(self):
        t, rng = self.t, self.rng
        if self.name == "opposite":  # the model says the contrary of what is decided already
            self.planned = float(rng.random() < 0.5)
            return 1 - self.planned
        if self.name == "flipped":
            return 0.1 + 0.8 * (t % 2)
        if self.name in ("constant", "greedy", "mean-aware"):
            return 0.3
        return float(rng.random())

    def outcome(self, claim, forecast):
        t, rng, mean = self.t, self.rng, forecast.mean
        points, weights = forecast.points.tolist(), forecast.weights.tolist()
        if self.name == "opposite":
            y = self.planned
        elif self.name == "flipped":
            y = float(rng.random() < (claim if t < 700 else 1 - claim))
        elif self.name == "mean-aware" or self.name == "noise":
            y = float(mean < 0.5)
        elif self.name == "moving":
            y = float(mean < 0.5 + 0.4 * math.sin(t / 60))
        elif self.name == "drift":
            y = float(rng.random() < 0.5 + 0.45 * math.sin(t / 100))
        elif self.name == "greedy":

            def after(y):
                total = 0.0
                for s, w in zip(points, weights, strict=True):
                    g, b = self.mass[s] + w, self.ones[s] + w * y
                    before = self.mass[s] and self.mass[s] * (s - self.ones[s] / self.mass[s]) ** 2
                    total += g * (s - b / g) ** 2 - before
                return total

            y = max((0.0, 1.0), key=after)
        elif self.name == "midpoint":
            y = float(rng.random() < 0.525)
        else:  # soft outcomes
            y = 0.25 * round(4 * abs(math.sin(t / 40)))
        for s, w in zip(points, weights, strict=True):
            self.mass[s] += w
            self.ones[s] += w * y
        self.t += 1
        return y


ADVERSARIES = (
    "opposite", "flipped", "constant", "mean-aware", "noise", "moving", "drift", "greedy",
    "midpoint", "soft",
)  # fmt: skip


def play(name, recalibrator, events, seed=0):
    """Rows of what was learnt, and the model's own losses."""
    adversary = Adversary(name, np.random.default_rng(seed))
    rows, model = [], 0.0
    for _ in range(events):
        claim = adversary.claim()
        forecast = recalibrator.predict(claim)
        y = adversary.outcome(claim, forecast)
        recalibrator.update(y)
        model += (claim - y) ** 2
        if recalibrator.feedback == "realised":
            rows.append((forecast.issued, 1.0, y))
        else:
            parts = zip(forecast.points.tolist(), forecast.weights.tolist(), strict=True)
            rows += [(s, w, y) for s, w in parts]
    return rows, model


@pytest.mark.theorem("recalibration")
@pytest.mark.theorem("recalibration keeps the skill")
@pytest.mark.parametrize("name", ADVERSARIES)
@pytest.mark.parametrize("cells", [6, 20, None])
def test_within_both_guarantees_against_adversaries(name, cells):
    events = 1500
    step = None if cells is None else 1 / cells
    recalibrator = Recalibrator(step, feedback="distribution", seed=1)
    rows, model = play(name, recalibrator, events)
    calibration, *excess = recalibrator.certificates()
    assert calibration.measured == pytest.approx(slow_calibration(rows), abs=1e-8)
    assert excess[0].measured == pytest.approx(slow_brier(rows) - model, abs=1e-8)
    for certificate in (calibration, *excess):
        assert certificate.holds, str(certificate)
        assert certificate.measured <= certificate.after_the_fact + 1e-8
        assert certificate.after_the_fact <= certificate.guaranteed
    if cells is not None:
        assert calibration.guaranteed == pytest.approx(calibration_by_hand(events, cells))
        assert excess[0].guaranteed == pytest.approx(excess_by_hand(events, cells, 0.25))


@pytest.mark.parametrize("name", ["flipped", "mean-aware", "opposite", "greedy", "moving"])
def test_realised_guarantees_hold_on_average_over_the_draws(name):
    events, seeds = 600, 8
    measured = []
    for seed in range(seeds):
        recalibrator = Recalibrator("1/6", horizon=events, seed=seed)
        rows, _ = play(name, recalibrator, events)
        calibration, *excess = recalibrator.certificates()
        assert calibration.measured == pytest.approx(slow_calibration(rows), abs=1e-8)
        measured.append([certificate.measured for certificate in (calibration, *excess)])
    bounds = [certificate.guaranteed for certificate in (calibration, *excess)]
    assert (np.mean(measured, axis=0) <= bounds).all()
    assert calibration.on_average
    assert calibration.guaranteed == pytest.approx(recalibrator.guarantee, rel=1e-12)


@given(st.integers(0, 2**32), st.integers(1, 12))
@settings(max_examples=30)
def test_guarantees_hold_for_arbitrary_logs_and_weights(seed, cells):
    rng = np.random.default_rng(seed)
    events = int(rng.integers(1, 200))
    p, y = rng.choice([0, 0.5, 1, 0.123], events), rng.choice([0, 1, 0.5], events)
    weights = rng.choice([0, 0.1, 1.5, 3.0], events)
    recalibrator = Recalibrator(1 / cells, feedback="distribution", max_weight=3.0, seed=1)
    run = recalibrator.run(p, y, weights)
    rows = [
        (s, w * weight, outcome)
        for points, shares, weight, outcome in zip(
            run.points[run.indices], run.weights, weights, y, strict=True
        )
        for s, w in zip(points.tolist(), shares.tolist(), strict=True)
    ]
    certificates = recalibrator.certificates()
    assert certificates[0].measured == pytest.approx(slow_calibration(rows), abs=1e-8)
    for certificate in certificates:
        assert certificate.holds, str(certificate)
    model = float((weights * (p - y) ** 2).sum())
    assert certificates[1].measured == pytest.approx(slow_brier(rows) - model, abs=1e-8)


# --- it helps, and does no harm ----------------------------------------------------------------


def brier(forecasts, outcomes):
    return float(np.mean((forecasts - outcomes) ** 2))


def on_grid(p, cells=20):
    return np.rint(p * cells) / cells


@pytest.mark.parametrize("feedback", FEEDBACK)
def test_overconfidence_is_mended(feedback):
    p, y = overconfident(4000)
    run = Recalibrator(feedback=feedback, seed=1).run(p, y)
    raw = slow_calibration((s, 1.0, b) for s, b in zip(on_grid(p).tolist(), y, strict=True))
    assert slow_calibration(rows_of(run, y, feedback)) < 0.25 * raw
    assert brier(run.mean, y) < brier(p, y) - 0.01


def test_a_calibrated_model_is_left_alone():
    rng = np.random.default_rng(5)
    p = sigmoid(rng.normal(0, 1, 4000))
    y = (rng.random(4000) < p).astype(float)
    run = Recalibrator(seed=1).run(p, y)
    assert brier(run.issued, y) < 1.01 * brier(p, y)
    assert brier(run.mean, y) < 1.005 * brier(p, y)


def test_a_relation_that_flips_is_followed():
    rng = np.random.default_rng(6)
    p = sigmoid(rng.normal(0, 1.2, 4000))
    truth = np.where(np.arange(4000) < 2000, p, 1 - p)
    y = (rng.random(4000) < truth).astype(float)
    run = Recalibrator(seed=1).run(p, y)
    assert brier(run.mean, y) < 0.72 * brier(p, y)
    assert brier(run.mean[-1000:], y[-1000:]) < 1.03 * brier(truth[-1000:], y[-1000:])


def test_of_several_models_the_best_is_found():
    rng = np.random.default_rng(7)
    logits = rng.normal(0, 1.5, 3000)
    y = (rng.random(3000) < sigmoid(logits)).astype(float)
    p = np.column_stack((sigmoid(-logits), rng.random(3000), sigmoid(logits)))
    recalibrator = Recalibrator(models=3, seed=1)
    run = recalibrator.run(p, y)
    assert brier(run.mean, y) < 1.02 * brier(p[:, 2], y)
    names = [certificate.title for certificate in recalibrator.certificates()]
    assert len(names) == 1 + 4 * 4 and "model 2, recalibrated" in names[10]


def test_a_short_log_is_not_hurt():
    differences = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p = sigmoid(rng.normal(0, 1.2, 350))
        y = (rng.random(350) < p).astype(float)
        run = Recalibrator(seed=seed).run(p, y)
        differences.append(brier(run.mean, y) - brier(p, y))
    assert np.mean(differences) < 0.004


# --- late and absent ---------------------------------------------------------------------------


def test_one_event_at_a_time_keeps_every_guarantee():
    recalibrator = Recalibrator(feedback="distribution", seed=1)
    for t in range(50):
        recalibrator.predict(0.5)
        recalibrator.update(t % 2)
    assert all(c.guaranteed is not None for c in recalibrator.certificates())


def test_late_outcomes_elsewhere_keep_the_calibration_guarantee_only():
    recalibrator = Recalibrator(feedback="distribution", seed=1)
    early = recalibrator.predict(0.02)
    for _ in range(30):
        late = recalibrator.predict(0.9)
        recalibrator.update(1, late)
    recalibrator.update(0, early)
    calibration, *excess = recalibrator.certificates()
    assert calibration.holds and calibration.guaranteed == recalibrator.guarantee
    assert all(c.guaranteed is None and "late" in c.broken[0] for c in excess)


def test_late_outcomes_at_one_point_break_the_guarantee_but_teach():
    rng = np.random.default_rng(0)
    recalibrator = Recalibrator(0.2, seed=1)
    waiting = []
    for _ in range(2000):
        waiting.append(recalibrator.predict(0.9))
        if len(waiting) > 5:
            recalibrator.update(float(rng.random() < 0.3), waiting.pop(0))
    calibration = recalibrator.certificate()
    assert calibration.guaranteed is None and not calibration.holds
    assert "came late" in calibration.broken[0] and calibration.late == 5
    assert recalibrator.guarantee is None and calibration.after_the_fact > 0
    assert "one a lead time" in str(calibration)
    assert recalibrator.peek(0.9).points @ recalibrator.peek(0.9).weights == pytest.approx(
        0.3, abs=0.1
    )


def test_an_absent_model_sleeps():
    """Its weight among the others, and what it has learnt, stay as they were."""
    recalibrator = Recalibrator(models=2, seed=1)
    for t in range(50):
        recalibrator.predict([0.9, 0.2])
        recalibrator.update(t % 3 == 0)

    def learnt():
        _, mix, platt, bins = experts_parts(row_of(recalibrator), 3)
        return platt[1].copy(), bins[1].copy(), mix[AWAKE_LOSS, 4:8].copy()

    before = learnt()
    recalibrator.predict([0.7, math.nan])
    recalibrator.update(1)
    assert all((a == b).all() for a, b in zip(before, learnt(), strict=True))
    recalibrator.predict([0.7, 0.6])
    recalibrator.update(1)
    assert not any((a == b).all() for a, b in zip(before, learnt(), strict=True))
    assert recalibrator.certificate().measured >= 0


def grid_of(recalibrator):
    return kind_behind(recalibrator).points(int(column(recalibrator, LEVEL))).tolist()


def test_guarantee_for_the_horizon_then_for_the_events():
    recalibrator = Recalibrator(0.05, horizon=1000, seed=1)
    assert recalibrator.guarantee == pytest.approx(calibration_by_hand(1000, 20))
    p, y = overconfident(3000)
    recalibrator.run(p, y)
    assert recalibrator.guarantee == pytest.approx(calibration_by_hand(3000, 20))
    assert "21 points" in recalibrator.explain()


def test_unknown_horizon_refines_the_grid():
    p, y = overconfident(6000)
    recalibrator = Recalibrator(None, seed=1)
    sizes = []
    for part in np.array_split(np.arange(6000), 6):
        recalibrator.run(p[part], y[part])
        sizes.append(len(grid_of(recalibrator)))
    assert sizes == sorted(sizes) and sizes[-1] >= 9
    assert recalibrator.certificate().guaranteed < 2 * min(
        calibration_by_hand(6000, cells) for cells in range(2, 60)
    )


def test_forecasts_pending_across_a_refinement_are_learnt_where_they_were_made():
    recalibrator = Recalibrator(None, feedback="distribution", seed=1)
    early = recalibrator.predict(0.9)
    p, y = overconfident(3000)
    points = early.points.tolist()
    recalibrator.run(p, y)
    grid = grid_of(recalibrator)
    assert len(grid) > 3
    where = [grid.index(s) for s in points]
    before = point_columns(recalibrator)[:, WEIGHT]
    recalibrator.update(1, early)
    gained = point_columns(recalibrator)[:, WEIGHT] - before
    assert gained[where] == pytest.approx(early.weights)
    assert gained.sum() == pytest.approx(1)
