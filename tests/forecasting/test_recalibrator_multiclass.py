"""Recalibration of several classes: measured within guaranteed; what it does to forecasts."""

import math
from collections import defaultdict

import numpy as np
import pytest

from contract.makers import state_of
from fullswap.forecasting import Recalibrator
from fullswap.grids.kuhn import kuhn_simplex
from fullswap.sets import Simplex


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def overconfident(events, classes, seed=0):
    """Probabilities twice too sure of themselves and biased, and the classes that came."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 1.2, (events, classes))
    labels = (softmax(logits).cumsum(axis=1) < rng.random((events, 1))).sum(axis=1)
    return softmax(2 * logits + np.linspace(0, 0.7, classes)), np.minimum(labels, classes - 1)


def slow_calibration(rows):
    """Σ over distinct forecasts of mass·‖forecast − mean outcome‖²; rows of (s, mass, y)."""
    mass, sums = defaultdict(float), defaultdict(float)
    for s, g, y in rows:
        mass[tuple(s)] += g
        sums[tuple(s)] = sums[tuple(s)] + g * np.asarray(y)
    return sum(
        g * float(((np.array(s) - sums[s] / g) ** 2).sum()) for s, g in mass.items() if g > 0
    )


def slow_brier(rows):
    return sum(g * float(((np.asarray(s) - y) ** 2).sum()) for s, g, y in rows)


class Adversary:
    """A model's probabilities and an outcome, each round; sees the forecast's distribution."""

    def __init__(self, name, classes, rng):
        self.name, self.classes, self.rng, self.t = name, classes, rng, 0
        self.planned = np.eye(classes)[0]

    def claim(self):
        if self.name == "opposite":
            self.planned = np.eye(self.classes)[self.rng.integers(self.classes)]
            return (1 - self.planned) / (self.classes - 1)
        if self.name == "turning":
            return np.roll(np.linspace(1, 3, self.classes), self.t % self.classes) / (
                2 * self.classes
            )
        return self.rng.dirichlet(np.ones(self.classes))

    def outcome(self, claim, forecast):
        self.t += 1
        corners = np.eye(self.classes)
        if self.name == "opposite":
            return self.planned
        if self.name == "turning":  # the relation to the model changes half-way
            chance = claim if self.t < 400 else claim[::-1]
            return corners[self.rng.choice(self.classes, p=chance)]
        if self.name == "mean-aware":
            return corners[int(np.argmin(forecast.mean))]
        if self.name == "soft":
            return np.roll(np.array([0.5, 0.5] + [0.0] * (self.classes - 2)), self.t // 50)
        drifting = softmax(2 * np.sin(self.t / 80 + np.arange(self.classes)))
        return corners[self.rng.choice(self.classes, p=drifting)]


ADVERSARIES = ("opposite", "turning", "mean-aware", "soft", "drift")


def play(name, recalibrator, events, seed=0):
    adversary = Adversary(name, recalibrator.classes, np.random.default_rng(seed))
    rows, model = [], 0.0
    for _ in range(events):
        claim = adversary.claim()
        forecast = recalibrator.predict(claim)
        y = adversary.outcome(claim, forecast)
        recalibrator.update(y)
        model += float(((claim - y) ** 2).sum())
        rows.append((forecast.issued, 1.0, y))
    return rows, model


def rt(x):
    return min(x, 1) + math.log(max(x, 1))


def own_mean_cost(s):
    """(A + B)²/4B: B the squared distance to the farthest corner, A = 2(‖s‖² − min s)."""
    farthest = max(((s - e) ** 2).sum() for e in np.eye(len(s)))
    return (2 * (s @ s - s.min()) + farthest) ** 2 / (4 * farthest)


def calibration_by_hand(events, grid):
    """Σδ + Σ_s[ln(1/π) + c_s] + (1 − 1/K)·n·Rt(T/n) with π = 1/10."""
    n, classes = grid.points.shape
    own = sum(math.log(10) + own_mean_cost(s) for s in grid.points)
    learning = (1 - 1 / classes) * n * rt(events / n)
    return min(2 * events, events * float(grid.variance) + own + learning)


def excess_by_hand(events, grid, prior):
    """Σδ + n·ln(1/(1 − π)) + ln((1 + T)/prior)."""
    kept = min(2 * events, len(grid.points) * math.log(10 / 9))
    advice = math.log((1 + events) / prior)
    return min(2 * events, events * float(grid.variance) + kept + advice)


@pytest.mark.theorem("recalibration")
@pytest.mark.theorem("recalibration keeps the skill")
@pytest.mark.parametrize("name", ADVERSARIES)
@pytest.mark.parametrize(("classes", "cells"), [(3, 6), (4, 3)])
def test_within_both_guarantees_against_adversaries(name, classes, cells):
    events, measured = 400, []
    for seed in range(6):
        recalibrator = Recalibrator(1 / cells, classes=classes, seed=seed)
        rows, model = play(name, recalibrator, events)
        calibration, *excess = recalibrator.certificates()
        assert calibration.measured == pytest.approx(slow_calibration(rows), abs=1e-8)
        assert excess[0].measured == pytest.approx(slow_brier(rows) - model, abs=1e-8)
        measured.append([certificate.measured for certificate in (calibration, *excess)])
        for certificate in (calibration, *excess):
            assert certificate.after_the_fact <= certificate.guaranteed
    bounds = [certificate.guaranteed for certificate in (calibration, *excess)]
    assert (np.mean(measured, axis=0) <= bounds).all()
    grid = kuhn_simplex(Simplex(classes - 1), 1 / cells)
    assert calibration.guaranteed == pytest.approx(calibration_by_hand(events, grid))
    assert excess[0].guaranteed == pytest.approx(excess_by_hand(events, grid, 0.5))


@pytest.mark.parametrize("classes", [3, 4])
def test_overconfidence_is_mended(classes):
    p, labels = overconfident(4000, classes)
    step = 0.1 if classes == 3 else 0.2
    recalibrator = Recalibrator(step, classes=classes, seed=1)
    run = recalibrator.run(p, labels)
    y = np.eye(classes)[labels]
    rows = kuhn_simplex(Simplex(classes - 1), step)
    near = rows.locate(p)
    rounded = rows.points[near.indices[np.arange(len(p)), near.weights.argmax(axis=1)]]
    raw = slow_calibration((s, 1.0, b) for s, b in zip(rounded, y, strict=True))
    assert recalibrator.certificate().measured < 0.5 * raw
    lost = [float(((forecast - y) ** 2).sum(axis=1).mean()) for forecast in (run.mean, p)]
    assert lost[0] < lost[1] - 0.03


def test_soft_outcomes_and_runs_of_rows():
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet(np.ones(3), 100), rng.dirichlet(np.ones(3), 100)
    whole, single = (Recalibrator(0.2, classes=3, seed=1) for _ in range(2))
    whole.run(p, y)
    for row, outcome in zip(p, y, strict=True):
        single.predict(row)
        single.update(outcome)
    assert state_of(whole) == state_of(single)


def test_late_outcomes_break_the_guarantee_but_teach():
    rng = np.random.default_rng(0)
    recalibrator = Recalibrator(0.25, classes=3, seed=1)
    waiting = []
    for _ in range(1500):
        waiting.append(recalibrator.predict([0.8, 0.1, 0.1]))
        if len(waiting) > 5:
            recalibrator.update(int(rng.choice(3, p=[0.2, 0.2, 0.6])), waiting.pop(0))
    assert recalibrator.certificate().guaranteed is None
    mixture = recalibrator.peek([0.8, 0.1, 0.1])
    assert mixture.weights @ mixture.points == pytest.approx([0.2, 0.2, 0.6], abs=0.1)


def test_a_grid_chosen_for_a_horizon_is_never_coarse():
    assert [Recalibrator(classes=k).step for k in (3, 4, 5)] == [1 / 20, 1 / 10, 1 / 8]
    steps = [Recalibrator(classes=3, horizon=horizon).step for horizon in (100, 10**9)]
    assert steps[0] == 1 / 20 > steps[1]
    horizon = 10**8
    recalibrator = Recalibrator(classes=3, horizon=horizon)
    others = [Recalibrator(1 / k, classes=3, horizon=horizon).guarantee for k in range(20, 60)]
    assert recalibrator.guarantee == min(others)


def test_forecasts_lie_on_one_simplex():
    p, labels = overconfident(500, 3)
    run = Recalibrator(classes=3, seed=1).run(p, labels)
    assert run.weights.shape[1] == 3


@pytest.mark.parametrize(
    "p",
    [
        0.5, [0.5, 0.5], [0.5, 0.5, 0.5], [0.5, 0.6, -0.1], [0.5, 0.5, math.nan], "abc",
        [[0.2, 0.3, 0.5], [0.2, 0.3, 0.6]], [math.inf, 0, 0],
    ],
)  # fmt: skip
def test_predict_refuses_and_changes_nothing(p):
    recalibrator = Recalibrator(0.2, classes=3, seed=1)
    before = recalibrator.to_json()
    with pytest.raises(ValueError, match=r"\bp\b"):
        recalibrator.predict(p)
    assert recalibrator.to_json() == before


@pytest.mark.parametrize("outcome", [3, -1, 0.5, [0.5, 0.6, 0.1], [1, 0], "x", math.nan])
def test_update_refuses_and_changes_nothing(outcome):
    recalibrator = Recalibrator(0.2, classes=3, seed=1)
    recalibrator.predict([0.2, 0.3, 0.5])
    before = recalibrator.to_json()
    with pytest.raises(ValueError, match="outcome"):
        recalibrator.update(outcome)
    assert recalibrator.to_json() == before


def test_run_refuses_what_does_not_fit():
    recalibrator = Recalibrator(0.2, classes=3, models=2, seed=1)
    with pytest.raises(ValueError, match="shape"):
        recalibrator.run(np.full((4, 3), 1 / 3), [0, 1, 2, 0])
    with pytest.raises(ValueError, match="only NaN in event 1"):
        p = np.full((2, 2, 3), 1 / 3)
        p[1] = math.nan
        recalibrator.run(p, [0, 1])
    with pytest.raises(ValueError, match="step"):
        Recalibrator(1 / 200, classes=5)
    assert recalibrator.rounds == 0
