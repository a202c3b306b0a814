"""The simplex of a triangulation that holds a point, after projection to the hull.

Space is cut into cubes, and every cube lists the simplices that may meet it, so that a search looks
at a few simplices and at nothing else. Walks from one simplex to the next would need less memory,
but they lose their way at simplices without interior, which lattices have many of.

Symbols: frame y = (x − origin)·basis, origin (A,), basis (A, d) · cubes: low (d,), 1/side, counts
(d,), start (cubes + 1,) where the list of a cube begins in listed · simplices (s, k = d + 1) with
barycentric coordinates inverse·(y − last), inverse (s, d, d), last (s, d), the last one what is
left to 1 · hull: the corners of their hull, on_rim (n,) which of them a point is, or −1 ·
y (d,): room.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullswap.kernels.compiling import kernel
from fullswap.kernels.events import implements
from fullswap.kernels.nearest import Corners, to_nearest
from fullswap.kernels.searching import locate

INSIDE = -1e-12
"""A smallest barycentric coordinate from which a point counts as inside: what rounding leaves."""
NEARLY = -1e-7
"""Points of the hull are that near to a simplex of its cube; else all simplices are looked at."""
MOST_CUBES = 32
"""Cubes for each simplex on average, at most: larger ones are taken instead."""
CHUNK = 100_000
"""Pairs of simplex and cube that are compared at once."""


class Cubes(NamedTuple):
    """Which simplices may meet each cube."""

    low: np.ndarray
    per_side: float
    counts: np.ndarray
    start: np.ndarray
    listed: np.ndarray


class DelaunaySearch(NamedTuple):
    """Arrays as above."""

    origin: np.ndarray
    basis: np.ndarray
    cubes: Cubes
    simplices: np.ndarray
    inverse: np.ndarray
    last: np.ndarray
    hull: Corners
    on_rim: np.ndarray
    y: np.ndarray


def list_in_cubes(corners: NDArray, inverse: NDArray) -> Cubes:
    """Cubes for simplices with these corners (s, k, d)."""
    s, _, d = corners.shape
    lows, highs = corners.min(axis=1), corners.max(axis=1)
    low, extent = lows.min(axis=0), highs.max(axis=0) - lows.min(axis=0)
    side = float(extent.max())
    # cubes of a size at which there are as many as simplices, or larger
    while np.prod(np.ceil(extent / side)) < s:
        side /= 1.5
    while True:
        counts = np.maximum(1, np.ceil(extent / side)).astype(np.int64)
        # a little wider than the simplices: a point may be across the border by rounding
        first = _clipped((lows - low) / side - 1e-6, counts)
        spans = _clipped((highs - low) / side + 1e-6, counts) - first + 1
        pairs = spans.prod(axis=1)
        if pairs.sum() <= MOST_CUBES * s:
            break
        side *= 1.5
    strides = np.concatenate((np.cumprod(counts[::-1])[-2::-1], [1])).astype(np.int64)
    cubes, members = [], []
    cuts = np.searchsorted(np.cumsum(pairs), np.arange(CHUNK, pairs.sum(), CHUNK))
    for block in np.split(np.arange(s), np.unique(cuts)):
        simplex = np.repeat(block, pairs[block])
        rank = np.arange(len(simplex)) - np.repeat(
            np.cumsum(pairs[block]) - pairs[block], pairs[block]
        )
        place = np.empty((len(simplex), d), np.int64)
        for j in range(d - 1, -1, -1):
            place[:, j] = first[simplex, j] + rank % spans[simplex, j]
            rank = rank // spans[simplex, j]
        # a coordinate that is negative in all of a cube keeps the simplex out of it
        center = low + (place + 0.5) * side
        ways = np.einsum("pij,pj->pi", inverse[simplex], center - corners[simplex, -1])
        reach = np.abs(inverse[simplex]).sum(axis=2)
        reach_of_last = np.abs(inverse[simplex].sum(axis=1)).sum(axis=1)
        half = 0.5 * side * (1.0 + 1e-6)
        meets = (ways + half * reach >= -1e-6).all(axis=1)
        meets &= 1.0 - ways.sum(axis=1) + half * reach_of_last >= -1e-6
        cubes.append((place @ strides)[meets])
        members.append(simplex[meets])
    cube, listed = np.concatenate(cubes), np.concatenate(members)
    order = np.argsort(cube, kind="stable")
    start = np.searchsorted(cube[order], np.arange(counts.prod() + 1)).astype(np.int64)
    return Cubes(low, 1.0 / side, counts, start, listed[order].astype(np.int64))


def _clipped(places, counts):
    return np.clip(np.floor(places), 0, counts - 1).astype(np.int64)


@kernel
def _least_coordinate(search, simplex, least):
    """Smallest barycentric coordinate of search.y, or some number below ``least``."""
    d = search.y.shape[0]
    smallest, rest = np.inf, 1.0
    for i in range(d):
        share = 0.0
        for j in range(d):
            share += search.inverse[simplex, i, j] * (search.y[j] - search.last[simplex, j])
        smallest = min(smallest, share)
        if smallest < least:
            return smallest
        rest -= share
    return min(smallest, rest)


@kernel
def _best_listed(search):
    """The simplex of the cube of search.y with the largest smallest coordinate, and that."""
    y, cubes = search.y, search.cubes
    flat = 0
    for j in range(y.shape[0]):
        place = min(max((y[j] - cubes.low[j]) * cubes.per_side, 0.0), cubes.counts[j] - 1.0)
        flat = flat * cubes.counts[j] + min(max(np.int64(place), 0), cubes.counts[j] - 1)
    best, least = -1, -np.inf
    for k in range(cubes.start[flat], cubes.start[flat + 1]):
        smallest = _least_coordinate(search, cubes.listed[k], least)
        if smallest > least:
            best, least = cubes.listed[k], smallest
            if least >= 0.0:
                break
    return best, least


@kernel
def _best_of_all(search):
    best, least = 0, -np.inf
    for simplex in range(search.simplices.shape[0]):
        smallest = _least_coordinate(search, simplex, least)
        if smallest > least:
            best, least = simplex, smallest
    return best


@kernel
def _corner_of_hull(search, simplex):
    """Some corner of the simplex that is one of the hull, or −1."""
    corner = -1
    if simplex >= 0:
        for i in range(search.simplices.shape[1]):
            corner = max(corner, search.on_rim[search.simplices[simplex, i]])
    return corner


@kernel
def _locate_in_simplices(search, q, indices, weights):
    d = search.y.shape[0]
    for k in range(d):
        search.y[k] = 0.0
        for j in range(q.shape[0]):
            search.y[k] += (q[j] - search.origin[j]) * search.basis[j, k]
    simplex, least = _best_listed(search)
    if not least >= INSIDE:
        to_nearest(search.hull, search.y, _corner_of_hull(search, simplex))
        simplex, least = _best_listed(search)
        if not least >= NEARLY:
            simplex = _best_of_all(search)
    rest, total = 1.0, 0.0
    for i in range(d):
        share = 0.0
        for j in range(d):
            share += search.inverse[simplex, i, j] * (search.y[j] - search.last[simplex, j])
        rest -= share
        indices[i] = search.simplices[simplex, i]
        weights[i] = max(share, 0.0)
        total += weights[i]
    indices[d] = search.simplices[simplex, d]
    weights[d] = max(rest, 0.0)
    total += weights[d]
    for i in range(d + 1):
        weights[i] /= total


@implements(locate, DelaunaySearch)
def _locate_delaunay(search, q, indices, weights):
    _locate_in_simplices(search, q, indices, weights)
