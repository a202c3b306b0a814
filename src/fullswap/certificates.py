"""Measured against guaranteed, for one run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Quantity(StrEnum):
    """What is bounded."""

    FULL_SWAP_REGRET = "full swap regret"
    SWAP_REGRET = "swap regret"
    DISCRETISED_SWAP_REGRET = "discretised swap regret"
    L2_CALIBRATION_ERROR = "l2 calibration error"
    KL_CALIBRATION_ERROR = "KL calibration error"
    EXCESS_BRIER = "total Brier score"
    """In excess of what ``Certificate.against`` names."""
    SUM_OVER_CLASSES = "sum over the classes of their own l2 calibration error"


class Subject(StrEnum):
    """Whose quantity it is: distributions and what was drawn from them are told apart."""

    PLAYED = ""
    ISSUED = "issued forecasts"
    DISTRIBUTIONS = "distributions"


@dataclass(frozen=True)
class Certificate:
    """What was measured in a run beside what was guaranteed."""

    quantity: Quantity
    rounds: int
    measured: float
    """The quantity in this run, attained by an explicit swap of what was played."""
    guaranteed: float | None
    """A-priori bound; None once a condition of the theorem is broken."""
    after_the_fact: float | None
    """Bound δT + Σ Reg_s with the regrets of this very run, never above the a-priori one; None once
    a condition is broken."""
    theorem: str
    """The result that gives the bound."""
    broken: tuple[str, ...] = ()
    """Conditions seen to be broken, each in words."""
    measured_at_most: float | None = None
    """Proven upper bound on the quantity in this run: ``measured`` for linear and quadratic losses,
    larger by the numerical tolerance for others."""
    on_average: bool = False
    """Whether the guarantee is for the average over the draws of the run, not for each run."""
    subject: Subject = Subject.PLAYED
    against: str = ""
    """What an excess is measured against."""

    @property
    def title(self) -> str:
        """The quantity in words."""
        words = str(self.quantity)
        if self.subject:
            words += f" of the {self.subject}"
        return f"{words} in excess of {self.against}" if self.against else words

    @property
    def holds(self) -> bool:
        """Whether every condition held and the measured value is within the guarantee."""
        if self.broken or self.guaranteed is None:
            return False
        return self.measured <= self.guaranteed * (1 + 1e-9)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        added = {"title": self.title, "broken": list(self.broken), "holds": self.holds}
        return {**asdict(self), **added}

    def __str__(self) -> str:
        head = f"{self.title} after {self.rounds} rounds: measured {self.measured:.4g}"
        if self.guaranteed is None:
            return f"{head}; no guarantee: {'; '.join(self.broken)} [{self.theorem}]"
        average = " on average over the draws" if self.on_average else ""
        return f"{head}, guaranteed at most {self.guaranteed:.4g}{average} [{self.theorem}]"
