"""Choosing row, grid, sub-learner and rule, by minimising the explicit bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from fullswap.base.protocols import Vector
from fullswap.grids import (
    Grid,
    checked_mesh,
    family,
    line,
    longest_side,
    measure,
    measure_nested,
    nested,
)
from fullswap.losses import LossClass
from fullswap.sets import Box, ConvexSetBase, Interval, Simplex
from fullswap.template.convex import cells_of, check_request
from fullswap.template.rules import residual_allowance
from fullswap.theorems import (
    CONVEX,
    THEOREMS,
    Constants,
    Geometry,
    Theorem,
    anytime_hedge_cost,
    best_ratio,
    gradient_cost,
    matching_cost,
    multiscale_cost,
    multiscale_rates,
    nearly_strongly_convex_cost,
    with_learning_cost,
)
from fullswap.theorems.anytime import Schedule

GRID_OF_ROW = {
    "lipschitz": "net",
    "smooth": "triangulation",
    "concave": "boundary",
    "strongly convex": "net",
    "strongly convex and smooth": "triangulation",
    "discretised": "actions",
    "convex": "triangulation",
}
"""Which discretisation each row of the table uses."""

LEARNERS_OF_ROW = {
    "lipschitz": ("hedge", "gradient", "matching"),
    "smooth": ("hedge", "gradient", "matching"),
    "concave": ("hedge", "matching"),
    "strongly convex": ("gradient",),
    "strongly convex and smooth": ("gradient",),
    "discretised": ("gradient",),
}

MAX_EXPERTS = {"hedge": 2_000, "matching": 2_000}
MAX_POINTS = {"gradient": 10**6, **MAX_EXPERTS}
"""Largest grids tried: n × n weights of expert learners must fit the memory."""

MAX_DELAUNAY_POINTS = 300
"""Largest Delaunay triangulations tried above three dimensions."""

ANYTIME_RATIO = 2.0
"""τ of the nearly-strongly-convex schedule when there is no horizon to tune it for."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything that was chosen, and the guarantee that comes with it."""

    row: str
    learner: str
    rule: str
    theorem: Theorem
    constants: Constants
    action_set: ConvexSetBase
    horizon: int | None
    grid_at: Callable[[int], Grid] = field(repr=False)
    """Round index ↦ grid in play."""
    schedule: Schedule | None = field(default=None, repr=False)
    ratio: float = math.nan
    """τ of the nearly-strongly-convex schedule (discretised row)."""
    considered: tuple[tuple[str, str, float], ...] = ()
    """(row, learner, bound) of every candidate, at the horizon (or at 10⁵ rounds)."""
    remark: str = ""
    """What else there is to say of the choice."""

    @property
    def rounding(self) -> str:
        """How targets become mixtures of grid points."""
        if self.learner != "gradient":
            return "none"
        return "nearest" if GRID_OF_ROW[self.row] == "net" else "barycentric"

    def rounding_cost(self, rounds: int) -> float:
        """Σ_t δ_t."""
        if self.schedule is not None:
            return self.schedule.rounding(rounds)
        return self.theorem.rounding_cost(self.constants, self.grid_at(0).geometry) * rounds

    def bound(self, rounds: int) -> float:
        """Guaranteed at most after this many rounds (for any number of them)."""
        trivial = self.constants.loss_range * rounds
        if self.schedule is not None:
            total = self.schedule.bound(rounds)
            size = self.schedule.geometry(max(rounds - 1, 0)).size
        else:
            geometry = self.grid_at(0).geometry
            size = geometry.size
            total = self.theorem.total(self.constants, geometry, rounds)
            if self.learner == "hedge" and self.horizon is not None and rounds != self.horizon:
                # the rate was tuned for the horizon: n·ln n/η + η·B²·t/8 at t other rounds
                tuned = self.theorem.learning_cost(self.constants, size, self.horizon)
                total = self.rounding_cost(rounds) + tuned * (1 + rounds / self.horizon) / 2
        if self.learner in MAX_EXPERTS:
            total += residual_allowance(self.constants.loss_range, size, rounds)
        return min(trivial, total)

    def explain(self) -> str:
        """What was chosen and why, in words and numbers."""
        rounds = self.horizon or 100_000
        grid = self.grid_at(0 if self.schedule is None else rounds - 1)
        bound, rounding = self.bound(rounds), self.rounding_cost(rounds)
        when = f"horizon {self.horizon}" if self.horizon else "no horizon (shown at 100000 rounds)"
        lines = [
            f"row: {self.row} ({self.theorem.assumption}) [{self.theorem.citation}]",
            f"{when}; loss range B = L·D = {self.constants.loss_range:.6g}",
            f"grid: {len(grid)} points, mesh {grid.mesh:.6g}, covering radius "
            f"{grid.covering_radius:.6g}, hull distance {grid.hull_distance:.6g}, "
            f"simplex variance {grid.variance:.6g}",
            f"sub-learner: {self.learner}; rounding: {self.rounding}; rule: {self.rule}",
            f"guaranteed at most {bound:.6g} = min(B·T, rounding {rounding:.6g} + learning"
            f"{' + tolerance of the solver' if self.learner in MAX_EXPERTS else ''})",
        ]
        others = [c for c in self.considered if c[:2] != (self.row, self.learner)]
        if others:
            told = ", ".join(f"{row} with {learner} {value:.6g}" for row, learner, value in others)
            lines.append(f"also considered: {told}")
        if self.remark:
            lines.append(self.remark)
        return "\n".join(lines)


