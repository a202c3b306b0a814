"""What is measured, known after the fact and guaranteed of forecasts of many classes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.certificates import Quantity
from fullswap.kernels import classwise as kernel
from fullswap.kernels.columns import MASS
from fullswap.kernels.experts import AWAKE_LOSS, EXPERT_LOSS
from fullswap.online.claims import Claim
from fullswap.online.classwise_checks import rest_of, top_of
from fullswap.online.expert_rows import SILENT
from fullswap.theorems import LEDGER
from fullswap.theorems.classwise import Classwise as Bins
from fullswap.theorems.classwise import ClasswiseExcess

if TYPE_CHECKING:
    from fullswap.online.classwise import Classwise

SOFT = (
    "Errors are averages in {bins} soft bins of every class, squared and summed over classes. "
    "Whole vectors need not be calibrated: of many classes no method can promise it [FGMS25; P25]."
)
SEEN = "Hard bins are not safe from an adversary who sees a vector before the outcome [O85]."


def classwise_claims(kind: Classwise, row: Vector) -> list[Claim]:
    """Class-wise first, then top-label, then excess Brier scores."""
    spec, mass, late = kind.spec, float(row[MASS]), kind.waiting(row)
    totals = kind.totals(row)
    gaps, paid = float(totals[kernel.GAPS]), float(totals[kernel.PAID])
    played = float(totals[kernel.PLAYED_LOSS])
    (top, top_noise), (rest, _), (whole, noise) = _errors(kind.bins(row))
    premises = Bins(mass, spec.classes, kind.knots, gaps)
    known = [
        math.inf if late else LEDGER[name].bound(premises)
        for name in ("classwise calibration", "top-label calibration")
    ]
    about = f"{SOFT} {SEEN}".format(bins=len(kind.nodes))
    claims = [
        Claim(
            Quantity.CLASSWISE_ERROR, whole, known[0], min(whole + paid, played),
            "classwise calibration", in_order=True, noise=noise, about=about,
        ),
        Claim(
            Quantity.TOP_LABEL_ERROR, top, known[1], min(top + rest + paid, mass),
            "top-label calibration", in_order=True, noise=top_noise, largest=1.0,
        ),
    ]  # fmt: skip
    losses, mix = kind._mix(row)
    for m, name in enumerate(kind.names):
        gained = float(mix[AWAKE_LOSS, m] - mix[EXPERT_LOSS, m])
        against = ClasswiseExcess(mass, spec.classes, kind.knots, float(kind.prior[m]), gaps)
        result = "classwise keeps the skill"
        excess = played - float(losses[kernel.ADVICE_LOSS]) + gained
        claims.append(
            Claim(
                Quantity.EXCESS_BRIER,
                excess,
                math.inf if late else LEDGER[result].bound(against),
                min(excess + paid, played),
                result,
                in_order=True,
                against=name,
                brier=played,
                about=SILENT if spec.models > 1 else "",
            )
        )
    return claims


def _errors(bins: Points) -> tuple[tuple[float, float], ...]:
    """ΣR²/W and what chance would show: declared, the rest, both together."""
    top, rest = top_of(bins), rest_of(bins)
    found = []
    for weight, error, chance in (top, rest, top + rest):
        safe = np.where(weight > 0, weight, 1.0)
        square = np.where(weight > 0, np.square(error) / safe, 0.0)
        found.append((float(square.sum()), float((chance / safe).sum())))
    return tuple(found)
