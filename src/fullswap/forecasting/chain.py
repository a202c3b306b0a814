"""A bank on a line that forecasts a stationary distribution: the paper's own rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.forecasting.base import Recorded, empty_record
from fullswap.forecasting.line import LineBank

_WIDTH = 16
"""Columns of a record to begin with; classes are rarely wider."""


class ChainBank(LineBank):
    """The same sub-learners and state as ``LineBank``; ``start`` is where searches start."""

    def __init__(self, rule: Any) -> None:
        from fullswap.kernels import chain
        from fullswap.kernels.stationary import make_scratch

        super().__init__(rule)
        n = len(self.points)
        self._rows = np.zeros((n, 2), np.int64), np.zeros((n, 2))
        self._walk: tuple[Any, ...] = (
            make_scratch(n), np.zeros(1, np.int64), np.zeros((_WIDTH, _WIDTH)),
            np.zeros(n, np.int64), np.zeros(max(n, _WIDTH)),
        )  # fmt: skip
        self._kernels = chain
        chain.chain_rows(self._state, self._rows)

    def mix(self, memo: Any = None) -> tuple[Sequence[int], Sequence[float], Any]:
        """One closed class of grid points."""
        size = self._kernels.chain_mix(self._rows, self.start, self._walk)
        while size < 0:
            self._enlarge(-size)
            size = self._kernels.chain_mix(self._rows, self.start, self._walk)
        return self._walk[3][:size].tolist(), self._walk[4][:size].tolist(), memo

    def learn(self, indices: Sequence[int], scales: Sequence[float], outcome: float) -> None:
        """Feed one outcome to these points; the next search starts at the heaviest."""
        for i, g in zip(indices, scales, strict=True):
            self._kernels.chain_learn(
                self._state, self._kind, self._rate, self._rows, i, g, outcome
            )
        self.start = indices[int(np.argmax(scales))]

    def run(
        self, outcomes: Vector, scales: Vector, draws: Vector, realised: bool, record: bool
    ) -> tuple[int, Recorded]:
        """As many of these events as fit the room for classes, at least one."""
        width = max(_WIDTH, len(self.mix()[0]))  # makes room for the first event's class
        labels, weights, issued = empty_record(len(outcomes) if record else 0, width)
        ran, self.start = self._kernels.chain_run(
            self._state, self._kind, self._rate, self._rows, self._walk, realised, self.start,
            outcomes, scales, draws, labels, weights, issued,
        )  # fmt: skip
        used = max(1, int((weights[:ran] > 0).sum(axis=1).max(initial=0)))
        return ran, (labels[:ran, :used], weights[:ran, :used], issued[:ran])

    def load(self, stored: dict[str, Any]) -> None:
        """Take over what ``dump`` gave, on the same grid."""
        super().load(stored)
        self._kernels.chain_rows(self._state, self._rows)

    def _enlarge(self, size: int) -> None:
        scratch, stamps, _, members, _ = self._walk
        room = 2 * size
        out = np.zeros(max(len(self.points), room))
        self._walk = (scratch, stamps, np.zeros((room, room)), members, out)
