"""The best equilibrium of games beyond one programme.

Joint actions and deviations are added as they matter, and a bound tells how much may be missing:
for any prices y ≥ 0 of the deviations no equilibrium has more than

    max_s [value(s) − Σ y(p, a, b)·gain(p, a, b; s)]     over all joint actions s.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.games.best_so_far import BestSoFar
from fullswap.games.master import Master
from fullswap.games.profiles import CorrelatedEquilibrium

METHOD = "columns"
_ALL_COLUMNS = 12_000  # joint actions that are all there from the start
_ADDED = 400  # joint actions that are added in a step, at most
_STEPS = 400
_CLOSE = 1e-7  # share of the range of values that a bound may be away to count as reached
_PENALTY = 50.0  # price of a broken row, in ranges of the value


def by_columns(
    best: BestSoFar, objective: str | Vector, rng: np.random.Generator,
    earlier: CorrelatedEquilibrium | None,
) -> Iterator[float]:  # fmt: skip
    """Programmes on more and more joint actions and deviations."""
    tables, record = best.tables, best.record
    unit = max(float(np.abs(t).max()) for t in tables) or 1.0
    scaled = [t / unit for t in tables]
    start = best.some_equilibrium(rng, earlier)
    fair = isinstance(objective, str) and objective == "fair"
    weights = np.ones(len(tables)) if isinstance(objective, str) else objective
    values = sum(w * t for w, t in zip(weights, scaled, strict=True))
    spread = float(np.ptp(values)) or 1.0
    first = values.size if values.size <= _ALL_COLUMNS else _ADDED
    used = np.argsort(-values, axis=None, kind="stable")[:first]
    safe = None if start is None else start[0]
    if start is not None:
        used = np.union1d(used, np.flatnonzero(start[0]))
        offer(best, start[0], objective, start[1])
    master = Master(scaled, record.notion, spread * _PENALTY)
    tolerance = _CLOSE * spread
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
        offer(best, joint, objective, METHOD, safe)
        broken = master.add_rows(joint, tolerance)
        order = np.argpartition(-reduced, min(_ADDED, reduced.size - 1), axis=None)[:_ADDED]
        better = order[reduced.ravel()[order] > reached + tolerance]
        new = np.setdiff1d(better, used)
        used = np.union1d(used, new)
        yield 10.0 * reduced.size
        if best.proved or not (broken or len(new)):
            return


def offer(
    best: BestSoFar, joint: Points, objective: str | Vector, method: str,
    safe: Points | None = None,
) -> None:  # fmt: skip
    """Also a mixture with a known equilibrium that has the gap asked for, where one is needed."""
    joint, gap = best.mended(joint, best.gap(joint), safe)
    paid = np.array([float((joint * t).sum()) for t in best.tables])
    best.offer(joint, value_of_payoffs(paid, objective), gap, method)


def value_of_payoffs(paid: Vector, objective: str | Vector) -> float:
    """The sum of payoffs, the smallest one, or the sum with weights."""
    if isinstance(objective, str):
        return float(paid.min() if objective == "fair" else paid.sum())
    return float(objective @ paid)
