"""A replayed log has the columns that plain library calls give, whatever its parts."""

from __future__ import annotations

import pytest

from fullswap.replay import ReplaySettings, replay_file
from tests.replay.made import by_hand, made_log, read_csv, write_csv

ROLES = {"y": ["rained"], "p": ["p"], "time": "at", "key": "station"}


def same(found, expected, log):
    assert len(found) == len(expected)
    for got, want, row in zip(found, expected, log, strict=True):
        assert {name: got[name] for name in row} == row
        if want is None:
            assert got["issued"] == got["mean"] == got["lower"] == ""
            continue
        assert (float(got["issued"]), float(got["mean"])) == want
        lower, upper = float(got["lower"]), float(got["upper"])
        assert lower <= want[1] <= upper
        assert want[0] in (lower, upper)
        chance = float(got["upper_chance"])
        assert lower + chance * (upper - lower) == pytest.approx(want[1], abs=1e-12)


@pytest.mark.parametrize("chunk", [7, 100, 65_536])
@pytest.mark.parametrize("resolved", [True, False], ids=["resolved", "time"])
def test_same_columns_as_by_hand(tmp_path, chunk, resolved):
    log = made_log(600)
    path = write_csv(tmp_path / "log.csv", log, malformed=0.01)
    roles = {**ROLES, "resolved": "known_at" if resolved else None}
    out = tmp_path / "out.csv"
    answer = replay_file(path, roles, ReplaySettings(), out=out, chunk=chunk)
    same(read_csv(out), by_hand(log, resolved=resolved), log)
    assert any("malformed line" in note for note in answer.notes)
    assert answer.rows == 600
    assert answer.pending == sum(r["rained"] == "" and r["p"] != "" for r in log)
    assert answer.skipped == sum(r["p"] == "" for r in log)
