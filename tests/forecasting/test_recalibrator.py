"""Recalibration: measured within guaranteed against adversaries, and the verbs' laws."""

import copy
import csv
import math
import pickle
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from fullswap.forecasting.recalibration_bounds import (
    experts_calibration,
    experts_excess,
    line_rounding,
    one_weight_excess,
    per_bin_regret,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from fullswap.forecasting.recalibrator import Recalibrator

METHODS = ("experts", "per_bin", "one_weight")
FEEDBACK = ("realised", "distribution")


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


@pytest.mark.parametrize("name", ADVERSARIES)
@pytest.mark.parametrize("bins", [6, 20, None])
def test_experts_within_both_guarantees_against_adversaries(name, bins):
    events = 1500
    recalibrator = Recalibrator(bins=bins, feedback="distribution")
    rows, model = play(name, recalibrator, events)
    calibration, *excess = recalibrator.certificates()
    assert calibration.measured == pytest.approx(slow_calibration(rows), abs=1e-8)
    assert excess[0].measured == pytest.approx(slow_brier(rows) - model, abs=1e-8)
    for certificate in (calibration, *excess):
        assert certificate.holds, str(certificate)
        assert certificate.measured <= certificate.after_the_fact + 1e-8
        assert certificate.after_the_fact <= certificate.guaranteed
    if bins is not None:
        assert calibration.guaranteed == pytest.approx(experts_calibration(events, bins))
        assert excess[0].guaranteed == pytest.approx(experts_excess(events, bins, 0.25, events))


@pytest.mark.parametrize("name", ADVERSARIES)
@pytest.mark.parametrize("method", ["per_bin", "one_weight"])
def test_other_methods_within_both_guarantees_against_adversaries(name, method):
    events, bins = 1500, 6
    recalibrator = Recalibrator(bins, method=method, horizon=events, feedback="distribution")
    rows, model = play(name, recalibrator, events)
    calibration, excess = recalibrator.certificates()
    assert calibration.measured == pytest.approx(slow_calibration(rows), abs=1e-8)
    for certificate in (calibration, excess):
        assert certificate.holds, str(certificate)
        assert certificate.measured <= certificate.after_the_fact + 1e-8
    if method == "one_weight":
        assert excess.measured == pytest.approx(slow_brier(rows) - model, abs=1e-8)
        rate = math.sqrt(math.log(events) / events)
        assert excess.guaranteed == pytest.approx(one_weight_excess(events, bins, rate))
        assert excess.guaranteed <= 2 * math.log(2) + events * line_rounding(bins)
    else:
        assert excess.guaranteed == pytest.approx(per_bin_regret(events, bins, bins))


def test_per_bin_excess_is_over_the_mean_outcomes_of_the_models_bins():
    p, y = overconfident(500)
    recalibrator = Recalibrator(5, method="per_bin", feedback="distribution")
    rows = rows_of(recalibrator.run(p, y), y, "distribution")
    refinement = 0.0
    for b in range(5):
        inside = y[(p * 5).astype(int) == b]
        refinement += ((inside - inside.mean()) ** 2).sum()
    excess = recalibrator.certificates()[1]
    assert excess.measured == pytest.approx(slow_brier(rows) - refinement, abs=1e-8)


@pytest.mark.parametrize("feedback", FEEDBACK)
def test_one_weight_moves_as_it_is_written_down(feedback):
    rng = np.random.default_rng(0)
    recalibrator = Recalibrator(5, method="one_weight", horizon=100, feedback=feedback)
    rate = math.sqrt(math.log(100) / 100)
    state, mass, ones = rate, np.zeros(6), np.zeros(6)
    for _ in range(100):
        p, y, scale = float(rng.random()), float(rng.random() < 0.3), rng.choice([0.2, 1.0])
        forecast = recalibrator.predict(p)
        weight = state / (state + 1 - rate)
        support = list(zip(forecast._indices, forecast._weights, strict=True))
        targets = {i: ones[i] / mass[i] if mass[i] > 0 else p for i, _ in support}
        mixed = {i: weight * q + (1 - weight) * p for i, q in targets.items()}
        balance = sum(w * (mixed[i] - i / 5) for i, w in support)
        assert balance == pytest.approx(0, abs=1e-9)
        recalibrator.update(y, weight=scale)
        if feedback == "realised":
            support = [(forecast._indices[forecast._issued], 1.0)]
        for i, w in support:
            mass[i] += w * scale
            ones[i] += w * scale * y
        gap = sum(w * scale * ((p - y) ** 2 - (targets[i] - y) ** 2) for i, w in support)
        state *= 1 + rate * gap


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["flipped", "mean-aware", "opposite", "greedy", "moving"])
def test_realised_guarantees_hold_on_average_over_the_draws(name, method):
    events, seeds = 600, 8
    measured = []
    for seed in range(seeds):
        recalibrator = Recalibrator(6, method=method, horizon=events, seed=seed)
        rows, _ = play(name, recalibrator, events)
        made = recalibrator.certificates()
        assert made[0].measured == pytest.approx(slow_calibration(rows), abs=1e-8)
        measured.append([certificate.measured for certificate in made])
    bounds = [certificate.guaranteed for certificate in made]
    assert (np.mean(measured, axis=0) <= bounds).all()
    assert made[0].on_average and made[0].guaranteed == recalibrator.guarantee


