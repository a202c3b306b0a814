"""A replayed log has the columns that plain library calls give, whatever its parts."""

from __future__ import annotations

import numpy as np
import pytest

from fullswap import Forecaster, Recalibrator
from fullswap.inputs import read_table
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


def test_delay_and_several_classes(tmp_path):
    rng = np.random.default_rng(3)
    p = rng.dirichlet((2, 1, 2), 300).round(6)
    y = [rng.choice(3, p=row / row.sum()) for row in p]
    names = ["home", "tie", "away"]
    lines = ["p_home,p_tie,p_away,result"]
    lines += [f"{a},{b},{c},{names[k]}" for (a, b, c), k in zip(p, y, strict=True)]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    out = tmp_path / "out.csv"
    roles = {"y": ["result"], "classes": ["p_home", "p_tie", "p_away"]}
    replay_file(tmp_path / "log.csv", roles, ReplaySettings(delay=4, seed=9), out=out, chunk=37)
    forecaster, tickets = Recalibrator(classes=3, seed=9), []
    for t, row in enumerate(p):
        if t > 4:
            forecaster.update(int(y[t - 5]), tickets[t - 5])
        tickets.append(forecaster.predict(row / row.sum()))
    for got, ticket in zip(read_csv(out), tickets, strict=True):
        issued = [float(got[f"issued_{name}"]) for name in names]
        assert issued == ticket.issued.tolist()
        assert [float(got[f"mean_{name}"]) for name in names] == pytest.approx(
            ticket.mean.tolist(), abs=1e-9
        )


@pytest.mark.parametrize("chunk", [3, None], ids=["chunks", "whole"])
def test_events_are_learnt_once_after_their_last_row(tmp_path, chunk):
    rng = np.random.default_rng(4)
    games = rng.integers(0, 40, 300)
    last = {int(g): t for t, g in enumerate(games)}
    won, p = rng.random(40) < 0.5, rng.random(300).round(3)
    lines = ["game,p,won"] + [f"g{g},{p[t]},{int(won[g])}" for t, g in enumerate(games)]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    out, roles = tmp_path / "out.csv", {"y": ["won"], "p": ["p"], "event": ["game"]}
    answer = replay_file(tmp_path / "log.csv", roles, ReplaySettings(alarm=True), out=out,
                         chunk=chunk)  # fmt: skip
    forecaster = Recalibrator(seed=0)
    for t, got in enumerate(read_csv(out)):
        ticket = forecaster.predict(p[t], event=f"g{games[t]}")
        assert float(got["issued"]) == ticket.issued
        if last[int(games[t])] == t:
            forecaster.resolve(f"g{games[t]}", float(won[games[t]]))
    assert answer.certificate.events == len(last)
    assert answer.after.events == len(last)


def test_without_a_model(tmp_path):
    (tmp_path / "log.csv").write_text("day,rain\n" + "".join(f"{k},{k % 2}\n" for k in range(60)))
    out = tmp_path / "out.csv"
    answer = replay_file(tmp_path / "log.csv", {"y": ["rain"]}, ReplaySettings(), out=out)
    assert answer.before is None
    assert any("from the outcomes alone" in note for note in answer.notes)
    run = Forecaster(seed=0).run([k % 2 for k in range(60)])
    assert [float(row["issued"]) for row in read_csv(out)] == run.issued.tolist()


def test_alarm_rings(tmp_path):
    rows = "".join(f"0.3,{k % 2}\n" for k in range(400))
    (tmp_path / "log.csv").write_text("p,y\n" + rows)
    roles = {"y": ["y"], "p": ["p"]}
    answer = replay_file(tmp_path / "log.csv", roles, ReplaySettings(alarm=True))
    assert answer.alarms[0].direction == "too low"
    assert "Alarm after" in str(answer)
    assert replay_file(tmp_path / "log.csv", roles, ReplaySettings()).alarms == []


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_other_files(tmp_path, kind):
    log = made_log(80)
    path = write_csv(tmp_path / "log.csv", log)
    for out in ("out.csv", f"out.{kind}"):
        replay_file(path, ROLES, ReplaySettings(), out=tmp_path / out)
    wanted = [row["issued"] for row in read_csv(tmp_path / "out.csv")]
    found = read_table(tmp_path / f"out.{kind}")["issued"].to_pylist()
    assert [None if v == "" else float(v) for v in wanted] == found


