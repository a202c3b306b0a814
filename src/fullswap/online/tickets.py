"""A forecast, which is also the ticket with which its outcome is learnt."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.keys import event_name, key_of, plain_key
from fullswap.base.protocols import Vector
from fullswap.online.kind import Kind, Play


class Forecast:
    """One forecast: a distribution over grid points, its mean, and the draw that was issued.

    Publish ``issued``: it is drawn between neighbouring values, because a forecast that can be
    predicted exactly can be proved wrong by somebody who acts on it. If nobody plays against you,
    ``mean`` is fine. ``points`` and ``weights``, of shape (m,), are the whole distribution. ``id``
    names the forecast when its outcome arrives late. It is also the ticket with which the outcome
    is learnt: ``level`` says on which grid it was played, ``key`` to whose stream of a bank it
    belongs, as a tuple of one. ``event`` names what it is about, if several forecasts wait for one
    outcome: they are learnt together.

    Of three or more classes a forecast is one vector, ``points`` has shape (1, K), and ``declared``
    is its top label; ``issued`` is the vector itself.
    """

    __slots__ = ("_kind", "_play", "crowd", "event", "key", "level")

    def __init__(
        self, kind: Kind, level: int, play: Play, key: Any = None, event: Any = None
    ) -> None:
        self._kind = kind
        self._play = play
        self.level = level
        self.key = key
        self.event = event
        self.crowd = 0
        """Other events that waited when it was made, where models are recalibrated."""

    @property
    def id(self) -> int:
        """Names the forecast among those of its stream."""
        return int(self._play[0])

    @property
    def points(self) -> Any:
        """Support of the distribution, shape (m,); of several classes (1, K)."""
        return self._kind.shown(self._play, self.level)[0]

    @property
    def weights(self) -> Vector:
        """Probabilities of the support points, shape (m,)."""
        return self._kind.shown(self._play, self.level)[1]

    @property
    def mean(self) -> Any:
        """Mean of the distribution: a number, or K numbers."""
        return self._kind.mean(self._play, self.level)

    @property
    def issued(self) -> Any:
        """The point drawn from the distribution: a number, or K numbers."""
        return self._kind.value(self._play, self.level)

    @property
    def declared(self) -> int | None:
        """The declared class, its top label, where forecasts of many classes have one."""
        return self._kind.declared(self._play)

    def learners(self, level: int) -> list[int]:
        """The points, of the grid of a level, that will learn from the outcome."""
        kind = self._kind
        own = kind.learners(self._play)
        lifted: list[int] = (
            own if level == self.level else kind.lift(own, self.level, level).tolist()
        )
        return lifted

    def for_key(self, key: Any) -> Forecast:
        """The same ticket for the stream of another key."""
        other = Forecast(self._kind, self.level, self._play, key, self.event)
        other.crowd = self.crowd
        return other

    def same_as(self, other: Forecast) -> bool:
        """Whether distribution and draw are the same; the other may have grown since."""
        if self is other:
            return True
        kind = other._kind
        play = self._kind.as_of(self._play, kind.spec)
        return (
            play is not None
            and play[:2] == other._play[:2]
            and (self.level, self.key, self.event) == (other.level, other.key, other.event)
            and self.crowd == other.crowd
            and np.array_equal(kind.encode(play), kind.encode(other._play), equal_nan=True)
        )

    def to_list(self) -> list[Any]:
        """Id, level, place of the draw, play as numbers (NaN is None); event and crowd if any."""
        numbers = self._kind.encode(self._play)
        plain = [None if value != value else value for value in numbers]
        more: list[Any] = []
        if self.event is not None or self.crowd:
            more = [None if self.event is None else plain_key(self.event), self.crowd]
        return [self.id, self.level, self._play[1], plain, *more]

    @classmethod
    def from_list(cls, kind: Kind, stored: Any, key: Any = None) -> Forecast:
        """What ``to_list`` gave, checked against the grids of the kind."""
        listed = isinstance(stored, list) and len(stored) in (4, 6)
        if not listed or not isinstance(stored[3], list):
            checks.refuse(
                "pending forecast", "be [id, level, drawn, numbers, event, crowd]", stored
            )
        number = checks.whole("id", stored[0], 0, checks.MOST_EVENTS)
        level = checks.whole("level", stored[1], 0, len(kind.spec.levels) - 1)
        numbers = [np.nan if v is None else checks.number("play", v) for v in stored[3]]
        played = kind.decode(numbers, level)
        drawn = kind.check_drawn(stored[2], played)
        more = len(stored) == 6
        name, crowd = stored[4:] if more else (None, 0)
        event = None if name is None and crowd else event_name(key_of(name)) if more else None
        ticket = cls(kind, level, (number, drawn, *played), key, event)
        ticket.crowd = checks.whole("crowd", crowd, 0, number if kind.spec.hears else 0)
        return ticket

    def __repr__(self) -> str:
        event = "" if self.event is None else f", event={self.event!r}"
        if self._kind.vectors:
            return (
                f"Forecast(id={self.id}{event}, issued={self.issued!r}, declared={self.declared})"
            )
        support = zip(*self._kind.shown(self._play, self.level), strict=True)
        parts = ", ".join(f"{np.array2string(p, precision=4)}: {w:.4g}" for p, w in support)
        return f"Forecast(id={self.id}{event}, issued={self.issued!r}, distribution={{{parts}}})"