def plan(
    action_set: ConvexSetBase,
    loss_class: LossClass,
    horizon: int | None,
    row: str | None = None,
    mesh: float | None = None,
    learner: str | None = None,
    rule: str | None = None,
    actions: Vector | None = None,
) -> Plan:
    """The applicable plan with the smallest guarantee; every choice can be overridden."""
    _check(action_set, loss_class, horizon, row, mesh, learner, rule, actions)
    if row == "convex":
        return _multiscale(action_set, loss_class, int(horizon or 0), mesh, rule or "coarsest")
    plans = []
    for name, sub_learner in _candidates(loss_class, row, learner, actions is not None):
        made = _make(name, sub_learner, action_set, loss_class, horizon, mesh, rule, actions)
        if made is not None:
            plans.append(made)
    if not plans:
        raise ValueError(
            f"no row fits: row={row!r}, mesh={mesh!r} (at most {MAX_POINTS} points), "
            f"dimension {action_set.dim}, "
            f"learner={learner!r}, rule={rule!r} for {loss_class}"
        )
    rounds = horizon or 100_000
    considered = tuple((p.row, p.learner, p.bound(rounds)) for p in plans)
    # ties (for instance at the trivial bound) go to the most specific row
    order = list(THEOREMS)
    best = min(plans, key=lambda p: (p.bound(rounds), -order.index(p.row)))
    return replace(best, considered=considered)


def _check(
    action_set: ConvexSetBase,
    loss_class: LossClass,
    horizon: int | None,
    row: str | None,
    mesh: float | None,
    learner: str | None,
    rule: str | None,
    actions: Vector | None,
) -> None:
    if horizon is not None and (
        isinstance(horizon, bool) or not isinstance(horizon, int | np.integer) or horizon < 1
    ):
        raise ValueError(f"horizon must be a whole number >= 1, or None, got {horizon!r}")
    if row is not None and row not in GRID_OF_ROW:
        raise ValueError(f"row must be one of {', '.join(map(repr, GRID_OF_ROW))}, got {row!r}")
    if row == "convex":
        check_request(action_set, loss_class, horizon, learner, rule, actions)
        rule = None
    if learner not in (None, "hedge", "gradient", "matching"):
        raise ValueError(f"learner must be 'hedge', 'gradient' or 'matching', got {learner!r}")
    if rule not in (None, "crossing", "stationary"):
        raise ValueError(f"rule must be 'crossing' or 'stationary', got {rule!r}")
    if rule == "crossing" and action_set.dim > 1:
        raise ValueError(f"rule='crossing' needs a set of dimension 1, got {action_set.dim}")
    if actions is not None and action_set.dim > 1:
        raise ValueError(f"actions need a set of dimension 1, got {action_set.dim}")
    if actions is not None and not loss_class.strong_convexity > 0:
        raise ValueError("actions (the discretised case) need losses with strong_convexity > 0")
    if actions is not None and mesh is not None:
        raise ValueError(f"mesh must be None with actions, which are the grid, got {mesh!r}")
    if row == "discretised" and actions is None:
        raise ValueError("row='discretised' needs actions, the points that may be played")
    limit = 2 * loss_class.lipschitz / action_set.diameter
    if loss_class.strong_convexity > limit * (1 + 1e-9):
        raise ValueError(
            f"strong_convexity must be at most 2·lipschitz/diameter = {limit:.6g}: no loss on "
            f"this set has strong_convexity {loss_class.strong_convexity:.6g} and "
            f"lipschitz {loss_class.lipschitz:.6g}"
        )


