"""Whatever stands in a file: a game, or a ValueError that says where, in time with its length.

No time is asserted here. What was quadratic took minutes at these sizes, and would again.
"""

import io
import json
import os
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullswap.games import parse, read
from fullswap.games.files import efg
from written_games import FILES

PLACE = re.compile(r"text, line [0-9]+, column [0-9]+: ")
TEXTS = [*FILES.values(), 'NFG 1 R "o" {"a" "b"} {2 1} {{"" 1/3, 2} {"x" 3 4.5}} 1 2']
PIECES = st.sampled_from(
    ["{", "}", '"', ",", "\\", "\n", " ", "0", "1/0", "1/3", "-", "1e308", "1e999", "9" * 400]
    + [
        "9" * 5000,
        "nan",
        "inf",
        "1_0",
        "٣",
        "\x00",
        "\x1c",
        "\ufeff",
        "p",
        "t",
        'c "" 1',
        'p "" 1 2',
    ]
    + [
        'p "" 2 1 "" { "a" "b" } 0',
        't "" 0',
        't "" 3 "" { 1e308 1e308 }',
        "{ 1000000000 1 }",
        "EFG 2 R",
    ]
)


@st.composite
def damaged(draw, texts=TEXTS):
    """A file in which some pieces were cut out, doubled, exchanged or put in."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(start + draw(st.integers(0, 30)), len(text))
        kind = draw(st.sampled_from(["cut", "double", "put", "swap", "other"]))
        put = {
            "cut": "",
            "double": 2 * text[start:end],
            "put": text[start:end] + draw(PIECES),
            "swap": text[start:end][::-1],
            "other": draw(st.sampled_from(texts))[start:end],
        }[kind]
        text = text[:start] + put + text[end:]
    return text


@settings(max_examples=400)
@given(damaged())
def test_damaged_games_are_games_or_say_where(text):
    try:
        game = parse(text)
    except ValueError as problem:
        assert PLACE.match(str(problem)) or text.lstrip()[:1] in ("{", "[")
        assert len(str(problem)) < 1000
    else:
        first = np.zeros((1, game.players), dtype=int)
        assert np.isfinite(game.payoffs(first)).all()
        assert len(set(game.player_names)) == game.players


ARRAYS = [
    json.dumps({"A": [[1, 2.5], [3, 4]], "B": [[0, 1e-5], [2, 3]], "players": ["x", "y"]}),
    json.dumps(
        {"payoffs": np.arange(24).reshape(3, 2, 2, 2).tolist(), "actions": [["a", "b"]] * 3}
    ),
    json.dumps(
        {"V": [[1.0]], "W": [[2.0], [3.0]], "V2": [[4.0]], "W2": [[5.0], [6.0]], "name": "n"}
    ),
]


@settings(max_examples=200)
@given(damaged(ARRAYS))
def test_damaged_json_is_a_game_or_a_value_error(text):
    try:
        game = parse(text)
    except ValueError as problem:
        assert str(problem).startswith("text") and len(str(problem)) < 1000
    else:
        assert np.isfinite(game.payoffs(np.zeros((1, game.players), dtype=int))).all()


def npz():
    file = io.BytesIO()
    np.savez_compressed(file, A=np.eye(3), B=np.ones((3, 3)), players=["x", "y"])
    return file.getvalue()


@given(data=st.data())
def test_damaged_npz_is_a_game_or_a_value_error(data, tmp_path_factory):
    content = bytearray(npz())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(2, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("npz") / "x.npz"
    path.write_bytes(bytes(content))
    try:
        read(path)
    except ValueError as problem:
        assert "x.npz" in str(problem)


def test_small_numbers_count_as_the_floats_that_they_become(tmp_path, monkeypatch):
    monkeypatch.setattr("fullswap.games.files.arrays._MOST_BYTES", 20_000)
    small = np.zeros((50, 50), np.int8)  # 5,512 bytes with their headers, and 120,000 in a game
    np.savez_compressed(tmp_path / "x.npz", A=small, B=small)
    with pytest.raises(ValueError, match=r"x.npz, field 'A': .*at most 833 numbers, got 2,500"):
        read(tmp_path / "x.npz")


def test_an_npz_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("fullswap.games.files.arrays._MOST_BYTES", 1000)
    np.savez_compressed(tmp_path / "x.npz", A=np.zeros((50, 50)), B=np.zeros((50, 50)))
    with pytest.raises(ValueError, match=r"x.npz: expected .*at most 1,000 bytes, got 4"):
        read(tmp_path / "x.npz")


def test_an_npz_that_promises_more_than_it_has(tmp_path):
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (100000000, 100000000), }\n"
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as packed:
        start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
        packed.writestr("A.npy", start + header.encode())
    with pytest.raises(ValueError, match=r"x.npz, field 'A': expected arrays"):
        read(tmp_path / "x.npz")


# --- long files -------------------------------------------------------------------------------

NFG = 'NFG 1 R "" { "1" "2" } '


def probabilities(count):
    """Fractions whose common denominator grows with each."""
    return " ".join(f'"a" 1/{10**17 + k}' for k in range(count))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (NFG + "{" * 3_000_000, "column 25: expected action in quotes|expected '{' before|got '{'"),
        ("{" * 3_000_000, "line 1, column 2: expected JSON"),
        ("[" * 3_000_000, "text: expected JSON of arrays, got lists too deep"),
        (NFG + "{ 1 1 } " + "1" * 3_000_000 + "x 0", "a number of at most 4,000 letters, got '111"),
        (NFG + "{ 1 1 } " + "1" * 3_900 + "x 0", "payoff 1 of 2, a number such as .* got '111"),
        (NFG + "{ 1 1 } " + "1" * 4_001 + " 0", "a number of at most 4,000 letters"),
        (NFG + "{ 1 1 } 0." + "1" * 4_001 + " 0", "a number of at most 4,000 letters"),
        (NFG + '{ 1 1 } "' + "\\" * 3_000_001, "column 32: expected a closing quote"),
        ('NFG 1 R "' + "x" * 3_000_000, "column 9: expected a closing quote"),
        ('NFG 1 R "' + "x" * 20_000 + '"', "the title of at most 10,000 letters, got 20,000"),
        ('EFG 2 R "" { ' + '"" ' * 300_000 + "}", "expected 1 to 1,000 players, got 300,000"),
        ('NFG 1 R "" { ' + '"" ' * 300_000 + "}", "expected 1 to 32 players, got 300000"),
        (
            f'EFG 2 R "" {{ "1" "2" }} c "" 1 "" {{ {probabilities(20_000)} }} 0',
            "column 34: expected probabilities that add up to 1, got 2e-13",
        ),
        (
            'EFG 2 R "" { "" "" } p "" 1 1 { "a" } 1 { 1e308 0 } t "" 2 { 1e308 0 }',
            r"line 1, column 1: payoffs must add up to finite ones, got \[inf",
        ),
        ("{" + ", ".join(f'"{k}": 0' for k in [*range(50_000), 7]) + "}", "field '7' must be"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)  # fmt: skip
def test_long_files_are_refused_with_their_place(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        parse(text)
    assert len(str(caught.value)) < 300


def test_many_players_of_a_small_tree():
    players = " ".join(f'"{k}"' for k in range(1000))
    text = f'EFG 2 R "" {{ {players} }} p "" 1 1 {{ "a" "b" }} 0 p "" 999 1 {{ "c" "d" }} 0 ' + (
        't "" 1 "" { ' + " ".join(map(str, range(1000))) + ' } t "" 0 t "" 0'
    )
    game = parse(text)
    assert game.players == 1000 and "2 × 1" in repr(game) and len(repr(game)) < 200
    joint = np.zeros((2, 1000), dtype=int)
    joint[1, 998] = 1
    np.testing.assert_array_equal(game.payoffs(joint), [np.arange(1000), np.zeros(1000)])


def test_many_players_who_all_move():
    count = 60  # each may end the game, which then pays k to player k
    lines = ['EFG 2 R "" { ' + '"" ' * count + "}"]
    for k in range(count):
        paid = " ".join(str(k + 1 if j == k else 0) for j in range(count))
        lines.append(f'p "" {k + 1} 1 {{ "stop" "go" }} 0 t "" {k + 1} "" {{ {paid} }}')
    game = parse("\n".join([*lines, 't "" 0']))
    rng = np.random.default_rng(1)
    joint = rng.random((50, count)) < 0.9
    wanted = np.zeros((50, count))
    for row, go in zip(wanted, joint, strict=True):
        if not go.all():
            row[go.argmin()] = go.argmin() + 1
    np.testing.assert_allclose(game.payoffs(joint.astype(int)), wanted)


def test_long_fractions_are_read_to_the_last_digit():
    third = "1" * 1900 + "/" + "3" * 1900
    game = parse(NFG + "{ 2 1 } " + f"{third} 0 1/3 -{third}")
    assert game.payoffs([[0, 0], [1, 0]]).tolist() == [[1 / 3, 0], [1 / 3, -1 / 3]]
    chances = " ".join(f'"" {1}/{2**k}' for k in [*range(1, 3000), 2999] if k < 4000)
    tree = (
        f'EFG 2 R "" {{ "" "" }} c "" 1 "" {{ {chances} }} 0 t "" 1 "" {{ 1 2 }} '
        + 't "" 1 ' * 2999
    )
    assert parse(tree).payoffs([[0, 0]]).tolist() == [[pytest.approx(1), pytest.approx(2)]]


def test_a_long_chain_is_read():
    steps = 20_000
    lines = ['EFG 2 R "" { "1" "2" }']
    for k in range(steps):
        lines.append(f'p "" {k % 2 + 1} {k} "I" {{ "stop" "go" }} 0 t "" {k + 1} "" {{ {k} {-k} }}')
    game = parse("\n".join([*lines, 't "" 0']))
    assert [s.size for s in game.actions] == [steps // 2 + 1] * 2


def test_a_long_chain_of_a_player_who_forgets():
    steps = 20_000  # one choice each, and a set that is met twice
    lines = ['EFG 2 R "" { "1" "2" }']
    lines += [f'p "" 1 {k + 2} {{ "on" }} 0' for k in range(steps)]
    lines += [
        'p "" 1 1 { "a" "b" } 0 t "" 1 "" { 1 1 } p "" 1 1 0 t "" 2 "" { 2 2 } t "" 3 "" { 3 3 }'
    ]
    game = parse("\n".join(lines))
    assert game.payoffs([[0, 0], [1, 0]]).tolist() == [[1, 1], [3, 3]]
    assert game.actions[0].name(1).endswith("on at information set 20001, b at information set 1")


def test_the_strategies_of_who_forgets_are_limited():
    count = 40  # chance leads to one of them, and which way was taken before is forgotten
    chances = " ".join(['"" 1/40'] * count)
    sets = " ".join(f'p "" 1 {k + 2} {{ "l" "r" }} 0 t "" 0 t "" 0' for k in range(count))
    below = f'c "" 1 "" {{ {chances} }} 0 {sets} '
    text = f'EFG 2 R "" {{ "A" "" }} p "" 1 1 {{ "a" "b" }} 0 {2 * below}'
    with pytest.raises(ValueError, match=r"text, line 1, column 1: player 1 \(A\) has imperfect"):
        parse(text)


def test_trees_have_a_largest_size(monkeypatch):
    monkeypatch.setattr(efg, "MOST_ENTRIES", 8)
    text = FILES["pennies_twice.efg"]
    with pytest.raises(
        ValueError, match="line 6, column 1: expected at most 4 nodes in a game of 2"
    ):
        parse(text)


def test_large_tables_are_read_alike_whatever_the_path(monkeypatch):
    rng = np.random.default_rng(2)
    numbers = [
        repr(x) for x in (rng.standard_normal(8400) * 10.0 ** rng.integers(-9, 9, 8400)).tolist()
    ]
    plain = parse(NFG + "{ 6 700 }\n" + "\n".join(numbers))
    monkeypatch.setattr("fullswap.games.files.nfg._PIECE", 50)
    pieces = parse(NFG + "{ 6 700 }\n" + "\n\t ".join(numbers) + " \n")
    slow = parse(NFG + "{ 6 700 }\n" + ", ".join(numbers))
    joint = np.argwhere(np.ones((6, 700)))
    wanted = np.array(numbers, dtype=float).reshape(700, 6, 2).transpose(1, 0, 2).reshape(-1, 2)
    for game in (plain, pieces, slow):
        np.testing.assert_array_equal(game.payoffs(joint), wanted)


# --- what is no file --------------------------------------------------------------------------


def test_devices_folders_and_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    for path in (tmp_path / "pipe", Path("/dev/zero"), Path("/dev/null"), tmp_path / "link"):
        with pytest.raises(ValueError, match=f"^{path}: expected a file, got a device, a pipe or"):
            read(path)
    with pytest.raises(ValueError, match="expected a file, got a folder"):
        read(tmp_path)


def test_files_have_a_largest_size(tmp_path, monkeypatch):
    monkeypatch.setattr("fullswap.games.files._MOST_BYTES", 100)
    (tmp_path / "x.nfg").write_text(" " * 101)
    with pytest.raises(ValueError, match=r"x.nfg: expected at most 100 bytes, got more"):
        read(tmp_path / "x.nfg")
