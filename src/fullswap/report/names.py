"""Where names stand beside dots, so that nobody takes one for another's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from fullswap.base.protocols import Points
from fullswap.report import style

Place = tuple[float, float]
Line = tuple[Place, Place]
Box = tuple[float, float, float, float]
Spot = tuple[float, float, float, bool]
"""Points to the right and up from the dot, share of the name to the left, whether tied to it."""

TURNS = [(k * math.pi / 12, (0.5 if k % 12 == 6 else float(6 < k < 18))) for k in range(24)]
"""Directions, and the share of a name that stands to the left of its anchor."""
DISTANCES = 8.0, 15.0, 24.0, 34.0, 46.0
TIED = 12.0
"""Names farther off than this many points are tied to their dots by a line."""
DOT = 4.0
"""Half the room of a dot."""
CLEAR = 6.0
"""Points by which other dots are farther from a name than its own, for it to need no line."""
SURE = 1.0
"""Points by which other dots are farther at least, also from names with a line."""
ROUNDS = 4
"""Times that each name may move."""


def place_names(places: Points, letters: Sequence[int], size: Place) -> list[Spot]:
    """A spot for each name beside dots at these places, in points, on axes of this size.

    Each name in turn takes the spot that hides least, is nearest to its dot, and no other dot's;
    a few rounds, because others move as well.
    """
    dots = [(float(x), float(y)) for x, y in places]
    chosen: dict[int, tuple[Spot, Box]] = {}
    for _ in range(ROUNDS):
        before = {k: spot for k, (spot, _) in chosen.items()}
        for k, dot in enumerate(dots):
            others = [other for j, other in enumerate(dots) if j != k]
            taken = [(dots[j], *chosen[j]) for j in chosen if j != k]
            options = [_option(dot, others, turn, far, letters[k]) for far in DISTANCES
                       for turn in TURNS]  # fmt: skip
            chosen[k] = min(options, key=lambda o: _cost(dot, others, taken, o[0], o[1], size))
        if before == {k: spot for k, (spot, _) in chosen.items()}:
            break
    return [chosen[k][0] for k in range(len(dots))]


def _option(
    dot: Place, others: list[Place], turn: Place,
    far: float, letters: int,
) -> tuple[Spot, Box]:  # fmt: skip
    angle, side = turn
    dx, dy = far * math.cos(angle), far * math.sin(angle)
    long, tall = 1.1 * 72 * style.LETTER * letters, 1.2 * style.SMALL
    left, low = dot[0] + dx - side * long, dot[1] + dy - tall / 2
    box = left, low, left + long, low + tall
    nearest = min((_to_box(other, box) for other in others), default=math.inf)
    tied = far > TIED or nearest < _to_box(dot, box) + CLEAR
    return (dx, dy, side, tied), box


def _cost(
    dot: Place, others: list[Place],
    taken: list[tuple[Place, Spot, Box]], spot: Spot, box: Box,
    size: Place,
) -> float:  # fmt: skip
    dx, dy, _, tied = spot
    end = dot[0] + dx, dot[1] + dy
    outside = max(0.0, -box[0], box[2] - size[0], -box[1], box[3] - size[1])
    own, nearest = _to_box(dot, box), min((_to_box(o, box) for o in others), default=math.inf)
    # Of spots that are as good, right of the dot.
    cost = 40 * outside + 0.3 * math.hypot(dx, dy) + 12 * tied + 0.02 * (abs(dy) - dx)
    # Worst of all: a name that stands nearer to another dot.
    cost += 200 * (nearest <= own) + 60 * min(max(own + SURE - nearest, 0.0), 6.0)
    cost += 8 * sum(_overlap(box, _round(other)) for other in [dot, *others])
    for anchor, (tx, ty, _, their), their_box in taken:
        cost += 8 * _overlap(box, their_box)
        line = (anchor, (anchor[0] + tx, anchor[1] + ty))
        cost += 150 * (tied and _through((dot, end), their_box))
        cost += 150 * (their and _through(line, box))
        cost += 150 * (tied and their and _cross((dot, end), line))
    # A line that leaves its dot across another one says nothing.
    if tied:
        for other in others:
            apart, passed = math.dist(dot, other), _to_line(other, dot, end)
            cost += 150 * (passed < DOT < apart) + 60 * (apart <= DOT and passed < apart - 1e-6)
    return cost


def _round(dot: Place) -> Box:
    return dot[0] - DOT, dot[1] - DOT, dot[0] + DOT, dot[1] + DOT


def _overlap(one: Box, other: Box) -> float:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    tall = min(one[3], other[3]) - max(one[1], other[1])
    return max(wide, 0.0) * max(tall, 0.0)


def _to_box(dot: Place, box: Box) -> float:
    """Distance of a point from a box."""
    wide = max(box[0] - dot[0], 0.0, dot[0] - box[2])
    return math.hypot(wide, max(box[1] - dot[1], 0.0, dot[1] - box[3]))


def _to_line(dot: Place, start: Place, end: Place) -> float:
    """Distance of a point from a stretch of line."""
    x, y = end[0] - start[0], end[1] - start[1]
    along = ((dot[0] - start[0]) * x + (dot[1] - start[1]) * y) / max(x * x + y * y, 1e-12)
    along = min(max(along, 0.0), 1.0)
    return math.dist(dot, (start[0] + along * x, start[1] + along * y))


def _cross(one: Line, other: Line) -> bool:
    def turn(a: Place, b: Place, c: Place) -> float:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    (a, b), (c, d) = one, other
    return turn(a, b, c) * turn(a, b, d) < 0 and turn(c, d, a) * turn(c, d, b) < 0


def _through(line: Line, box: Box) -> bool:
    """Whether a line crosses a box."""
    corners = [(box[0], box[1]), (box[0], box[3]), (box[2], box[1]), (box[2], box[3])]
    return any(_cross(line, pair) for pair in combinations(corners, 2))
