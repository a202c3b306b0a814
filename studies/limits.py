"""``python -m studies limits``: what is guaranteed in which dimension, on which set, at what cost.

Nothing is played: plans are made, and what they guarantee is read off. Two tables. One says, for
sets of diameter 1, which row the learner takes, on how many points, and what share of the trivial
bound B·T it then guarantees. The other says how fast guarantees grow, as the exponent a of T^a
between two horizons, beside the exponent of the paper.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fullswap.losses import LossClass
from fullswap.sets import Ball, Box, ConvexSetBase, Custom, Interval, Polytope, Simplex
from fullswap.template import Plan, plan
from fullswap.theorems import THEOREMS
from studies.report.markers import rewrite
from studies.report.text import table

NAME = "limits"
HORIZONS = (10**4, 10**6, 10**8)
DIMENSIONS = (1, 2, 3, 4, 5, 6, 8, 16)
SLOPED = (1, 2, 3, 4, 5, 6)
"""Dimensions in which slopes are compared."""
CLASSES = {
    "squared": LossClass.squared(1.0),
    "linear": LossClass(1.0, concave=True, convex=True),
    "smooth, convex": LossClass(1.0, smoothness=1.0, convex=True),
    "Lipschitz": LossClass(1.0),
}
"""Losses on sets of diameter 1."""
SLOPES = (
    ("lipschitz", LossClass(1.0), ""),
    ("lipschitz", LossClass(1.0, convex=True), ", convex losses"),
    ("smooth", LossClass(1.0, smoothness=1.0), ""),
    ("smooth", LossClass(1.0, smoothness=1.0, convex=True), ", convex losses"),
    ("concave", CLASSES["linear"], ""),
    ("strongly convex", LossClass(2.0, strong_convexity=2.0), ""),
    ("strongly convex and smooth", CLASSES["squared"], ""),
)
"""Rows of the paper's table, with losses for them; convex ones allow gradient descent."""


def sets_of(dim: int) -> dict[str, ConvexSetBase]:
    """One set of diameter 1 of each kind."""
    if dim == 1:
        return {"interval": Interval(0.0, 1.0)}
    rng = np.random.default_rng(dim)
    kinds: dict[str, ConvexSetBase] = {
        "box": Box(np.zeros(dim), np.full(dim, dim**-0.5)),
        "simplex": Simplex(dim, scale=0.5**0.5),
        "ball": Ball(np.zeros(dim), 0.5),
        "functions": _ellipsoid(np.linspace(0.25, 0.5, dim)),
    }
    if dim <= 8:  # beyond, hulls of random points have too many facets
        polytope = Polytope(rng.normal(size=(3 * dim, dim)))
        kinds["polytope"] = polytope.moved(1 / polytope.diameter)
    return kinds


def _ellipsoid(axes: np.ndarray) -> Custom:
    """{x : Σ x_i²/a_i² ≤ 1} by functions."""

    def project(points: np.ndarray) -> np.ndarray:
        outside = np.square(points / axes).sum(axis=1) > 1
        low, high = np.zeros(len(points)), np.linalg.norm(points * axes, axis=1)
        for _ in range(60):  # the multiplier μ of the nearest point x_i·a_i²/(a_i² + μ)
            middle = (low + high) / 2
            inner = points * axes / (axes**2 + middle[:, None])
            far = np.square(inner).sum(axis=1) > 1
            low, high = np.where(far, middle, low), np.where(far, high, middle)
        return np.where(outside[:, None], points * axes**2 / (axes**2 + high[:, None]), points)

    def minimise(directions: np.ndarray) -> np.ndarray:
        scaled = directions * axes
        return -axes * scaled / np.linalg.norm(scaled, axis=1, keepdims=True)

    return Custom(len(axes), project, minimise, diameter=float(2 * axes.max()))


def share(made: Plan, horizon: int) -> float:
    """What is guaranteed, as a share of the most that can be lost, without building a grid."""
    return made.bound(horizon, built=False) / (made.constants.loss_range * horizon)


def points(made: Plan) -> int | None:
    """Points of the grid, at most; None where they move."""
    geometry = made.grids.geometry(made.level)
    return None if made.kind.moving or geometry is None else geometry.size


def taken() -> str:
    """Which row is taken, on how many points, and what it guarantees."""
    parts = []
    for name, losses in CLASSES.items():
        lines = []
        for dim in DIMENSIONS:
            for kind, action_set in sets_of(dim).items():
                plans = [plan(action_set, losses, horizon) for horizon in HORIZONS]
                cells = [_cell(made, t) for made, t in zip(plans, HORIZONS, strict=True)]
                lines.append((str(dim), kind, *cells))
        heads = ("d", "set", *(f"T = {_power(t)}" for t in HORIZONS))
        parts.append(f"**{name.capitalize()} losses.**\n\n{table(heads, lines)}")
    return "\n\n".join(parts)


def _cell(made: Plan, horizon: int) -> str:
    size = points(made)
    where = "points that move" if size is None else f"{size:,} point{'s' * (size != 1)}"
    percent = 100 * share(made, horizon)
    amount = f"{percent:.0f}" if percent >= 10 else f"{percent:.2g}"
    return f"{amount} %: {made.row}, {made.learner}, {where}"


def slopes(
    rows: Sequence[tuple[str, LossClass, str]] = SLOPES, dims: Sequence[int] = SLOPED
) -> str:
    """Exponents between neighbouring horizons on a ball, beside the paper's."""
    lines = []
    for row, losses, which in rows:
        for dim in dims:
            action_set = Interval(0.0, 1.0) if dim == 1 else Ball(np.zeros(dim), 0.5)
            bounds = [
                plan(action_set, losses, horizon, row=row).bound(horizon, built=False)
                for horizon in HORIZONS
            ]
            found = [
                math.log(later / earlier) / math.log(HORIZONS[1] / HORIZONS[0])
                for earlier, later in zip(bounds, bounds[1:], strict=False)
            ]
            paper = THEOREMS[row].exponent(dim)
            lines.append(
                (row + which, str(dim), *(f"{slope:.2f}" for slope in found), f"{paper:.2f}")
            )
    spans = [f"{_power(a)} to {_power(b)}" for a, b in zip(HORIZONS, HORIZONS[1:], strict=False)]
    return table(("row", "d", *spans, "paper"), lines)


def _power(horizon: int) -> str:
    superscripts = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    return "10" + str(round(math.log10(horizon))).translate(superscripts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Both tables, on the page or printed."""
    parser = argparse.ArgumentParser("python -m studies limits", description=__doc__)
    parser.add_argument("--page", type=Path, help="file with the markers, to be rewritten")
    asked = parser.parse_args(arguments)
    for name, make in (("limits", taken), ("slopes", slopes)):
        content = make()
        print(content)
        if asked.page is not None:
            rewrite(asked.page, name, content)
    return 0
