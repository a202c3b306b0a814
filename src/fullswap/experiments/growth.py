"""How full swap regret grows with the number of rounds, against the worst adversary found.

The exponent is the slope of a least-squares line through (ln T, ln worst regret). The worst
adversary is the worst of those tried here; the true worst case may be worse, so an exponent far
below the paper's says that these adversaries do not reach it, not that the bound is loose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from fullswap.adversaries import all_adversaries
from fullswap.experiments.problems import cases, problem
from fullswap.play import simulate
from fullswap.theorems import THEOREMS

QUICK_HORIZONS = (250, 1_000, 4_000)
FULL_HORIZONS = (316, 1_000, 3_162, 10_000, 31_623)


@dataclass(frozen=True)
class Run:
    """One adversary against one learner for one horizon."""

    row: str
    dim: int
    horizon: int
    adversary: str
    seed: int
    measured: float
    guaranteed: float


@dataclass(frozen=True)
class Growth:
    """The fitted exponent of one row in one dimension beside the paper's."""

    row: str
    dim: int
    horizons: tuple[int, ...]
    worst: tuple[float, ...]
    adversaries: tuple[str, ...]
    guaranteed: tuple[float, ...]
    exponent: float
    paper: float

    @property
    def largest_ratio(self) -> float:
        """Largest measured/guaranteed over the horizons."""
        return max(m / g for m, g in zip(self.worst, self.guaranteed, strict=True))


def fit_exponent(horizons: Sequence[int], regrets: Sequence[float]) -> float:
    """Slope of the least-squares line through (ln T, ln regret).

    Examples
    --------
    >>> round(fit_exponent([10, 100, 1000], [2.0, 2.0 * 10**0.5, 20.0]), 6)
    0.5
    """
    if len(horizons) < 2:
        raise ValueError(f"horizons must be at least 2 numbers, got {list(horizons)!r}")
    heights = np.log(np.maximum(np.asarray(regrets, dtype=float), 1e-12))
    return float(np.polyfit(np.log(np.asarray(horizons, dtype=float)), heights, 1)[0])


def run_all(row: str, dim: int, horizon: int, seed: int) -> list[Run]:
    """Every adversary that applies, against the row's learner."""
    posed = problem(row, dim)
    runs = []
    for adversary in all_adversaries(posed.action_set, posed.loss_class, seed, rounds=horizon):
        learner = posed.learner(horizon)
        simulate(learner, adversary, horizon, progress=False)
        certificate = learner.certificate()
        assert certificate.guaranteed is not None, certificate.broken
        name = type(adversary).__name__
        runs.append(
            Run(row, dim, horizon, name, seed, certificate.measured, certificate.guaranteed)
        )
    return runs


def measure(
    horizons: Sequence[int] = QUICK_HORIZONS,
    seeds: Sequence[int] = (0,),
    workers: int = 1,
    on_done: Callable[[int, int], None] | None = None,
) -> list[Growth]:
    """Run all jobs and fit one exponent per row and dimension."""
    todo = [(*case, horizon, seed) for case in cases() for horizon in horizons for seed in seeds]
    runs: list[Run] = []
    with ProcessPoolExecutor(workers) as pool:
        for done, found in enumerate(pool.map(run_all, *zip(*todo, strict=True)), 1):
            runs.extend(found)
            if on_done:
                on_done(done, len(todo))
    return [_summary(row, dim, runs, horizons) for row, dim in cases()]


def _summary(row: str, dim: int, runs: Sequence[Run], horizons: Sequence[int]) -> Growth:
    here = [run for run in runs if (run.row, run.dim) == (row, dim)]
    worst = [
        max((run for run in here if run.horizon == horizon), key=lambda run: run.measured)
        for horizon in horizons
    ]
    measured = tuple(run.measured for run in worst)
    # the paper's discretised rate √(εT) at ε = T^(-1/5) is T^(2/5)
    paper = 0.4 if row == "discretised" else THEOREMS[row].exponent(dim)
    return Growth(
        row,
        dim,
        tuple(horizons),
        measured,
        tuple(run.adversary for run in worst),
        tuple(run.guaranteed for run in worst),
        fit_exponent(horizons, measured),
        paper,
    )
