"""What comes later than its row: filled-in outcomes, days without a time, heavy rows, old lines."""

from __future__ import annotations

import numpy as np
import pytest

from fullswap.replay import ReplaySettings, replay_file
from fullswap.replay import files as replayed_files


def write(path, names, rows):
    path.write_text("\n".join([names, *(",".join(map(str, row)) for row in rows), ""]))
    return path


def replay(tmp_path, log, roles, **settings):
    state = tmp_path / "state.json"
    return replay_file(log, roles, ReplaySettings(**settings), state=state)


def test_outcomes_are_filled_in_in_every_part_of_a_long_log(tmp_path, monkeypatch):
    """A log that is read in several tables."""
    monkeypatch.setattr(replayed_files, "WHOLE_ROWS", 100)
    monkeypatch.setattr("fullswap.inputs.csv_files.BLOCK", 1_000)
    roles = {"y": ["y"], "p": ["p"]}
    rows = [(f"0.{k % 8 + 1}", k % 2) for k in range(900)]
    blank = [(p, "" if k < 400 else y) for k, (p, y) in enumerate(rows)]
    assert replay(tmp_path, write(tmp_path / "log.csv", "p,y", blank), roles).pending == 400
    answer = replay(tmp_path, write(tmp_path / "log.csv", "p,y", rows), roles)
    assert answer.pending == 0 and answer.answered == 400
    assert answer.certificate.rounds == 900


def test_filled_in_outcomes_ring_the_alarm(tmp_path):
    rng = np.random.default_rng(0)
    roles, later = {"y": ["y"], "p": ["p"]}, (rng.random(400) < 0.9).astype(int)
    log = write(tmp_path / "log.csv", "p,y", [(0.3, 1), (0.3, 0), *((0.3, "") for _ in later)])
    replay(tmp_path, log, roles, alarm=True)
    write(log, "p,y", [(0.3, 1), (0.3, 0), *((0.3, y) for y in later)])
    answer = replay(tmp_path, log, roles, alarm=True)
    assert answer.alarms and "too low" in str(answer.alarms[0])


def test_an_event_answered_later_counts_once(tmp_path):
    roles = {"y": ["y"], "p": ["p"], "event": ["match"]}
    first = [(f"m{k}", 0.5, "") for k in range(40) for _ in range(25)]
    known = [("old", 0.5, 1), ("older", 0.5, 0)]
    log = write(tmp_path / "log.csv", "match,p,y", [*known, *first])
    replay(tmp_path, log, roles, alarm=True)
    told = [(f"m{k}", 0.5, k % 2) for k in range(40)]
    answer = replay(tmp_path, write(tmp_path / "new.csv", "match,p,y", told), roles, alarm=True)
    assert answer.pending == 0 and not answer.alarms
    assert answer.after.to_dict()["events"] == 40


def test_a_day_without_a_time_of_day_is_known_when_it_is_over(tmp_path):
    days = [f"2026-03-{d:02d}" for d in range(1, 29)]
    rows = [(f"{day} {hour:02d}:00:00", 0.4, (d + hour) % 2, day)
            for d, day in enumerate(days) for hour in (8, 20)]  # fmt: skip
    log = write(tmp_path / "log.csv", "at,p,y,known", rows)
    roles = {"y": ["y"], "p": ["p"], "time": "at", "resolved": "known"}
    replay_file(log, roles, ReplaySettings(), out=tmp_path / "day.csv")
    over = [(at, p, y, f"{day} 23:59:59") for at, p, y, day in rows]
    log = write(tmp_path / "log2.csv", "at,p,y,known", over)
    replay_file(log, roles, ReplaySettings(), out=tmp_path / "end.csv")

    def issued(path):
        return [line.split(",")[4:] for line in path.read_text().splitlines()[1:]]

    assert issued(tmp_path / "day.csv") == issued(tmp_path / "end.csv")


def test_a_row_above_the_largest_weight_is_refused_at_once(tmp_path):
    roles = {"y": ["y"], "p": ["p"], "sample_weight": "w"}
    rows = [(0.5, k % 2, 1) for k in range(20)]
    log = write(tmp_path / "log.csv", "p,y,w", rows)
    replay(tmp_path, log, roles)
    write(log, "p,y,w", [*rows, (0.5, 1, 3)])
    with pytest.raises(ValueError, match="weight must be at most 1, .* got 3 in row 21"):
        replay(tmp_path, log, roles)
    (tmp_path / "state.json").unlink()
    write(log, "p,y,w", rows)
    replay(tmp_path, log, roles, max_weight=4)
    write(log, "p,y,w", [*rows, (0.5, 1, 3)])
    assert replay(tmp_path, log, roles, max_weight=4).answered == 1
