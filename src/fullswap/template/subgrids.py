"""Which of the given actions are played: sub-grids chosen by the bound, and nested ones by length.

Actions x_0 < … < x_m are given; a sub-grid has both ends among its points, n in all, and w is the
widest gap between neighbours of it. Bounds read n and w alone, and grow, if anything, with each.

*For every w the greedy sub-grid has the fewest points.* It starts at x_0 and always jumps to the
farthest action at most w away. Take any other sub-grid with gaps of at most w. Its i-th point is
never beyond the i-th greedy one: this holds for i = 0, and if it holds for i, then the other's next
point is at most w beyond a point that is not beyond the greedy one, so it is within the greedy
jump or behind it. Hence greedy arrives at x_m no later, with no more points. Gaps between
neighbouring actions cannot be avoided: below the widest of them, no w is possible.

*It suffices to look at these.* A sub-grid of n points and widest gap w costs no less than the
greedy one for w, whose n and widest gap are both no larger. So the least total over all 2^(m−1)
sub-grids is the least one over greedy ones, and between two of these ranges can be skipped:
see ``best_subgrid``.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fullswap.base.protocols import Indices, Vector
from fullswap.theorems import Constants, Geometry, Theorem

ROUNDINGS = 8
"""Gaps that differ by so many roundings of a coordinate are equal: i·0.1 is not evenly spaced."""
FEW_JUMPS = 500
"""Up to so many, loading compiled code would take longer than doing without."""
WORTHWHILE = 1e-9
"""No search for bounds that are smaller by less than this share."""

GeometryOf = Callable[[Vector], Geometry]
"""Coordinates of a grid ↦ what it measures."""


class Pick(NamedTuple):
    """The greedy sub-grid of one gap."""

    indices: Indices
    widest: float
    """The widest gap that it has."""
    longer: float
    """The least gap with which some jump would go farther; below it the sub-grid is the same."""


@dataclass(frozen=True, eq=False)
class Jumps:
    """Greedy sub-grids of actions in rising order.

    Examples
    --------
    >>> pick = Jumps(np.array([0.0, 0.1, 0.2, 0.3, 1.0])).pick(0.75)
    >>> pick.indices, pick.widest, pick.longer
    (array([0, 3, 4]), 0.7, 1.0)
    """

    actions: Vector

    @cached_property
    def _line(self) -> list[float]:
        coordinates: list[float] = self.actions.tolist()
        return coordinates

    @property
    def slack(self) -> float:
        """Up to which gaps count as equal."""
        return ROUNDINGS * float(np.spacing(np.abs(self.actions[[0, -1]]).max()))

    @property
    def least(self) -> float:
        """The widest gap between neighbouring actions."""
        return float(np.diff(self.actions).max())

    def pick(self, gap: float) -> Pick:
        """The fewest actions whose neighbours are at most ``gap`` apart, at least ``least``."""
        x, last = self.actions, len(self.actions) - 1
        reach = gap + self.slack
        if (x[-1] - x[0]) / reach < FEW_JUMPS:
            line, places = self._line, [0]
            while places[-1] < last:
                place = places[-1]
                places.append(bisect_right(line, line[place] + reach, place + 1) - 1)
            indices = np.array(places, dtype=np.int64)
        else:
            from fullswap.kernels.jumps import farthest_jumps

            filled = np.empty(last + 1, dtype=np.int64)
            indices = filled[: farthest_jumps(x, reach, filled)].copy()
        chosen = x[indices]
        # the last jump ends at the last action, however long it might be
        farther = x[indices[1:-1] + 1] - chosen[:-2]
        return Pick(indices, float(np.diff(chosen).max()), float(farther.min(initial=math.inf)))


def best_subgrid(
    actions: Vector, theorem: Theorem, constants: Constants, rounds: float, measure: GeometryOf
) -> Indices:
    """The sub-grid with the smallest total bound, as rising indices of the actions.

    Greedy sub-grids are compared from coarse to fine, gaps halved each time, until learning alone
    costs more than the best. What lies between two of them, with gaps a < b, has a gap of at
    least ``longer`` of a, hence at least the rounding cost of a, and at least as many points as
    b: it is looked at only if these two costs together are below the best. The same skipping as
    in ``Theorem.tune``.

    Examples
    --------
    >>> from fullswap.grids import line
    >>> from fullswap.sets import Interval
    >>> from fullswap.theorems import THEOREMS
    >>> actions = np.array([0.0, 0.01, 0.02, 0.03, 0.04, 0.5, 0.98, 0.99, 1.0])
    >>> squared = Constants(2.0, 1.0, strong_convexity=2.0, smoothness=2.0)
    >>> row = THEOREMS["strongly convex and smooth"]
    >>> measure = lambda t: line(Interval(0, 1), t).geometry
    >>> actions[best_subgrid(actions, row, squared, 1e4, measure)]
    array([0.  , 0.04, 0.5 , 0.98, 1.  ])
    """
    jumps = Jumps(actions)
    least, length = jumps.least, float(actions[-1] - actions[0])
    best, chosen = math.inf, np.array([0, len(actions) - 1])

    def costs(pick: Pick) -> tuple[float, float]:
        nonlocal best, chosen
        geometry = measure(actions[pick.indices])
        rounding = theorem.rounding_cost(constants, geometry) * rounds
        learning = theorem.learning_cost(constants, geometry.size, rounds)
        if rounding + learning < best:
            best, chosen = rounding + learning, pick.indices
        return rounding, learning

    def hopeless(floor: float) -> bool:
        return floor >= best * (1 - WORTHWHILE)

    gap = length
    coarse = jumps.pick(gap)
    rounding, learning = costs(coarse)
    ranges = []
    while gap > least and not hopeless(learning):
        gap = max(gap / 2, least)
        fine = jumps.pick(gap)
        less, more = costs(fine)
        ranges.append((fine, less, coarse, learning))
        coarse, learning = fine, more
    while ranges:
        fine, rounding, coarse, learning = ranges.pop()
        # where gaps differ by a few roundings, halving ranges would not end
        if coarse.widest - fine.longer <= 4 * jumps.slack or hopeless(rounding + learning):
            continue
        middle = jumps.pick((fine.longer + coarse.widest) / 2)
        less, more = costs(middle)
        ranges += [(middle, less, coarse, learning), (fine, rounding, middle, more)]
    return chosen


def nested_subgrids(actions: Vector) -> list[Indices]:
    """Nested sub-grids, coarse to fine, each with more points and a smaller widest gap w.

    Both ends first; then every gap wider than w/2 gets the action nearest to its middle (the lower
    one of two), until the widest has none inside: from there on more points would not help.

    Two refinements halve w, or arrive at the widest gap between actions. For if p is the action
    nearest to the middle of (a, b), say below it, then p − a ≤ w/2, and no action lies between p
    and its mirror image a + b − p. So if p and b are more than w/2 apart, the next split of (p, b)
    is at some q ≥ a + b − p, and b − q ≤ p − a ≤ w/2. If there is an action r in (p, q), then r is
    below the middle of (p, b) and no nearer to it than q, thus q − p ≤ b − r ≤ p − a ≤ w/2.

    Examples
    --------
    >>> [picked.tolist() for picked in nested_subgrids(np.arange(6.0))]
    [[0, 5], [0, 2, 5], [0, 1, 2, 3, 5], [0, 1, 2, 3, 4, 5]]
    >>> uneven = np.array([0.0, 0.01, 0.02, 0.03, 0.5, 1.0])
    >>> [picked.tolist() for picked in nested_subgrids(uneven)]
    [[0, 5], [0, 4, 5]]
    """
    slack = Jumps(actions).slack
    picked = np.array([0, len(actions) - 1])
    levels = [picked]
    while True:
        gaps, inside = np.diff(actions[picked]), np.diff(picked) > 1
        widest = float(gaps.max())
        if not inside[gaps >= widest - slack].all():
            return levels
        left, right = picked[:-1], picked[1:]
        wide = inside & (gaps > widest / 2)
        left, right = left[wide], right[wide]
        middles = (actions[left] + actions[right]) / 2
        below = np.clip(
            np.searchsorted(actions, middles + slack, side="right") - 1, left, right - 1
        )
        above = below + 1
        nearer = actions[above] - middles < middles - actions[below] - slack
        middle = np.where((nearer | (below == left)) & (above < right), above, below)
        picked = np.sort(np.concatenate((picked, middle)))
        levels.append(picked)
