"""`fullswap equilibrium`: names, files, the zoo, and what is refused."""

import json
import os
import warnings

import numpy as np
import pytest

from fullswap.cli import equilibrium
from fullswap.games import solve as solver
from fullswap.games import zoo
from fullswap.games.record import NOTIONS
from fullswap.games.solve import METHODS
from fullswap.games.values import OBJECTIVES

CHICKEN = 'NFG 1 R "Chicken" { "Ann" "" } { { "dare" "" } { "dare" "yield" } } 0 0 2 7 7 2 6 6'
TREE = 'EFG 2 R "" { "Ann" "Bob" } p "" 1 5 { "a" "b" } 0 t "" 1 { 1 2 } t "" 0'


@pytest.fixture
def file(tmp_path):
    def written(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_names_of_players_and_actions_are_kept(call, file):
    code, out, err = call("equilibrium", file("chicken.nfg", CHICKEN))
    assert (code, err) == (0, "")
    table = [line.split() for line in out.splitlines()]
    assert ["Ann", "player", "2", "probability"] in table
    assert ["2", "yield", "0.5000"] in table and ["dare", "yield", "0.2500"] in table


def test_names_that_occur_twice_are_told_apart(call, file):
    twice = CHICKEN.replace('""', '"Ann"', 1).replace('"dare" ""', '"dare" "dare"')
    _, out, _ = call("equilibrium", file("twice.nfg", twice), "--json")
    found = json.loads(out)
    assert found["players"] == ["Ann_1", "Ann_2"]
    assert {row[0] for row in found["actions"]} == {"dare_1", "dare_2"}


def test_json_names_all_and_counts_from_1(call, file):
    code, out, _ = call("equilibrium", file("chicken.nfg", CHICKEN), "--json")
    found = json.loads(out)
    assert code == 0 and found["reached"] and found["gap"] <= 0.01
    assert found["players"] == ["Ann", "player 2"]
    assert sorted(map(tuple, found["actions"])) == [
        ("2", "dare"),
        ("2", "yield"),
        ("dare", "yield"),
    ]
    assert sum(found["weights"]) == pytest.approx(1)
    assert found["payoffs"] == pytest.approx([5.25, 5.25]) and "support" not in found
    _, out, _ = call("equilibrium", file("tree.efg", TREE), "--json")
    assert json.loads(out)["actions"] == [["a at information set 5", "nothing to choose"]]


def test_matrices_without_names_count_from_1(call, file):
    dominant = {"payoffs": [[[0, 0], [0, 1]], [[0, 0], [0, 1]]]}
    path = file("game.json", json.dumps(dominant))
    _, out, _ = call("equilibrium", path, "--json")
    assert json.loads(out)["actions"] == [[2, 2]] and json.loads(out)["game"] == "game"
    _, out, _ = call("equilibrium", path)
    assert out.splitlines()[-1].split() == ["2", "2", "1.0000"]


def test_arrays_of_numpy(call, tmp_path):
    path = tmp_path / "chicken.npz"
    np.savez(path, A=[[0, 7], [2, 6]], B=[[0, 2], [7, 6]], players=["Ann", "Bob"])
    code, out, _ = call("equilibrium", path, "--json")
    assert code == 0 and json.loads(out)["players"] == ["Ann", "Bob"]
    assert json.loads(out)["payoffs"] == pytest.approx([5.25, 5.25])


def test_a_gap_that_is_not_reached_exits_with_1(call):
    code, out, _ = call("equilibrium", "ring", "--set", "n=5", "--method", "lp", "--gap", "1e-20")
    assert code == 1 and "not reached" in out


def test_numbers_of_continuous_games_keep_their_digits(call):
    _, out, _ = call("equilibrium", "cournot", "--gap", "1e-9", "--json")
    assert json.loads(out)["actions"][0] == pytest.approx([1 / 3, 1 / 3], abs=1e-4)
    _, out, _ = call("equilibrium", "quadratic_2d", "--json")
    assert np.shape(json.loads(out)["actions"][0]) == (2, 2)


def test_help_lists_the_zoo_with_arguments_and_the_formats(call):
    _, out, _ = call("equilibrium", "--help")
    assert all(f"  {name}: " in out for name in zoo.GAMES)
    assert "n=100 " in out and "others=null" in out and "delays=[0.0,1.0]" in out
    assert ".json, .npz" in out and max(map(len, out.splitlines())) <= 85


def test_a_wrong_name_lists_the_zoo_and_names_the_nearest(call):
    code, out, err = call("equilibrium", "chiken")
    last = err.splitlines()[-1]
    assert (code, out) == (2, "") and "shift=1.0" in err
    assert last.endswith("no file and no game of the zoo is called 'chiken', did you mean chicken?")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["m=3"], "--set: ring has no argument 'm'; it takes n=100, others=null, shift=1.0"),
        (["n=1"], "--set n must be a whole number >= 2, got 1"),
        (["n=many"], "--set must be NAME=VALUE with a number, a list such as [0, 1], or null"),
        (["n"], "--set must be NAME=VALUE"),
    ],
)
def test_wrong_arguments_of_a_game(call, settings, message):
    code, _, err = call("equilibrium", "ring", *(f"--set={one}" for one in settings))
    assert code == 2 and message in err and err.count("\n") == 1


