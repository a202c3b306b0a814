"""The binary forecaster: probabilities of yes that stay calibrated whatever happens."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.certificates import Certificate
from fullswap.forecasting.checks import binary_outcome, binary_outcomes, checked_horizon
from fullswap.forecasting.line import LineBank
from fullswap.forecasting.log_loss import LogCrossing, log_plan
from fullswap.forecasting.planned import PlannedForecaster
from fullswap.grids import Grid
from fullswap.grids.steps import steps_of
from fullswap.losses import LossClass
from fullswap.sets import Interval
from fullswap.template.plan import Plan, plan


class Forecaster(PlannedForecaster):
    """Forecast yes-or-no events with small calibration error against any sequence of outcomes.

    Guarantee: ``guarantee`` bounds the l2 calibration error Σ_p n_p·(p − ȳ_p)² over the distinct
    forecasts p, by [FKO25, Thm calibration] with explicit constants; with ``step`` the swap
    regret among multiples of the step [FKO25, Thm disc-main]; with ``loss="log"`` the
    KL calibration error Σ_p n_p·KL(ȳ_p ‖ p) [LSS25].

    Parameters
    ----------
    horizon : int or None
        Number of events; None if unknown (the grid is then refined as events go by).
    step : float, str or None
        Issue only multiples of it: 0.05, 1/20 or "5%". The step must divide 1.
    rule : str
        "crossing" (fast), or "stationary", the paper's own.
    feedback : str
        "realised": the guarantee is for the draws that were issued, on average over our own
        draws, against outcomes that do not depend on the draw of their own event.
        "distribution": for the distributions themselves, always.
    seed : int, Generator or None
        Of the draws.
    loss : str
        "squared" or "log".
    max_weight : float
        Largest weight of an event in ``update``.

    Examples
    --------
    >>> forecaster = Forecaster(horizon=1000, seed=1)
    >>> for outcome in [1, 0, 1, 1] * 250:
    ...     forecast = forecaster.predict()
    ...     forecaster.update(outcome)
    >>> print(forecaster.certificate())
    l2 calibration error of the issued forecasts after 1000 rounds: measured 9.696,
    guaranteed at most 46.7 on average over the draws [FKO25, Table 1 row 5]
    """

    _settings = ("horizon", "step", "rule", "feedback", "loss", "max_weight")

    def __init__(
        self,
        horizon: int | None = None,
        step: float | str | None = None,
        rule: str = "crossing",
        feedback: str = "realised",
        seed: Any = 0,
        *,
        loss: str = "squared",
        max_weight: float = 1.0,
    ) -> None:
        super().__init__(feedback, seed, max_weight)
        if rule not in ("crossing", "stationary"):
            raise ValueError(f"rule must be 'crossing' or 'stationary', got {rule!r}")
        if loss not in ("squared", "log"):
            raise ValueError(f"loss must be 'squared' or 'log', got {loss!r}")
        if loss == "log" and (step is not None or rule != "crossing"):
            raise ValueError("loss='log' has a grid of its own: step must be None, rule 'crossing'")
        steps = None if step is None else steps_of(step)
        self.rule, self.loss = rule, loss
        self.step = step if step is None or isinstance(step, str) else float(step)
        self._steps = steps
        self._loss_range = 1.0 if loss == "squared" else math.inf
        self.horizon = checked_horizon(horizon)
        self._follow(_plan(self.horizon, steps, rule, loss))

    def explain(self) -> str:
        """What was chosen and why."""
        if self.loss == "log":
            return (
                f"log loss on {len(self._points)} points sin²(πi/2K); "
                f"guaranteed at most {self.guarantee:.6g} [{self.plan.theorem.citation}]"
            )
        return super().explain()

    # --- measured against guaranteed ---------------------------------------------------------

    def certificate(self) -> Certificate:
        """Measured calibration error of the events so far beside its guarantee."""
        weights, ones, squares = self._bank.totals()
        points = self._points
        if self.loss == "log":
            measured = float(_relative_entropy(weights, ones, points).sum())
        else:
            lost = weights * points**2 - 2 * ones * points + squares
            measured = float(np.maximum(lost - self._best(weights, ones, squares), 0.0).sum())
        broken = self._broken()
        known = None if broken else self._bound(self._masses, self._mass)
        after = None
        if not broken and self.feedback == "distribution" and not self._delay:
            after = self._after_the_fact(weights, ones, squares)
        realised = self.feedback == "realised"
        name = {"squared": "l2 calibration error", "log": "KL calibration error"}[self.loss]
        return Certificate(
            ("discretised swap regret" if self._steps else name)
            + (" of the issued forecasts" if realised else " of the distributions"),
            self.rounds,
            self.max_weight * measured,
            known,
            None if after is None or known is None else min(known, self.max_weight * after),
            self.plan.theorem.citation,
            broken,
            on_average=realised,
        )

    @property
    def guarantee(self) -> float:
        """A-priori bound: for the horizon, or for the events so far if there is none.

        Over more events than the horizon, for these. With late outcomes, for as many waiting at
        one grid point as there have been; NaN for late outcomes under the log loss.
        """
        return math.nan if self._broken() else super().guarantee

    def _broken(self) -> tuple[str, ...]:
        if self.loss == "log" and self._delay:
            return ("outcomes came late, and the bound for the log loss needs them in time",)
        return ()

    def _best(self, weights: Vector, ones: Vector, squares: Vector) -> Vector:
        """Smallest Σ g·(x − y)² at each point, over all x or the allowed multiples."""
        mean = np.divide(ones, weights, out=np.zeros_like(ones), where=weights > 0)
        if self._steps:
            mean = np.rint(mean * self._steps) / self._steps
        return weights * mean**2 - 2 * ones * mean + squares

    def _after_the_fact(self, weights: Vector, ones: Vector, squares: Vector) -> float:
        """Σ_t δ_t and the regrets of this very run."""
        recommended = self._bank.recommended()
        if self.loss == "log":
            best = _entropy(weights, ones)
        elif self.plan.row == "discretised":
            best = self._best(weights, ones, squares)
        else:
            mean = np.divide(ones, weights, out=np.zeros_like(ones), where=weights > 0)
            best = squares - ones * mean
        paid = math.fsum(self._rounding_cost(j) * m for j, m in enumerate(self._masses))
        return paid + float((recommended - best).sum())

    # --- inside ---------------------------------------------------------------------------

    def _make_bank(self, grid: Grid) -> Any:
        return (
            LineBank(LogCrossing(grid.points)) if self.loss == "log" else super()._make_bank(grid)
        )

    def _as_outcome(self, outcome: Any) -> float:
        return binary_outcome(outcome)

    def _as_outcomes(self, outcomes: Any) -> Any:
        return binary_outcomes(outcomes)


@lru_cache(maxsize=256)  # many streams of one kind share a plan
def _plan(horizon: int | None, steps: int | None, rule: str, loss: str) -> Plan:
    squared, unit = LossClass.squared(1.0), Interval(0.0, 1.0)
    if loss == "log":
        return log_plan(horizon)
    allowed = None if steps is None else np.arange(steps + 1) / steps
    # sub-learners that are not gradient steps keep n² numbers, and no forecaster needs them
    return plan(unit, squared, horizon, learner="gradient", rule=rule, actions=allowed)


def _entropy(weights: Vector, ones: Vector) -> Vector:
    """Smallest Σ g·ℓ(x) at each point, over all x, for the log loss."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(weights > 0, ones / weights, 0.5)
        cost = -mean * np.log(mean) - (1 - mean) * np.log1p(-mean)
    return weights * np.where((mean > 0) & (mean < 1), cost, 0.0)


def _relative_entropy(weights: Vector, ones: Vector, points: Vector) -> Vector:
    """Σ g·KL(ȳ ‖ s) at each point s."""
    cross = -ones * np.log(points) - (weights - ones) * np.log1p(-points)
    return np.maximum(cross - _entropy(weights, ones), 0.0)
