"""What tests of forecasters share: outcomes chosen by adversaries, and slow measurements.

A *round* is (points, weights, issued, outcome, weight): the distribution as two lists, the draw,
what happened and how much it counts. An *event* is (forecast, share, outcome): all that
calibration looks at. Measurements are plain loops over dictionaries and import nothing of what
they check.
"""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

from fullswap.adversaries.parameters import Choice
from fullswap.base.protocols import Mixture
from fullswap.losses import LossClass
from fullswap.sets import Interval
from studies.adversaries import ADVERSARIES

SQUARED, UNIT = LossClass.squared(1.0), Interval(0.0, 1.0)
OBLIVIOUS = {"midpoint", "drift", "switching", "sweep", "blocks", "convex_lipschitz", "scripted"}
"""Adversaries that do not look at the forecasts."""


NAMES = tuple(ADVERSARIES)
"""All adversaries of squared losses on [0, 1]."""


def make_adversary(name, seed, rounds):
    """The adversary of this name; its style takes turns with the seed, its period is the run.

    Thresholds lie on every grid (½) for even seeds, on none for odd ones.
    """
    table = ADVERSARIES[name].parameters
    chosen = {
        key: parameter.options[seed % len(parameter.options)]
        for key, parameter in table.items()
        if isinstance(parameter, Choice)
    }
    if "period" in table:
        chosen["period"] = max(rounds, 2)
    if seed % 2:
        chosen |= {key: 0.3217 for key in ("threshold", "middle") if key in table}
    if "swing" in table and seed % 3 == 2:
        chosen["swing"] = 0.25
    return ADVERSARIES[name](UNIT, SQUARED, seed, **chosen)


def outcome_of(loss):
    """The centre of a squared loss a·t² + b·t + c."""
    a, b, _ = loss.coefficients
    return min(max(float(-b / (2 * a)), 0.0), 1.0)


def answer(adversary, forecast, t):
    """The outcome with which the adversary answers a forecast; it does not see the draw."""
    seen = Mixture(forecast.points.reshape(-1, 1), forecast.weights)
    return outcome_of(adversary.choose(seen, t))


def oblivious_outcomes(adversary, rounds):
    """All outcomes of an adversary that does not look at the forecasts, shape (rounds,)."""
    assert adversary.name in OBLIVIOUS, adversary.name
    nothing = Mixture(np.full((1, 1), 0.5), np.ones(1))
    return np.array([outcome_of(adversary.choose(nothing, t)) for t in range(rounds)])


def round_of(forecast, outcome, weight=1.0):
    """One round from a Forecast, as plain data."""
    points, weights = forecast.points.tolist(), forecast.weights.tolist()
    return points, weights, forecast.issued, float(outcome), float(weight)


def rounds_of(result, outcomes, sample_weight=None):
    """The rounds of a Record, one after the other."""
    points = result.points.tolist()
    for t in range(len(result)):
        shares = result.weights[t].tolist()
        pairs = zip(result.indices[t].tolist(), shares, strict=True)
        used = [(points[i], w) for i, w in pairs if w > 0]
        weight = 1.0 if sample_weight is None else float(sample_weight[t])
        issued = points[result.issued_indices[t]]
        yield [p for p, _ in used], [w for _, w in used], issued, float(outcomes[t]), weight


def against(forecaster, adversary, rounds, start=0, weights=None):
    """Play so many rounds, the first of which is round ``start`` of the adversary."""
    played = []
    for k in range(rounds):
        forecast = forecaster.predict()
        y, weight = answer(adversary, forecast, start + k), 1.0 if weights is None else weights[k]
        forecaster.update(y, weight=weight)
        played.append(round_of(forecast, y, weight))
    return played


def events_of(rounds, feedback):
    """(forecast, share, outcome): the draws with share 1, or every point of the distributions."""
    for points, weights, issued, y, weight in rounds:
        if feedback == "realised":
            yield issued, weight, y
        else:
            for p, w in zip(points, weights, strict=True):
                yield p, w * weight, y


class Measured:
    """Σ share, Σ share·y and Σ share·y² for each distinct forecast, event by event."""

    def __init__(self, events=()):
        self.sums = defaultdict(lambda: [0.0, 0.0, 0.0])
        self.add(events)

    def add(self, events):
        for p, share, y in events:
            held = self.sums[p]
            held[0] += share
            held[1] += share * y
            held[2] += share * y * y

    def _learnt(self):
        return ((p, *held) for p, held in self.sums.items() if held[0] > 0)

    def l2(self):
        """Σ_p n_p·(p − ȳ_p)²."""
        return math.fsum(n * (p - ones / n) ** 2 for p, n, ones, _ in self._learnt())

    def swap_regret(self, actions):
        """Σ_p max_a Σ share·((p − y)² − (a − y)²), every action tried."""
        total = 0.0
        for p, n, ones, squares in self._learnt():
            lost = [n * a * a - 2 * a * ones + squares for a in (p, *actions)]
            total += max(0.0, lost[0] - min(lost[1:]))
        return total

    def among_multiples(self, forecaster):
        """Swap regret among the multiples of the forecaster's step."""
        steps = forecaster.spec.steps
        return self.swap_regret([k / steps for k in range(steps + 1)])


def measure(forecaster, rounds):
    """The calibration error of these rounds, by slow code."""
    return Measured(events_of(rounds, forecaster.feedback)).l2()
