"""The best equilibrium of games beyond one programme.

Joint actions and deviations are added as they matter, and a bound tells how much may be missing:
for any prices y ≥ 0 of the deviations no equilibrium has more than

    max_s [value(s) − Σ y(p, a, b)·gain(p, a, b; s)]     over all joint actions s.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games.best_so_far import BestSoFar
from fullswap.games.highs import no_time_for
from fullswap.games.master import Master
from fullswap.games.profiles import CorrelatedEquilibrium
from fullswap.games.values import shares_of

METHOD = "columns"
_ALL_COLUMNS = 12_000  # joint actions that are all there from the start
_ADDED = 400  # joint actions that are added in a step, at most
_STEPS = 400
_CLOSE = 1e-7  # share of the range of values that a bound may be away to count as reached
_INNER = 0.1  # share of the gap asked for that rows may be broken by
_SECONDS_A_CELL = 4e-7  # of a step, for each joint action of the game
# Price of a broken row, in ranges of the value: at first, and up to which it is raised.
_PENALTY, _MOST_PENALTY = 50.0, 1e6
_ROUNDING = 1e-9  # what rows may be broken by however dear that is


def by_columns(
    best: BestSoFar, objective: str | Vector, rng: np.random.Generator,
    earlier: CorrelatedEquilibrium | None,
) -> Iterator[float]:  # fmt: skip
    """Programmes on more and more joint actions and deviations."""
    tables, record = best.tables, best.record
    best.find_some(rng, earlier)
    if no_time_for(tables[0].size, record.seconds_left, _SECONDS_A_CELL):
        return
    unit = max(float(np.abs(t).max()) for t in tables) or 1.0
    scaled = [t / unit for t in tables]
    fair = isinstance(objective, str) and objective == "fair"
    weights = shares_of(objective, len(tables))
    values = sum(w * t for w, t in zip(weights, scaled, strict=True))
    spread = float(np.ptp(values)) or 1.0
    used = np.arange(values.size)
    if values.size > _ALL_COLUMNS:
        used = _largest(values)
    if best.some is not None and np.count_nonzero(best.some) <= _ALL_COLUMNS:
        used = np.union1d(used, np.flatnonzero(best.some))
    master = Master(scaled, record.notion, spread * _PENALTY)
    tolerance = min(_CLOSE * spread, _INNER * record.gap / unit)
    for _ in range(_STEPS):
        solution = master.solve(used, values if not fair else None, record.seconds_left)
        yield 1e6 + 1e3 * master.size * len(used)
        if solution is None:
            return
        shares, joint, reached = solution
        if fair:
            values = sum(w * t for w, t in zip(shares, scaled, strict=True))
        reduced = master.reduced(values)
        best.limit(unit * float(reduced.max()))
        best.offer_mended(joint, best.gap(joint), METHOD)
        broken = master.add_rows(joint, tolerance)
        order = _largest(reduced)
        better = order[reduced.ravel()[order] > reached + tolerance]
        new = np.setdiff1d(better, used)
        used = np.union1d(used, new)
        yield 10.0 * reduced.size
        if best.proved or no_time_for(reduced.size, record.seconds_left, _SECONDS_A_CELL):
            return
        if not (broken or len(new)):
            if master.broken_by <= _ROUNDING or master.penalty > _MOST_PENALTY * spread:
                return
            master.penalty *= 10


def _largest(values: Points) -> Indices:
    return np.argpartition(-values, min(_ADDED, values.size - 1), axis=None)[:_ADDED]
