"""Kernels of a line against plain Python: crossings and sub-learners."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.kernels import line as kernel
from fullswap.kernels.columns import (
    CELLS,
    HEAD,
    HINT,
    LEARNT,
    LOST,
    MASS,
    PARTIAL,
    ROUNDING,
    ROUNDING_MOST,
    ROUNDS,
    SQUARES,
)
from naive.line import PlainLine

seeds = st.integers(0, 10_000)


def random_points(rng, n):
    inner = np.sort(rng.random(n - 2)) * 0.98 + 0.01
    points = np.concatenate(([0.0], inner, [1.0]))
    if n % 2:  # a grid without 0 and 1
        points = 0.05 + 0.9 * points
    return points


def row_with(targets, hint=0):
    row = np.zeros(HEAD + kernel.COLUMNS * len(targets))
    row[HEAD :: kernel.COLUMNS] = targets
    row[HINT] = hint
    return row


@given(st.integers(2, 30), seeds, st.sampled_from(["scattered", "falling", "high", "low", "home"]))
def test_a_forecast_is_one_of_all_the_crossings(n, seed, how):
    rng = np.random.default_rng(seed)
    points = random_points(rng, n)
    targets = {
        "scattered": lambda: rng.random(n),
        "falling": lambda: np.sort(rng.random(n))[::-1],
        "high": lambda: points + 0.01,
        "low": lambda: points - 0.01,
        "home": lambda: points.copy(),
    }[how]()
    plain = PlainLine(points)
    plain.targets = targets.tolist()
    allowed = plain.crossings()
    for hint in range(n):
        row = row_with(targets, hint)
        before = row.copy()
        left, right, share, *recommended = kernel.line_forecast(points, row)
        assert np.array_equal(row, before), "looking changes nothing"
        assert recommended == [targets[left], targets[right]]
        same = [held for a, b, held in allowed if (a, b) == (left, right)]
        assert same and share == pytest.approx(same[0], abs=1e-12)
        if left < right:  # Σλq = Σλs
            mixed = share * targets[left] + (1 - share) * targets[right]
            assert mixed == pytest.approx(share * points[left] + (1 - share) * points[right])


@given(st.integers(2, 12), seeds, st.booleans(), st.sampled_from([1.0, 0.3]))
def test_learning_and_bookkeeping_are_those_of_plain_lists(n, seed, realised, scale):
    rng = np.random.default_rng(seed)
    points = random_points(rng, n)
    plain = PlainLine(points)
    row = row_with(plain.targets)
    chance, delta, scales = rng.random(), rng.random(), []
    for t in range(120):
        ticket = kernel.line_forecast(points, row)
        left, right, share, *targets = ticket
        assert targets == pytest.approx([plain.targets[left], plain.targets[right]], abs=1e-9)
        g = 0.0 if rng.random() < 0.1 else scale * rng.random()
        y = float(rng.random() < chance) if rng.random() < 0.7 else rng.random()
        drawn = int(rng.random() >= share)
        if left == right:
            plain.beyond(left, y, g)
        else:
            plain.jensen(left, right, share, g)
        kernel.line_learn(points, row, realised, delta, ticket, drawn, g, y, t)
        support = [(left, share, targets[0]), (right, 1 - share, targets[1])]
        if realised:
            support = [((left, right)[drawn], 1.0, targets[drawn])]
        plain.learn(support, y, g, delta)
        scales.append(g)
        if g > 0:
            assert row[HINT] == left
        assert row[LEARNT] == t
    columns = row[HEAD:].reshape(-1, kernel.COLUMNS)
    assert columns[:, kernel.TARGET] == pytest.approx(plain.targets, abs=1e-9)
    masses = [sum(g for g, _ in seen) for seen in plain.seen]
    ones = [sum(g * y for g, y in seen) for seen in plain.seen]
    assert columns[:, kernel.WEIGHT] == pytest.approx(masses)
    assert columns[:, kernel.ONES] == pytest.approx(ones)
    assert row[ROUNDS] == plain.rounds == 120
    assert row[MASS] == pytest.approx(plain.mass)
    assert row[SQUARES] == pytest.approx(plain.squares)
    assert row[LOST] == pytest.approx(plain.lost)
    assert row[ROUNDING] == pytest.approx(plain.rounding, abs=1e-9)
    assert row[ROUNDING_MOST] == pytest.approx(plain.most)
    assert row[CELLS] == pytest.approx(plain.cells)
    assert row[PARTIAL] == pytest.approx(sum(g * (1 - g) for g in scales))


def test_one_event_from_python_is_one_event_in_the_loop():
    """``line_update`` packs what ``line_learn`` reads, and says when the grid is due."""
    rng = np.random.default_rng(1)
    points = random_points(rng, 6)
    one = row_with(PlainLine(points).targets)
    other = one.copy()
    frame = np.array([0.0, 0.25, 50.0, *points])
    for t, y in enumerate(rng.random(100)):
        ticket = kernel.line_forecast(points, one)
        kernel.line_learn(points, one, False, 0.25, ticket, 0, 0.7, y, t)
        due = kernel.line_update(frame, other, t, 0, *ticket, 0.7, y)
        assert np.array_equal(one, other)
        assert due == (one[MASS] >= 50.0)


def test_tiny_scales_do_not_overflow():
    points = np.array([0.0, 0.5, 1.0])
    row = row_with(points)
    for g in (5e-324, 1e-300, 1e-320):
        ticket = (0, 1, 0.5, 0.0, 0.5)
        kernel.line_learn(points, row, True, 0.1, ticket, 0, g, 1.0, 0)
        assert np.isfinite(row).all() and row[HEAD + kernel.TARGET] == pytest.approx(g, abs=1e-12)
