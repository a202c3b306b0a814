"""Gambit's file formats and arrays: every feature of the syntax, and every way to be damaged."""

import json
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullswap.games.actions import Units, Vectors
from fullswap.games.extensive.sequence import SequenceForm
from fullswap.games.extensive.tree import CHANCE
from fullswap.games.files import efg, nfg, parse, read
from fullswap.games.files.tokens import Scanner
from fullswap.games.game import StructuredGame
from fullswap.games.verify import verify
from written_games import FILES, write

PAYOFFS = 'NFG 1 R "Selten" { "one" "two" } { 3 2 } 1 1 0 2 0 2 1 1 0 3 2 0'
OUTCOMES = """NFG 1 R "Selten" { "one" "two" }
{ { "a" "b" "c" }
{ "x" "y" }
}
"from \\"the\\" paper"

{
{ "" 1, 1 }
{ "good" 0 2 }
{ "" 1, 1, }
{ 0, 3 }
{ "" 4/2, -0e3 }
}
1 2 2 3 4 5
"""
TREE = """EFG 2 R "Coins" { "Ann" "Bob" }
"what it is"
c "ROOT" 1 "coin" { "heads" 1/2 "tails" 1/2 } 0
p "" 1 7 "Ann sees" { "left" "right" } 1 "ante" { 1, -1 }
t "" 2 "up" { 0.5 -0.5 }
p "" 2 1 "Bob" { "in" "out" } 0
t "" 3 "" { 2e0, .25, }
t "" 0
p "" 1 7 0
p "" 2 1 1
t "" 2
t "" 3
t "" 2
"""


def tree(text):
    return efg.parse(Scanner(text, "tree.efg"))


def table(text):
    return nfg.parse(Scanner(text, "table.nfg"))


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_read(name, tmp_path):
    file = write(tmp_path, name)
    game = read(file)
    wanted = (Units, Vectors) if file.suffix == ".nfg" else SequenceForm
    assert all(isinstance(actions, wanted) for actions in game.actions)
    rows = np.array([[0] * game.players, [actions.size - 1 for actions in game.actions]])
    assert np.isfinite(game.payoffs(rows)).all()


def test_a_tree_and_its_strategic_form_agree(tmp_path):
    tables = [
        game.table([np.arange(actions.size) for actions in game.actions])
        for game in (read(write(tmp_path, f"centipede.{kind}")) for kind in ("efg", "nfg"))
    ]
    np.testing.assert_allclose(tables[0], tables[1], atol=5e-4)  # three decimals in the file


def test_sizes_of_kuhn_poker(tmp_path):
    game = read(write(tmp_path, "kuhn_poker.efg"))
    assert [actions.size for actions in game.actions] == [27, 64]
    assert [actions.dim for actions in game.actions] == [13, 13]


def test_payoffs_change_with_the_first_player_fastest():
    parsed = table(PAYOFFS)
    np.testing.assert_array_equal(parsed.payoffs[0], [[1, 1], [0, 0], [0, 2]])
    np.testing.assert_array_equal(parsed.payoffs[1], [[1, 1], [2, 3], [2, 0]])
    assert parsed.title == "Selten" and parsed.players == ("one", "two")
    assert parsed.actions == (("1", "2", "3"), ("1", "2"))


def test_outcomes_say_the_same_as_payoffs():
    parsed = table(OUTCOMES)
    np.testing.assert_array_equal(parsed.payoffs, table(PAYOFFS).payoffs)
    assert parsed.comment == 'from "the" paper'
    game = parsed.game("Selten")
    assert [game.actions[0].describe(k) for k in range(3)] == ["a", "b", "c"]
    assert game.actions[1].describe(1) == "y"


@pytest.mark.parametrize(
    "text",
    [
        'NFG 1 D "" {"1""2"}{{"1""2""3"}{"1""2"}}"comment" 1,1,0,2,0,2,1,1,0,3,2,0',
        PAYOFFS.replace(" ", "\r\n\t"),
        PAYOFFS.replace("2 0", "+2. -.0e-1"),
    ],
)
def test_other_ways_to_write_a_table(text):
    np.testing.assert_array_equal(table(text).payoffs, table(PAYOFFS).payoffs)


