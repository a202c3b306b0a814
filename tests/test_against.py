"""``make against``: which keys are measured, in which order, and when one is missed."""

import shutil
from pathlib import Path

import pytest

from benchmarks import against, before, now
from benchmarks.keys import FEW, PAIRS

HELPERS = Path(against.__file__).parent
TREE = """
import os
from pathlib import Path
from benchmarks.keys import COLD, NUMBER, PROCESS, Keys, Missing
import fullswap

KEYS = Keys()
LOG = Path(os.environ["AGAINST"]) / "log"


@KEYS.add("call")
def _():
    def run():
        with open(LOG, "a") as file:
            file.write(fullswap.NAME[0])
        sum(range(500_000 * fullswap.SLOW))
    return run


@KEYS.add("needs", NUMBER, unit="B")
def _():
    if fullswap.NAME == "old":
        raise Missing("not yet")


@KEYS.add("wrong", NUMBER)
def _():
    return lambda: 1 / 0


KEYS.add("bytes", NUMBER, unit="B", pairs=1, named=True)(lambda: lambda: 100 * fullswap.SLOW)
KEYS.first("start", "import os; assert os.path.isdir(os.environ['NUMBA_CACHE_DIR'])")
"""


@pytest.fixture
def sides(tmp_path, monkeypatch):
    """Two trees of which the new one is twice as slow."""
    monkeypatch.setattr(against, "PLACE", tmp_path)
    monkeypatch.setattr(against, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(against, "HERE", tmp_path / "trees" / "new")
    for slow, name in enumerate(("old", "new"), 1):
        package = tmp_path / "trees" / name / "src" / "fullswap"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(f"NAME, SLOW = {name!r}, {slow}")
        shutil.copytree(HELPERS, tmp_path / "trees" / name / "benchmarks")
        (tmp_path / "trees" / name / "benchmarks" / "now.py").write_text(TREE)
        for folder in (name, f"{name}/cache", "tmp"):
            (tmp_path / folder).mkdir(exist_ok=True)
    return [against.Side(name, tmp_path / "trees" / name) for name in ("old", "new")]


def measured(sides, name, pairs=4, unit="ms", kind="call"):
    entry, how = {}, {"kind": kind, "unit": unit}
    list(against.measure(sides, name, how, pairs, entry))
    return entry


def test_pairs_alternate_and_their_ratio_is_that_of_the_work(sides, tmp_path):
    entry = measured(sides, "call")
    order = (tmp_path / "log").read_text()[4:]  # both twice, before it counts
    runs = "".join(a for a, b in zip(order, order[1:] + ".", strict=True) if a != b)
    assert runs == "onono"  # old, new, new, old, …: neighbours run into one
    assert len(entry["pairs"]) == 4 and entry["done"]
    assert 1.5 < against.ratio_of(entry) < 2.7


def test_numbers_processes_and_what_is_not_there(sides):
    assert measured(sides, "bytes", 1, "B", "number")["pairs"] == [[100.0, 200.0]]
    assert measured(sides, "needs", 1, "B", "number")["missing"] == ["old"]
    assert all(time > 0 for time in measured(sides, "start.cold", 1, kind="cold")["pairs"][0])
    with pytest.raises(against.Trouble, match="division"):
        measured(sides, "wrong", 1, kind="number")


def test_a_stopped_measurement_goes_on_with_the_pairs_it_has(sides):
    entry = {}
    next(against.measure(sides, "bytes", {"kind": "number", "unit": "B"}, 3, entry))
    assert len(entry["pairs"]) == 1 and "done" not in entry
    list(against.measure(sides, "bytes", {"kind": "number", "unit": "B"}, 3, entry))
    assert len(entry["pairs"]) == 3 and entry["done"]


def test_a_run_measures_missed_keys_twice_and_says_so(sides, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("KEYS", "bytes,needs")
    old = str(tmp_path / "trees" / "old")
    assert against.main(old) == 1
    printed = capsys.readouterr().out
    assert "2.000 2.000" in printed and "1+1" in printed and "Missed: bytes." in printed
    assert "not in old" in printed
    monkeypatch.setenv("LIMITS", "byt*=2.5")
    assert against.main(old) == 0


def test_limits_and_choice():
    assert against.limit_of("ring.cold", "") == against.LIMIT
    assert against.limit_of("ring.cold", "ring*=2, ring.cold=1.5,check*=3") == 1.5
    keys = {"a.x": {"named": False}, "a.y": {"named": True}, "b": {"named": False}}
    assert against.chosen(keys, "") == ["a.x", "b"]
    assert against.chosen(keys, "a*") == ["a.x", "a.y"]
    with pytest.raises(SystemExit, match="no key"):
        against.chosen(keys, "c")


def test_both_sides_have_the_same_keys():
    assert list(before.KEYS) == list(now.KEYS)
    assert {key.pairs for key in before.KEYS.values()} <= {PAIRS, 5, FEW, 1}
