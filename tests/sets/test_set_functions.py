"""Sets given by functions."""

import math

import numpy as np
import pytest

from fullswap.sets import Ball, Custom, Polytope
from set_cases import custom_box, nearby

# Sets given by functions --------------------------------------------------------------------------


def test_custom_sets_work_like_what_they_describe():
    disc = Ball([1.0, -2.0], 3.0)
    for contains in (None, disc.contains):
        custom = Custom(2, disc.project, disc.minimize_linear, 6.0, contains)
        points = nearby(disc, np.random.default_rng(0))
        assert np.array_equal(custom.project(points), disc.project(points))
        assert np.array_equal(custom.contains(points), disc.contains(points))
        assert np.linalg.norm(custom.center - disc.center) <= 0.5 * disc.radius
        slopes = points[:3]
        assert np.array_equal(
            custom.minimize_quadratic([0.0, 2.0, 1e-200], slopes),
            disc.minimize_quadratic([0.0, 2.0, 1e-200], slopes),
        )
    with pytest.raises(NotImplementedError, match="curvature must be >= 0 .*Custom set, got -2.0"):
        custom.minimize_quadratic([1.0, -2.0], [[0.0, 1.0], [0.0, 1.0]])


def test_custom_sets_far_away_are_allowed_their_rounding():
    far = custom_box(np.zeros(2), np.ones(2)).moved(shift=1e11)
    assert np.abs(far.project([1e11 + 0.5, 2e11]) - [1e11 + 0.5, 1e11 + 1.0]).max() <= 1e-4


def test_custom_center_is_inside_although_ties_hide_a_corner():
    triangle = Polytope([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    axes = np.vstack([np.eye(2), -np.eye(2)])
    assert triangle.minimize_linear(axes).sum(axis=1).min() == 1.0  # never the corner (0, 0)
    custom = Custom(2, triangle.project, triangle.minimize_linear, triangle.diameter)
    assert custom.center.min() >= 0.1 and custom.center.sum() <= 0.9


def test_custom_functions_may_write_on_their_argument_and_need_no_zero_direction():
    def project(points):
        np.clip(points, 0.0, 1.0, out=points)
        return points

    def minimize_linear(directions):
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return np.where(directions > 0.0, 0.0, 1.0)

    custom = Custom(2, project, minimize_linear, math.sqrt(2.0))
    points = np.array([[3.0, 0.5]])
    assert custom.project(points).tolist() == [[1.0, 0.5]] and points.tolist() == [[3.0, 0.5]]
    assert custom.contains(custom.minimize_linear([0.0, 0.0]))


def inside_out(points):
    """Project on the unit circle instead of the disc: its own inverse image, but expansive."""
    return points / np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-12)


def slanted(points):
    """Retract on the square without expansion, but not to the nearest point."""
    beyond = np.clip(np.abs(points[:, :1]) - 1.0, 0.0, 1.0)
    clipped = np.clip(points, -1.0, 1.0)
    return np.hstack([clipped[:, :1], clipped[:, 1:] * np.cos(beyond)])


LOW, HIGH = np.array([-1.0, -1.0]), np.array([1.0, 1.0])
GOOD = {
    "dim": 2,
    "project": lambda points: np.clip(points, LOW, HIGH),
    "minimize_linear": lambda directions: np.where(directions > 0, LOW, HIGH),
    "diameter": 2.0 * math.sqrt(2.0),
    "contains": lambda points: (np.abs(points) <= 1.0).all(axis=1),
}
BAD_FUNCTIONS = [
    ({"dim": 0}, "dim must be a whole number >= 1, got 0"),
    ({"diameter": -1.0}, "diameter must be positive, got -1.0"),
    ({"project": 3}, "project must be a function, got 3"),
    ({"minimize_linear": None}, "minimize_linear must be a function, got None"),
    ({"contains": 1}, "contains must be a function or None, got 1"),
    ({"project": lambda p: p[:, :1]}, "result of project must have shape"),
    ({"minimize_linear": lambda d: d[:1]}, "result of minimize_linear must have shape"),
    ({"project": lambda p: p * math.nan}, "the result of project must be finite, .* got nan"),
    (
        {"minimize_linear": lambda d: d + math.inf},
        "minimize_linear must be finite, .* got",
    ),
    ({"project": lambda p: 0.9 * np.clip(p, LOW, HIGH)}, r"project .*second time .*\(by 0"),
    ({"project": inside_out}, "project .*farther apart after it than before"),
    ({"project": slanted}, "project must be consistent .*some point of the set is nearer"),
    ({"project": lambda p: np.clip(p, LOW / 2, HIGH / 2)}, "minimize_linear .*project moves"),
    ({"minimize_linear": lambda d: np.where(d > 0, HIGH, LOW)}, "minimize_linear .*smaller value"),
    ({"minimize_linear": lambda d: np.where(d > 0, LOW, 0.9)}, "minimize_linear .*by 0.1"),
    ({"diameter": 2.0}, "diameter must be consistent .*it is 2.0.* .by 0.828."),
    ({"contains": lambda p: np.ones(len(p))}, "contains must be booleans .*, got float64"),
    ({"contains": lambda p: np.abs(p) <= 1.0}, "contains must be booleans .*, got bool of shape"),
    ({"contains": lambda p: (np.abs(p) <= 1.1).all(axis=1)}, "contains must reject .*accepted"),
    ({"contains": lambda p: (np.abs(p) <= 0.9).all(axis=1)}, "contains must accept .*rejected"),
    (
        {
            "project": lambda p: np.clip(p, [-1.0, 0.0], [1.0, 0.0]),
            "minimize_linear": lambda d: np.where(d > 0, [-1.0, 0.0], [1.0, 0.0]),
        },
        "project must map onto a set of full dimension",
    ),
]


@pytest.mark.parametrize(("change", "message"), BAD_FUNCTIONS)
def test_custom_functions_that_contradict_each_other_are_refused(change, message):
    Custom(**GOOD)  # without the change nothing is wrong
    with pytest.raises(ValueError, match=message):
        Custom(**{**GOOD, **change})
