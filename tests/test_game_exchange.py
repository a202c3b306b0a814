"""Games into files and back, and profiles for other programs: the same game, by the same names."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fullswap.games import (
    ActionSet,
    CorrelatedEquilibrium,
    Product,
    StructuredGame,
    Vectors,
    column_of,
    from_matrices,
    from_tensor,
    parse,
    read,
    solve,
    to_nfg,
    verify,
    write,
    zoo,
)
from fullswap.games.names import told_apart
from written_games import FILES
from written_games import write as write_file

NAMES = st.text(max_size=6) | st.sampled_from(
    ["a", "a_1", 'x"', "\\", '\\"', "a\\b", "\\\\", "é{}"]
)
PAYOFFS = st.floats(allow_nan=False, allow_infinity=False) | st.fractions(
    -9, 9, max_denominator=7
).map(float)


@st.composite
def tables(draw):
    """Payoffs (N, n_1, …, n_N) with a name for the game, each player and each action."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=2, max_size=4))
    payoffs = draw(arrays(float, (len(sizes), *sizes), elements=PAYOFFS))
    labels = [draw(st.lists(NAMES, min_size=n, max_size=n)) for n in sizes]
    players = draw(st.lists(NAMES, min_size=len(sizes), max_size=len(sizes)))
    return payoffs, draw(NAMES), labels, players


def tables_of(game):
    return game.table([np.arange(s.size) for s in game.actions])


def names_of(game):
    return [[s.name(k) for k in range(s.size)] for s in game.actions]


@given(tables())
def test_a_game_comes_back_from_its_file(table):
    game = from_tensor(*table)
    back = parse(to_nfg(game))
    np.testing.assert_array_equal(tables_of(back), tables_of(game))
    np.testing.assert_array_equal(tables_of(back), table[0])
    assert back.name == (game.name or "text") and back.player_names == game.player_names
    # an empty name of an action is written, and read as its number
    for mine, theirs in zip(names_of(game), names_of(back), strict=True):
        assert len(set(theirs)) == len(theirs)
        assert all(a == b for a, b in zip(mine, theirs, strict=True) if "" not in mine)


@given(tables())
def test_the_form_for_openspiel_is_the_same_game(table):
    text = to_nfg(from_tensor(*table), named=False)
    np.testing.assert_array_equal(tables_of(parse(text)), table[0])
    assert "\\" not in text and text.count('"') == 2 * (1 + len(table[3])) and text.endswith("\n")


@pytest.mark.parametrize("ending", ["nfg", "json"])
@pytest.mark.parametrize("name", FILES)
def test_files_of_all_kinds_are_written(name, ending, tmp_path):
    game = read(write_file(tmp_path, name))
    write(game, tmp_path / f"again.{ending}")
    again = read(tmp_path / f"again.{ending}")
    np.testing.assert_array_equal(tables_of(again), tables_of(game))
    assert names_of(again) == names_of(game) and again.name == game.name
    assert again.player_names == game.player_names


def test_two_players_of_unequal_numbers_of_actions(tmp_path):
    own, other = [[1, 2, 1 / 3]], [[4, 5, 6e-300]]
    write(from_matrices(own, other, None, "row"), tmp_path / "row.NFG")
    assert tables_of(read(tmp_path / "row.NFG"))[0].tolist() == own
    write(from_matrices(own, other, None, "row"), tmp_path / "row.json")
    back = read(tmp_path / "row.json")
    assert tables_of(back)[1].tolist() == other and names_of(back) == [[1], [1, 2, 3]]


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(ValueError, match=r"path must end in .nfg or .json, got 'x.efg'"):
        write(from_matrices([[1]], [[1]]), "x.efg")
    with pytest.raises(
        ValueError, match="game must have finitely many numbered actions .* for to_nfg, got"
    ):
        to_nfg(zoo.cournot(2))
    with pytest.raises(ValueError, match="game must have at most 20,000,000 payoffs, got"):
        to_nfg(zoo.ring(100_000))
    long = from_matrices([[1]], [[1]], None, "x" * 20_000)
    with pytest.raises(ValueError, match="a name must be at most 10,000 letters long"):
        to_nfg(long)


@given(st.lists(st.text("a_12", max_size=3), max_size=12))
def test_names_are_told_apart(names):
    apart = told_apart(names)
    assert len(set(apart)) == len(apart) == len(names)
    for name, now in zip(names, apart, strict=True):
        assert now == name if names.count(name) == 1 else now.rpartition("_")[0] == name


def test_actions_and_players_of_one_name():
    game = parse(
        'NFG 1 R "" { "Ann" "Ann" } { { "up" "up" } { "x" "" "2" } } 1 2 3 4 5 6 7 8 9 0 1 2'
    )
    assert game.player_names == ("Ann_1", "Ann_2")
    assert names_of(game) == [["up_1", "up_2"], ["x", "2_1", "2_2"]]


