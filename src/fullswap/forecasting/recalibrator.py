"""Recalibration: keep a model's skill, and be calibrated whatever happens."""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any

import numpy as np

from fullswap.base.protocols import Mixture, Vector
from fullswap.base.records import Record
from fullswap.certificates import Certificate
from fullswap.forecasting.base import OnlineForecaster, Recorded, summed
from fullswap.forecasting.checks import binary_outcome, binary_outcomes
from fullswap.forecasting.contexts import as_context, as_contexts
from fullswap.forecasting.experts import Claim, ExpertBank, dump_memo, load_memo
from fullswap.forecasting.forecast import Forecast
from fullswap.forecasting.recalibration_bounds import (
    MOST_CELLS,
    best_cells,
    experts_calibration,
    experts_learning,
    one_weight_calibration,
    one_weight_rate,
    per_bin_regret,
)
from fullswap.grids.steps import steps_of
from fullswap.theorems import THEOREMS, Constants, Geometry, with_learning_cost
from fullswap.theorems.anytime import Schedule

METHODS = ("experts", "per_bin", "one_weight")
MOST_MODELS = 1000


class Recalibrator(OnlineForecaster):
    """Turn probabilities of given models into calibrated ones, event by event.

    Guarantee, for the default method: at once and against any outcomes, the l2 calibration error
    of what is issued is at most ``guarantee``, and its total Brier score exceeds that of every
    model, and of simple recalibrations of it, by at most a number of the order of its logarithm
    plus the rounding to the grid; ``certificates()`` gives all of these beside what was measured.

    Parameters
    ----------
    bins : int or None
        Issue multiples of 1/bins. None: as many as the horizon makes best, or ever more.
    step : float, str or None
        The same as a distance: 0.05, 1/20 or "5%". If given, ``bins`` is not used.
    classes : int
        2 for yes-or-no events, up to 5 with method "experts".
    models : int
        How many models' probabilities come with each event. Of several, some may be absent
        (NaN); their experts then sleep.
    horizon : int or None
        Number of events, for ``guarantee`` and for ``bins=None``.
    method : str
        "experts"; or, for one model of yes-or-no events, "per_bin": a calibrated forecaster for
        each bin of the model's probability; "one_weight": a calibrated forecaster and the
        model, mixed by one weight [CHJL26].
    feedback : str
        "realised" or "distribution", as for ``Forecaster``.
    seed : int, Generator or None
        Of the draws.
    max_weight : float
        Largest weight of an event in ``update``.

    Examples
    --------
    >>> recalibrator = Recalibrator(bins=10)
    >>> claimed = [0.9, 0.1] * 500        # overconfident: the events have odds 3 : 1
    >>> happened = [1, 0, 1, 0, 1, 0, 0, 1] * 125
    >>> run = recalibrator.run(claimed, happened)
    >>> [round(float(run.issued[k::2][-100:].mean()), 2) for k in (0, 1)]
    [0.76, 0.24]
    """

    _settings = (
        "bins", "step", "classes", "models", "horizon", "method", "feedback", "max_weight",
    )  # fmt: skip

    def __init__(
        self,
        bins: int | None = 20,
        step: float | str | None = None,
        *,
        classes: int = 2,
        models: int = 1,
        horizon: int | None = None,
        method: str = "experts",
        feedback: str = "realised",
        seed: Any = 0,
        max_weight: float = 1.0,
    ) -> None:
        super().__init__(feedback, seed, max_weight)
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
        self.classes = _count("classes", classes, 2, 5)
        self.models = _count("models", models, 1, MOST_MODELS)
        self.horizon = None if horizon is None else _count("horizon", horizon, 1, 2**53)
        self.bins = None if bins is None else _count("bins", bins, 1, 10**6)
        if step is not None:
            steps_of(step)
        self.step = step if step is None or isinstance(step, str) else float(step)
        self.method = method
        if method != "experts" and (self.classes > 2 or self.models > 1):
            raise ValueError(f"method={method!r} takes one model of two classes, not more")
        self._schedule: Schedule | None = None
        self._overlap = 0  # most forecasts that waited anywhere when something was learnt
        self._set_bank(self._make_bank(self._first_cells()))

    # --- the verbs --------------------------------------------------------------------------

    def predict(self, p: Any) -> Forecast:
        """Forecast the event for which the models say p.

        Parameters
        ----------
        p : float or array
            One probability, or ``models`` of them; with K > 2 classes of shape (K,) or
            (models, K).
        """
        return self._predict(self._as_context(p))

    def peek(self, p: Any) -> Mixture:
        """The distribution that would be forecast; nothing is drawn and nothing changes."""
        return self._peek(self._as_context(p))

    def run(
        self,
        p: Any,
        outcomes: Any,
        sample_weight: Any = None,
        *,
        record: bool = True,
        progress: bool | None = None,
    ) -> Record | None:
        """Forecast and learn a whole log, oldest event first, in compiled code.

        The same numbers as the loop of ``predict`` and ``update``. ``p`` has shape (T,) or
        (T, models); with K > 2 classes (T, K) or (T, models, K). ``record=False`` keeps no
        forecasts; ``progress`` shows a bar (None: for long runs on a terminal).
        """
        results = self._as_outcomes(outcomes)
        contexts = self._as_contexts(p)
        if len(contexts) != len(results):
            raise ValueError(
                "p and outcomes must be equally long, "
                f"got {len(contexts)} and {len(results)} events"
            )
        return self._run(contexts, results, sample_weight, record, progress)

    def explain(self) -> str:
        """What was chosen and why."""
        inputs = "one model" if self.models == 1 else f"{self.models} models"
        chosen = f"{inputs}, method {self.method!r}, {len(self._points)} grid points"
        return f"{chosen}; guaranteed at most {self.guarantee:.6g} [{self._claims()[0].theorem}]"

    # --- measured against guaranteed ----------------------------------------------------------

    @property
    def guarantee(self) -> float:
        """A-priori bound on the calibration error: for the horizon, or for the events so far.

        Over more events than the horizon, for these. NaN once outcomes have come so late that
        another forecast waited at the same grid point: the proof does not cover that.
        """
        if self._broken(self._in_order):
            return math.nan
        ahead = float(self.horizon or 0) > self._mass
        mass = float(self.horizon or 0) if ahead else self._mass
        return self.max_weight * self._bank.bound(mass, ahead)

    def certificate(self) -> Certificate:
        """Measured calibration error of the events so far beside its guarantee."""
        return self.certificates()[0]

    def certificates(self) -> tuple[Certificate, ...]:
        """The calibration error, then the excess of the Brier score over what it is kept near."""
        realised = self.feedback == "realised"
        suffix = " of the issued forecasts" if realised else " of the distributions"
        made = []
        for claim in self._claims():
            broken = self._broken(claim.in_order)
            quantity = claim.quantity
            if " in excess" in quantity:
                quantity = quantity.replace(" in excess", suffix + " in excess")
            else:
                quantity += suffix
            made.append(
                Certificate(
                    quantity,
                    self.rounds,
                    self.max_weight * claim.measured,
                    None if broken else self.max_weight * claim.guaranteed,
                    None if broken or realised else self.max_weight * claim.after_the_fact,
                    claim.theorem,
                    broken,
                    on_average=realised,
                )
            )
        return tuple(made)

    def _claims(self) -> list[Claim]:
        return self._bank.claims()

    @property
    def _in_order(self) -> bool:
        return self.method == "one_weight"

    def _broken(self, in_order: bool) -> tuple[str, ...]:
        if self._delay:
            return ("outcomes came late: several forecasts waited at one grid point",)
        if in_order and self._overlap:
            return ("outcomes came late: several forecasts waited for theirs at once",)
        return ()

    # --- the grid -----------------------------------------------------------------------------

    def _first_cells(self) -> int:
        if self.step is not None:
            return steps_of(self.step)
        if self.bins is not None:
            return self.bins
        if self.horizon is not None:
            return _best_cells(self.method, self.classes, self.horizon)
        if self.method != "experts" or self.classes > 2:
            raise ValueError(
                "bins must be given if the horizon is not, but for two classes and "
                "method='experts', got None"
            )
        self._schedule = _schedule()
        self._level = 0
        return 1

    def _make_bank(self, cells: int) -> Any:
        if self.classes > 2:
            from fullswap.forecasting.recalibrator_multiclass import MeshExpertBank

            return MeshExpertBank(cells, self.models, self.classes)
        if self.method == "experts":
            return ExpertBank(cells, self.models)
        from fullswap.forecasting.one_model import OneWeightBank, PerBinBank

        if self.method == "per_bin":
            return PerBinBank(cells)
        return OneWeightBank(cells, self.horizon)

    def _set_bank(self, bank: Any) -> None:
        self._bank = bank
        self._points = bank.points

    def _advance(self, scale: float, memo: Any) -> None:
        super()._advance(scale, memo)
        self._refine()

    def _advance_run(self, scales: Vector, events: int) -> None:
        self._mass = summed(self._mass, scales, events)
        self._refine()

    def _until_change(self, scales: Vector, events: int) -> int:
        if self._schedule is None:
            return events
        wait = self._schedule.level_ends(int(self._mass)) - self._mass
        # weights are at most 1, so no event before the last of these can reach the next level
        return max(1, min(events, math.floor(wait)))

    def _refine(self) -> None:
        if self._schedule is None or self._schedule.level(int(self._mass)) == self._level:
            return
        self._level = self._schedule.level(int(self._mass))
        bank, places = self._bank.refined(2**self._level)
        self._set_bank(bank)
        self._moved(places)

    # --- what the base asks for ---------------------------------------------------------------

    def _mix(self, context: Any) -> tuple[Any, Any, Any]:
        return self._bank.mix(context)

    def _learn(self, indices: Any, scales: Any, outcome: Any, memo: Any) -> None:
        self._overlap = max(self._overlap, len(self._pending))
        self._bank.learn(indices, scales, outcome, memo)

    def _run_stretch(
        self, contexts: Any, outcomes: Any, scales: Vector, draws: Vector, record: bool
    ) -> tuple[int, Recorded]:
        self._overlap = max(self._overlap, len(self._pending))
        realised = self.feedback == "realised"
        return self._bank.run(contexts, outcomes, scales, draws, realised, record)

    def _dump_memo(self, memo: Any) -> Any:
        return dump_memo(memo)

    def _load_memo(self, memo: Any) -> Any:
        loaded = load_memo(memo)
        return loaded.reshape(-1, self.classes) if self.classes > 2 else loaded

    def _learned(self) -> dict[str, Any]:
        return {**self._bank.dump(), "overlap": self._overlap}

    def _relearn(self, stored: dict[str, Any]) -> None:
        self._overlap = int(stored["overlap"])
        if self._schedule is not None:
            self._level = self._schedule.level(int(self._mass))
            self._set_bank(self._make_bank(2**self._level))
        self._bank.load(stored)

    # --- checks -------------------------------------------------------------------------------

    def _as_outcome(self, outcome: Any) -> Any:
        if self.classes > 2:
            return self._bank.as_outcome(outcome)
        return binary_outcome(outcome)

    def _as_outcomes(self, outcomes: Any) -> Any:
        if self.classes > 2:
            return self._bank.as_outcomes(outcomes)
        return binary_outcomes(outcomes)

    def _as_context(self, p: Any) -> Any:
        return as_context(p, self.models, self.classes)

    def _as_contexts(self, p: Any) -> Any:
        return as_contexts(p, self.models, self.classes)


