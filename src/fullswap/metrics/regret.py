"""External, full swap and discretised swap regret from the record of a learner.

    FullSwapReg = Σ_s max_{x ∈ K} Σ_t x_t[s]·(ℓ_t(s) − ℓ_t(x))

splits over the support points s. For linear and quadratic losses each maximum is exact; for
losses given as functions it is certified by branch and bound, and the value reported is an
upper bound within a stated tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.base.records import Record
from fullswap.losses import as_points, is_far, rows_seen_from, seen_from
from fullswap.metrics.minimise import minimise_convex, minimise_lipschitz
from fullswap.metrics.tally import Tally, quadratic_features
from fullswap.sets import ConvexSetBase

TOLERANCE = 1e-3
"""By how much of L·D·T certified minima may be missed: far below what regret is compared with."""
CHECKPOINTS = 24
"""Points of a regret curve: enough to see a slope over a few powers of ten."""


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


def full_swap_regret(record: Record, tolerance: float = TOLERANCE) -> float:
    """Full swap regret, from above: exact for linear and quadratic losses.

    For losses given as functions it exceeds the true value by at most ``tolerance``·L·D·T,
    more only if a minimum in three or more dimensions exhausts the search.

    Examples
    --------
    >>> from fullswap import sets, losses
    >>> from fullswap.base.protocols import Mixture
    >>> half = Mixture(np.array([[0.5]]), np.array([1.0]))
    >>> rain = losses.Quadratic([1.0])
    >>> full_swap_regret(Record.of_rounds(sets.Interval(0, 1), [(half, rain)] * 4))
    1.0
    """
    return swap_regret_report(record, tolerance).upper


def swap_regret_report(record: Record, tolerance: float = TOLERANCE) -> SwapRegret:
    """Full swap regret with the best deviation of every point."""
    action_set, tally, origin = centred(record)
    regret = report(tally, action_set, record.lipschitz, tolerance)
    # as recorded, to the last digit, unless some of them are one
    same = len(tally.points) == len(record.points)
    points = record.points if same else tally.points + origin
    return replace(regret, points=points, deviations=regret.deviations + origin)


def report(
    tally: Tally, action_set: ConvexSetBase, lipschitz: float | None,
    tolerance: float = TOLERANCE, convex: bool = False,
) -> SwapRegret:  # fmt: skip
    """Full swap regret of a tally; ``convex``: all its losses are."""
    incurred = tally.incurred()
    deviations, best, lower = minima(tally, action_set, lipschitz, tolerance, convex)
    gains = np.maximum(incurred - best, 0.0)
    most = np.maximum(incurred - lower, 0.0)
    if lipschitz is not None and (lower < best).any():
        # where minima are known from below only: no swap gains more than slope times distance
        away = np.linalg.norm(tally.points - action_set.center, axis=1) + action_set.reach
        steepest = lipschitz * tally.weights * np.minimum(away, action_set.diameter)
        most = np.maximum(gains, np.minimum(most, steepest))
    upper = float(most.sum())
    return SwapRegret(float(gains.sum()), upper, tally.points, tally.weights, deviations, gains)


def minima(
    tally: Tally, action_set: ConvexSetBase, lipschitz: float | None,
    tolerance: float = TOLERANCE, convex: bool = False,
) -> tuple[Points, Vector, Vector]:  # fmt: skip
    """Best deviation of every point with its value, and a lower bound on the minimum."""
    deviations = np.array(tally.points)
    played = np.flatnonzero(tally.weights > 0)
    exact = not tally.others
    if exact and played.size:
        try:
            squares, slopes = tally.sums[played, 0], tally.sums[played, 1:-1]
            deviations[played] = action_set.minimize_quadratic(squares, slopes)
        except NotImplementedError:  # concave sums on a set given by functions
            exact = False
    if exact:
        values = np.einsum("ij,ij->i", tally.sums, quadratic_features(deviations))
        return deviations, values, values
    if lipschitz is None:
        where = "losses given as functions, or concave losses on a set given by functions"
        checks.refuse("lipschitz", f"be given (Record.lipschitz) to certify {where}", None)
    values, lower = np.zeros(len(deviations)), np.zeros(len(deviations))
    for row in played.tolist():
        scale = lipschitz * float(tally.weights[row])
        function, allowed = partial(tally.at, row), tolerance * scale * action_set.diameter
        found = minimise_lipschitz(function, action_set, scale, allowed)
        # boxes end early in many dimensions, tangents do not
        if convex and found[1] - found[2] > allowed * (1 + 1e-9) and _has_gradients(tally):
            slope = partial(tally.slope_at, row)
            other = minimise_convex(function, slope, action_set, found[0], allowed)
            found = (*min(found[:2], other[:2], key=lambda pair: pair[1]), max(found[2], other[2]))
        deviations[row], values[row], lower[row] = found
    return deviations, values, lower


def _has_gradients(tally: Tally) -> bool:
    return all(getattr(loss, "has_gradient", True) for loss, _ in tally.others.values())


def against_actions(record: Record, actions: Any = None) -> float:
    """Swap regret against maps into ``actions`` (m, A), by default those of the record."""
    allowed = record.actions if actions is None else actions
    if allowed is None:
        checks.refuse("actions", "be given, because the record of this learner has none", None)
    _, tally, origin = centred(record)
    allowed = as_points(allowed, len(origin), "actions") - origin
    return float(np.maximum(tally.incurred() - tally.at_all(allowed).min(axis=1), 0.0).sum())


def external_regret(record: Record, tolerance: float = TOLERANCE) -> float:
    """Regret against the best fixed action: max_x Σ_t [ℓ_t(x_t) − ℓ_t(x)], from above."""
    action_set, tally, _ = centred(record)
    _, _, lower = minima(tally.total(), action_set, record.lipschitz, tolerance)
    return float(tally.incurred().sum() - lower[0])


def centred(record: Record) -> tuple[ConvexSetBase, Tally, Vector]:
    """Set and tally, seen from the centre of a set far from 0, where quadratics cancel out."""
    action_set, losses = record.action_set, record.losses
    if not isinstance(action_set, ConvexSetBase) or losses is None:
        checks.refuse("record", "hold the losses of a learner on a set of fullswap.sets", record)
    if not is_far(action_set):
        return action_set, Tally.from_record(record), np.zeros(action_set.ambient_dim)
    origin = action_set.center
    if isinstance(losses, np.ndarray):
        losses = rows_seen_from(origin, losses)
    else:
        # a loss that comes again stays one object
        distinct = {id(loss): seen_from(origin, loss) for loss in losses}
        losses = tuple(distinct[id(loss)] for loss in losses)
    moved = action_set.moved(shift=-origin)
    seen = replace(record, action_set=moved, points=record.points - origin, losses=losses)
    return moved, Tally.from_record(seen), origin


def regret_curve(
    record: Record, metric: Callable[[Record], float] = full_swap_regret, rounds: Any = None
) -> tuple[Indices, Vector]:
    """The metric after growing numbers of rounds (by default about 24, evenly on a log scale)."""
    if not len(record):
        raise ValueError("record must have at least one round, got none")
    if rounds is None:
        rounds = np.unique(np.geomspace(1, len(record), CHECKPOINTS).round().astype(int))
    checkpoints = np.asarray(rounds, dtype=np.int64)
    if checkpoints.ndim != 1 or (checkpoints < 1).any() or (checkpoints > len(record)).any():
        checks.refuse("rounds", f"lie between 1 and {len(record)}", rounds)
    return checkpoints, np.array([metric(record.head(int(t))) for t in checkpoints])