@given(st.integers(0, 2**32), st.sampled_from(METHODS), st.integers(1, 12))
@settings(max_examples=30)
def test_guarantees_hold_for_arbitrary_logs_and_weights(seed, method, bins):
    rng = np.random.default_rng(seed)
    events = int(rng.integers(1, 200))
    p, y = rng.choice([0, 0.5, 1, 0.123], events), rng.choice([0, 1, 0.5], events)
    weights = rng.choice([0, 0.1, 1.5, 3.0], events)
    recalibrator = Recalibrator(bins, method=method, feedback="distribution", max_weight=3.0)
    run = recalibrator.run(p, y, weights)
    rows = [
        (s, w * weight, outcome)
        for points, shares, weight, outcome in zip(
            run.points[run.indices], run.weights, weights, y, strict=True
        )
        for s, w in zip(points.tolist(), shares.tolist(), strict=True)
    ]
    made = recalibrator.certificates()
    assert made[0].measured == pytest.approx(slow_calibration(rows), abs=1e-8)
    for certificate in made:
        assert certificate.holds, str(certificate)
    if method != "per_bin":
        model = float((weights * (p - y) ** 2).sum())
        assert made[1].measured == pytest.approx(slow_brier(rows) - model, abs=1e-8)


# --- it helps, and does no harm ----------------------------------------------------------------


def brier(forecasts, outcomes):
    return float(np.mean((forecasts - outcomes) ** 2))


def on_grid(p, cells=20):
    return np.rint(p * cells) / cells


@pytest.mark.parametrize("feedback", FEEDBACK)
def test_overconfidence_is_mended(feedback):
    p, y = overconfident(4000)
    run = Recalibrator(feedback=feedback).run(p, y)
    raw = slow_calibration((s, 1.0, b) for s, b in zip(on_grid(p).tolist(), y, strict=True))
    assert slow_calibration(rows_of(run, y, feedback)) < 0.25 * raw
    assert brier(run.mean, y) < brier(p, y) - 0.01


def test_a_calibrated_model_is_left_alone():
    rng = np.random.default_rng(5)
    p = sigmoid(rng.normal(0, 1, 4000))
    y = (rng.random(4000) < p).astype(float)
    run = Recalibrator().run(p, y)
    assert brier(run.issued, y) < 1.01 * brier(p, y)
    assert brier(run.mean, y) < 1.005 * brier(p, y)


def test_a_relation_that_flips_is_followed():
    rng = np.random.default_rng(6)
    p = sigmoid(rng.normal(0, 1.2, 4000))
    truth = np.where(np.arange(4000) < 2000, p, 1 - p)
    y = (rng.random(4000) < truth).astype(float)
    run = Recalibrator().run(p, y)
    assert brier(run.mean, y) < 0.72 * brier(p, y)
    assert brier(run.mean[-1000:], y[-1000:]) < 1.03 * brier(truth[-1000:], y[-1000:])


