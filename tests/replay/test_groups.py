"""Groups in a replayed log: the numbers of the library, however the log comes in parts."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest

from fullswap import Bank, Forecaster, Recalibrator
from fullswap.replay import ReplaySettings, replay_file
from fullswap.replay.group_bins import GroupBins, Numbered
from tests.replay.made import made_log, read_csv

ROLES = {"y": ["rained"], "p": ["p"], "time": "at", "groups": ["station", "band"]}


def grouped_log(rows, keys=5, late=False, **options):
    """Rows with two columns of groups: some values are missing, some come late in the log."""
    rng = np.random.default_rng(3)
    log = made_log(rows, keys=keys, **options)
    for k, row in enumerate(log):
        band = ["low", "high", "", f"new {k // 40}"][rng.integers(4)]
        row["remark"] = ""
        row["band"] = band
        row["at"] = str(k) if not late else row["at"]
    return log


def write(path, log):
    """The log with its columns of groups."""
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(log[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(log)
    return path


def names_of(row):
    return [f"{name}={row[name]}" for name in ("station", "band") if row[name]]


def by_hand(log):
    """What ``predict`` and ``update`` alone give, with what is known by the moment of each row."""
    pattern = Recalibrator(groups="open", seed=0)
    waiting, answers = [], []
    for row in log:
        clock = float(row["at"])
        if row["p"] == "":
            answers.append(None)
            continue
        due = [item for item in waiting if item[0] < clock]
        waiting = [item for item in waiting if item[0] >= clock]
        for _, ticket, y in due:
            pattern.update(y, ticket)
        ticket = pattern.predict(float(row["p"]), groups=names_of(row))
        answers.append((ticket.issued, ticket.mean))
        if row["rained"]:
            waiting.append((float(row["known_at"]), ticket, float(row["rained"] == "yes")))
    for _, ticket, y in waiting:
        pattern.update(y, ticket)
    return answers, pattern


def issued_of(path):
    return [
        None if row["issued"] == "" else (float(row["issued"]), float(row["mean"]))
        for row in read_csv(path)
    ]


def test_late_outcomes_and_groups_are_the_loop_of_predict_and_update(tmp_path):
    log = grouped_log(250, late=True)
    path = write(tmp_path / "log.csv", log)
    roles = {**ROLES, "resolved": "known_at"}
    found = replay_file(path, roles, ReplaySettings(), out=tmp_path / "out.csv")
    wanted, forecaster = by_hand(log)
    assert issued_of(tmp_path / "out.csv") == wanted
    table = {row.name: row for row in forecaster.by_group()}
    rows = {row.name: row for row in found.groups.rows}
    assert {name for name, row in table.items() if row.mass} == set(rows)
    for name, row in rows.items():
        assert row.rounds == table[name].rounds
        assert row.points_after_the_fact == pytest.approx(table[name].points_after_the_fact)
        assert row.points_guaranteed is None  # outcomes came late
        # forecasts of one bin count together, which cannot raise the error
        assert row.points <= table[name].points + 1e-12


@pytest.mark.parametrize("chunk", [1, 7, 100])
def test_a_state_goes_on_bit_for_bit_with_groups_that_are_new(tmp_path, chunk):
    log = grouped_log(160)
    whole = write(tmp_path / "whole.csv", log)
    replay_file(whole, ROLES, ReplaySettings(), out=tmp_path / "once.csv")
    path, kept = tmp_path / "log.csv", {"state": tmp_path / "s", "out": tmp_path / "parts.csv"}
    for rows in (50, 51, 120, 160):
        write(path, log[:rows])
        found = replay_file(path, ROLES, ReplaySettings(), chunk=chunk, **kept)
    assert (tmp_path / "parts.csv").read_text() == (tmp_path / "once.csv").read_text()
    assert len(found.groups) > 5
    with pytest.raises(ValueError, match="groups must be"):
        replay_file(path, {**ROLES, "groups": ["station"]}, ReplaySettings(), **kept)


def test_outcomes_that_are_filled_in_later_count_in_their_groups(tmp_path):
    log = grouped_log(40, pending=0, gaps=0)
    blank = [{**row, "rained": "" if k in (3, 38) else row["rained"]} for k, row in enumerate(log)]
    path, state = tmp_path / "log.csv", tmp_path / "s"
    replay_file(write(path, blank), ROLES, ReplaySettings(), state=state)
    found = replay_file(write(path, log), ROLES, ReplaySettings(), state=state)
    rounds = {row.name: row.rounds for row in found.groups.rows if row.rounds}
    wanted = {"everybody": 2}
    for row in (log[3], log[38]):
        for name in names_of(row):
            wanted[name] = wanted.get(name, 0) + 1
    assert rounds == wanted


def test_keys_share_groups_and_their_guarantees_add_up(tmp_path):
    log = grouped_log(120, keys=3)
    path = write(tmp_path / "log.csv", log)
    roles = {**ROLES, "groups": ["band"], "key": "station", "time": None}
    found = replay_file(path, roles, ReplaySettings(delay=0), out=tmp_path / "out.csv")
    bank = Bank(Recalibrator(groups="open", seed=0))
    rows = [row for row in log if row["p"]]
    known = np.array([math.nan if row["rained"] == "" else row["rained"] == "yes" for row in rows])
    moments = np.where(np.isnan(known), 10**9, np.arange(1, len(rows) + 1))
    record = bank.run(
        [row["station"] for row in rows], [float(row["p"]) for row in rows], known,
        known=moments, groups=[[f"band={row['band']}"] if row["band"] else [] for row in rows],
    )  # fmt: skip
    assert [pair[0] for pair in issued_of(tmp_path / "out.csv") if pair] == record.issued.tolist()
    low = [bank[key].certificate(group="band=low") for key in bank]
    row = next(row for row in found.groups.rows if row.name == "band=low")
    assert row.rounds == sum(c.rounds for c in low)
    bound = sum(c.after_the_fact for c in low) / sum(c.mass for c in low)
    assert row.points_after_the_fact == pytest.approx(math.sqrt(bound))


def test_without_a_model_and_from_json_lines(tmp_path):
    rng = np.random.default_rng(0)
    rows = [{"won": int(rng.random() < 0.4), "size": [1, 2.5, None][k % 3]} for k in range(60)]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    roles = {"y": "won", "p": ["none"], "groups": ["size"]}
    found = replay_file(path, roles, ReplaySettings(delay=0, step=0.1), out=tmp_path / "out.csv")
    forecaster = Forecaster(step=0.1, groups="open", seed=0)
    names = [[f"size={row['size']}"] if row["size"] else [] for row in rows]
    record = forecaster.run([row["won"] for row in rows], groups=names)
    assert [float(row["issued"]) for row in read_csv(tmp_path / "out.csv")] == (
        record.issued.tolist()
    )
    assert {row.name for row in found.groups.rows} == {"everybody", "size=1", "size=2.5"}
    assert all(row.before is None for row in found.groups.rows)
    assert "before" not in found.groups.lines()[1]


def test_bins_of_groups_are_those_of_their_rows_alone():
    rng = np.random.default_rng(1)
    y, p, w = rng.random(300) < 0.4, rng.random(300).round(2), rng.random(300)
    p[::17] = np.nan
    names = [[f"g{k}" for k in range(4) if rng.random() < 0.4] for _ in range(300)]
    numbered, bins = Numbered(), GroupBins()
    for part in (slice(0, 100), slice(100, 300)):
        bins.add(y[part] + 0.0, p[part], w[part], numbered.joined(names[part]))
    errors = bins.errors(len(numbered.names))
    for k, name in enumerate(numbered.names):
        own = [t for t in range(300) if (k == 0 or name in names[t]) and not np.isnan(p[t])]
        off = noise = 0.0
        for place in range(65):
            cell = [t for t in own if round(p[t] * 64) == place]
            if cell:
                gap = sum(w[t] * (p[t] - y[t]) for t in cell)
                off += gap**2 / sum(w[cell])
                noise += sum(w[t] ** 2 * p[t] * (1 - p[t]) for t in cell) / sum(w[cell])
        found = errors[k]
        assert found.rounds == found.events == len(own)
        assert [found.mass, found.squares, found.noise] == pytest.approx([sum(w[own]), off, noise])
        assert noise < found.high < 2 * noise  # some sixty bins


PARCELS = {"y": ["late"], "p": ["p"], "groups": ["region"]}


def parcels(path, rows, shift=0.15, seed=0, start=0, region=("north", "south")):
    """Right on average; by ``shift`` too low in one region and too high in the other."""
    rng = np.random.default_rng(seed)
    north, p, u = rng.random(rows) < 0.5, rng.uniform(0.2, 0.8, rows), rng.random(rows)
    late = u < p + np.where(north, shift, -shift)
    lines = [f"{region[not n]},{q:.3f},{int(y)}" for n, q, y in zip(north, p, late, strict=True)]
    path.write_text("\n".join(["region,p,late", *lines[start:]]) + "\n")
    return path


def test_a_model_that_is_right_on_average_and_wrong_in_groups_is_told_so(tmp_path):
    path = parcels(tmp_path / "log.csv", 15_000, seed=1)
    found = replay_file(path, PARCELS, ReplaySettings())
    assert not found.before.verdict.startswith("miscalibrated")
    worst = max(found.groups.rows, key=lambda row: row.excess_before)
    said = f"but not in 2 of 2 groups; the worst before: {worst.name} {100 * worst.before:.1f} -> "
    assert said in found.sentence and "Telling the groups helps." in found.sentence
    assert "luck" not in found.sentence
    assert json.loads(found.to_json())["sentence"] == found.sentence
    page = found.to_html()
    assert "but not in 2 of 2 groups" in page and "no sign that anything was off" not in page
    assert f"; {worst.name} {100 * worst.before:.1f} → " in page


def test_a_model_that_is_right_in_groups_too_is_not_blamed(tmp_path):
    found = replay_file(parcels(tmp_path / "log.csv", 3_000, 0.0), PARCELS, ReplaySettings())
    assert "None of 2 groups was clearly off; the worst before: region=" in found.sentence
    assert "Telling the groups" not in found.sentence


@pytest.mark.parametrize("weight", [0.01, 1.0, 40.0])
@pytest.mark.parametrize("rare", [False, True])
def test_right_forecasts_are_hardly_ever_clearly_off(weight, rare):
    rng, wrong = np.random.default_rng(5), 0
    for _ in range(150):
        p = rng.random(600) * (0.01 if rare else 1.0)
        y, names = (rng.random(600) < p) + 0.0, [[f"g{k}"] for k in rng.integers(0, 8, 600)]
        numbered, bins = Numbered(), GroupBins()
        bins.add(y, p, weight * rng.random(600), numbered.joined(names))
        wrong += any(error.excess > 1 for error in bins.errors(len(numbered.names)))
    assert wrong <= 3


def test_guarantees_of_all_calls_say_of_how_many_forecasts(tmp_path):
    state = tmp_path / "s"
    replay_file(parcels(tmp_path / "a.csv", 400), PARCELS, ReplaySettings(), state=state)
    more = parcels(tmp_path / "b.csv", 150, seed=1, region=("north", "west"))
    found = replay_file(more, PARCELS, ReplaySettings(), state=state)
    rows = {row.name: row for row in found.groups.rows}
    assert rows["everybody"].rounds == 150 and rows["everybody"].all_rounds == 550
    assert rows["region=west"].rounds == rows["region=west"].all_rounds > 0
    south = rows["region=south"]  # nothing new, and yet there
    assert south.rounds == 0 and south.all_rounds > 100 and south.points_guaranteed is not None
    lines = found.groups.lines()
    assert lines[1].split()[-2:] == ["of", "all"] and '"of all" counts' in lines[-1]
    assert next(line for line in lines if line.startswith("everybody")).split()[-1] == "550"
    assert "region=south" in found.to_html()
    whole = replay_file(tmp_path / "a.csv", PARCELS, ReplaySettings())
    assert "of all" not in "\n".join(whole.groups.lines())


def test_a_group_made_from_the_outcome_is_asked_about(tmp_path):
    path = tmp_path / "log.csv"
    rows = [f"{'ab'[k % 3 == 0]},0.4,{int(k % 3 == 0)}" for k in range(300)]
    path.write_text("\n".join(["region,p,late", *rows]) + "\n")
    found = replay_file(path, PARCELS, ReplaySettings())
    assert (
        "group region=b: all of 100 happened; group region=a: none of 200 happened. Is this column "
        "known before the outcome?" in found.notes
    )


def test_groups_without_events_in_this_call_are_not_counted(tmp_path):
    state = tmp_path / "s"
    first = parcels(tmp_path / "a.csv", 400, 0.0)
    replay_file(first, PARCELS, ReplaySettings(), state=state)
    more = parcels(tmp_path / "b.csv", 300, 0.0, seed=1, region=("north", "west"))
    found = replay_file(more, PARCELS, ReplaySettings(), state=state)
    assert len(found.groups) == 4 and "None of 2 groups was clearly off" in found.sentence
    assert "Errors of 2 groups and of everybody" in found.to_html()


def test_the_table_says_how_it_differs_from_the_sentence(tmp_path):
    found = replay_file(parcels(tmp_path / "log.csv", 500), PARCELS, ReplaySettings())
    text = "\n".join(found.groups.lines())
    assert "than the average error at the top" in text
    assert "Sorted by after" in text and "the worst before: region=" in found.sentence


def test_a_column_of_groups_is_not_quietly_replaced_as_the_model(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "log.csv"
    rows = [f"{rng.integers(1, 9) / 10},{w:.3f},{int(w < 0.5)}" for w in rng.random(60)]
    path.write_text("\n".join(["p,w,won", *rows]) + "\n")
    with pytest.raises(ValueError, match="groups must not be the only column .* got p: give p='p'"):
        replay_file(path, {"groups": ["p"]}, ReplaySettings())
    for p in ("p", "w", "none"):
        found = replay_file(path, {"groups": ["p"], "p": [p]}, ReplaySettings())
        assert len(found.groups) > 3
