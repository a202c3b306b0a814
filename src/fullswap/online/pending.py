"""The forecasts of one stream that wait, found by id, by event and by grid point."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.keys import event_name
from fullswap.online.tickets import Forecast

NAMES = (str, bytes, tuple)
"""Names of events that cannot be ids of forecasts."""


class Pending:
    """The forecasts of one stream that wait, and how many events wait at each grid point.

    Forecasts of one event are made before any of them is learnt, and are learnt together, with
    weights that sum to that of the event. So while they wait they are one event, wherever they
    are: a forecast without an event name is an event of its own.
    """

    __slots__ = ("_level", "index", "tickets")

    def __init__(self) -> None:
        self.tickets: dict[int, Forecast] = {}
        self.index: Index | None = None
        """What finds them by event and by grid point; None until it is asked for."""
        self._level = 0

    def __len__(self) -> int:
        return len(self.tickets)

    def __iter__(self) -> Iterator[Forecast]:
        return iter(sorted(self.tickets.values(), key=lambda ticket: ticket.id))

    def add(self, number: int, ticket: Forecast) -> None:
        """One more waits."""
        index, self.index = self.index, None  # should an interrupt come, it is made anew
        self.tickets[number] = ticket
        if index is not None:
            index.add(ticket)
            self.index = index

    def remove(self, number: int, ticket: Forecast) -> None:
        """One waits no longer."""
        index, self.index = self.index, None
        del self.tickets[number]
        if index is not None and self.tickets:
            index.remove(ticket)
            self.index = index

    def drop(self, tickets: list[Forecast]) -> None:
        """These wait no longer: all of them, or none."""
        try:
            for ticket in tickets:
                self.remove(ticket.id, ticket)
        except BaseException:
            self.restore(*tickets)
            raise

    def restore(self, *tickets: Forecast) -> None:
        """They wait again, after an interrupt."""
        self.index = None
        for ticket in tickets:
            self.tickets[ticket.id] = ticket

    # --- which one is meant ---------------------------------------------------------------------

    def find(self, forecast: Any, next_id: int) -> Forecast:
        """The forecast that is meant: itself, its id, or None if it is the only one.

        Or the name of its event, if that is a text or a tuple and has no other forecast.
        """
        if forecast is None:
            if len(self.tickets) != 1:
                raise ValueError(
                    "no forecast is pending; call predict() first"
                    if not self.tickets
                    else f"forecast must be given: {len(self.tickets)} forecasts are pending"
                )
            return next(iter(self.tickets.values()))
        if isinstance(forecast, NAMES):
            return self.alone(event_name(forecast))
        number = forecast.id if isinstance(forecast, Forecast) else forecast
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            checks.refuse("forecast", "be a Forecast, its id or the name of its event", forecast)
        ticket = self.tickets.get(int(number))
        if ticket is None:
            made = 0 <= number < next_id
            why = (
                "it had its outcome, or was dropped" if made else "this forecaster did not make it"
            )
            raise ValueError(f"forecast {number} is not pending: {why}")
        # equal by value, because a restart makes new objects for the forecasts that wait
        if isinstance(forecast, Forecast) and not forecast.same_as(ticket):
            raise ValueError(f"forecast {number} was made by another forecaster")
        return ticket

    def alone(self, event: Any) -> Forecast:
        """The only forecast of an event that waits."""
        own = self.of_event(event)
        if len(own) > 1:
            raise ValueError(
                f"forecast must be one, got event {event!r}, which has {len(own)} that wait: "
                f"give event={event!r} for all of them"
            )
        return own[0]

    def of_event(self, event: Any) -> list[Forecast]:
        """The forecasts of an event that wait, in the order of their ids."""
        own = self.known_events().get(event)
        if not own:
            raise ValueError(
                f"event {event!r} has no pending forecast: it was resolved or dropped, "
                f"or nothing was forecast with this name"
            )
        return list(own.values())

    def known_events(self) -> dict[Any, dict[int, Forecast]]:
        """The forecasts of every event with a name, by id and in the order of their ids."""
        return self._indexed(None).events

    # --- how many wait --------------------------------------------------------------------------

    def crowd(self, ticket: Forecast | None = None) -> int:
        """Events that wait, besides that of a ticket."""
        index = self._indexed(None)
        waiting = len(self.tickets) - index.named + len(index.events)
        return waiting - (ticket is not None and ticket.event in index.events)

    def waiting(self, level: int, learners: Any, event: Any = None) -> int:
        """Most events, besides this one, that wait at one of these grid points of a level."""
        index = self._indexed(level)
        counts, own = index.counts, index.own
        if event is None:
            return max((counts.get(int(i), 0) for i in learners), default=0)
        return max((counts.get(int(i), 0) - ((event, int(i)) in own) for i in learners), default=0)

    def most(self, level: int) -> int:
        """Most events that wait at one grid point of a level."""
        return max(self.held(level).values(), default=0)

    def held(self, level: int) -> dict[int, int]:
        """How many events wait at the grid points of a level."""
        return self._indexed(level).counts

    def _indexed(self, level: int | None) -> Index:
        """The index for this level, or for any."""
        index = self.index
        if index is None or (level is not None and level != index.level):
            self._level = self._level if level is None else level
            index = Index(self._level)
            for ticket in self:
                index.add(ticket)
            self.index = index  # whole, or not at all
        return index


class Index:
    """Forecasts by event, and events by grid point of one level."""

    __slots__ = ("counts", "events", "level", "named", "own")

    def __init__(self, level: int) -> None:
        self.level = level
        self.counts: dict[int, int] = {}
        """Events by grid point; an event counts once, however many of its forecasts are there."""
        self.own: dict[tuple[Any, int], int] = {}
        """Forecasts by event with a name and grid point."""
        self.events: dict[Any, dict[int, Forecast]] = {}
        self.named = 0
        """Forecasts of events with a name."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Index) and all(
            getattr(self, name) == getattr(other, name) for name in self.__slots__
        )

    __hash__ = None  # type: ignore[assignment]

    def add(self, ticket: Forecast) -> None:
        """One more waits."""
        event, own = ticket.event, self.own
        if event is not None:
            self.named += 1
            self.events.setdefault(event, {})[ticket.id] = ticket
        for place in ticket.learners(self.level):
            if event is not None:
                own[event, place] = own.get((event, place), 0) + 1
                if own[event, place] > 1:
                    continue
            self.counts[place] = self.counts.get(place, 0) + 1

    def remove(self, ticket: Forecast) -> None:
        """One waits no longer."""
        event, own = ticket.event, self.own
        if event is not None:
            self.named -= 1
            del self.events[event][ticket.id]
            if not self.events[event]:
                del self.events[event]
        for place in ticket.learners(self.level):
            if event is not None:
                own[event, place] -= 1
                if own[event, place]:
                    continue
                del own[event, place]
            self.counts[place] -= 1
            if not self.counts[place]:
                del self.counts[place]