def test_outcome_zero_of_a_table_pays_nothing():
    text = 'NFG 1 R "" { "1" "2" "3" } { 2 1 1 } { { "" 1 2 3 } } 0 1'
    np.testing.assert_array_equal(table(text).payoffs[:, :, 0, 0], [[0, 1], [0, 2], [0, 3]])


def test_three_players_in_a_table():
    text = 'NFG 1 R "" { "1" "2" "3" } { 2 3 4 } ' + " ".join(map(str, range(72)))
    payoffs = table(text).payoffs
    assert payoffs.shape == (3, 2, 3, 4)
    for a, b, c in np.ndindex(2, 3, 4):
        np.testing.assert_array_equal(payoffs[:, a, b, c], 3 * (a + 2 * (b + 3 * c)) + np.arange(3))


def test_a_tree_in_all_its_forms():
    parsed = tree(TREE)
    assert (parsed.title, parsed.comment, parsed.players) == ("Coins", "what it is", ("Ann", "Bob"))
    assert [s.player for s in parsed.sets] == [CHANCE, 0, 1]
    assert [s.name for s in parsed.sets] == ["coin", "Ann sees", "Bob"]
    assert parsed.sets[0].probabilities == (0.5, 0.5)
    assert parsed.parents == [-1, 0, 1, 1, 3, 3, 0, 6, 7, 7, 6]
    assert parsed.branches == [0, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1]
    ante, up, third = (1.0, -1.0), (0.5, -0.5), (2.0, 0.25)
    assert parsed.payoffs == [None, ante, up, None, third, None, None, ante, up, third, up]


def test_payoffs_on_the_way_add_up():
    game = parse(TREE)
    assert game.name == "Coins"
    # Ann left, Bob in: heads 1 + 0.5, tails 1 + 0.5; Bob out: tails 1 + 2.
    # Ann right: heads 1 + 2 or 1 + 0, tails 0.5.
    joint = [[0, 0], [0, 1], [1, 0], [1, 1]]
    ann = [1.5, (1.5 + 3) / 2, (3 + 0.5) / 2, (1 + 0.5) / 2]
    bob = [-1.5, (-1.5 - 0.75) / 2, (-0.75 - 0.5) / 2, (-1 - 0.5) / 2]
    np.testing.assert_allclose(game.payoffs(joint), np.column_stack((ann, bob)), atol=1e-15)
    assert game.actions[0].describe(1) == "right at Ann sees"


def test_information_sets_without_names_are_numbered():
    text = 'EFG 2 R "" { "1" "2" } p "" 1 5 { "a" "b" } 0 t "" 1 { 1 2 } t "" 0'
    game = parse(text)
    assert game.actions[0].describe(0) == "a at information set 5"
    assert game.actions[1].describe(0) == "nothing to choose"
    np.testing.assert_array_equal(game.payoffs([[0, 0], [1, 0]]), [[1, 2], [0, 0]])


def test_decimal_probabilities_are_scaled_to_one():
    chances = '{ "a" 0.333333 "b" 3.33333e-1 "c" .333333 }'
    text = 'EFG 2 R "" { "1" "2" } c "" 1 "" CHANCES 0 t "" 1 "" { 3 0 } t "" 1 t "" 1'
    assert parse(text.replace("CHANCES", chances)).payoffs([[0, 0]])[0, 0] == pytest.approx(
        3, 1e-15
    )


def test_chances_of_zero_are_allowed():
    text = 'EFG 2 R "" { "1" "2" } c "" 1 "" { "a" 1 "b" 0 } 0 t "" 1 "" { 3 1 } t "" 2 "" { 9 9 }'
    np.testing.assert_array_equal(parse(text).payoffs([[0, 0]]), [[3, 1]])


def test_escapes_in_strings():
    words = Scanner(r'"a \"b\" \\ \n" "" "two' + '\nlines"', "text")
    assert [words.string("text") for _ in range(3)] == [r'a "b" \ \n', "", "two\nlines"]


def test_names_of_games_and_encodings(tmp_path):
    file = tmp_path / "my_game.nfg"
    file.write_bytes(PAYOFFS.replace("Selten", "").encode("utf-8-sig"))
    assert read(file).name == "my_game"
    assert read(str(file), name="given").name == "given"
    file.write_bytes(PAYOFFS.replace("Selten", "Sørensen").encode("latin-1"))
    assert read(file).name == "Sørensen"
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "absent.nfg")


