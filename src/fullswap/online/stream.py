"""One stream: its row, its draws and its forecasts that wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fullswap.base.draws import Draws
from fullswap.base.protocols import Indices, Mixture, Vector
from fullswap.kernels.columns import (
    CROWD,
    DELAY,
    LEARNT,
    LEVEL,
    MASS,
    NEXT_ID,
    OVERLAP,
    REPEATS,
    ROUNDS,
)
from fullswap.kernels.philox import uniform
from fullswap.online.loop import AfterStretch, Recorded, learnt_of
from fullswap.online.pending import Pending
from fullswap.online.rows import Rows
from fullswap.online.tickets import Forecast


class Stream:
    """The verbs of single events on one row of many, or on the only one."""

    __slots__ = (
        "_alone", "_arena", "_begin", "_forecast", "_learn", "_level", "_row", "draws", "index",
        "key", "kind", "pending", "rows",
    )  # fmt: skip

    def __init__(
        self, rows: Rows, draws: Draws, pending: Pending, index: int = 0, key: Any = None
    ) -> None:
        self.rows, self.kind = rows, rows.kind
        self.draws, self.pending = draws, pending
        self.index, self.key = index, key
        self._alone = key is None
        self._row: Any = None
        self._arena: Any = None
        self._learn: Any = None
        self._begin = 0

    def move_to(self, rows: Rows) -> None:
        """Go on with the same streams in other rows, of a kind that plays the same.

        An interrupt leaves either rows in use: the kind follows when verbs are next prepared.
        """
        for ticket in self.pending.tickets.values():
            ticket._kind = rows.kind
        self._row = self._arena = self._learn = None
        self.rows = rows
        self.kind = rows.kind

    @property
    def row(self) -> Vector:
        """The row: a view, until it is refined."""
        return self.rows.arena if self._alone else self.rows.row(self.index)

    def _bind(self) -> None:
        """Prepare the verbs for a row that is new here; it is marked as known last.

        A place of an arena is of one level as long as the arena is: the same place is the same row.
        """
        rows, begin = self.rows, 0
        if not self._alone:
            begin = rows.start.item(self.index)
            if self._arena is rows.arena and self._begin == begin:
                return
        self._arena, arena, self.kind = None, rows.arena, rows.kind
        row = self.row
        self._level = self.kind.level_of(row)
        self._forecast = self.kind.forecaster(row, self.draws.source)
        self._learn = None
        self._begin = begin
        self._row, self._arena = row, arena

    def predict(self, context: Any, event: Any = None) -> Forecast:
        """Forecast the next event, or once more one for which forecasts may wait.

        All forecasts of an event draw with the number of the oldest that waits, so what is issued
        stays the same, or switches once, while the cell is the same. That a round loses no more
        than its rounding holds in expectation for each forecast separately, because that number is
        independent of the outcome and of all that was learnt since: none of it may depend on the
        draws of this event. Sums of expectations need no independence between the forecasts.
        """
        if self._row is not self.rows.arena:  # of many streams, or new
            self._bind()
        play = self._forecast(1) if context is None else self._forecast(1, context)
        pending = self.pending
        if event is not None:
            siblings = pending.known_events().get(event)
            if siblings:
                first = next(iter(siblings))
                play = self.kind.drawn_with(play, uniform(self.draws.source, first))
        ticket = Forecast(self.kind, self._level, play, self.key, event)
        if pending.tickets and self.kind.spec.hears:
            ticket.crowd = pending.crowd(ticket)
        if pending.index is None:
            pending.tickets[play[0]] = ticket
        else:
            pending.add(play[0], ticket)
        return ticket

    def peek(self, context: Any) -> Mixture:
        """The distribution that would be forecast; nothing is drawn and nothing changes."""
        row, own = self.row, () if context is None else (context,)
        play = self.rows.kind.forecaster(row, self.draws.source)(0, *own)
        points, weights = self.kind.shown(play, self.kind.level_of(row))
        return Mixture(points, weights, np.array(self.kind.support(play)[0]))

    def find(self, forecast: Any) -> Forecast:
        """The pending forecast that is meant: itself, its id, or None if it is the only one."""
        return self.pending.find(forecast, int(self.row[NEXT_ID]))

    def learn(self, ticket: Forecast, outcome: Any, scale: float) -> None:
        """Take the outcome of a pending forecast; both have been checked.

        Learning is one step of compiled code, so after an interrupt the row itself says whether it
        was taken: an outcome is learnt once or not at all.
        """
        if self._row is not self.rows.arena:
            self._bind()
        row, learn = self._row, self._learn
        if learn is None:
            learn = self._learn = self.kind.learner(row, self._level)
        play, pending = ticket._play, self.pending
        number = play[0]
        if ticket.level != self._level:
            play = self.kind.lifted(play, ticket.level, self._level)
            learn = self.kind.learner(row, ticket.level)
        try:
            if pending.index is None:
                del pending.tickets[number]
            else:
                pending.remove(number, ticket)
            if scale > 0 and (pending.tickets or ticket.crowd):
                due = self._learn_late(row, ticket, learn, (*play, scale, outcome))
            else:
                due = learn(*play, scale, outcome)
            if due:
                self.rows.refine(self.index)
        except BaseException:
            row[CROWD] = 0.0
            if row[LEARNT] == number:
                self.settle()
            else:
                pending.restore(ticket)
            raise

    def resolve(self, tickets: list[Forecast], outcome: Any, scale: float) -> None:
        """Take the outcome of an event: its n forecasts that wait learn with scale/n each, or none.

        Forecasts of one event that were made from one state are one update of the event's scale:
        for running means because sums are sums; for the aggregating rule by Hölder's inequality,
        ln Σ v·Π exp(−2ℓ_i/n) ≤ (1/n)·Σ_i ln Σ v·exp(−2ℓ_i), so that what the weights of the experts
        pay for all of them together is at least the mean of what they would pay for each.
        """
        if len(tickets) == 1:
            self.learn(tickets[0], outcome, scale)
            return
        before = self.row.copy()
        try:
            for ticket in tickets:
                self.learn(ticket, outcome, scale / len(tickets))
            self.row[REPEATS] += len(tickets) - 1
        except BaseException:
            self.rows.put_back(self.index, before)
            self.pending.restore(*tickets)
            raise

    def settle(self) -> Vector:
        """The row; refined, if an interrupt came before that."""
        row = self.row
        row[CROWD] = 0.0
        while self.kind.spec.level_at(float(row[MASS])) > row[LEVEL]:
            self.rows.refine(self.index)
            row = self.row
        return row

    # --- outcomes that come late ------------------------------------------------------------------

    def _learn_late(
        self, row: Vector, ticket: Forecast, learn: Callable[..., bool], arguments: Any
    ) -> bool:
        """Learn while others wait: how many events, where this forecast learns and anywhere.

        Forecasts of its own event are not late for it: ``resolve`` says why.
        """
        level = self.kind.level_of(row)
        crowd = max(self.pending.crowd(ticket), ticket.crowd)
        waiting = self.pending.waiting(level, ticket.learners(level), ticket.event)
        row[OVERLAP] = max(row[OVERLAP], crowd)
        row[DELAY] = max(row[DELAY], waiting)
        row[CROWD] = crowd
        try:
            return learn(*arguments)
        finally:
            row[CROWD] = 0.0

    def expect_lateness(self) -> Callable[[Recorded, Any], None]:
        """Before a stretch of a run: note the most that it can find waiting.

        Should it be cut short, that stands until ``settle``. What comes back is to be called after
        it, with the record of this stream's events and which of them were learnt: it notes what
        waited where they learnt, as single updates do.
        """
        row, crowd = self.row, self.pending.crowd()
        delay, overlap = float(row[DELAY]), float(row[OVERLAP])
        row[OVERLAP] = max(overlap, crowd)
        row[DELAY] = max(delay, self.pending.most(self.kind.level_of(row)))
        row[CROWD] = crowd

        def settle(recorded: Recorded, learnt: Any) -> None:
            indices, weights, issued = recorded
            if self.kind.vectors:  # all classes learn
                places = np.zeros((len(issued), 1), np.int64)
            elif self.kind.spec.realised:
                places = issued[:, None]
            else:
                weights = np.column_stack((weights, 1.0 - weights))
                places = np.where(weights > 0, indices, -1)
            used = np.unique(places[learnt])
            row = self.row
            level = self.kind.level_of(row)
            waiting = self.pending.waiting(level, self.kind.finest(level)[used[used >= 0]])
            row[DELAY] = max(delay, waiting)
            row[OVERLAP] = max(overlap, crowd if learnt.any() else 0)
            row[CROWD] = 0.0

        return settle


def is_fresh(row: Vector) -> bool:
    """Whether a stream has seen nothing yet."""
    return bool(row[ROUNDS] == 0 and row[NEXT_ID] == 0)


def watch(
    waiting: Mapping[int, Stream], streams: Indices, scales: Vector
) -> Callable[[slice], AfterStretch] | None:
    """What ``run_events`` is to tell of its stretches where streams have forecasts that wait.

    ``waiting`` has these streams by number; ``streams`` and ``scales`` as for the run.
    """
    if not waiting:
        return None

    def begin(part: slice) -> AfterStretch:
        met = np.unique(streams[part]).tolist() if len(streams) else list(waiting)
        settles = {k: waiting[k].expect_lateness() for k in met if k in waiting}

        def after(ran: slice, recorded: Recorded) -> None:
            learnt = learnt_of(scales, ran)
            for k, settle in settles.items():
                own = streams[ran] == k if len(streams) else np.ones(len(learnt), bool)
                settle((recorded[0][own], recorded[1][own], recorded[2][own]), learnt[own])

        return after

    return begin
