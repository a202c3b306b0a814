"""Forecasts of several classes: vectors of probabilities that stay calibrated whatever happens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Self

import numpy as np

from fullswap.base.protocols import Indices, Vector
from fullswap.certificates import Certificate
from fullswap.forecasting.base import Recorded, draw, empty_record, padded
from fullswap.forecasting.checks import checked_classes, checked_horizon, class_row, class_rows
from fullswap.forecasting.one_vs_rest import OneVsRest
from fullswap.forecasting.planned import PlannedForecaster
from fullswap.forecasting.state import unpack
from fullswap.grids import Grid, GridFamily
from fullswap.grids.kuhn import KuhnLocator, kuhn_simplex
from fullswap.losses import LossClass
from fullswap.sets import Simplex
from fullswap.template.plan import Plan, plan

MAX_CLASSES = 5
"""More classes would need grids of more points than there are events."""


class MulticlassForecaster(PlannedForecaster):
    """Forecast events with K outcomes with small calibration error against any sequence.

    The l2 calibration error is Σ_p n_p·‖p − ȳ_p‖² over the distinct vectors p that were
    forecast, n_p times each, ȳ_p the mean of the outcomes that followed. On a grid of multiples
    of 1/N on the simplex, each forecast is a mixture of at most K neighbouring grid points.

    Guarantee: ``guarantee`` bounds it, by [FKO25, Thm calibration] with explicit constants:
    T·V + 2·n·Rt(T/n) with n = C(N + K − 1, K − 1) grid points and V ≤ K/(4N²), the N tuned to
    the horizon, Rt(x) = min(x, 1) + ln max(x, 1).

    Parameters
    ----------
    classes : int
        Number of classes K, from 2 to 5 (``method="one_vs_rest"``: to 1000).
    horizon : int or None
        Number of events; None if unknown (the grid is then refined as events go by).
    feedback : str
        "realised": the guarantee is for the draws that were issued, on average over our own
        draws, against outcomes that do not depend on the draw of their own event.
        "distribution": for the distributions themselves, always.
    seed : int, Generator or None
        Of the draws.
    method : str
        "grid", or "one_vs_rest": a binary forecaster for each class, normalised to sum 1. Its
        guarantees are for each class before it is normalised, none is for the vectors; see
        ``fullswap.forecasting.OneVsRest``, which the constructor then returns.
    max_weight : float
        Largest weight of an event in ``update``.

    Examples
    --------
    >>> forecaster = MulticlassForecaster(3, horizon=3000, seed=1)
    >>> run = forecaster.run([0, 1, 2, 0, 0, 1] * 500)
    >>> print(forecaster.certificate())
    l2 calibration error of the issued forecasts after 3000 rounds: measured 95,
    guaranteed at most 313.9 on average over the draws [FKO25, Table 1 row 5]
    """

    _settings = ("classes", "horizon", "feedback", "max_weight", "method")
    method = "grid"

    def __new__(cls, classes: Any, *args: Any, method: str = "grid", **options: Any) -> Any:
        """The class that does it."""
        if method == "one_vs_rest":
            return OneVsRest(classes, *args, **options)
        return super().__new__(cls)

    def __init__(
        self,
        classes: int,
        horizon: int | None = None,
        feedback: str = "realised",
        seed: Any = 0,
        *,
        method: str = "grid",
        max_weight: float = 1.0,
    ) -> None:
        super().__init__(feedback, seed, max_weight)
        if method != "grid":
            raise ValueError(f"method must be 'grid' or 'one_vs_rest', got {method!r}")
        self.classes = _gridded(classes)
        self.horizon = checked_horizon(horizon)
        self._corners = np.eye(self.classes)
        self._loss_range = 2.0  # of ‖p − y‖² on the simplex
        self._follow(_plan(self.classes, self.horizon))

    # --- measured against guaranteed ---------------------------------------------------------

    def certificate(self) -> Certificate:
        """Measured calibration error of the events so far beside its guarantee."""
        realised = self.feedback == "realised"
        known, after = self._bound(self._masses, self._mass), None
        if not realised and not self._delay:
            paid = math.fsum(self._rounding_cost(j) * m for j, m in enumerate(self._masses))
            after = min(known, self.max_weight * (paid + self._bank.regret()))
        return Certificate(
            f"l2 calibration error of the {'issued forecasts' if realised else 'distributions'}",
            self.rounds,
            self.max_weight * self._bank.error(),
            known,
            after,
            self.plan.theorem.citation,
            on_average=realised,
        )

    # --- inside ---------------------------------------------------------------------------

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The forecaster that ``to_json`` wrote: it goes on with the same forecasts and draws."""
        settings = unpack("MulticlassForecaster", text).get("settings")
        if isinstance(settings, dict) and settings.get("method") == "one_vs_rest":
            return OneVsRest.from_json(text)  # type: ignore[return-value]
        return super().from_json(text)

    def _make_bank(self, grid: Grid) -> SimplexBank:
        return SimplexBank(grid)

    def _as_outcome(self, outcome: Any) -> Vector:
        if type(outcome) is int and 0 <= outcome < self.classes:
            return self._corners[outcome]
        return class_row(outcome, self.classes)

    def _as_outcomes(self, outcomes: Any) -> Any:
        return class_rows(outcomes, self.classes)


