"""The best equilibrium, or a good one with a bound on what is best.

Games of some thousand joint actions fit one programme; beyond that, see ``columns``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.games.best_so_far import BestSoFar
from fullswap.games.columns import by_columns
from fullswap.games.entropy import MOST_ENTROPY, largest_entropy
from fullswap.games.lp import optimise, programme_entries
from fullswap.games.profiles import CorrelatedEquilibrium
from fullswap.games.record import NOISE
from fullswap.games.values import name_of

ONE_PROGRAMME = 1_500_000  # entries of a programme up to which it is built as a whole
_FAIR_PROGRAMME = 100_000  # the same at once for the smallest payoff, which takes its solver longer
_QUICK = 20_000  # entries of programmes that need no other equilibrium to fall back on


def check_entries(objective: str | Vector, sizes: list[int], notion: str) -> None:
    """Whether there is memory for this objective, or a ValueError."""
    entries = programme_entries(sizes, notion)
    if name_of(objective) == "entropy" and entries > MOST_ENTROPY:
        rule = f"not be 'entropy' for more than {MOST_ENTROPY:,} entries of a programme"
        checks.refuse("objective", rule, f"a game with {entries:,}")


def by_objective(
    best: BestSoFar, objective: str | Vector, rng: np.random.Generator,
    earlier: CorrelatedEquilibrium | None = None,
) -> Iterator[float]:  # fmt: skip
    """Steps to the best equilibrium of a finite game, which is kept in ``best``.

    They begin at an ``earlier`` profile if one is known.
    """
    name = name_of(objective)
    if name == "entropy":
        return largest_entropy(best, rng, earlier)
    entries = programme_entries(best.tables[0].shape, best.record.notion)
    if entries > ONE_PROGRAMME:
        return by_columns(best, objective, rng, earlier)
    if name == "fair" and entries > _FAIR_PROGRAMME:
        return _by_columns_first(best, objective, rng, earlier)
    return _one_programme(best, objective, rng, earlier)


def _one_programme(
    best: BestSoFar, objective: str | Vector, rng: np.random.Generator,
    earlier: CorrelatedEquilibrium | None,
) -> Iterator[float]:  # fmt: skip
    tables, record = best.tables, best.record
    if earlier is not None or programme_entries(tables[0].shape, record.notion) > _QUICK:
        best.find_some(rng, earlier)
        yield 0.0
    programme = optimise(tables, objective, record.seconds_left, record.notion)
    if programme is not None:
        joint = np.where(programme.joint > NOISE, programme.joint, 0.0)
        best.offer(joint, best.gap(joint), "lp")
        best.limit(programme.bound)
    yield 0.0


def _by_columns_first(
    best: BestSoFar, objective: str | Vector, rng: np.random.Generator,
    earlier: CorrelatedEquilibrium | None,
) -> Iterator[float]:  # fmt: skip
    """Columns are often quicker, and sometimes prove nothing; then one programme does."""
    yield from by_columns(best, objective, rng, earlier)
    if not best.proved:
        yield from _one_programme(best, objective, rng, earlier)
