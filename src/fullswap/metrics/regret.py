"""External, full swap and discretised swap regret of a transcript.

    FullSwapReg = Σ_s max_{x ∈ K} Σ_t x_t[s]·(ℓ_t(s) − ℓ_t(x))

splits over the support points s. For linear and quadratic losses each maximum is exact; for
losses given as functions it is certified by branch and bound, and the value reported is an
upper bound within a stated tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.losses import as_points, is_far, rows_seen_from, seen_from
from fullswap.metrics.minimise import minimise_lipschitz
from fullswap.metrics.tally import Tally
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

    Examples
    --------
    >>> from fullswap import sets, losses
    >>> from fullswap.base.protocols import Mixture
    >>> half = Mixture(np.array([[0.5]]), np.array([1.0]))
    >>> rain = losses.Quadratic([1.0])
    >>> full_swap_regret(Transcript.from_rounds(sets.Interval(0, 1), [(half, rain)] * 4))
    1.0
    """
    return swap_regret_report(transcript, tolerance).upper


def swap_regret_report(transcript: Transcript, tolerance: float = 1e-3) -> SwapRegret:
    """Full swap regret with the best deviation of every point."""
    seen, origin = _centred(transcript)
    found = report(Tally.from_transcript(seen), seen.action_set, seen.lipschitz, tolerance)
    return replace(found, points=transcript.points, deviations=found.deviations + origin)


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
    exact = not tally.others
    if exact and played.size:
        try:
            deviations[played] = action_set.minimize_quadratic(
                tally.sums[played, 0], tally.sums[played, 1:-1]
            )
        except NotImplementedError:  # concave sums on a set given by functions
            exact = False
    if exact:
        features = np.column_stack(
            (np.square(deviations).sum(axis=1), deviations, np.ones(len(deviations)))
        )
        values = np.einsum("ij,ij->i", tally.sums, features)
        return deviations, values, values
    if lipschitz is None:
        raise ValueError(
            "lipschitz must be given (Transcript.lipschitz) to certify losses given as functions, "
            "or concave losses on a set given by functions"
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
    seen, origin = _centred(transcript)
    tally, allowed = Tally.from_transcript(seen), allowed - origin
    return float(np.maximum(tally.incurred() - tally.at_all(allowed).min(axis=1), 0.0).sum())


def external_regret(transcript: Transcript, tolerance: float = 1e-3) -> float:
    """Regret against the best fixed action: max_x Σ_t [ℓ_t(x_t) − ℓ_t(x)], from above."""
    seen, _ = _centred(transcript)
    tally = Tally.from_transcript(seen)
    _, _, lower = minima(tally.total(), seen.action_set, seen.lipschitz, tolerance)
    return float(tally.incurred().sum() - lower[0])


def _centred(transcript: Transcript) -> tuple[Transcript, Vector]:
    """The transcript seen from the centre of a set far from 0, where quadratics cancel out."""
    action_set = transcript.action_set
    if not is_far(action_set):
        return transcript, np.zeros(action_set.ambient_dim)
    origin, rows, losses = action_set.center, transcript.coefficients, transcript.losses
    if rows is not None:
        rows = rows_seen_from(origin, rows)
    if losses is not None:
        # a loss that comes again stays one object
        distinct = {id(loss): seen_from(origin, loss) for loss in losses}
        losses = tuple(distinct[id(loss)] for loss in losses)
    moved = action_set.moved(shift=-origin)
    points = transcript.points - origin
    seen = replace(transcript, action_set=moved, points=points, coefficients=rows, losses=losses)
    return seen, origin


def regret_curve(
    transcript: Transcript,
    metric: Callable[[Transcript], float] = full_swap_regret,
    rounds: Any = None,
) -> tuple[Indices, Vector]:
    """The metric after growing numbers of rounds (by default about 24, evenly on a log scale)."""
    if not len(transcript):
        raise ValueError("transcript must have at least one round, got none")
    if rounds is None:
        rounds = np.unique(np.geomspace(1, len(transcript), 24).round().astype(int))
    checkpoints = np.asarray(rounds, dtype=np.int64)
    if checkpoints.ndim != 1 or (checkpoints < 1).any() or (checkpoints > len(transcript)).any():
        raise ValueError(f"rounds must lie between 1 and {len(transcript)}, got {rounds!r}")
    return checkpoints, np.array([metric(transcript.head(int(t))) for t in checkpoints])
