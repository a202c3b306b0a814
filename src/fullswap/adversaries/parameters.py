"""What may be set on an adversary: defaults, checks, and the moves of the search.

A parameter stands in the body of its class; the value that an adversary has goes before it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullswap.base import checks


class Settable:
    """Where an adversary has no value of its own, the default is its value."""

    default: Any

    def __get__(self, adversary: object, kind: type) -> Any:
        return self.default


@dataclass(frozen=True)
class Number(Settable):
    """A number in [low, high]; ``log`` moves it by factors, ``whole`` keeps it an integer.

    Examples
    --------
    >>> Number(0.5, 0.0, 1.0).check("level", 2)
    Traceback (most recent call last):
    ValueError: level must lie in [0, 1], got 2
    """

    default: float
    low: float
    high: float
    log: bool = False
    whole: bool = False

    def check(self, name: str, value: Any) -> float:
        """The value as a float, or as an int if whole."""
        if isinstance(value, bool):
            checks.refuse(name, "be a number", value)
        number = checks.number(name, value, least=self.low, most=self.high)
        if self.whole and number != int(number):
            checks.refuse(name, "be a whole number", value)
        return int(number) if self.whole else number

    def draw(self, rng: np.random.Generator) -> float:
        """Uniform, or log-uniform."""
        if self.log:
            return self._fit(math.exp(rng.uniform(math.log(self.low), math.log(self.high))))
        return self._fit(rng.uniform(self.low, self.high))

    def nudge(self, value: Any, rng: np.random.Generator) -> float:
        """A normal step of a tenth of the range, or of a factor 1.6."""
        if self.log:
            return self._fit(value * math.exp(0.5 * rng.standard_normal()))
        return self._fit(value + 0.1 * (self.high - self.low) * rng.standard_normal())

    def _fit(self, value: float) -> float:
        inside = min(max(value, self.low), self.high)
        return round(inside) if self.whole else float(inside)


@dataclass(frozen=True)
class Choice(Settable):
    """One of a few words; the first is the default."""

    options: tuple[str, ...]

    @property
    def default(self) -> str:
        """The first option."""
        return self.options[0]

    def check(self, name: str, value: Any) -> str:
        """The value itself."""
        return checks.one_of(name, value, self.options)

    def draw(self, rng: np.random.Generator) -> str:
        """Any option."""
        return self.options[int(rng.integers(len(self.options)))]

    def nudge(self, value: Any, rng: np.random.Generator) -> str:
        """Any option: words have no neighbours."""
        return self.draw(rng)


@dataclass(frozen=True)
class Chances(Settable):
    """A tuple of probabilities, one for each block of rounds."""

    default: tuple[float, ...]

    def check(self, name: str, value: Any) -> tuple[float, ...]:
        """The probabilities as a tuple of floats."""
        array = checks.vector(name, value)
        checks.unit(name, array)
        return tuple(array.tolist())

    def draw(self, rng: np.random.Generator) -> tuple[float, ...]:
        """As many as the default has, each uniform, or sure with chance ¼ each way."""
        sure = rng.random(len(self.default))
        chances = np.where(sure < 0.25, 0.0, np.where(sure > 0.75, 1.0, rng.random(len(sure))))
        return tuple(chances.tolist())

    def nudge(self, value: Any, rng: np.random.Generator) -> tuple[float, ...]:
        """One block gets a new probability."""
        chances = list(value)
        chances[int(rng.integers(len(chances)))] = self.draw(rng)[0]
        return tuple(chances)


Parameter = Number | Choice | Chances
"""A default, the check of a given value, a random value, and a neighbour of a value."""
