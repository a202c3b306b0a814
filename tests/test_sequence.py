"""Sequence form against walks through the tree and lists of all strategies."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from fullswap.games import tree as trees
from fullswap.games.actions import Vectors
from fullswap.games.files import efg, parse, read
from fullswap.games.files.tokens import Scanner
from fullswap.games.sequence import SequenceForm, from_sequence_form
from fullswap.games.tree import CHANCE, Tree, from_tree, kuhn_poker
from fullswap.games.verify import verify

GAMES = Path(__file__).resolve().parents[2] / "shared" / "data" / "games"
FILES = sorted(GAMES.glob("*.efg")) if GAMES.is_dir() else []

seeds = st.integers(0, 2**32 - 1)


def walk(tree, strategies):
    """Expected payoffs when every player acts by information set: {set: branch}, by recursion."""

    def children(node):
        return [k for k in range(tree.nodes) if tree.parents[k] == node]

    def expected(node):
        paid = np.array(tree.payoffs[node] or (0.0,) * len(tree.players))
        if tree.where[node] < 0:
            return paid
        here, below = tree.sets[tree.where[node]], children(node)
        if here.player == CHANCE:
            pairs = zip(here.probabilities, below, strict=True)
            return paid + sum(p * expected(child) for p, child in pairs)
        return paid + expected(below[strategies[tree.where[node]]])

    return expected(0)


def reached(tree, player, strategy):
    """Information sets that a strategy may come to, with its actions there."""
    found, stack = set(), [0]
    while stack:
        node = stack.pop()
        where = tree.where[node]
        if where < 0:
            continue
        below = [k for k in range(tree.nodes) if tree.parents[k] == node]
        if tree.sets[where].player == player:
            found.add((where, strategy[where]))
            below = [below[strategy[where]]]
        stack.extend(below)
    return frozenset(found)


def pure_strategies(tree, player):
    own = [k for k, s in enumerate(tree.sets) if s.player == player]
    ranges = [range(len(tree.sets[k].actions)) for k in own]
    return [dict(zip(own, chosen, strict=True)) for chosen in itertools.product(*ranges)]


def acts(tree, player, actions, action):
    """A reduced strategy as {set: branch}, branch 0 where it does not come."""
    own = [k for k, s in enumerate(tree.sets) if s.player == player]
    if isinstance(actions, Vectors):
        plan = dict.fromkeys(own, 0)
        for part in actions.describe(action).split(", "):
            move, place = part.split(" at ")
            (where,) = (k for k in own if tree.sets[k].name == place)
            plan[where] = tree.sets[where].actions.index(move)
        return plan
    chosen = actions.choices(np.array([action]))[0]
    branches = [
        max(0, list(np.flatnonzero(actions.information_sets == h)).index(s) if s >= 0 else 0)
        for h, s in enumerate(chosen)
    ]
    return dict(zip(own, branches, strict=True))


def check_payoffs(tree, rng, most=600):
    """Payoffs of the structured game agree with walks, on all joint strategies or many."""
    game = from_tree(tree)
    for player, actions in enumerate(game.actions):
        if len(pure_strategies(tree, player)) <= 600:
            plans = {reached(tree, player, s) for s in pure_strategies(tree, player)}
            assert actions.size == len(plans)
    sizes = [actions.size for actions in game.actions]
    joint = np.array(list(np.ndindex(*sizes))) if np.prod(sizes) <= most else None
    if joint is None:
        joint = np.column_stack([rng.integers(size, size=most) for size in sizes])
    expected = []
    for row in joint:
        strategies = {}
        for player, action in enumerate(row):
            strategies |= acts(tree, player, game.actions[player], action)
        expected.append(walk(tree, strategies))
    np.testing.assert_allclose(game.payoffs(joint), expected, rtol=1e-12, atol=1e-12)


def random_tree(rng, players=2, depth=4, forgets=False):
    """A tree where own moves and a random signal tell sets apart, or the signal alone."""
    tree = Tree([f"player {k}" for k in range(players)])
    known = {}

    def grow(level, moves):
        paid = rng.normal(size=players) if rng.random() < 0.6 else None
        if level == depth or (level and rng.random() < 0.15):
            tree.leaf(rng.normal(size=players))
            return
        mover = int(rng.integers(-1, players))
        if mover == CHANCE:
            count = int(rng.integers(1, 4))
            chances = rng.dirichlet(np.ones(count))
            where = tree.information_set(CHANCE, "chance", ["c"] * count, chances.tolist())
        else:
            key = (mover, () if forgets else moves[mover], int(rng.integers(2)))
            if key not in known:
                count = int(rng.integers(1, 4))
                moves_here = [f"a{k}" for k in range(count)]
                known[key] = tree.information_set(mover, f"set {len(known)}", moves_here)
            where = known[key]
        tree.node(where, paid)
        for branch in range(len(tree.sets[where].actions)):
            after = list(moves)
            if mover != CHANCE:
                after[mover] = (*moves[mover], (where, branch))
            grow(level + 1, after)

    grow(0, [()] * players)
    return tree


def random_form(rng, sets=5):
    """Random sequences, those of a set not side by side."""
    parents, places, waiting = [-1], [-1], []
    for k in range(sets):
        waiting.extend([(int(rng.integers(len(parents))), k)] * int(rng.integers(1, 4)))
        rng.shuffle(waiting)
        placed = len(waiting) if k == sets - 1 else int(rng.integers(len(waiting) + 1))
        for _ in range(placed):
            parent, place = waiting.pop()
            parents.append(int(parent))
            places.append(int(place))
    return SequenceForm(parents, places)


def everything(form):
    return form.embed(np.arange(form.size))


@pytest.mark.skipif(not FILES, reason="the folder of games is not there")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_payoffs_of_files_agree_with_walks(file):
    tree = efg.parse(Scanner(file.read_text(encoding="utf-8"), file.name))
    check_payoffs(tree, np.random.default_rng(1), most=60 if tree.nodes > 60 else 600)


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("seed", range(6))
def test_payoffs_of_random_trees_agree_with_walks(players, seed):
    rng = np.random.default_rng([players, seed])
    check_payoffs(random_tree(rng, players), rng)


@pytest.mark.parametrize("seed", range(8))
def test_payoffs_of_players_who_forget_agree_with_walks(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 2 + seed % 2, depth=5, forgets=True)
    assert any(isinstance(actions, Vectors) for actions in from_tree(tree).actions)
    check_payoffs(tree, rng)


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
        with pytest.raises(ValueError, match="5 so far, got 5 to 5"):
            form.check([5], "actions")
    found, weights = form.decompose(np.full(form.dim, 0.5) + 0.5 * (np.arange(form.dim) == 0))
    np.testing.assert_allclose(weights @ form.embed(found), [1.0] + [0.5] * (2 * count))


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


def test_gaps_of_three_players_agree_with_all_strategies():
    rng = np.random.default_rng(4)
    game = from_tree(random_tree(rng, 3, depth=5))
    sizes = [actions.size for actions in game.actions]
    assert min(sizes) > 1
    tables = game.table([np.arange(size) for size in sizes])
    profile = rng.dirichlet(np.ones(np.prod(sizes))).reshape(sizes)
    for player, gap in enumerate(verify(game, profile).gaps):
        pays = np.moveaxis(tables[player], player, 0).reshape(sizes[player], -1)
        weights = np.moveaxis(profile, player, 0).reshape(sizes[player], -1)
        swap = sum((pays @ row).max() - pays[k] @ row for k, row in enumerate(weights))
        assert gap.swap == pytest.approx(swap, abs=1e-10)


def zero_sum_value(game):
    """max_x min_y xᵀAy over mixtures of all strategies, by a linear program."""
    table = game.table([np.arange(actions.size) for actions in game.actions])[0]
    n, m = table.shape
    solved = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.hstack((-table.T, np.ones((m, 1)))),
        b_ub=np.zeros(m),
        A_eq=[[1.0] * n + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
    )
    return -solved.fun


def test_value_of_kuhn_poker():
    game = kuhn_poker()
    assert zero_sum_value(game) == pytest.approx(-1 / 18, abs=1e-9)
    joint = np.array(list(np.ndindex(27, 64)))
    np.testing.assert_allclose(game.payoffs(joint).sum(axis=1), 0, atol=1e-15)


@pytest.mark.skipif(not FILES, reason="the folder of games is not there")
def test_value_of_kuhn_poker_from_a_file():
    assert zero_sum_value(read(GAMES / "os_kuhn_poker.efg")) == pytest.approx(-1 / 18, abs=1e-9)


def test_strategies_in_words():
    first, second = kuhn_poker().actions
    told = [first.describe(k) for k in range(first.size)]
    assert len(set(told)) == 27
    assert "Bet at Jack, Bet at Queen, Bet at King" in told
    assert "Check at Jack, Bet at Queen, Bet at King, Fold at Jack after check and bet" in told
    assert second.describe(0).count("Fold at") == 3


FORGETFUL = """EFG 2 R "Forgets the coin" { "A" "B" }
c "" 1 "" { "h" 1/2 "t" 1/2 } 0
p "" 1 1 "first h" { "l" "r" } 0
p "" 1 2 "later" { "x" "y" "z" } 0
t "" 1 "" { 1 2 }
t "" 2 "" { 3 4 }
t "" 3 "" { 5 6 }
p "" 2 1 "B" { "u" "d" } 0
t "" 4 "" { 7 8 }
p "" 1 2 0
t "" 1
t "" 5 "" { 9 1 }
t "" 6 "" { 2 3 }
p "" 2 1 0
t "" 7 "" { 4 5 }
p "" 1 2 0
t "" 8 "" { 6 7 }
t "" 9 "" { 8 9 }
t "" 10 "" { 1 3 }
"""
ABSENT = """EFG 2 R "Absent-minded" { "Driver" "Nobody" }
p "" 1 1 "exit" { "go" "leave" } 0
p "" 1 1 "exit" { "go" "leave" } 0
t "" 1 "" { 1 0 }
t "" 2 "" { 4 0 }
t "" 3 "" { 0 0 }
"""


@pytest.mark.parametrize("text", [FORGETFUL, ABSENT])
def test_players_who_forget_have_their_strategies_listed(text):
    tree = efg.parse(Scanner(text, "text"))
    game = from_tree(tree)
    assert isinstance(game.actions[0], Vectors) and isinstance(game.actions[1], SequenceForm)
    check_payoffs(tree, np.random.default_rng(0))


def test_the_absent_minded_cannot_leave_later():
    assert parse(ABSENT).payoffs([[0, 0], [1, 0]])[:, 0].tolist() == [1, 0]


def test_too_many_strategies_to_list(monkeypatch):
    monkeypatch.setattr(trees, "_LISTED", 30)
    with pytest.raises(ValueError, match=r"^text: player 1 \(A\) has imperfect recall and more"):
        parse(FORGETFUL)


def test_sparse_payoffs_and_names():
    first = SequenceForm([-1, 0, 0], [-1, 0, 0], ["", "left", "right"], ["the fork"])
    A = sparse.coo_array(([2.0, -1.0], ([1, 0], [1, 0])), shape=(3, 3))
    game = from_sequence_form(A, np.zeros((3, 3)), first, ([-1, 0, 0], [-1, 0, 0]), "fork")
    assert game.name == "fork" and game.actions[0].describe(1) == "right at the fork"
    np.testing.assert_array_equal(game.payoffs([[0, 0], [1, 0]]), [[1, 0], [-1, 0]])


@pytest.mark.parametrize(
    ("parents", "sets", "message"),
    [
        ([], [], "parents must be whole numbers"),
        ([0, 0], [-1, 0], "parents must be whole numbers of shape .*first -1"),
        ([-1, 0.5], [-1, 0], "parents must be whole numbers"),
        ([-1, 0], [0, 0], "information_sets must be whole numbers"),
        ([-1, 0, 0], [-1, 0], "got 3 and 2"),
        ([-1, 2, 0], [-1, 0, 1], "come before their sequences, got 2 for 1"),
        ([-1, -1], [-1, 0], "come before their sequences, got -1 for 1"),
        ([-1, 0, 0], [-1, 0, 2], "without gaps"),
        ([-1, 0, 1], [-1, 0, 0], "perfect recall.*got 0 and 1 in set 0"),
    ],
)
def test_sequences_that_make_no_form(parents, sets, message):
    with pytest.raises(ValueError, match=message):
        SequenceForm(parents, sets)


def test_bad_arguments():
    coin, ones = ([-1, 0, 0], [-1, 0, 0]), np.ones((3, 3))
    with pytest.raises(ValueError, match="moves must be 3 names, got 1"):
        SequenceForm(*coin, moves=["a"])
    with pytest.raises(ValueError, match="places must be 1 names, got 2"):
        SequenceForm(*coin, places=["a", "b"])
    with pytest.raises(ValueError, match=r"A must have shape \(3, 3\).*got \(2, 3\)"):
        from_sequence_form(np.ones((2, 3)), ones, coin, coin)
    with pytest.raises(ValueError, match="B must be finite"):
        from_sequence_form(ones, ones * np.inf, coin, coin)
    with pytest.raises(ValueError, match="A must be numbers"):
        from_sequence_form([["x"] * 3] * 3, ones, coin, coin)
    with pytest.raises(ValueError, match="second must be a SequenceForm or"):
        from_sequence_form(ones, ones, coin, [-1, 0, 0])
    with pytest.raises(ValueError, match="between 0 and 1"):
        SequenceForm(*coin).check([2], "actions")


def test_trees_are_checked():
    tree = Tree(["A", "B"])
    with pytest.raises(ValueError, match="player must be 0 to 1 or CHANCE, got 2"):
        tree.information_set(2, "", ["a"])
    with pytest.raises(ValueError, match="actions must be one or more"):
        tree.information_set(0, "", [])
    with pytest.raises(ValueError, match="probabilities must be given"):
        tree.information_set(CHANCE, "", ["a"])
    with pytest.raises(ValueError, match="probabilities must be given"):
        tree.information_set(0, "", ["a"], [1.0])
    with pytest.raises(ValueError, match="add up to 1"):
        tree.information_set(CHANCE, "", ["a", "b"], [0.5, 0.6])
    with pytest.raises(ValueError, match="information_set must be"):
        tree.node(0)
    where = tree.information_set(0, "", ["a", "b"])
    for payoffs, message in (((1,), "2 numbers, got 1"), ((1, np.inf), "finite")):
        with pytest.raises(ValueError, match=message):
            tree.leaf(payoffs)
    assert tree.nodes == 0 and tree.missing == 1
    tree.node(where)
    with pytest.raises(ValueError, match="2 branches lead nowhere"):
        from_tree(tree)
    tree.leaf()
    tree.leaf((1, 1))
    with pytest.raises(ValueError, match="complete"):
        tree.leaf()
    assert from_tree(tree).payoffs([[1, 0]]).tolist() == [[1.0, 1.0]]