def test_of_several_models_the_best_is_found():
    rng = np.random.default_rng(7)
    logits = rng.normal(0, 1.5, 3000)
    y = (rng.random(3000) < sigmoid(logits)).astype(float)
    p = np.column_stack((sigmoid(-logits), rng.random(3000), sigmoid(logits)))
    recalibrator = Recalibrator(models=3)
    run = recalibrator.run(p, y)
    assert brier(run.mean, y) < 1.02 * brier(p[:, 2], y)
    names = [c.quantity for c in recalibrator.certificates()]
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


@pytest.mark.parametrize("feedback", FEEDBACK)
def test_baseball_log(feedback):
    path = Path(__file__).parents[2] / "shared" / "data" / "mlb_games.csv"
    if not path.exists():
        pytest.skip("needs the log of baseball forecasts")
    with path.open() as file:
        rows = list(csv.DictReader(file))[::-1]
    p = np.array([float(row["prob1"]) for row in rows])
    y = np.array([float(row["prob1_outcome"]) for row in rows])
    run = Recalibrator(feedback=feedback).run(p, y)
    assert brier(run.issued, y) < 1.005 * brier(p, y)


# --- laws of the verbs -------------------------------------------------------------------------


def settings_of(method):
    cases = [{}, {"models": 3}, {"bins": None}, {"step": "10%"}, {"bins": None, "horizon": 500}]
    return cases if method == "experts" else [{}, {"bins": None, "horizon": 500}]


CASES = [(method, extra) for method in METHODS for extra in settings_of(method)]


