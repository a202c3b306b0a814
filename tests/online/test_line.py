"""Kernels of a line against plain Python: crossings, sub-learners, stationary distributions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.forecasting.specs import line_spec
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
from fullswap.online.kinds import kind_of
from fullswap.online.lattices import logits
from fullswap.template.step import stationary_mixture
from naive.line import PlainLine
from online.verbs import forecast, learn, place_of

LOSSES = {
    "squared": (kernel.SQUARED, (2.0, 0.0, math.inf)),
    "linear": (kernel.LINEARISED, (0.5, 0.1, 30.0)),
    "log": (kernel.LOG, (2.0, 0.0, math.inf)),
}
seeds = st.integers(0, 10_000)


def random_points(rng, n, loss):
    inner = np.sort(rng.random(n - 2)) * 0.98 + 0.01
    points = np.concatenate(([0.0], inner, [1.0]))
    if loss == "log":
        points = logits(0.02 + 0.96 * points)
    elif n % 2:  # a grid without 0 and 1
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
    points = random_points(rng, n, "squared")
    targets = {
        "scattered": lambda: rng.random(n),
        "falling": lambda: np.sort(rng.random(n))[::-1],
        "high": lambda: points + 0.01,
        "low": lambda: points - 0.01,
        "home": lambda: points.copy(),
    }[how]()
    plain = PlainLine(points, "squared")
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


@given(
    st.integers(2, 12), seeds, st.sampled_from(sorted(LOSSES)), st.booleans(),
    st.sampled_from([1.0, 0.3]),
)  # fmt: skip
def test_learning_and_bookkeeping_are_those_of_plain_lists(n, seed, loss, realised, scale):
    rng = np.random.default_rng(seed)
    points = random_points(rng, n, loss)
    number, rate = LOSSES[loss]
    plain = PlainLine(points, loss, rate)
    row = row_with(plain.targets)
    chance, delta, scales = rng.random(), rng.random(), []
    for t in range(120):
        ticket = kernel.line_forecast(points, row)
        left, right, share, *targets = ticket
        assert targets == pytest.approx([plain.targets[left], plain.targets[right]], abs=1e-9)
        g = 0.0 if rng.random() < 0.1 else scale * rng.random()
        y = float(rng.random() < chance) if rng.random() < 0.7 else rng.random()
        drawn = int(rng.random() >= share)
        if loss == "squared" and left == right:
            plain.beyond(left, y, g)
        elif loss == "squared":
            plain.jensen(left, right, share, g)
        kernel.line_learn(points, row, number, rate, realised, delta, ticket, drawn, g, y, t)
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
    cells = plain.cells if loss == "squared" else plain.most
    assert row[CELLS] == pytest.approx(cells)
    assert row[PARTIAL] == pytest.approx(sum(g * (1 - g) for g in scales))


@pytest.mark.parametrize("loss", LOSSES)
def test_one_event_from_python_is_one_event_in_the_loop(loss):
    """``line_update`` packs what ``line_learn`` reads, and says when the grid is due."""
    rng = np.random.default_rng(1)
    points = random_points(rng, 6, loss)
    number, rate = LOSSES[loss]
    one = row_with(PlainLine(points, loss).targets)
    other = one.copy()
    frame = np.array([number, 0.0, 0.25, 50.0, *points])
    for t, y in enumerate(rng.random(100)):
        ticket = kernel.line_forecast(points, one)
        kernel.line_learn(points, one, number, rate, False, 0.25, ticket, 0, 0.7, y, t)
        due = kernel.line_update(frame, rate, other, t, 0, *ticket, 0.7, y)
        assert np.array_equal(one, other)
        assert due == (one[MASS] >= 50.0)


def test_tiny_scales_do_not_overflow():
    points = np.array([0.0, 0.5, 1.0])
    row = row_with(points)
    for g in (5e-324, 1e-300, 1e-320):
        ticket = (0, 1, 0.5, 0.0, 0.5)
        kernel.line_learn(points, row, kernel.SQUARED, (2.0, 0.0, math.inf), True, 0.1, ticket, 0,
                          g, 1.0, 0)  # fmt: skip
        assert np.isfinite(row).all() and row[HEAD + kernel.TARGET] == pytest.approx(g, abs=1e-12)


# --- the stationary distribution ----------------------------------------------------------------


def closed_classes(transition):
    """Closed classes of a chain, by boolean closure."""
    n = len(transition)
    reach = (transition > 0) | np.eye(n, dtype=bool)
    for k in range(n):
        reach |= np.outer(reach[:, k], reach[k, :])
    classes = {tuple(np.flatnonzero(reach[i])) for i in range(n)}
    return {c for c in classes if all(reach[j, i] for i in c for j in c)}


@given(st.sampled_from([20, 300, 5000]), seeds)
def test_the_chain_plays_a_stationary_distribution_of_one_closed_class(horizon, seed):
    rng = np.random.default_rng(seed)
    kind = kind_of(line_spec(horizon, None, "stationary", "squared", "distribution", 1.0))
    points = kind.points(0)
    n = len(points)
    row = kind.blank.copy()
    row[HEAD :: kernel.COLUMNS] = rng.random(n) if seed % 2 else np.sort(rng.random(n))[::-1]
    plain = PlainLine(points, "squared")
    plain.targets = row[HEAD :: kernel.COLUMNS].tolist()
    transition = np.array(plain.transition())
    inside = np.clip(plain.targets, points[0], points[-1])
    assert transition @ points == pytest.approx(inside)
    classes = closed_classes(transition)
    for hint in range(n):
        row[HINT] = hint
        members, shares, targets = forecast(kind, row)
        mixture = np.zeros(n)
        mixture[members] = shares
        assert tuple(sorted(members)) in classes
        assert targets == pytest.approx(row[HEAD :: kernel.COLUMNS][members])
        assert mixture.sum() == pytest.approx(1) and (shares > 0).all()
        assert mixture @ transition == pytest.approx(mixture, abs=1e-12)
    if len(classes) == 1:
        values, vectors = np.linalg.eig(transition.T)
        vector = np.real(vectors[:, np.argmin(np.abs(values - 1))])
        assert mixture == pytest.approx(vector / vector.sum(), abs=1e-6)
        assert mixture == pytest.approx(stationary_mixture(transition), abs=1e-6)


@pytest.mark.parametrize("feedback", ["realised", "distribution"])
@pytest.mark.parametrize("steps", [None, 10])
def test_learning_on_a_chain_is_that_of_plain_lists(feedback, steps):
    rng = np.random.default_rng(3)
    kind = kind_of(line_spec(400, steps, "stationary", "squared", feedback, 1.0))
    loss = "squared" if kind.spec.ratio is None else "linear"
    plain = PlainLine(kind.points(0).tolist(), loss, kind._rate)
    row = kind.blank.copy()
    for t in range(400):
        play = forecast(kind, row)
        members, shares, targets = (part.tolist() for part in play)
        y, g, u = float(rng.random() < 0.3), rng.choice([0.0, 0.4, 1.0]), rng.random()
        drawn = place_of(shares, u)
        assert targets == pytest.approx([plain.targets[i] for i in members], abs=1e-9)
        learn(kind, row, play, drawn, y, g, t)
        support = list(zip(members, shares, targets, strict=True))
        if feedback == "realised":
            support = [(members[drawn], 1.0, targets[drawn])]
        if g > 0:
            heaviest = max(range(len(shares)), key=shares.__getitem__)
            assert row[HINT] == members[drawn if feedback == "realised" else heaviest]
        plain.learn(support, y, g, kind.rounding_cost(0))
    columns = kind.point_columns(row)
    assert columns[:, kernel.TARGET] == pytest.approx(plain.targets, abs=1e-9)
    heads = (MASS, ROUNDS, SQUARES, LOST, ROUNDING_MOST, ROUNDING)
    expected = (plain.mass, 400, plain.squares, plain.lost, plain.most, 0.0)
    assert [row[place] for place in heads] == pytest.approx(expected)
