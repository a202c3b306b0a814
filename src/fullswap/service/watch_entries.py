"""Where the numbers of each stream lie: little for one that has seen little.

A stream that has seen little is the list of its forecasts, another has a whole row; see
``kernels.watch``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.checking.monitor_settings import Settings
from fullswap.kernels.evidence import width_of
from fullswap.kernels.watch import (
    ALARM_TIME,
    CHANCE,
    EMPTY,
    ERROR,
    FEW,
    HEAD,
    HELD,
    MOST_,
    NOW_,
    OUR_CHANCE,
    OUR_ERROR,
    RECOVERS,
    SOME,
    WHOLE,
    run,
)
from fullswap.kernels.watch_sums import DATA, REST
from fullswap.service.watch_input import Events, no_events
from fullswap.service.watch_pools import Pool
from fullswap.service.watch_state import check_list, check_row

LIST = 16
"""Forecasts up to which a stream is the list of them. Each call goes through the list again, which
costs less than a microsecond a forecast; a whole row takes ten times the memory."""
SHORT_LIST = 4


class Entries:
    """Heads, lists and rows of all streams.

    Parameters
    ----------
    classes : int
    run_length : float
        Of the monitors; 0: there are none.

    Attributes
    ----------
    heads : array, shape (room, HEAD)
        What is asked of all streams at once; the first ``count`` are in use.
    columns : int
        Of a whole row, those of the monitor; the others come behind them.
    """

    def __init__(self, classes: int, run_length: float) -> None:
        self._settings = Settings(run_length or 2.0, classes, None)
        self._run_length = run_length
        bets = len(self._settings.prior)
        self.columns = int(width_of(bets, classes)) if run_length else 0
        whole, self._width = self.columns + REST, 3 * (1 if classes == 2 else classes) + DATA
        # with many classes a forecast is nearly as long as a row: then lists are short
        some = max(1, min(LIST, whole // (2 * self._width)))
        few = max(1, min(SHORT_LIST, some // 2))
        self._capacity = np.array([0, few, some])
        self._few, self._some = Pool((few, self._width)), Pool((some, self._width))
        self._whole = Pool((whole,))
        self._scratch: Vector = np.zeros(whole)
        self._blank: Vector = np.zeros(HEAD)
        self._blank[[NOW_, MOST_]] = 1.0
        self._blank[RECOVERS] = math.inf
        self._blank[[ERROR, CHANCE, OUR_ERROR, OUR_CHANCE, ALARM_TIME]] = math.nan
        self.count = 0
        self.heads: Points = np.zeros((0, HEAD))
        self._level: NDArray[np.int8] = np.zeros(0, np.int8)
        self._slot: Indices = np.zeros(0, np.int64)

    def add(self, count: int) -> None:
        """Blank entries behind the others."""
        need = self.count + count
        if need > len(self._level):
            room, own = max(need, 2 * len(self._level)), slice(self.count)
            heads = np.empty((room, HEAD))
            level, slot = np.zeros(room, np.int8), np.zeros(room, np.int64)
            heads[own], level[own] = self.heads[own], self._level[own]
            slot[own] = self._slot[own]
            self.heads, self._level, self._slot = heads, level, slot
        self.heads[self.count : need] = self._blank
        self._level[self.count : need] = EMPTY
        self.count = need

    def clear(self, place: int) -> None:
        """Make an entry blank again."""
        level = int(self._level[place])
        if level != EMPTY:
            self._pool(level).release(self._slot[place : place + 1])
        self._level[place] = EMPTY
        self.heads[place] = self._blank

    def _pool(self, level: int) -> Pool:
        return {FEW: self._few, SOME: self._some, WHOLE: self._whole}[level]

    @property
    def nbytes(self) -> int:
        """Memory of all entries."""
        own = self.count * (8 * HEAD + 9)
        return own + self._few.nbytes + self._some.nbytes + self._whole.nbytes

    # --- events -----------------------------------------------------------------------------------

    def make_room(self, events: Events) -> Indices:
        """Longer lists for streams that need them now; rows for those that have too many forecasts.

        Returns the row of each stream that gets one, −1 for the others.
        """
        touched = events.touched
        after = self.heads[touched, HELD] + events.rows
        wanted = np.where(after > self._capacity[SOME], WHOLE, SOME)
        wanted[after <= self._capacity[FEW]] = FEW
        wanted[wanted <= self._level[touched]] = EMPTY  # they have it, or more
        target = np.full(len(touched), -1)
        if not wanted.any():
            return target
        moved = {to: touched[wanted == to] for to in (FEW, SOME, WHOLE)}
        # memory is taken before anything changes
        slots = {to: self._pool(to).reserve(len(own)) for to, own in moved.items()}
        longer = self._level[moved[SOME]] == FEW
        old = self._slot[moved[SOME][longer]]
        lists = self._few.blocks
        self._some.blocks[slots[SOME][longer], : lists.shape[1]] = lists[old]
        self._few.release(old)
        for to in (FEW, SOME):
            self._level[moved[to]], self._slot[moved[to]] = to, slots[to]
        target[wanted == WHOLE] = slots[WHOLE]
        return target

    def run(self, events: Events, target: Indices, cursor: Indices) -> int:
        """Go on with these events from the cursor, as ``kernels.watch.run`` says."""
        s = self._settings
        what: int = run(
            s.prior, s.work, self._run_length, self.columns, self.heads, self._level, self._slot,
            target, self._few.blocks, self._some.blocks, self._whole.blocks, self._scratch,
            events.touched, events.starts, events.order, events.table, events.watched, events.hot,
            events.weights, events.bounds, cursor,
        )  # fmt: skip
        return what

    def finish(self, events: Events, target: Indices) -> None:
        """Streams that got a row need their list no more."""
        own = target >= 0
        if not own.any():
            return
        places = events.touched[own]
        for level in (FEW, SOME):
            self._pool(level).release(self._slot[places[self._level[places] == level]])
        self._level[places], self._slot[places] = WHOLE, target[own]
        self.heads[places, HELD] = 0.0

    def current(self, events: Events, target: Indices, cursor: Indices) -> Vector:
        """The whole row of the stream at which ``run`` stopped."""
        place, row = int(events.touched[cursor[0]]), int(target[cursor[0]])
        if row < 0 and self._level[place] < WHOLE:
            return self._scratch
        return self._row_at(row if row >= 0 else int(self._slot[place]))

    def row(self, place: int) -> Vector:
        """The whole row of a stream; the next one asked for may lie in its place."""
        if self._level[place] == WHOLE:
            return self._row_at(int(self._slot[place]))
        self._renew(place)
        return self._scratch

    def _row_at(self, slot: int) -> Vector:
        row: Vector = self._whole.blocks[slot]
        return row

    def _renew(self, place: int) -> None:
        """Work out the head of a stream, and its row if it is a list."""
        nothing = no_events(place, self._width)
        self.run(nothing, np.full(1, -1), np.zeros(2, np.int64))

    # --- saved state ------------------------------------------------------------------------------

    def numbers(self, place: int) -> tuple[bool, NDArray[np.float64]]:
        """Whether a stream has a whole row; that row, or its list."""
        level = int(self._level[place])
        if level == EMPTY:
            return False, np.zeros((0, self._width))
        block = self._pool(level).blocks[self._slot[place]]
        return level == WHOLE, block if level == WHOLE else block[: int(self.heads[place, HELD])]

    def restore(self, place: int, whole: bool, numbers: Vector) -> None:
        """Make a stream what ``numbers`` gave, checked."""
        if whole:
            check_row(numbers, self.columns, len(self._scratch))
        else:
            numbers = check_list(numbers, self._width, int(self._capacity[SOME]))
        level = WHOLE if whole else int(np.searchsorted(self._capacity, len(numbers)))
        slots = self._pool(level).reserve(1) if level != EMPTY else np.zeros(1, np.int64)
        self.clear(place)
        if level == EMPTY:
            return
        self._level[place], self._slot[place] = level, slots[0]
        self._pool(level).blocks[slots[0], : len(numbers)] = numbers
        self.heads[place, HELD] = 0.0 if whole else len(numbers)
        self._renew(place)