class SimplexBank:
    """Running means of outcomes at the points of a grid, and the fixed point that is played.

    A point that was never forecast has learnt nothing, so its first recommendation is free: the
    mean of all outcomes so far.
    """

    def __init__(self, grid: Grid) -> None:
        from fullswap.kernels import simplex

        assert isinstance(grid.locate, KuhnLocator)
        self.rule = grid
        """What a finer bank is found by."""
        self.points = grid.points
        n, classes = grid.points.shape
        self._cells = int(grid.locate.cells[0])
        self._lattice = (self._cells, grid.locate.lookup)
        self._state = np.zeros((n, classes + 2))
        self._prior = np.concatenate(([1.0], np.full(classes, 1.0 / classes)))
        self.start = _place(np.arange(1, classes) * (self._cells / classes), self._cells)
        self._work = simplex.simplex_work(classes)
        self._limit = 100 * classes * (self._cells + 1)
        """Steps of a search: many times what it takes to cross the whole grid."""
        self._members, self._weights = np.zeros(classes, np.int64), np.zeros(classes)
        self._mix_kernel, self._learn_kernel = simplex.simplex_mix, simplex.simplex_learn

    def mix(self, memo: Any = None) -> tuple[Sequence[int], Sequence[float], Any]:
        """Neighbouring points; the next search starts there."""
        place = self.start.copy()
        size = self._mix_kernel(
            self._state, self._prior, self._lattice, place, self._work, self._limit,
            self._members, self._weights,
        )  # fmt: skip
        if not size:
            return (*self._recurrent_class(), memo)
        self.start = place
        return self._members.tolist()[:size], self._weights.tolist()[:size], memo

    def learn(self, indices: Sequence[int], scales: Sequence[float], outcome: Vector) -> None:
        """Feed one outcome to these points."""
        self._learn_kernel(self._state, self._prior, np.array(indices), np.array(scales), outcome)

    def run(
        self, outcomes: Any, scales: Vector, draws: Vector, realised: bool, record: bool
    ) -> tuple[int, Recorded]:
        """As many of these events as have a fixed point, or one that has none."""
        from fullswap.kernels.simplex import simplex_run

        classes = self.points.shape[1]
        rows = np.eye(classes)[outcomes.astype(np.int64)] if outcomes.ndim == 1 else outcomes
        labels, weights, issued = empty_record(len(rows) if record else 0, classes)
        self.start = self.start.copy()  # one that was handed out must not move
        ran = simplex_run(
            self._state, self._prior, self._lattice, self.start, self._work, self._limit,
            realised, np.ascontiguousarray(rows), scales, draws, labels, weights, issued,
        )  # fmt: skip
        if ran:
            return ran, (labels[:ran], weights[:ran], issued[:ran])
        return 1, self._run_one(rows[0], float(scales[0]) if len(scales) else 1.0, draws[0],
                                realised)  # fmt: skip

    def _run_one(self, outcome: Vector, scale: float, u: float, realised: bool) -> Recorded:
        indices, shares, _ = self.mix()
        drawn = draw(shares, u)
        if scale > 0 and realised:
            self.learn([indices[drawn]], [scale], outcome)
        elif scale > 0:
            self.learn(indices, [w * scale for w in shares], outcome)
        width = len(indices)
        return (
            padded([indices], width, np.int32),
            padded([shares], width, np.float64),
            np.array([indices[drawn]], np.int32),
        )

    def _recurrent_class(self) -> tuple[Sequence[int], Sequence[float]]:
        """Where rounding spoils the search: a stationary distribution serves as well."""
        from fullswap.kernels.stationary import make_scratch, stationary_sparse

        assert self.rule.locate is not None
        learnt = self._state[:, 0] > 0
        rows = self.rule.locate(np.where(learnt[:, None], self._state[:, 2:], self._prior[1:]))
        n = len(self.points)
        size, members, weights = -2, np.zeros(n, np.int64), np.zeros(n)
        scratch, stamp = make_scratch(n), 0
        while size < 0:
            stamp += 1
            size = stationary_sparse(
                rows.indices, rows.weights, n // 2, scratch, stamp, np.zeros((-size, -size)),
                members, weights,
            )  # fmt: skip
        return members[:size].tolist(), weights[:size].tolist()

    def error(self) -> float:
        """Σ_s G_s·‖s − ȳ_s‖²."""
        learnt = self._state[self._state[:, 0] > 0]
        gaps = self.points[self._state[:, 0] > 0] - learnt[:, 2:]
        return float((learnt[:, 0] * np.square(gaps).sum(axis=1)).sum())

    def regret(self) -> float:
        """Σ_s Reg_s: running means lose (g²/G)·‖q − y‖² a round to the best point in the end."""
        return float(self._state[:, 1].sum())

    def extended(self, plan: Plan, grid: Grid, places: Indices) -> SimplexBank:
        """The bank on a finer grid, where old point i is point places[i]."""
        finer = SimplexBank(grid)
        finer._state[places] = self._state
        finer._prior = self._prior.copy()
        d = len(self.start) // 2
        middle = self.start[:d].astype(float)
        middle[self.start[d:]] += np.arange(d, 0, -1) / (d + 1)
        finer.start = _place(middle * (finer._cells / self._cells), finer._cells)
        return finer

    def dump(self) -> dict[str, Any]:
        """The points that have learnt something; the others are as they began."""
        touched = np.flatnonzero(self._state[:, 0] > 0)
        return {
            "touched": touched.tolist(),
            "state": self._state[touched].tolist(),
            "prior": self._prior.tolist(),
            "place": self.start.tolist(),
        }

    def load(self, stored: dict[str, Any]) -> None:
        """Take over what ``dump`` gave, on the same grid."""
        touched = np.array(stored["touched"], dtype=np.int64)
        kept = np.array(stored["state"], dtype=float)
        self._state[touched] = kept.reshape(len(touched), self._state.shape[1])
        self._prior = np.array(stored["prior"], dtype=float)
        self.start = np.array(stored["place"], dtype=np.int64)


