"""Many streams: memory of a stream, an event of a random stream, and all streams to the end.

A million rows fit no cache, so an event waits for its row to come from memory. The yardstick
beside it is the least that any bank does: read one random row and write it back.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

import numpy as np
from numba import njit

from benchmarks import Prepare, Result, best_times, clock
from fullswap import Bank, Forecaster
from fullswap.online.grouped import cores
from fullswap.online.rows import Rows

FRESH_LIMIT, LATER_LIMIT = 700, 1200
RANDOM_LIMIT = 8.0
ROUNDS = 1000
EVENTS_A_STREAM = 100
CHUNK = 10**7
"""Events that are made up at once, so that memory is that of the streams."""
LOOP_LIMIT = 20.0
SAMPLE, SAMPLE_EVENTS = 10_000, 20
"""Streams and events of each that a loop over forecasters is given, one event after the other."""


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
    del bank
    return results + _random_order(streams, some._rows) + _to_the_end(streams)


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


def _to_the_end(streams: int) -> list[Result]:
    """All streams over 100 events each, with one thread and with all, against a loop of objects.

    One thread in processor time, as everywhere here; several by the clock on the wall.
    """
    loops = _loop_of_forecasters()
    Bank(Forecaster(seed=1)).run(np.arange(4) % 2, np.zeros(4), threads=2)  # compiled
    results = []
    for threads in dict.fromkeys((1, cores())):
        now, loop = (clock, loops[0]) if threads == 1 else (time.perf_counter, loops[1])
        bank, seconds = Bank(Forecaster(seed=1)), 0.0
        rng, events = np.random.default_rng(0), streams * EVENTS_A_STREAM
        for begin in range(0, events, CHUNK):
            size = min(CHUNK, events - begin)
            keys, outcomes = rng.integers(0, streams, size), rng.random(size) < 0.3
            start = now()
            bank.run(keys, outcomes, record=False, threads=threads)
            seconds += now() - start
        each = seconds / events
        counted = f"{threads} thread" + "s" * (threads > 1)
        name = f"bank: {streams:,} streams of {EVENTS_A_STREAM} events, {counted}"
        print(
            f"{name}: {1 / each:,.0f} events a second, rows {bank.nbytes / 1e6:,.0f} MB, "
            f"{bank.nbytes / streams:.0f} bytes a stream, at most {_peak() / 1e6:,.0f} MB in use"
        )
        results.append(Result(f"{name}, against a loop over forecasters", each, loop, LOOP_LIMIT,
                              faster=True))  # fmt: skip
    return results


def _loop_of_forecasters() -> tuple[float, float]:
    """Seconds an event where every stream is an object: of the processor, and on the wall."""
    rng = np.random.default_rng(0)
    forecasters = [Forecaster(seed=k) for k in range(SAMPLE)]
    keys = rng.integers(0, SAMPLE, SAMPLE * SAMPLE_EVENTS).tolist()
    outcomes = (rng.random(len(keys)) < 0.3).astype(int).tolist()
    first = Forecaster(seed=1)
    first.predict()
    first.update(1)  # compiled
    start = clock(), time.perf_counter()
    for key, outcome in zip(keys, outcomes, strict=True):
        forecasters[key].predict()
        forecasters[key].update(outcome)
    return (clock() - start[0]) / len(keys), (time.perf_counter() - start[1]) / len(keys)


def _peak() -> float:
    """Most memory that this process has had, in bytes."""
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
