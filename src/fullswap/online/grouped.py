"""Events of many streams, stream by stream and in several threads; the same numbers bit for bit.

Streams know nothing of each other, so only the order within each stream matters. Its events are
brought together, which keeps its row in the cache, and chunks of streams go to threads. Compiled
code lets other threads run. Each thread has scratch of its own, and each chunk its own part of the
arena, into which rows that grow are moved; when one is full, all stop until there is room.

What a piece learns is in the rows when compiled code returns, as in ``fullswap.online.loop``: a run
that is stopped leaves every stream after some event of its own.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from typing import Any

import numpy as np

from fullswap.base.progress import BETWEEN_DRAWINGS, Progress
from fullswap.base.protocols import Indices, Vector
from fullswap.kernels import events
from fullswap.kernels.columns import LEVEL, MASS
from fullswap.kernels.grouping import group_events
from fullswap.online.loop import NOTHING, Recorded, as_indices, index_type, room_for
from fullswap.online.rows import Rows

LARGE = 2**17
"""Events from which on bringing those of a stream together, and threads, pay."""
PIECE = 2**14
"""Events that are handed to compiled code at once."""
CHUNKS = 8
"""A thread: so that none has much left to do when others are through."""
SLACK = 1e-9
"""How far a sum of scales may be from the mass that adding them one by one comes to."""


def cores() -> int:
    """Processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_for(events: int, threads: int | None) -> int:
    """How many threads so many events get: as many as asked for, else all cores for many events."""
    return threads or (cores() if events >= LARGE else 1)


def pays(rows: Rows, events: int, threads: int | None) -> bool:
    """Whether to run stream by stream."""
    return len(rows) > 1 and events > 0 and (events >= LARGE or (threads or 1) > 1)


class Chunk:
    """Streams that follow one another, and how far their events are done."""

    __slots__ = ("begin", "end", "limit", "room", "stopped", "streams")

    def __init__(self, streams: slice, begin: int, end: int) -> None:
        self.streams = streams
        self.begin, self.end = begin, end
        """Events that are left, as places in the grouped order."""
        self.room: Any = None
        """As for ``fullswap.kernels.events.move``, in its own part of the arena."""
        self.limit = 0
        """Where that part ends."""
        self.stopped: int | None = None
        """In which stream it stopped before its end."""


