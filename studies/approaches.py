"""Three ways to forecast in multiples of a step, and what each of them guarantees.

The quantity is the discretised swap regret of the squared loss on [0, 1],

    Σ_p n_p·[(p − b̄_p)² − ([b̄_p] − b̄_p)²],

where n_p is the weight that the multiple p carried, b̄_p the mean outcome it met and [·] the
nearest multiple of the step ε = 1/m. The paper's figure compares

- **weights**: Blum–Mansour with multiplicative weights over the n = m + 1 multiples [BM07]. At most
  √(T·n·ln n/2): the bound of multiplicative weights with loss range B = 1, because (p − b)² is in
  [0, 1] for outcomes in [0, 1]; L·D = 2 would be twice that for no reason.
- **rounding**: a calibrated forecaster on a fine grid, each forecast rounded to the nearest
  multiple; at most the smaller of `rounding_guarantees`.
- **discretised**: gradient descent on piecewise linearised losses [FKO25, Thm 21]. Where
  the step is finer than T^(−1/3), every multiple a learner of its own is too many: then on every
  other multiple, or every third, …, by the row of the table that serves full swap regret, if its
  guarantee is smaller.

An approach is a rule of the template and a map from its grid to the multiples. That losses keep
the promises of their class is not checked here: the library's adversaries do.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fullswap.base.protocols import Indices, Loss, Mixture, Points, Vector
from fullswap.certificates import Certificate, Quantity
from fullswap.learners import Hedge
from fullswap.losses import LossClass, Quadratic, quadratic_rows
from fullswap.metrics.tally import Tally
from fullswap.sets import Interval
from fullswap.template import FullSwapLearner
from fullswap.template.choice import Plan
from fullswap.template.plan import plan
from fullswap.template.rules import Dense, Rule
from fullswap.theorems import Constants
from fullswap.theorems.learning import hedge_cost, residual_allowance

LINE = Interval(0.0, 1.0)
SQUARED = LossClass.squared(1.0)


class Approach:
    """A learner on the multiples 0, 1/m, …, 1, as the driver and the search know learners.

    Parameters
    ----------
    rule : Rule
        Plays on a grid of its own.
    steps : int
        m.
    horizon : int
        Number of rounds T.
    guarantee : float
        At most this discretised swap regret after T rounds.
    theorem : str
        Where the guarantee is from.

    Examples
    --------
    >>> from fullswap.losses import Quadratic
    >>> approach = by_rounding(steps=2, horizon=100)
    >>> for outcome in [1, 0, 1, 1] * 25:
    ...     approach.observe(Quadratic([outcome]))
    >>> approach.play().points.ravel(), approach.certificate().holds
    (array([0.5, 1. ]), True)
    """

    action_set = LINE

    def __init__(
        self, rule: Rule, steps: int, horizon: int, guarantee: float, theorem: str
    ) -> None:
        self.rule, self.steps, self.horizon = rule, steps, horizon
        self.guarantee, self.theorem = guarantee, theorem
        self.points: Points = multiples(steps)[:, None]
        self.tally = Tally(1)
        self.tally.indices_of(self.points)
        self.rounds = 0
        self._nearest = nearest_multiple(rule.points[:, 0], steps)
        self._pending: tuple[Indices, Vector, Indices, Vector] | None = None

    def play(self) -> Mixture:
        """Mixture of multiples; the same until a loss is observed."""
        labels, weights = self._mix()[2:]
        return Mixture(self.points[labels], weights, labels)

    def observe(self, loss: Loss) -> None:
        """Learn from the loss of this round."""
        indices, shares, labels, weights = self._mix()
        self.rule.learn(loss, indices, shares)
        self.tally.add(labels, weights, loss)
        self.rounds += 1
        self._pending = None

    def certificate(self) -> Certificate:
        """Measured regret of this run beside the guarantee, which is for the horizon."""
        best = self.tally.at_all(self.points).min(axis=1)
        measured = float(np.maximum(self.tally.incurred() - best, 0.0).sum())
        return Certificate(
            Quantity.DISCRETISED_SWAP_REGRET,
            self.rounds,
            measured,
            self.guarantee,
            None,
            self.theorem,
        )

    def _mix(self) -> tuple[Indices, Vector, Indices, Vector]:
        """What the rule plays, and the same on the multiples, each of them once."""
        if self._pending is None:
            indices, shares = self.rule.mix()
            labels, weights = self._nearest[indices], shares
            # the two neighbours of a crossing may round to the same multiple
            if len(labels) == 2 and labels[0] == labels[1]:
                labels, weights = labels[:1], np.ones(1)
            self._pending = indices, shares, labels, weights
        return self._pending


def multiples(steps: int) -> Vector:
    """0, 1/m, …, 1, shape (m + 1,)."""
    return np.arange(steps + 1) / steps


def nearest_multiple(values: Vector, steps: int) -> Indices:
    """k for the multiple k/m nearest to each value in [0, 1].

    Examples
    --------
    >>> nearest_multiple(np.array([0.1, 0.2, 1.0]), 4)
    array([0, 1, 4])
    """
    return np.rint(values * steps).astype(np.int64)


def by_weights(steps: int, horizon: int) -> Approach:
    """Blum–Mansour with multiplicative weights over the multiples."""
    points, n = multiples(steps)[:, None], steps + 1
    loss_range = Constants(lipschitz=1.0, diameter=1.0)  # B = 1, see above
    bound = hedge_cost(loss_range, n, horizon) + residual_allowance(1.0, n, horizon)
    rule = Dense(points, Hedge(points, 1.0, horizon))
    return Approach(rule, steps, horizon, min(bound, float(horizon)), "BM07; CBL06")


def by_rounding(steps: int, horizon: int) -> Approach:
    """The calibrated forecaster of row 5 on its own grid, rounded to the nearest multiple."""
    fine = fine_plan(horizon)
    bounds = rounding_guarantees(fine.bound(horizon), 1 / steps, horizon)
    bound = min(*bounds, float(horizon))
    return Approach(_rule(fine), steps, horizon, bound, f"{fine.theorem.citation}, rounded")


def by_discretised(steps: int, horizon: int) -> Approach:
    """The paper's algorithm for discretised calibration."""
    made = discretised_plan(steps, horizon)
    bound = min(made.bound(horizon), float(horizon))
    return Approach(_rule(made), steps, horizon, bound, made.theorem.citation)


