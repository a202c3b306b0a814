"""The nearest of many points, exactly: a balanced tree of boxes, searched from the nearest one on.

Points are halved along the longest side of their box, level by level, down to leaves of a few.
Nodes are numbered as in a heap, the root 1, children 2k and 2k + 1. A box is left out if it is
farther than the best point so far; its distance is computed as that of a point is, term by term,
so that rounding never makes it too large. Among points equally near, the first wins.

Symbols: low, high (2·leaves, A) boxes of the nodes · start (leaves + 1,) where a leaf's points
begin in points (n, A), and their indices in the grid · nodes, bounds (depth,): what waits.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullswap.kernels.compiling import kernel
from fullswap.kernels.events import implements
from fullswap.kernels.searching import locate

LEAF = 8
"""Most points of a leaf: to look at one takes about as long as at a box."""


class NearestSearch(NamedTuple):
    """Arrays as above."""

    low: np.ndarray
    high: np.ndarray
    start: np.ndarray
    points: np.ndarray
    grid_indices: np.ndarray
    nodes: np.ndarray
    bounds: np.ndarray


def nearest_search(points: NDArray) -> NearestSearch:
    """The tree of points (n, A).

    Examples
    --------
    >>> tree = nearest_search(np.arange(40.0)[:, None])
    >>> nearest_one(tree, np.array([7.2]))
    7
    """
    n, width = points.shape
    depth = max(0, int(np.ceil(np.log2(n / LEAF))))
    low, high = np.empty((2, 2 << depth, width))
    low[0], high[0] = np.inf, -np.inf  # no node
    order = np.arange(n)
    for level in range(depth + 1):
        start = (np.arange((1 << level) + 1) * n) >> level
        here = slice(1 << level, 2 << level)
        low[here] = np.minimum.reduceat(points[order], start[:-1])
        high[here] = np.maximum.reduceat(points[order], start[:-1])
        if level < depth:
            sides = high[here] - low[here]
            axis = sides.argmax(axis=1)
            node = np.repeat(np.arange(1 << level), np.diff(start))
            # any order within half a node will do, so that this may be rough
            along = points[order, axis[node]] - low[here][node, axis[node]]
            share = along / np.where(sides.max(axis=1) > 0.0, sides.max(axis=1), 1.0)[node]
            order = order[np.argsort(node + 0.5 * share, kind="stable")]
    nodes, bounds = np.empty(depth + 1, np.int64), np.empty(depth + 1)
    sorted_points = np.array(points[order], dtype=float, order="C")
    return NearestSearch(low, high, start, sorted_points, order, nodes, bounds)


@kernel
def _square_to_box(low, high, q):
    square = 0.0
    for j in range(q.shape[0]):
        way = max(low[j] - q[j], q[j] - high[j])
        if way > 0.0:
            square += way * way
    return square


@kernel
def nearest_one(search, q):
    """Index of the grid point nearest to q (A,); of several, the smallest index."""
    leaves = search.start.shape[0] - 1
    best, index = np.inf, 0
    node, waiting = 1, 0
    while True:
        while node < leaves:
            near, far = 2 * node, 2 * node + 1
            to_near = _square_to_box(search.low[near], search.high[near], q)
            to_far = _square_to_box(search.low[far], search.high[far], q)
            if to_far < to_near:
                near, far = far, near
                to_near, to_far = to_far, to_near
            if to_far <= best:
                search.nodes[waiting] = far
                search.bounds[waiting] = to_far
                waiting += 1
            if to_near > best:
                break
            node = near
        if node >= leaves:
            leaf = node - leaves
            for k in range(search.start[leaf], search.start[leaf + 1]):
                square = 0.0
                for j in range(q.shape[0]):
                    way = search.points[k, j] - q[j]
                    square += way * way
                place = search.grid_indices[k]
                if square < best or (square == best and place < index):
                    best, index = square, place
        while waiting > 0 and search.bounds[waiting - 1] > best:
            waiting -= 1
        if waiting == 0:
            return index
        waiting -= 1
        node = search.nodes[waiting]


@implements(locate, NearestSearch)
def _locate_nearest(search, q, indices, weights):
    indices[0] = nearest_one(search, q)
    weights[0] = 1.0
