"""Discretisations of a convex set, each with its measured geometry.

Three kinds, one for each way a loss can be represented on finitely many points:

- ``net``: every point of the set is within the covering radius of a grid point;
- ``triangulation``: besides, every point of the grid's hull lies in a small simplex
  (Kuhn's on boxes and simplices; elsewhere it is found when a point is rounded);
- ``boundary``: only the hull matters (a polytope approximation from inside).

Which constructions serve a set, the set says itself (``ConvexSetBase.grids``, a ``GridMaker``). A
grid reports its size n, covering radius r, hull distance h and largest simplex variance V as
measured on it; the bounds use these numbers and no asymptotic count.
"""

from fullswap.grids.base import Grid, GridMaker, enclosing_radius_squared
from fullswap.grids.boundary import boundary
from fullswap.grids.levels import (
    Choices,
    GridFamily,
    Levels,
    Nested,
    checked_mesh,
    grid_of,
    nested_grid,
    net,
    triangulation,
)
from fullswap.grids.line import ends, line
from fullswap.grids.nets import tuned

__all__ = [
    "Choices",
    "Grid",
    "GridFamily",
    "GridMaker",
    "Levels",
    "Nested",
    "boundary",
    "checked_mesh",
    "enclosing_radius_squared",
    "ends",
    "grid_of",
    "line",
    "nested_grid",
    "net",
    "triangulation",
    "tuned",
]
