"""Nearest probability vectors, in place.

p_i = max(h_i − τ, 0) with Σ p_i = 1, and τ is the largest of the candidates "the k largest stay",
(Σ_{k largest} h − 1)/k. Moving along (1, …, 1) changes nothing, so the largest height is put at 0
first: those that stay positive then lie in [−1, 0], and nothing cancels however far the point is.
"""

import numpy as np

from fullswap.kernels.compiling import kernel

FEW = 16
"""Up to here heights are taken one after the other without a sorted copy: K² comparisons, which
are as quick as sorting, and nothing is allocated."""


@kernel
def project_simplex(x):
    """Replace x (K,) by the nearest point of {p ≥ 0, Σp = 1}."""
    if x.shape[0] <= FEW:
        project_few(x)
        return
    _lower(x)
    _cut(x, _by_sorting(x))


@kernel
def project_few(x):
    """The same for few entries: without code that sorts, which takes a second to compile."""
    _lower(x)
    _cut(x, _by_selection(x))


@kernel
def project_many(x):
    """The same for many entries: the threshold rises until nothing more falls below it.

    Nothing is sorted or allocated, and it takes a few turns, each with fewer entries above it.
    """
    _lower(x)
    threshold, count = -1.0, 0
    while True:
        total, above = 0.0, 0
        for j in range(x.shape[0]):
            if x[j] > threshold:
                total += x[j]
                above += 1
        if above == count or above == 0:  # 0: NaN
            break
        threshold, count = (total - 1.0) / above, above
    _cut(x, threshold)


@kernel
def _lower(x):
    """Put the largest height at 0."""
    top = -np.inf
    for j in range(x.shape[0]):
        top = max(top, x[j])
    for j in range(x.shape[0]):
        x[j] -= top


@kernel
def _cut(x, threshold):
    for j in range(x.shape[0]):
        x[j] = max(x[j] - threshold, 0.0)


@kernel
def project_simplex_rows(rows):
    """The same for every row of (m, K)."""
    for i in range(rows.shape[0]):
        project_simplex(rows[i])


@kernel
def _by_selection(x):
    """τ of heights (K,), from the largest down; equal ones are counted together."""
    total, threshold, count, last = 0.0, -np.inf, 0, np.inf
    while count < x.shape[0]:
        height, times = -np.inf, 0
        for j in range(x.shape[0]):
            if x[j] < last:
                if x[j] > height:
                    height, times = x[j], 1
                elif x[j] == height:
                    times += 1
        if times == 0:  # NaN: no height is left to take
            break
        for _ in range(times):
            total += height
            count += 1
            threshold = max(threshold, (total - 1.0) / count)
        last = height
    return threshold


@kernel
def _by_sorting(x):
    """The same from a sorted copy."""
    heights = np.sort(x)
    total, threshold = 0.0, -np.inf
    for k in range(x.shape[0]):
        total += heights[x.shape[0] - 1 - k]
        threshold = max(threshold, (total - 1.0) / (k + 1))
    return threshold
