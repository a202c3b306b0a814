"""Measured against guaranteed, for one run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Certificate:
    """What was measured in a run beside what was guaranteed.

    Attributes
    ----------
    quantity : str
        What is bounded, e.g. "full swap regret".
    rounds : int
        Number of rounds T.
    measured : float
        The quantity in this run, attained by an explicit swap of what was played.
    guaranteed : float or None
        A-priori bound; None once a condition of the theorem is broken.
    after_the_fact : float or None
        A-posteriori bound δT + Σ Reg_s with the regrets of this very run, never above the
        a-priori one; None once a condition is broken.
    theorem : str
        The result that gives the bound.
    broken : tuple of str
        Conditions seen to be broken, each in words.
    measured_at_most : float or None
        Proven upper bound on the quantity in this run: equal to ``measured`` for linear and
        quadratic losses, larger by the numerical tolerance for others.
    on_average : bool
        Whether the guarantee is for the average over the draws of the run, not for each run.
    """

    quantity: str
    rounds: int
    measured: float
    guaranteed: float | None
    after_the_fact: float | None
    theorem: str
    broken: tuple[str, ...] = ()
    measured_at_most: float | None = None
    on_average: bool = False

    @property
    def holds(self) -> bool:
        """Whether every condition held and the measured value is within the guarantee."""
        if self.broken or self.guaranteed is None:
            return False
        return self.measured <= self.guaranteed * (1 + 1e-9)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {**asdict(self), "broken": list(self.broken), "holds": self.holds}

    def __str__(self) -> str:
        head = f"{self.quantity} after {self.rounds} rounds: measured {self.measured:.4g}"
        if self.guaranteed is None:
            return f"{head}; no guarantee: {'; '.join(self.broken)} [{self.theorem}]"
        average = " on average over the draws" if self.on_average else ""
        return f"{head}, guaranteed at most {self.guaranteed:.4g}{average} [{self.theorem}]"
