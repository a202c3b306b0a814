"""Sub-learners on a line, slowly: plain Python, every point looked at every time."""

from __future__ import annotations

import math


class PlainLine:
    """What is learnt on a line of points, one list an idea."""

    def __init__(self, points):
        self.points = list(points)
        self.targets = list(self.points)
        self.seen = [[] for _ in self.points]
        self.lost = self.rounding = self.cells = self.most = self.squares = self.mass = 0.0
        self.rounds = 0

    # --- what may be played -----------------------------------------------------------------

    def crossings(self):
        """All (left, right, share of left) that serve every convex loss."""
        s, q, last = self.points, self.targets, len(self.points) - 1
        allowed = []
        if q[0] <= s[0]:
            allowed.append((0, 0, 1.0))
        if q[last] >= s[last]:
            allowed.append((last, last, 1.0))
        for i in range(last):
            up, down = q[i] - s[i], s[i + 1] - q[i + 1]
            if up >= 0 and down >= 0:
                allowed.append((i, i + 1, down / (up + down) if up + down > 0 else 1.0))
        return allowed

    # --- learning ---------------------------------------------------------------------------

    def learn(self, support, y, scale, delta):
        """Feed an outcome to (point, share, recommended at the forecast) triples."""
        for i, share, target in support:
            g = share * scale
            if g > 0:
                self.lost += g * (target - y) ** 2
                self.seen[i].append((g, y))
                self.targets[i] = self._mean(i)
        self.rounds += 1
        if scale > 0:
            self.mass += scale
            self.squares += scale * y * y
            self.most += scale * delta

    def _mean(self, i):
        total = math.fsum(part for part, _ in self.seen[i])
        ones = math.fsum(part * outcome for part, outcome in self.seen[i])
        return (ones + self.points[i]) / (total + 1)

    def jensen(self, left, right, share, scale):
        """Σ g·[Σλ(s − x)² − Σλ(q − x)²] with x the common mean."""
        assert left != right
        x = share * self.points[left] + (1 - share) * self.points[right]
        parts = ((left, share), (right, 1 - share))
        gap = sum(w * (self.points[i] - x) ** 2 for i, w in parts)
        self.rounding += scale * (gap - sum(w * (self.targets[i] - x) ** 2 for i, w in parts))
        self.cells += scale * (self.points[right] - self.points[left]) ** 2 / 4

    def beyond(self, end, y, scale):
        """An end played alone: what it loses more than its recommendation, which lies beyond."""
        s, q = self.points[end], self.targets[end]
        self.rounding += scale * ((s - y) ** 2 - (q - y) ** 2)
        self.cells += scale * min(s, 1 - s) ** 2


def refined(points, finer, columns, blank):
    """Columns on a finer grid: points that were there keep theirs, the others are blank."""
    rows = []
    for place, point in enumerate(finer):
        row = blank[place]
        for old, own in zip(points, columns, strict=True):
            if tuple(old) == tuple(point):
                row = own
        rows.append(list(row))
    return rows
