"""Sequence form against lists of all strategies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fullswap.games import SequenceForm, from_sequence_form, verify
from random_forms import everything, random_form

seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_strategies_are_numbered_without_gaps(seed):
    form = random_form(np.random.default_rng(seed))
    plans = everything(form)
    assert len(np.unique(plans, axis=0)) == form.size
    assert set(plans.ravel()) <= {0.0, 1.0} and (plans[:, 0] == 1).all()
    for h in range(form.information_sets.max() + 1):
        members = np.flatnonzero(form.information_sets == h)
        parent = form.parents[members[0]]
        np.testing.assert_array_equal(plans[:, members].sum(axis=1), plans[:, parent])


@given(seeds)
def test_best_agrees_with_all_strategies(seed):
    rng = np.random.default_rng(seed)
    form = random_form(rng)
    plans = everything(form)
    directions = rng.normal(size=(7, form.dim))
    actions, values = form.best(directions)
    np.testing.assert_allclose(values, (directions @ plans.T).max(axis=1), atol=1e-12)
    np.testing.assert_allclose(
        np.einsum("ij,ij->i", plans[actions], directions), values, atol=1e-12
    )
    # A plan is the only best one in the direction that rewards it and punishes all else.
    np.testing.assert_array_equal(form.best(2 * plans - 1)[0], np.arange(form.size))


@given(seeds)
def test_decompose_gives_the_plan_back(seed):
    rng = np.random.default_rng(seed)
    form = random_form(rng)
    plans = everything(form)
    mixture = rng.dirichlet(np.full(form.size, 0.3))
    mixture[rng.random(form.size) < 0.3] = 0
    mixture = mixture / mixture.sum() if mixture.sum() else np.eye(form.size)[0]
    actions, weights = form.decompose(mixture @ plans)
    assert len(actions) <= form.dim - form.information_sets.max() - 1 or form.size == 1
    assert (weights > 0).all() and weights.sum() == pytest.approx(1, abs=1e-12)
    assert len(set(actions.tolist())) == len(actions)
    np.testing.assert_allclose(weights @ plans[actions], mixture @ plans, atol=1e-12)


def test_a_pure_plan_decomposes_into_itself():
    form = random_form(np.random.default_rng(5), sets=8)
    for action in range(form.size):
        actions, weights = form.decompose(form.embed(np.array([action]))[0])
        assert actions.tolist() == [action] and weights.tolist() == [1.0]


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ([1.0, 0.5], r"shape \(5,\)"),
        ([1.0, 0.5, np.nan, 0.5, 0.0], "finite"),
        ([0.9, 0.4, 0.5, 0.5, 0.0], "empty sequence 1, got 0.9"),
        ([1.0, 1.2, -0.2, -0.2, 0.0], "negative entry, got -0.2"),
        ([1.0, 0.5, 0.5, 0.5, 0.1], "add up to 0.5 over information set 1.*got 0.6"),
    ],
)
def test_points_that_are_no_plans(point, message):
    form = SequenceForm([-1, 0, 0, 2, 2], [-1, 0, 0, 1, 1])
    with pytest.raises(ValueError, match=message):
        form.decompose(point)


def parallel(count):
    """So many information sets at the start, with two actions each: 2^count strategies."""
    return SequenceForm(
        np.append(-1, np.zeros(2 * count, int)), np.append(-1, np.arange(2 * count) // 2)
    )


@pytest.mark.parametrize("count", [61, 62, 200])
def test_more_strategies_than_numbers(count):
    form = parallel(count)
    assert form.size == (2**count if count < 62 else None)
    rng = np.random.default_rng(count)
    directions = rng.normal(size=(5, form.dim))
    if form.size is None:
        with pytest.raises(ValueError, match="0 so far"):
            form.check([0], "actions")
    actions, values = form.best(np.vstack((directions, directions[:1])))
    assert actions[0] == actions[5] and len(set(actions.tolist())) == 5
    plans = form.embed(form.check(actions, "actions"))
    pairs = directions[:, 1:].reshape(5, count, 2)
    np.testing.assert_allclose(values[:5], directions[:, 0] + pairs.max(axis=2).sum(axis=1))
    np.testing.assert_array_equal(
        plans[:5, 1:].reshape(5, count, 2).argmax(axis=2), pairs.argmax(axis=2)
    )
    assert (plans.sum(axis=1) == count + 1).all()
    if form.size is None:
        assert actions.tolist() == [0, 1, 2, 3, 4, 0]
        with pytest.raises(ValueError, match="5 so far, got 5 at position 0"):
            form.check([5], "actions")
    chosen, weights = form.decompose(np.full(form.dim, 0.5) + 0.5 * (np.arange(form.dim) == 0))
    np.testing.assert_allclose(weights @ form.embed(chosen), [1.0] + [0.5] * (2 * count))


def test_a_game_with_strategies_beyond_numbers():
    form = parallel(70)
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, form.dim, 3))
    game = from_sequence_form(A, B, form, ([-1, 0, 0], [-1, 0, 0]))
    assert "∞ × 2" in repr(game)
    first, _ = form.best(game.vectors(0, [np.zeros(2, int), np.array([0, 1])]))
    result = verify(game, (np.column_stack((first, [0, 1])), np.array([0.5, 0.5])))
    assert result.gaps[0].swap == pytest.approx(0, abs=1e-12)
    x, y = form.embed(first), game.actions[1].embed(np.array([0, 1]))
    pays = 0.5 * np.einsum("ki,ij,kj->k", x, B, y)
    other = 0.5 * np.einsum("ki,ij,kj->k", x, B, y[::-1])
    gain = np.maximum(other - pays, 0).sum()
    assert gain > 0 and result.gaps[1].swap == pytest.approx(gain)


@given(seeds)
def test_gaps_agree_with_all_strategies(seed):
    rng = np.random.default_rng(seed)
    first, second = random_form(rng, 3), random_form(rng, 4)
    A, B = rng.normal(size=(2, first.dim, second.dim))
    game = from_sequence_form(A, B, first, second)
    plans = everything(first), everything(second)
    tables = [plans[0] @ A @ plans[1].T, plans[0] @ B @ plans[1].T]
    np.testing.assert_allclose(game.table([np.arange(len(p)) for p in plans]), tables, atol=1e-12)
    profile = rng.dirichlet(np.ones(tables[0].size)).reshape(tables[0].shape)
    result = verify(game, profile)
    for gap, table, weights in zip(
        result.gaps, (tables[0], tables[1].T), (profile, profile.T), strict=True
    ):
        pays = table @ weights.T  # [deviation, recommendation]
        swap = (pays.max(axis=0) - np.diag(pays)).sum()
        coarse = max(0.0, pays.sum(axis=1).max() - np.trace(pays))
        assert gap.swap == pytest.approx(swap, abs=1e-10)
        assert gap.coarse == pytest.approx(coarse, abs=1e-10)


def test_sparse_payoffs_and_names():
    first = SequenceForm([-1, 0, 0], [-1, 0, 0], ["", "left", "right"], ["the fork"])
    A = sparse.coo_array(([2.0, -1.0], ([1, 0], [1, 0])), shape=(3, 3))
    game = from_sequence_form(A, np.zeros((3, 3)), first, ([-1, 0, 0], [-1, 0, 0]), "fork")
    assert game.name == "fork" and game.actions[0].describe(1) == "right at the fork"
    np.testing.assert_array_equal(game.payoffs([[0, 0], [1, 0]]), [[1, 0], [-1, 0]])


@pytest.mark.parametrize(
    ("parents", "sets", "message"),
    [
        ([], [], r"parents must have shape \(s,\)"),
        ([0, 0], [-1, 0], "parents must be whole numbers, the first of them -1"),
        ([-1, 0.5], [-1, 0], "parents must be whole numbers"),
        ([-1, 0], [0, 0], "information_sets must be whole numbers"),
        ([-1, 0, 0], [-1, 0], r"information_sets must be as long as parents \(3\), got 2"),
        ([-1, 2, 0], [-1, 0, 1], "come before their sequences, got 2 at position 1"),
        ([-1, -1], [-1, 0], "come before their sequences, got -1 at position 1"),
        ([-1, 0, 0], [-1, 0, 2], "without gaps"),
        ([-1, 0, 1], [-1, 0, 0], "perfect recall.*got 1 at position 2"),
    ],
)
def test_sequences_that_make_no_form(parents, sets, message):
    with pytest.raises(ValueError, match=message):
        SequenceForm(parents, sets)


def test_bad_arguments():
    coin, ones = ([-1, 0, 0], [-1, 0, 0]), np.ones((3, 3))
    with pytest.raises(ValueError, match=r"moves must be as long as parents \(3\), got 1"):
        SequenceForm(*coin, moves=["a"])
    with pytest.raises(ValueError, match="places must be as long as the information sets"):
        SequenceForm(*coin, places=["a", "b"])
    with pytest.raises(ValueError, match=r"A must have shape \(3, 3\).*got \(2, 3\)"):
        from_sequence_form(np.ones((2, 3)), ones, coin, coin)
    with pytest.raises(ValueError, match="B must be finite"):
        from_sequence_form(ones, ones * np.inf, coin, coin)
    with pytest.raises(ValueError, match="A must be numbers"):
        from_sequence_form([["x"] * 3] * 3, ones, coin, coin)
    with pytest.raises(ValueError, match="second must be a SequenceForm or"):
        from_sequence_form(ones, ones, coin, [-1, 0, 0])
    with pytest.raises(ValueError, match="from 0 to 1, got 2"):
        SequenceForm(*coin).check([2], "actions")