APPROACHES: dict[str, Callable[[int, int], Approach]] = {
    "weights": by_weights,
    "rounding": by_rounding,
    "discretised": by_discretised,
}
"""Name ↦ maker, from m and T."""

PAPER: dict[str, Callable[[float], float]] = {
    "weights": lambda a: (1 + a) / 2,
    "rounding": lambda a: max(1 / 3, 1 - 2 * a),
    "discretised": lambda a: max(1 / 3, (1 - a) / 2),
}
"""Name ↦ the exponent b of the paper's bound T^b at ε = T^(−a), logarithms left out."""

PROVED = PAPER | {"rounding": lambda a: max(1 / 3, 2 / 3 - a)}
"""The same, with Cal + 2ε·√(T·Cal) for rounding."""


def fine_plan(horizon: int) -> Plan:
    """The calibrated forecaster that may say any probability."""
    return plan(LINE, SQUARED, horizon, row="strongly convex and smooth")


def discretised_plan(steps: int, horizon: int) -> Plan:
    """The discretised row, or whatever guarantees least where m is above T^(1/3), rounded.

    Examples
    --------
    >>> discretised_plan(4, 1000).row, discretised_plan(16, 1000).row
    ('discretised', 'strongly convex and smooth')
    """
    row = None if steps > round(horizon ** (1 / 3)) else "discretised"
    return plan(LINE, SQUARED, horizon, row=row, actions=multiples(steps))


def rounding_guarantees(calibration: float, step: float, rounds: float) -> tuple[float, float]:
    """Discretised swap regret after rounding to multiples of ε, if l2 calibration error ≤ Cal.

        Cal + 2ε·√(T·Cal)   and   (√Cal + ε·√T/2)²

    A fine forecast s met the mean outcome b̄, e = |s − b̄|, and became r = [s], so that
    a = |r − b̄| ≤ ε/2 + e. A swap by k multiples gains 2kεa − k²ε² ≤ e² + 2εe, whatever k ≥ 0:
    nothing for k = 0, at most 2εe for k = 1, and for others because (e − (k − 1)·ε)² ≥ 0. It also
    gains at most a². Sum over s and use Cauchy–Schwarz. Forecasts that become equal have to be
    swapped alike, which gains no more. The second form is the paper's T^(1/3) + ε²·T; the first
    is T^(1/3) + ε·T^(2/3), less where ε > T^(−1/3).

    Examples
    --------
    >>> [round(bound) for bound in rounding_guarantees(259.0, 0.25, 1e5)]
    [2804, 3094]
    """
    shift = calibration + 2 * step * math.sqrt(rounds * calibration)
    return shift, (math.sqrt(calibration) + step * math.sqrt(rounds) / 2) ** 2


def forecasts(approach: str, steps: int, outcomes: Vector) -> tuple[Vector, Vector, Vector]:
    """Forecasts that were made, their weights, and the mean outcome that each of them met."""
    horizon = len(outcomes)
    if approach == "weights":
        learner = by_weights(steps, horizon)
        two = Quadratic([0.0]), Quadratic([1.0])
        for outcome in outcomes:
            learner.observe(two[int(outcome)])
        tally = learner.tally
    else:
        discretised = approach == "discretised"
        made = discretised_plan(steps, horizon) if discretised else fine_plan(horizon)
        actions = multiples(steps) if discretised else None
        compiled = FullSwapLearner(LINE, SQUARED, horizon, row=made.row, actions=actions)
        transcript = compiled.run(quadratic_rows(outcomes), record=True)
        assert transcript is not None
        tally = Tally.from_record(transcript)
    played = tally.weights > 0
    points, weights = tally.points[played, 0], tally.weights[played]
    if approach == "rounding":
        points = nearest_multiple(points, steps) / steps
    # a loss (x − b)² adds −2b to the slopes
    means = np.clip(-tally.sums[played, 1] / (2 * weights), 0.0, 1.0)
    return points, weights, means


def _rule(made: Plan) -> Rule:
    return made.start(made.grid_at(0))
