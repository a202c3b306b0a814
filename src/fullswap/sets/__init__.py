"""Convex sets with exact operations.

Every set answers the same questions about arrays of points, shape (m, A), where A is the number of
coordinates: project them, say which it contains, minimise linear functions and functions
a·‖x‖² + ⟨b, x⟩ (the losses of quadratic type) over it. "Exact" means up to rounding: closed forms
where they exist and active-set methods with finitely many steps otherwise, never an iteration
stopped early.

A set has ``dim`` (its affine dimension) and ``ambient_dim`` (A). They differ for ``Simplex`` alone,
which lies in a plane of constant sum. Public methods check their arguments; the same names with a
leading underscore take a float array of shape (m, A) and check nothing, for callers that have done
so already. Sets are immutable, compare by value and can be pickled.
"""

from fullswap.sets.ball import Ball
from fullswap.sets.base import ConvexSetBase
from fullswap.sets.boxes import Box, Interval
from fullswap.sets.custom import Custom
from fullswap.sets.polytope import Polytope
from fullswap.sets.simplex import Simplex

__all__ = ["Ball", "Box", "ConvexSetBase", "Custom", "Interval", "Polytope", "Simplex"]
