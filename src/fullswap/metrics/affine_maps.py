"""Affine maps of a set into itself, and the one that is best for a linear objective.

A map y ↦ A·y + b is the matrix Φ = [A b] of shape (d, d + 1), which multiplies (y, 1). Coordinates
y are those along the set, seen from its centre, in units of its diameter. ``least(C)`` is a Φ that
minimises ⟨Φ, C⟩ = Σ_ij Φ_ij·C_ij among all maps of the set into itself:

- **Boxes** with half widths h: coordinate j of the map stays within ±h_j on the whole box if and
  only if |b_j| + Σ_i |A_ji|·h_i ≤ h_j. So each row has one entry that is not 0.
- **Simplices**: corners may go anywhere, each on its own, and the rest follows; each goes to
  a corner.
- **Polytopes**: corners must stay behind every facet, which is a linear programme.
- **Balls** of radius r: with c = b/r, the map stays inside if and only if for some λ in [0, 1] the
  matrix [A/√λ, c/√(1 − λ)] has spectral norm at most 1. (By the S-lemma 1 − ‖A·u + c‖² ≥
  λ·(1 − ‖u‖²) for all u and some λ ≥ 0, that is, diag(λ, …, λ, 1 − λ) − [A c]ᵀ[A c] is positive
  semidefinite.) For this λ the largest ⟨[A c], [M v]⟩ is the nuclear norm of [√λ·M, √(1 − λ)·v],
  the trace of the root of λ·M·Mᵀ + (1 − λ)·v·vᵀ, which is concave in λ: one search on a line.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import final

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector
from fullswap.sets import Box, ConvexSetBase, Interval, Polytope, Simplex

MOST_ENTRIES = 5_000_000
"""Of the linear programme's constraints: facets · corners · (d + 1)·d."""
GOLDEN = (math.sqrt(5) - 1) / 2
SEARCH_STEPS = 45
"""Of a golden section: an angle to 10⁻⁹, and a maximum that is flat there to the last digit."""
TOLERANCE = 1e-10
"""To which corners stay behind facets: the tightest that HiGHS takes."""


class AffineMaps(ABC):
    """All affine maps of one set into itself."""

    def __init__(self, action_set: ConvexSetBase) -> None:
        self.unit = action_set.diameter
        self.origin, self.basis = action_set.center, action_set.frame[1]

    def coordinates(self, points: Points) -> Points:
        """(y, 1) of points (m, A), shape (m, d + 1)."""
        inner = (points - self.origin) @ self.basis / self.unit
        return np.column_stack((inner, np.ones(len(inner))))

    def outward(self, phi: Points) -> tuple[Points, Vector]:
        """Matrix (A, A) and offset (A,) of the map on the set, in its own coordinates."""
        matrix: Points = self.basis @ phi[:, :-1] @ self.basis.T
        return matrix, self.origin + self.unit * (self.basis @ phi[:, -1]) - matrix @ self.origin

    def parts(self) -> Sequence[tuple[slice, AffineMaps]]:
        """Rows of Φ that are free of one another, each with what they may be: here all in one."""
        return [(slice(None), self)]

    @abstractmethod
    def least(self, cost: Points) -> Points:
        """Φ of the smallest ⟨Φ, cost⟩, both of shape (d, d + 1)."""


@final
class BoxMaps(AffineMaps):
    """Row by row: multiples of one coordinate, or constants."""

    def __init__(self, action_set: Box | Interval) -> None:
        super().__init__(action_set)
        high, low = np.atleast_1d(action_set.high), np.atleast_1d(action_set.low)
        half = (high - low) / 2 / self.unit
        self.most: Points = half[:, None] / np.append(half, 1.0)
        """Largest entries of Φ that are possible if all others in their row are 0."""

    def parts(self) -> Sequence[tuple[slice, AffineMaps]]:
        """Every row on its own."""
        return [(slice(j, j + 1), self._row(j)) for j in range(len(self.most))]

    def _row(self, j: int) -> BoxMaps:
        alone = copy(self)
        alone.most = self.most[j : j + 1]
        return alone

    def least(self, cost: Points) -> Points:
        """The entry with the largest effect."""
        rows = np.arange(len(cost))
        columns = np.abs(cost * self.most).argmax(axis=1)
        phi = np.zeros_like(cost)
        phi[rows, columns] = -np.sign(cost[rows, columns]) * self.most[rows, columns]
        return phi

    def least_concave(self, squares: Points, cost: Points) -> Points:
        """The smallest tr(Φ·squares·Φᵀ) + ⟨Φ, cost⟩, squares negative: at one entry a row, too."""
        sizes = np.stack((self.most, -self.most))
        values = np.square(sizes) * np.diag(squares) + sizes * cost
        phi = np.zeros_like(cost)
        for j in range(len(cost)):
            sign, column = np.unravel_index(values[:, j].argmin(), values[:, j].shape)
            phi[j, column] = sizes[sign, j, column]
        return phi


