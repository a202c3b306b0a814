"""Certificates of rows: what was measured beside what the ledger guarantees."""

from __future__ import annotations

import math

from fullswap.base.protocols import Vector
from fullswap.certificates import Certificate, Subject
from fullswap.kernels.columns import DELAY, LEVEL, MASS, OVERLAP, ROUNDING_MOST, ROUNDS
from fullswap.online.claims import Claim
from fullswap.online.kind import Kind
from fullswap.theorems import LEDGER

LATE_AT_POINT = "outcomes came late: several forecasts waited at one grid point"
LATE_ANYWHERE = "outcomes came late: several forecasts waited for theirs at once"
LATE_LOG_LOSS = "outcomes came late, and the bound for the log loss needs them in time"


def broken_conditions(kind: Kind, row: Vector, claim: Claim | None = None) -> tuple[str, ...]:
    """Conditions of a bound that are seen to be broken, each in words."""
    if kind.spec.loss == "log" and row[DELAY]:
        return (LATE_LOG_LOSS,)
    if kind.spec.models and row[DELAY]:
        return (LATE_AT_POINT,)
    if claim is not None and claim.in_order and row[OVERLAP]:
        return (LATE_ANYWHERE,)
    return ()


def guarantee_of(kind: Kind, row: Vector) -> float:
    """A-priori bound: for the horizon, or for the events so far if these are more."""
    if broken_conditions(kind, row):
        return math.nan
    level, mass, rounding = int(row[LEVEL]), float(row[MASS]), float(row[ROUNDING_MOST])
    ahead = float(kind.spec.horizon or 0)
    if ahead > mass:
        mass, rounding = ahead, kind.rounding_cost(level) * ahead
    return kind.spec.max_weight * kind.bound(
        mass, rounding, level, int(row[DELAY]), kind.whole(row)
    )


def certificates_of(kind: Kind, row: Vector) -> tuple[Certificate, ...]:
    """Measured quantities of the events so far beside their guarantees."""
    return tuple(_certificate(kind, row, claim) for claim in kind.claims(row))


def _certificate(kind: Kind, row: Vector, claim: Claim) -> Certificate:
    broken = broken_conditions(kind, row, claim)
    realised, scale = kind.spec.realised, kind.spec.max_weight
    known = None if broken else scale * claim.guaranteed
    after = None
    # with realised feedback the regrets of a run bound its error on average over the draws only
    if known is not None and not realised and not row[DELAY]:
        after = min(known, scale * claim.after_the_fact)
    return Certificate(
        claim.quantity,
        int(row[ROUNDS]),
        scale * claim.measured,
        known,
        after,
        LEDGER[claim.result].citation,
        broken,
        on_average=realised,
        subject=Subject.ISSUED if realised else Subject.DISTRIBUTIONS,
        against=claim.against,
    )
