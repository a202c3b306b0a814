"""Sets and points that are refused."""

import math

import numpy as np
import pytest

from fullswap.sets import Ball, Box, Interval, Polytope, Simplex
from set_cases import KINDS, make

# Bad input ----------------------------------------------------------------------------------------

SQUARE = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
BAD_SETS = {
    "high must be larger than 1, got 1.0": lambda: Interval(1.0, 1.0),
    "low must be a finite number, got nan": lambda: Interval(math.nan, 1.0),
    "high must be a finite number, got inf": lambda: Interval(0.0, math.inf),
    r"high must be at most 1e\+75, got 1e\+80": lambda: Interval(0.0, 1e80),
    r"low must be a finite number, got \[0.0\]": lambda: Interval([0.0], 1.0),
    "low must be a finite number, got 'zero'": lambda: Interval("zero", 1.0),
    "high must be a finite number, got 1j": lambda: Interval(0.0, 1j),
    "diameter must be at least 1e-75, got 1e-90": lambda: Interval(0.0, 1e-90),
    "high must be larger than low .*, got 1.0 at position 1": lambda: Box([0.0, 2.0], [1.0, 1.0]),
    "high must have shape .2,., got .3,.": lambda: Box([0.0, 0.0], [1.0, 1.0, 1.0]),
    "low must have shape .*, got .0,.": lambda: Box([], []),
    r"low must have shape .*, got \(\)": lambda: Box(0.0, 1.0),
    "high must be finite, .* got nan at position 1": lambda: Box([0.0, 0.0], [1.0, math.nan]),
    "low must be numbers in a regular array": lambda: Box([[0.0], [0.0, 1.0]], [1.0]),
    "dim must be a whole number >= 1, got 0": lambda: Simplex(0),
    "dim must be a whole number >= 1, got 1.5": lambda: Simplex(1.5),
    "dim must be a whole number >= 1, got True": lambda: Simplex(True),
    "scale must be positive, got 0.0": lambda: Simplex(2, scale=0.0),
    "scale must be positive, got -1.0": lambda: Simplex(2, scale=-1.0),
    r"shift must have shape \(\) or \(3,\), got \(2,\)": lambda: Simplex(2, shift=[0.0, 0.0]),
    "shift must be finite, .* got -inf": lambda: Simplex(1, shift=-math.inf),
    "radius must be positive, got 0.0": lambda: Ball([0.0], 0.0),
    "radius must be positive, got -2.0": lambda: Ball([0.0], -2.0),
    "radius must be a finite number, got nan": lambda: Ball([0.0], math.nan),
    "center must be finite, .* got inf at position 1": lambda: Ball([0.0, math.inf], 1.0),
    "center must have shape .*, got .1, 2.": lambda: Ball([[0.0, 1.0]], 1.0),
    "one of vertices and inequalities must be given, got neither": lambda: Polytope(),
    "one of vertices and inequalities must .*, got both": lambda: Polytope(
        SQUARE, (SQUARE, [1.0] * 4)
    ),
    "vertices must be finite, .* got nan at .* .4, 0.": lambda: Polytope(
        [*SQUARE, [math.nan, 0.0]]
    ),
    "vertices must have shape .*, got .2,.": lambda: Polytope([0.0, 1.0]),
    "vertices must have shape .*, got .0,.": lambda: Polytope([]),
    "vertices must have shape .* v > A .*, got .2, 2.": lambda: Polytope(SQUARE[:2]),
    "vertices must .*interior points, got a flat one.*own affine hull.*Simplex": lambda: Polytope(
        [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    ),
    "inequalities must be a pair .A, b., got 3": lambda: Polytope(inequalities=3),
    r"inequalities\[1\] must have shape .2,., got .3,.": lambda: Polytope(
        inequalities=([[1.0], [-1.0]], [1.0, 1.0, 1.0])
    ),
    r"inequalities\[0\] must be .* got nan": lambda: Polytope(inequalities=([[math.nan]], [1.0])),
    r"inequalities\[1\] must be .* got inf": lambda: Polytope(inequalities=([[1.0]], [math.inf])),
    r"inequalities\[0\] must have rows": lambda: Polytope(inequalities=([[1e-200]], [1.0])),
    "must have a solution, got 0 <= -1: the polytope is empty": lambda: Polytope(
        inequalities=([[1.0], [-1.0], [0.0]], [1.0, 1.0, -1.0])
    ),
}


@pytest.mark.parametrize("message", BAD_SETS)
def test_bad_sets_are_refused(message):
    with pytest.raises(ValueError, match=message):
        BAD_SETS[message]()


@pytest.mark.parametrize(
    "points",
    [
        np.eye(4)[:, :4],  # a simplex in its own four coordinates has no interior
        [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]],
        [[0.3, 0.7], [0.1, 0.9], [0.6, 0.4], [0.2, 0.8]],
        [[1e6, 1e6], [1e6 + 1, 1e6 + 1 + 1e-10], [1e6 + 2, 1e6 + 2]],
        [[2.0], [2.0]],
        [[2.0, 1.0]] * 5,
    ],
)
def test_flat_polytopes_are_refused(points):
    if len(points) == 4 and len(points[0]) == 4:
        points = np.vstack([points, np.full((1, 4), 0.25)])
    with pytest.raises(ValueError, match="got a flat one"):
        Polytope(points)


