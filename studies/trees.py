"""The worst that can happen to a binary forecaster in a few events, exactly.

All outcomes are tried, and with realised feedback all draws with their probabilities: the adversary
sees the draws of the past and knows the distribution of the next one, but not the draw. The value
of a state is the larger of the two outcomes' values, each an average over the draw; at the end it
is the calibration error. So this is the largest expected error that any adversary can reach.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from studies.duels import Rules, crossing


def largest_error(rules: Rules, events: int) -> float:
    """The value of the game, for outcomes that come at once and weigh 1.

    Examples
    --------
    >>> line = np.array([0.25, 0.75])
    >>> largest_error(Rules(line, np.array([0, 2]), np.zeros(1), hint=0), 1)  # (1 − ¼)²
    0.5625
    """
    widest = int(np.diff(rules.first).max())
    # one row for every depth of the tree: nothing has to be undone
    masses, ones = np.zeros((events + 1, widest)), np.zeros((events + 1, widest))
    return float(
        _value(
            rules.grids, rules.first, rules.starts, rules.realised, masses, ones, 0, 0, rules.hint,
        )
    )  # fmt: skip


@njit
def _lifted(grids, first, starts, masses, ones, depth, level, hint):
    """On the grid that is due at this depth, where every event has weight 1."""
    while level + 1 < starts.shape[0] and depth >= starts[level + 1]:
        points = grids[first[level] : first[level + 1]]
        finer = grids[first[level + 1] : first[level + 2]]
        places = np.searchsorted(finer, points)
        old_masses, old_ones = masses[depth].copy(), ones[depth].copy()
        masses[depth, :] = 0.0
        ones[depth, :] = 0.0
        for i in range(points.shape[0]):
            masses[depth, places[i]], ones[depth, places[i]] = old_masses[i], old_ones[i]
        level, hint = level + 1, places[hint]
    return level, hint


@njit
def _value(grids, first, starts, realised, masses, ones, depth, level, hint):
    points = grids[first[level] : first[level + 1]]
    if depth == masses.shape[0] - 1:
        error = 0.0
        for i in range(points.shape[0]):
            if masses[depth, i] > 0.0:
                gap = points[i] - ones[depth, i] / masses[depth, i]
                error += masses[depth, i] * gap * gap
        return error
    recommended = (ones[depth, : points.shape[0]] + points) / (
        masses[depth, : points.shape[0]] + 1.0
    )
    left, right, share = crossing(points, recommended, hint)
    best = 0.0
    for outcome in range(2):
        value = 0.0
        for side in range(2):
            chance = share if side == 0 else 1.0 - share
            if realised and chance == 0.0:
                continue
            masses[depth + 1] = masses[depth]
            ones[depth + 1] = ones[depth]
            if realised:
                i = left if side == 0 else right
                masses[depth + 1, i] += 1.0
                ones[depth + 1, i] += outcome
            else:
                masses[depth + 1, left] += share
                ones[depth + 1, left] += share * outcome
                masses[depth + 1, right] += 1.0 - share
                ones[depth + 1, right] += (1.0 - share) * outcome
            finer, near = _lifted(grids, first, starts, masses, ones, depth + 1, level, left)
            after = _value(
                grids, first, starts, realised, masses, ones, depth + 1, finer, near
            )  # fmt: skip
            if not realised:
                value = after
                break
            value += chance * after
        best = max(best, value)
    return best