def some_log(models, events=400, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.random((events, models))
    if models > 1:
        p[rng.random(p.shape) < 0.3] = math.nan
        p[:, 0] = np.where(np.isnan(p).all(axis=1), 0.5, p[:, 0])
    y = (rng.random(events) < 0.3).astype(float)
    return (p if models > 1 else p[:, 0]), y, rng.choice([0.0, 0.3, 1.0], events)


def state(recalibrator):
    return recalibrator.to_json()


@pytest.mark.parametrize("feedback", FEEDBACK)
@pytest.mark.parametrize(("method", "extra"), CASES)
def test_run_is_the_loop_bit_for_bit(method, extra, feedback):
    p, y, weights = some_log(extra.get("models", 1))
    whole = Recalibrator(method=method, feedback=feedback, **extra)
    single = Recalibrator(method=method, feedback=feedback, **extra)
    run = whole.run(p, y, weights)
    for t in range(len(y)):
        forecast = single.predict(p[t])
        single.update(y[t], weight=weights[t])
        assert forecast.issued == run.issued[t] and forecast.mean == run.mean[t]
    mine, other = (r.certificates() for r in (whole, single))
    assert [c.to_dict() for c in mine] == [c.to_dict() for c in other]
    follow = [r.predict(p[0]).mean for r in (whole, single)]
    assert follow[0] == follow[1]


@pytest.mark.parametrize("feedback", FEEDBACK)
@pytest.mark.parametrize(("method", "extra"), CASES)
def test_saved_state_goes_on_as_if_nothing_had_happened(method, extra, feedback):
    p, y, _ = some_log(extra.get("models", 1), events=120)
    kept = Recalibrator(method=method, feedback=feedback, **extra)
    moved = Recalibrator(method=method, feedback=feedback, **extra)
    for t in range(0, 120, 3):
        for r in (kept, moved):
            for k in range(3):
                r.predict(p[t + k])
        text = moved.to_json()
        moved = Recalibrator.from_json(text)
        assert moved.to_json() == text
        for k in (2, 0, 1):  # out of order
            for r in (kept, moved):
                r.update(y[t + k], r.pending[min(k, len(r.pending) - 1)])
    assert kept.to_json() == moved.to_json()
    assert pickle.loads(pickle.dumps(kept)).to_json() == kept.to_json()
    assert copy.deepcopy(kept).to_json() == kept.to_json()


def test_peek_changes_nothing_and_shows_what_predict_forecasts():
    p, y, _ = some_log(1)
    recalibrator = Recalibrator()
    recalibrator.run(p, y)
    before = recalibrator.to_json()
    mixture = recalibrator.peek(0.3)
    assert recalibrator.to_json() == before
    forecast = recalibrator.predict(0.3)
    assert forecast.points.tolist() == mixture.points.tolist()


def test_one_event_at_a_time_keeps_every_guarantee():
    recalibrator = Recalibrator(feedback="distribution")
    for t in range(50):
        recalibrator.predict(0.5)
        recalibrator.update(t % 2)
    assert all(c.guaranteed is not None for c in recalibrator.certificates())


def test_late_outcomes_elsewhere_keep_the_calibration_guarantee_only():
    recalibrator = Recalibrator(feedback="distribution")
    early = recalibrator.predict(0.02)
    for _ in range(30):
        late = recalibrator.predict(0.9)
        recalibrator.update(1, late)
    recalibrator.update(0, early)
    calibration, *excess = recalibrator.certificates()
    assert calibration.holds and calibration.guaranteed == recalibrator.guarantee
    assert all(c.guaranteed is None and "late" in c.broken[0] for c in excess)


@pytest.mark.parametrize("method", METHODS)
def test_late_outcomes_at_one_point_break_the_guarantee_but_teach(method):
    rng = np.random.default_rng(0)
    recalibrator = Recalibrator(5, method=method)
    waiting = []
    for _ in range(2000):
        waiting.append(recalibrator.predict(0.9))
        if len(waiting) > 5:
            recalibrator.update(float(rng.random() < 0.3), waiting.pop(0))
    calibration = recalibrator.certificate()
    assert calibration.guaranteed is None and not calibration.holds
    assert "waited" in calibration.broken[0]
    assert math.isnan(recalibrator.guarantee)
    assert recalibrator.peek(0.9).points @ recalibrator.peek(0.9).weights == pytest.approx(
        0.3, abs=0.1
    )


def test_dropped_forecasts_and_weight_zero_teach_nothing():
    recalibrator = Recalibrator()
    before = recalibrator._learned()
    recalibrator.drop(recalibrator.predict(0.4))
    recalibrator.predict(0.4)
    recalibrator.update(1, weight=0.0)
    assert recalibrator._learned() == before and recalibrator.rounds == 1


def test_an_absent_model_sleeps():
    """Its weight among the others, and what it has learnt, stay as they were."""
    recalibrator = Recalibrator(models=2)
    for t in range(50):
        recalibrator.predict([0.9, 0.2])
        recalibrator.update(t % 3 == 0)
    bank = recalibrator._bank
    before = bank._platt[1].copy(), bank._cells[1].copy(), bank._mix[2, 4:8].copy()
    recalibrator.predict([0.7, math.nan])
    recalibrator.update(1)
    after = bank._platt[1], bank._cells[1], bank._mix[2, 4:8]
    assert all((a == b).all() for a, b in zip(before, after, strict=True))
    assert recalibrator.certificate().measured >= 0


def test_guarantee_for_the_horizon_then_for_the_events():
    recalibrator = Recalibrator(20, horizon=1000)
    assert recalibrator.guarantee == experts_calibration(1000, 20)
    p, y = overconfident(3000)
    recalibrator.run(p, y)
    assert recalibrator.guarantee == pytest.approx(experts_calibration(3000, 20))
    assert "21 grid points" in recalibrator.explain()


def test_unknown_horizon_refines_the_grid():
    p, y = overconfident(6000)
    recalibrator = Recalibrator(bins=None)
    sizes = []
    for part in np.array_split(np.arange(6000), 6):
        recalibrator.run(p[part], y[part])
        sizes.append(len(recalibrator._points))
    assert sizes == sorted(sizes) and sizes[-1] >= 9
    assert recalibrator.certificate().guaranteed < 2 * min(
        experts_calibration(6000, cells) for cells in range(2, 60)
    )


def test_forecasts_pending_across_a_refinement_are_learnt_where_they_were_made():
    recalibrator = Recalibrator(bins=None, feedback="distribution")
    early = recalibrator.predict(0.9)
    p, y = overconfident(3000)
    points = early.points.tolist()
    recalibrator.run(p, y)
    assert len(recalibrator._points) > 3
    bank = recalibrator._bank._bank
    where = [recalibrator._points.tolist().index(s) for s in points]
    before = bank[1].copy()
    recalibrator.update(1, early)
    gained = recalibrator._bank._bank[1] - before
    assert gained[where] == pytest.approx(early.weights)
    assert gained.sum() == pytest.approx(1)


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"bins": 0}, "bins"), ({"bins": 2.5}, "bins"), ({"bins": True}, "bins"),
        ({"step": 0.3}, "step"), ({"classes": 1}, "classes"), ({"classes": 6}, "classes"),
        ({"models": 0}, "models"), ({"horizon": 0}, "horizon"), ({"horizon": 1.5}, "horizon"),
        ({"method": "magic"}, "method"), ({"method": "per_bin", "models": 2}, "per_bin"),
        ({"method": "one_weight", "classes": 3}, "one_weight"),
        ({"method": "per_bin", "bins": 10**5}, "bins"),
        ({"method": "per_bin", "bins": None}, "bins"), ({"feedback": "none"}, "feedback"),
        ({"max_weight": 0.0}, "max_weight"), ({"seed": "x"}, "seed"),
    ],
)  # fmt: skip
def test_constructor_refuses(arguments, named):
    with pytest.raises(ValueError, match=named):
        Recalibrator(**arguments)