def test_messages_name_the_file(tmp_path):
    file = tmp_path / "damaged.nfg"
    file.write_text(PAYOFFS + "\n 7")
    with pytest.raises(ValueError, match=r"damaged\.nfg, line 2, column 2: .*end of the file"):
        read(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: expected NFG or EFG.*got the end"),
        ("<xml>", "column 1: expected NFG or EFG.*'<xml>'"),
        (PAYOFFS.replace("NFG 1", "NFG 2"), "column 5: expected 1, the version"),
        (PAYOFFS.replace(" R ", " Q "), "column 7: expected R or D"),
        (
            PAYOFFS.replace('"Selten"', '"Selten'),
            "column 20: expected '{' before players, got 'one'",
        ),
        (PAYOFFS.replace('"Selten"', "Selten"), "column 9: expected the title in quotes"),
        (PAYOFFS + '"', "column 65: expected a closing quote for the string that opens here"),
        (
            PAYOFFS.replace('{ "one" "two" }', "{ }"),
            "column 20: expected player in quotes, got '}'",
        ),
        (PAYOFFS.replace('"two" ', ""), "after the numbers of actions of 1 players"),
        (PAYOFFS.replace("{ 3 2 }", "{ 3 }"), "expected the number of actions.*got '}'"),
        (PAYOFFS.replace("{ 3 2 }", "{ 3 2 2 }"), "expected '}' after the numbers.*got '2'"),
        (PAYOFFS.replace("{ 3 2 }", "{ 3 0 }"), "expected the number of actions.*>= 1, got '0'"),
        (PAYOFFS.replace("{ 3 2 }", "{ 3 2.5 }"), "expected the number of actions.*'2.5'"),
        (
            PAYOFFS.replace("3 2 }", "300000000000 2 }"),
            "column 53: expected payoffs for 300000000000 x 2 cells, got 12",
        ),
        (PAYOFFS[:-2], "expected payoff 12 of 12.*got the end of the file"),
        (PAYOFFS + " 1", "expected the end of the file.*3 x 2 cells, got '1'"),
        (PAYOFFS.replace("1 1 0 3", "1 1/0 0 3"), "expected payoff 8.*finite number, got '1/0'"),
        (PAYOFFS.replace("1 1 0 3", "1 1e999 0 3"), "finite number, got '1e999'"),
        (PAYOFFS.replace("1 1 0 3", "1 nan 0 3"), "expected payoff 8.*got 'nan'"),
        (PAYOFFS.replace("1 1 0 3", "1 1.2.3 0 3"), "expected payoff 8.*got '1.2.3'"),
        (PAYOFFS.replace("1 1 0 3", "1 - 0 3"), "expected payoff 8.*got '-'"),
        (OUTCOMES.replace('{ "x" "y" }', ""), "line 4, column 1: expected '{' before action"),
        (OUTCOMES.replace("0 2 }", "0 }"), "line 9, column 12: expected 2 payoffs, got 1"),
        (OUTCOMES.replace("0 2 }", "0 2 5 }"), "line 9, column 14: expected '}' after 2 payoffs"),
        (OUTCOMES.replace("4 5\n", "4 6\n"), "line 14, column 11: expected an outcome from 0 to 5"),
        (OUTCOMES.replace("4 5\n", "4\n"), "expected the outcome of cell 6 of 6.*got the end"),
        (OUTCOMES.replace("4 5\n", "4 -1\n"), "expected the outcome of cell 6 of 6.*got '-1'"),
        (OUTCOMES.replace("}\n1 2", "1 2"), "expected '{' before an outcome, or '}'"),
    ],
)
def test_damaged_tables(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        parse(text)
    assert str(caught.value).startswith("text, line ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            TREE[: TREE.rindex("t")],
            r"expected a node, c, p or t \(1 more branch to fill\), got the end",
        ),
        (TREE + 't "" 0', "line 14, column 1: expected the end of the file after the last node"),
        (TREE.replace("EFG 2", "EFG 1"), "column 5: expected 2, the version"),
        (
            TREE.replace('p "" 2 1 "Bob"', 'p "" 3 1 "Bob"'),
            "line 6, column 6: expected a player from",
        ),
        (TREE.replace('p "" 2 1 "Bob"', 'p "" 0 1 "Bob"'), "line 6, column 6: expected the number"),
        (TREE.replace('p "" 2 1 "Bob"', 'q "" 2 1 "Bob"'), "line 6, column 1: expected a node"),
        (TREE.replace('tails" 1/2', 'tails" 1/3'), "line 3, column 19: .*add up to 1, got 5/6"),
        (TREE.replace('tails" 1/2', 'tails" 0.5001'), "add up to 1, got 1.0001"),
        (TREE.replace('tails" 1/2', 'tails" -1/2'), "line 3, column 41: .*>= 0, got -1/2"),
        (TREE.replace('tails" 1/2', 'tails"'), "expected its probability, a number"),
        (TREE.replace(' "tails"', ""), "line 3, column 33: expected an action of chance in quotes"),
        (TREE.replace('p "" 1 7 0', 'p "" 1 8 0'), "line 9, column 8: .*set 8, which is new here"),
        (TREE.replace('p "" 2 1 1', 'p "" 2 1 9'), "line 10, column 10: .*outcome 9, which is new"),
        (
            TREE.replace('p "" 2 1 1', 'p "" 2 1 "" { "a" } 1'),
            "line 10.*2 actions .* as before, got 1",
        ),
        (TREE.replace('t "" 0', 't "" 0 "x" { 1 1 }'), "line 8.*no payoffs for outcome 0"),
        (TREE[:-1] + ' "up" { 0.5 -1 }', "line 13, column 6: .*same payoffs of outcome 2"),
        (TREE.replace("{ 1, -1 }", "{ 1 }"), "line 4.*expected 2 payoffs, got 1"),
        (TREE.replace("{ 1, -1 }", "{ 1,, -1 }"), "line 4.*expected 2 payoffs, a number.*got ','"),
        (TREE.replace("{ 1, -1 }", "{ 1, x }"), "line 4.*expected 2 payoffs, a number.*got 'x'"),
        (TREE.replace("{ 1, -1 }", '{ 1, "-1" }'), 'got the string "-1"'),
        (TREE.replace('"Ann" "Bob"', '"Ann"'), "line 4.*expected '}' after 1 payoffs"),
    ],
)
def test_damaged_trees(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        parse(text)
    assert str(caught.value).startswith("text, line ")


def test_changed_chances_of_an_information_set():
    text = (
        'EFG 2 R "" { "1" "2" } c "" 1 "" { "a" 1/2 "b" 1/2 } 0 c "" 1 "" CHANCES 0 '
        + 't "" 0 ' * 3
    )
    assert parse(text.replace("CHANCES", '{ "a" 0.5 "b" 0.5 }')).players == 2
    with pytest.raises(ValueError, match="column 66: expected the same probabilities"):
        parse(text.replace("CHANCES", '{ "a" 1/3 "b" 2/3 }'))


def test_one_player_alone_gets_company():
    tree = parse('EFG 2 R "" { "1" } p "" 1 1 { "a" "b" } 0 t "" 1 "" { 1 } t "" 0', "solo.efg")
    table = parse('NFG 1 R "" { "1" } { 2 } 1 0')
    for game in (tree, table):
        assert [s.size for s in game.actions] == [2, 1]
        assert game.payoffs([[0, 0], [1, 0]]).tolist() == [[1, 0], [0, 0]]
        assert verify(game, ([[1, 0]], [1.0])).gap == 1


@pytest.mark.parametrize("text", [PAYOFFS, OUTCOMES, TREE])
@given(data=st.data())
def test_damage_is_always_a_value_error(text, data):
    at = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(at, min(at + 8, len(text))) | st.just(len(text)))
    middle = data.draw(st.text('{}", \\\n01/-.ecptx', max_size=3))
    try:
        game = parse(text[:at] + middle + text[end:])
    except ValueError as problem:
        assert str(problem).startswith("text")
    else:
        rows = np.array([[0] * game.players])
        assert np.isfinite(game.payoffs(rows)).all()


