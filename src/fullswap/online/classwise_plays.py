"""Plays of many classes: their heights, and the same with more classes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.kernels import classwise as kernel
from fullswap.online.kind import Play


def heights_of(nodes: Vector, x: Vector, low: Vector, high: Vector) -> Vector:
    """f_k: the mean of the offsets of both bins at x."""
    lower = np.clip(np.searchsorted(nodes, x, side="right") - 1, 0, len(nodes) - 2)
    upper = np.clip((x - nodes[lower]) / (nodes[lower + 1] - nodes[lower]), 0.0, 1.0)
    heights: Vector = (1 - upper) * low + upper * high
    return heights


def grown_play(nodes: Vector, play: Play, more: int) -> Play:
    """The same forecast with more classes, which no model expected: x = 0 and offsets 0.

    Their height is 0, which may be above all others, so ρ is taken anew over all classes. Sums are
    exact, for it is to be the same number whether classes come one by one or all at once.
    """
    number, drawn, x, low, high, said, marks = play
    if not more:
        return play

    def longer(values: Any) -> Any:
        return np.append(values, np.zeros((*values.shape[:-1], more)), axis=-1)

    absent = np.isnan(said).any(axis=-1)
    heard = longer(said)
    heard[absent] = np.nan
    heights, grown = heights_of(nodes, x, low, high), marks.copy()
    gap = 2 * (max(0.0, float(heights.max())) - math.fsum(x * heights))
    grown[kernel.GAP] = max(float(marks[kernel.GAP]), gap)
    return number, drawn, longer(x), longer(low), longer(high), heard, grown
