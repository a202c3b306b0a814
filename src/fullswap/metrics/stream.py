"""Metrics of forecasts as a stream: sums over distinct forecasts, not over events."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Points
from fullswap.base.records import Record
from fullswap.metrics import scores
from fullswap.metrics.calibration import error_per_event_of, smooth_of
from fullswap.metrics.discretised import swap_regret_of
from fullswap.metrics.groups import Groups, l2_of
from fullswap.metrics.reading import (
    GIVE_BINS,
    LARGEST_WEIGHT,
    USE_BINS,
    read,
    read_events,
    warn_if_distinct,
)

FEWEST_TO_MERGE = 1024
"""Events that wait at least before they are merged: one sort for many costs little each."""


class CalibrationTally:
    """Metrics of forecasts as a stream: memory for distinct forecasts, not for events.

    Every method gives what the function of that name gives for all events so far, up to rounding.
    ``classes`` is 2 for yes/no events with one probability each, else the number K ≥ 3 of classes.

    Examples
    --------
    >>> tally = CalibrationTally()
    >>> for y, p in [(1, 0.2), (0, 0.2), (0, 0.2), (1, 0.9), (1, 0.9)]:
    ...     tally.update(y, p)
    >>> tally.l2_calibration_error(), tally.brier_score()
    (0.0733, 0.148)
    """

    def __init__(self, classes: int = 2) -> None:
        self.classes = checks.whole("classes", classes, 2)
        self._merged = Groups.empty(1 if classes == 2 else self.classes)
        # Events wait until they are as many as the groups: merging then costs O(log) an event.
        self._waiting: list[Groups] = []
        self._singles: list[tuple[float, float, float]] = []
        self._waiting_events = 0
        self._events: float = 0

    def update(self, y: Any, p: Any, weight: float = 1.0) -> None:
        """Add one event: its outcome, its forecast (one number, or K), its weight ≥ 0."""
        if self.classes == 2:
            outcome = checks.number("y", y, least=0.0, most=1.0)
            forecast = checks.number("p", p, least=0.0, most=1.0)
            share = checks.number("weight", weight, least=0.0, most=LARGEST_WEIGHT)
            self._singles.append((outcome, forecast, share))
            self._events += share > 0
            self._wait(1)
        else:
            names = ("y", "p", "weight")
            event = read_events([y], [p], [weight], weightless=True, names=names)
            self._add(event, "p", len(event))

    def update_many(
        self, y_true: Any, y_proba: Any, sample_weight: Any = None, *, of: str = "issued"
    ) -> None:
        """Add many events at once, in arrays or a record as for the functions."""
        events = read(y_true, y_proba, sample_weight, of, weightless=True)
        # the forecasts of a record are on a grid: never are they mostly distinct
        self._add(events, "y_proba", math.inf if isinstance(y_proba, Record) else len(events))

    def merge(self, other: CalibrationTally) -> None:
        """Add all events of another tally."""
        if not isinstance(other, CalibrationTally) or other.classes != self.classes:
            checks.refuse("other", f"be a CalibrationTally of {self.classes} classes", other)
        self._add(other._settled(), "other", other._events)

    @property
    def weight(self) -> float:
        """Weight of all events so far: their number, if all weigh 1."""
        return self._settled().total

    @property
    def forecasts(self) -> Points:
        """The distinct forecasts so far, shape (G,) or (G, K)."""
        forecasts = self._settled().forecasts
        return forecasts[:, 0].copy() if self.classes == 2 else forecasts.copy()

    def calibration_error(
        self, *, norm: str = "l2", bins: Any = None, kind: str = "classwise", squared: bool = False
    ) -> float:
        """`calibration_error` of all events so far."""
        return error_per_event_of(self._groups(), norm, bins, kind, squared, self._events)

    def l2_calibration_error(self) -> float:
        """`l2_calibration_error` of all events so far."""
        return l2_of(self._distinct())

    def kl_calibration_error(self) -> float:
        """`kl_calibration_error` of all events so far."""
        return scores.kl_of(self._distinct())

    def smooth_calibration_error(self) -> float:
        """`smooth_calibration_error` of all events so far."""
        return smooth_of(self._groups())

    def discretised_swap_regret(self, step: float | None = None, *, actions: Any = None) -> float:
        """`discretised_swap_regret` of all events so far."""
        return swap_regret_of(self._distinct(), step, actions)

    def brier_score(self) -> float:
        """`brier_score` of all events so far."""
        return scores.brier_of(self._groups())

    def brier_decomposition(self, *, bins: Any = None) -> scores.BrierDecomposition:
        """`brier_decomposition` of all events so far."""
        groups = self._groups() if bins is not None else self._distinct(GIVE_BINS)
        return scores.decomposition_of(groups, bins)

    def log_loss(self) -> float:
        """`log_loss` of all events so far."""
        return scores.log_loss_of(self._groups())

    def _add(self, fresh: Groups, name: str, events: float) -> None:
        if fresh.classes != self._merged.classes:
            width = "(T,)" if self.classes == 2 else f"(T, {self.classes})"
            rule = f"have shape {width}, because this tally has {self.classes} classes"
            raise ValueError(f"{name} must {rule}, got {fresh.classes} probabilities an event")
        self._waiting.append(fresh)
        self._events += events
        self._wait(len(fresh))

    def _wait(self, events: int) -> None:
        self._waiting_events += events
        if self._waiting_events > max(FEWEST_TO_MERGE, len(self._merged)):
            self._settled()

    def _settled(self) -> Groups:
        """Groups of all events so far, none waiting."""
        if self._singles:
            y, p, weight = np.array(self._singles).T
            self._waiting.append(read_events(y, p, weight, weightless=True))
        if self._waiting:
            self._merged = Groups.joined([self._merged, *self._waiting]).distinct()
        self._waiting, self._singles, self._waiting_events = [], [], 0
        return self._merged

    def _distinct(self, advice: str = USE_BINS) -> Groups:
        """The groups, for a metric without bins: warns of raw probabilities."""
        groups = self._groups()
        warn_if_distinct(len(groups), self._events, advice)
        return groups

    def _groups(self) -> Groups:
        groups = self._settled()
        if not len(groups):
            raise ValueError("the tally must hold an event of positive weight, got none")
        return groups
