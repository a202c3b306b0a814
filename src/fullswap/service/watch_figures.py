"""What is said of many streams at once, from their heads (``kernels.watch``)."""

from __future__ import annotations

import math

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.checking.monitor_words import LINE
from fullswap.checking.verdict import LITTLE, MISCALIBRATED, NO_EVIDENCE, TOO_LITTLE, VERDICTS
from fullswap.kernels.evidence import STEP_LOG
from fullswap.kernels.watch import (
    CHANCE,
    ERROR,
    HIGH,
    IMPOSSIBLE_,
    MASS_,
    MOST_,
    MOST_SCALE_,
    NOW_,
    NOW_SCALE_,
    OVER_TIME,
    SEEN,
    SHOWN_,
    SPREAD_,
)
from fullswap.metrics.seen import FOUR_OF_FIVE, MIXTURE_COST

NOT_WATCHED = "not watched"
WORDS = (*VERDICTS, NOT_WATCHED)
"""Verdicts by their codes."""


def size_of(heads: Points) -> Vector:
    """The error without the part that chance explains, pooled or over time, whichever is more.

    As ``checking.verdict.size_of``: squares of an error and of its noise add up, so √(error² −
    noise²) where the error is above what chance shows one time in twenty; else what is beyond the
    noise. Over time: the mean over the windows of |mean said − what happened| beyond chance.
    """
    error, chance = heads[:, ERROR], heads[:, CHANCE]
    pooled = np.maximum(error - chance, 0.0)
    clear = error > heads[:, HIGH]
    root = np.sqrt(np.maximum(error**2 - chance**2, 0.0))
    return np.maximum(np.where(clear, root, pooled), heads[:, OVER_TIME])


def certain_of(heads: Points, watched: bool) -> Vector:
    """The same where the evidence is strong, else 0: nothing is certain.

    Among many streams those that have seen least show the largest errors, by chance: sorted by size
    alone they would always lead. Without a monitor, where the error is above what chance shows one
    time in twenty.
    """
    sure = strong_of(heads) if watched else heads[:, ERROR] > heads[:, HIGH]
    size = size_of(heads)
    return np.where(sure | np.isnan(size), size, 0.0)


def smallest_seen_of(heads: Points, classes: int) -> Vector:
    """Smallest error that four streams of five would have shown, with so many events.

    ``metrics.seen.smallest_seen`` for all at once: equal to it for events of weight 1, a little
    more where some weigh less. Outcomes that are shares count in the tallies and not in the
    evidence, so only the others give any. Of more than two classes that of the likeliest, at a
    threshold as many times higher.
    """
    wanted = math.log(LINE * (1 if classes == 2 else classes)) + MIXTURE_COST
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = heads[:, MASS_] * np.where(heads[:, SEEN] > 0, heads[:, SHOWN_] / heads[:, SEEN], 0)
        late = FOUR_OF_FIVE * np.sqrt(gain)
        shift = (late + np.sqrt(late**2 + 2 * gain * wanted)) / gain
        seen = shift * np.sqrt(heads[:, SPREAD_])
    # NaN, or without an event: nothing could have been seen
    return np.where(seen <= 1.0, seen, 1.0)


def strong_of(heads: Points) -> np.ndarray:
    """Whether calibrated forecasts come to such a record one time in twenty at most."""
    return np.asarray((evidence_of(heads)[1] >= math.log10(LINE)) | (heads[:, IMPOSSIBLE_] > 0))


def evidence_of(heads: Points) -> tuple[Vector, Vector]:
    """log10 of the evidence, now and at most."""
    now = np.log10(heads[:, NOW_]) + heads[:, NOW_SCALE_] * STEP_LOG
    return now, np.log10(heads[:, MOST_]) + heads[:, MOST_SCALE_] * STEP_LOG


def verdicts_of(heads: Points, classes: int, tolerance: float, watched: bool) -> Indices:
    """Codes of the verdicts."""
    if not watched:
        return np.full(len(heads), WORDS.index(NOT_WATCHED))
    code = {word: WORDS.index(word) for word in WORDS}
    size = np.where(size_of(heads) > tolerance, code[MISCALIBRATED], code[LITTLE])
    could = smallest_seen_of(heads, classes) <= tolerance
    return np.where(strong_of(heads), size, np.where(could, code[NO_EVIDENCE], code[TOO_LITTLE]))
