"""Running means of vectors and grids on the simplex, slowly."""

from __future__ import annotations

import itertools


class PlainMeans:
    """Every outcome that each point has seen, the first an imagined one at the centre."""

    def __init__(self, points):
        self.points = [tuple(point) for point in points]
        classes = len(self.points[0])
        self.seen = {point: [(1.0, [1.0 / classes] * classes)] for point in self.points}
        self.lost = self.squares = 0.0

    def target(self, i):
        return mean_of(self.seen[self.points[i]])

    def learn(self, support, y, scale):
        """Feed an outcome to (point, share, recommended at the forecast) triples."""
        for i, share, target in support:
            self.lost += scale * share * squared_distance(target, y)
            self.seen[self.points[i]].append((scale * share, list(y)))
        self.squares += scale * sum(v * v for v in y)


def mean_of(pairs):
    """Weighted mean of vectors."""
    total = sum(g for g, _ in pairs)
    return [sum(g * y[k] for g, y in pairs) / total for k in range(len(pairs[0][1]))]


def squared_distance(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def on_one_simplex(points, cells):
    """Whether points of the grid of multiples of 1/cells are corners of one Kuhn simplex.

    Their cumulative sums, times cells, must rise one after the other by at most 1 a coordinate.
    """
    lattice = []
    for point in points:
        sums, total = [], 0.0
        for value in point[:-1]:
            total += value
            sums.append(round(cells * total))
        lattice.append(tuple(sums))
    lattice.sort()
    pairs = itertools.pairwise(lattice)
    rising = all(all(b >= a for a, b in zip(x, y, strict=True)) for x, y in pairs)
    near = all(b - a <= 1 for a, b in zip(lattice[0], lattice[-1], strict=True))
    return rising and near
