"""Forecasts that wait for their outcome."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.online.kind import Kind, Play


class Forecast:
    """One forecast: a distribution over grid points, its mean, and the draw that was issued.

    The three differ, and each has its use: ``issued`` is what to publish where the guarantee is
    for issued forecasts; ``mean`` is deterministic; ``points`` and ``weights`` (shape (m,), or
    (m, K) for K classes) are the whole distribution. ``id`` names the forecast when its outcome
    arrives late. It is also the ticket with which the outcome is learnt: ``level`` says on which
    grid it was played, ``key`` to whose stream of a bank it belongs, as a tuple of one.
    """

    __slots__ = ("_kind", "_play", "key", "level")

    def __init__(self, kind: Kind, level: int, play: Play, key: Any = None) -> None:
        self._kind = kind
        self._play = play
        self.level = level
        self.key = key

    @property
    def id(self) -> int:
        """Names the forecast among those of its stream."""
        return int(self._play[0])

    @property
    def points(self) -> Any:
        """Support of the distribution, shape (m,) or (m, K)."""
        indices, _ = self._kind.support(self._play)
        return self._kind.points(self.level)[indices]

    @property
    def weights(self) -> Vector:
        """Probabilities of the support points, shape (m,)."""
        return np.array(self._kind.support(self._play)[1])

    @property
    def mean(self) -> Any:
        """Mean of the distribution: a number, or K numbers."""
        indices, weights = self._kind.support(self._play)
        grid = self._kind.points(self.level)
        mean = sum(w * grid[i] for i, w in zip(indices, weights, strict=True))
        return float(mean) if grid.ndim == 1 else mean

    @property
    def issued(self) -> Any:
        """The point drawn from the distribution: a number, or K numbers."""
        point = self._kind.points(self.level)[self._kind.issued(self._play)]
        return float(point) if np.ndim(point) == 0 else point.copy()

    def learners(self, level: int) -> list[int]:
        """The points, of the grid of a level, that will learn from the outcome."""
        kind = self._kind
        own = [kind.issued(self._play)]
        if not kind.spec.realised:
            own = kind.support(self._play)[0]
        lifted: list[int] = (
            own if level == self.level else kind.lift(own, self.level, level).tolist()
        )
        return lifted

    def for_key(self, key: Any) -> Forecast:
        """The same ticket for the stream of another key."""
        return Forecast(self._kind, self.level, self._play, key)

    def same_as(self, other: Forecast) -> bool:
        """Whether distribution and draw are the same."""
        return self is other or (
            self._play[:2] == other._play[:2]
            and self._kind.spec == other._kind.spec
            and (self.level, self.key) == (other.level, other.key)
            and np.array_equal(
                self._kind.encode(self._play), other._kind.encode(other._play), equal_nan=True
            )
        )

    def to_list(self) -> list[Any]:
        """Id, level, place of the draw, and the play as plain numbers; NaN is None."""
        numbers = self._kind.encode(self._play)
        plain = [None if value != value else value for value in numbers]
        return [self.id, self.level, self._play[1], plain]

    @classmethod
    def from_list(cls, kind: Kind, stored: Any, key: Any = None) -> Forecast:
        """What ``to_list`` gave, checked against the grids of the kind."""
        if not isinstance(stored, list) or len(stored) != 4 or not isinstance(stored[3], list):
            checks.refuse("pending forecast", "be [id, level, drawn, numbers]", stored)
        number = checks.whole("id", stored[0], 0, checks.MOST_EVENTS)
        level = checks.whole("level", stored[1], 0, len(kind.spec.levels) - 1)
        numbers = [np.nan if v is None else checks.number("play", v) for v in stored[3]]
        played = kind.decode(numbers, level)
        weights = (played[2], 1 - played[2]) if kind.pairs else played[1]
        drawn = checks.whole("drawn", stored[2], 0, len(weights) - 1)
        if not weights[drawn] > 0:
            checks.refuse("drawn", "be a point of positive weight", drawn)
        return cls(kind, level, (number, drawn, *played), key)

    def __repr__(self) -> str:
        grid = self._kind.points(self.level)
        support = zip(*self._kind.support(self._play), strict=True)
        parts = ", ".join(f"{np.array2string(grid[i], precision=4)}: {w:.4g}" for i, w in support)
        return f"Forecast(id={self.id}, issued={self.issued!r}, distribution={{{parts}}})"


class Pending:
    """The forecasts of one stream that wait, and how many wait at each grid point."""

    __slots__ = ("counts", "_level", "tickets")

    def __init__(self) -> None:
        self.tickets: dict[int, Forecast] = {}
        self.counts: dict[int, int] | None = None
        """Forecasts by grid point of one level; None until several wait."""
        self._level = 0

    def __len__(self) -> int:
        return len(self.tickets)

    def __iter__(self) -> Iterator[Forecast]:
        return iter(sorted(self.tickets.values(), key=lambda ticket: ticket.id))

    def add(self, number: int, ticket: Forecast) -> None:
        """One more waits."""
        counts, self.counts = self.counts, None  # should an interrupt come, they are made anew
        self.tickets[number] = ticket
        if counts is not None:
            self._count(counts, ticket, 1)
            self.counts = counts

    def remove(self, number: int, ticket: Forecast) -> None:
        """One waits no longer."""
        counts, self.counts = self.counts, None
        del self.tickets[number]
        if counts is not None and self.tickets:
            self._count(counts, ticket, -1)
            self.counts = counts

    def restore(self, number: int, ticket: Forecast) -> None:
        """It waits again, after an interrupt."""
        self.tickets[number] = ticket
        self.counts = None

    def find(self, forecast: Any, next_id: int) -> Forecast:
        """The forecast that is meant by itself, by its id, or by None if it is the only one."""
        if forecast is None:
            if len(self.tickets) != 1:
                raise ValueError(
                    "no forecast is pending; call predict() first"
                    if not self.tickets
                    else f"forecast must be given: {len(self.tickets)} forecasts are pending"
                )
            return next(iter(self.tickets.values()))
        number = forecast.id if isinstance(forecast, Forecast) else forecast
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            checks.refuse("forecast", "be a Forecast or its id", forecast)
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

    def waiting(self, level: int, learners: Any) -> int:
        """Most forecasts that wait at one of these grid points of a level."""
        totals = self._totals(level)
        return max((totals.get(int(i), 0) for i in learners), default=0)

    def most(self, level: int) -> int:
        """Most forecasts that wait at one grid point of a level."""
        return max(self._totals(level).values(), default=0)

    def _totals(self, level: int) -> dict[int, int]:
        counts = self.counts
        if counts is None or self._level != level:
            counts, self.counts, self._level = {}, None, level
            for ticket in self.tickets.values():
                self._count(counts, ticket, 1)
            self.counts = counts  # whole, or not at all
        return counts

    def _count(self, counts: dict[int, int], ticket: Forecast, by: int) -> None:
        for index in ticket.learners(self._level):
            count = counts.get(index, 0) + by
            if count > 0:
                counts[index] = count
            else:
                counts.pop(index, None)
