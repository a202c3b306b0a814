"""Rows of streams in one array, and what compiled loops need beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base.draws import words
from fullswap.base.protocols import Indices, Vector
from fullswap.kernels import events
from fullswap.kernels.columns import LEVEL, MASS
from fullswap.online.kind import Kind

GROWTH = 1.25
"""How much more memory is taken when the arena is full."""


class Rows:
    """The rows of S streams of one kind; those of a single stream are its row exactly.

    Attributes
    ----------
    arena : (W,) array
        All rows.
    start : (S,) array
        Where each stream's row begins.
    """

    def __init__(self, kind: Kind, seed: int, streams: list[int]) -> None:
        self.kind = kind
        self.seed = np.array(words(seed), dtype=np.uint64)
        self.words: NDArray[np.uint64] = np.zeros((0, 2), np.uint64)
        self.arena: Vector = np.zeros(0)
        self.start: Indices = np.zeros(0, np.int64)
        self._room = np.full(1 + len(kind.spec.levels), -1, np.int64)
        self._room[0] = 0
        self.add(streams)

    @classmethod
    def of(
        cls, kind: Kind, seed: int, own: NDArray[np.uint64], arena: Vector, widths: Indices
    ) -> Rows:
        """Rows from outside, which have been checked, one behind the other in an array.

        ``own`` (S, 2) has the words of their streams, ``widths`` (S,) their lengths. The array
        belongs to what comes back.
        """
        self = cls(kind, seed, [])
        self.words, self.arena, self.start = own, arena, np.cumsum(widths) - widths
        self._room[0] = len(arena)
        if len(arena):
            kind.reach(int(arena[self.start + LEVEL].max()))
        return self

    def __len__(self) -> int:
        return len(self.start)

    @property
    def nbytes(self) -> int:
        """Memory of the rows and of what finds them."""
        return self.arena.nbytes + self.start.nbytes + self.words.nbytes

    def add(self, streams: list[int]) -> None:
        """Blank rows for these streams (128-bit numbers), behind the others."""
        own = np.array([words(stream) for stream in streams], np.uint64).reshape(-1, 2)
        self.add_words(own)

    def add_words(self, own: NDArray[np.uint64]) -> None:
        """The same for streams given as low and high words, shape (n, 2)."""
        blank = self.kind.blank
        top, width = int(self._room[0]), len(blank)
        more = len(own) * width
        single = not len(self.start) and len(own) == 1
        arena = self.arena
        if top + more > len(arena):
            arena = _grown(arena, top + more, exact=single)
        arena[top : top + more].reshape(-1, width)[:] = blank
        # cut: an interrupt may have come when words were there and starts were not
        both = _longer(self.words[: len(self.start)], own)
        starts = _longer(self.start, top + width * np.arange(len(own)))
        room = self._room.copy()
        room[0] = top + more
        # what is new becomes visible last and at once
        self.arena, self._room = arena, room
        self.words, self.start = both, starts

    def clear(self, stream: int, number: int) -> None:
        """A blank row for another stream (a 128-bit number) in the place of this one."""
        begin, blank = (
            int(self.start[stream]),
            self.kind.blank,
        )  # no row is shorter than a blank one
        self.arena[begin : begin + len(blank)] = blank
        self.words[stream] = words(number)

    def row(self, stream: int) -> Vector:
        """The row of a stream: a view, until it is refined."""
        begin = int(self.start[stream])
        return self.arena[begin : begin + self.kind.row_width(int(self.arena[begin + LEVEL]))]

    def refine(self, stream: int) -> None:
        """Give a stream that is due its wider row; room is made for it."""
        kind = self.kind
        level = int(self.arena[self.start[stream] + LEVEL])
        kind.reach(level + 1)
        wider = kind.row_width(level + 1)
        if len(self.start) == 1:
            arena = np.empty(wider)
            # so seldom that compiling it would take longer
            events.refine.py_func(kind.kernel, self.row(0), arena)
            room = self._room.copy()
            room[0] = wider
            self.arena, self._room = arena, room
            return
        if self._room[0] + wider > len(self.arena):
            self.compact(wider)
        events.move(kind.kernel, self.arena, self.start, self._room, stream)

    def compact(self, more: int = 0) -> None:
        """A new arena without the places that rows have left, and with room for so much more."""
        if len(self.start) < 2:
            return
        widths = self._widths()
        starts = np.cumsum(widths) - widths
        top = int(widths.sum())
        arena = np.zeros(max(top + more, int(GROWTH * top)))
        events.relocate(self.arena, self.start, arena, starts, widths)
        room = np.full_like(self._room, -1)
        room[0] = top
        self.arena, self.start, self._room = arena, starts, room

    def reserve(self, size: int) -> int:
        """Set a part of the arena apart, into which rows may be moved: where it begins."""
        if self._room[0] + size > len(self.arena):
            self.compact(size)
        room = self._room.copy()
        begin = int(room[0])
        room[0] = begin + size
        self._room = room
        return begin

    def trim(self) -> None:
        """Give back what rows have left, where that is much."""
        if self._room[0] > GROWTH * self._widths().sum():
            self.compact()

    def _widths(self) -> Indices:
        levels = self.arena[self.start + LEVEL].astype(np.int64)
        each = [self.kind.row_width(level) for level in range(int(levels.max(initial=0)) + 1)]
        return np.array(each)[levels]

    def put(self, stream: int, row: Vector) -> None:
        """Replace the row of a stream by one from outside, which has been checked."""
        self.kind.reach(int(row[LEVEL]))
        if len(self.start) == 1:
            self.arena = np.array(row)
            self._room[0] = len(row)
            return
        top = int(self._room[0])
        if top + len(row) > len(self.arena):
            self.arena = _grown(self.arena, top + len(row))
        self.arena[top : top + len(row)] = row
        self._room[0] = top + len(row)
        self.start[stream] = top

    def put_back(self, stream: int, row: Vector) -> None:
        """Return a stream to a row that it had, after an interrupt; it may have been refined."""
        now = self.row(stream)
        if len(now) == len(row):
            now[:] = row
        else:
            self.put(stream, row)

    def snapshot(self) -> tuple[Any, ...]:
        """All that changes, copied."""
        return self.arena.copy(), self.start.copy(), self._room.copy()

    def copy(self) -> Rows:
        """The same rows once more; the seed never changes in place."""
        other = object.__new__(Rows)
        other.kind, other.seed = self.kind, self.seed
        other.words = self.words.copy()  # each may write behind its own
        other.restore(self.snapshot())
        return other

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        """Go back to a snapshot, which is used up."""
        self.arena, self.start, self._room = snapshot

    def run(self, streams: Indices, arguments: tuple[Any, ...]) -> tuple[int, int, int]:
        """Hand events to the compiled loop; see ``fullswap.kernels.events.run``.

        Without ``streams`` they are all of stream 0.
        """
        if not len(streams):
            return self._run_alone(arguments)
        done: tuple[int, int, int] = events.run(
            self.kind.kernel, self.arena, self.start, self._room, self.words, self.seed, streams,
            *arguments,
        )  # fmt: skip
        return done

    def _run_alone(self, arguments: tuple[Any, ...]) -> tuple[int, int, int]:
        """The same for a single stream, without the code that moves rows."""
        spec, row = self.kind.kernel, self.row(0)
        level = int(row[LEVEL])
        if row[MASS] >= spec.ends[level]:  # stopped before it could be refined
            return 0, events.NO_ROOM, 0
        points = spec.grid[spec.first[level] : spec.first[level + 1]]
        done, reason = events.stretch(
            spec, points, row, level, self.words[0], self.seed, 0, len(arguments[1]), *arguments
        )
        return done, reason, 0

    def replay(self, streams: Indices, arguments: tuple[Any, ...]) -> tuple[int, int]:
        """Hand rows whose outcomes come late to it; see ``fullswap.kernels.replay.replay``."""
        from fullswap.kernels.replay import replay  # it brings the compiled code of all kinds

        done: tuple[int, int] = replay(
            self.kind.kernel, self.arena, self.start, self._room, self.words, self.seed, streams,
            *arguments,
        )  # fmt: skip
        return done

    def peek(self, streams: Indices, arguments: tuple[Any, ...]) -> None:
        """Hand events to compiled code that only looks; see ``fullswap.kernels.events.peek``."""
        events.peek(self.kind.kernel, self.arena, self.start, streams, *arguments)


def _longer(array: Any, more: Any) -> Any:
    """The array with more entries behind: in the room that it has, or in a new, larger one.

    Arrays of many streams are the beginnings of larger ones, so that adding streams one by one
    costs no more than adding them together.
    """
    count, base = len(array) + len(more), array.base
    fits = base is not None and len(base) >= count and base.ctypes.data == array.ctypes.data
    if not len(array):
        return np.array(more)
    if not fits:
        base = np.zeros((max(count, int(GROWTH * count)), *array.shape[1:]), array.dtype)
        base[: len(array)] = array
    base[len(array) : count] = more
    return base[:count]


def _grown(arena: Vector, least: int, exact: bool = False) -> Vector:
    size = least if exact else max(least, int(GROWTH * len(arena)))
    larger = np.zeros(size)
    larger[: len(arena)] = arena
    return larger
