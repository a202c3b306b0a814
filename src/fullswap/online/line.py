"""Yes-or-no events, played by a crossing between neighbouring grid points."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fullswap.base.draws import Words
from fullswap.base.protocols import Vector
from fullswap.kernels import line as kernel
from fullswap.kernels.events import Layout
from fullswap.online.kind import Kind, Play, grids_of
from fullswap.online.line_rows import LineRows
from fullswap.online.plays import check_indices, check_shares, check_unit


class Line(LineRows):
    """A play is (id, drawn, left, right, share of left, and what these two recommend)."""

    def _compile(self, layout: Layout) -> Any:
        realised = self.spec.realised
        self._frames = [
            np.array([realised, delta, end, *grid])
            for delta, end, grid in zip(layout.delta, layout.ends, grids_of(layout), strict=True)
        ]
        return kernel.LineSpec(*layout, realised)

    def forecaster(self, row: Vector, source: Words) -> Callable[..., Play]:
        """One point, or two neighbours."""
        return partial(kernel.line_predict, self._frames[self.level_of(row)], row, source)

    def learner(self, row: Vector, level: int) -> Callable[..., bool]:
        """Feed one outcome."""
        return partial(kernel.line_update, self._frame(row, level), row)

    def _frame(self, row: Vector, level: int) -> Vector:
        now = self.level_of(row)
        frame = self._frames[now]
        if level != now:
            frame = frame.copy()
            frame[kernel.DELTA] = self.rounding_cost(level)
        return frame

    def lifted(self, play: Play, old: int, new: int) -> Play:
        """The same points on a finer grid."""
        return lifted_pair(self, play, old, new)

    def encode(self, play: Play) -> list[float]:
        """The five numbers after id and draw."""
        return [float(value) for value in play[2:]]

    def encoded_length(self, size: int) -> int:
        """Five."""
        return 5

    def decode(self, numbers: list[float], level: int) -> tuple[Any, ...]:
        """The five numbers, checked."""
        if len(numbers) != 5:
            raise ValueError(f"play must be 5 numbers, got {len(numbers)}")
        left, right, share = check_pair(numbers, self.spec.levels[level].size(2))
        targets = check_unit(np.array(numbers[3:]))
        return (left, right, share, *targets.tolist())


def check_pair(numbers: list[float], size: int) -> tuple[int, int, float]:
    """Neighbours on a grid, or an end of it twice, and the share of the first: then all."""
    left, right = check_indices(numbers[:2], size)
    alone = right == left and numbers[2] == 1 and left in (0, size - 1)
    if right - left != 1 and not alone:
        raise ValueError(f"play must be on neighbours, got {left} and {right}")
    check_shares([numbers[2], 1 - numbers[2]])
    return left, right, float(numbers[2])


def lifted_pair(kind: Kind, play: Play, old: int, new: int) -> Play:
    """(id, drawn, left, right, …) on a finer grid."""
    left, right = kind.lift(play[2:4], old, new).tolist()
    return (*play[:2], left, right, *play[4:])