@pytest.mark.parametrize("again", ["", 'p "" 1 2 0 t "" 0 t "" 0'], ids=["recalls", "forgets"])
def test_strategies_in_information_sets_of_one_name(again):
    # two sets called "I" with two actions called "a"; the second time, the player may forget
    head = 'EFG 2 R "" { "1" "2" } p "" 1 1 "I" { "a" "a" } 0 p "" 1 2 "I" { "a" "a" } 0 '
    game = parse(head + 't "" 0 t "" 1 "" { 1 1 } ' + (again or 't "" 0'))
    (names, _) = names_of(game)
    assert len(set(names)) == len(names) >= 3
    assert names[0] == "a_1 at I_1, a_1 at I_2"


# --- profiles ---------------------------------------------------------------------------------

CROSSING = from_matrices(
    [[0, 1, 0], [2, -9, 1]], [[0, 2, 1], [1, -9, 0]], None, "crossing",
    [["stop", "go"], ["stop", "go", "turn"]], ["Ann", "Bob"],
)  # fmt: skip
PROFILE = [[0, 0.5, 0], [0.25, 0, 0.25]]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_have_names(backend):
    pytest.importorskip(backend)
    import narwhals

    found = verify(CROSSING, PROFILE)
    frame = narwhals.from_native(found.to_frame(backend), eager_only=True)
    assert frame.columns == ["Ann", "Bob", "probability", "payoff of Ann", "payoff of Bob"]
    assert frame.rows() == [
        ("stop", "go", 0.5, 1, 2),
        ("go", "stop", 0.25, 2, 1),
        ("go", "turn", 0.25, 1, 0),
    ]
    numbers = narwhals.from_native(found.to_frame(backend, numbers=True), eager_only=True)
    assert numbers.rows()[2][:2] == (1, 2)


def test_frames_of_other_sets():
    pytest.importorskip("pandas")
    frame = verify(zoo.cournot(2), ([[0.25, 0.5]], [1.0])).to_frame()
    assert frame["player 2"].tolist() == [0.5]
    plans = Product([Vectors(np.eye(2), ["l", "r"]), Vectors(np.eye(3))])
    against = [lambda others: np.zeros((len(others[0]), 5))] * 2
    clash = StructuredGame([plans, plans], against, player_names=["probability", "Bob"])
    frame = verify(clash, ([[4, 1]], [1.0])).to_frame()
    assert frame.columns[:3].tolist() == ["probability_1", "Bob", "probability_2"]
    assert frame["Bob"].tolist() == ["(l, 2)"] and frame["probability_1"].tolist() == ["(r, 2)"]


def test_json_has_names_and_comes_back():
    found = verify(CROSSING, PROFILE)
    fields = json.loads(found.to_json())
    assert fields["players"] == ["Ann", "Bob"]
    assert fields["actions"] == [["stop", "go"], ["go", "stop"], ["go", "turn"]]
    again = verify(CROSSING, (fields["support"], fields["weights"]))
    assert again.gap == found.gap == fields["gap"]


@given(st.integers(0, 2**32 - 1))
def test_tables_and_marginals(seed):
    rng = np.random.default_rng(seed)
    game = from_tensor(rng.standard_normal((3, 2, 3, 4)))
    table = rng.dirichlet(np.full(24, 0.3)).reshape(2, 3, 4)
    found = verify(game, table)
    np.testing.assert_allclose(found.to_table(), table, atol=1e-15)
    for player, chances in enumerate(found.to_mixed()):
        others = tuple(k for k in range(3) if k != player)
        np.testing.assert_allclose(chances, table.sum(axis=others), atol=1e-14)
    product = np.einsum("i,j,k->ijk", *found.to_mixed())
    assert found.correlation == pytest.approx(np.abs(product - table).sum() / 2, abs=1e-12)
    assert verify(game, product).correlation == pytest.approx(0, abs=1e-12)


def test_joint_actions_that_are_listed_twice_are_added_up():
    found = verify(CROSSING, ([[0, 1], [0, 1], [1, 0]], [0.25, 0.25, 0.5]))
    assert found.to_table().tolist() == [[0, 0.5, 0], [0.5, 0, 0]]
    assert found.correlation == pytest.approx(0.5)


def test_policies_for_openspiel_name_every_action_of_every_player():
    device = verify(CROSSING, PROFILE).to_openspiel()
    assert [weight for weight, _ in device] == [0.5, 0.25, 0.25]
    assert device[2][1] == {
        "Current player: 0\nObserving player: 0. Non-terminal": [(0, 0.0), (1, 1.0)],
        "Current player: 1\nObserving player: 1. Non-terminal": [(0, 0.0), (1, 0.0), (2, 1.0)],
    }
    with pytest.raises(
        ValueError, match="finitely many numbered actions of every player for to_openspiel"
    ):
        verify(zoo.cournot(2), ([[0.25, 0.5]], [1.0])).to_openspiel()


