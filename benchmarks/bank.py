"""Many streams: memory of a stream, and an event of a random stream.

A million rows fit no cache, so an event waits for its row to come from memory. The yardstick
beside it is the least that any bank does: read one random row and write it back.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from benchmarks import Prepare, Result, best_times
from fullswap import Bank, Forecaster
from fullswap.online.rows import Rows

FRESH_LIMIT, LATER_LIMIT = 700, 1200
RANDOM_LIMIT = 8.0
ROUNDS = 1000


@njit(cache=True)
def touch(arena, start, streams, width):
    """Read the row of each stream and write it back."""
    for t in range(streams.shape[0]):
        for k in range(width):
            arena[start[streams[t]] + k] += 1.0


def benchmark(quick: bool) -> list[Result]:
    """Bytes a stream, fresh and after 1,000 rounds; the cost of an event of a random stream."""
    streams = 10**5 if quick else 10**6
    bank = Bank(Forecaster(seed=1))
    bank.run(np.arange(streams), np.zeros(streams), sample_weight=np.zeros(streams))
    results = [_bytes(f"fresh, {streams:,} streams", bank.nbytes / streams, FRESH_LIMIT)]
    some = Bank(Forecaster(seed=1))
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(1000), ROUNDS))
    some.run(order, np.random.default_rng(1).random(len(order)) < 0.3, record=False)
    results.append(_bytes(f"after {ROUNDS:,} rounds", some.nbytes / len(some), LATER_LIMIT))
    return results + _random_order(streams, some._rows)


def _bytes(name: str, size: float, limit: int) -> Result:
    return Result(f"bank: bytes a stream, {name}", size, 1.0, limit, unit="B")


def _random_order(streams: int, learnt: Rows) -> list[Result]:
    """All streams as they are after 1,000 rounds, met in a random order."""
    events = 10**6
    row = learnt.row(0)
    rows = Rows(learnt.kind, 1, [0])
    rows.put(0, np.tile(row, streams))
    rows.start = np.arange(streams) * len(row)
    rows.words = np.column_stack((np.arange(streams), np.zeros(streams))).astype(np.uint64)
    order = np.random.default_rng(0).integers(0, streams, events)
    outcomes = (np.random.default_rng(1).random(events) < 0.3).astype(float)
    nothing = np.zeros(0), outcomes, np.zeros(0)
    unrecorded = np.zeros((0, 2), np.int32), np.zeros((0, 2)), np.zeros(0, np.int32)

    def bank() -> Callable[[], object]:
        return lambda: rows.run(order, (*nothing, *unrecorded))

    def single() -> Callable[[], object]:
        forecaster = Forecaster(seed=1)
        return lambda: forecaster.run(outcomes, record=False)

    other = rows.arena.copy()

    def least() -> Callable[[], object]:
        return lambda: touch(other, rows.start, order, len(row))

    turns: list[tuple[str, Prepare]] = [("bank", bank), ("single", single), ("least", least)]
    best = {key: seconds / events for key, seconds in best_times(turns, passes=5).items()}
    name = f"bank: an event of one of {streams:,} streams in random order"
    return [
        Result(f"{name}, against an event of a single stream", best["bank"], best["single"],
               RANDOM_LIMIT),
        Result(f"{name}, against one random row read and written", best["bank"], best["least"],
               RANDOM_LIMIT),
    ]  # fmt: skip