@pytest.mark.parametrize(
    ("roles", "settings", "message"),
    [
        ({"resolved": "known_at", "time": "at"}, {"delay": 2}, "delay must be left out"),
        ({"key": "nowhere"}, {}, "key must name a column"),
        ({"time": "remark"}, {}, "must be"),
    ],
)
def test_refused(tmp_path, roles, settings, message):
    path = write_csv(tmp_path / "log.csv", made_log(30))
    with pytest.raises(ValueError, match=message):
        replay_file(path, {"y": ["rained"], "p": ["p"], **roles}, ReplaySettings(**settings))


def test_many_classes_are_those_of_the_library(tmp_path):
    rng = np.random.default_rng(6)
    p = rng.dirichlet([1] * 9, 60).round(6)
    p[:, -1] = (1 - p[:, :-1].sum(axis=1)).round(6)
    y = rng.integers(0, 9, 60)
    names = [f"c{k}" for k in range(9)]
    rows = [",".join(map(str, [*row, f"c{k}"])) for row, k in zip(p.tolist(), y, strict=True)]
    log, out = tmp_path / "many.csv", tmp_path / "out.csv"
    log.write_text("\n".join([",".join([*names, "y"]), *rows]) + "\n")
    roles = {"y": ["y"], "classes": names}
    kept = {"state": tmp_path / "s", "out": out}
    answer = replay_file(log, roles, ReplaySettings(seed=3), chunk=7, **kept)
    forecaster = Recalibrator(classes=9, seed=3)
    wanted = forecaster.run(p / p.sum(axis=1, keepdims=True), y)
    for what, values in (("issued", wanted.issued), ("mean", wanted.mean)):
        found = [[float(row[f"{what}_{k}"]) for k in range(9)] for row in read_csv(out)]
        assert np.array(found) == pytest.approx(values, abs=1e-9)
    classwise, declared = forecaster.certificates()[:2]
    assert answer.certificate.measured == pytest.approx(classwise.measured)
    assert answer.declared.measured == pytest.approx(declared.measured)
    assert "Certificate of the declared class:" in str(answer) and "draws: at" not in str(answer)
    with pytest.raises(ValueError, match="step must be left out for more than two classes"):
        replay_file(log, roles, ReplaySettings(step=0.1))


def test_too_many_classes_and_taken_names(tmp_path):
    with pytest.raises(ValueError, match="classes must be at most 1,000 for a forecast"):
        ReplaySettings().forecaster(1001, 1, 1.0)
    (tmp_path / "taken.csv").write_text("p,y,mean\n0.5,1,2\n0.4,0,3\n")
    with pytest.raises(ValueError, match="no column 'mean'"):
        replay_file(tmp_path / "taken.csv", {"y": ["y"], "p": ["p"]}, ReplaySettings())


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_million_rows(tmp_path):
    """As many rows, a thousand keys, late outcomes and malformed lines: as by hand."""
    log = made_log(1_000_000, keys=1000, late=500)
    path = write_csv(tmp_path / "log.csv", log, malformed=0.01)
    roles = {**ROLES, "resolved": "known_at"}
    replay_file(path, roles, ReplaySettings(), out=tmp_path / "out.csv",
                state=tmp_path / "s.json")  # fmt: skip
    found = read_csv(tmp_path / "out.csv")
    assert len(found) == len(log)
    same(found[:20_000], by_hand(log[:20_000]), log[:20_000])
