"""Recalibration: measured within guaranteed against adversaries; what it does to forecasts."""

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.makers import column, kind_behind, point_columns, row_of
from fullswap.forecasting import Recalibrator, expert_specs
from fullswap.kernels.columns import LEVEL
from fullswap.kernels.experts import AWAKE_LOSS, WEIGHT, experts_parts
from fullswap.online.lattices import Lattice


def rt(x):
    return min(x, 1) + math.log(max(x, 1))


def calibration_by_hand(events, cells):
    """Σδ + Σ_s[½·ln(1/π) + c_s] + ¼·n·Rt(T/n) with π = 1/10."""
    points = [k / cells for k in range(cells + 1)]
    n, spread = len(points), sum((2 - 3 * min(s, 1 - s)) ** 2 / 4 for s in points)
    own = math.log(10) / 2 + rt(events / n) / 4
    return min(events, events / (4 * cells**2) + spread + n * own)


def excess_by_hand(events, cells, prior):
    """Σδ + n·½·ln(1/(1 − π)) + ½·ln((1 + T)/prior)."""
    kept = min(events, (cells + 1) / 2 * math.log(10 / 9))
    return min(events, events / (4 * cells**2) + kept + math.log((1 + events) / prior) / 2)


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


def rows_of(run, outcomes):
    return [(s, 1.0, y) for s, y in zip(run.issued.tolist(), outcomes, strict=True)]


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
        rows.append((forecast.issued, 1.0, y))
    return rows, model


@pytest.mark.theorem("recalibration")
@pytest.mark.theorem("recalibration keeps the skill")
@pytest.mark.parametrize("name", ADVERSARIES)
@pytest.mark.parametrize("cells", [6, 20, None])
def test_within_both_guarantees_against_adversaries(name, cells):
    events, seeds = 600, 8
    step = None if cells is None else 1 / cells
    measured, known = [], []
    for seed in range(seeds):
        recalibrator = Recalibrator(step, horizon=events, seed=seed)
        rows, model = play(name, recalibrator, events)
        calibration, *excess = recalibrator.certificates()
        assert calibration.measured == pytest.approx(slow_calibration(rows), abs=1e-8)
        assert excess[0].measured == pytest.approx(slow_brier(rows) - model, abs=1e-8)
        measured.append([certificate.measured for certificate in (calibration, *excess)])
        known.append([certificate.after_the_fact for certificate in (calibration, *excess)])
        for certificate in (calibration, *excess):
            assert certificate.after_the_fact <= certificate.guaranteed
    bounds = [certificate.guaranteed for certificate in (calibration, *excess)]
    assert (np.mean(measured, axis=0) <= np.mean(known, axis=0)).all()
    assert (np.mean(measured, axis=0) <= bounds).all()
    assert calibration.on_average
    assert calibration.guaranteed == pytest.approx(recalibrator.guarantee, rel=1e-12)
    if cells is not None:
        assert calibration.guaranteed == pytest.approx(calibration_by_hand(events, cells))
        assert excess[0].guaranteed == pytest.approx(excess_by_hand(events, cells, 0.5))


@given(st.integers(0, 2**32), st.integers(1, 12))
@settings(max_examples=30)
def test_guarantees_hold_for_arbitrary_logs_and_weights(seed, cells):
    rng = np.random.default_rng(seed)
    events = int(rng.integers(1, 200))
    p, y = rng.choice([0, 0.5, 1, 0.123], events), rng.choice([0, 1, 0.5], events)
    weights = rng.choice([0, 0.1, 1.5, 3.0], events)
    recalibrator = Recalibrator(1 / cells, max_weight=3.0, seed=1)
    run = recalibrator.run(p, y, weights)
    rows = list(zip(run.issued.tolist(), weights, y, strict=True))
    certificates = recalibrator.certificates()
    assert certificates[0].measured == pytest.approx(slow_calibration(rows), abs=1e-8)
    for certificate in certificates:
        assert certificate.after_the_fact <= certificate.guaranteed, str(certificate)
    model = float((weights * (p - y) ** 2).sum())
    assert certificates[1].measured == pytest.approx(slow_brier(rows) - model, abs=1e-8)


