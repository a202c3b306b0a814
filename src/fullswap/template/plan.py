"""Choosing the row, grid, sub-learner and rule with the smallest guarantee."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from fullswap.base import checks
from fullswap.base.progress import Progress
from fullswap.base.protocols import Vector
from fullswap.learners import SUB_LEARNERS, SubLearner
from fullswap.losses import LossClass
from fullswap.sets import ConvexSetBase
from fullswap.template.choice import SHOWN_ROUNDS, Plan, Request, Row
from fullswap.template.rows import TABLE
from fullswap.template.tree import TreeRow

ROWS: tuple[Row, ...] = (*TABLE, TreeRow())
"""A new row is one file, and one entry here to be known by name."""


def plan(
    action_set: ConvexSetBase,
    loss_class: LossClass,
    horizon: int | None,
    row: str | Row | None = None,
    mesh: float | None = None,
    learner: str | SubLearner | None = None,
    rule: str | None = None,
    actions: Vector | None = None,
) -> Plan:
    """The applicable plan with the smallest guarantee; every choice can be overridden.

    ``row`` and ``learner`` are names, or objects that need not be among ``ROWS`` and
    ``SUB_LEARNERS``.
    """
    request = Request(action_set, loss_class, checks.horizon(horizon), mesh, rule, actions)
    wanted: Row | None = _named("row", row, Row, ROWS)
    asked: SubLearner | None = _named("learner", learner, SubLearner, SUB_LEARNERS)
    learners = SUB_LEARNERS if asked is None else (asked,)
    if wanted is not None:
        wanted.check(request, asked)
    _check(request, wanted)
    plans = []
    with Progress(len(ROWS) * len(learners), None, "plans") as bar:
        for candidate in _plans(request, wanted, learners, learner is not None):
            plans.append(candidate)
            bar.update(len(plans))
    if not plans:
        if mesh is not None and _plans_exist(request, wanted, learners, learner is not None):
            most = ", ".join(f"{kind.max_points:,} with {kind.name}" for kind in learners)
            checks.refuse("mesh", f"be larger: at most so many points are held, {most}", mesh)
        raise ValueError(
            f"row, learner, rule and mesh must fit the set and the losses, got row={row!r}, "
            f"learner={learner!r}, rule={rule!r}, mesh={mesh!r} in dimension {action_set.dim} "
            f"for {loss_class}: no row fits (grids have at most "
            f"{', '.join(f'{kind.max_points} points with {kind.name}' for kind in learners)})"
        )
    rounds = request.horizon or SHOWN_ROUNDS
    bounds = [candidate.bound(rounds, built=False) for candidate in plans]
    # ties (for instance at the trivial bound) go to the most specific row, then to the first;
    # points that stay are easier to read than points that move
    order = [candidate.kind for candidate in plans]
    best = min(
        range(len(plans)), key=lambda i: (bounds[i], order[i].moving, -order.index(order[i]))
    )
    considered = tuple((p.row, p.learner, b) for p, b in zip(plans, bounds, strict=True))
    return replace(plans[best], considered=considered)


def _plans_exist(
    request: Request, row: Row | None, learners: tuple[SubLearner, ...], asked: bool
) -> bool:
    """Whether there would be a plan with a free mesh."""
    return any(_plans(replace(request, mesh=None), row, learners, asked))


def _named(name: str, value: Any, kind: Any, known: Iterable[Any]) -> Any:
    """The one of this name; an object of this kind stands for itself."""
    if value is None or isinstance(value, kind):
        return value
    names = {part.name: part for part in known}
    return names[checks.one_of(name, value, names)]


def _check(request: Request, row: Row | None) -> None:
    action_set, promised = request.action_set, request.loss_class
    if request.rule is not None:
        checks.one_of("rule", request.rule, Row.rules if row is None else row.rules)
    if request.rule == "crossing" and action_set.dim > 1:
        checks.refuse("action_set", "have dimension 1 with rule='crossing'", action_set.dim)
    if request.actions is not None:
        if action_set.dim > 1:
            rule = "have dimension 1 with actions (the paper leaves more dimensions open)"
            checks.refuse("action_set", rule, action_set.dim)
        if not promised.strong_convexity > 0:
            checks.refuse("strong_convexity", "be positive with actions", promised.strong_convexity)
        if request.mesh is not None:
            checks.refuse("mesh", "be None with actions, which are the grid", request.mesh)
    limit = 2 * promised.lipschitz / action_set.diameter
    if promised.strong_convexity > limit * (1 + 1e-9):  # equality is common, up to rounding
        rule = f"be at most 2·lipschitz/diameter = {limit:.6g}: no loss on this set has more"
        checks.refuse("strong_convexity", rule, promised.strong_convexity)


def _plans(
    request: Request, row: Row | None, learners: tuple[SubLearner, ...], asked: bool
) -> Iterator[Plan]:
    rows = ROWS if row is None else (row,)
    considered = [learner for learner in learners if asked or not learner.on_request]
    for candidate in rows:
        if not candidate.applies(request):
            continue
        players: list[SubLearner | None] = [None]
        if asked and row is None and not candidate.has_learners:
            continue
        if candidate.has_learners:
            players = [c for c in considered if c.fits(candidate, request.loss_class)]
        for learner in players:
            result = candidate.plan(request, learner)
            if result is not None:
                yield result