@final
class SimplexMaps(AffineMaps):
    """Corner by corner."""

    def __init__(self, action_set: Simplex) -> None:
        super().__init__(action_set)
        corners = self.coordinates(action_set.vertices)
        self.corners: Points = corners[:, :-1]
        # (y, 1) @ shares are barycentric coordinates
        self.shares: Points = np.asarray(np.linalg.inv(corners), dtype=float)

    def least(self, cost: Points) -> Points:
        """Each corner goes where its own share of the cost is least."""
        goals = (self.corners @ (cost @ self.shares)).argmin(axis=0)
        phi: Points = self.corners[goals].T @ self.shares.T
        return phi


@final
class PolytopeMaps(AffineMaps):
    """Every corner behind every facet."""

    def __init__(self, action_set: Polytope) -> None:
        super().__init__(action_set)
        from scipy.sparse import csr_array, kron

        corners = self.coordinates(action_set.vertices)
        normals, self.offsets = action_set.facets
        entries = len(normals) * len(corners) * normals.shape[1] * corners.shape[1]
        if entries > MOST_ENTRIES:
            rule = f"have facets · corners · d·(d + 1) of at most {MOST_ENTRIES:,}"
            checks.refuse("action_set", f"{rule} for linear swap regret", entries)
        self.rows = kron(csr_array(normals), csr_array(corners), format="csr")
        self.limits = np.repeat(self.offsets, len(corners))

    def least(self, cost: Points) -> Points:
        """A vertex of the linear programme."""
        from scipy.optimize import linprog

        scale = float(np.abs(cost).max()) or 1.0
        solution = linprog(
            cost.ravel() / scale, self.rows, self.limits, bounds=(None, None), method="highs",
            options={"primal_feasibility_tolerance": TOLERANCE,
                     "dual_feasibility_tolerance": TOLERANCE},
        )  # fmt: skip
        if solution.x is None:
            raise ValueError(
                "action_set must be a polytope whose maps HiGHS can optimise, got: "
                f"{solution.message}"
            )
        return np.asarray(solution.x).reshape(cost.shape)


@final
class BallMaps(AffineMaps):
    """By singular values."""

    def least(self, cost: Points) -> Points:
        """At the best λ = sin²θ, −U·Vᵀ of the singular vectors, columns scaled back."""
        # Φ multiplies y = u/2, as the radius is half the unit: b = c/2, while A stays what it is
        halved = np.append(np.ones(len(cost)), 0.5)

        def scales(angle: float) -> Vector:
            roots = np.append(np.full(len(cost), math.sin(angle)), math.cos(angle))
            return np.asarray(halved * roots)

        def value(angle: float) -> float:
            return float(np.linalg.svd(cost * scales(angle), compute_uv=False).sum())

        low, high = 0.0, math.pi / 2
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        at_left, at_right = value(left), value(right)
        for _ in range(SEARCH_STEPS):
            if at_left >= at_right:
                high, right, at_right = right, left, at_left
                left = high - GOLDEN * (high - low)
                at_left = value(left)
            else:
                low, left, at_left = left, right, at_right
                right = low + GOLDEN * (high - low)
                at_right = value(right)
        best = max(0.0, math.pi / 2, (low + high) / 2, key=value)
        u, _, vt = np.linalg.svd(cost * scales(best), full_matrices=False)
        phi: Points = -(u @ vt) * scales(best)
        return phi


def affine_maps(action_set: ConvexSetBase) -> AffineMaps | None:
    """The maps of a set; None if the set does not say enough about itself."""
    if isinstance(action_set, Box | Interval):
        return BoxMaps(action_set)
    if isinstance(action_set, Simplex):
        return SimplexMaps(action_set)
    if isinstance(action_set, Polytope):
        return PolytopeMaps(action_set)
    return None if action_set.sphere is None else BallMaps(action_set)
