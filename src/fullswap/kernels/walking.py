"""Classes that walk at one common height along their broken lines, until their sum is 1.

A walk may pass many nodes, so a node must not cost a look at every class. Of each class a tree of
maxima, minima and sums knows at which heights it leaves its piece, and x = at + slope·height on it;
only the class that goes on is written anew, with the nodes of the tree above it. Sums of the tree
tell on which side of 1 the classes are, up to a rounding that it knows as well; where that leaves
a doubt, or the sum passes 1, all classes are asked for what they are.

Symbols: bent (K, n): heights at the nodes of the grid (n,), no two alike · pieces (K,): 0 (x = 0),
1 … n − 1 (between nodes p − 1 and p), n (x = 1) · tree (5, 2K): class k at K + k, the whole at 1.
"""

import numpy as np

from fullswap.kernels.compiling import kernel

BEND = 1e-13
"""By how much heights are bent, of a typical height of 1."""
GOLDEN = 0.6180339887498949
"""Its multiples, less their whole parts, are all different and evenly spread."""
LOWS, HIGHS, AT, SLOPE, SIZE = range(5)
"""Rows of the tree: heights at which classes leave their pieces, down and up · at, slope · |at| +
|slope·height|, of which rounding is a share."""
TREES = 5
DOUBT = 1e-14
"""More than the roundings of a sum of a thousand classes along a tree, as a share."""


@kernel(error_model="numpy")
def bend(heights, bent):
    """Copy heights so that no two nodes are at the same one."""
    classes, nodes = heights.shape
    for k in range(classes):
        for i in range(nodes):
            turn = GOLDEN * (k * nodes + i + 1)
            own = BEND * (turn - np.floor(turn) - 0.5)
            bent[k, i] = heights[k, i] + own * (1.0 + abs(heights[k, i]))


@kernel(forceinline=True)
def at_level(heights, grid, k, piece, level):
    """Where class k is on its piece, at this height."""
    if piece == 0:
        return 0.0
    if piece == grid.shape[0]:
        return 1.0
    left, right = heights[k, piece - 1], heights[k, piece]
    share = (left - level) / (left - right)
    return grid[piece - 1] + min(max(share, 0.0), 1.0) * (grid[piece] - grid[piece - 1])


@kernel(forceinline=True)
def next_node(bent, k, piece, down):
    """Height at which class k leaves its piece, when the common height falls or rises."""
    nodes = bent.shape[1]
    if piece == 0:
        return bent[k, 0] if down else np.inf
    if piece == nodes:
        return -np.inf if down else bent[k, nodes - 1]
    left, right = bent[k, piece - 1], bent[k, piece]
    return min(left, right) if down else max(left, right)


@kernel
def close(x):
    """Make the sum 1 to the last bits; what is missing is rounding."""
    for _ in range(2):
        total = 0.0
        for k in range(x.shape[0]):
            total += x[k]
        for k in range(x.shape[0]):
            x[k] /= total


@kernel(error_model="numpy", forceinline=True)
def _write_class(bent, grid, tree, k, piece):
    """The line of class k on its piece, at its place in the tree."""
    classes, nodes = bent.shape
    own = classes + k
    tree[LOWS, own] = next_node(bent, k, piece, True)
    tree[HIGHS, own] = next_node(bent, k, piece, False)
    tree[AT, own], tree[SLOPE, own], tree[SIZE, own] = 0.0, 0.0, 0.0
    if piece == nodes:
        tree[AT, own] = tree[SIZE, own] = 1.0
    elif piece > 0:
        left, right = bent[k, piece - 1], bent[k, piece]
        slope = (grid[piece] - grid[piece - 1]) / (right - left)
        tree[AT, own], tree[SLOPE, own] = grid[piece - 1] - slope * left, slope
        tree[SIZE, own] = 1.0 + 2.0 * abs(slope) * max(abs(left), abs(right))


@kernel(forceinline=True)
def _join(tree, i):
    """What is above two places of the tree."""
    left, right = 2 * i, 2 * i + 1
    tree[LOWS, i] = max(tree[LOWS, left], tree[LOWS, right])
    tree[HIGHS, i] = min(tree[HIGHS, left], tree[HIGHS, right])
    tree[AT, i] = tree[AT, left] + tree[AT, right]
    tree[SLOPE, i] = tree[SLOPE, left] + tree[SLOPE, right]
    tree[SIZE, i] = tree[SIZE, left] + tree[SIZE, right]


@kernel(forceinline=True)
def _first(tree, down):
    """The class that comes to its node first."""
    row = LOWS if down else HIGHS
    classes, i = tree.shape[1] // 2, 1
    while i < classes:
        i = 2 * i if tree[row, 2 * i] == tree[row, i] else 2 * i + 1
    return i - classes


@kernel
def _sum_at(bent, grid, pieces, level):
    """Σx at this height."""
    total = 0.0
    for k in range(bent.shape[0]):
        total += at_level(bent, grid, k, pieces[k], level)
    return total


@kernel(error_model="numpy")
def walk(bent, grid, tree, pieces, level, turning, most, x):
    """Walk from these pieces until the sum is 1: whether it came to that within `most` nodes.

    ``turning``: the class that is at a node, about to go on; −1 if the height is to fall.
    """
    classes = bent.shape[0]
    for k in range(classes):
        _write_class(bent, grid, tree, k, pieces[k])
    for i in range(classes - 1, 0, -1):
        _join(tree, i)
    down = True
    start = _sum_at(bent, grid, pieces, level) - 1.0
    for _ in range(most):
        if turning >= 0:
            down = _go_on(bent, pieces, turning, level)
            _write_class(bent, grid, tree, turning, pieces[turning])
            i = (classes + turning) // 2
            while i > 0:
                _join(tree, i)
                i //= 2
        reached = tree[LOWS if down else HIGHS, 1]
        if not np.isfinite(reached):
            return False
        beyond = tree[AT, 1] + tree[SLOPE, 1] * reached - 1.0
        if not (beyond * start > 0.0 and abs(beyond) > DOUBT * tree[SIZE, 1]):
            total = _sum_at(bent, grid, pieces, level)
            after = _sum_at(bent, grid, pieces, reached)
            if (after - 1.0) * start <= 0.0 and after != total:
                share = min(max((1.0 - total) / (after - total), 0.0), 1.0)
                for k in range(classes):
                    before = at_level(bent, grid, k, pieces[k], level)
                    behind = at_level(bent, grid, k, pieces[k], reached)
                    x[k] = before + share * (behind - before)
                close(x)
                return True
        turning, level = _first(tree, down), reached
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
