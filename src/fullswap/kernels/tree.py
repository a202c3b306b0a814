"""Rounds of the tree for losses a·‖x‖² + ⟨b, x⟩ + c.

Symbols: state = (points (N, A) of the N nodes in play, slopes (N, A) their sums of gradients,
places (2, N): rounds played in the node, and which child of its parent it is) · plan = (sizes (N,),
rates (N,), shrinking, start (A,)), see ``fullswap.theorems.tree`` · shape: the set, see
``fullswap.kernels.shapes`` · loss (A + 2,) = [a, b_1, …, b_A, c].
"""

import numpy as np

from fullswap.kernels.compiling import kernel
from fullswap.kernels.shapes import project


@kernel
def tree_learn(state, plan, shape, loss):
    """One round; return the highest level whose node is new (levels count from 0)."""
    points, slopes, places = state
    sizes, rates, shrinking, start = plan
    levels, width = points.shape
    fresh = levels
    for k in range(levels - 1, -1, -1):
        for j in range(width):
            slopes[k, j] += 2.0 * loss[0] * points[k, j] + loss[j + 1]
        places[0, k] += 1
        if places[0, k] == sizes[k]:
            fresh = k
    # the last level ends every round; nodes below one that ends do so too
    step = rates[fresh] / sizes[fresh]
    if shrinking:
        step /= places[1, fresh] + 1
    for j in range(width):
        points[fresh, j] -= step * slopes[fresh, j]
    project(shape, points[fresh])
    places[1, fresh] += 1
    for k in range(fresh, levels):
        places[0, k] = 0
        if k > fresh:
            places[1, k] = 0
        for j in range(width):
            slopes[k, j] = 0.0
            if k > fresh:
                points[k, j] = start[j]
    return fresh


@kernel
def _same(x, y):
    for j in range(x.shape[0]):
        if x[j] != y[j]:
            return False
    return True


@kernel
def tree_run(state, plan, shape, losses, nodes, labels, weights):
    """Play the rounds of `losses` (T, A + 2); return how many nodes there were.

    `nodes` (m, A) receives their points in the order in which they came into play, `labels` and
    `weights` (T, N) which of them each round mixes, equal points counted once (weight 0 beyond
    them). Empty arrays record nothing.
    """
    points = state[0]
    levels, width = points.shape
    rows = np.arange(levels)
    kept = labels.shape[0] > 0
    count = 0
    if kept:
        for k in range(levels):
            for j in range(width):
                nodes[k, j] = points[k, j]
        count = levels
    for t in range(losses.shape[0]):
        if kept:
            size = 0
            for k in range(levels):
                place = 0
                while place < size and not _same(nodes[labels[t, place]], points[k]):
                    place += 1
                if place == size:
                    labels[t, size] = rows[k]
                    size += 1
                weights[t, place] += 1.0
            for place in range(size):
                weights[t, place] /= levels
        fresh = tree_learn(state, plan, shape, losses[t])
        if kept and t + 1 < losses.shape[0]:
            for k in range(fresh, levels):
                rows[k] = count
                for j in range(width):
                    nodes[count, j] = points[k, j]
                count += 1
    return count


@kernel
def tree_tally(nodes, labels, weights, losses, rows, weights_sum, sums, recommended):
    """Add the rounds to a tally, in which node i has the row rows[i]."""
    width = nodes.shape[1]
    for t in range(losses.shape[0]):
        for place in range(labels.shape[1]):
            g = weights[t, place]
            if g > 0.0:
                node, s = nodes[labels[t, place]], rows[labels[t, place]]
                square, inner = 0.0, 0.0
                for j in range(width):
                    square += node[j] * node[j]
                    inner += node[j] * losses[t, j + 1]
                weights_sum[s] += g
                for j in range(width + 2):
                    sums[s, j] += g * losses[t, j]
                value = losses[t, 0] * square + inner + losses[t, width + 1]
                recommended[s] += g * value
