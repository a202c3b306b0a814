"""Vectors of probabilities on which all classes agree: sum 1, and one height.

Class k has a broken line f_k over [0, 1], given by its heights at the nodes of a grid. Wanted is a
vector x of the simplex such that no other one is better for these heights,

    Σ_k z_k·f_k(x_k) ≤ Σ_k x_k·f_k(x_k)  for every z of the simplex:

f_k(x_k) = λ wherever x_k > 0, and f_k(0) ≤ λ elsewhere. What is missing, max_k f_k(x_k) −
Σ_k x_k·f_k(x_k), is the *gap* of x: 0 for a solution, and never less.

*First way down.* x_k(λ) = min{x: f_k(x) ≤ λ} does not rise with λ, and neither does the sum; so a
bisection finds where it passes 1. Classes whose piece is known are put together into one line, and
only the others are asked again. Where all pieces are known the sum is a line, and x is exact.

*Walk.* Where a class jumps over a hill and the sum jumps over 1, all classes walk at one common
height: downhill until one comes to a node; it goes on to its next piece, and where the node was a
valley or a summit, the height turns and all others walk back (``fullswap.kernels.walking``). The
walk begins at the jump, and if it only goes round, once more with all classes at 0: from there it
leads to where all are at 1, so its sum passes 1. How many nodes it passes is not known to be
polynomial; it ends after a number of them, and the mixture of both sides of the jump is left, whose
gap says what it is.

Symbols: heights (K, n) · grid (n,), rising from 0 to 1 · pieces 0 (x = 0), 1 … n − 1 (between nodes
p − 1 and p), n (x = 1) · work (4, K) · bent (K, n) · places (3, K), whole numbers · tree (5, 2K).
"""

import numpy as np
from numpy.typing import NDArray

from fullswap.kernels.compiling import kernel
from fullswap.kernels.loop import cell_of
from fullswap.kernels.walking import TREES, at_level, bend, close, next_node, walk

SOLVED = 1e-10
"""Gaps up to here are rounding."""
WALK_AT_JUMP, WALK = 64, 40
"""Nodes that a walk passes at the most: from the jump, and times K·n from 0."""
LOW, HIGH, NEW, MIXED = range(4)
"""Rows of work: x on both sides of the bracket, and new · their mixture, should a walk fail."""
PIECE_LOW, PIECE_HIGH, OPEN = range(3)
"""Rows of places: pieces on both sides of the bracket · classes whose piece is not known."""
NARROW, HOPEFUL = 0.01, 1e-9
"""A bracket shrinks by so much of itself at least · rounding of the height at which a class jumps,
of a typical height of 1."""


def solver_room(classes: int, nodes: int) -> tuple[NDArray, ...]:
    """What the solver writes to: (work, bent, places, tree)."""
    work, places = np.zeros((4, classes)), np.zeros((3, classes), np.int64)
    return work, np.zeros((classes, nodes)), places, np.zeros((TREES, 2 * classes))


@kernel(error_model="numpy")
def heightat_level(heights, grid, k, x):
    """f_k(x)."""
    low = cell_of(grid, x)
    share = (x - grid[low]) / (grid[low + 1] - grid[low])
    return (1.0 - share) * heights[k, low] + share * heights[k, low + 1]


@kernel(error_model="numpy")
def gap_of(heights, grid, x):
    """max_k f_k(x_k) − Σ_k x_k·f_k(x_k)."""
    top, mean = -np.inf, 0.0
    for k in range(x.shape[0]):
        height = heightat_level(heights, grid, k, x[k])
        top = max(top, height)
        mean += x[k] * height
    return max(top - mean, 0.0)


