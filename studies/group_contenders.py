"""Ways to forecast events that belong to groups, each event by event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

import fullswap as fs
from fullswap.online.tickets import Forecast
from studies.group_streams import GroupStream, Published

OURS = "fullswap, groups told"
IGNORING, OWN, AVERAGED = "groups ignored", "one a group", "one a group, averaged"
MODEL, TRUTH = "model itself", "true chances"
EVERYBODY = ""
"""Key of the forecaster that sees all events."""


class Contender(Protocol):
    """One way of forecasting."""

    def predict(self, event: int) -> Published:
        """The forecast of the next event."""

    def resolve(self, outcome: float) -> None:
        """Its outcome."""


class Given:
    """Probabilities that are known in advance."""

    def __init__(self, probabilities: Any) -> None:
        self._probabilities = probabilities

    def predict(self, event: int) -> Published:
        """Pass it on."""
        value = float(self._probabilities[event])
        return Published(np.array([value]), np.ones(1), value, value)

    def resolve(self, outcome: float) -> None:
        """Learn nothing."""


class One:
    """One forecaster for all events, which is told their groups or is not."""

    def __init__(self, forecaster: Any, stream: GroupStream, told: bool) -> None:
        self._forecaster, self._stream, self._told = forecaster, stream, told
        self._waiting: Forecast | None = None

    def predict(self, event: int) -> Published:
        """Its distribution."""
        more = {"groups": self._stream.members[event]} if self._told else {}
        self._waiting = self._forecaster.predict(*_model(self._stream, event), **more)
        return published(self._waiting)

    def resolve(self, outcome: float) -> None:
        """Learn it."""
        self._forecaster.update(outcome, self._waiting)


class PerGroup:
    """A forecaster for each group, and one for everybody; each learns all events of its group.

    Either the one of the event's smallest group speaks, or what is said is the average of all.
    """

    def __init__(self, make: Callable[[int], Any], stream: GroupStream, averaged: bool) -> None:
        keys = [EVERYBODY, *stream.groups]
        self._forecasters = {key: make(place) for place, key in enumerate(keys)}
        self._stream, self._averaged = stream, averaged
        self._waiting: list[tuple[Any, Forecast]] = []

    def predict(self, event: int) -> Published:
        """Ask everyone who is concerned."""
        asked = [self._forecasters[key] for key in (EVERYBODY, *self._stream.members[event])]
        said = [forecaster.predict(*_model(self._stream, event)) for forecaster in asked]
        self._waiting = [*zip(asked, said, strict=True)]
        if not self._averaged:
            return published(said[-1])
        mean = float(np.mean([forecast.mean for forecast in said]))
        issued = float(np.mean([forecast.issued for forecast in said]))
        return Published(np.array([mean]), np.ones(1), mean, issued)

    def resolve(self, outcome: float) -> None:
        """All of them learn it."""
        for forecaster, forecast in self._waiting:
            forecaster.update(outcome, forecast)


def contenders(stream: GroupStream, seed: int) -> dict[str, Callable[[], Contender]]:
    """Makers of all that can play here, by name."""
    modelled = stream.claimed is not None

    def make(place: int = 0, **more: Any) -> Any:
        own = int(np.random.SeedSequence([seed, place]).generate_state(1)[0])
        kind: Any = fs.Recalibrator if modelled else fs.Forecaster
        return kind(seed=own, **more)

    players: dict[str, Callable[[], Contender]] = {}
    if stream.chances is not None:
        players[TRUTH] = lambda: Given(stream.chances)
    if modelled:
        players[MODEL] = lambda: Given(stream.claimed)
    players[IGNORING] = lambda: One(make(), stream, told=False)
    players[OWN] = lambda: PerGroup(make, stream, averaged=False)
    players[AVERAGED] = lambda: PerGroup(make, stream, averaged=True)
    players[OURS] = lambda: One(make(groups=stream.groups), stream, told=True)
    return players


def published(forecast: Forecast) -> Published:
    """What an adversary may see of it, and the draw."""
    return Published(np.asarray(forecast.points), forecast.weights, forecast.mean, forecast.issued)


def _model(stream: GroupStream, event: int) -> tuple[float, ...]:
    return () if stream.claimed is None else (float(stream.claimed[event]),)
