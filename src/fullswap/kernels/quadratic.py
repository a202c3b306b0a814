"""Losses a·‖x‖² + ⟨b, x⟩ + c on a few points: one call instead of a handful of array operations.

Symbols: coefficients (A + 2,) = [a, b_1, …, b_A, c] · points (m, A).
"""

import numpy as np

from fullswap.kernels.compiling import kernel
from fullswap.kernels.rate import scaled_rate


@kernel
def quadratic_values(coefficients, points):
    """Values at the points, shape (m,)."""
    m, width = points.shape
    out = np.empty(m)
    for i in range(m):
        square, inner = 0.0, 0.0
        for j in range(width):
            square += points[i, j] * points[i, j]
            inner += points[i, j] * coefficients[j + 1]
        out[i] = coefficients[0] * square + inner + coefficients[width + 1]
    return out


@kernel
def quadratic_gradients(coefficients, points):
    """Gradients 2·a·x + b at the points, shape (m, A)."""
    m, width = points.shape
    out = np.empty((m, width))
    for i in range(m):
        for j in range(width):
            out[i, j] = 2.0 * coefficients[0] * points[i, j] + coefficients[j + 1]
    return out


@kernel(inline="always")
def _steepest_square(coefficients, points, tangent):
    steepest = 0.0
    for i in range(points.shape[0]):
        square = 0.0
        for k in range(tangent.shape[1]):
            along = 0.0
            for j in range(points.shape[1]):
                slope = 2.0 * coefficients[0] * points[i, j] + coefficients[j + 1]
                along += slope * tangent[j, k]
            square += along * along
        steepest = max(steepest, square)
    return steepest


@kernel
def steepest_slope(coefficients, points, tangent):
    """Largest norm of the gradient along the set, over the points; tangent (A, d) orthonormal."""
    return np.sqrt(_steepest_square(coefficients, points, tangent))


@kernel
def extreme_rows(rows, points, tangent):
    """First rows (T ≥ 1) with the steepest slope at the points, the least and the most curvature.

    Examples
    --------
    >>> rows = np.array([[1.0, 0.0, 0.0], [0.5, 3.0, 0.0], [2.0, -1.0, 0.0]])
    >>> extreme_rows(rows, np.array([[0.0], [1.0]]), np.ones((1, 1)))
    (1, 1, 2)
    """
    return _extremes(rows, points, tangent, 0)


@kernel
def steepest_rows(rows, points, tangent):
    """The same with a point for each row, points (T, A)."""
    return _extremes(rows, points, tangent, 1)


@kernel
def _extremes(rows, points, tangent, one_each):
    steepest, least, most = 0, 0, 0
    record = -1.0
    for t in range(rows.shape[0]):
        own = points[t : t + 1] if one_each else points
        square = _steepest_square(rows[t], own, tangent)
        if square > record:
            steepest, record = t, square
        if rows[t, 0] < rows[least, 0]:
            least = t
        if rows[t, 0] > rows[most, 0]:
            most = t
    return steepest, least, most


@kernel
def add_to_tally(weights_sum, sums, labels, weights, coefficients):
    """weights_sum[s] += g and sums[s] += g·coefficients for the labels s of one round."""
    for i in range(labels.shape[0]):
        s, g = labels[i], weights[i]
        weights_sum[s] += g
        for j in range(coefficients.shape[0]):
            sums[s, j] += g * coefficients[j]


@kernel
def gradient_steps(targets, weight_sums, rows, weights, slopes, rate, out, sums):
    """out = x − η(G)·g·∇ for the rows, and sums = G; rate as in ``fullswap.kernels.rate``."""
    for i in range(rows.shape[0]):
        sums[i] = weight_sums[rows[i]] + weights[i]
        step = scaled_rate(rate, sums[i], weights[i])
        for j in range(targets.shape[1]):
            out[i, j] = targets[rows[i], j] - step * slopes[i, j]