@kernel(error_model="numpy")
def _first_way_down(heights, grid, work, places):
    """Bracket of the height at which the sum passes 1: (low, high, classes still open).

    Both sides are in work and places; where no class is open, the sum is a line between them.
    """
    classes, nodes = heights.shape
    low, high = np.inf, -np.inf
    for k in range(classes):
        high = max(high, heights[k, 0])
        for i in range(nodes):
            low = min(low, heights[k, i])
        work[LOW, k], work[HIGH, k] = 1.0, 0.0
        places[PIECE_LOW, k], places[PIECE_HIGH, k], places[OPEN, k] = nodes, 0, k
    low -= 1.0
    sum_low, sum_high = float(classes), 0.0
    # settled classes: what they are on both sides
    settled_low, settled_high = 0.0, 0.0
    opened, turn = classes, 0
    while opened > 0:
        # by turns where a line would pass 1, and in the middle
        share = 0.5
        if turn % 3 < 2 and sum_low > sum_high:
            share = min(max((sum_low - 1.0) / (sum_low - sum_high), NARROW), 1.0 - NARROW)
        level = low + share * (high - low)
        if turn == 0 and low < 0.0 < high:
            level = 0.0
        turn += 1
        if not low < level < high:
            level = 0.5 * (low + high)
            if not low < level < high:
                break
        inside = (level - low) / (high - low)
        settled = settled_low + inside * (settled_high - settled_low)
        total = settled
        for c in range(opened):
            k = places[OPEN, c]
            piece = places[PIECE_HIGH, k]
            while piece < nodes and heights[k, piece] > level:
                piece += 1
            places[OPEN, c] = k + classes * piece
            work[NEW, k] = at_level(heights, grid, k, piece, level)
            total += work[NEW, k]
        below = total >= 1.0
        if below:
            low, sum_low, settled_low = level, total, settled
        else:
            high, sum_high, settled_high = level, total, settled
        kept = 0
        for c in range(opened):
            piece, k = divmod(places[OPEN, c], classes)
            if below:
                places[PIECE_LOW, k], work[LOW, k] = piece, work[NEW, k]
            else:
                places[PIECE_HIGH, k], work[HIGH, k] = piece, work[NEW, k]
            if places[PIECE_LOW, k] == places[PIECE_HIGH, k]:
                settled_low += work[LOW, k]
                settled_high += work[HIGH, k]
            else:
                places[OPEN, kept] = k
                kept += 1
        opened = kept
    # classes that settled early have not followed the bracket
    for k in range(classes):
        if places[PIECE_LOW, k] == places[PIECE_HIGH, k]:
            work[LOW, k] = at_level(heights, grid, k, places[PIECE_LOW, k], low)
            work[HIGH, k] = at_level(heights, grid, k, places[PIECE_HIGH, k], high)
    return low, high, opened


@kernel(error_model="numpy")
def _mix_sides(work, x):
    """The mixture of both sides of the bracket that sums to 1."""
    low, high = 0.0, 0.0
    for k in range(x.shape[0]):
        low += work[LOW, k]
        high += work[HIGH, k]
    share = (1.0 - high) / (low - high) if low > high else 0.5
    share = min(max(share, 0.0), 1.0)
    for k in range(x.shape[0]):
        x[k] = share * work[LOW, k] + (1.0 - share) * work[HIGH, k]
    close(x)


@kernel(error_model="numpy")
def solve_coherent(heights, grid, x, work, bent, places, tree):
    """Write a vector of sum 1 with a common height to x (K,); its gap."""
    low, high, opened = _first_way_down(heights, grid, work, places)
    _mix_sides(work, x)
    gap = gap_of(heights, grid, x)
    if opened == 0 or gap <= SOLVED:
        return gap
    for k in range(x.shape[0]):
        work[MIXED, k] = x[k]
    bend(heights, bent)
    solved = _from_jump(bent, grid, places, tree, high, x)
    if not solved:
        solved = _from_zero(bent, grid, places, tree, x)
    if solved:
        walked = gap_of(heights, grid, x)
        if walked <= gap:
            return walked
    for k in range(x.shape[0]):
        x[k] = work[MIXED, k]
    return gap


@kernel
def _from_jump(bent, grid, places, tree, high, x):
    """Walk from the upper side of the jump, of which bent heights have their own."""
    classes = bent.shape[0]
    pieces = places[PIECE_HIGH]
    # the class that jumps is the one that comes to its node first when the height falls
    turning, level = -1, -np.inf
    for k in range(classes):
        height = next_node(bent, k, pieces[k], True)
        if height > level:
            turning, level = k, height
    if turning < 0 or level > high + HOPEFUL * (1.0 + abs(high)):
        return False
    return walk(bent, grid, tree, pieces, level, turning, WALK_AT_JUMP + classes, x)


@kernel
def _from_zero(bent, grid, places, tree, x):
    """Walk with all classes from 0."""
    classes, nodes = bent.shape
    pieces = places[PIECE_LOW]
    level = -np.inf
    for k in range(classes):
        pieces[k] = 0
        level = max(level, bent[k, 0])
    return walk(bent, grid, tree, pieces, level, -1, WALK * classes * nodes, x)
