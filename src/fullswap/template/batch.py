"""Whole sequences of losses at once: compiled where the losses are rows of coefficients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.base.records import Record
from fullswap.losses import QuadraticFamily
from fullswap.metrics.tally import Tally
from fullswap.template.rules import Crossing, Stationary
from fullswap.template.tree import TreeRule

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
        if isinstance(rule, TreeRule) and rule.shape is not None:
            return _run_compiled(learner, rows, record)
        losses = [QuadraticFamily(row) for row in rows]
    known = _known_points(learner)
    indices: list[Any] = []
    weights: list[Vector] = []
    for loss in losses:
        mixture = learner.play()
        if record:
            labels = mixture.indices
            indices.append(known.indices_of(mixture.points) if labels is None else labels)
            weights.append(mixture.weights)
        learner.observe(loss)
    if not record:
        return None
    context = {**learner.context, "losses": losses if rows is None else rows}
    points = learner.points if known is learner._tally else known.points
    return Record.of_rows(points, indices, weights, action_set=learner.action_set, **context)


def _known_points(learner: FullSwapLearner) -> Tally:
    """Who labels the points: the learner's tally, but where points move and it keeps none."""
    if learner._track or not learner.plan.kind.moving:
        return learner._tally
    return Tally(learner.action_set.ambient_dim)


def _run_compiled(learner: FullSwapLearner, rows: Points, record: bool) -> Record | None:
    """Stretch by stretch, each up to the round at which the grid changes."""
    inner = np.ascontiguousarray(rows if learner._view is None else learner._view.inward_rows(rows))
    broken = learner._first_violation(inner)
    if broken is not None:
        learner._warn(broken[1], stacklevel=5)
        learner._note(broken[1], learner.rounds + broken[0] + 1)
    known = _known_points(learner)
    labels, weights, done = [], [], 0
    while done < len(inner):
        stop = min(len(inner), done + learner._rounds_on_this_grid())
        if isinstance(learner._rule, TreeRule):
            played, where, shares = _tree_stretch(learner, inner[done:stop], record, known)
        else:
            played, where, shares = _grid_stretch(learner, inner[done:stop], record)
        labels.append(where)
        weights.append(shares)
        done += played
    if not record:
        return None
    width = max((part.shape[1] for part in weights), default=1)
    indices, shares = _stacked(labels, width, np.int64), _stacked(weights, width, np.float64)
    context = {**learner.context, "losses": rows, "action_set": learner.action_set}
    points = learner.points if known is learner._tally else learner._outward(known.points)
    return Record(points, indices, shares, **context)


def _grid_stretch(
    learner: FullSwapLearner, rows: Points, record: bool
) -> tuple[int, Indices, Vector]:
    """Rounds played on a grid that stays, with the labels and weights of their supports."""
    known, rule = learner._labels, cast(Crossing | Stationary, learner._rule)
    assert known is not None
    played, where, shares, gained = rule.run(rows, record)
    learner._absorb(*gained, played)
    return played, known[where], shares


def _tree_stretch(
    learner: FullSwapLearner, rows: Points, record: bool, known: Tally
) -> tuple[int, Indices, Vector]:
    """The same for points that move: they get their labels from what was played."""
    from fullswap.kernels.tree import tree_tally

    rule, tally = cast(TreeRule, learner._rule), learner._tally
    played, nodes, where, shares = rule.run(rows, record or learner._track)
    places = known.indices_of(nodes)
    if learner._track:
        sums = tally.weights, tally.sums, tally.recommended
        tree_tally(nodes, where, shares, rows[:played], places, *sums)
    learner._advance(played)
    return played, np.where(shares > 0, places[where], 0) if record else where, shares


def _stacked(parts: list[Any], width: int, kind: type) -> Any:
    """Rows of all parts, padded with 0 to one width."""
    padded = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts]
    return np.concatenate(padded) if padded else np.zeros((0, width), kind)
