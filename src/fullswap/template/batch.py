"""Whole sequences of losses at once: compiled where the losses are rows of coefficients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector
from fullswap.base.records import Record
from fullswap.losses import QuadraticFamily
from fullswap.template.rules import Crossing, Stationary

if TYPE_CHECKING:
    from fullswap.template.learner import FullSwapLearner


def as_rows(losses: Any, width: int) -> Points | None:
    """Coefficient rows (T, width) if the losses are (or can be) such, else None."""
    if isinstance(losses, np.ndarray):
        rows = checks.floats("losses", losses)
    elif all(isinstance(loss, QuadraticFamily) for loss in losses):
        lengths = {len(loss.coefficients) for loss in losses}
        if lengths - {width}:
            rule = f"be on {width - 2} coordinates each"
            checks.refuse("losses", rule, sorted(length - 2 for length in lengths))
        rows = np.array([loss.coefficients for loss in losses]).reshape(-1, width)
    else:
        return None
    if rows.ndim != 2 or rows.shape[1] != width:
        checks.refuse_shape("losses", f"(T, {width})", rows)
    return rows


def run_losses(learner: FullSwapLearner, losses: Any, record: bool) -> Record | None:
    """See ``FullSwapLearner.run``."""
    if not isinstance(losses, np.ndarray):
        if not isinstance(losses, Iterable):
            checks.refuse("losses", "be rows of coefficients or a sequence", losses)
        losses = list(losses)
    rows = as_rows(losses, learner.action_set.ambient_dim + 2)
    if rows is not None:
        rule = learner._rule
        if isinstance(rule, Crossing) or (isinstance(rule, Stationary) and rule.mesh is not None):
            return _run_compiled(learner, rows, record)
        losses = [QuadraticFamily(row) for row in rows]
    indices: list[Any] = []
    weights: list[Vector] = []
    for loss in losses:
        mixture = learner.play()
        learner.observe(loss)
        if record:
            indices.append(mixture.indices)
            weights.append(mixture.weights)
    if not record:
        return None
    context = {**learner.context, "losses": losses if rows is None else rows}
    return Record.of_rows(
        learner.points, indices, weights, action_set=learner.action_set, **context
    )


def _run_compiled(learner: FullSwapLearner, rows: Points, record: bool) -> Record | None:
    """Stretch by stretch, each up to the round at which the grid changes."""
    inner = np.ascontiguousarray(rows if learner._view is None else learner._view.inward_rows(rows))
    broken = learner._first_violation(inner)
    if broken is not None:
        learner._warn(broken[1], stacklevel=5)
        learner._note(broken[1], learner.rounds + broken[0] + 1)
    labels, weights, done = [], [], 0
    while done < len(inner):
        stop = min(len(inner), done + learner._rounds_on_this_grid())
        known, rule = learner._labels, cast(Crossing | Stationary, learner._rule)
        played, where, shares, gained = rule.run(inner[done:stop], record)
        learner._absorb(*gained, played)
        labels.append(known[where])
        weights.append(shares)
        done += played
    if not record:
        return None
    width = max((part.shape[1] for part in weights), default=1)
    indices, shares = _stacked(labels, width, np.int64), _stacked(weights, width, np.float64)
    context = {**learner.context, "losses": rows, "action_set": learner.action_set}
    return Record(learner.points, indices, shares, **context)


def _stacked(parts: list[Any], width: int, kind: type) -> Any:
    """Rows of all parts, padded with 0 to one width."""
    padded = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts]
    return np.concatenate(padded) if padded else np.zeros((0, width), kind)
