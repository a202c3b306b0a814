"""Evidence against forecasts, valid at every moment, and alarms with a known run length.

Premise: the chance of every outcome, given all that came before, is the forecast p. A bet that is
fixed before the outcome and pays L with E[L | past] ≤ 1 cannot win on average. With weights w ≥ 0
that sum to 1 at most, and beginnings γ ≥ 0 that do,

    M_k ← L_k·(M_k + γ_t) ,   E_t = Σ w_k·M_k + (1 − γ_1 − … − γ_t)

is a nonnegative supermartingale with E_0 = 1: P(E_t ≥ x for some t) ≤ 1/x [V39].

With γ_t = 1, D_k ← L_k·(D_k + 1), and a fresh beginning whenever S = Σ w_k·D_k reaches c, the sum
S_t + c·(alarms so far) − t is a supermartingale: an event adds 1 to S at most on average, an alarm
takes c away at least and counts one more. So n events ring n/c times at most on average, and the
mean time to the first alarm is at least c [SRR23].

Of m streams with e-values E_i at one moment, flag the k largest for the largest k with E_(k) ≥
m/(α·k). A right stream i among them has E_i ≥ m/(α·k), so the share of right ones among the flags
is at most Σ_right (1/k)·1[E_i ≥ m/(α·k)] ≤ Σ_right α·E_i/m, of mean α at most, however the streams
depend on one another [WR22].
"""

from __future__ import annotations

from dataclasses import dataclass

from fullswap.theorems.ledger import Result


@dataclass(frozen=True)
class Threshold:
    """A value that evidence may ever reach."""

    evidence: float


@dataclass(frozen=True)
class Watch:
    """So many events under an alarm that is set to this run length."""

    events: float
    run_length: float


@dataclass(frozen=True)
class Flags:
    """e-BH at this level."""

    level: float


def ever_bound(p: Threshold) -> float:
    """1/x, at most 1."""
    return min(1 / p.evidence, 1.0)


def alarms_bound(p: Watch) -> float:
    """n/c."""
    return p.events / p.run_length


def flags_bound(p: Flags) -> float:
    """The level."""
    return p.level


EVIDENCE = (
    Result(
        "evidence at every moment", "V39",
        "the chance that evidence against right forecasts ever reaches x is ≤ 1/x",
        Threshold, ever_bound,
    ),
    Result(
        "alarms of right forecasts", "SRR23",
        "right forecasts ring n/c times at most in n events, on average",
        Watch, alarms_bound,
    ),
    Result(
        "flags of right streams", "WR22",
        "the share of right streams among those flagged is at most α, on average",
        Flags, flags_bound,
    ),
)  # fmt: skip
