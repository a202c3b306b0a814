"""Games and profiles that users make: the check against every action, and what it refuses."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.games import (
    ActionSet,
    Curve,
    Region,
    StructuredGame,
    Vectors,
    actions,
    from_matrices,
    from_tensor,
    solve,
    verify,
)
from fullswap.games.verify import numbered, verify_product
from fullswap.sets import Ball
from small_games import random_game, slow_gap


class _Triangle(ActionSet):
    """A set of a user's own, which says only what it must."""

    dim, size = 2, 3
    corners = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])

    def embed(self, actions):
        return self.corners[actions]

    def best(self, directions):
        products = directions @ self.corners.T
        return products.argmax(axis=1), products.max(axis=1)


def test_own_action_sets_need_embed_and_best_only():
    own = _Triangle()
    game = StructuredGame((own, own), [lambda others: 1 - own.embed(others[0])] * 2)
    equilibrium = solve(game, gap=1e-6)
    table = game.table([np.arange(3)] * 2)
    joint = np.zeros((3, 3))
    np.add.at(joint, tuple(equilibrium.support.T), equilibrium.weights)
    assert abs(slow_gap(table, joint) - equilibrium.gap) < 1e-12 and equilibrium.gap <= 1e-6
    with pytest.raises(ValueError, match="must be whole numbers from 0 to 2, got 3 at position 0"):
        verify(game, ([[0, 3]], [1.0]))


@pytest.mark.parametrize("shape", [(12, 9), (4, 5, 3)])
def test_verify_by_blocks_agrees_with_loops(shape, monkeypatch):
    rng = np.random.default_rng(8)
    payoffs = rng.normal(size=(len(shape), *shape))
    joint = rng.dirichlet(np.full(np.prod(shape), 0.2)).reshape(shape)
    game = from_tensor(payoffs)
    whole = verify(game, joint)
    monkeypatch.setattr(actions, "BLOCK", 50)
    checked = verify(game, joint)
    assert abs(checked.gap - slow_gap(list(payoffs), joint)) < 1e-12
    assert abs(checked.gap - whole.gap) < 1e-12
    expected = (payoffs * joint).sum(axis=tuple(range(1, len(shape) + 1)))
    np.testing.assert_allclose(checked.payoffs, expected, atol=1e-12)


def test_coarse_equilibria_may_be_no_equilibria():
    """R. Gibson (2013): no fixed action pays more, but told the third, the second gains."""
    game = from_matrices([[1, 0], [0, 2], [-1, 1]], np.zeros((3, 2)))
    coarse = verify(game, [[0.5, 0], [0, 0.25], [0, 0.25]])
    assert (coarse.gap, coarse.coarse_gap) == (0.25, 0.0)
    assert coarse.payoffs.tolist() == [1.25, 0.0]
    assert coarse.gaps[0].deviations[2] == 1
    assert verify(game, [[0.5, 0], [0, 0.5], [0, 0]]).gap == 0.0


def test_verify_forms_payoff_vectors_once_for_what_the_others_do():
    asked = []
    n = 60

    def against(others):
        asked.append(len(others[0]))
        return np.ones((len(others[0]), 2))

    game = StructuredGame([Vectors(np.eye(n)[:, :2])] * 2, [against] * 2)
    verify(game, np.full((n, n), 1 / n**2))
    assert sum(asked) == 2 * n


@pytest.mark.parametrize("answer", [0.0, 7.0, np.nan])
def test_verify_refuses_maximisers_that_are_none(answer):
    curve = Curve(
        0.0,
        1.0,
        lambda t: np.column_stack((t, t * t)),
        lambda directions: np.full(len(directions), answer),
    )
    game = StructuredGame((curve, curve), [lambda others: np.tile([1.0, -1.0], (1, 1))] * 2)
    with pytest.raises(ValueError, match=r"actions\[0\].best must give the largest payoff"):
        verify(game, ([[0.5, 0.5]], [1.0]))


def test_profiles_of_points_and_numbers_by_hand():
    disc, corners = Region(Ball([0.0, 0.0], 1.0)), Vectors([[1.0, 0.0], [0.0, 1.0]])
    game = StructuredGame(
        (disc, corners),
        (lambda others: corners.embed(others[0]), lambda others: -disc.points(others[0])),
    )
    # told (0, 0) against the first corner: (1, 0) gains 1; the second player is indifferent
    checked = verify(game, ([[(0.0, 0.0), 0]], [1.0]))
    assert checked.gap == 1.0 and checked.gaps[0].deviations[0] == (1.0, 0.0)
    both = StructuredGame((disc, disc), [lambda others: disc.points(others[0])] * 2)
    assert verify(both, (np.array([[[0.6, 0.8], [0.6, 0.8]]]), [1.0])).gap == pytest.approx(0.0)
    equilibrium = solve(game, gap=1e-3)
    plain = json.loads(equilibrium.to_json())
    assert verify(game, (plain["support"], plain["weights"])).gap == equilibrium.gap
    with pytest.raises(ValueError, match="an action of each of 2 players"):
        verify(game, ([[(0.0, 0.0), 0, 1]], [1.0]))


