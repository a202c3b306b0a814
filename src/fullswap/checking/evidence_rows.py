"""Rows of state: what they begin as, and what they say."""

from __future__ import annotations

import math

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.checking.bets import Flaw, flaw_of, lines_of, prior_of
from fullswap.kernels.evidence import (
    EVENTS,
    HEAD,
    MOST,
    MOST_SCALE,
    NOW,
    NOW_SCALE,
    SCALE,
    START,
    STEP_LOG,
    begin,
    best_of,
    left_after,
    width_of,
)


def blank_rows(count: int, classes: int) -> Points:
    """So many rows without events."""
    bets = len(prior_of(classes))
    row = np.zeros(int(width_of(bets, classes)))
    begin(row, bets)
    return np.tile(row, (count, 1))


def beginnings_left(events: int) -> float:
    """Prior mass of bets that begin later than after so many events."""
    return float(left_after(float(events)))


def log10_now(row: Vector) -> float:
    """log10 of the e-value now."""
    return math.log10(float(row[NOW])) + float(row[NOW_SCALE]) * float(STEP_LOG)


def log10_most(row: Vector) -> float:
    """log10 of the largest e-value so far."""
    return math.log10(float(row[MOST])) + float(row[MOST_SCALE]) * float(STEP_LOG)


def best_flaw(row: Vector, classes: int) -> tuple[Flaw, int]:
    """What the best bet says, and where it began to win; −1 without events."""
    prior = prior_of(classes)
    count = len(prior)
    best = int(best_of(prior, row[HEAD : HEAD + count], lines_of(classes), row[SCALE]))
    since = int(row[HEAD + START * count + best]) if row[EVENTS] else -1
    return flaw_of(best, row, classes), since
