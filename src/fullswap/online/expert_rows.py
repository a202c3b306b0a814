"""What recalibration keeps and claims: experts shared by all points.

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
from fullswap.kernels.columns import HEAD, LEVEL, LOST, MASS, OVERLAP, ROUNDS
from fullswap.kernels.experts import (
    ADVICE_LOSS,
    AWAKE_LOSS,
    EXPERT_LOSS,
    PLAYED_LOSS,
    SHARE,
    TOTALS,
)
from fullswap.online.claims import Claim
from fullswap.online.kind import MEAN_SLACK, SLACK, Kind, slack_of
from fullswap.online.lattices import Lattice, points_of
from fullswap.theorems import LEDGER
from fullswap.theorems.means import own_mean_cost
from fullswap.theorems.recalibration import OWN_PRIOR, Excess, Recalibration

RAW_PRIOR = 0.5
"""Prior weight of the models as they are, the pool of several among them: most need little."""
ODDS_BLANK = math.log(OWN_PRIOR / (1 - OWN_PRIOR))
"""ln of the prior weight of a point's mean over the advice's."""
LARGEST_LOGIT = 10.0
"""Of a probability cut at 1e-4, centred or not."""
SILENT = "Where it was silent, it is taken to have said what the merged advice said."
MOST_PARAMETER = 1e6
"""Of a logistic recalibration: beyond any that is learnt, and its exponent is harmless."""


class ExpertRows(Kind):
    """Totals and mix at the head of the shared columns, and what follows from them."""

    kinds: ClassVar[tuple[str, ...]]
    """What the experts of an input do; the first repeats it."""

    result: ClassVar[str] = "recalibration"
    """The entry of the ledger that bounds the calibration error."""
    own_prior: ClassVar[float] = OWN_PRIOR
    """Prior weight at a point of all but the advice."""

    @property
    def inputs(self) -> int:
        """The models, and of several their pool too."""
        return self.spec.models + 1 if self.spec.models > 1 else 1

    @property
    def experts(self) -> int:
        """Experts of the shared advice."""
        return len(self.kinds) * self.inputs

    @property
    def prior(self) -> Vector:
        """Half of all weight on what the models say, the rest equally on what is made of it."""
        one = np.full(len(self.kinds), (1 - RAW_PRIOR) / (len(self.kinds) - 1))
        one[0] = RAW_PRIOR
        return np.tile(one / self.inputs, self.inputs)

    @property
    def names(self) -> list[str]:
        """The experts by name, in the order of the mix."""
        names = ["the model"]
        if self.spec.models > 1:
            names = [f"model {j}" for j in range(self.spec.models)] + ["the pool of models"]
        return [f"{name}, {kind}" if kind else name for name in names for kind in self.kinds]

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

    def bound(
        self, mass: float, rounding: float, level: int, waiting: int, whole: bool = False
    ) -> float:
        """By the ledger; nothing is known in advance where outcomes come late."""
        if waiting:
            return math.inf
        premises = premises_of(self.spec.levels[level], mass, rounding)
        return LEDGER["recalibration"].bound(premises)

    def waiting(self, row: Vector) -> int:
        """Anywhere: outcomes that others wait for are learnt at another rate."""
        return int(row[OVERLAP])

    def _claims(self, row: Vector, calibration: Claim, paid: float, most: float) -> list[Claim]:
        """The claim of calibration first, then the excess Brier score against each expert.

        ``paid`` bounds Σ g·δ_t as it was, ``most`` as it could have been.
        """
        level, mass = int(row[LEVEL]), float(row[MASS])
        claims = [calibration]
        totals, mix = self._mix(row)
        advice, played = float(totals[ADVICE_LOSS]), float(totals[PLAYED_LOSS])
        size = self.spec.levels[level].size(2)
        parts = bool(mass < row[ROUNDS] - slack_of(row))
        for m, name in enumerate(self.names):
            # while an expert sleeps it is taken to say what the advice says
            gained = float(mix[AWAKE_LOSS, m] - mix[EXPERT_LOSS, m])
            prior = float(self.prior[m])
            premises = Excess(mass, size, most, prior, parts, self.own_prior, self._trust(row))
            excess = LEDGER["recalibration keeps the skill"].bound(premises)
            excess = math.inf if row[OVERLAP] else excess
            claims.append(
                Claim(
                    Quantity.EXCESS_BRIER,
                    played - advice + gained,
                    excess,
                    paid + float(row[LOST]) - advice + gained,
                    "recalibration keeps the skill",
                    in_order=True,
                    against=name,
                    brier=played,
                    about=SILENT if self.spec.models > 1 else "",
                )
            )
        return claims

    def _trust(self, row: Vector) -> float:
        """What stands between the advice and the points may cost."""
        return 0.0

    def _calibration(
        self, row: Vector, error: float, regret: float, paid: float, most: float, noise: float
    ) -> Claim:
        """The claim of calibration, but for its table.

        What is known after the fact, ``paid`` + ``regret``, needs no promptness.
        """
        known = self.bound(float(row[MASS]), most, int(row[LEVEL]), self.waiting(row))
        after = paid + regret
        return Claim(
            Quantity.L2_CALIBRATION_ERROR, error, known, after, self.result, in_order=True,
            noise=noise,
        )  # fmt: skip

    def _check_claims(self, row: Vector) -> None:
        """What experts cost is bounded in every run, whatever is drawn, if outcomes are in time."""
        super()._check_claims(row)
        if row[OVERLAP]:
            return
        slack = MEAN_SLACK * (1 + row[MASS])
        for claim in self.claims(row):
            trivial = (claim.largest or self.squared_diameter) * row[MASS]
            bounded = claim.after_the_fact <= claim.guaranteed + slack
            if not bounded and claim.guaranteed < trivial * (1 - SLACK):
                raise ValueError("row must be what a stream can come to: its bounds do not hold")

    def _check_mix(self, row: Vector) -> bool:
        """Whether totals and mix are what a stream can come to."""
        totals, mix = self._mix(row)
        most = self.squared_diameter * (row[MASS] + slack_of(row))
        return bool(
            # what every event deals out anew keeps all experts alive
            (mix[SHARE] >= self.prior / (2 + 2 * row[MASS]) * (1 - SLACK)).all()
            and abs(mix[SHARE].sum() - 1) <= SLACK
            and (totals >= 0).all()
            and (totals <= most).all()
            and (mix[1:] >= 0).all()
            and (mix[1:] <= most).all()
        )

    def _check_beliefs(
        self, row: Vector, values: Vector, precision: Points, variances: Vector,
        smallest: float | None = None,
    ) -> bool:  # fmt: skip
        """Whether beliefs are finite, and no less precise than those that they started from.

        ``values`` are means, ``precision`` (m, k, k) what is known of them, ``variances`` (m,) what
        they started with at most; ``smallest`` if some started with less than any of these.
        """
        knowledge = np.linalg.eigvalsh(precision)
        largest = np.abs(precision).max()
        least = 1 / (variances.min() if smallest is None else smallest)
        return bool(
            (np.abs(values) <= MOST_PARAMETER).all()
            and (np.abs(precision - precision.transpose(0, 2, 1)) <= SLACK * largest).all()
            # half: eigenvalues are known to the rounding of the largest
            and (knowledge >= 0.5 / variances[:, None]).all()
            and largest <= least + LARGEST_LOGIT**2 * (row[MASS] + slack_of(row))
        )


@lru_cache(maxsize=1024)
def spread_of(lattice: Lattice) -> float:
    """Σ_s c_s over the points of a grid, as in ``fullswap.theorems.recalibration``.

    Examples
    --------
    >>> spread_of(Lattice("even", 2))  # 1 + 1/16 + 1
    2.0625
    """
    return math.fsum(own_mean_cost(points_of(lattice, 2)))


def premises_of(lattice: Lattice, mass: float, rounding: float) -> Recalibration:
    """What the bound of the calibration error on a grid needs to know."""
    return Recalibration(mass, lattice.size(2), rounding, spread_of(lattice))
