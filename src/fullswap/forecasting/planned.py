"""Forecasters that play a plan of the template: its grids, its rule and its bound.

Weights: an event of weight w is a loss scaled by w/max_weight, so the bounds hold with the mass
M = Σ w/max_weight in place of the number of rounds, times max_weight.

Late outcomes [JGS13]: a sub-learner moves between a forecast and its outcome. While b other
forecasts wait at the same grid point, each update moves its target by at most η·g·L, so what
the recommendations lost differs from what they would have lost at the time of learning by at
most L²·b·∫η over the mass past the first unit, and by the loss range B on what the first unit
touches, of mass 2 + b at most (``late_cost``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Mixture, Points, Vector
from fullswap.forecasting.base import OnlineForecaster, Recorded, summed
from fullswap.forecasting.chain import ChainBank
from fullswap.forecasting.forecast import Forecast, ForecastRun
from fullswap.forecasting.line import LineBank
from fullswap.grids import Grid
from fullswap.template.assembly import learning_rate, make_rule
from fullswap.template.plan import Plan


class PlannedForecaster(OnlineForecaster):
    """Grids and guarantee from a plan; the memo of a forecast is the level of its grid."""

    plan: Plan
    _loss_range: float
    """Largest minus smallest loss: the trivial bound of one event."""

    def _follow(self, plan: Plan) -> None:
        """Start on the plan's first grid."""
        self.plan = plan
        self._level = 0
        self._masses = [0.0]
        """Mass of the events that were forecast on the grid of each level."""
        self._take(self._make_bank(plan.grid_at(0)))

    def _take(self, bank: Any) -> None:
        self._bank = bank
        self._points = bank.points

    def _make_bank(self, grid: Grid) -> Any:
        # both rules have the same sub-learners, whose state a crossing rule holds
        rule = make_rule(replace(self.plan, rule="crossing"), grid)
        return ChainBank(rule) if self.plan.rule == "stationary" else LineBank(rule)

    # --- the verbs --------------------------------------------------------------------------

    def predict(self) -> Forecast:
        """Forecast the next event."""
        return self._predict(None)

    def peek(self) -> Mixture:
        """The distribution of the next forecast; nothing is drawn and nothing changes."""
        return self._peek(None)

    def run(
        self,
        outcomes: Any,
        sample_weight: Any = None,
        *,
        record: bool = True,
        progress: bool | None = None,
    ) -> ForecastRun | None:
        """Forecast and learn a whole array of outcomes (rows are events), in compiled code.

        The same numbers as the loop of ``predict`` and ``update``. ``record=False`` keeps no
        forecasts; ``progress`` shows a bar (None: for long runs on a terminal).
        """
        return self._run(None, self._as_outcomes(outcomes), sample_weight, record, progress)

    def explain(self) -> str:
        """What was chosen and why."""
        return self.plan.explain()

    # --- grids ------------------------------------------------------------------------------

    def _advance(self, scale: float, memo: Any) -> None:
        self._mass += scale
        self._masses[memo] += scale
        if self.plan.schedule is not None:
            self._refine()

    def _advance_run(self, scales: Vector, events: int) -> None:
        self._mass = summed(self._mass, scales, events)
        self._masses[self._level] = summed(self._masses[self._level], scales, events)
        self._refine()

    def _until_change(self, scales: Vector, events: int) -> int:
        if self.plan.schedule is None:
            return events
        wait = self.plan.schedule.level_ends(int(self._mass)) - self._mass
        # weights are at most 1, so no event before the last of these can reach the next level
        return max(1, min(events, math.floor(wait)))

    def _refine(self) -> None:
        schedule = self.plan.schedule
        if schedule is None or schedule.level(int(self._mass)) == self._level:
            return
        self._go_to_level(schedule.level(int(self._mass)))

    def _go_to_level(self, level: int) -> None:
        self._level = level
        self._masses += [0.0] * (level + 1 - len(self._masses))
        grid = self.plan.grid_at(int(self._mass))
        places = _places(self._bank.rule.points, grid.points)
        self._take(self._bank.extended(replace(self.plan, rule="crossing"), grid, places))
        self._moved(places)

    def _resume(self, masses: list[float]) -> None:
        """Go to the grid of a saved state, whose mass is known already."""
        self._masses = list(masses)
        if self.plan.schedule is not None:
            self._level = self.plan.schedule.level(int(self._mass))
            self._take(self._make_bank(self.plan.grid_at(int(self._mass))))

    # --- the bank ---------------------------------------------------------------------------

    def _mix(self, context: Any) -> tuple[Sequence[int], Sequence[float], int]:
        return self._bank.mix(self._level)

    def _peek(self, context: Any) -> Mixture:
        start = self._bank.start
        mixture = super()._peek(context)
        self._bank.start = start
        return mixture

    def _learn(
        self, indices: Sequence[int], scales: Sequence[float], outcome: Any, memo: Any
    ) -> None:
        self._bank.learn(indices, scales, outcome)

    def _run_stretch(
        self, contexts: Any, outcomes: Any, scales: Vector, draws: Vector, record: bool
    ) -> tuple[int, Recorded]:
        return self._bank.run(outcomes, scales, draws, self._realised, record)

    def _learned(self) -> dict[str, Any]:
        return {"masses": self._masses, **self._bank.dump()}

    def _relearn(self, stored: dict[str, Any]) -> None:
        self._resume(stored["masses"])
        self._bank.load(stored)

    # --- what is guaranteed -----------------------------------------------------------------

    @property
    def guarantee(self) -> float:
        """A-priori bound: for the horizon, or for the events so far if there is none.

        Over more events than the horizon, for these; with late outcomes, for as many waiting
        at one grid point as there have been.
        """
        horizon = float(self.plan.horizon or 0)
        if horizon > self._mass:
            return self._bound([horizon], horizon)
        return self._bound(self._masses, self._mass)

    def _bound(self, masses: Sequence[float], mass: float) -> float:
        theorem, constants = self.plan.theorem, self.plan.constants
        rounding = math.fsum(
            self._rounding_cost(level) * part for level, part in enumerate(masses) if part > 0
        )
        n = len(self._points)
        total = rounding + (theorem.learning_cost(constants, n, mass) if mass > 0 else 0.0)
        if self._delay:
            total += n * self._late_cost(mass / n)
        return self.max_weight * min(total, self._loss_range * mass)

    def _rounding_cost(self, level: int) -> float:
        schedule = self.plan.schedule
        if schedule is None:
            geometry = self.plan.grid_at(0).geometry
        else:
            geometry = schedule.geometry_of(level)
        return self.plan.theorem.rounding_cost(self.plan.constants, geometry)

    def _late_cost(self, mass: float) -> float:
        """What late outcomes may cost one sub-learner of this mass."""
        slope, waiting = self.plan.constants.lipschitz, self._delay
        moved = _rate_integral(learning_rate(self.plan).parameters(), mass)
        return self._loss_range * (2 + waiting) + slope**2 * waiting * moved


def _rate_integral(rate: Any, mass: float) -> float:
    """∫ η over [1, mass]; η(x) = 1/(ρx) up to the switch, κ/√x after."""
    modulus, slow, switch = (float(part) for part in rate)
    if mass <= 1:
        return 0.0
    first = math.log(max(1.0, min(mass, switch))) / modulus if switch > 1 else 0.0
    start = max(1.0, switch)
    return first + (2 * slow * (math.sqrt(mass) - math.sqrt(start)) if mass > start else 0.0)


def _places(known: Points, points: Points) -> Indices:
    """Where the rows of a coarser grid are among those of a finer one that contains them."""
    place = {row.tobytes(): i for i, row in enumerate(points + 0.0)}
    return np.array([place[row.tobytes()] for row in known + 0.0])
