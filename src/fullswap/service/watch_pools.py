"""Blocks of numbers of one shape, given out and taken back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base.protocols import Indices

GROWTH = 1.5
"""How much more memory is taken when all blocks are given out."""


class Pool:
    """Blocks over one array: one that is taken back is the next to be given out."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.blocks: NDArray[np.float64] = np.empty((0, *shape))
        self._used = 0
        self._free: list[int] = []

    def reserve(self, count: int) -> Indices:
        """Numbers of so many blocks, whatever is in them."""
        again = min(count, len(self._free))
        need = self._used + count - again
        if need > len(self.blocks):
            room = max(need, int(GROWTH * len(self.blocks)))
            blocks = np.empty((room, *self.blocks.shape[1:]))
            blocks[: self._used] = self.blocks[: self._used]
            self.blocks = blocks
        slots = np.empty(count, np.int64)
        slots[:again] = self._free[len(self._free) - again :]
        slots[again:] = np.arange(self._used, need)
        del self._free[len(self._free) - again :]
        self._used = need
        return slots

    def release(self, slots: Any) -> None:
        """Take these blocks back."""
        self._free.extend(np.asarray(slots, np.int64).tolist())

    @property
    def nbytes(self) -> int:
        """Memory of the blocks that were given out once."""
        return self._used * int(np.prod(self.blocks.shape[1:])) * 8