# --- it helps, and does no harm ----------------------------------------------------------------


def brier(forecasts, outcomes):
    return float(np.mean((forecasts - outcomes) ** 2))


def on_grid(p, cells=64):
    return np.rint(p * cells) / cells


def test_overconfidence_is_mended():
    p, y = overconfident(4000)
    run = Recalibrator(seed=1).run(p, y)
    raw = slow_calibration((s, 1.0, b) for s, b in zip(on_grid(p).tolist(), y, strict=True))
    assert slow_calibration(rows_of(run, y)) < 0.25 * raw
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
    certificates = recalibrator.certificates()
    assert len(certificates) == 1 + 4 * 7 and "model 2, recalibrated" in certificates[16].title
    assert all("silent" in certificate.about for certificate in certificates[1:])


def test_a_short_log_is_not_hurt():
    differences = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p = sigmoid(rng.normal(0, 1.2, 350))
        y = (rng.random(350) < p).astype(float)
        run = Recalibrator(seed=seed).run(p, y)
        differences.append(brier(run.mean, y) - brier(p, y))
    assert np.mean(differences) < 0.001


# --- late and absent ---------------------------------------------------------------------------


def test_one_event_at_a_time_keeps_every_guarantee():
    recalibrator = Recalibrator(seed=1)
    for t in range(50):
        recalibrator.predict(0.5)
        recalibrator.update(t % 2)
    assert all(c.guaranteed is not None for c in recalibrator.certificates())


def test_late_outcomes_elsewhere_leave_the_certificate_after_the_fact():
    recalibrator = Recalibrator(seed=1)
    early = recalibrator.predict(0.02)
    for _ in range(30):
        late = recalibrator.predict(0.9)
        recalibrator.update(1, late)
    recalibrator.update(0, early)
    assert all(c.guaranteed is None for c in recalibrator.certificates())
    for claim in kind_behind(recalibrator).claims(row_of(recalibrator)):
        assert claim.in_order and claim.measured <= claim.after_the_fact + 1e-9


@pytest.mark.parametrize("delay", [1, 3, 10])
@pytest.mark.parametrize("step", [None, 0.1])
def test_what_is_known_after_the_fact_holds_however_late(delay, step):
    """(1) of the theorems needs no promptness: measured errors stay within it on average."""
    beyond = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        recalibrator = Recalibrator(step, seed=seed)
        waiting = []
        for _ in range(150):
            waiting.append(recalibrator.predict(rng.choice([0, 0.02, 0.5, 0.97, rng.random()])))
            while len(waiting) > rng.integers(0, delay + 1):
                outcome = rng.choice([0, 1, 0.5], p=[0.6, 0.3, 0.1])
                forecast = waiting.pop(rng.integers(len(waiting)))
                recalibrator.update(outcome, forecast, weight=rng.choice([0.2, 1]))
        claims = kind_behind(recalibrator).claims(row_of(recalibrator))
        beyond.append([claim.measured - claim.after_the_fact for claim in claims])
    # three standard errors: a bound on the mean, seen through 20 runs
    luck = 3 * np.std(beyond, axis=0) / math.sqrt(len(beyond))
    assert (np.mean(beyond, axis=0) <= luck + 1e-9).all()


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
    assert "for each lead time" in str(calibration)
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
        _, mix, beliefs, bins = experts_parts(row_of(recalibrator), 3)
        return beliefs[1].copy(), bins[1].copy(), mix[AWAKE_LOSS, 7:14].copy()

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
    assert "21 values" in recalibrator.explain()