def test_deep_trees_are_read():
    lines = ['EFG 2 R "Centipede" { "one" "two" }']
    for k in range(3000):
        lines.append(f'p "" {k % 2 + 1} {k + 1} "" {{ "stop" "go" }} 0')
        lines.append(f't "" {k + 1} "" {{ {k}, {-k} }}')
    game = parse("\n".join([*lines, 't "" 0']))
    assert [actions.size for actions in game.actions] == [1501, 1501]
    assert game.payoffs([[0, 0], [1, 0], [1500, 1500], [1500, 1499]])[:, 0].tolist() == [
        0,
        1,
        0,
        2999,
    ]


def test_players_keep_their_names():
    assert parse(TREE).player_names == ("Ann", "Bob")
    assert parse(PAYOFFS).player_names == ("one", "two")
    assert parse(PAYOFFS.replace('"two"', '""')).player_names == ("one", "player 2")
    assert parse('NFG 1 R "" { "solo" } { 2 } 1 0').player_names == ("solo", "nobody")
    tree = 'EFG 2 R "" { "solo" } p "" 1 1 { "a" "b" } 0 t "" 1 "" { 1 } t "" 0'
    assert parse(tree).player_names == ("solo", "nobody")


# --- arrays in JSON and NPZ -------------------------------------------------------------------

