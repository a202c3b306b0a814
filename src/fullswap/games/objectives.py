"""The best equilibrium, or a good one with a bound on what is best.

Games of some thousand joint actions fit one programme. Beyond that, joint actions and deviations
are added as they matter, and a bound tells how much may be missing: for any prices y ≥ 0 of the
deviations no equilibrium has more than

    max_s [value(s) − Σ y(p, a, b)·gain(p, a, b; s)]     over all joint actions s.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games import portfolio
from fullswap.games.game import StructuredGame
from fullswap.games.lp import incentive_rows, optimise, programme_entries
from fullswap.games.master import Master
from fullswap.games.profiles import CorrelatedEquilibrium, Optimum
from fullswap.games.pure import scan
from fullswap.games.record import Record

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ONE_PROGRAMME = 1_500_000  # entries of a programme up to which it is built as a whole
_FAIR_PROGRAMME = 100_000  # the same at once for the smallest payoff, which takes its solver longer
_NEAR_PROGRAMME = 300_000  # entries up to which the nearest equilibrium of a table is sought
_QUICK = 20_000  # entries of programmes that need no other equilibrium to fall back on
_ALL_COLUMNS = 12_000  # joint actions that are all there from the start
_MOST_ENTROPY = 12_000_000  # entries of the matrix for the largest entropy
_ADDED = 400  # joint actions that are added in a step, at most
_STEPS = 400
_CLOSE = 1e-7  # share of the range of values that a bound may be away to count as reached
_PENALTY = 50.0  # price of a broken row, in ranges of the value
_CORNERS = 60_000  # entries of programmes that look for a small support
_TRIES = 6  # programmes that look for a small support
_BITS = 1e-9  # probabilities below this are left out of a small support


class Chosen:
    """The best profile so far that keeps the gap, and the bound so far."""

    def __init__(self, record: Record, name: str, least: bool = False) -> None:
        self._record, self._name, self._sign = record, name, -1.0 if least else 1.0
        self._value, self.bound = -math.inf, math.inf
        self.columns: list[Indices] = []
        self.weights: Vector = np.zeros(0)

    def offer(self, joint: Points, value: float, gap: float) -> None:
        """A table of probabilities, which counts if its gap is small enough."""
        if gap <= self._record.gap and self._sign * value > self._value:
            self._value = self._sign * value
            self.columns = [np.asarray(at) for at in np.nonzero(joint)]
            self.weights = joint[tuple(self.columns)] / joint.sum()

    def limit(self, bound: float) -> None:
        """No equilibrium has more than this."""
        self.bound = min(self.bound, self._sign * bound)

    @property
    def optimum(self) -> Optimum | None:
        """Of the profile that was chosen; None if there is none."""
        if not len(self.weights):
            return None
        bound = None if math.isinf(self.bound) else self._sign * max(self.bound, self._value)
        return Optimum(self._name, self._sign * self._value, bound)


def name_of(objective: str | Vector) -> str:
    """Of an objective that was checked."""
    return objective if isinstance(objective, str) else "weights"


def value_of(profile: CorrelatedEquilibrium, objective: str | Vector) -> float:
    """Of the payoffs of a profile."""
    return _value(profile.payoffs, objective)


def _value(paid: Vector, objective: str | Vector) -> float:
    if isinstance(objective, str):
        return float(paid.min() if objective == "fair" else paid.sum())
    return float(objective @ paid)


def by_objective(
    game: StructuredGame, record: Record, tables: Sequence[Points], objective: str | Vector
) -> tuple[Iterator[float], Chosen]:
    """Steps to the best equilibrium of a finite game, and where it is kept."""
    name = name_of(objective)
    chosen = Chosen(record, name, least=name == "support")
    if name == "entropy":
        return _largest_entropy(game, record, tables, chosen), chosen
    if name == "support":
        return _smallest_support(game, record, tables, chosen), chosen
    entries = programme_entries(tables[0].shape, record.notion)
    if entries > ONE_PROGRAMME:
        return _by_columns(game, record, tables, objective, chosen), chosen
    if name == "fair" and entries > _FAIR_PROGRAMME:
        return _by_columns_first(game, record, tables, objective, chosen), chosen
    return _one_programme(game, record, tables, objective, chosen), chosen


def table_gap(tables: Sequence[Points], joint: Points, notion: str) -> float:
    """The largest gain of a player in a finite game."""
    gaps = []
    for p, table in enumerate(tables):
        own = np.moveaxis(joint, p, 0).reshape(joint.shape[p], -1)
        paid = np.moveaxis(table, p, 0).reshape(joint.shape[p], -1)
        if notion == "coarse":
            own = own.sum(axis=0, keepdims=True)
            gaps.append(float((own @ paid.T).max() - (joint * table).sum()))
            continue
        used = np.flatnonzero(own.any(axis=1))
        values = own[used] @ paid.T
        gaps.append(float((values.max(axis=1) - values[np.arange(len(used)), used]).sum()))
    return max(gaps)


def _one_programme(
    game: StructuredGame, record: Record, tables: Sequence[Points], objective: str | Vector,
    chosen: Chosen,
) -> Iterator[float]:  # fmt: skip
    if programme_entries(tables[0].shape, record.notion) > _QUICK:
        start = _some_equilibrium(game, record)
        if start is not None:
            _offer(record, tables, _table(start, tables), objective, chosen)
        yield 0.0
    programme = optimise(tables, objective, record.seconds_left, record.notion)
    if programme is not None:
        joint = np.where(programme.joint > 1e-12, programme.joint, 0.0)
        gap = table_gap(tables, joint, record.notion) + record.slack.max()
        chosen.offer(joint, programme.value, gap)
        chosen.limit(programme.bound)
    yield 0.0


def _by_columns_first(
    game: StructuredGame, record: Record, tables: Sequence[Points], objective: str | Vector,
    chosen: Chosen,
) -> Iterator[float]:  # fmt: skip
    """Columns are often quicker, and sometimes prove nothing; then one programme does."""
    yield from _by_columns(game, record, tables, objective, chosen)
    if chosen.optimum is None or not chosen.optimum.proved:
        yield from _one_programme(game, record, tables, objective, chosen)


def _by_columns(
    game: StructuredGame, record: Record, tables: Sequence[Points], objective: str | Vector,
    chosen: Chosen,
) -> Iterator[float]:  # fmt: skip
    """Programmes on more and more joint actions and deviations."""
    unit = max(float(np.abs(t).max()) for t in tables) or 1.0
    scaled = [t / unit for t in tables]
    start = _some_equilibrium(game, record)
    fair = isinstance(objective, str) and objective == "fair"
    weights = np.ones(len(tables)) if isinstance(objective, str) else objective
    values = sum(w * t for w, t in zip(weights, scaled, strict=True))
    spread = float(np.ptp(values)) or 1.0
    first = values.size if values.size <= _ALL_COLUMNS else _ADDED
    used = np.argsort(-values, axis=None, kind="stable")[:first]
    safe = None if start is None else _table(start, tables)
    if safe is not None:
        used = np.union1d(used, np.flatnonzero(safe))
        _offer(record, tables, safe, objective, chosen)
    master = Master(scaled, record.notion, spread * _PENALTY)
    tolerance = _CLOSE * spread
    for _ in range(_STEPS):
        found = master.solve(used, values if not fair else None, record.seconds_left)
        yield 1e6 + 1e3 * master.size * len(used)
        if found is None:
            return
        shares, joint, reached = found
        if fair:
            values = sum(w * t for w, t in zip(shares, scaled, strict=True))
        reduced = master.reduced(values)
        bound = float(reduced.max())
        chosen.limit(unit * bound)
        _offer(record, tables, joint, objective, chosen, safe)
        broken = master.add_rows(joint, tolerance)
        order = np.argpartition(-reduced, min(_ADDED, reduced.size - 1), axis=None)[:_ADDED]
        better = order[reduced.ravel()[order] > reached + tolerance]
        new = np.setdiff1d(better, used)
        used = np.union1d(used, new)
        yield 10.0 * reduced.size
        if not broken and not len(new):
            return
        optimum = chosen.optimum
        if optimum is not None and optimum.proved:
            return


def _offer(
    record: Record, tables: Sequence[Points], joint: Points, objective: str | Vector,
    chosen: Chosen, safe: Points | None = None,
) -> None:  # fmt: skip
    """Also a mixture with a known equilibrium that has the gap asked for, where one is needed."""
    gap = table_gap(tables, joint, record.notion) + record.slack.max()
    if gap > record.gap and safe is not None:
        joint, gap = _mended(record, tables, joint, gap, safe)
    paid = np.array([float((joint * t).sum()) for t in tables])
    chosen.offer(joint, _value(paid, objective), gap)


def _mended(
    record: Record, tables: Sequence[Points], joint: Points, gap: float, safe: Points
) -> tuple[Points, float]:
    """As little of a known equilibrium as takes the rest of the gap away, which is convex."""
    known = table_gap(tables, safe, record.notion) + record.slack.max()
    if known >= record.gap:
        return joint, gap
    share = min(1.0, (gap - 0.99 * record.gap) / max(gap - known, 0.01 * gap))
    mixed = (1 - share) * joint + share * safe
    return mixed, table_gap(tables, mixed, record.notion) + record.slack.max()


def _table(profile: tuple[list[Indices], Vector], tables: Sequence[Points]) -> Points:
    joint = np.zeros(tables[0].shape)
    np.add.at(joint, tuple(profile[0]), profile[1])
    return joint


def _some_equilibrium(game: StructuredGame, record: Record) -> tuple[list[Indices], Vector] | None:
    """Some equilibrium with the gap asked for, or better, to begin with."""
    members = portfolio.members_of(game, record, np.random.default_rng(0), 2_000)
    portfolio.run(members, record, portfolio.MOST_WORK / 100)
    best = record.best()
    if best is None:
        return None
    return game.columns(best.support), best.weights


def _largest_entropy(
    game: StructuredGame, record: Record, tables: Sequence[Points], chosen: Chosen
) -> Iterator[float]:
    """P ∝ exp(−Σ y·gain) for the prices y ≥ 0 at which the logarithm of its sum is smallest."""
    from scipy.optimize import minimize

    if programme_entries(tables[0].shape, record.notion) > _MOST_ENTROPY:
        raise ValueError(
            f"objective must not be 'entropy' for more than {_MOST_ENTROPY:,} entries of a "
            f"programme, got {programme_entries(tables[0].shape, record.notion):,}"
        )
    rows = incentive_rows(tables, record.notion)
    across = rows.T.tocsr()
    shape = tables[0].shape
    prices = np.zeros(rows.shape[0])
    joint = np.full(shape, 1 / math.prod(shape))
    chosen.limit(math.log(math.prod(shape)))
    chosen.offer(
        joint, _entropy(joint), table_gap(tables, joint, record.notion) + record.slack.max()
    )
    if not rows.shape[0]:  # no deviation ever pays
        return

    def dual(y: Vector) -> tuple[float, Vector]:
        powers = -(across @ y)
        top = powers.max()
        weights = np.exp(powers - top)
        total = weights.sum()
        return float(top + np.log(total)), -(rows @ (weights / total))

    start = _some_equilibrium(game, record)
    safe = None if start is None else _table(start, tables)
    if safe is not None:
        gap = table_gap(tables, safe, record.notion) + record.slack.max()
        chosen.offer(safe, _entropy(safe), gap)
    yield 0.0
    for _ in range(_STEPS):
        done = minimize(
            dual, prices, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * len(prices),
            options={"maxiter": 25, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-10},
        )  # fmt: skip
        still = np.array_equal(prices, done.x)
        prices = done.x
        powers = -(across @ prices)
        joint = np.exp(powers - powers.max()).reshape(shape)
        joint /= joint.sum()
        chosen.limit(float(done.fun))
        gap = table_gap(tables, joint, record.notion) + record.slack.max()
        mended = joint, gap
        if gap > record.gap and safe is not None:
            mended = _mended(record, tables, joint, gap, safe)
        chosen.offer(mended[0], _entropy(mended[0]), mended[1])
        yield 200.0 * rows.nnz
        optimum = chosen.optimum
        if optimum is not None and optimum.proved:
            return
        if still or done.success:
            break
    if gap <= record.gap or programme_entries(shape, record.notion) > _NEAR_PROGRAMME:
        return
    near = _nearest(rows, joint, record)  # prices that grow for ever leave a gap
    if near is not None:
        joint, gap = _mended(record, tables, joint, gap, near)
        chosen.offer(joint, _entropy(joint), gap)


def _nearest(rows: csr_array, joint: Points, record: Record) -> Points | None:
    """The equilibrium nearest to a table of probabilities, by the sum of absolute differences."""
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    count, one = joint.size, eye_array(joint.size)
    blank = csr_array((rows.shape[0], count))
    # t ≥ |P − joint|, for one more variable t for each joint action
    matrix = vstack((hstack((rows, blank)), hstack((one, -one)), hstack((-one, -one)))).tocsr()
    limits = np.concatenate((np.zeros(rows.shape[0]), joint.ravel(), -joint.ravel()))
    costs = np.concatenate((np.zeros(count), np.ones(count)))
    found = _programme(costs, matrix, limits, costs[None] * -1 + 1, record)
    if found is None:
        return None
    near = np.maximum(found[:count], 0.0).reshape(joint.shape)
    return np.asarray(near / near.sum())


def _entropy(joint: Points) -> float:
    played = joint[joint > 0]
    return float(-(played * np.log(played)).sum())


def _smallest_support(
    game: StructuredGame, record: Record, tables: Sequence[Points], chosen: Chosen
) -> Iterator[float]:
    """Pure ones if there are any; else corners of the polytope of equilibria, a few tries."""
    where, gap = scan(tables, [1.0] * len(tables))
    shape = tables[0].shape
    joint = np.zeros(shape)
    joint[tuple(where)] = 1.0
    chosen.offer(joint, 1.0, gap + record.slack.max())
    chosen.limit(1.0 if gap + record.slack.max() <= record.gap else 2.0)
    yield 20.0 * tables[0].size
    if chosen.optimum is not None and chosen.optimum.proved:
        return
    start = _some_equilibrium(game, record)
    if start is not None:
        joint = _table(start, tables)
        gap = table_gap(tables, joint, record.notion) + record.slack.max()
        chosen.offer(joint, float(np.count_nonzero(joint)), gap)
    if programme_entries(shape, record.notion) > _CORNERS:
        return
    rng = np.random.default_rng(0)
    costs: Points = np.zeros(shape)
    for k in range(_TRIES):
        joint_found = _corner(tables, costs, record)
        yield 1e7
        if joint_found is None:
            return
        joint = np.where(joint_found > _BITS, joint_found, 0.0)
        joint /= joint.sum()
        gap = table_gap(tables, joint, record.notion) + record.slack.max()
        chosen.offer(joint, float(np.count_nonzero(joint)), gap)
        # what has little probability becomes dear; every other time a corner at random
        costs = 1 / (joint + 1e-3) if k % 2 == 0 else rng.random(shape)


def _corner(tables: Sequence[Points], costs: Points, record: Record) -> Points | None:
    rows = incentive_rows(tables, record.notion)
    ones = np.ones((1, rows.shape[1]))
    found = _programme(costs.ravel(), rows, np.zeros(rows.shape[0]), ones, record)
    return None if found is None else np.maximum(found, 0.0).reshape(tables[0].shape)


def _programme(
    costs: Vector, rows: csr_array, limits: Vector, ones: Points, record: Record
) -> Vector | None:
    """Variables ≥ 0 of the least cost, within the limits, of which those with a 1 sum to 1."""
    from scipy.optimize import linprog

    left = record.seconds_left
    options: dict[str, float] = {"primal_feasibility_tolerance": 1e-10}
    if left is not None:
        options["time_limit"] = max(left, 0.01)
    solution = linprog(
        costs, rows, limits, ones, [1.0], (0.0, None), method="highs", options=options
    )  # fmt: skip
    return None if solution.status != 0 else np.asarray(solution.x)
