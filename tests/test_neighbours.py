"""Games of many players: payoffs by loops, and solutions without tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fullswap.base.progress import Progress
from fullswap.games import (
    Units,
    congestion,
    from_function,
    from_matrices,
    from_sparse,
    from_tensor,
    many,
    polymatrix,
    portfolio,
    solve,
    verify,
    zoo,
)
from fullswap.games.record import Record
from small_games import as_table, random_game, slow_gap, whole


def random_pairs(sizes, seed, share=1.0, sparse_too=False):
    rng = np.random.default_rng(seed)
    pairs = {}
    for i, n in enumerate(sizes):
        for j, m in enumerate(sizes):
            if i != j and rng.random() < share:
                values = rng.standard_normal((n, m))
                pairs[i, j] = sparse.csr_array(values) if sparse_too and i % 2 else values
    return pairs


@given(
    sizes=st.lists(st.integers(1, 3), min_size=2, max_size=5), seed=st.integers(0, 999),
    share=st.sampled_from([0.0, 0.5, 1.0]),
)  # fmt: skip
def test_polymatrix_payoffs_are_sums(sizes, seed, share):
    pairs = random_pairs(sizes, seed, share, sparse_too=True)
    game = polymatrix(sizes, pairs)
    dense = {k: v.toarray() if sparse.issparse(v) else v for k, v in pairs.items()}
    rng = np.random.default_rng(seed)
    rows = np.column_stack([rng.integers(n, size=4) for n in sizes])
    expected = [
        [sum(m[row[i], row[j]] for (i, j), m in dense.items() if i == p) for p in range(len(sizes))]
        for row in rows
    ]
    assert game.payoffs(rows) == pytest.approx(np.array(expected, dtype=float))


@given(seed=st.integers(0, 999))
def test_congestion_payoffs_by_loops(seed):
    rng = np.random.default_rng(seed)
    plans = [
        [sorted(rng.choice(4, size=rng.integers(1, 4), replace=False).tolist()) for _ in range(3)]
        for _ in range(3)
    ]
    delays = rng.random((4, 3))
    game = congestion(plans, delays)
    rows = rng.integers(3, size=(5, 3))
    for row, paid in zip(rows, game.payoffs(rows), strict=True):
        taken = [plans[p][a] for p, a in enumerate(row)]
        for p in range(3):
            cost = sum(delays[r, sum(r in t for t in taken) - 1] for r in taken[p])
            assert paid[p] == pytest.approx(-cost)


def test_congestion_games_have_pure_equilibria():
    rng = np.random.default_rng(0)
    plans = [[[a, b] for a in range(6) for b in range(a)] for _ in range(30)]
    game = congestion(plans, np.sort(rng.random((6, 30)), axis=1))
    found = solve(game, 1e-9)
    assert found.reached and found.method == "pure" and found.gap == 0


@pytest.mark.parametrize(("count", "actions"), [(20, 2), (12, 3)])
def test_many_players_without_a_table(count, actions):
    for seed in range(2):
        game = polymatrix([actions] * count, random_pairs([actions] * count, seed))
        record = Record(game, 0.01, None, Progress(100, False))
        steps = many.by_profiles(game, record, np.random.default_rng(0))
        portfolio.run([portfolio.Member("profiles", steps)], record, 1e11)
        assert record.done() and len(record.best().weights) < 1_000
        assert verify(game, record.best()).gap <= 0.01
        assert solve(game, 0.01).reached


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (2, 2, 2, 3)])
def test_profiles_by_slow_loops(shape):
    game = random_game(shape, 7)
    record = Record(game, 1e-4, None, Progress(100, False))
    steps = many.by_profiles(game, record, np.random.default_rng(1))
    portfolio.run([portfolio.Member("profiles", steps)], record, 1e10)
    assert slow_gap(whole(game), as_table(game, record.best())) <= 1e-4


def test_profiles_take_up_actions_of_a_continuum():
    record = Record(game := zoo.cournot(5), 1e-3, None, Progress(100, False))
    steps = many.by_profiles(game, record, np.random.default_rng(1))
    portfolio.run([portfolio.Member("profiles", steps)], record, 2e10)
    assert record.done()


def test_sparse_payoffs_are_those_of_matrices():
    rng = np.random.default_rng(2)
    A, B = ((rng.random((40, 30)) < 0.2) * rng.random((40, 30)) for _ in range(2))
    game, dense = from_sparse(sparse.coo_array(A), sparse.csc_array(B)), from_matrices(A, B)
    rows = np.argwhere(np.ones((40, 30)))
    assert game.payoffs(rows) == pytest.approx(dense.payoffs(rows))
    found = solve(game, 1e-6)
    assert found.reached and verify(dense, (found.support, found.weights)).gap <= 1e-6 + 1e-12


def test_many_sparse_actions():
    # hide and seek in 20,000 places, of which few matter
    found = solve(from_sparse(sparse.eye_array(20_000), -sparse.eye_array(20_000)), 0.01)
    assert found.reached and len(found.weights) < 100_000


def test_payoffs_from_a_function():
    rng = np.random.default_rng(3)
    table = rng.random((3, 2, 3, 4))

    def payoffs(player, others):
        return np.moveaxis(table[player], player, -1)[tuple(others)]

    game, dense = from_function([2, 3, 4], payoffs), from_tensor(table)
    rows = np.argwhere(np.ones((2, 3, 4)))
    assert game.payoffs(rows) == pytest.approx(dense.payoffs(rows))
    assert solve(game, 1e-6).gap <= 1e-6


def test_units_are_unit_vectors():
    units = Units(3, ["a", "b", "c"])
    directions = np.random.default_rng(0).random((5, 3))
    some = np.array([2, 0])
    assert units.values(some, directions) == pytest.approx(units.embed(some) @ directions.T)
    again = Units(3, ["x", "x", "x_1"])
    assert len({again.name(k) for k in range(3)}) == 3
    assert units.name(1) == "b" and Units(3).name(1) == 2 and Units(3).describe(1) == "1"


def test_tables_have_no_identity_matrix_beside_them():
    for game in (random_game((4, 5)), random_game((2, 3, 4))):
        assert all(isinstance(s, Units) for s in game.actions[:1])
    tall = from_matrices(np.ones((6, 2)), np.ones((6, 2)))
    assert [s.dim for s in tall.actions] == [2, 2]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: polymatrix([2, 2], {(0, 0): np.eye(2)}), "two different players"),
        (lambda: polymatrix([2, 2], {(0, 2): np.eye(2)}), "a player of pairs must"),
        (lambda: polymatrix([2, 2], {(0, 1): np.eye(3)}), r"pairs\[0, 1\] must"),
        (lambda: polymatrix([2, 2], {(0, 1): sparse.eye_array(3)}), r"pairs\[0, 1\] must"),
        (lambda: polymatrix([2, 0], {}), r"sizes\[1\] must"),
        (lambda: congestion([[[0]], [[5]]], [[1.0, 2.0]]), r"plans\[1\]\[0\] must"),
        (lambda: congestion([[[0]], [[0]]], [[1.0]]), "delays must"),
        (lambda: congestion([], [[1.0]]), "plans must be lists of plans of at least 2 players"),
        (lambda: congestion([[0], [1]], [[1.0, 2.0]]), r"plans\[0\]\[0\] must be a list of roads"),
        (lambda: congestion([[], [[0]]], [[1.0, 2.0]]), r"plans\[0\] must be one or more plans"),
        (lambda: congestion([[[0, 0]], [[0]]], [[1.0, 2.0]]), r"must have each road once"),
        (lambda: polymatrix(3, {}), "sizes must be the numbers of actions of at least 2 players"),
        (lambda: polymatrix([2, 2], [[1]]), "pairs must be a dict"),
        (lambda: from_function([2, 2], 3), "payoffs must be a function"),
        (lambda: from_function("ab", lambda *_: 0), "sizes must"),
        (lambda: from_sparse(np.ones(3), np.ones(3)), "A must"),
        (lambda: from_sparse(sparse.eye_array(3), sparse.eye_array(2)), "B must"),
        (lambda: Units(2, ["a"]), "labels must"),
    ],
)
def test_bad_games(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("notion", ["correlated", "coarse"])
def test_no_notion_makes_tables_of_many_players(notion):
    """Each of 24 wants to match the next one, the last one to differ from the first."""
    match = 2 * np.eye(2) - 1
    pairs = {(i, (i + 1) % 24): match if i < 23 else -match for i in range(24)}
    found = solve(polymatrix([2] * 24, pairs), 1e-3, notion=notion)
    assert found.reached and found.coarse_gap <= 1e-3
