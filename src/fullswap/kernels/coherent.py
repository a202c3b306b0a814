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
valley or a summit, the height turns and all others walk back. The walk begins at the jump, and if
it only goes round, once more with all classes at 0: from there it leads to where all are at 1, so
its sum passes 1. Heights are bent a little first, by fixed amounts, so that no two nodes are at the
same height. How many nodes it passes is not known to be polynomial; it ends after a number of them,
and the mixture of both sides of the jump is left, whose gap says what it is.

Symbols: heights (K, n) · grid (n,), rising from 0 to 1 · pieces 0 (x = 0), 1 … n − 1 (between nodes
p − 1 and p), n (x = 1) · work (4, K) · bent (K, n) · places (3, K), whole numbers.
"""

import numpy as np

from fullswap.kernels.compiling import kernel
from fullswap.kernels.loop import cell_of

BEND = 1e-13
"""By how much heights are bent, of a typical height of 1."""
GOLDEN = 0.6180339887498949
"""Its multiples, less their whole parts, are all different and evenly spread."""
SOLVED = 1e-10
"""Gaps up to here are rounding."""
WALK_AT_JUMP, WALK = 64, 40
"""Nodes that a walk passes at the most: from the jump, and times K·n from 0."""
LOW, HIGH, FOUND, NEXT = range(4)
"""Rows of work: x on both sides of the bracket, and new · heights of the nodes that come next."""
PIECE_LOW, PIECE_HIGH, OPEN = range(3)
"""Rows of places: pieces on both sides of the bracket · classes whose piece is not known."""


@kernel(forceinline=True)
def _at(heights, grid, k, piece, level):
    """Where class k is on its piece, at this height."""
    if piece == 0:
        return 0.0
    if piece == grid.shape[0]:
        return 1.0
    left, right = heights[k, piece - 1], heights[k, piece]
    share = (left - level) / (left - right)
    return grid[piece - 1] + min(max(share, 0.0), 1.0) * (grid[piece] - grid[piece - 1])


@kernel(error_model="numpy")
def height_at(heights, grid, k, x):
    """f_k(x)."""
    low = cell_of(grid, x)
    share = (x - grid[low]) / (grid[low + 1] - grid[low])
    return (1.0 - share) * heights[k, low] + share * heights[k, low + 1]


@kernel(error_model="numpy")
def gap_of(heights, grid, x):
    """max_k f_k(x_k) − Σ_k x_k·f_k(x_k)."""
    top, mean = -np.inf, 0.0
    for k in range(x.shape[0]):
        height = height_at(heights, grid, k, x[k])
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
            share = min(max((sum_low - 1.0) / (sum_low - sum_high), 0.01), 0.99)
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
            work[FOUND, k] = _at(heights, grid, k, piece, level)
            total += work[FOUND, k]
        below = total >= 1.0
        if below:
            low, sum_low, settled_low = level, total, settled
        else:
            high, sum_high, settled_high = level, total, settled
        kept = 0
        for c in range(opened):
            piece, k = divmod(places[OPEN, c], classes)
            if below:
                places[PIECE_LOW, k], work[LOW, k] = piece, work[FOUND, k]
            else:
                places[PIECE_HIGH, k], work[HIGH, k] = piece, work[FOUND, k]
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
            work[LOW, k] = _at(heights, grid, k, places[PIECE_LOW, k], low)
            work[HIGH, k] = _at(heights, grid, k, places[PIECE_HIGH, k], high)
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
    _close(x)


@kernel
def _close(x):
    """Make the sum 1 to the last bits; what is missing is rounding."""
    for _ in range(2):
        total = 0.0
        for k in range(x.shape[0]):
            total += x[k]
        for k in range(x.shape[0]):
            x[k] /= total


@kernel(forceinline=True)
def _next_node(bent, k, piece, down):
    """Height at which class k leaves its piece, when the common height falls or rises."""
    nodes = bent.shape[1]
    if piece == 0:
        return bent[k, 0] if down else np.inf
    if piece == nodes:
        return -np.inf if down else bent[k, nodes - 1]
    left, right = bent[k, piece - 1], bent[k, piece]
    return min(left, right) if down else max(left, right)


@kernel(error_model="numpy")
def _walk(bent, grid, work, pieces, level, turning, most, x):
    """Walk at a common height until the sum is 1, from these pieces: whether it came to that.

    ``turning``: the class that is at a node, about to go on; −1 if the height is to fall.
    """
    classes, nodes = bent.shape
    down = True
    total = 0.0
    for k in range(classes):
        total += _at(bent, grid, k, pieces[k], level)
    start = total - 1.0
    for _ in range(most):
        if turning >= 0:
            down = _go_on(bent, pieces, turning, level)
        best, reached = -1, -np.inf if down else np.inf
        for k in range(classes):
            height = _next_node(bent, k, pieces[k], down)
            if (height > reached) if down else (height < reached):
                best, reached = k, height
        if best < 0:
            return False
        after = 0.0
        for k in range(classes):
            after += _at(bent, grid, k, pieces[k], reached)
        if (after - 1.0) * start <= 0.0 and after != total:
            share = min(max((1.0 - total) / (after - total), 0.0), 1.0)
            for k in range(classes):
                before = _at(bent, grid, k, pieces[k], level)
                behind = _at(bent, grid, k, pieces[k], reached)
                x[k] = before + share * (behind - before)
            _close(x)
            return True
        level, total, turning = reached, after, best
    return False


@kernel
def _go_on(bent, pieces, k, level):
    """Move class k, which is at a node at this height, to the piece beyond: whether that falls."""
    nodes, piece = bent.shape[1], pieces[k]
    if piece == 0:
        node = 0
    elif piece == nodes:
        node = nodes - 1
    else:
        node = piece if bent[k, piece] == level else piece - 1
    # a node i lies between the pieces i and i + 1
    piece = node + 1 if piece == node else node
    pieces[k] = piece
    if piece == 0:
        return False
    if piece == nodes:
        return True
    other = piece if node == piece - 1 else piece - 1
    return bent[k, other] < bent[k, node]


@kernel(error_model="numpy")
def _bend(heights, bent):
    """Copy heights so that no two nodes are at the same one."""
    classes, nodes = heights.shape
    for k in range(classes):
        for i in range(nodes):
            turn = GOLDEN * (k * nodes + i + 1)
            own = BEND * (turn - np.floor(turn) - 0.5)
            bent[k, i] = heights[k, i] + own * (1.0 + abs(heights[k, i]))


@kernel(error_model="numpy")
def solve_coherent(heights, grid, x, work, bent, places):
    """Write a vector of sum 1 with a common height to x (K,); its gap."""
    low, high, opened = _first_way_down(heights, grid, work, places)
    _mix_sides(work, x)
    gap = gap_of(heights, grid, x)
    if opened == 0 or gap <= SOLVED:
        return gap
    for k in range(x.shape[0]):
        work[NEXT, k] = x[k]
    _bend(heights, bent)
    solved = _from_jump(bent, grid, work, places, high, x)
    if not solved:
        solved = _from_zero(bent, grid, work, places, x)
    if solved:
        walked = gap_of(heights, grid, x)
        if walked <= gap:
            return walked
    for k in range(x.shape[0]):
        x[k] = work[NEXT, k]
    return gap


@kernel
def _from_jump(bent, grid, work, places, high, x):
    """Walk from the upper side of the jump, of which bent heights have their own."""
    classes, nodes = bent.shape
    pieces = places[PIECE_HIGH]
    # the class that jumps is the one that comes to its node first when the height falls
    turning, level = -1, -np.inf
    for k in range(classes):
        height = _next_node(bent, k, pieces[k], True)
        if height > level:
            turning, level = k, height
    if turning < 0 or level > high + 1e-9 * (1.0 + abs(high)):
        return False
    return _walk(bent, grid, work, pieces, level, turning, WALK_AT_JUMP + classes, x)


@kernel
def _from_zero(bent, grid, work, places, x):
    """Walk with all classes from 0."""
    classes, nodes = bent.shape
    pieces = places[PIECE_LOW]
    level = -np.inf
    for k in range(classes):
        pieces[k] = 0
        level = max(level, bent[k, 0])
    return _walk(bent, grid, work, pieces, level, -1, WALK * classes * nodes, x)