@pytest.mark.parametrize(
    ("matrix", "bounds", "message"),
    [
        ([[1.0], [-1.0]], [0.0, -1.0], "empty polytope: .*at least 0.5"),
        ([[1.0, 0.0], [-1.0, 0.0]], [0.0, -1.0], "empty polytope"),
        ([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], [-1.0, 0.0, 0.0], "empty polytope"),
        ([[1.0]], [1.0], "got an unbounded set"),
        ([[1.0], [2.0]], [1.0, 1.0], "got an unbounded set"),
        ([[0.0, 0.0]], [1.0], "got an unbounded set"),
        ([[1.0, 2.0]], [1.0], "got an unbounded set"),
        ([[-1.0, 0.0], [0.0, -1.0]], [0.5, 0.5], "got an unbounded set"),
        ([[-1.0, 0.0], [0.0, -1.0], [1.0, 0.0]], [0.5, 0.5, 0.5], "got an unbounded set"),
        ([[1.0, 0.0], [-1.0, 0.0], [2.0, 0.0]], [1.0, 1.0, 1.0], "got an unbounded set"),
        (
            [[1.0, 0.0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [1, 1, 0]],
            [1.0] * 5,
            "got an unbounded set",
        ),
        ([[1.0], [-1.0]], [1.0, -1.0], "flat"),
        ([[1.0, 0], [-1.0, 0], [0, 1.0], [0, -1.0]], [1.0, 0.0, 2.0, -2.0], "flat"),
        ([[1.0, 0], [-1.0, 0], [0, 1.0], [0, -1.0]], [0.0] * 4, "flat"),
    ],
)
def test_inequalities_without_a_body_are_refused(matrix, bounds, message):
    with pytest.raises(ValueError, match=message):
        Polytope(inequalities=(matrix, bounds))


@pytest.mark.parametrize("kind", KINDS)
def test_bad_points_are_refused(kind):
    convex_set = make(kind, 1 if kind == "interval" else 2, 1)
    width = convex_set.ambient_dim
    good = np.zeros((3, width))
    for operation, name in [
        (convex_set.project, "points"),
        (convex_set.contains, "points"),
        (convex_set.minimize_linear, "directions"),
        (lambda rows: convex_set.minimize_quadratic(1.0, rows), "slope"),
    ]:
        for bad in (np.zeros((3, width + 1)), np.zeros(width + 1), np.zeros((1, 1, width)), 0.5):
            with pytest.raises(ValueError, match=rf"{name} must have shape \({width},\)"):
                operation(bad)
        with pytest.raises(ValueError, match=rf"{name} must .*, got \(0, {width}\)"):
            operation(np.zeros((0, width)))
        for value in (math.nan, math.inf, -math.inf, 1e90):
            broken = good.copy()
            broken[1, -1] = value
            with pytest.raises(
                ValueError, match=f"{name} must .*, got {str(value).replace('+', '.')}"
            ):
                operation(broken)
        with pytest.raises(ValueError, match=f"{name} must be numbers, got"):
            operation([["a"] * width])
    with pytest.raises(ValueError, match="tolerance must lie in .*, got -1.0"):
        convex_set.contains(good, tolerance=-1.0)
    with pytest.raises(ValueError, match="tolerance must be a finite number, got nan"):
        convex_set.contains(good, tolerance=math.nan)
    with pytest.raises(ValueError, match=r"curvature must have shape \(\) or \(3,\).*, got \(2,\)"):
        convex_set.minimize_quadratic([1.0, 1.0], good)
    with pytest.raises(ValueError, match="curvature must be finite, .* got nan at position 1"):
        convex_set.minimize_quadratic([1.0, math.nan, 1.0], good)
    with pytest.raises(ValueError, match="scale must be positive, got 0.0"):
        convex_set.moved(scale=0.0)
    with pytest.raises(ValueError, match=rf"shift must have shape \(\) or \({width},\)"):
        convex_set.moved(shift=np.zeros(width + 1))
    with pytest.raises(ValueError, match="shift must be finite, .* got inf"):
        convex_set.moved(shift=math.inf)