A, B = [[0.0, 7, 1], [2, 6, 1]], [[0.0, 2, 3], [7, 6, 5]]
NAMES = {"name": "Duel", "players": ["Ann", "Bob"], "actions": [["x", "y"], ["a", "b", "c"]]}
V, W = [[1.0, 0], [0, 2]], [[1.0, 1], [0, 3], [2, 0]]
V2, W2 = [[1.0], [2]], [[3.0], [4], [5]]
THREE = np.arange(72.0).reshape(3, 2, 3, 4)


def tables_of(game):
    return game.table([np.arange(s.size) for s in game.actions])


@pytest.mark.parametrize("kind", ["json", "npz"])
@pytest.mark.parametrize(
    ("fields", "payoffs"),
    [
        ({"payoffs": [A, B]}, [A, B]),
        ({"A": A, "B": B}, [A, B]),
        ({"V": V, "W": W, "V2": V2, "W2": W2}, [np.dot(V, np.transpose(W)), np.outer(V2, W2)]),
        ({"payoffs": THREE.tolist()}, THREE),
    ],
    ids=["payoffs", "matrices", "embeddings", "three players"],
)
def test_arrays_are_read(kind, fields, payoffs, tmp_path):
    path = tmp_path / f"my_game.{kind}"
    if kind == "json":
        path.write_text(json.dumps(fields), encoding="utf-8")
    else:
        np.savez(path, **fields)
    game = read(path)
    for found, wanted in zip(tables_of(game), payoffs, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    assert game.name == "my_game" and game.player_names[0] == "player 1"
    assert [s.name(0) for s in game.actions] == [1] * len(payoffs)
    assert read(path, name="given").name == "given"


@pytest.mark.parametrize("split", [True, False])
def test_arrays_have_names(split, tmp_path):
    path = tmp_path / "duel.npz"
    ragged = {"actions_2": NAMES["actions"][1], "actions_1": NAMES["actions"][0]}
    square = {"A": np.eye(2), "B": np.eye(2), "actions": [["x", "y"], ["a", "b"]]}
    arrays = {"A": A, "B": B, **ragged} if split else square
    np.savez(path, name="Duel", players=["Ann", "Bob"], **arrays)
    games = [read(path), parse(json.dumps({"A": A, "B": B, **NAMES}))]
    games.append(parse(json.dumps({"V": V, "W": W, "V2": V2, "W2": W2, **NAMES})))
    for game in games:
        assert game.name == "Duel" and game.player_names == ("Ann", "Bob")
        assert [s.name(1) for s in game.actions] == ["y", "b"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("[1, 2]", "text: expected an object with fields such as payoffs, got a list"),
        ('{"A": [[1]]', "text, line 1, column 12: expected JSON: "),
        ("[" * 100_000, "text: expected JSON of arrays, got lists too deep"),
        ({}, "expected payoffs, or A and B, or V, W, V2 and W2, got no field"),
        ({"name": "x"}, "expected payoffs, or A and B, or V, W, V2 and W2, got name"),
        ({"A": A, "payoffs": [A, B]}, "expected payoffs, or A and B.*got A, payoffs"),
        ({"A": A}, "B must be given beside A, got none"),
        ({"V": V, "W2": W2}, "W and V2 must be given beside V and W2"),
        ({"payof": [A, B]}, "unknown field 'payof', did you mean 'payoffs'?"),
        ({"A": A, "B": B, "zzz": 1}, "unknown field 'zzz'; known are payoffs, A, B"),
        ({"A": A, "B": [[1, 2]]}, r"B must have shape \(2, 3\), got \(1, 2\)"),
        ({"A": [[1, 2], [3]], "B": B}, "A must"),
        ({"A": [["x"]], "B": [[1]]}, "A must"),
        ({"A": [[float("nan")]], "B": [[1]]}, "A must be finite"),
        ({"A": [], "B": []}, "A must"),
        ({"A": None, "B": B}, "A must"),
        ({"payoffs": 3}, "payoffs must be arrays of 2 to 32 players, got 3"),
        ({"payoffs": [A]}, "payoffs must be arrays of 2 to 32 players, got 1"),
        ({"payoffs": [A, A, A]}, r"payoffs\[0\] must have shape \(n_1, …, n_3\)"),
        ({"payoffs": [A, V]}, r"payoffs\[1\] must have shape \(2, 3\) as payoffs\[0\]"),
        ({"payoffs": [[[]], [[]]]}, r"payoffs\[0\] must have shape"),
        ({"V": V, "W": V2, "V2": V2, "W2": W2}, r"W must have shape"),
        ({"A": A, "B": B, "name": 3}, "name must be a text, got 3"),
        ({"A": A, "B": B, "players": ["x"]}, "players must be 2 names, got 1"),
        ({"A": A, "B": B, "players": "xy"}, "players must be a list of 2 names, got 'xy'"),
        ({"A": A, "B": B, "players": [1, 2]}, "players must be a list of 2 names"),
        ({"A": A, "B": B, "actions": [["x"]]}, "actions must be a list of names for each of 2"),
        (
            {"A": A, "B": B, "actions": [["x", "y"], ["a", "b"]]},
            r"actions\[1\] must be 3 names, got 2",
        ),
    ],
)
def test_damaged_arrays_name_the_field(fields, message):
    with pytest.raises(ValueError, match=message) as caught:
        parse(fields if isinstance(fields, str) else json.dumps(fields))
    assert str(caught.value).startswith("text") and "\n" not in str(caught.value)


