"""The command, as a user calls it: output, JSON, exit codes, errors."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def fullswap(*arguments):
    return subprocess.run(
        [sys.executable, "-c", "from fullswap.cli import main; main()", *arguments],
        capture_output=True, text=True, timeout=110,
    )  # fmt: skip


def test_demo_prints_measured_beside_guaranteed():
    result = fullswap("demo")
    assert result.returncode == 0, result.stderr
    assert "measured" in result.stdout and "guaranteed" in result.stdout
    assert "percentage points off" in result.stdout and "chance alone" in result.stdout
    assert "full swap regret" in result.stdout and "nan" not in result.stdout
    assert "NO" not in result.stdout


def test_demo_as_json():
    rows = json.loads(fullswap("demo", "--json", "--seed", "3").stdout)
    assert {row["what"].split(",")[0] for row in rows} == {
        "forecaster", "forecaster in steps of 5 %", "recalibrator", "learner",
    }  # fmt: skip
    assert all(0 <= row["measured"] <= row["guaranteed"] and row["holds"] for row in rows)
    for row in rows:
        learner = row["what"].startswith("learner")
        assert (row["points"] is None) == learner == (row["points_guaranteed"] is None)
        assert learner or row["points"] <= row["points_guaranteed"] < 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["demo", "--seed", "-1"], "--seed"),
        (["nonsense"], "nonsense"),
        (["equilibrium", "nothing"], "nothing"),
        (["equilibrium", "ring", "--set", "m=3"], "'m'"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_why(arguments, named):
    result = fullswap(*arguments)
    assert result.returncode == 2
    assert named in result.stderr


def test_without_the_extra_the_command_says_what_to_install():
    blocked = "import sys; sys.modules['typer'] = None; from fullswap.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True)
    assert result.returncode == 2
    assert "fullswap[cli]" in result.stderr


def test_equilibrium_of_a_game_of_the_zoo(tmp_path):
    picture = tmp_path / "ring.png"
    result = fullswap("equilibrium", "ring", "--set", "n=1000", "--plot", str(picture))
    assert result.returncode == 0, result.stderr
    assert "gap" in result.stdout and "probability" in result.stdout
    assert picture.stat().st_size > 1000


def test_equilibrium_of_a_file_as_json(tmp_path):
    file = tmp_path / "chicken.nfg"
    file.write_text('NFG 1 R "Chicken" { "a" "b" } { 2 2 } 0 0 2 7 7 2 6 6', encoding="utf-8")
    found = json.loads(fullswap("equilibrium", str(file), "--json").stdout)
    assert found["reached"] and found["gap"] <= 0.01
    assert found["payoffs"] == pytest.approx([5.25, 5.25])
    file.write_text('NFG 1 R "Chicken" { "a" "b" } { 2 2 } 0 0 2', encoding="utf-8")
    damaged = fullswap("equilibrium", str(file))
    assert damaged.returncode == 1 and "line 1" in damaged.stderr