class GroupedRun:
    """A run of T events of S streams; arguments as for ``run_events``."""

    def __init__(
        self, rows: Rows, streams: Indices, contexts: Any, outcomes: Any, scales: Vector,
        record: bool, threads: int,
    ) -> None:  # fmt: skip
        self._rows, self._streams, self._threads = rows, streams, threads
        self._contexts, self._outcomes, self._scales = contexts, outcomes, scales
        self._record = record
        total = len(streams)
        self._bounds = bounds = np.zeros(len(rows) + 1, np.int64)
        sorted_already = bool((streams[1:] >= streams[:-1]).all())
        kind = np.int32 if total < 2**31 else np.int64
        self._order: Any = np.zeros(0 if sorted_already else total, kind)
        group_events(streams, bounds, self._order)
        self._levels_at_end = self._reached(bounds)
        rows.kind.reach(int(self._levels_at_end.max()))
        self._chunks = _chunks(
            bounds, min(CHUNKS * threads, 1 + total // PIECE) if threads > 1 else 1
        )
        self._recorded = room_for(total if record else 0, rows.kind)
        self._stop = False

    def _reached(self, bounds: Indices) -> Indices:
        """The level at which each stream will be, or one more."""
        rows, spec = self._rows, self._rows.kind.spec
        if len(self._scales):
            more = np.bincount(self._streams, self._scales, len(rows))
        else:
            more = np.diff(bounds).astype(np.float64)
        mass = (rows.arena[rows.start + MASS] + more) * (1 + SLACK)
        levels: Indices = np.searchsorted(np.array(spec.starts[1:]), mass, side="right")
        return np.where(more > 0, levels, rows.arena[rows.start + LEVEL].astype(np.int64))

    def run(self, progress: bool | None) -> Recorded | None:
        """Forecast and learn all events; the forecasts in the order in which events were given."""
        left = self._chunks
        with Progress(len(self._streams), progress, "events") as bar:
            while left:
                self._make_room(left)
                self._round(left, bar)
                left = [chunk for chunk in left if chunk.begin < chunk.end]
                self._mend(left)
        self._rows.trim()
        return self._recorded if self._record else None

    # --- room -----------------------------------------------------------------------------------

    def _make_room(self, chunks: list[Chunk]) -> None:
        """Give each chunk a part of the arena for the rows that will be wider."""
        rows, kind = self._rows, self._rows.kind
        now = rows.arena[rows.start + LEVEL].astype(np.int64)
        target = np.maximum(self._levels_at_end, now)
        widths = np.array([kind.row_width(level) for level in range(int(target.max()) + 1)])
        wider = np.where(target > now, widths[target], 0)
        needs = []
        for chunk in chunks:
            own = wider[chunk.streams]
            passed = int(target[chunk.streams][own > 0].max(initial=0))
            # one row of every level on the way: what a stream leaves, the next one takes
            needs.append(int(own.sum()) + int(widths[:passed].sum()))
        begin = rows.reserve(sum(needs))
        for chunk, need in zip(chunks, needs, strict=True):
            chunk.room = np.full(1 + len(kind.spec.levels), -1, np.int64)
            chunk.room[0], chunk.limit = begin, begin + need
            chunk.stopped = None
            begin += need

    def _mend(self, chunks: list[Chunk]) -> None:
        """What chunks stopped for: rows that must grow."""
        kind = self._rows.kind
        for stream in [chunk.stopped for chunk in chunks if chunk.stopped is not None]:
            begin = int(self._rows.start[stream])
            due = int(self._rows.arena[begin + LEVEL]) + 1
            self._levels_at_end[stream] = max(int(self._levels_at_end[stream]), due)
            kind.reach(due)
        self._recorded = as_indices(self._recorded, index_type(kind))

    # --- threads ----------------------------------------------------------------------------------

    def _round(self, chunks: list[Chunk], bar: Progress) -> None:
        """Run chunks until they are through or stop."""
        waiting, errors = deque(chunks), list[BaseException]()
        kernel = self._rows.kind.kernel
        self._stop = False
        count = min(self._threads, len(chunks))
        if count == 1:
            self._work(own_scratch(kernel), waiting, errors, bar)
        else:
            self._piece(kernel, chunks[0], 0)  # compiles here, where it is said

            def work(ended: threading.Event) -> None:
                try:
                    self._work(own_scratch(kernel), waiting, errors)
                finally:
                    ended.set()

            ends = [threading.Event() for _ in range(count)]
            threads = [threading.Thread(target=work, args=(end,), daemon=True) for end in ends]
            try:
                for thread in threads:
                    thread.start()
                for end in ends:
                    while not end.wait(BETWEEN_DRAWINGS):
                        bar.update(self._done())
            except BaseException:
                self._stop = True
                raise
            finally:
                _wait_for(threads, ends)
        if errors:
            raise errors[0]
        bar.update(self._done())

    def _done(self) -> int:
        return len(self._streams) - sum(chunk.end - chunk.begin for chunk in self._chunks)

    def _work(
        self, kernel: Any, waiting: deque[Chunk], errors: list[BaseException],
        bar: Progress | None = None,
    ) -> None:  # fmt: skip
        """Take chunks and run them, until there are no more or something stops all."""
        try:
            while waiting and not self._stop:
                try:
                    chunk = waiting.popleft()
                except IndexError:  # another thread was faster
                    return
                while chunk.begin < chunk.end and not self._stop:
                    size = min(PIECE, chunk.end - chunk.begin)
                    done, reason, stream = self._piece(kernel, chunk, size)
                    chunk.begin += done
                    if reason != events.DONE:
                        chunk.stopped = stream
                        break
                    if bar is not None:
                        bar.update(self._done())
        except BaseException as error:
            self._stop = True
            if threading.current_thread() is threading.main_thread():
                raise
            errors.append(error)

    def _piece(self, kernel: Any, chunk: Chunk, size: int) -> tuple[int, int, int]:
        """Hand the next events of a chunk to compiled code, and write their forecasts down."""
        rows, begin = self._rows, chunk.begin
        part = slice(begin, begin + size)
        order = self._order[part].astype(np.int64) if len(self._order) else None

        def pick(array: Any) -> Any:
            """The entries of these events: a view of arrays that are in order already."""
            return array[part] if order is None else array.take(order, axis=0)

        contexts = NOTHING if self._contexts is None else pick(self._contexts)
        own = self._recorded
        if self._record:
            own = pick(own[0]), pick(own[1]), pick(own[2])
        done, reason, stream = events.run(
            kernel, rows.arena[: chunk.limit], rows.start, chunk.room, rows.words, rows.seed,
            self._streams_at(part), contexts,
            np.ascontiguousarray(pick(self._outcomes), dtype=np.float64),
            pick(self._scales) if len(self._scales) else self._scales, *own,
        )  # fmt: skip
        if self._record and order is not None:
            for whole, written in zip(self._recorded, own, strict=True):
                whole[order[:done]] = written[:done]
        return done, reason, stream

    def _streams_at(self, part: slice) -> Indices:
        """Whose events these places in the grouped order are."""
        first, last = np.searchsorted(self._bounds, (part.start, part.stop), side="right")
        edges = np.clip(self._bounds[first - 1 : last + 1], part.start, part.stop)
        return np.repeat(np.arange(first - 1, first - 2 + len(edges)), np.diff(edges))


def _chunks(bounds: Indices, most: int) -> list[Chunk]:
    """Streams cut into parts of nearly as many events each; a stream is never cut."""
    cuts = np.searchsorted(bounds, bounds[-1] * np.arange(1, most) / most)
    edges = np.unique(np.concatenate(([0], cuts, [len(bounds) - 1])))
    parts = [Chunk(slice(a, b), int(bounds[a]), int(bounds[b]))
             for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]  # fmt: skip
    return [part for part in parts if part.begin < part.end]


def own_scratch(spec: Any) -> Any:
    """The same spec of kernels with arrays of its own; what nobody can write is shared.

    Grids and all that a layout says are shared too.
    """

    def own(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.flags.writeable:
            return value.copy()
        if isinstance(value, tuple):
            return tuple(own(part) for part in value)
        return value

    shared = len(events.Layout._fields)
    return spec._make((*spec[:shared], *(own(value) for value in spec[shared:])))


def _wait_for(threads: list[threading.Thread], ends: list[threading.Event]) -> None:
    """Until all have ended, whatever else interrupts: they write into the rows.

    By events of their own: a ``join`` that a signal interrupts calls a thread ended that runs on
    (Python 3.11).
    """
    for thread, end in zip(threads, ends, strict=True):
        while thread.ident is not None and not end.is_set():
            try:
                end.wait()
            except KeyboardInterrupt:
                continue


def run_grouped(
    rows: Rows, streams: Indices, contexts: Any, outcomes: Any, scales: Vector, record: bool,
    progress: bool | None, threads: int | None = None,
) -> Recorded | None:  # fmt: skip
    """The same as ``run_events``, stream by stream; None: threads as many as pay."""
    count = threads_for(len(streams), threads)
    run = GroupedRun(rows, streams, contexts, outcomes, scales, record, count)
    return run.run(progress)