def test_tables_may_be_tuples():
    chicken = from_matrices([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    assert verify(chicken, ((0, 0.25), (0.25, 0.5))).gap == 0.0
    with pytest.raises(ValueError, match="profile must be a tuple"):
        verify(chicken, [[[0, 1], [1, 0]], [0.5, 0.5]])


@pytest.mark.parametrize("errors", [[-1.0, 0.0], [np.nan, 0.0], [0.1], []])
def test_bad_errors(errors):
    sets = [Vectors(np.eye(2))] * 2
    with pytest.raises(ValueError, match="^errors must "):
        StructuredGame(sets, [lambda others: np.eye(2)[others[0]]] * 2, errors=errors)


def test_bad_payoffs_and_samples():
    with pytest.raises(ValueError, match="payoffs must be numbers"):
        from_tensor([[[1, 2], [3]], [[1, 2], [3, 4]]])
    with pytest.raises(ValueError, match="payoffs must be numbers"):
        from_tensor(np.full((2, 2, 2), 1j))
    with pytest.raises(ValueError, match="A must be numbers"):
        from_matrices(np.full((2, 2), 1j), np.eye(2))
    assert from_matrices(np.eye(3), np.eye(3), rank=np.int64(2)).actions[0].dim == 2
    with pytest.raises(ValueError, match="size must be a whole number >= 0"):
        solve(from_matrices(np.eye(2), np.eye(2))).sample(-1)


def test_nothing_was_asked_of_a_profile_made_by_hand():
    chicken = from_matrices([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    assert verify(chicken, [[1.0, 0.0], [0.0, 0.0]]).reached is None
    assert verify(chicken, solve(chicken)).reached is True


def test_masks_are_no_numbers_of_actions():
    chicken = from_matrices([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    with pytest.raises(ValueError, match=r"support\[:, 0\] must be numbers of actions and no mask"):
        chicken.payoffs(np.array([[True, False]]))


def test_games_do_not_change_with_the_arrays_they_were_made_of():
    first, second = np.array([[0.0, 7.0], [2.0, 6.0]]), np.array([[0.0, 2.0], [7.0, 6.0]])
    games = [
        from_matrices(first, second),
        from_tensor(np.stack((first, second))),
        StructuredGame.from_embeddings(np.eye(2), first.T, second, np.eye(2)),
    ]
    first[:] = second[:] = -1.0
    for game in games:
        assert game.payoffs([[0, 1], [1, 0]]).tolist() == [[7.0, 2.0], [2.0, 7.0]]


@given(
    shape=st.sampled_from([(3, 4), (2, 3, 2), (5, 1)]), seed=st.integers(0, 999)
)  # fmt: skip
def test_independent_draws_are_verified_by_their_marginals(shape, seed):
    rng = np.random.default_rng(seed)
    game = random_game(shape, seed)
    mixed = [rng.dirichlet(np.ones(k)) * (rng.random(k) < 0.8) + 1e-3 for k in shape]
    mixed = [own / own.sum() for own in mixed]
    columns = [rng.permutation(k) for k in shape]
    joint = np.zeros(shape)
    weights = np.ones(())
    for own in mixed:
        weights = np.multiply.outer(weights, own)
    joint[np.ix_(*columns)] = weights
    quick, slow = verify_product(game, columns, mixed), verify(game, joint)
    assert quick.to_table() == pytest.approx(slow.to_table())
    assert quick.payoffs == pytest.approx(slow.payoffs)
    for own, other in zip(quick.gaps, slow.gaps, strict=True):
        assert own.swap == pytest.approx(other.swap, abs=1e-12)
        assert own.coarse == pytest.approx(other.coarse, abs=1e-12)
        assert own.recommended.tolist() == other.recommended.tolist()
        assert own.gains == pytest.approx(other.gains, abs=1e-12)


@given(numbers=st.lists(st.integers(-3, 40), min_size=1))
def test_counting_is_sorting(numbers):
    for column in (np.array(numbers), np.array(numbers) * 10**9, np.array(numbers) / 7):
        actions, where = np.unique(column, return_inverse=True)
        found = numbered(column)
        assert found[0].tolist() == actions.tolist() and found[1].tolist() == where.tolist()
