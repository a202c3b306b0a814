"""The portfolio: members by slow references, laws over hard games, failures and interruptions."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.base.progress import Progress
from fullswap.games import from_matrices, from_tensor, pivots, portfolio, pure, solve, verify, zoo
from fullswap.games.nash import Paths
from fullswap.games.portfolio import Member
from fullswap.games.record import Record
from fullswap.games.zero_sum import by_averages, opposed
from small_games import as_table, random_game, ring, slow_gap, whole
from studies.posed import all_pay, blotto, traveller


def matrices(low, high, most=6):
    """Pairs of matrices of whole numbers: ties and dominated actions in plenty."""
    shapes = st.tuples(st.integers(1, most), st.integers(1, most))
    return st.tuples(shapes, st.integers(0, 10**6)).map(
        lambda drawn: np.random.default_rng(drawn[1]).integers(low, high + 1, (2, *drawn[0])) * 1.0
    )


def regret(tables, pair):
    """By loops: what the better of all actions gains over the mixed one."""
    worst = 0.0
    for p, table in enumerate(tables):
        own = table if p == 0 else table.T
        values = [
            sum(own[a, b] * pair[1 - p][b] for b in range(own.shape[1]))
            for a in range(own.shape[0])
        ]
        worst = max(worst, max(values) - sum(v * x for v, x in zip(values, pair[p], strict=True)))
    return worst


@given(tables=matrices(-2, 2), label=st.integers(0, 11))
def test_every_path_ends_in_a_nash_equilibrium(tables, label):
    paths = Paths(list(tables))
    path = paths.start(label % paths.labels)
    path.advance(2_000)
    assert path.done and not path.failed
    pair = path.equilibrium()
    assert all(x.min() >= 0 and x.sum() == pytest.approx(1) for x in pair)
    assert regret(tables, pair) <= 1e-6


def test_paths_followed_in_pieces_are_the_same():
    tables = np.random.default_rng(4).random((2, 40, 30))
    whole_path, pieces = (Paths(list(tables)).start(3) for _ in "ab")
    whole_path.advance(10_000)
    while not pieces.done:
        pieces.advance(7)
    assert whole_path.done and whole_path.pivots == pieces.pivots
    for one, other in zip(whole_path.equilibrium(), pieces.equilibrium(), strict=True):
        assert one == pytest.approx(other, abs=1e-12)


@given(tables=matrices(-2, 2))
def test_the_scan_finds_the_best_pure_profile(tables):
    where, gap = pure.scan(list(tables))
    gaps = {}
    for cell in itertools.product(*(range(k) for k in tables[0].shape)):
        joint = np.zeros(tables[0].shape)
        joint[cell] = 1.0
        gaps[cell] = slow_gap(list(tables), joint)
    assert gap == pytest.approx(min(gaps.values())) and gaps[tuple(where)] == pytest.approx(gap)


@given(
    tables=matrices(-3, 3, most=5), power=st.integers(-200, 200), shift=st.sampled_from([0.0, 2.0])
)
def test_games_of_any_unit_are_solved(tables, power, shift):
    unit = 10.0**power
    game = from_matrices(*(unit * (t + shift) for t in tables))
    equilibrium = solve(game, 1e-6 * unit)
    assert equilibrium.reached
    joint = as_table(game, equilibrium)
    assert slow_gap(list(tables), joint) <= 2e-6  # by payoffs that were not scaled


@pytest.mark.parametrize("unit", [1e-200, 1e-30, 1e30, 1e200])
@pytest.mark.parametrize("shape", [(30, 25), (7, 8, 9)])
def test_larger_games_of_any_unit_are_solved(shape, unit):
    tables = np.random.default_rng(8).random((len(shape), *shape))
    equilibrium = solve(from_tensor(unit * tables), 1e-6 * unit)
    assert equilibrium.reached and equilibrium.gap <= 1e-6 * unit
    assert verify(from_tensor(tables), (equilibrium.support, equilibrium.weights)).gap <= 1.1e-6


@given(
    shape=st.lists(st.integers(1, 4), min_size=3, max_size=3).map(tuple), seed=st.integers(0, 999)
)
def test_three_players_with_ties(shape, seed):
    tables = np.random.default_rng(seed).integers(0, 3, (3, *shape)) * 1.0
    game = from_tensor(tables)
    record = Record(game, 1e-6, None, Progress(100, False))
    members = portfolio.members_of(game, record, np.random.default_rng(0), 5_000)
    portfolio.run(members, record, 2e9)
    assert slow_gap(list(tables), as_table(game, record.best())) <= 1e-6


@pytest.mark.parametrize(
    "tables", [all_pay(40), all_pay(300), blotto(5, 3), traveller(100)],
    ids=["all-pay 40", "all-pay 300", "Blotto", "traveller"],
)  # fmt: skip
@pytest.mark.parametrize("share", [1e-3, 1e-6])
def test_hard_games_are_solved(tables, share):
    game, scale = from_matrices(*tables), float(np.ptp(tables[0]))
    equilibrium = solve(game, share * scale)
    assert equilibrium.reached and verify(game, equilibrium).gap <= share * scale
    assert equilibrium.method != "uniform", "solved before it begins"


@pytest.mark.parametrize("dim", [3, 5, 8])
def test_unit_vectors_are_solved_by_few_actions(dim):
    rng = np.random.default_rng(dim)
    vectors = rng.standard_normal((4, 30_000, dim))
    vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
    game = zoo.ring(3).from_embeddings(*vectors)
    equilibrium = solve(game, 2e-6)
    assert equilibrium.reached and len(equilibrium.weights) <= (dim + 1) ** 2


@pytest.mark.parametrize("grid", [None, 101])
def test_firms_in_turn_reach_the_equilibrium(grid):
    equilibrium = solve(zoo.cournot(24, grid=grid), 1e-7)
    assert equilibrium.reached and len(equilibrium.weights) == 1


def test_the_same_seed_gives_the_same_result_however_slow_the_machine(monkeypatch):
    game = random_game((9, 8, 7), 3)
    first = solve(game, 1e-5, seed=4, seconds=1e6)
    clock = itertools.count(0.0, 50.0)
    monkeypatch.setattr("fullswap.games.record.time.monotonic", lambda: next(clock))
    again = solve(game, 1e-5, seed=4, seconds=1e6)
    assert first.method == again.method and np.array_equal(first.weights, again.weights)


def failing(error):
    raise error
    yield 0.0


def test_a_member_that_fails_hides_nobody(monkeypatch):
    game = random_game((30, 20), 1)
    calls = []

    def broken(*_):
        calls.append(1)
        return failing(MemoryError("no room"))

    monkeypatch.setattr(pure, "by_scan", broken)
    monkeypatch.setattr(pivots, "by_pivots", broken)
    monkeypatch.setattr(pivots, "by_active_pivots", broken)
    assert solve(game, 1e-4).reached and len(calls) == 3


def test_if_all_fail_the_first_error_is_told(monkeypatch):
    monkeypatch.setattr(
        portfolio, "members_of", lambda *_: [Member("a", failing(ZeroDivisionError("one")))]
    )
    with pytest.raises(ZeroDivisionError, match="one") as told:
        solve(random_game((30, 20), 1), 1e-4)
    assert told.value.__notes__ == ["in the method 'a'"]


def test_interrupted_runs_return_the_best_verified_profile(monkeypatch):
    game = random_game((30, 20), 1)

    def members(game, record, rng, rounds, known):
        def steps():
            record.offer_joint(0.9, "first", [np.array([3]), np.array([4])], np.ones(1))
            yield 1.0
            record.offer_joint(0.8, "second", [np.array([1]), np.array([2])], np.ones(1))
            yield 1.0
            raise KeyboardInterrupt

        return [Member("stopped", steps())]

    monkeypatch.setattr(portfolio, "members_of", members)
    equilibrium = solve(game, 1e-4)
    assert equilibrium.reached is False and equilibrium.support.tolist() == [[1, 2]]
    assert equilibrium.gap == pytest.approx(slow_gap(whole(game), as_table(game, equilibrium)))


def test_a_limit_of_time_returns_something_verified():
    game = random_game((60, 61), 2)
    equilibrium = solve(game, 1e-13, seconds=1e-3)
    assert equilibrium.gap == pytest.approx(verify(game, equilibrium).gap)
    assert equilibrium.weights.sum() == pytest.approx(1)


def test_claims_are_verified_before_they_count():
    game = random_game((5, 4), 1)
    record = Record(game, 1e-3, None, Progress(100, False))
    record.offer_joint(0.0, "liar", [np.array([0]), np.array([0])], np.ones(1))
    assert not record.done() and record.best().gap > 1e-3
    record.offer_joint(0.0, "worse", [np.array([9]), np.array([0])], np.ones(1))
    assert not record.done() and len(record.errors) == 1


def test_lemke_howson_alone():
    game = random_game((50, 40), 5)
    equilibrium = solve(game, 1e-9, "lemke-howson")
    assert equilibrium.reached and equilibrium.method == "lemke-howson"
    with pytest.raises(ValueError, match="two players.*got 3 × 3 × 3"):
        solve(random_game((3, 3, 3)), 1e-3, "lemke-howson")
    assert solve(ring(300), 1e-6, "lemke-howson").reached  # where "auto" would make no tables


@given(tables=matrices(-2, 2), factor=st.floats(0.5, 3))
def test_opposed_payoffs(tables, factor):
    first, noise = tables
    rows, columns = noise[:, :1], noise[:1]
    second = rows + columns - factor * first
    interaction = first - first.mean(0) - first.mean(1, keepdims=True) + first.mean()
    if np.abs(interaction).max() > 1e-9:
        assert opposed([first, second]) and not opposed([first, rows + columns + factor * first])


def test_averages_of_opposed_players_on_some_of_their_bids():
    tables = all_pay(700)
    game, gap = from_matrices(*tables), 1e-3 * float(np.ptp(tables[0]))
    record = Record(game, gap, None, Progress(100, False))
    uniform = np.full(tables[0].shape, 1 / tables[0].size)
    assert verify(game, uniform).gap > 10 * gap
    portfolio.run([Member("averages", by_averages(game, record))], record)
    assert record.best().method == "averages" and record.done()


def test_a_sample_of_a_long_list_is_widened_until_the_whole_is_solved():
    record = Record(game := ring(200_000), 1e-6, None, Progress(100, False))
    steps = pivots.by_active_pivots(game, record, np.random.default_rng(0))
    portfolio.run([Member("sampled", steps)], record)
    assert record.done() and verify(game, record.best()).gap <= 1e-6
