"""Streams of yes-or-no events that belong to groups, and adversaries who look at the groups.

Groups are named, may overlap, and are listed for every event from the largest to the smallest;
everybody is not among them. Drawn streams know their chances; against an adversary the outcome
depends on what is published, and the adversary sees everything of a forecast but the draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from fullswap.base.protocols import Indices, Vector
from studies.logs import rows_of, three_way

BINS = 10
"""Bins of equal width in which forecasts are compared with outcomes, by everyone."""
SOCCER = "club_soccer_matches.csv"
WAVES = 3
"""Of the drift, in the length of a stream."""


class Published(NamedTuple):
    """One forecast: values that may be drawn, their chances, the mean and the draw itself."""

    points: Vector
    weights: Vector
    mean: float
    issued: float


class Adversary(Protocol):
    """Chooses outcomes when it has seen the forecast, but not the draw."""

    def choose(self, event: int, forecast: Published) -> float:
        """0 or 1."""

    def learn(self, event: int, issued: float, outcome: float) -> None:
        """See the draw, afterwards."""


@dataclass(frozen=True, eq=False)
class GroupStream:
    """Events in order, with the groups of each.

    Attributes
    ----------
    name : str
        What it is.
    members : list of tuples
        Names of the groups of every event, the smallest group last.
    claimed : Vector or None
        A model's probabilities, shape (T,); None: there is no model.
    outcomes : Vector
        Shape (T,); for an adversary only a place for them.
    chances : Vector or None
        Where outcomes were drawn, with which chances.
    adversary : callable or None
        Makes a new adversary of this stream.
    """

    name: str
    members: list[tuple[str, ...]]
    claimed: Vector | None
    outcomes: Vector
    chances: Vector | None = None
    adversary: Callable[[], Adversary] | None = None

    @property
    def groups(self) -> list[str]:
        """Names of all groups, in order."""
        return sorted({name for names in self.members for name in names})

    def places(self) -> list[Indices]:
        """Groups of every event as indices: everybody is 0, ``groups[j]`` is j + 1."""
        index = {name: j + 1 for j, name in enumerate(self.groups)}
        return [np.array([0, *(index[name] for name in names)]) for names in self.members]


def bin_of(value: float) -> int:
    """The bin of a forecast, of ``BINS``."""
    return min(int(value * BINS), BINS - 1)


@dataclass
class Threshold:
    """Yes if the mean lies below a threshold that depends on the groups of the event."""

    thresholds: Vector

    def choose(self, event: int, forecast: Published) -> float:
        """Against the mean."""
        return float(forecast.mean < self.thresholds[event])

    def learn(self, event: int, issued: float, outcome: float) -> None:
        """Nothing to learn."""


class _Table:
    """What an adversary writes down: events and Σ(outcome − forecast) by group and bin."""

    def __init__(self, places: list[Indices]) -> None:
        size = 1 + max(int(own.max()) for own in places)
        self.places = places
        self.events = np.zeros((size, BINS))
        self.excess = np.zeros((size, BINS))

    def learn(self, event: int, issued: float, outcome: float) -> None:
        """Add an event to all of its groups."""
        own, k = self.places[event], bin_of(issued)
        self.events[own, k] += 1
        self.excess[own, k] += outcome - issued


class Greedy(_Table):
    """The outcome that adds most, on average over the draw, to the errors of the event's groups."""

    def choose(self, event: int, forecast: Published) -> float:
        """1 if that adds more than 0."""
        own, gains = self.places[event], [0.0, 0.0]
        for point, weight in zip(forecast.points.tolist(), forecast.weights.tolist(), strict=True):
            k = bin_of(point)
            count, excess = self.events[own, k] + 1, self.excess[own, k]
            for outcome in (0, 1):
                gains[outcome] += weight * float(((excess + outcome - point) ** 2 / count).sum())
        return float(gains[1] > gains[0])


