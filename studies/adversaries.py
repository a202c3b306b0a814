"""Adversaries that use more of the set than two ends of a segment, and all that studies meet."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from fullswap import adversaries
from fullswap.adversaries import Adversary
from fullswap.adversaries.catalogue import one_of_each
from fullswap.adversaries.outcomes import middle_of_cell
from fullswap.adversaries.parameters import Choice, Number
from fullswap.base.protocols import Loss, Mixture, Vector
from fullswap.losses import LossClass
from fullswap.sets import ConvexSetBase

_MESH = Number(0.1, 0.001, 1.0, log=True)
_LENGTH = Number(100, 1, 10**9, log=True, whole=True)
_PERIOD = Number(1000, 2, 10**9, log=True, whole=True)


class MeanAware(Adversary):
    """Pull the mean back over a threshold: towards the extreme point on the other side.

    The threshold lies at a position of the segment, fixed or swinging about it.
    """

    name = "mean_aware"
    threshold = Number(0.5, 0.0, 1.0)
    swing = Number(0.0, 0.0, 0.5)
    period = _PERIOD

    def start(self) -> None:
        """Losses are made when their direction comes."""
        self._made: dict[bytes, Loss] = {}

    def choose(self, mixture: Mixture, round_index: int) -> Loss:
        """Towards argmax ⟨x, threshold − mean⟩."""
        turn = math.sin(2 * math.pi * round_index / self.period)
        threshold = self.at(min(max(self.threshold + self.swing * turn, 0.0), 1.0))
        excess = mixture.mean - threshold
        # directions in 32nds of the largest coordinate repeat, and no coordinate is rounded to 0
        ratio = excess * (32 / max(float(np.abs(excess).max()), 1e-300))
        direction = np.copysign(np.ceil(np.abs(ratio)), ratio) + 0.0
        key = direction.tobytes()
        if key not in self._made:
            extreme = self.action_set.minimize_linear(direction)
            self._made[key] = self.losses.towards(extreme)
        return self._made[key]


class ConvexLipschitz(Adversary):
    """Kinks where the grid has no point.

    ``cell``: |p − v| with v in the middle of a cell; ``pair``: |p − v| against |p − v − ½| with
    probabilities ½ ± bias; ``coin``: |p − y| with y a fair coin.
    """

    name = "convex_lipschitz"
    style = Choice(("pair", "cell", "coin"))
    mesh = _MESH
    place = Number(0.25, 0.0, 0.5)
    bias = Number(0.05, 0.0, 0.5)

    def start(self) -> None:
        """Fix the two losses."""
        first = middle_of_cell(self.place, self.mesh)
        second = min(first + 0.5, 1.0) if self.style == "pair" else first
        places = (0.0, 1.0) if self.style == "coin" else (first, second)
        self.two = tuple(self.losses.towards(self.at(place)) for place in places)

    def choose(self, mixture: Mixture, round_index: int) -> Loss:
        """One of the two."""
        chance = 0.5 + self.bias if self.style == "pair" else 0.5
        return self.two[self.rng.random() >= chance]


class Sweep(Adversary):
    """Losses that fall along u_θ ± spread·u_θ^⊥ while θ turns in the first two directions.

    The rank-2 lower-bound instance of swap regret; on a line the two ends take turns.
    """

    name = "sweep"
    period = _PERIOD
    spread = Number(0.5, 0.0, 4.0)
    angles = Number(64, 3, 4096, log=True, whole=True)

    def start(self) -> None:
        """Losses are made when their angle comes."""
        self._made: dict[tuple[int, bool], Loss] = {}

    def choose(self, mixture: Mixture, round_index: int) -> Loss:
        """A fair coin takes the sign."""
        if self.action_set.dim == 1:
            return self.losses.towards(self.high_end if round_index % 2 else self.low_end)
        angle = round_index % self.period * self.angles // self.period
        key = angle, bool(self.rng.random() < 0.5)
        if key not in self._made:
            # outward plus tangent, of length √(1 + spread²), is outward turned by atan(spread)
            tilt = math.atan(self.spread) * (1 if key[1] else -1)
            outward = circle(self.action_set.frame[1], 2 * math.pi * angle / self.angles + tilt)
            self._made[key] = self.losses.along(outward)
        return self._made[key]


class Blocks(Adversary):
    """Pairs of neighbouring points on the rim; each block tosses fair coins on one pair.

    Off the pair everything is bad, on it nothing tells the two apart: a learner with small swap
    regret has to settle every pair anew. On a line the pairs lie along the segment.
    """

    name = "blocks"
    pairs = Number(4, 1, 20, whole=True)
    length = _LENGTH

    def start(self) -> None:
        """Fix the losses."""
        count = 2 * self.pairs
        if self.action_set.dim == 1:
            self.rim = [self.losses.towards(self.at(p)) for p in np.linspace(0, 1, count)]
        else:
            frame = self.action_set.frame[1]
            turns = 2 * math.pi * np.arange(count) / count
            self.rim = [self.losses.along(circle(frame, angle)) for angle in turns]

    def choose(self, mixture: Mixture, round_index: int) -> Loss:
        """One of this block's pair."""
        pair = int(round_index // self.length % self.pairs)
        return self.rim[2 * pair + (self.rng.random() < 0.5)]


def circle(basis: Vector, angle: float) -> Vector:
    """cos(angle)·e₁ + sin(angle)·e₂ of an orthonormal basis (A, d), d ≥ 2."""
    return math.cos(angle) * basis[:, 0] + math.sin(angle) * basis[:, 1]


ADVERSARIES: dict[str, type[Adversary]] = {
    kind.name: kind
    for kind in (
        adversaries.Midpoint, MeanAware, adversaries.Greedy, adversaries.Drift,
        adversaries.Switching, adversaries.EarlyStop, adversaries.SignPreservation,
        adversaries.OneBin, Sweep, Blocks, ConvexLipschitz, adversaries.Boundary,
        adversaries.Scripted,
    )
}  # fmt: skip
"""Name ↦ class: those of the package, and the four above."""


def all_adversaries(
    action_set: ConvexSetBase,
    loss_class: LossClass,
    seed: int = 0,
    *,
    kind: str = "auto",
    rounds: int | None = None,
) -> Iterator[Adversary]:
    """One of each; those that come in several styles take turns with the seed.

    ``rounds`` stretches whatever is periodic over the run.

    Examples
    --------
    >>> from fullswap.sets import Interval
    >>> len(list(all_adversaries(Interval(0, 1), LossClass.squared(1.0))))
    13
    """
    return one_of_each(ADVERSARIES, action_set, loss_class, seed, kind=kind, rounds=rounds)