def test_openspiel_finds_the_same_gaps():
    pyspiel = pytest.importorskip("pyspiel")
    rng = np.random.default_rng(5)
    game = from_tensor(rng.standard_normal((3, 2, 3, 2)), 'a "title"')
    turns = pyspiel.convert_to_turn_based(pyspiel.load_nfg_game(to_nfg(game, named=False)))
    found = verify(game, rng.dirichlet(np.ones(12)).reshape(2, 3, 2))
    device = [(w, pyspiel.TabularPolicy(policy)) for w, policy in found.to_openspiel()]
    gains = pyspiel.ce_dist(turns, device).deviation_incentives
    np.testing.assert_allclose(gains, [g.swap for g in found.gaps], atol=1e-9)


def test_gambit_reads_games_and_marginals():
    pygambit = pytest.importorskip("pygambit")
    import io

    game = pygambit.read_nfg(io.StringIO(to_nfg(CROSSING)))
    mixed = game.mixed_strategy_profile(verify(CROSSING, [[0, 0, 0], [0, 0, 1]]).to_mixed())
    assert float(mixed.max_regret()) == 1  # Bob would rather stop


@pytest.mark.parametrize(
    "other",
    [
        from_matrices([[0, 1], [2, -9]], [[0, 2], [1, -9]], None, "small"),
        from_matrices(np.ones((2, 3)), np.ones((2, 3)), None, "flat"),
        from_tensor(np.zeros((3, 2, 3, 1)), "three"),
        zoo.cournot(2),
    ],
    ids=lambda game: game.name,
)
def test_a_start_of_another_game_is_refused(other):
    with pytest.raises(
        ValueError, match="start must be a profile of the game to solve, crossing"
    ) as e:
        solve(CROSSING, start=solve(other))
    assert other.name in str(e.value)


def test_a_start_of_the_same_game_read_again_is_taken():
    early = solve(parse(to_nfg(CROSSING)))
    assert solve(CROSSING, start=early).gap <= early.gap + 1e-12


# --- actions of a set of one's own ------------------------------------------------------------


class Subsets(ActionSet):
    """Up to two of five items, as tuples of different lengths."""

    dim, size = 5, None

    def embed(self, actions):
        """Which items are taken."""
        rows = np.zeros((len(actions), 5))
        for row, taken in zip(rows, actions, strict=True):
            row[list(taken)] = 1.0
        return rows

    def best(self, directions):
        """The two that pay most, if they pay."""
        order = np.argsort(-directions, axis=1, kind="stable")[:, :2]
        taken = [
            tuple(sorted(int(k) for k in row if own[k] > 0))
            for row, own in zip(order, directions, strict=True)
        ]
        return column_of(taken), np.array(
            [own[list(row)].sum() for row, own in zip(taken, directions, strict=True)]
        )


def crowded(values):
    return lambda others: np.array(values) - 1.5 * Subsets().embed(others[0])


ITEMS = StructuredGame(
    [Subsets(), Subsets()], [crowded([3, 2, 1, -1, 0.5]), crowded([1, 2, 4, 0, 1])]
)


@pytest.mark.parametrize("method", ["auto", "oracle", "matching"])
def test_tuples_are_solved_for(method):
    found = solve(ITEMS, 1e-2, method)
    assert found.reached
    again = verify(ITEMS, (found.support.tolist(), found.weights))
    assert again.gap == pytest.approx(found.gap, abs=1e-12)


def test_tuples_of_all_lengths_are_verified():
    support = [[(), (0, 2)], [(0,), [1]], [np.array([0, 1]), (2, 3)]]
    found = verify(ITEMS, (support, [0.5, 0.25, 0.25]))
    assert isinstance(found, CorrelatedEquilibrium)
    # against (0, 2), (1) and (2, 3), one after the other
    best, paid = [3.5, 4, 5], [0, 3, 5]
    wanted = np.dot([0.5, 0.25, 0.25], np.subtract(best, paid))
    assert found.gaps[0].swap == pytest.approx(wanted)
    assert found.names == [["()", "(0, 2)"], ["(0)", "(1)"], ["(0, 1)", "(2, 3)"]]
    fields = json.loads(found.to_json())
    assert verify(ITEMS, (fields["support"], fields["weights"])).gap == found.gap
    with pytest.raises(
        ValueError, match="finitely many numbered actions of every player for to_table"
    ):
        found.to_table()


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ((7,), "must be actions that embed takes, got .*: index 7 is out of bounds"),
        (("x",), "must be actions that"),
        (("x", 1), "must be actions that"),
    ],
)
def test_tuples_that_are_no_actions(action, message):
    with pytest.raises(ValueError, match=r"support\[:, 1\] " + message):
        verify(ITEMS, ([[(0, 1), action], [(0, 1), (1,)]], [0.5, 0.5]))


def test_texts_are_actions_too():
    class Words(ActionSet):
        dim, size = 1, None

        def embed(self, actions):
            return np.array([[len(word)] for word in actions], dtype=float)

        def best(self, directions):
            words = ["a" if d[0] < 0 else "long" for d in directions]
            return column_of(words), np.array([4 * d[0] if d[0] > 0 else d[0] for d in directions])

    game = StructuredGame([Words(), Words()], [lambda others: np.ones((len(others[0]), 1))] * 2)
    assert verify(game, ([["a", "long"]], [1.0])).gap == 3
    assert solve(game).names == [["long", "long"]]