def test_without_a_step_the_grid_is_fine_and_leaves_out_certainty():
    for horizon in (None, 10, 10_000):
        recalibrator = Recalibrator(horizon=horizon, seed=1)
        assert recalibrator.step is None and len(grid_of(recalibrator)) == 65
    assert len(grid_of(Recalibrator(horizon=10**9))) > 129
    p, y = np.tile([0.0, 1.0, 0.5], 500), np.tile([0.0, 1.0, 0.0, 1.0, 0.0, 1.0], 250)
    run = recalibrator.run(p, y)
    assert 0 < run.issued.min() < 1e-3 and 1 - 1e-3 < run.issued.max() < 1
    # drawing between neighbours costs a thousandth of the Brier score at most
    points = np.array(grid_of(recalibrator))
    middles = (points[1:] + points[:-1]) / 2
    assert (np.diff(points) ** 2 / 6 < 1e-3 * middles * (1 - middles)).all()


@pytest.fixture
def small_levels(monkeypatch):
    """Grids that are refined early: the real ones take millions of events."""
    lattices = tuple(Lattice("tapered", 2**k) for k in range(2, 6))
    levels = lattices, (0.0, 100.0, 500.0, 2000.0)
    monkeypatch.setattr(expert_specs, "_experts_levels", lambda: levels)
    expert_specs.experts_spec.cache_clear()
    yield
    expert_specs.experts_spec.cache_clear()


def test_unknown_horizon_refines_the_grid(small_levels):
    p, y = overconfident(6000)
    recalibrator = Recalibrator(seed=1)
    sizes = []
    for part in np.array_split(np.arange(6000), 6):
        recalibrator.run(p[part], y[part])
        sizes.append(len(grid_of(recalibrator)))
        for claim in kind_behind(recalibrator).claims(row_of(recalibrator)):
            assert claim.measured <= claim.guaranteed
            assert claim.after_the_fact <= claim.guaranteed + 1e-9
    assert sizes == [17, 33, 33, 33, 33, 33]


def test_forecasts_pending_across_a_refinement_are_learnt_where_they_were_made(small_levels):
    recalibrator = Recalibrator(None, seed=1)
    early = recalibrator.predict(0.9)
    p, y = overconfident(3000)
    recalibrator.run(p, y)
    grid = grid_of(recalibrator)
    assert len(grid) == 33
    before = point_columns(recalibrator)[:, WEIGHT]
    recalibrator.update(1, early)
    gained = point_columns(recalibrator)[:, WEIGHT] - before
    assert gained[grid.index(early.issued)] == pytest.approx(1)
    assert gained.sum() == pytest.approx(1)


# --- several forecasts of one event ---------------------------------------------------------------


@given(st.integers(0, 2**32), st.sampled_from([2, 5, 30]))
@settings(max_examples=25)
def test_guarantees_hold_for_events_that_are_learnt_in_parts(seed, parts):
    """All forecasts of an event are made before its outcome, and count 1/n each."""
    rng = np.random.default_rng(seed)
    recalibrator = Recalibrator(0.1, seed=1)
    for number in range(40):
        for _ in range(parts):
            recalibrator.predict(rng.choice([0, 0.9, rng.random()]), event=number)
        recalibrator.resolve(number, rng.choice([0.0, 1.0, 0.5]))
    calibration, *excess = kind_behind(recalibrator).claims(row_of(recalibrator))
    for claim in (calibration, *excess):
        assert claim.measured <= claim.guaranteed
    extra = (math.e**2 - 3) / 4 * rt(40)
    assert excess[0].guaranteed == pytest.approx(min(40, excess_by_hand(40, 10, 0.5) + extra))


def test_claims_know_their_noise_and_the_table_of_what_came_true():
    p, y = overconfident(800)
    recalibrator = Recalibrator(seed=1)
    run = recalibrator.run(p, y)
    claim = kind_behind(recalibrator).claims(row_of(recalibrator))[0]
    used = np.unique(run.issued)
    assert claim.noise == pytest.approx((used * (1 - used)).sum())
    points, weights, means = recalibrator.certificate().table
    assert np.array_equal(points, used) and weights.sum() == pytest.approx(800)
    for point, weight, mean in zip(points, weights, means, strict=True):
        assert weight == (run.issued == point).sum()
        assert mean == pytest.approx(y[run.issued == point].mean())
