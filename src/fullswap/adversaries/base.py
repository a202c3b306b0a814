"""What all adversaries share: a maker of losses, a seed, checked parameters, a segment."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from fullswap.adversaries.makers import Losses, farthest_point
from fullswap.adversaries.parameters import Parameter
from fullswap.base import checks
from fullswap.base.protocols import Loss, Mixture, Vector
from fullswap.losses import LossClass
from fullswap.sets import ConvexSetBase


class Adversary(ABC):
    """Chooses each round's loss, having seen the mixture but not the draw from it.

    Its losses keep the promises of ``loss_class`` on ``action_set``; ``kind`` says which of them
    are used (``fullswap.adversaries.kinds``). Equal seeds give equal losses against equal play.
    What else may be set stands in the body of the class, and in its table ``parameters``.
    """

    name: ClassVar[str]
    parameters: ClassVar[Mapping[str, Parameter]] = {}

    def __init_subclass__(cls) -> None:
        own = {key: value for key, value in vars(cls).items() if isinstance(value, Parameter)}
        cls.parameters = {**cls.parameters, **own}

    def __init__(
        self,
        action_set: ConvexSetBase,
        loss_class: LossClass,
        seed: int = 0,
        *,
        kind: str = "auto",
        **parameters: Any,
    ) -> None:
        unknown = [name for name in parameters if name not in self.parameters]
        if unknown:
            known = ", ".join(self.parameters) or "none"
            checks.refuse(f"parameters of {self.name}", f"be among: {known}", unknown[0])
        checks.whole("seed", seed, 0)
        self.settings: dict[str, Any] = {
            name: parameter.check(name, parameters.get(name, parameter.default))
            for name, parameter in self.parameters.items()
        }
        self.__dict__.update(self.settings)
        self.losses = Losses(action_set, loss_class, kind)
        self.action_set, self.loss_class, self.seed = action_set, loss_class, int(seed)
        self.rng = np.random.default_rng(seed)
        self.low_end, self.high_end = longest_segment(action_set)
        gap = self.high_end - self.low_end
        self._scale: Vector = gap / float(gap @ gap)
        self._offset = float(self.low_end @ self._scale)
        self.start()

    def start(self) -> None:  # noqa: B027  # most need nothing
        """Set up what the first round needs."""

    @abstractmethod
    def choose(self, mixture: Mixture, round_index: int) -> Loss:
        """The loss that answers this mixture; rounds count from 0."""

    def position(self, mixture: Mixture) -> float:
        """Where the mean lies along the segment: 0 at its low end, 1 at its high end."""
        return float(mixture.weights @ (mixture.points @ self._scale)) - self._offset

    def at(self, position: float) -> Vector:
        """The point at this position of the segment."""
        return self.low_end + position * (self.high_end - self.low_end)

    def __repr__(self) -> str:
        shown = "".join(f", {name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__name__}(kind={self.losses.kind!r}, seed={self.seed}{shown})"


class Binary(Adversary):
    """Outcome 0 or 1 each round: a loss towards one of the two ends of a long segment.

    Subclasses say with which chance the outcome is 1; chances 0 and 1 leave nothing to luck.
    """

    def start(self) -> None:
        """Fix the two losses."""
        self.outcomes = (self.losses.towards(self.low_end), self.losses.towards(self.high_end))

    @abstractmethod
    def chance(self, position: float, round_index: int) -> float:
        """Probability of outcome 1, given where the mean of the mixture lies."""

    def choose(self, mixture: Mixture, round_index: int) -> Loss:
        """Draw the outcome."""
        position = self.position(mixture)
        outcome = self.rng.random() < self.chance(position, round_index)
        self.remember(position, outcome)
        return self.outcomes[outcome]

    def remember(self, position: float, outcome: bool) -> None:
        """Keep what later rounds need."""


def longest_segment(action_set: ConvexSetBase) -> tuple[Vector, Vector]:
    """Two extreme points far apart, as the ends (low, high) of a segment.

    The extremes along the frame direction in which the set is longest, each then replaced by
    the point farthest from the other: on a box that leads to a diagonal, which a learner cannot
    follow in one coordinate alone.

    Examples
    --------
    >>> from fullswap.sets import Interval
    >>> longest_segment(Interval(-1, 2))
    (array([-1.]), array([2.]))
    """
    axes = action_set.frame[1].T
    lows, highs = action_set.minimize_linear(axes), action_set.minimize_linear(-axes)
    longest = int(np.square(highs - lows).sum(axis=1).argmax())
    low, high = lows[longest], highs[longest]
    if action_set.dim > 1:
        for _ in range(2):
            high = _farther(action_set, low, high)
            low = _farther(action_set, high, low)
    return low, high


def _farther(action_set: ConvexSetBase, seen_from: Vector, known: Vector) -> Vector:
    farthest = farthest_point(action_set, seen_from)
    if farthest is None:
        return known
    gain = math.dist(farthest, seen_from) - math.dist(known, seen_from)
    return farthest if gain > 1e-9 * action_set.diameter else known
