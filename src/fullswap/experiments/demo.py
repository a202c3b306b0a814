"""The demonstration: two runs against adversaries, measured beside guaranteed."""

from __future__ import annotations

from collections.abc import Iterator

from fullswap.adversaries import ADVERSARIES
from fullswap.certificates import Certificate
from fullswap.experiments.problems import problem
from fullswap.play import simulate

RUNS = (
    ("strongly convex and smooth", 1, "mean_aware"),
    ("concave", 2, "sweep"),
)


def run_demo(horizons: tuple[int, ...], seed: int) -> Iterator[tuple[str, int, str, Certificate]]:
    """Yield (row, dim, adversary, certificate) of each run."""
    for row, dim, name in RUNS:
        posed = problem(row, dim)
        for horizon in horizons:
            learner = posed.learner(horizon)
            adversary = ADVERSARIES[name](posed.action_set, posed.loss_class, seed=seed)
            simulate(learner, adversary, horizon)
            yield row, dim, name, learner.certificate()
