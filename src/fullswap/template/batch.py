"""Whole sequences of losses at once: compiled where the losses are rows of coefficients."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.base.records import Record
from fullswap.kernels.states import CURVATURE, RECOMMENDED, WEIGHT
from fullswap.losses import QuadraticFamily
from fullswap.template.rules import Crossing, Stationary

if TYPE_CHECKING:
    from fullswap.template.learner import FullSwapLearner

Played = tuple[int, Indices, Vector]
"""Rounds played, and the support of each of them: indices and weights (rounds, width)."""
Stretch = Callable[["FullSwapLearner", Points, bool], Played]


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
        if isinstance(rule, Crossing):
            return _run_compiled(learner, rows, record, _line_stretch)
        if isinstance(rule, Stationary) and rule.mesh is not None:
            return _run_compiled(learner, rows, record, _mesh_stretch)
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


def _run_compiled(
    learner: FullSwapLearner, rows: Points, record: bool, stretch: Stretch
) -> Record | None:
    """Stretch by stretch, each up to the round at which the grid changes."""
    inner = np.ascontiguousarray(rows if learner._view is None else learner._view.inward_rows(rows))
    broken = learner._first_violation(inner)
    if broken is not None:
        learner._warn(broken[1], stacklevel=5)
        learner._note(broken[1], learner.rounds + broken[0] + 1)
    labels, weights = [], []
    done = 0
    while done < len(inner):
        stop = min(len(inner), done + learner._rounds_on_this_grid())
        known = learner._labels
        played, where, shares = stretch(learner, inner[done:stop], record)
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


def _line_stretch(learner: FullSwapLearner, rows: Points, record: bool) -> Played:
    from fullswap.kernels.loop import line_run

    rule = learner._rule
    assert isinstance(rule, Crossing)
    before = rule.state.copy()
    count = len(rows) if record else 0
    left, share = np.zeros(count, np.int64), np.zeros(count)
    rule.hint = line_run(
        rule.state, rule.rate, rule.low, rule.high, rule.linearised, rows, rule.hint, left, share
    )
    gained = rule.state - before
    learner._absorb(gained[WEIGHT], gained[RECOMMENDED], gained[CURVATURE:].T, len(rows))
    right = np.minimum(left + 1, len(rule.points) - 1)
    return len(rows), np.column_stack((left, right)), np.column_stack((share, 1 - share))


def _mesh_stretch(learner: FullSwapLearner, rows: Points, record: bool) -> Played:
    rule = learner._rule
    assert isinstance(rule, Stationary) and rule.mesh is not None
    # looking at the coming round makes room for its class; later ones may need more
    width = 4 * len(rule.mix()[0])
    shape = (len(rows), width) if record else (0, 0)
    where, shares = np.zeros(shape, np.int64), np.zeros(shape)
    played, gained, recommended = rule.mesh.run(rule, rows, where, shares)
    learner._absorb(gained[:, 0], recommended, gained[:, 1:], played)
    return played, where[:played], shares[:played]
