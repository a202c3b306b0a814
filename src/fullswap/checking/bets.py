"""The bets as data: their prior weights, and what the best of them says about the forecasts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.kernels.evidence import BLOCKS, HEAD, LOGITS, SQUARES, WEIGHTS
from fullswap.kernels.evidence_bets import (
    BETS,
    CURVES,
    FIRST_KNOT,
    KNOTS,
    LINES,
    LOGIT_END,
    PRIOR_VARIANCE,
    SHIFTS,
    SLOPES,
)
from fullswap.kernels.evidence_classes import CLASS_SHIFTS, TEMPERATURES

OF_SHIFTS, OF_SLOPES, OF_BOTH = 0.4, 0.4, 0.2
"""Prior weight of pure shifts, pure slopes and all pairs, among the lines."""
OF_CURVES = (0.1, 0.2, 0.05)
"""Prior weight of the curves that learn; lines have the rest."""
OF_TEMPERATURES = 0.5
"""Of temperatures, where there are more than two classes; shifts of classes have the rest."""
TELLS_APART = 2.0
"""How much larger one effect must be than the other to be named alone."""


@dataclass(frozen=True)
class Flaw:
    """What a bet says is wrong with the forecasts: events happen as σ(shift + slope·logit p) says.

    ``low`` to ``high`` are the forecasts concerned; ``label`` is the number of a class, if one is
    meant. ``direction`` says it in words: "too high", "over-confident", and so on.
    """

    shift: float
    slope: float
    low: float
    high: float
    direction: str
    label: int | None = None


@cache
def prior_of(classes: int) -> Vector:
    """Weights of all bets, summing to 1 at most: most on simple flaws, and on small ones."""
    if classes > 2:
        shifts = classes * len(CLASS_SHIFTS)
        parts = (
            np.full(len(TEMPERATURES), OF_TEMPERATURES / len(TEMPERATURES)),
            np.full(shifts, (1 - OF_TEMPERATURES) / shifts),
        )
        return _summing(np.concatenate(parts))
    none, straight = SHIFTS == 0, SLOPES == 1
    lines = np.full((len(SLOPES), len(SHIFTS)), OF_BOTH / (len(SLOPES) * len(SHIFTS)))
    lines[straight] += OF_SHIFTS * _shares(0.5 + np.abs(SHIFTS), none)
    lines[:, none] += OF_SLOPES * _shares(0.25 + np.abs(np.log(SLOPES)), straight)[:, None]
    lines[np.ix_(straight, none)] = 0
    lines *= (1 - sum(OF_CURVES)) / lines.sum()
    return _summing(np.concatenate((lines.ravel(), OF_CURVES)))


def lines_of(classes: int) -> int:
    """How many bets come before the curves that learn."""
    return LINES if classes == 2 else len(prior_of(classes))


def _shares(size: Vector, without: Any) -> Vector:
    share = np.where(without, 0.0, 1 / size)
    return np.asarray(share / share.sum())


def _summing(weights: Vector) -> Vector:
    """The same made to sum to 1, less a little: rounding must not lift the sum above 1."""
    result: Vector = weights * ((1 - 1e-12) / weights.sum())
    result.flags.writeable = False
    return result


def flaw_of(bet: int, row: Vector, classes: int) -> Flaw:
    """What this bet says, given the row of its stream."""
    if classes > 2:
        return _class_flaw(bet)
    if bet >= LINES:
        return _curve_flaw(bet - LINES, row)
    slope, shift = float(SLOPES[bet // len(SHIFTS)]), float(SHIFTS[bet % len(SHIFTS)])
    return Flaw(shift, slope, 0.0, 1.0, _direction(shift, slope, row))


def _direction(shift: float, slope: float, row: Vector) -> str:
    """Where the forecasts lie decides: for rare events a slope is a shift."""
    mass = max(float(row[WEIGHTS]), 1e-300)
    mean = float(row[LOGITS]) / mass
    spread = math.sqrt(max(float(row[SQUARES]) / mass - mean**2, 0.0))
    level, turn = shift + (slope - 1) * mean, (slope - 1) * spread
    words = []
    if abs(level) * TELLS_APART >= abs(turn):
        words.append("too low" if level > 0 else "too high")
    if abs(turn) * TELLS_APART > abs(level):
        words.append("over-confident" if turn < 0 else "under-confident")
    return " and ".join(words)


def _curve_flaw(curve: int, row: Vector) -> Flaw:
    """The stretch between knots where the residuals stand out most."""
    first, count = int(FIRST_KNOT[curve]), int(KNOTS[curve])
    knots = row[HEAD + BLOCKS * BETS :].reshape(-1, 2)[first : first + count]
    at = int(np.argmax(knots[:, 0] ** 2 / (knots[:, 1] + PRIOR_VARIANCE)))
    ends = np.array([max(at - 1, 0), min(at + 1, count - 1)]) / (count - 1)
    if curve == CURVES - 1:
        ends = 1 / (1 + np.exp(-LOGIT_END * (2 * ends - 1)))
    shift = float(knots[at, 0] / (knots[at, 1] + PRIOR_VARIANCE))
    low, high = float(ends[0]), float(ends[1])
    word = "too low" if shift > 0 else "too high"
    return Flaw(shift, 1.0, low, high, f"{word} between {100 * low:.0f} % and {100 * high:.0f} %")


def _class_flaw(bet: int) -> Flaw:

    if bet < len(TEMPERATURES):
        slope = float(TEMPERATURES[bet])
        word = "over-confident" if slope < 1 else "under-confident"
        return Flaw(0.0, slope, 0.0, 1.0, word)
    label, at = divmod(bet - len(TEMPERATURES), len(CLASS_SHIFTS))
    shift = float(CLASS_SHIFTS[at])
    word = "too low" if shift > 0 else "too high"
    return Flaw(shift, 1.0, 0.0, 1.0, f"{word} for class {label}", label)
