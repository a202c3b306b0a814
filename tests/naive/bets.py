"""Single families of bets against forecasts, for comparison: each tells when it is sure.

A family spreads its stake once, before the first event, and never moves it. These are separate from
the bets of ``fullswap.checking`` and share no code with them.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

import fullswap as fs
from fullswap.checking.evidence import evidence_of
from miscalibrated import logit

Vector = NDArray[np.float64]
SLOPES = np.array([0.4, 0.55, 0.7, 0.8, 0.9, 1.0, 1.15, 1.35, 1.7])
SHIFTS = np.array(
    [-1.6, -1.1, -0.75, -0.5, -0.35, -0.2, -0.1, 0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.1, 1.6]
)
PARTITIONS = np.array([5, 10, 20])
TRUST = 0.01
"""Share of the model itself when the Recalibrator bets: so no bet loses all."""


def lines(y: Vector, p: Vector, line: float) -> int:
    """Events until E ≥ ``line``, betting on σ(a + b·logit p) for a grid of a and b; −1: never."""
    return int(_lines(y, logit(p), line, SLOPES, SHIFTS))


def bins(y: Vector, p: Vector, line: float) -> int:
    """The same with a shift of its own in each of 5, 10 or 20 equal bins of p."""
    return int(_bins(y, p, logit(p), line, PARTITIONS, SHIFTS))


def recalibrator(y: Vector, p: Vector, line: float) -> int:
    """The same with the mean forecast of ``fullswap.Recalibrator``."""
    record = fs.Recalibrator(seed=0).run(p, y, progress=False)
    assert record is not None, "a record is kept unless refused"
    q = (1 - TRUST) * record.mean + TRUST * p
    wealth = np.cumsum(np.log(np.where(y > 0, q / p, (1 - q) / (1 - p))))
    return first(wealth >= np.log(line))


def chosen(y: Vector, p: Vector, line: float) -> int:
    """Events until the evidence of the library reaches the line; −1: never."""
    evidence = evidence_of(y, p, checkpoints=len(y) + 2)
    return first(evidence.history >= np.log10(line))


OURS = "evidence, as it is"
FAMILIES = {
    OURS: chosen,
    "lines in logits alone": lines,
    "bins alone": bins,
    "Recalibrator as the bet": recalibrator,
}
"""Who bets; the first is the library's choice."""


def first(reached: NDArray[np.bool_]) -> int:
    """Events up to the first that is True; −1: none.

    Examples
    --------
    >>> first(np.array([False, True, False])), first(np.array([False]))
    (2, -1)
    """
    return int(np.argmax(reached)) + 1 if reached.any() else -1


@njit(cache=True)
def _pays(y: float, x: float, line: float) -> float:
    """σ(line) against σ(x), for this outcome."""
    if y > 0:
        return (1 + np.exp(-x)) / (1 + np.exp(-line))
    return (1 + np.exp(x)) / (1 + np.exp(line))


@njit(cache=True)
def _lines(y: Vector, x: Vector, line: float, slopes: Vector, shifts: Vector) -> int:
    wealth = np.full((len(slopes), len(shifts)), 1.0 / (len(slopes) * len(shifts)))
    for t in range(len(y)):
        total = 0.0
        for i in range(len(slopes)):
            for j in range(len(shifts)):
                wealth[i, j] *= _pays(y[t], x[t], slopes[i] * x[t] + shifts[j])
                total += wealth[i, j]
        if total >= line:
            return t + 1
    return -1


@njit(cache=True)
def _bins(y: Vector, p: Vector, x: Vector, line: float, counts: Vector, shifts: Vector) -> int:
    wealth = np.full((len(counts), counts.max(), len(shifts)), 1.0 / len(shifts))
    product = np.ones(len(counts))
    for t in range(len(y)):
        total = 0.0
        for g in range(len(counts)):
            own = wealth[g, min(int(p[t] * counts[g]), counts[g] - 1)]
            before = own.sum()
            for j in range(len(shifts)):
                own[j] *= _pays(y[t], x[t], x[t] + shifts[j])
            product[g] *= own.sum() / before
            total += product[g] / len(counts)
        if total >= line:
            return t + 1
    return -1