def test_damaged_npz(tmp_path):
    path = tmp_path / "game.npz"
    np.savez(path, A=A, B=np.array([[1, None], [2, 3]], dtype=object))
    with pytest.raises(ValueError, match="game.npz, field 'B': expected arrays of numpy's NPZ"):
        read(path)
    np.savez(path, A=A, B=B, actions_1=["x", "y"], actions_3=["x", "y"])
    with pytest.raises(ValueError, match="expected fields actions_1, actions_2, got"):
        read(path)
    whole = path.read_bytes()
    for cut in (3, 60, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:cut])
        with pytest.raises(ValueError, match="game.npz"):
            read(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("A.npy", b"no array")
    with pytest.raises(ValueError, match="game.npz"):
        read(path)


@given(data=st.binary(max_size=40))
def test_any_bytes_after_the_mark_of_a_zip_are_a_value_error(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("zip") / "x.npz"
    path.write_bytes(b"PK\x03\x04" + data)
    with pytest.raises(ValueError, match="x.npz"):
        read(path)


def test_arrays_that_are_none_name_file_and_field(tmp_path):
    path = tmp_path / "game.npz"
    np.savez(path, payoffs=np.array(3.0))
    with pytest.raises(ValueError, match=r"game.npz: payoffs must be arrays of 2 to 32 players"):
        read(path)
    with path.open("wb") as file:
        np.save(file, np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match=r"game.npz: expected arrays by name .* got one array"):
        read(path)
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("payoffs", "no array")
    with pytest.raises(ValueError, match=r"game.npz, field 'payoffs': .*got other content"):
        read(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'{{"A": [[1{"0" * 5000}]], "B": [[1]]}}', "^game: A must be finite"),
        (f'{{"A": [[1{"0" * 400}]], "B": [[1]]}}', "^game: A must be finite"),
        ('{"A": [[1]], "A": [[2]], "B": [[1]]}', "^game: field 'A' must be there once, got it 2"),
    ],
    ids=["5000 digits", "400 digits", "twice"],
)
def test_numbers_too_long_and_fields_twice(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text, "game")


def test_a_game_refuses_names_of_another_number():
    with pytest.raises(ValueError, match="player_names must be as long as actions"):
        StructuredGame.from_embeddings(V, W, V2, W2, player_names=["Ann"])
    with pytest.raises(ValueError, match="labels must be as long as"):
        StructuredGame.from_embeddings(V, W, V2, W2, labels=[["x", "y"]])