def _candidates(
    loss_class: LossClass, row: str | None, learner: str | None, discretised: bool
) -> Iterator[tuple[str, str]]:
    applies = {
        "lipschitz": not discretised,
        "smooth": loss_class.smoothness is not None and not discretised,
        "concave": loss_class.concave and not discretised,
        "strongly convex": loss_class.strong_convexity > 0,
        "strongly convex and smooth": loss_class.strong_convexity > 0
        and loss_class.smoothness is not None,
        "discretised": discretised,
    }
    for name, learners in LEARNERS_OF_ROW.items():
        if not applies[name] or (row is not None and name != row):
            continue
        for sub_learner in learners:
            # regret matching+ is for games: its bound is never the smallest, so only on request
            wanted = sub_learner == learner or (learner is None and sub_learner != "matching")
            if wanted and (sub_learner != "gradient" or loss_class.convex):
                yield name, sub_learner


def _make(
    row: str,
    learner: str,
    action_set: ConvexSetBase,
    loss_class: LossClass,
    horizon: int | None,
    mesh: float | None,
    rule: str | None,
    actions: Vector | None,
) -> Plan | None:
    rule = rule or ("crossing" if learner == "gradient" and action_set.dim == 1 else "stationary")
    if rule == "crossing" and learner != "gradient":
        return None
    theorem = _theorem(row, learner, horizon)
    kind = GRID_OF_ROW[row]
    grid_of: Callable[[int], Grid]
    measured: Callable[[int], Geometry | None]
    if actions is not None:
        # deviations go to actions only, so their hull is the whole set
        action_set = Interval(float(actions[0]), float(actions[-1]))
    constants = Constants(
        loss_class.lipschitz,
        action_set.diameter,
        loss_class.strong_convexity,
        loss_class.smoothness,
        float(np.diff(actions).max()) if actions is not None else 0.0,
    )
    limit = MAX_POINTS[learner]
    built = kind == "triangulation" and not isinstance(action_set, Box | Simplex)
    if built and action_set.dim > 3:
        limit = min(limit, MAX_DELAUNAY_POINTS)
    if horizon is not None:
        limit = min(limit, max(horizon, 2 ** (action_set.dim + 2)))  # a round for every point
    common: dict[str, Any] = dict(
        learner=learner, rule=rule, constants=constants, action_set=action_set
    )
    if row == "discretised":
        assert actions is not None
        whole = line(action_set, actions)
        ratio = ANYTIME_RATIO
        if horizon is not None:
            ratio = best_ratio(constants, len(whole), horizon)
        theorem = replace(
            theorem, learning_cost=lambda c, n, t: nearly_strongly_convex_cost(c, n, t, ratio)
        )
        if not math.isfinite(theorem.learning_cost(constants, len(whole), 1)):
            return None
        return Plan(row, theorem=theorem, horizon=horizon, grid_at=lambda t: whole, ratio=ratio,
                    **common)  # fmt: skip
    if actions is not None:
        return _on_actions(row, theorem, actions, horizon, common)
    if horizon is not None or mesh is not None:
        grid_of, measured = family(kind, action_set), measure(kind, action_set, limit)
        if mesh is not None:
            level = _level_of_mesh(kind, action_set, mesh)
            if measure(kind, action_set, MAX_POINTS[learner])(level) is None:
                return None
        else:
            level, _ = theorem.tune(constants, float(horizon or 1), measured)
            if measured(level) is None and measure(kind, action_set, math.inf)(level) is None:
                return None  # not even the coarsest grid can be built
        chosen = grid_of(level)
        return Plan(row, theorem=theorem, horizon=horizon, grid_at=lambda t: chosen, **common)
    if theorem.restarts:
        plain = family(kind, action_set)
        grid_of, by_level = lambda j: plain(2**j), measure(kind, action_set, limit)
        measured = lambda j: by_level(2**j)  # noqa: E731
    else:
        grid_of, measured = nested(kind, action_set), measure_nested(kind, action_set, limit)
    if measured(0) is None:
        return None
    schedule = Schedule(theorem, constants, measured)
    return Plan(
        row, theorem=theorem, horizon=None, grid_at=lambda t: grid_of(schedule.level(t)),
        schedule=schedule, **common,
    )  # fmt: skip