class SignKeeping(_Table):
    """A fair coin; where the smallest group is off already, the outcome that keeps it off."""

    def __init__(self, places: list[Indices], seed: int) -> None:
        super().__init__(places)
        self._rng = np.random.default_rng([seed, 3])

    def choose(self, event: int, forecast: Published) -> float:
        """Keep the sign of an error beyond one and a half standard deviations or so."""
        k = bin_of(float(forecast.points[int(np.argmax(forecast.weights))]))
        smallest = self.places[event][-1]
        excess, count = self.excess[smallest, k], self.events[smallest, k]
        coin = float(self._rng.random() < 0.5)
        return float(excess > 0) if abs(excess) > 1.5 * np.sqrt(count + 1) else coin


def overlapping(events: int, groups: int, seed: int) -> Iterator[GroupStream]:
    """Overlapping groups that hold half of the events down to half a per cent, and no model."""
    rng = np.random.default_rng([seed, 1])
    shares = np.geomspace(0.5, 0.005, groups - 1)
    belongs = rng.random((events, groups - 1)) < shares
    names = np.array([f"{100 * share:04.1f} %, {j}" for j, share in enumerate(shares)])
    members = [tuple(names[row].tolist()) for row in belongs]
    effects = 0.8 * rng.normal(size=groups - 1)
    drift = np.sin(2 * np.pi * WAVES * np.arange(events) / events)
    chances = 1 / (1 + np.exp(-(belongs @ effects + drift)))
    drawn = (rng.random(events) < chances).astype(float)
    yield GroupStream("effects of groups, and drift", members, None, drawn, chances)

    thresholds = np.where(belongs[:, 0], 0.18, 0.42) + 0.4 * rng.random(events) * belongs[:, 1]
    nothing = np.zeros(events)

    def against(name: str, make: Callable[[GroupStream], Adversary]) -> GroupStream:
        stream = GroupStream(name, members, None, nothing)
        return GroupStream(name, members, None, nothing, None, lambda: make(stream))

    yield against("against the mean, by group", lambda stream: Threshold(thresholds))
    yield against("greedy on the groups", lambda stream: Greedy(stream.places()))
    yield against("keeps signs", lambda stream: SignKeeping(stream.places(), seed))


def segments(events: int, seed: int) -> Iterator[GroupStream]:
    """A model in 5 or 50 segments that do not overlap: wrong in each in its own way, or right.

    The k-th largest segment has a share of events proportional to 1/k. Logits of the model are
    normal; the true logit of segment g is slope_g·logit + shift_g.
    """
    for count in (5, 50):
        for wrong in (True, False):
            rng = np.random.default_rng([seed, 2, count, wrong])
            shares = 1 / np.arange(1, count + 1)
            own = rng.choice(count, events, p=shares / shares.sum())
            logits = rng.normal(0.0, 1.2, events)
            shift = rng.normal(0.0, 0.8, count) if wrong else np.zeros(count)
            slope = np.exp(rng.normal(0.0, 0.25, count)) if wrong else np.ones(count)
            chances = 1 / (1 + np.exp(-(slope[own] * logits + shift[own])))
            yield GroupStream(
                f"{count} segments, {'each biased' if wrong else 'none biased'}",
                [(f"segment {g + 1}",) for g in own.tolist()],
                1 / (1 + np.exp(-logits)),
                (rng.random(events) < chances).astype(float),
                chances,
            )


def soccer(folder: Path) -> Iterator[GroupStream]:
    """FiveThirtyEight's soccer forecasts, a group a league; nothing if the log is not there."""
    path = folder / SOCCER
    if not path.is_file():
        return
    rows = sorted(rows_of(path), key=lambda row: row["date"])
    claimed, outcomes = three_way(rows)
    members: list[tuple[str, ...]] = [(row["league"],) for row in rows]
    for column, name in enumerate(("home win", "tie")):
        yield GroupStream(f"soccer, {name}", members, claimed[:, column], outcomes[:, column])
