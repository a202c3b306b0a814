"""Recalibration that is calibrated in each of many overlapping groups.

An event t belongs to groups A_t, known before its forecast; everybody is a group too. The forecast
is a mixture x_t of grid points s with recommendations q_s such that, for every outcome y,

    Σ_s x_t[s]·(s − y)² ≤ Σ_s x_t[s]·(q_s − y)² + δ_t                                    (1)

as in ``fullswap.theorems.recalibration``: for each single forecast, whatever is known of the groups
of others. So (1) may be summed over the forecasts of group j alone. What remains is what the
recommendations lose in these against the mean outcome ȳ_sj of the group at each point, because
Σ_{t in j} x_t[s]·[(s − y_t)² − (ȳ_sj − y_t)²] = G_sj·(s − ȳ_sj)². If a draw from x_t is issued and
learns alone, all this is meant on average over the draw, for outcomes, scales and groups that do
not depend on it.

**After the fact.** Σ_{t in j} g·δ_t + Σ_{t in j} g·(q − y)² − Σ_s Σ g·(ȳ_sj − y)² bounds the error
of group j, however late outcomes come, as (1) needs no promptness; Σ g·(ȳ_sj − y)² is Σ g·y² −
Σ_s ȳ_sj·Σ g·y.

**Sleeping.** At a point, experts m have weights w_m, in the beginning the priors π_m, of sum at
most 1. In a forecast the awake merge by the aggregating rule with v_m = w_m/Σ_awake w: then (q −
y)² ≤ h(y) = −½·ln Z_y for every y in [0, 1], Z_y = Σ_awake v_m·exp(−2(m − y)²) [HKW98]. The outcome
of a forecast of scale g multiplies the weights of the awake by f_m^g,

    f_m = exp(−2(m − y)² + 2h(y)),   Σ_awake v_m·f_m = 1;

others keep theirs (f_m = 1), so that with g = 1 the total weight stays what it was [FSSW97]. It
never grows: take the forecasts i = 1, …, n of one event at this point, of scales g_i ≥ 0 with Σg_i
≤ 1, all made before any outcome is learnt since, perhaps in different groups. By Hölder's
inequality with exponents g_i, and 1 − Σg_i for the constant 1,

    Σ_m w_m·Π_i f_im^g_i ≤ Π_i (Σ_m w_m·f_im)^g_i · (Σ_m w_m)^(1 − Σg_i) = Σ_m w_m,

where Σ_m w_m·f_im = Σ_m w_m for each i. One forecast is the case n = 1. (Where outcomes of several
events come late, their scales may sum to more than 1, and nothing is claimed in advance.) So the
weight of expert m, π_m·exp(−2·Σ_{awake} g·[(m − y)² − h(y)]), is at most 1, and over the forecasts
in which it was awake

    Σ g·(q − y)² ≤ Σ g·h(y) ≤ Σ g·(m − y)² + ½·ln(1/π_m).                                (2)

The expert that is everybody's, or a group's, mean at this point loses at most ¼·Rt(G_sj) + c_s more
than ȳ_sj over these forecasts ("The mean of a point" in ``fullswap.theorems.recalibration``; it
learns in the forecasts of its group alone). Together with (1), summed over the n points, and as Rt
is concave: the error of group j is at most

    Σ_{t in j} g·δ_t + Σ_s [½·ln(1/π_j) + c_s] + n/4·Rt(T_j/n),   T_j = Σ_{t in j} g.

The advice shared by all points is one more expert, always awake, of prior a: by (2) what the points
lose exceeds what it loses by at most ½·ln(1/a) a point, so the skill of the models is kept.

**Trust.** Between the advice A of everybody and the points stands what the groups of the event say:
group j merges A, of prior b, with recalibrations in groups by the aggregating rule with weights of
its own, so that (A_j − y)² ≤ h_j(y); and A' merges all of these weights with a share 1/n for each
of the n groups. By Jensen's inequality (A' − y)² ≤ −½·ln(1/n·Σ_j exp(−2h_j(y))) ≤ 1/n·Σ_j h_j(y).
Group j learns with the scale g/n, so Σ (g/n)·h_j(y) ≤ Σ (g/n)·(A − y)² + ½·ln(1/b), and over all
events A' loses at most ½·ln(1/b) more than A for each group that came. A' is the advice of (2).

**Priors.** Groups that are named in advance share 1 − a equally with everybody. Groups that come as
they come get what a series reserves for them: number k, everybody is 0, lies in the block b =
⌊log₂(k + 1)⌋ of 2^b numbers, and has 2^−b/((b + 1)(b + 2)) of 1 − a; Σ_b 1/((b + 1)(b + 2)) = 1. A
group that has not come yet has slept all the time, and its weight is its prior.

Symbols: n points · π prior of the group's mean at each point · spread = Σ_s c_s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fullswap.theorems.ledger import Result
from fullswap.theorems.premises import regret_sum

ADVICE_PRIOR = 0.5
"""a: prior weight, at each point, of the advice shared by all points."""
TRUST_PRIOR = 0.9
"""b: prior weight, in each group, of the advice of everybody; recalibrations in groups have the
rest. A group of a few dozen events cannot show more, and one of a few hundred outweighs it soon."""


@dataclass(frozen=True)
class InGroup:
    """Events of a group, of total mass T_j, on a grid of n points; Σ g·δ_t at most ``rounding``."""

    mass: float
    points: int
    rounding: float
    spread: float
    prior: float


def group_bound(p: InGroup) -> float:
    """Σδ + Σ_s[½·ln(1/π) + c_s] + n/4·Rt(T_j/n), at most T_j.

    Examples
    --------
    >>> round(group_bound(InGroup(10_000, 21, 10_000 / 1600, 5.3, 1 / 42)), 1)
    88.5
    """
    return min(p.mass, group_total(p))


def group_total(p: InGroup) -> float:
    """The same, which may exceed the trivial T_j."""
    own = math.log(1 / p.prior) / 2 + regret_sum(p.mass / p.points) / 4
    return p.rounding + p.spread + p.points * own


def trust_cost(groups: int) -> float:
    """½·ln(1/b) for each of so many groups.

    Examples
    --------
    >>> round(trust_cost(38), 1)
    2.0
    """
    return groups * math.log(1 / TRUST_PRIOR) / 2


def equal_share(groups: int) -> float:
    """π of everybody and of each group, for so many that are named in advance.

    Examples
    --------
    >>> round((1 + 3) * equal_share(3) + ADVICE_PRIOR, 12)
    1.0
    """
    return (1 - ADVICE_PRIOR) / (1 + groups)


def reserved_share(k: int) -> float:
    """π of group number k of those that come as they come; everybody is number 0.

    Examples
    --------
    >>> [round((1 - ADVICE_PRIOR) / reserved_share(k)) for k in range(4)]
    [2, 12, 12, 48]
    """
    block = (k + 1).bit_length() - 1
    return float((1 - ADVICE_PRIOR) / 2**block / ((block + 1) * (block + 2)))


GROUPS = (
    Result(
        "recalibration in groups", "FKO25, Lemma 26; HKW98; FSSW97",
        "l2 calibration error in each group of recalibrated forecasts, for any outcomes in time",
        InGroup, group_bound,
    ),
)  # fmt: skip