def _place(middle: Vector, cells: int) -> Indices:
    """Base and order of the simplex of the lattice that holds a point in cell units (d,)."""
    base = np.minimum(np.floor(middle), cells - 1)
    # by falling fractional part; among equal ones the larger index first, as kuhn_locate does
    order = sorted(range(len(middle)), key=lambda k: (base[k] - middle[k], -k))
    return np.concatenate((base, order)).astype(np.int64)


def _gridded(classes: Any) -> int:
    whole = isinstance(classes, int | np.integer) and not isinstance(classes, bool)
    if whole and classes > MAX_CLASSES:
        raise ValueError(
            f"classes must be at most {MAX_CLASSES} with method='grid', got {classes}: "
            "use method='one_vs_rest'"
        )
    return checked_classes(classes, MAX_CLASSES)


def _plan(classes: int, horizon: int | None) -> Plan:
    simplex = Simplex(classes - 1)
    made = plan(
        simplex, LossClass.squared(simplex.diameter), horizon,
        row="strongly convex and smooth", rule="stationary",
    )  # fmt: skip
    made = replace(made, rule="fixed point on a simplex of the grid")
    if classes > 2:
        return made
    return replace(made, grids=KuhnLine(simplex, made.grids))


class KuhnLine:
    """On a line plans have grids of their own; these are the same ones as Kuhn grids."""

    def __init__(self, simplex: Simplex, levels: GridFamily) -> None:
        self.simplex, self.levels = simplex, levels
        self.geometry, self.to_dict = levels.geometry, levels.to_dict

    def grid(self, level: int) -> Grid:
        """The grid of a level."""
        return _kuhn_line(self.simplex, len(self.levels.grid(level)) - 1)


@lru_cache
def _kuhn_line(simplex: Simplex, cells: int) -> Grid:
    return kuhn_simplex(simplex, 1.0 / cells)
