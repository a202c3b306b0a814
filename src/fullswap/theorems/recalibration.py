"""Recalibration of given probabilities by experts inside every sub-learner.

A forecast is a mixture x_t of grid points s with recommendations q_s such that, for every outcome y
and each event,

    Σ_s x_t[s]·‖s − y‖² ≤ Σ_s x_t[s]·‖q_s − y‖² + δ_t .                                  (1)

So what remains is what the recommendations lose, point by point, against a comparator of one's
choice:

- against the mean outcome ȳ_s at each point, (1) bounds the l2 calibration error, because
  Σ_t x_t[s]·[‖s − y_t‖² − ‖ȳ_s − y_t‖²] = G_s·‖s − ȳ_s‖²;
- against another forecaster, the same at all points, it bounds the excess Brier score.

(1) holds for recommendations however old. So Σδ_t + Σ_s[Σ‖q_s − y‖² − Σ‖ȳ_s − y‖²], which is known
after the fact, bounds the calibration error whatever the delay of outcomes.

**Merging.** A sub-learner that merges experts by the aggregating rule loses at most ln(1/π_m)/η
more than expert m of prior weight π_m, for any scales g in [0, 1]: a loss that is η-mixable stays
so when scaled, since E[exp(−ηgℓ)] ≤ E[exp(−ηℓ)]^g. The squared loss has η = 2 on [0, 1] [HKW98],
and η = 1 on the simplex [VZ09]. Several forecasts i of one event, of scales g_i with Σg_i ≤ 1, all
made before its outcome is learnt, cost no more than one, as E_w[Π exp(−ηg_iℓ_i)] ≤
Π E_w[exp(−ηℓ_i)]^g_i by Hölder's inequality.

**The mean of a point.** With one imagined outcome at s itself, μ = (Σg·y + s)/(G + 1). Take an
outcome of scale g ≤ 1; m = 1 + G before and m' = m + g after, q and q' the means before and after,
h(q) = q(1 − q), r = (g²/m')(q − y)². Since y² ≤ y,

    (q − y)² ≤ h(q) + (y − q)(1 − 2q),   h(q') − h(q) = (g/m')(y − q)(1 − 2q) − (g/m')²(q − y)²,

so (g/m')(1 − g/m')(q − y)² ≤ (g/m')h(q) + h(q') − h(q); times g·m'/m, and as what is on the left
is no less than 0, r ≤ (g/m)h(q) + (1 + g/m)(h(q') − h(q)) = (g/m)h(q') + h(q') − h(q). In all

    Σr ≤ ¼·Rt(G) + h(q_T) − h(s),   Rt(x) = min(x, 1) + ln max(x, 1),

because h ≤ ¼ and Σg/m ≤ Σg/max(1, G') ≤ Rt(G). The regret against the mean outcome ȳ is exactly
Σr + (ȳ − s)² − m_T(q_T − ȳ)² = Σr + (q_T − s)(ȳ − s), where q_T lies between s and ȳ; with e = q_T
− s the last terms are e(1 − 2s + ȳ − s) − e², at most c_s = (2 − 3·min(s, 1 − s))²/4. Together
¼·Rt(G) + c_s. Outcomes of one event at one point, whose scales sum to at most 1, are one step with
the sum of the scales.

**Changing experts.** After an event of scale g a share g/(M + 1) of all weight is dealt out anew by
the prior, M the mass so far with this event: the best expert may change. Π(1 − g_t/(M_t + 1)) =
1/(M + 1), so this costs ln(1 + M)/η. Where an event has several forecasts of scales g_i, their sum
S ≤ 1, the later ones are learnt with weights of which a part u_i was dealt out after the forecast:
u_i ≤ Σ_{j<i} g_j/(M + 1)·exp(2Σ_{j<k<i} g_k), M the mass before the event. As E[exp(−ηg_iℓ)] ≥
exp(−2g_i), this lowers what the mix has lost by at most u_i(exp(2g_i) − 1)/η; in all by at most
1/(M + 1)/η times ∫₀^S(exp(2x) − 1)dx ≤ S(e² − 3)/2, over all events (e² − 3)/2·Rt(M)/η.

With sample weights the number of events becomes the mass Σ w/max_weight, and the bounds are to
be multiplied by max_weight.

Symbols: n points · π_μ prior of the mean at each point, the rest is the shared advice's · spread =
Σ_s c_s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fullswap.theorems.ledger import Result
from fullswap.theorems.premises import regret_sum

IMAGINED = 1.0
"""Imagined outcomes from which the mean of a point starts."""
OWN_PRIOR = 0.1
"""π_μ: prior weight of a point's own mean against the advice shared by all points."""
IN_PARTS = (math.e**2 - 3) / 2
"""What events that are learnt in parts add to the price of changing experts."""


@dataclass(frozen=True)
class Recalibration:
    """Events of total mass M on a grid of n points, Σ g·δ_t at most ``rounding``."""

    mass: float
    points: int
    rounding: float
    spread: float


@dataclass(frozen=True)
class Excess:
    """The same against an expert of this prior; ``parts``: events may have several forecasts."""

    mass: float
    points: int
    rounding: float
    prior: float
    parts: bool = False
    own_prior: float = OWN_PRIOR
    """π_μ; in groups all that is not the advice's."""
    trust: float = 0.0
    """What stands between advice and points costs, in groups."""


def recalibration_bound(p: Recalibration) -> float:
    """Σδ + Σ_s[ln(1/π_μ)/η + c_s] + n·¼·Rt(M/n), at most M.

    Rt is concave, so equal masses at all points are the worst case; 1/η = ½.

    Examples
    --------
    >>> grid = [i / 20 for i in range(21)]
    >>> spread = sum((2 - 3 * min(s, 1 - s)) ** 2 / 4 for s in grid)
    >>> round(recalibration_bound(Recalibration(10_000, 21, 10_000 / 1600, spread)), 1)
    77.8
    """
    return min(p.mass, recalibration_total(p))


def recalibration_total(p: Recalibration) -> float:
    """The same, which may exceed the trivial M."""
    own = math.log(1 / OWN_PRIOR) / 2 + regret_sum(p.mass / p.points) / 4
    return p.rounding + p.spread + p.points * own


def excess_bound(p: Excess) -> float:
    """Σδ + n·ln(1/(1 − π_μ))/η + ln((1 + M)/prior)/η, at most M.

    Rounding; at each point, the advice against the own mean; in the advice, the expert against the
    others; and the price of letting the best expert change, Π_t (1 − g/(M_t + 1)) = 1/(M + 1).

    Examples
    --------
    >>> round(excess_bound(Excess(10_000, 21, 10_000 / 1600, 0.5)), 1)
    12.3
    """
    kept = min(p.mass, p.points / 2 * math.log(1 / (1 - p.own_prior)))
    advice = math.log((1 + p.mass) / p.prior)
    if p.parts:
        advice += IN_PARTS * regret_sum(p.mass)
    return min(p.mass, p.rounding + kept + p.trust + advice / 2)


RECALIBRATION = (
    Result(
        "recalibration", "FKO25, Lemma 26; HKW98; VZ09",
        "l2 calibration error of recalibrated forecasts, for any outcomes in time",
        Recalibration, recalibration_bound,
    ),
    Result(
        "recalibration keeps the skill", "HKW98; VZ09",
        "total Brier score in excess of any expert, for any outcomes in time", Excess, excess_bound,
    ),
)  # fmt: skip
