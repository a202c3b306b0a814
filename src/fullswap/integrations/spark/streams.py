"""The streams of many keys as rows of one array, and what waits in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base.draws import stream_of
from fullswap.base.protocols import Indices
from fullswap.forecasting.base import OnlineForecaster
from fullswap.forecasting.binary import Forecaster
from fullswap.forecasting.inputs import scale_of
from fullswap.forecasting.multiclass import MulticlassForecaster
from fullswap.forecasting.recalibrator import Recalibrator
from fullswap.integrations.spark.plan import NEVER, Events, Held, Plan, Waiting, plan_of
from fullswap.kernels.columns import NEXT_ID
from fullswap.online.kind import Kind
from fullswap.online.loop import NOTHING, Recorded, record_of, run_events
from fullswap.online.pending import Pending
from fullswap.online.rows import Rows

SKINS = {skin.__name__: skin for skin in (Forecaster, MulticlassForecaster, Recalibrator)}


@lru_cache(maxsize=16)
def pattern_of(name: str, text: str) -> OnlineForecaster:
    """The pattern that was written on the driver; each process reads it once."""
    pattern: OnlineForecaster = SKINS[name].from_json(text)
    return pattern


@dataclass(frozen=True)
class Played:
    """What n rows came to; NaN and −1 where there is no forecast."""

    issued: NDArray[np.float64]
    mean: NDArray[np.float64]
    numbers: Indices
    status: NDArray[np.int8]


class Streams:
    """Streams of some keys; each draws and learns as it would alone.

    Attributes
    ----------
    keys : list
        Their keys.
    rows : Rows
        Their rows, in this order.
    held : dict
        Forecasts that wait, by place of the key and id.
    """

    def __init__(
        self, pattern: OnlineForecaster, keys: list[Any], rows: Rows | None = None,
        held: Held | None = None,
    ) -> None:  # fmt: skip
        self.pattern, self.keys = pattern, list(keys)
        seed, kind = pattern._stream.draws.seed, pattern._stream.kind
        self.rows = rows or Rows(kind, seed, [stream_of(key) for key in keys])
        self.held: Held = held or {}
        self._scale = scale_of(1.0, pattern.max_weight)

    @property
    def kind(self) -> Kind:
        """What the rows are of."""
        return self.rows.kind

    def add(self, keys: list[Any]) -> None:
        """Blank streams for keys that are new."""
        self.rows.add([stream_of(key) for key in keys])
        self.keys += keys

    def only(self, places: list[int]) -> Streams:
        """Some of the streams, in an array of their own."""
        own = [self.rows.row(place) for place in places]
        rows = Rows.of(
            self.kind, self.pattern._stream.draws.seed, self.rows.words[places].copy(),
            np.concatenate(own), np.array([len(row) for row in own]),
        )  # fmt: skip
        new = {place: k for k, place in enumerate(places)}
        held = {(new[p], name): own for (p, name), own in self.held.items() if p in new}
        return Streams(self.pattern, [self.keys[place] for place in places], rows, held)

    def play(self, events: Events, expire: Any = None) -> Played:
        """Forecast and learn these rows, whose keys are those of the streams."""
        plan = plan_of(events, self.held, expire)
        first = self.rows.arena[self.rows.start + NEXT_ID].astype(np.int64)
        issued, mean, tickets = self._run(events, plan)
        # the forecasts of a key are numbered one after the other
        places = events.places[plan.rows]
        begins = np.searchsorted(places, np.arange(len(self.keys)))
        numbers = first[places] + np.arange(len(places)) - begins[places]
        played = self._shown(events, plan, issued, mean, numbers)
        self._keep(events, plan, played, tickets)
        return played

    def _run(self, events: Events, plan: Plan) -> tuple[Any, Any, dict[int, Any]]:
        """Issued forecasts and means of the rows that are forecast, and tickets by row."""
        count, late = len(plan.rows), plan.late
        waits = len(self.held)
        contexts = None if events.contexts is None else events.contexts[plan.rows]
        # what learns, as a place among those that waited already and the rows of this run
        where = np.full(waits + len(events.places), -1)
        where[waits + plan.rows] = np.arange(waits, waits + count)
        where[:waits] = np.arange(waits)
        own = where[np.where(plan.learns < 0, -1 - plan.learns, waits + plan.learns)]
        outcomes = np.zeros((waits + count, *np.shape(events.outcomes)[1:]))
        scales = np.zeros(waits + count)
        told = plan.brings != NEVER
        outcomes[own[told]] = np.asarray(events.outcomes, np.float64)[plan.brings[told]]
        scales[own[told]] = self._scale
        if outcomes.ndim > 1:  # of weight 0, and yet they have to be distributions
            outcomes[scales == 0, 0] = 1.0
        streams = events.places[plan.rows]
        if not late:
            given = NOTHING if (scales == 1.0).all() else scales
            recorded = run_events(self.rows, streams, contexts, outcomes, given, True, False)
            return *self._values(recorded), {}
        from fullswap.online.late import Earlier, LateRun  # it brings the code of all kinds

        moments = np.full(waits + count, count + 1)
        moments[own] = plan.moments
        heard = np.sort(own[own < waits])  # of those that waited already
        held = list(self.held.items())
        earlier = Earlier(
            np.array([held[k][0][0] for k in heard], np.int64),
            [held[k][1].ticket for k in heard],
            outcomes[heard], scales[heard], moments[heard],
        )  # fmt: skip
        due = np.where(own < waits, np.searchsorted(heard, own), own - waits + len(heard))
        run = LateRun(
            self.rows,
            streams,
            moments[waits:],
            self._pending(),
            earlier if len(heard) else None,
            due,
        )
        recorded = run.run(contexts, outcomes[waits:], scales[waits:], True, False)
        tickets = {int(plan.rows[t]): ticket for t, ticket in run.tickets()}
        return *self._values(recorded), tickets

    def _pending(self) -> dict[int, Pending]:
        """What waits, as late runs count it."""
        pending: dict[int, Pending] = {}
        for (place, _), own in self.held.items():
            pending.setdefault(place, Pending()).tickets[own.ticket.id] = own.ticket
        return pending

    def _values(self, recorded: Recorded | None) -> tuple[Any, Any]:
        assert recorded is not None
        record = record_of(self.kind, self.kind.level_in_view(recorded[2]), recorded)
        return record.issued, record.mean

    def _shown(self, events: Events, plan: Plan, issued: Any, mean: Any, numbers: Any) -> Played:
        """Forecasts beside the rows that show them."""
        held, total = list(self.held.values()), len(events.places)
        size = (len(held) + total, *issued.shape[1:])
        both = np.full(size, np.nan), np.full(size, np.nan)
        ids = np.full(len(held) + total, -1)
        for values, new in zip((*both, ids), (issued, mean, numbers), strict=True):
            values[len(held) + plan.rows] = new
        for k, own in enumerate(held):
            both[0][k], both[1][k], ids[k] = own.issued, own.mean, own.ticket.id
        places = np.where(plan.sources < 0, -1 - plan.sources, len(held) + plan.sources)
        return Played(both[0][places], both[1][places], ids[places], plan.status)

    def _keep(self, events: Events, plan: Plan, played: Played, tickets: dict[int, Any]) -> None:
        """What waits from now on."""
        before = list(self.held.values())
        self.held = {
            own: before[-1 - source]
            if source < 0
            else Waiting(
                tickets[source], events.times[source], played.issued[source], played.mean[source]
            )
            for own, source in plan.waiting.items()
        }
