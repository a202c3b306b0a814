"""Unknown horizons: which grid is in play at round t, and what that guarantees.

Grids of levels 0, 1, 2, … are nested, each about twice as fine. Level j + 1 takes over when
there has been a round for each of its points and its bound for so many rounds is smaller than
that of level j; this depends on the theorem and the geometry alone, so the guarantee after any
number of rounds is a number known in advance.

- Learners over the convex set keep their state when points are added, so
  FSR ≤ Σ_t δ_t + n_T·reg(T/n_T) with the final number of points n_T.
- Learners whose experts are the grid points start afresh at each level. Swap regret over
  consecutive stretches is at most the sum over the stretches, so
  FSR ≤ Σ_j [δ_j·T_j + cost(n_j, T_j)].
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from fullswap.theorems.ledger import Result
from fullswap.theorems.premises import Constants, Geometry
from fullswap.theorems.rows import GeometryAt, Theorem

FOREVER = 2**62
"""A round that no run reaches: a power of 2, so that doubling arrives at it, and below 2⁶³."""


class Schedule:
    """The levels of an unknown horizon; ``geometry_at(level)`` is None when out of reach.

    Examples
    --------
    >>> from fullswap.theorems import THEOREMS
    >>> squared = Constants(2.0, 1.0, strong_convexity=2.0, smoothness=2.0)
    >>> line = lambda j: Geometry(2**j + 1, 0.5 / 2**j, 0.0, 0.25 / 4**j)
    >>> schedule = Schedule(THEOREMS["strongly convex and smooth"], squared, line)
    >>> [schedule.level(t) for t in (0, 100, 10_000, 1_000_000)]
    [0, 1, 3, 5]
    >>> round(schedule.bound(10_000), 1)
    141.7
    """

    def __init__(self, theorem: Theorem, constants: Constants, geometry_at: GeometryAt) -> None:
        self.theorem, self.constants, self._geometry_at = theorem, constants, geometry_at
        first = geometry_at(0)
        if first is None:
            raise ValueError("geometry_at must reach level 0 of the grid, got None")
        self._geometries: list[Geometry] = [first]
        self._starts: list[int] = [0]
        self._exhausted = False

    def level(self, round_index: int) -> int:
        """The level in play at a round (the first round has index 0)."""
        while not self._exhausted and self._starts[-1] <= round_index:
            self._append_next()
        return bisect_right(self._starts, round_index, hi=len(self._geometries)) - 1

    def geometry(self, round_index: int) -> Geometry:
        """The geometry in play at a round."""
        return self._geometries[self.level(round_index)]

    def level_ends(self, round_index: int) -> int:
        """The first later round at which another level is in play (2⁶² if none is)."""
        level = self.level(round_index)
        return self._starts[level + 1] if level + 1 < len(self._starts) else FOREVER

    def rounding(self, rounds: int) -> float:
        """Σ_t δ_t over the first ``rounds`` rounds."""
        return math.fsum(
            self.theorem.rounding_cost(self.constants, geometry) * length
            for geometry, length in self._stretches(rounds)
        )

    def bound(self, rounds: int) -> float:
        """Guaranteed at most, after this many rounds."""
        stretches = self._stretches(rounds)
        cost = self.theorem.learning_cost
        if self.theorem.restarts:
            learning = math.fsum(cost(self.constants, g.size, length) for g, length in stretches)
        else:
            learning = cost(self.constants, stretches[-1][0].size, rounds) if rounds else 0.0
        return min(self.constants.loss_range * rounds, self.rounding(rounds) + learning)

    def _stretches(self, rounds: int) -> list[tuple[Geometry, int]]:
        last = self.level(max(rounds - 1, 0))
        ends = [*self._starts[1 : last + 1], rounds]
        stretches = [(self._geometries[j], ends[j] - self._starts[j]) for j in range(last + 1)]
        # a level may be overtaken in the round in which it would have started
        return [part for part in stretches[:-1] if part[1]] + stretches[-1:]

    def _append_next(self) -> None:
        finer, coarse = self._geometry_at(len(self._geometries)), self._geometries[-1]
        if finer is None or finer == coarse:  # out of reach, or the coarse grid is exact already
            self._exhausted = True
            return
        low = self._starts[-1]
        high = max(1, low)
        while not self._finer_is_better(coarse, finer, high):
            low, high = high, high * 2
            if high > FOREVER:
                self._exhausted = True
                return
        while high - low > 1:
            middle = (low + high) // 2
            if self._finer_is_better(coarse, finer, middle):
                high = middle
            else:
                low = middle
        self._geometries.append(finer)
        self._starts.append(high)

    def _finer_is_better(self, coarse: Geometry, finer: Geometry, rounds: int) -> bool:
        if rounds < finer.size:  # with less than a round per point every grid looks free
            return False
        total = self.theorem.total
        return total(self.constants, finer, rounds) < total(self.constants, coarse, rounds)


@dataclass(frozen=True)
class Growing:
    """So many rounds on grids that are refined as rounds go by."""

    theorem: Theorem
    constants: Constants
    geometry_at: GeometryAt
    rounds: int


ANYTIME: tuple[Result[Any], ...] = (
    Result(
        "unknown horizon", "FKO25, Thm 12",
        "nested grids: Σ_t δ_t + Σ Reg_s on the last grid, or summed over the grids where learners "
        "start afresh",
        Growing, lambda p: Schedule(p.theorem, p.constants, p.geometry_at).bound(p.rounds),
    ),
)  # fmt: skip
"""The entry of the ledger."""