def _count(name: str, value: Any, low: int, high: int) -> int:
    """A whole number in a range."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{name} must lie between {low} and {high}, got {value}")
    return int(value)


@lru_cache
def _best_cells(method: str, classes: int, horizon: int) -> int:
    if classes > 2:
        from fullswap.forecasting.recalibrator_multiclass import mesh_cells

        return mesh_cells(horizon, classes)
    return best_cells(partial(_a_priori, method, horizon))


def _a_priori(method: str, horizon: int, cells: int) -> float:
    """Most calibration error of a method over a horizon."""
    if method == "per_bin":
        return per_bin_regret(horizon, cells, cells)
    if method == "one_weight":
        return one_weight_calibration(horizon, cells, one_weight_rate(horizon), horizon)
    return experts_calibration(horizon, cells)


def _schedule() -> Schedule:
    """Dyadic grids, each taking over when its bound is the smaller one."""
    squared = Constants(2.0, 1.0, strong_convexity=2.0, smoothness=2.0)
    theorem = with_learning_cost(
        THEOREMS["strongly convex and smooth"],
        lambda c, n, mass: experts_learning(mass, n),
        restarts=False,
    )

    def geometry_at(level: int) -> Geometry | None:
        cells = 2**level
        return (
            Geometry(cells + 1, 0.5 / cells, 0.0, 0.25 / cells**2) if cells <= MOST_CELLS else None
        )

    return Schedule(theorem, squared, geometry_at)
