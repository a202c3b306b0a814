"""Game trees against walks through them and lists of all strategies."""

import numpy as np
import pytest
from scipy.optimize import linprog

from fullswap.games import SequenceForm, Tree, Vectors, from_tree, parse, read, verify
from fullswap.games.extensive import tree as trees
from fullswap.games.extensive.tree import CHANCE
from fullswap.games.files import efg
from fullswap.games.files.tokens import Scanner
from fullswap.games.zoo import kuhn_poker
from random_forms import check_payoffs, random_tree
from written_games import FILES, write

TREES = [name for name in FILES if name.endswith(".efg")]


@pytest.mark.parametrize("name", TREES)
def test_payoffs_of_files_agree_with_walks(name):
    tree = efg.parse(Scanner(FILES[name], name))
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


def test_value_of_kuhn_poker_from_a_file(tmp_path):
    game = read(write(tmp_path, "kuhn_poker.efg"))
    assert zero_sum_value(game) == pytest.approx(-1 / 18, abs=1e-9)


def test_strategies_in_words():
    first, second = kuhn_poker().actions
    words = [first.describe(k) for k in range(first.size)]
    assert len(set(words)) == 27
    assert "Bet at Jack, Bet at Queen, Bet at King" in words
    assert "Check at Jack, Bet at Queen, Bet at King, Fold at Jack after check and bet" in words
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
    with pytest.raises(ValueError, match=r"^text, line 1, column 1: player 1 \(A\) has imperfect"):
        parse(FORGETFUL)


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
    for payoffs, message in (((1,), r"shape \(2,\), got \(1,\)"), ((1, np.inf), "finite")):
        with pytest.raises(ValueError, match=message):
            tree.leaf(payoffs)
    assert tree.nodes == 0 and tree.missing == 1
    tree.node(where)
    with pytest.raises(ValueError, match="tree must be complete.*got 2"):
        from_tree(tree)
    tree.leaf()
    tree.leaf((1, 1))
    with pytest.raises(ValueError, match="complete"):
        tree.leaf()
    assert from_tree(tree).payoffs([[1, 0]]).tolist() == [[1.0, 1.0]]
