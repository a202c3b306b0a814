"""Sets, scales and slow references for tests of sub-learners."""

import math

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fullswap.losses import Custom
from fullswap.sets import Ball, Box, Interval, Simplex

SETS = [
    Interval(-3.0, 1.5),
    Box([1.0, -2.0], [1.5, 3.0]),
    Ball([2.0, -1.0], 0.7),
    Simplex(2, 2.0, [1.0, 0.0, -3.0]),
    Box([0.0, 5.0, -1.0], [0.1, 7.0, 4.0]),
    Ball([0.0, 10.0, 3.0], 4.0),
    Simplex(3),
]
SPECIAL_SCALES = [0.0, 1.0, 1e-9, 1e-300, 5e-324]

scale = st.one_of(st.sampled_from(SPECIAL_SCALES), st.floats(0.0, 1.0))
seeds = st.integers(0, 2**32 - 1)


def scales_of(rounds, n):
    return arrays(float, (rounds, n), elements=scale)


# Slow references: plain loops over numbers --------------------------------------------------------


def table_loss(values):
    """A loss that is known at the experts 0, 1, …, k − 1 only."""
    return Custom(lambda points: np.array([values[int(x)] for x in points[:, 0]]))


def expert_regrets(learner, n, tables, scales, answer=None):
    """Scaled external regret of each of n learners over experts; ``answer`` may change tables."""
    state = learner.init(n)
    lost = [0.0] * n
    cumulative = [[0.0] * tables.shape[1] for _ in range(n)]
    for values, g in zip(tables, scales, strict=True):
        rows = learner.propose(state).copy()
        assert rows.min() >= 0 and np.abs(rows.sum(axis=1) - 1).max() <= 1e-12
        if answer is not None:
            values = answer(rows, values)
        for s in range(n):
            lost[s] += g[s] * sum(rows[s, j] * values[j] for j in range(len(values)))
            for j in range(len(values)):
                cumulative[s][j] += g[s] * values[j]
        state = learner.update(state, table_loss(values), g)
    return [lost[s] - min(cumulative[s]) for s in range(n)]


def against_the_heaviest(rows, values):
    """The expert that the learners like most loses most."""
    answer = np.zeros_like(values)
    answer[int(rows.sum(axis=0).argmax())] = values.max()
    return answer


def nearest(action_set, x):
    """Projection by closed forms, and by bisection for the simplex."""
    if isinstance(action_set, Ball):
        offset = [a - b for a, b in zip(x, action_set.center, strict=True)]
        length = math.sqrt(sum(a * a for a in offset))
        share = 1.0 if length <= action_set.radius else action_set.radius / length
        return [c + share * a for c, a in zip(action_set.center, offset, strict=True)]
    if isinstance(action_set, Simplex):
        shift = np.broadcast_to(action_set.shift, (len(x),))
        y = [a - b for a, b in zip(x, shift, strict=True)]
        low, high = min(y) - action_set.scale, max(y)
        for _ in range(200):
            level = (low + high) / 2
            if sum(max(a - level, 0.0) for a in y) > action_set.scale:
                low = level
            else:
                high = level
        return [max(a - high, 0.0) + b for a, b in zip(y, shift, strict=True)]
    low, high = np.atleast_1d(action_set.low), np.atleast_1d(action_set.high)
    return [min(max(a, b), c) for a, b, c in zip(x, low, high, strict=True)]


def least_value(action_set, row):
    """Minimum of a·‖x‖² + ⟨b, x⟩ + c over the set, a ≥ 0."""
    a, b, c = row[0], row[1:-1], row[-1]
    if a > 0:
        x = nearest(action_set, [-slope / (2 * a) for slope in b])
    elif isinstance(action_set, Ball):
        length = math.sqrt(sum(slope * slope for slope in b)) or 1.0
        x = [o - action_set.radius * s / length for o, s in zip(action_set.center, b, strict=True)]
    else:
        x = min(action_set.vertices.tolist(), key=lambda v: sum(map(lambda s, t: s * t, b, v)))
    return a * sum(t * t for t in x) + sum(s * t for s, t in zip(b, x, strict=True)) + c


def gradient_regrets(learner, n, losses, scales):
    """Scaled external regret of each of n learners; ``losses`` map proposals to losses."""
    state = learner.init(n)
    width = learner.action_set.ambient_dim
    lost, sums = [0.0] * n, np.zeros((n, width + 2))
    for answer, g in zip(losses, scales, strict=True):
        proposals = learner.propose(state).copy()
        assert learner.action_set.contains(proposals, 1e-9).all()
        loss = answer(proposals)
        row = loss.coefficients
        for s in range(n):
            square = sum(x * x for x in proposals[s])
            inner = sum(b * x for b, x in zip(row[1:-1], proposals[s], strict=True))
            lost[s] += g[s] * (row[0] * square + inner + row[-1])
            sums[s] += g[s] * row
        state = learner.update(state, loss, g)
    return [lost[s] - least_value(learner.action_set, sums[s]) for s in range(n)]
