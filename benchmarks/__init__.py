"""Speed as ratios: ours against a yardstick timed in the same run, on the same machine.

Absolute times say little on a shared machine. Here every contender is timed in turn, pass after
pass, and the smallest time of each is kept: a disturbance has to hit all passes of one contender
to show in a ratio. Times are processor time of all threads of this process, because a run of
some tenths of a second is never free of interruptions. Nothing is asserted; the table says which
targets are met.

Run with ``python -m benchmarks`` (``--quick`` for smaller sizes).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
clock = time.process_time
Prepare = Callable[[], Callable[[], object]]
"""Sets up one repetition, untimed, and returns what is to be timed."""


@dataclass(frozen=True)
class Result:
    """One line of the table: ``measured`` and ``yardstick`` in seconds, and the target."""

    name: str
    measured: float
    yardstick: float
    limit: float
    faster: bool = False
    """Whether the target is a speed-up (yardstick/measured ≥ limit), not a cost (≤ limit)."""
    unit: str = "s"
    """Of both: seconds, or bytes ("B")."""

    @property
    def ratio(self) -> float:
        """measured/yardstick, or its inverse for a speed-up."""
        if self.faster:
            return self.yardstick / self.measured
        return self.measured / self.yardstick

    @property
    def target(self) -> str:
        """The limit in words."""
        return f"{'at least' if self.faster else 'at most'} {self.limit:g}"

    @property
    def met(self) -> bool:
        """Whether the ratio is on the right side of the limit."""
        return self.ratio >= self.limit if self.faster else self.ratio <= self.limit


def best_times(turns: Sequence[tuple[Key, Prepare]], passes: int) -> dict[Key, float]:
    """Smallest time in seconds of each contender, over `passes` passes through all turns.

    A contender that is short may have several turns in a pass. A first, untimed pass lets
    kernels compile and caches fill.
    """
    for prepare in dict(turns).values():
        prepare()()
    best: dict[Key, float] = {}
    for _ in range(passes):
        for key, prepare in turns:
            run = prepare()
            start = clock()
            run()
            elapsed = clock() - start
            best[key] = min(elapsed, best.get(key, elapsed))
    return best
