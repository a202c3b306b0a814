"""Yes-or-no events, played by a stationary distribution: the paper's own rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fullswap.base.draws import Words
from fullswap.base.protocols import Indices, Vector
from fullswap.kernels import chain as kernel
from fullswap.kernels.columns import MASS
from fullswap.kernels.events import Layout
from fullswap.kernels.stationary import make_scratch
from fullswap.online.kind import Play, grids_of
from fullswap.online.line_rows import LineRows
from fullswap.online.plays import check_members, check_shares, check_unit, give_id

ROOM = 16
"""Points in a closed class that fit at first; classes are rarely wider."""


class Chain(LineRows):
    """A play is (id, drawn, members, shares, what they recommend): arrays after the id."""

    width = ROOM
    pairs = False
    crossing = False

    def _compile(self, layout: Layout) -> Any:
        self._grids = grids_of(layout)
        self._layout = layout
        return self._with_room(ROOM)

    def _with_room(self, room: int) -> Any:
        n = max(len(grid) for grid in self._grids)
        walk = (
            make_scratch(n), np.zeros(1, np.int64), np.zeros((room, room)),
            np.zeros((n, 2), np.int64), np.zeros((n, 2)),
        )  # fmt: skip
        support = np.zeros(n, np.int64), np.zeros(max(n, room)), np.zeros(n)
        return kernel.ChainSpec(
            *self._layout, self._loss, self._rate, self.spec.realised, walk, *support
        )

    def widen(self, size: int) -> None:
        """Make room for closed classes of this size."""
        self.kernel = self._with_room(max(size, len(self.kernel.walk[2])))

    def forecaster(self, row: Vector, source: Words) -> Callable[..., Play]:
        """One closed class of grid points."""
        grid = self._grids[self.level_of(row)]

        def forecast(count: int) -> Play:
            size = -1
            while size < 0:
                spec = self.kernel
                # arrays of its own: streams of a kind share the others, maybe in several threads
                members, shares = np.zeros_like(spec.members), np.zeros_like(spec.shares)
                targets = np.zeros_like(spec.targets)
                size = kernel.chain_forecast(grid, row, spec.walk, members, shares, targets)
                if size < 0:
                    self.widen(-2 * size)
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

    def encoded_length(self, size: int) -> int:
        """Three a point."""
        return 3 * size

    def decode(self, numbers: list[float], level: int) -> tuple[Any, ...]:
        """The same, checked."""
        size, rest = divmod(len(numbers), 3)
        if rest or not size:
            raise ValueError(f"play must be members, shares, targets, got {len(numbers)} numbers")
        members = check_members(numbers[:size], self.spec.levels[level].size(2))
        shares = check_shares(numbers[size : 2 * size])
        return members, shares, check_unit(np.array(numbers[2 * size :]))
