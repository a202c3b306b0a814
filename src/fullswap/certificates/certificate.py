"""What was measured in a run beside what was guaranteed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from fullswap.certificates.card import html_of, line_of
from fullswap.certificates.decisions import (
    Decision,
    Table,
    average_regret,
    checked_ratio,
    regret_at,
    worst_ratio,
)
from fullswap.certificates.quantities import Quantity, Subject
from fullswap.certificates.words import conditions_of, words_of
from fullswap.theorems import LEDGER
from fullswap.theorems.decisions import Acting

IN_POINTS = (
    Quantity.L2_CALIBRATION_ERROR,
    Quantity.CLASSWISE_ERROR,
    Quantity.TOP_LABEL_ERROR,
    Quantity.DISCRETISED_SWAP_REGRET,
)
"""Quantities that are about how far forecasts are off."""


@dataclass(frozen=True, repr=False)
class Certificate:
    """What was measured in a run beside what was guaranteed.

    ``print`` says it in words; ``points`` and its kin as shares (0.021: 2.1 percentage points off).

    Examples
    --------
    >>> error = Quantity.L2_CALIBRATION_ERROR
    >>> certificate = Certificate(error, 10_000, 4.4, 40.9, 9.0, "theorem", mass=1e4, noise=3.6)
    >>> certificate.points, certificate.points_guaranteed
    (0.0209..., 0.0639...)
    >>> print(certificate)
    10,000 forecasts: 2.1 percentage points off in root mean square
    (chance alone would show up to 1.9);
    guaranteed at most 6.4, whatever happens.
    The 6.4 was known before the first forecast; after the fact, for this run, it is at most 3.0.
    Sums (forecasts × points², points as shares): l2 calibration error 4.4, after the fact 9,
    guaranteed 40.9 [theorem].
    """

    quantity: Quantity
    rounds: int
    measured: float
    """The quantity in this run, attained by an explicit swap of what was played."""
    guaranteed: float | None
    """A-priori bound; None where nothing is guaranteed, for the reasons in ``broken``."""
    after_the_fact: float | None
    """Bound Σδ_t + Σ Reg_s with the rounding and the regrets of this very run; None if unknown."""
    theorem: str
    """The result that gives the bound."""
    broken: tuple[str, ...] = ()
    """Why nothing is guaranteed, and what to do about it, in words."""
    measured_at_most: float | None = None
    """Proven upper bound on the quantity in this run: ``measured`` for linear and quadratic losses,
    larger by the numerical tolerance for others."""
    on_average: bool = False
    """Whether bounds are for the average over the draws of the run, not for each run."""
    subject: Subject = Subject.PLAYED
    against: str = ""
    """What an excess is measured against."""
    mass: float | None = None
    """Total weight of the events with an outcome: ``rounds`` if all weigh 1."""
    noise: float | None = None
    """What a calibrated forecaster would show of the l2 calibration error, by chance alone."""
    table: Table | None = field(default=None, compare=False, repr=False)
    """Of yes-or-no events: forecasts, their weights, and how often they came true."""
    late: int = 0
    """Most forecasts that waited at one value when an outcome came for it; 0: all in time."""
    events: int | None = None
    """Events with an outcome, if forecasts name theirs; several forecasts may share one. Of a group
    this is not known."""
    squared_diameter: float = 1.0
    """The most that an event of weight 1 can add at all: 1, for vectors of probabilities 2."""
    brier: float | None = None
    """Total Brier score, beside an excess of it."""
    group: str | None = None
    """The group whose events it is about; None: all events."""
    once: bool = False
    """Whether some events have several forecasts, and every event counts once: then ``mass`` is a
    number of events, of which a group has the share that its forecasts are."""
    about: str = ""
    """A last line: what else there is to know about what was measured."""

    @property
    def title(self) -> str:
        """The quantity in words."""
        words = str(self.quantity)
        if self.subject:
            words += f" of the {self.subject}"
        return f"{words} in excess of {self.against}" if self.against else words

    @property
    def conditions(self) -> str:
        """What the bounds are about and what they need, in a sentence; "" for plain learners."""
        return conditions_of(self)

    @property
    def holds(self) -> bool:
        """Whether every condition held and the run is within the guarantee, rounding included."""
        if self.broken or self.guaranteed is None:
            return False
        most = self.measured if self.measured_at_most is None else self.measured_at_most
        return most <= self.guaranteed * (1 + 1e-9)

    @property
    def trivial(self) -> bool:
        """Whether the guarantee promises nothing: no run at all could be worse."""
        if self.guaranteed is None or not self.mass:
            return False
        return self.guaranteed >= self.squared_diameter * self.mass * (1 - 1e-12)

    # --- in points ------------------------------------------------------------------------------

    @property
    def points(self) -> float | None:
        """How far forecasts were off: √(mean of (p − ȳ_p)²), a share; None if not measured so."""
        return self._root(self.measured)

    @property
    def points_guaranteed(self) -> float | None:
        """At most so far off, known before the first forecast."""
        return self._root(self.guaranteed)

    @property
    def points_after_the_fact(self) -> float | None:
        """At most so far off, known from this run."""
        return self._root(self.after_the_fact)

    @property
    def points_noise(self) -> float | None:
        """How far off a calibrated forecaster would seem by chance alone."""
        comparable = self.quantity != Quantity.DISCRETISED_SWAP_REGRET
        return self._root(self.noise) if comparable else None

    def _root(self, squares: float | None) -> float | None:
        if squares is None or not self.mass or self.quantity not in IN_POINTS:
            return None
        return math.sqrt(max(squares, 0.0) / self.mass)

    # --- for decisions --------------------------------------------------------------------------

    def decision(self, cost_loss: float) -> Decision:
        """What somebody with this cost/loss ratio loses by acting on the forecasts.

        Protection costs ``cost_loss`` times the loss that it prevents; who protects when the
        forecast exceeds that ratio is compared with the best possible re-reading of the same
        forecasts.

        Examples
        --------
        >>> table = np.array([0.2, 0.5]), np.array([60.0, 40.0]), np.array([0.25, 0.5])
        >>> error = Quantity.L2_CALIBRATION_ERROR
        >>> certificate = Certificate(error, 100, 0.15, 9.0, 1.0, "x", mass=100.0, table=table)
        >>> round(certificate.decision(cost_loss=0.2).measured, 9)
        0.03
        >>> round(certificate.decisions().guaranteed, 9)
        0.3
        """
        ratio, table = checked_ratio(cost_loss), self._known_table()
        return self._decision(ratio, float(regret_at(table, np.array([ratio]))[0]), worst=False)

    def decisions(self) -> Decision:
        """The same at the ratio where this run lost most, and on average over ratios."""
        return self._decision(*worst_ratio(self._known_table()), worst=True)

    def _decision(self, ratio: float, measured: float, worst: bool) -> Decision:
        bounds: tuple[float | None, float | None] = None, None
        # swaps among given steps leave out what rounding to these steps costs
        if self.guaranteed is not None and self.quantity != Quantity.DISCRETISED_SWAP_REGRET:
            acting = Acting(self.guaranteed, self.mass or 0.0)
            bounds = (
                LEDGER["decisions"].bound(acting) / acting.mass,
                LEDGER["decisions on average"].bound(acting) / acting.mass,
            )
        average = average_regret(self._known_table())
        return Decision(ratio, measured, average, *bounds, worst, self.on_average)

    def _known_table(self) -> Table:
        if self.table is None:
            raise ValueError(
                "decisions must be about forecasts of yes-or-no events, got a certificate of "
                f"the {self.title}"
            )
        if not self.mass:
            raise ValueError("decisions must be about events with outcomes, got none so far")
        return self.table

    # --- as data and in words -------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        plain = {own.name: getattr(self, own.name) for own in fields(self)}
        table = self.table
        if table is not None:
            names = ("forecasts", "weights", "mean_outcomes")
            plain["table"] = {
                name: column.tolist() for name, column in zip(names, table, strict=True)
            }
        return {
            **plain,
            "broken": list(self.broken),
            "title": self.title,
            "holds": self.holds,
            "trivial": self.trivial,
            "points": self.points,
            "points_guaranteed": self.points_guaranteed,
            "points_after_the_fact": self.points_after_the_fact,
            "points_noise": self.points_noise,
        }

    def __str__(self) -> str:
        return words_of(self)

    def __repr__(self) -> str:
        return f"<Certificate: {line_of(self)}>"

    def _repr_html_(self) -> str:
        return html_of(self)
