"""Discretisations of a convex set, each with its measured geometry.

Three kinds, one for each way a loss can be represented on finitely many points:

- ``net``: every point of the set is within the covering radius of a grid point;
- ``triangulation``: besides, every point of the grid's hull lies in a small simplex
  (Kuhn on boxes and simplices, Delaunay elsewhere);
- ``boundary``: only the hull matters (a polytope approximation from inside).

A grid reports its size n, covering radius r, hull distance h and largest simplex variance V
as measured on it; the bounds use these numbers and no asymptotic count.
"""

from fullswap.grids.base import Grid, enclosing_radius_squared
from fullswap.grids.boundary import boundary
from fullswap.grids.families import (
    checked_mesh,
    ends,
    family,
    line,
    longest_side,
    measure,
    measure_nested,
    nested,
    net,
    triangulation,
)

__all__ = [
    "Grid",
    "boundary",
    "checked_mesh",
    "enclosing_radius_squared",
    "ends",
    "family",
    "line",
    "longest_side",
    "measure",
    "measure_nested",
    "nested",
    "net",
    "triangulation",
]
