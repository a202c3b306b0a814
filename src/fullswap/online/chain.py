"""Yes-or-no events, played by a stationary distribution: the paper's own rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.kernels import chain as kernel
from fullswap.kernels.columns import LEVEL, MASS
from fullswap.kernels.events import draw_place
from fullswap.kernels.stationary import make_scratch
from fullswap.online.kind import Play
from fullswap.online.line_rows import LineRows
from fullswap.online.plays import check_members, check_shares, check_unit, support_of

ROOM = 16
"""Points in a closed class that fit at first; classes are rarely wider."""


class Chain(LineRows):
    """A play is (members, shares, what they recommend), arrays."""

    width = ROOM
    pairs = False

    def _compile(
        self, grid: Points, first: Indices, ends: Vector, places: Indices, blank: Points,
        deltas: Vector,
    ) -> Any:  # fmt: skip
        self._grids = [grid[a:b] for a, b in zip(first, first[1:], strict=False)]
        self._arguments = (
            grid, first, ends, places, blank, self.base, deltas, self._loss, self._rate,
            self.spec.realised,
        )  # fmt: skip
        return self._with_room(ROOM)

    def _with_room(self, room: int) -> Any:
        n = max(len(grid) for grid in self._grids)
        walk = (
            make_scratch(n), np.zeros(1, np.int64), np.zeros((room, room)),
            np.zeros(n, np.int64), np.zeros(max(n, room)), np.zeros((n, 2), np.int64),
            np.zeros((n, 2)),
        )  # fmt: skip
        return kernel.ChainSpec(*self._arguments, walk, np.zeros(n))

    def widen(self, size: int) -> None:
        """Make room for closed classes of this size."""
        self.kernel = self._with_room(max(size, len(self.kernel.walk[2])))

    def forecast(self, row: Vector, context: Any) -> Play:
        """One closed class of grid points."""
        grid, size = self._grids[int(row[LEVEL])], -1
        while size < 0:
            walk = self.kernel.walk
            # arrays of its own: streams of a kind share the others, maybe in several threads
            members, shares = np.zeros_like(walk[3]), np.zeros_like(walk[4])
            targets = np.zeros(len(members))
            own = (*walk[:3], members, shares, *walk[5:])
            size = kernel.chain_forecast(grid, row, own, targets)
            if size < 0:
                self.widen(-2 * size)
        return members[:size].copy(), shares[:size].copy(), targets[:size].copy()

    def draw(self, play: Play, u: float) -> int:
        """The place in the class."""
        return int(draw_place(play[1], len(play[1]), u))

    def learn(
        self,
        row: Vector,
        play: Play,
        level: int,
        drawn: int,
        outcome: Any,
        scale: float,
        number: int,
    ) -> bool:
        """Feed one outcome."""
        now = int(row[LEVEL])
        members, shares, targets = play
        if level != now:
            members = self.lift(members, level, now)
        kernel.chain_learn(
            self._grids[now], row, self._loss, self._rate, self.spec.realised,
            self.rounding_cost(level), members, shares, targets, len(members), drawn, scale,
            outcome, number,
        )  # fmt: skip
        return bool(row[MASS] >= self.spec.end(now))

    def support(self, play: Play) -> tuple[Any, Any]:
        """The points of positive weight."""
        return support_of(play[0], play[1])

    def encode(self, play: Play) -> list[float]:
        """Members, shares and targets, one after the other."""
        return [float(value) for part in play for value in part]

    def decode(self, numbers: list[float], level: int) -> Play:
        """The same, checked."""
        size, rest = divmod(len(numbers), 3)
        if rest or not size:
            raise ValueError(
                f"play must be members, shares and targets, got {len(numbers)} numbers"
            )
        members = check_members(numbers[:size], self.spec.levels[level].size(2))
        shares = check_shares(numbers[size : 2 * size])
        return members, shares, check_unit(np.array(numbers[2 * size :]))
