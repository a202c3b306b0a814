"""Yes-or-no events, played by a stationary distribution: the paper's own rule."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np

from fullswap.base.draws import Words
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.kernels import chain as kernel
from fullswap.kernels.columns import MASS
from fullswap.kernels.stationary import make_scratch
from fullswap.online.kind import Play
from fullswap.online.line_rows import LineRows
from fullswap.online.plays import check_indices, check_shares, check_unit, give_id

ROOM = 16
"""Points in a closed class that fit at first; classes are rarely wider."""


_ONE_AT_A_TIME = Lock()
"""Streams of one kind share scratch, and may be used by several threads."""


class Chain(LineRows):
    """A play is (id, drawn, members, shares, what they recommend): arrays after the id."""

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
        self._room = room
        n = max(len(grid) for grid in self._grids)
        walk = (
            make_scratch(n), np.zeros(1, np.int64), np.zeros((room, room)),
            np.zeros(n, np.int64), np.zeros(max(n, room)), np.zeros((n, 2), np.int64),
            np.zeros((n, 2)),
        )  # fmt: skip
        return kernel.ChainSpec(*self._arguments, walk, np.zeros(n))

    def widen(self, size: int) -> None:
        """Make room for closed classes of this size."""
        self.kernel = self._with_room(max(size, self._room))

    def forecaster(self, row: Vector, source: Words) -> Callable[[Any, int], Play]:
        """One closed class of grid points."""
        grid = self._grids[self.level_of(row)]

        def forecast(context: Any, count: int) -> Play:
            with _ONE_AT_A_TIME:
                size = kernel.chain_forecast(grid, row, self.kernel.walk, self.kernel.targets)
                while size < 0:
                    self.widen(-2 * size)
                    size = kernel.chain_forecast(grid, row, self.kernel.walk, self.kernel.targets)
                _, _, _, members, shares, _, _ = self.kernel.walk
                targets = self.kernel.targets
                parts = members[:size].copy(), shares[:size].copy(), targets[:size].copy()
            return (*give_id(row, count, source, parts[1]), *parts)

        return forecast

    def learner(self, row: Vector, level: int) -> Callable[..., bool]:
        """Feed one outcome."""
        now = self.level_of(row)
        grid, end, delta = self._grids[now], self.spec.end(now), self.rounding_cost(level)

        def learn(
            number: int, drawn: int, members: Indices, shares: Vector, targets: Vector,
            scale: float, outcome: float,
        ) -> bool:  # fmt: skip
            kernel.chain_learn(
                grid, row, self._loss, self._rate, self.spec.realised, delta, members, shares,
                targets, len(members), drawn, scale, outcome, number,
            )  # fmt: skip
            return bool(row[MASS] >= end)

        return learn

    def lifted(self, play: Play, old: int, new: int) -> Play:
        """The same points on a finer grid."""
        return (*play[:2], self.lift(play[2], old, new), *play[3:])

    def encode(self, play: Play) -> list[float]:
        """Members, shares and targets, one after the other."""
        return [float(value) for part in play[2:] for value in part]

    def decode(self, numbers: list[float], level: int) -> tuple[Any, ...]:
        """The same, checked."""
        size, rest = divmod(len(numbers), 3)
        if rest or not size:
            raise ValueError(f"play must be members, shares, targets, got {len(numbers)} numbers")
        members = np.array(check_indices(numbers[:size], len(self.points(level))))
        shares = check_shares(numbers[size : 2 * size])
        return members, shares, check_unit(np.array(numbers[2 * size :]))