@pytest.mark.parametrize(
    ("models", "p"),
    [
        (1, 1.2), (1, -0.1), (1, math.nan), (1, [0.2, 0.3]), (1, "half"), (1, None), (1, [[0.1]]),
        (2, 0.5), (2, [0.5, 1.5]), (2, [math.nan, math.nan]), (2, [0.5, math.inf]), (2, [0.1] * 3),
    ],
)  # fmt: skip
def test_predict_refuses_and_changes_nothing(models, p):
    recalibrator = Recalibrator(models=models)
    before = recalibrator.to_json()
    with pytest.raises(ValueError, match=r"\bp\b"):
        recalibrator.predict(p)
    assert recalibrator.to_json() == before


@pytest.mark.parametrize(
    ("p", "y", "weights", "named"),
    [
        ([0.5, 2.0], [0, 1], None, r"p .*2.0 at position \(1, 0\)"),
        ([0.5, math.nan], [0, 1], None, "p .*nan"),
        ([0.5], [0, 1], None, "equally long"),
        ([0.5, 0.5], [0, 2], None, "outcomes .*2"),
        ([0.5, 0.5], [[0, 1]], None, "outcomes"),
        ([0.5, 0.5], [0, 1], [1, 3], "sample_weight"),
        ([[0.5, 0.1], [0.5, 0.1]], [0, 1], None, "shape"),
        (0.5, [1], None, "shape"),
        (np.ma.array([0.5, 0.5], mask=[False, True]), [0, 1], None, "p .*masked"),
    ],
)
def test_run_refuses_and_changes_nothing(p, y, weights, named):
    recalibrator = Recalibrator()
    before = recalibrator.to_json()
    with pytest.raises(ValueError, match=named):
        recalibrator.run(p, y, weights)
    assert recalibrator.to_json() == before


@pytest.mark.parametrize("outcome", [1.5, -1, math.nan, "yes", [1], None])
def test_update_refuses_and_changes_nothing(outcome):
    recalibrator = Recalibrator()
    recalibrator.predict(0.5)
    before = recalibrator.to_json()
    with pytest.raises(ValueError, match="outcome"):
        recalibrator.update(outcome)
    assert recalibrator.to_json() == before


@pytest.mark.parametrize("p", [1, 0, np.float32(0.25), np.array(0.5), np.array([0.5]), True])
def test_numbers_of_any_kind_serve(p):
    assert 0 <= Recalibrator().predict(p).issued <= 1


def test_an_empty_run_is_a_run():
    run = Recalibrator().run([], [])
    assert len(run) == 0 and run.issued.shape == (0,)


@pytest.mark.parametrize("step", [np.int64(1), np.array(0.05), np.float64(0.05), "5%"])
def test_any_step_that_is_taken_can_be_saved(step):
    recalibrator = Recalibrator(step=step)
    assert Recalibrator.from_json(recalibrator.to_json()).step == recalibrator.step


@pytest.mark.parametrize("method", ["experts", "per_bin", "one_weight"])
def test_writing_into_a_run_leaves_the_forecaster_alone(method):
    recalibrator = Recalibrator(method=method)
    run = recalibrator.run([0.2, 0.7, 0.4], [1, 0, 1])
    before = recalibrator.peek(0.5)
    run.points[:] = 0.123
    assert np.array_equal(recalibrator.peek(0.5).points, before.points)
