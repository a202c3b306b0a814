"""Adversaries with two outcomes, along a long segment of the set.

For squared losses on [0, 1] these are the adversaries of calibration: p is the mean forecast
and the outcome is a bit.
"""

from __future__ import annotations

import math

from fullswap.adversaries.base import Binary
from fullswap.adversaries.parameters import Chances, Choice, Number

_MESH = Number(0.1, 0.001, 1.0, log=True)
_LENGTH = Number(100, 1, 10**9, log=True, whole=True)
_PERIOD = Number(1000, 2, 10**9, log=True, whole=True)


def middle_of_cell(position: float, mesh: float) -> float:
    """(k + ½)·mesh for the cell k that holds the position, at most 1."""
    return min((math.floor(position / mesh) + 0.5) * mesh, 1.0)


class Midpoint(Binary):
    """Bernoulli outcomes whose mean is the middle of a grid cell, where rounding costs most."""

    name = "midpoint"
    mesh = _MESH
    level = Number(0.5, 0.0, 1.0)

    def chance(self, position: float, round_index: int) -> float:
        """(k + ½)·mesh."""
        return middle_of_cell(self.level, self.mesh)


class Drift(Binary):
    """Bernoulli outcomes whose mean moves: a sine, a random walk, a sweep through mid-cells."""

    name = "drift"
    path = Choice(("sine", "walk", "sweep"))
    period = _PERIOD
    mesh = _MESH
    step = Number(0.02, 0.0001, 0.5, log=True)
    _walker = 0.5

    def chance(self, position: float, round_index: int) -> float:
        """The mean in this round."""
        if self.path == "sine":
            return 0.5 + 0.45 * math.sin(2 * math.pi * round_index / self.period)
        if self.path == "sweep":
            return middle_of_cell(round_index % self.period / self.period, self.mesh)
        moved = abs(self._walker + self.step * self.rng.standard_normal())
        self._walker = moved if moved <= 1 else max(2 - moved, 0.0)  # reflected at both ends
        return self._walker


class Switching(Binary):
    """Epochs in which outcome 1 is rare take turns with epochs in which it is frequent."""

    name = "switching"
    length = _LENGTH
    rare = Number(0.2, 0.0, 1.0)
    frequent = Number(0.8, 0.0, 1.0)

    def chance(self, position: float, round_index: int) -> float:
        """.2 or .8."""
        return float(self.frequent if round_index // self.length % 2 else self.rare)


class _Biased(Binary):
    """Adds up b − p as rounds go by."""

    _bias = 0.0

    def remember(self, position: float, outcome: bool) -> None:
        self._bias += outcome - position


class EarlyStop(_Biased):
    """Fair coins until |Σ(b − p)| > factor·√t; from then on the bit that keeps the bias."""

    name = "early_stop"
    factor = Number(1.0, 0.05, 5.0, log=True)
    _stopped = False

    def chance(self, position: float, round_index: int) -> float:
        """½ before the stop, 0 or 1 after it."""
        if not self._stopped:
            self._stopped = abs(self._bias) > self.factor * math.sqrt(max(round_index, 1))
        return float(self._bias > 0) if self._stopped else 0.5


class SignPreservation(_Biased):
    """Recursive middle slices: a bias, once made, is left behind on the side where it stays.

    Outcomes have the mean of the current slice. After a block the slice loses a third: the lower
    one if outcomes exceeded forecasts, for forecasts down there would now only add to that bias,
    and the upper one if they fell short. After ``depth`` blocks the whole segment is the slice.
    """

    name = "sign_preservation"
    length = _LENGTH
    depth = Number(6, 1, 40, whole=True)
    _slice = (0.0, 1.0)

    def chance(self, position: float, round_index: int) -> float:
        """The middle of the slice."""
        low, high = self._slice
        if round_index and round_index % self.length == 0:
            third = (high - low) / 3
            low, high = (low + third, high) if self._bias > 0 else (low, high - third)
            if round_index // self.length % self.depth == 0:
                low, high = 0.0, 1.0
            self._slice, self._bias = (low, high), 0.0
        return (low + high) / 2


class OneBin(Binary):
    """b = 1[p < middle]: on a single bin external regret grows like ¼·ln T."""

    name = "one_bin"
    middle = Number(0.5, 0.0, 1.0)

    def chance(self, position: float, round_index: int) -> float:
        """0 or 1."""
        return float(position < self.middle)


class Boundary(Binary):
    """All at one end; rare exceptions; exceptions only while the mean is near that end."""

    name = "boundary"
    style = Choice(("near", "rare", "end"))
    rate = Number(0.01, 0.0001, 0.5, log=True)
    edge = Number(0.02, 0.0001, 0.5, log=True)

    def chance(self, position: float, round_index: int) -> float:
        """Mostly 0."""
        if self.style == "near":
            return float(position < self.edge)
        return self.rate if self.style == "rare" else 0.0


class Scripted(Binary):
    """A probability for each block of rounds, over and over: what the search writes itself."""

    name = "scripted"
    chances = Chances((0.0, 0.5, 1.0, 0.5, 0.25, 0.75, 0.1, 0.9))
    length = _LENGTH

    def chance(self, position: float, round_index: int) -> float:
        """The block's probability."""
        return float(self.chances[round_index // self.length % len(self.chances)])