def test_wrong_files(call, file, tmp_path):
    damaged = file("damaged.nfg", CHICKEN[:-2])
    assert "line 1, column" in call("equilibrium", damaged)[2]
    code, _, err = call("equilibrium", file("a.json", '{"A": [[1]]}'))
    assert code == 2 and err.endswith("a.json: B must be given beside A, got none\n")
    assert "--set is for games of the zoo" in call("equilibrium", damaged, "--set", "n=3")[2]
    assert "GAME must be a file" in call("equilibrium", tmp_path)[2]
    os.mkfifo(tmp_path / "pipe")
    for endless in (tmp_path / "pipe", "/dev/zero"):
        code, _, err = call("equilibrium", endless)
        assert code == 2 and err.endswith(
            f"{endless}: expected a file, got a device, a pipe or a socket\n"
        )


def test_pictures(call, tmp_path, monkeypatch):
    picture = tmp_path / "ring.svg"
    code, out, _ = call("equilibrium", "ring", "--set", "n=1000", "--plot", picture)
    assert code == 0 and out.endswith(f"Picture: {picture}\n") and picture.stat().st_size > 1000
    monkeypatch.setattr("fullswap.games.solve", None)  # refused before the work
    for wrong, why in (
        (tmp_path, "got the folder"),
        (tmp_path / "no" / "x.png", "folder that exists"),
        (tmp_path / "x.xyz", "must end in one of .eps"),
        (tmp_path / "x", "must end in one of .eps"),
    ):
        code, _, err = call("equilibrium", "ring", "--plot", wrong)
        assert code == 2 and "--plot must" in err and why in err


def test_choices_are_those_of_the_solver():
    assert equilibrium.METHODS == (*METHODS, "play-out")
    assert equilibrium.OBJECTIVES == OBJECTIVES and equilibrium.NOTIONS == NOTIONS


def test_learners_that_play_out_a_game(call):
    code, out, _ = call("equilibrium", "chicken", "--method", "play-out", "--rounds", 200)
    assert code == 0 and "average of 200 rounds, for which a gap of at most" in out
    arguments = ("--method", "play-out", "--gap", 0.2, "--json")
    code, out, _ = call("equilibrium", "chicken", *arguments)
    result = json.loads(out)
    assert code == 0 and result["reached"] and result["gap"] <= result["guaranteed"] <= 0.2
    refused = (
        (("--gap", 1e-3), "rounds would guarantee it"),
        (("--gap", 1e-12), "rounds guarantee it"),
        (("--seconds", 1), "not be given"),
        (("--notion", "coarse"), "notion must not be given"),
    )
    for wrong, why in refused:
        code, _, err = call("equilibrium", "chicken", "--method", "play-out", *wrong)
        assert code == 2 and why in err


def test_quiet_shows_no_bar(call, monkeypatch):
    asked = []

    def noted(*arguments, progress, **settings):
        asked.append(progress)
        return solver(*arguments, **settings)

    monkeypatch.setattr("fullswap.games.solve", noted)
    call("equilibrium", "chicken", "--quiet")
    call("equilibrium", "chicken")
    assert asked == [False, None]


def test_long_names_of_actions_stand_below_the_table(call):
    code, out, _ = call("equilibrium", "kuhn_poker", "--quiet")
    table, _, meanings = out.partition("\n\nFirst 1: ")
    assert code == 0 and meanings and max(map(len, table.splitlines())) < 100


def test_weights_of_the_players(call):
    code, out, _ = call("equilibrium", "chicken", "--objective", "1,2", "--json")
    found = json.loads(out)["optimum"]
    assert code == 0 and found["objective"] == "weights" and found["value"] == 16
    for wrong, why in (("1,2,3", "shape"), ("best", "or weights such as 1,2"), ("1,", "weights")):
        code, _, err = call("equilibrium", "chicken", "--objective", wrong)
        assert code == 2 and "--objective must" in err and why in err


def test_many_players_have_a_row_each(call):
    code, out, _ = call("equilibrium", "cournot", "--set", "players=24")
    assert code == 0 and max(map(len, out.splitlines())) < 160
    rows = [line for line in out.splitlines() if line.startswith("player ")]
    assert len(rows) == 24 and "a column each" in out


def test_warnings_are_said_in_words(call, monkeypatch):
    def warning(*arguments, progress, **settings):
        warnings.warn("there was no room", RuntimeWarning, stacklevel=2)
        return solver(*arguments, **settings)

    monkeypatch.setattr("fullswap.games.solve", warning)
    _, _, err = call("equilibrium", "chicken")
    assert err == "fullswap equilibrium: there was no room\n"
