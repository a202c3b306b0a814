"""What recalibration keeps and claims, on a line and on a simplex: experts shared by all points.

What the models say and simple recalibrations of it are merged into one advice; each grid point
weighs that advice against its own mean outcome. Learning which expert is best is thus paid once,
not once a point, and a point never played starts from all that is known already.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import ClassVar

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.certificates import Quantity
from fullswap.kernels.columns import DELAY, HEAD, LEVEL, LOST, MASS, OVERLAP, ROUNDS
from fullswap.kernels.experts import (
    ADVICE_LOSS,
    AWAKE_LOSS,
    EXPERT_LOSS,
    KINDS,
    PLAYED_LOSS,
    SHARE,
    TOTALS,
    UPDATES,
)
from fullswap.online.claims import Claim
from fullswap.online.kind import SLACK, Kind, slack_of
from fullswap.online.lattices import Lattice, points_of
from fullswap.theorems import LEDGER
from fullswap.theorems.recalibration import OWN_PRIOR, Excess, Recalibration

ODDS_BLANK = math.log(OWN_PRIOR / (1 - OWN_PRIOR))
"""ln of the prior weight of a point's mean over the advice's."""
LARGEST_LOGIT = 10.0
"""Of a probability cut at 1e-4, centred or not."""
SILENT = "Where it was silent, it is taken to have said what the merged advice said."
MOST_PARAMETER = 1e6
"""Of a logistic recalibration: beyond any that is learnt, and its exponent is harmless."""


class ExpertRows(Kind):
    """Totals and mix at the head of the shared columns, and what follows from them."""

    variance: ClassVar[float]
    """Of the parameters of a recalibration, before anything is known."""
    last_kind = "shifted by bin"
    """What the fourth expert of an input does."""

    @property
    def inputs(self) -> int:
        """The models, and of several their pool too."""
        return self.spec.models + 1 if self.spec.models > 1 else 1

    @property
    def experts(self) -> int:
        """Experts of the shared advice."""
        return KINDS * self.inputs

    @property
    def prior(self) -> Vector:
        """Equal prior weights of all experts."""
        return np.full(self.experts, 1.0 / self.experts)

    @property
    def names(self) -> list[str]:
        """The experts by name, in the order of the mix."""
        names = ["the model"]
        if self.spec.models > 1:
            names = [f"model {j}" for j in range(self.spec.models)] + ["the pool of models"]
        kinds = ("", ", recalibrated", ", recalibrated with forgetting", f", {self.last_kind}")
        return [name + kind for name in names for kind in kinds]

    def _with_mix(self, **others: int) -> dict[str, int]:
        """Names of the shared columns: totals and the rows of the mix come first."""
        mix = dict.fromkeys(("shares", "expert losses", "awake losses"), self.experts)
        return {"totals": TOTALS, **mix, **others}

    def _blank_mix(self) -> Vector:
        """Totals and mix of a stream that has learnt nothing."""
        mix = np.zeros((3, self.experts))
        mix[SHARE] = self.prior
        return np.concatenate((np.zeros(TOTALS), mix.ravel()))

    def _mix(self, row: Vector) -> tuple[Vector, Vector]:
        """Totals (3,) and mix (3, M): views."""
        end = HEAD + TOTALS + 3 * self.experts
        return row[HEAD : HEAD + TOTALS], row[HEAD + TOTALS : end].reshape(3, self.experts)

    def spread(self, level: int) -> float:
        """Sum over grid points of the squared distance to the farthest outcome."""
        return spread_of(self.spec.levels[level], self.spec.classes)

    def bound(
        self, mass: float, rounding: float, level: int, waiting: int, whole: bool = False
    ) -> float:
        """By the ledger; nothing is known where outcomes come late at a grid point."""
        if waiting:
            return math.inf
        size = self.spec.levels[level].size(self.spec.classes)
        premises = Recalibration(mass, size, rounding, self.spread(level), self.squared_diameter)
        return LEDGER["recalibration"].bound(premises)

    def _claims(
        self, row: Vector, error: float, regret: float, paid: float, most: float
    ) -> list[Claim]:
        """Calibration error first, then the excess Brier score against each expert.

        ``paid`` is Σ g·δ_t as it was, ``most`` its bound.
        """
        level, mass = int(row[LEVEL]), float(row[MASS])
        known = self.bound(mass, most, level, int(row[DELAY]))
        claims = [
            Claim(Quantity.L2_CALIBRATION_ERROR, error, known, min(known, paid + regret),
                  "recalibration")
        ]  # fmt: skip
        totals, mix = self._mix(row)
        advice, played = float(totals[ADVICE_LOSS]), float(totals[PLAYED_LOSS])
        size = self.spec.levels[level].size(self.spec.classes)
        for m, name in enumerate(self.names):
            # while an expert sleeps it is taken to say what the advice says
            gained = float(mix[AWAKE_LOSS, m] - mix[EXPERT_LOSS, m])
            prior = float(self.prior[m])
            premises = Excess(
                mass, size, most, prior, float(totals[UPDATES]), self.squared_diameter
            )
            excess = LEDGER["recalibration keeps the skill"].bound(premises)
            excess = math.inf if row[OVERLAP] else excess
            claims.append(
                Claim(
                    Quantity.EXCESS_BRIER,
                    played - advice + gained,
                    excess,
                    min(excess, paid + float(row[LOST]) - advice + gained),
                    "recalibration keeps the skill",
                    in_order=True,
                    against=name,
                    brier=played,
                    about=SILENT if self.spec.models > 1 else "",
                )
            )
        return claims

    def _check_mix(self, row: Vector) -> bool:
        """Whether totals and mix are what a stream can come to."""
        totals, mix = self._mix(row)
        most = self.squared_diameter * (row[MASS] + slack_of(row))
        return bool(
            float(totals[UPDATES]).is_integer()
            and row[MASS] - slack_of(row) <= totals[UPDATES] <= row[ROUNDS]
            # what every update deals out anew keeps all experts alive
            and (mix[SHARE] >= self.prior / (1 + max(totals[UPDATES], 0)) * (1 - SLACK)).all()
            and abs(mix[SHARE].sum() - 1) <= SLACK
            and (totals[1:] >= 0).all()
            and (totals[1:] <= most).all()
            and (mix[1:] >= 0).all()
            and (mix[1:] <= most).all()
        )

    def _check_recalibrations(self, row: Vector, values: Vector, precision: Points) -> bool:
        """Whether beliefs are finite, and no less precise than those that they started from.

        ``values`` are means, ``precision`` (m, k, k) what is known of them.
        """
        knowledge = np.linalg.eigvalsh(precision)
        largest = np.abs(precision).max()
        return bool(
            (np.abs(values) <= MOST_PARAMETER).all()
            and (np.abs(precision - precision.transpose(0, 2, 1)) <= SLACK * largest).all()
            # half: eigenvalues are known to the rounding of the largest
            and (knowledge >= 0.5 / self.variance).all()
            and largest <= 1 / self.variance + LARGEST_LOGIT**2 * (row[MASS] + slack_of(row))
        )


@lru_cache(maxsize=1024)
def spread_of(lattice: Lattice, classes: int) -> float:
    """Sum over the points of a grid of the squared distance to the farthest outcome.

    Examples
    --------
    >>> spread_of(Lattice("even", 2), 2)  # 1 + ¼ + 1
    2.25
    """
    points = points_of(lattice, classes)
    if points.ndim == 1:
        return float(np.square(np.maximum(points, 1 - points)).sum())
    return float((np.square(points).sum(axis=1) + 1 - 2 * points.min(axis=1)).sum())