def _multiscale(
    action_set: ConvexSetBase, loss_class: LossClass, horizon: int, mesh: float | None, rule: str
) -> Plan:
    """Multi-scale binning, on request only: its guarantee is far above what it was measured at."""
    rates = multiscale_rates(horizon)
    chosen = family("triangulation", action_set)(cells_of(action_set, horizon, mesh))
    return Plan(
        "convex", "bins", rule, horizon=horizon, action_set=action_set, grid_at=lambda t: chosen,
        theorem=replace(CONVEX, learning_cost=lambda c, n, t: multiscale_cost(c, n, t, rates)),
        constants=Constants(
            loss_class.lipschitz, action_set.diameter,
            loss_class.strong_convexity, loss_class.smoothness,
        ),
        remark="the theorem gives Õ(√T), but with large constants; the default mesh was chosen for "
        "small measured regret, not for the bound",
    )  # fmt: skip


def _theorem(row: str, learner: str, horizon: int | None) -> Theorem:
    theorem = THEOREMS[row]
    if learner == "matching":
        return with_learning_cost(theorem, matching_cost, True, "FKO25, Thm BMCS; TBJB15")
    if learner == "hedge" and horizon is None:
        return with_learning_cost(theorem, anytime_hedge_cost, restarts=True)
    if learner == "gradient" and not theorem.needs_convexity:
        return with_learning_cost(theorem, gradient_cost, False, "FKO25, Thm BMCS; Z03")
    return theorem


def _on_actions(
    row: str, theorem: Theorem, actions: Vector, horizon: int | None, common: dict
) -> Plan:
    """Rows 4 and 5 on a sub-grid of the actions: full swap regret bounds the discretised one."""
    action_set, constants = common["action_set"], common["constants"]

    def sub_grid(kept: Any) -> Grid:
        return line(action_set, actions[kept])

    last = len(actions) - 1
    if horizon is None:
        grids = [sub_grid(kept) for kept in _halvings(last)]

        def measured(level: int) -> Geometry | None:
            return grids[level].geometry if level < len(grids) else None

        schedule = Schedule(theorem, constants, measured)
        return Plan(
            row, theorem=theorem, horizon=None, grid_at=lambda t: grids[schedule.level(t)],
            schedule=schedule, **common,
        )  # fmt: skip
    # Coarse to fine, the smallest stride for each number of cells; learning costs more on finer
    # grids, so none that costs more for that alone than the best grid can be better.
    best, chosen = math.inf, sub_grid([0, last])
    for cells in range(1, last + 1):
        if theorem.learning_cost(constants, cells + 1, float(horizon)) > best:
            break
        grid = sub_grid([*range(0, last, -(-last // cells)), last])
        total = theorem.total(constants, grid.geometry, float(horizon))
        if total < best:
            best, chosen = total, grid
    return Plan(row, theorem=theorem, horizon=horizon, grid_at=lambda t: chosen, **common)


def _halvings(last: int) -> list[list[int]]:
    """Nested choices among 0, …, last: both ends, then every gap halved until none is left.

    Examples
    --------
    >>> _halvings(5)
    [[0, 5], [0, 2, 5], [0, 1, 2, 3, 5], [0, 1, 2, 3, 4, 5]]
    """
    choices = [[0, last]]
    while len(choices[-1]) <= last:
        known = choices[-1]
        middles = {(i + j) // 2 for i, j in pairwise(known)}
        choices.append(sorted(middles.union(known)))
    return choices


def _level_of_mesh(kind: str, action_set: ConvexSetBase, mesh: float) -> int:
    mesh, side = checked_mesh(action_set, mesh), longest_side(action_set)
    if kind != "boundary" or action_set.dim == 1:
        return max(1, math.ceil(side / mesh * (1 - 1e-12)))
    # a polytope approximation of mesh ε is one with hull distance at most ε²/D
    grid_of = family(kind, action_set)
    level = 1
    while grid_of(level).hull_distance > mesh**2 / action_set.diameter and level < 4096:
        level += max(1, level // 8)
    return level
