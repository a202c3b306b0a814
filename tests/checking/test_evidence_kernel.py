"""The compiled bets against their definitions, and the inequalities that all proofs rest on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checking.evidence_cases import KINDS, naive_factors, probabilities, short_log
from fullswap.checking.bets import prior_of
from fullswap.checking.evidence import EvidenceRun
from fullswap.kernels import evidence as kernel
from fullswap.kernels.evidence_bets import (
    BETS,
    COUNTER_TILTS,
    LINES,
    SHIFTS,
    SLOPES,
    TILTS,
    learn_yes_no,
    logit_of,
    pays_yes_no,
)
from fullswap.kernels.evidence_classes import CLASS_SHIFTS, TEMPERATURES, pays_classes
from naive import evidence as naive


def run_of(y, p, weight, event, step, batches=1):
    classes = p.shape[1] if p.ndim == 2 else 2
    run = EvidenceRun(classes=classes, step=step, checkpoints=2 * len(y))
    for part in np.array_split(np.arange(len(y)), batches):
        w, e = (None if x is None else x[part] for x in (weight, event))
        run.add(y[part], p[part], w, None, e)
    return run


def test_grids_are_those_of_the_definition():
    assert SLOPES.tolist() == naive.SLOPES and SHIFTS.tolist() == naive.SHIFTS
    assert TEMPERATURES.tolist() == naive.TEMPERATURES
    assert CLASS_SHIFTS.tolist() == naive.CLASS_SHIFTS
    np.testing.assert_allclose(TILTS * COUNTER_TILTS, 1)


@pytest.mark.parametrize("classes", [2, 3, 50])
def test_prior_weights_sum_to_one_at_most(classes):
    prior = prior_of(classes)
    assert 1 - 1e-9 < prior.sum() <= 1
    assert prior.min() >= 0
    if classes == 2:  # the bet on p itself wins nothing and has no weight
        same = np.flatnonzero(prior == 0)
        assert same.tolist() == [SLOPES.tolist().index(1.0) * len(SHIFTS) + len(SHIFTS) // 2]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_evidence_is_the_sum_over_all_beginnings(kind, seed):
    options = KINDS[kind]
    y, p, weight, event = short_log(seed, **options)
    step = options.get("step")
    table, rows = naive_factors(y, p, weight, event, step)
    prior = prior_of(p.shape[1] if p.ndim == 2 else 2)
    wanted = naive.evidence(prior.tolist(), table)
    found = run_of(y, p, weight, event, step).result()[0]
    assert found.events == len(table)
    assert found.positions.tolist() == rows
    np.testing.assert_allclose(10**found.history, wanted, rtol=1e-9)
    assert found.log10 == found.history[-1]
    at_most = wanted[rows.index(found.most_at)] if found.most_at >= 0 else 1.0
    assert at_most == pytest.approx(max(1, *wanted), rel=1e-9)
    assert found.log10_most == pytest.approx(np.log10(max(1, *wanted)), abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_since_is_the_beginning_of_the_largest_product(kind):
    options = KINDS[kind]
    y, p, weight, event = short_log(5, **options)
    step = options.get("step")
    table, rows = naive_factors(y, p, weight, event, step)
    run = run_of(y, p, weight, event, step)
    row, bets = run._state[0], len(table[0])
    starts = row[kernel.HEAD + kernel.START * bets :][:bets]
    wanted = [rows[naive.since(table, k, 0, len(table))] for k in range(bets)]
    agree = np.array(wanted) == starts
    assert agree.mean() > 0.97  # products that tie up to rounding aside


@given(p=probabilities, learnt=st.lists(st.tuples(st.integers(0, 1), st.floats(0.01, 0.99))))
def test_bets_win_nothing_if_the_chance_is_p(p, learnt):
    knots, yes, no = np.zeros(70), np.zeros(BETS), np.zeros(BETS)
    for y, said in learnt:
        learn_yes_no(knots, said, logit_of(said, 0.0), float(y), 1.0)
    pays_yes_no(knots, p, 1.0, 0.0, yes)
    pays_yes_no(knots, p, 0.0, 0.0, no)
    mean = (p * yes if p else 0.0) + ((1 - p) * no if p < 1 else 0.0)
    assert (mean <= 1 + 1e-12).all()
    if 1e-20 < p:  # exactly fair, but where payments are cut
        np.testing.assert_allclose(mean, 1, rtol=1e-12)
    assert (yes >= 0).all() and (no >= 0).all()


@given(
    p=probabilities,
    step=st.sampled_from([0.01, 0.05, 0.1, 0.5]),
    learnt=st.lists(st.tuples(st.integers(0, 1), st.floats(0.01, 0.99)), max_size=20),
)
def test_rounded_bets_win_nothing_for_any_chance_in_the_cell(p, step, learnt):
    knots, yes, no = np.zeros(70), np.zeros(BETS), np.zeros(BETS)
    half = step / 2
    for y, said in learnt:
        learn_yes_no(knots, said, logit_of(said, half), float(y), 1.0)
    pays_yes_no(knots, p, 1.0, half, yes)
    pays_yes_no(knots, p, 0.0, half, no)
    low, high = max(p - half, 0), min(p + half, 1)
    for chance in np.linspace(low, high, 21):
        assert (chance * yes + (1 - chance) * no <= 1 + 1e-12).all()
    if low > 0.1 and high < 0.9:  # outside the cell some bet wins, on either side
        for chance in (low - 0.05, high + 0.05):
            assert (chance * yes + (1 - chance) * no).max() > 1


@given(seed=st.integers(0, 10_000), classes=st.integers(3, 8), zeros=st.booleans())
def test_class_bets_win_nothing_if_chances_are_p(seed, classes, zeros):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(classes, 0.3))
    if zeros:
        p[int(np.argmin(p))] = 0
        p /= p.sum()
    mean, paid = 0.0, np.zeros(len(TEMPERATURES) + classes * len(CLASS_SHIFTS))
    for y in range(classes):
        pays_classes(p, float(y), 0.0, paid)
        mean = mean + (p[y] * paid if p[y] else 0.0)
    np.testing.assert_allclose(mean, 1, rtol=1e-9)


@given(seed=st.integers(0, 10_000), classes=st.integers(3, 6), step=st.sampled_from([0.05, 0.2]))
def test_rounded_class_bets_win_nothing_near_p(seed, classes, step):
    rng = np.random.default_rng(seed)
    true = rng.dirichlet(np.full(classes, 0.5))
    p = true + rng.uniform(-step / 2, step / 2, classes)  # right up to rounding, class by class
    p = np.clip(p, np.maximum(true - step / 2, 0), np.minimum(true + step / 2, 1))
    mean, paid = 0.0, np.zeros(len(TEMPERATURES) + classes * len(CLASS_SHIFTS))
    for y in range(classes):
        pays_classes(p, float(y), step / 2, paid)
        mean = mean + true[y] * paid
    assert (mean <= 1 + 1e-12).all()


@given(p=st.floats(0.001, 0.999), weight=st.floats(0, 1))
def test_weights_never_help(p, weight):
    table, weights = np.full((1, 1), p), np.full(1, weight)
    means = np.zeros(BETS)
    for y, chance in ((1.0, p), (0.0, 1 - p)):
        row = np.zeros(kernel.width_of(BETS, 2))
        kernel.begin(row, BETS)
        work = np.zeros((3, BETS))
        none = np.empty(0, np.int64)
        kernel.take(prior_of(2), row, work, 0.0, 0.0, y, table, weights, none, 0, 1, 0.0)
        means += chance * work[0]
    assert (means <= 1 + 1e-12).all()


def test_evidence_goes_beyond_the_largest_float_and_comes_back():
    n = 40_000
    y, p = np.ones(n), np.full(n, 0.8)
    found = EvidenceRun(checkpoints=n)
    found.add(y, p)
    first = found.result()[0]
    # the bets on more than p win their whole bet each time; the best on the grid has the most
    best = max(naive.sigmoid(a + b * naive.logit(0.8)) for a in SHIFTS for b in SLOPES)
    assert first.log10 == pytest.approx(n * np.log10(best / 0.8), rel=0.01)
    assert first.log10 > 3000 and np.isfinite(first.history).all()
    found.add(np.zeros(n // 4), np.full(n // 4, 0.8))
    second = found.result()[0]
    assert second.log10_most == first.log10 and second.most_at == n - 1
    assert -20 < second.log10 < 4000
    found.add(*_right(50_000))
    assert np.isfinite(found.result()[0].log10)


def _right(n):
    rng = np.random.default_rng(2)
    p = rng.random(n)
    return (rng.random(n) < p).astype(float), p


def test_the_scale_changes_nothing_that_is_seen():
    """One long win crosses several changes of scale; its logarithm is smooth throughout."""
    run = EvidenceRun(checkpoints=20_000)
    run.add(np.ones(10_000), np.full(10_000, 0.5))
    history = run.result()[0].history
    steps = np.diff(history[200:])
    assert steps.min() > 0 and steps.max() - steps.min() < 0.02
    assert run._state[0][kernel.SCALE] >= 2


def test_wealth_of_lines_is_a_product_from_the_first_event_on():
    """γ_1 of every line's wealth is the plain product of what it paid."""
    y, p = _right(200)
    run = EvidenceRun()
    run.add(y, p)
    table, _ = naive_factors(y, p, None, None, None)
    prior = prior_of(2)[:LINES]
    product = np.prod(np.array(table)[:, :LINES], axis=0)
    wealth = run._state[0][kernel.HEAD : kernel.HEAD + LINES]
    assert (wealth >= 0.6 * prior * product * (1 - 1e-9)).all()
