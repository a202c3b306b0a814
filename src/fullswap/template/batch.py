"""Whole sequences of losses at once: compiled where the losses are rows of coefficients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.losses import QuadraticFamily
from fullswap.protocols import Points
from fullswap.template.rules import Crossing
from fullswap.transcripts import Transcript

if TYPE_CHECKING:
    from fullswap.template.learner import FullSwapLearner


def as_rows(losses: Any, width: int) -> Points | None:
    """Coefficient rows (T, width) if the losses are (or can be) such, else None."""
    if isinstance(losses, np.ndarray):
        rows = np.asarray(losses, dtype=float)
    elif all(isinstance(loss, QuadraticFamily) for loss in losses):
        lengths = {len(loss.coefficients) for loss in losses}
        if lengths - {width}:
            raise ValueError(f"losses must be on {width - 2} coordinates each")
        rows = np.array([loss.coefficients for loss in losses]).reshape(-1, width)
    else:
        return None
    if rows.ndim != 2 or rows.shape[1] != width:
        raise ValueError(f"losses must have shape (T, {width}), got {rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError("losses must be finite, got NaN or infinity")
    return rows


def run_losses(learner: FullSwapLearner, losses: Any, record: bool) -> Transcript | None:
    """See :meth:`FullSwapLearner.run`."""
    if not isinstance(losses, np.ndarray):
        if not isinstance(losses, Iterable):
            raise ValueError(f"losses must be rows of coefficients or a sequence, got {losses!r}")
        losses = list(losses)
    rows = as_rows(losses, learner.action_set.ambient_dim + 2)
    if rows is not None and isinstance(learner._rule, Crossing):
        return _run_line(learner, rows, record)
    if rows is not None:
        losses = [QuadraticFamily(row) for row in rows]
    labels, weights = [], []
    for loss in losses:
        mixture = learner.play()
        learner.observe(loss)
        if record:
            labels.append(mixture.labels)
            weights.append(mixture.weights)
    if not record:
        return None
    return Transcript.from_rows(
        learner.action_set, learner.points, labels, weights, list(losses), **learner.context
    )


def _run_line(learner: FullSwapLearner, rows: Points, record: bool) -> Transcript | None:
    from fullswap.kernels.loop import line_run

    view = learner._view
    assert view is not None
    inner = np.ascontiguousarray(view.inward_rows(rows))
    broken = learner._first_violation(inner)
    if broken is not None:
        learner._warn(broken[1], stacklevel=5)
        learner._note(broken[1], learner.rounds + broken[0] + 1)
    count = len(inner) if record else 0
    left, share = np.zeros(count, np.int64), np.zeros(count)
    labels = np.zeros((count, 2), np.int64)
    done = 0
    while done < len(inner):
        # up to the round at which the grid changes
        stop = min(len(inner), done + learner._rounds_on_this_grid())
        rule = learner._rule
        assert isinstance(rule, Crossing)
        before = rule.state.copy()
        part = slice(done, stop) if record else slice(0, 0)
        rule.hint = line_run(
            rule.state, rule.rate, rule.low, rule.high, rule.linearised, inner[done:stop],
            rule.hint, left[part], share[part],
        )  # fmt: skip
        if record:
            last = len(rule.points) - 1
            labels[part, 0] = learner._labels[left[part]]
            labels[part, 1] = learner._labels[np.minimum(left[part] + 1, last)]
        learner._absorb(before, rule.state, stop - done)
        done = stop
    if not record:
        return None
    weights = np.column_stack((share, 1 - share))
    return Transcript(
        learner.action_set, learner.points, labels, weights, coefficients=rows, **learner.context
    )
