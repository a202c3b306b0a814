"""External, full swap and discretised swap regret of a transcript.

    FullSwapReg = Σ_s max_{x ∈ K} Σ_t x_t[s]·(ℓ_t(s) − ℓ_t(x))

splits over the support points s. For linear and quadratic losses each maximum is exact; for
losses given as functions it is certified by branch and bound, and the value reported is an
upper bound within a stated tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullswap.losses import as_points
from fullswap.metrics.minimise import minimise_lipschitz
from fullswap.metrics.tally import Tally
from fullswap.protocols import Indices, Points, Vector
from fullswap.sets import ConvexSetBase
from fullswap.transcripts import Transcript


@dataclass(frozen=True, eq=False)
class SwapRegret:
    """Swap regret with its witness: moving each point s to ``deviations[s]`` attains ``value``.

    ``value`` ≤ the true swap regret ≤ ``upper``; the two agree where minima are exact.
    """

    value: float
    upper: float
    points: Points
    weights: Vector
    deviations: Points
    per_point: Vector


def full_swap_regret(transcript: Transcript, tolerance: float = 1e-3) -> float:
    """Full swap regret, from above: exact for linear and quadratic losses.

    For losses given as functions it exceeds the true value by at most ``tolerance``·L·D·T,
    more only if a minimum in three or more dimensions exhausts the search.

    >>> from fullswap import sets, losses
    >>> from fullswap.protocols import Mixture
    >>> half = Mixture(np.array([[0.5]]), np.array([1.0]))
    >>> rain = losses.Quadratic([1.0])
    >>> full_swap_regret(Transcript.from_rounds(sets.Interval(0, 1), [(half, rain)] * 4))
    1.0
    """
    return swap_regret_report(transcript, tolerance).upper


def swap_regret_report(transcript: Transcript, tolerance: float = 1e-3) -> SwapRegret:
    """Full swap regret with the best deviation of every point."""
    tally = Tally.from_transcript(transcript)
    return report(tally, transcript.action_set, transcript.lipschitz, tolerance)


def report(
    tally: Tally, action_set: ConvexSetBase, lipschitz: float | None, tolerance: float = 1e-3
) -> SwapRegret:
    """Full swap regret of a tally."""
    incurred = tally.incurred()
    deviations, best, lower = minima(tally, action_set, lipschitz, tolerance)
    gained = np.maximum(incurred - best, 0.0)
    upper = float(np.maximum(incurred - lower, 0.0).sum())
    return SwapRegret(float(gained.sum()), upper, tally.points, tally.weights, deviations, gained)


def minima(
    tally: Tally, action_set: ConvexSetBase, lipschitz: float | None, tolerance: float = 1e-3
) -> tuple[Points, Vector, Vector]:
    """Best deviation of every point with its value, and a lower bound on the minimum."""
    deviations = np.array(tally.points)
    played = np.flatnonzero(tally.weights > 0)
    if played.size:
        deviations[played] = action_set.minimize_quadratic(
            tally.sums[played, 0], tally.sums[played, 1:-1]
        )
    if not tally.others:
        features = np.column_stack(
            (np.square(deviations).sum(axis=1), deviations, np.ones(len(deviations)))
        )
        values = np.einsum("ij,ij->i", tally.sums, features)
        return deviations, values, values
    if lipschitz is None:
        raise ValueError(
            "lipschitz must be given (Transcript.lipschitz) to certify losses given as functions"
        )
    values, lower = np.zeros(len(deviations)), np.zeros(len(deviations))
    for row in played:
        scale = lipschitz * float(tally.weights[row])
        deviations[row], values[row], lower[row] = minimise_lipschitz(
            lambda x, row=row: tally.at(row, x),  # type: ignore[misc]
            action_set,
            scale,
            tolerance * scale * action_set.diameter,
        )
    return deviations, values, lower


def discretised_swap_regret(transcript: Transcript, actions: Any = None) -> float:
    """Swap regret against maps into ``actions`` (m, A) only; exact for all losses.

    ``actions`` defaults to the transcript's own.
    """
    allowed = transcript.actions if actions is None else actions
    if allowed is None:
        raise ValueError("actions must be given: this transcript has no discretised action set")
    allowed = as_points(allowed, transcript.action_set.ambient_dim, "actions")
    tally = Tally.from_transcript(transcript)
    return float(np.maximum(tally.incurred() - tally.at_all(allowed).min(axis=1), 0.0).sum())


def external_regret(transcript: Transcript, tolerance: float = 1e-3) -> float:
    """Regret against the best fixed action: max_x Σ_t [ℓ_t(x_t) − ℓ_t(x)], from above."""
    tally = Tally.from_transcript(transcript)
    whole = tally.total()
    _, _, lower = minima(whole, transcript.action_set, transcript.lipschitz, tolerance)
    return float(tally.incurred().sum() - lower[0])


def regret_curve(
    transcript: Transcript,
    metric: Callable[[Transcript], float] = full_swap_regret,
    rounds: Any = None,
) -> tuple[Indices, Vector]:
    """The metric after growing numbers of rounds (by default about 24, evenly on a log scale)."""
    if rounds is None:
        rounds = np.unique(np.geomspace(1, len(transcript), 24).round().astype(int))
    checkpoints = np.asarray(rounds, dtype=np.int64)
    if checkpoints.ndim != 1 or (checkpoints < 1).any() or (checkpoints > len(transcript)).any():
        raise ValueError(f"rounds must lie between 1 and {len(transcript)}, got {rounds!r}")
    return checkpoints, np.array([metric(transcript.head(int(t))) for t in checkpoints])
