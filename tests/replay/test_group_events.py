"""Groups of a replayed log whose events have several forecasts each: every event counts once."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fullswap import Recalibrator
from fullswap.certificates import Certificate
from fullswap.certificates.by_group import high_together
from fullswap.certificates.quantities import Quantity
from fullswap.replay import ReplaySettings, replay_file
from fullswap.replay.group_bins import GroupBins, Numbered

ROLES = {"y": ["won"], "p": ["p"], "groups": ["league"], "event": ["match"]}


def matches(path, events, rows, seed=0, shift=0.0, start=0, blank=()):
    """Matches of 8 leagues with so many equal forecasts each, right but for ``shift``."""
    rng = np.random.default_rng(seed)
    lines = ["match,league,p,won"]
    for k in range(events):
        p, u, league = 0.1 + 0.8 * rng.random(), rng.random(), rng.integers(8)
        won = "" if k in blank else int(u < p + shift)
        lines += [f"m{k},L{league},{p:.4f},{won}"] * rows
    path.write_text("\n".join([lines[0], *lines[1 + start :]]) + "\n")
    return path


def row_of(found, name):
    return next(row for row in found.groups.rows if row.name == name)


def test_a_right_model_is_not_blamed_where_forecasts_share_their_outcome(tmp_path):
    for seed in range(4):
        path = matches(tmp_path / "log.csv", 400, 10, seed)
        found = replay_file(path, ROLES, ReplaySettings())
        assert "None of 8 groups was clearly off" in found.sentence
        everybody, certificate = row_of(found, "everybody"), found.certificate
        assert everybody.rounds == 4000 and everybody.events == certificate.events == 400
        assert everybody.mass == pytest.approx(certificate.mass)
        # in bins of 1/64, some of which hold two of the values that are issued
        assert everybody.points_noise == pytest.approx(certificate.points_noise, rel=0.01)


def test_a_wrong_model_is_found_where_forecasts_share_their_outcome(tmp_path):
    path = matches(tmp_path / "log.csv", 6000, 2, 1, 0.25)
    found = replay_file(path, ROLES, ReplaySettings())
    assert "in 8 of 8 groups" in found.sentence


def test_everybody_shows_what_the_certificate_says_of_chance(tmp_path):
    path = matches(tmp_path / "log.csv", 150, 4)
    found = replay_file(path, ROLES, ReplaySettings(step=0.1))
    everybody = row_of(found, "everybody")
    assert everybody.points == pytest.approx(found.certificate.points)
    # each event says one thing, and every issued value has a bin of its own
    assert everybody.points_noise == pytest.approx(found.certificate.points_noise)
    lines = found.groups.lines()
    assert lines[1].split()[:3] == ["group", "forecasts", "events"]
    assert next(line for line in lines if line.startswith("everybody")).split()[1:3] == [
        "600",
        "150",
    ]


def test_certificates_say_no_less_of_chance_where_forecasts_of_an_event_move(tmp_path):
    rng, path = np.random.default_rng(0), tmp_path / "log.csv"
    rows = [f"m{k},L0,{p:.2f},{k % 2}" for k in range(60) for p in rng.random(6)]
    path.write_text("\n".join(["match,league,p,won", *rows]) + "\n")
    found = replay_file(path, ROLES, ReplaySettings())
    assert 0 < row_of(found, "everybody").points_noise < found.certificate.points_noise
    assert "chance alone would show up to" in str(found.certificate)


@pytest.mark.parametrize("chunk", [7, 100, None])
def test_parts_of_a_log_cut_no_event_in_two(tmp_path, chunk):
    path = matches(tmp_path / "log.csv", 40, 5)
    whole = replay_file(path, ROLES, ReplaySettings()).groups.to_dict()
    cut = replay_file(path, ROLES, ReplaySettings(), chunk=chunk).groups.to_dict()
    assert cut == whole


def test_events_that_waited_count_once_when_their_outcomes_come(tmp_path):
    path, state = tmp_path / "log.csv", tmp_path / "s"
    replay_file(matches(path, 30, 4, blank=(3, 28)), ROLES, ReplaySettings(), state=state)
    found = replay_file(matches(path, 30, 4), ROLES, ReplaySettings(), state=state)
    everybody = row_of(found, "everybody")
    assert (everybody.rounds, everybody.events, everybody.all_rounds) == (8, 2, 120)
    assert everybody.mass == pytest.approx(2)


def test_the_error_over_time_of_keys_counts_events_once(tmp_path):
    path = matches(tmp_path / "log.csv", 300, 6)
    roles = {**ROLES, "groups": [], "key": "league"}
    found = replay_file(path, roles, ReplaySettings(step=0.1))
    assert sum(c.mass for c in found.certificates.values()) == pytest.approx(300)
    # bins of all keys together are those of the eleven values that are issued
    wanted = math.sqrt(sum(p * (1 - p) for p in np.arange(11) / 10) / 300)
    assert found.history.noise[-1] == pytest.approx(wanted, rel=0.2)


def test_equal_forecasts_of_an_event_are_as_one():
    rng = np.random.default_rng(2)
    p, y, w = rng.random(200), (rng.random(200) < 0.4) + 0.0, rng.random(200)
    names = [[f"g{k}"] for k in rng.integers(0, 3, 200)]
    once, often = GroupBins(), GroupBins()
    once.add(y, p, w, Numbered().joined(names))
    numbered, events = Numbered(), np.arange(200).repeat(7)
    several = [name for name in names for _ in range(7)]
    order = rng.permutation(1400)
    for part in np.array_split(order, 5):
        joined = numbered.joined([several[k] for k in part.tolist()])
        often.add(y.repeat(7)[part], p.repeat(7)[part], w.repeat(7)[part], joined, events[part])
    own = ["everybody", *dict.fromkeys(name for (name,) in names)]
    places = [numbered.names.index(name) for name in own]
    errors = often.errors(4)
    for one, place in zip(once.errors(4), places, strict=True):
        more = vars(errors[place])
        assert more["rounds"] == 7 * one.rounds
        assert more == pytest.approx({**vars(one), "rounds": more["rounds"]})
    assert [values[places].tolist() for values in often.outcomes()] == [
        pytest.approx(values.tolist()) for values in once.outcomes()
    ]


def test_right_forecasts_that_move_are_hardly_ever_clearly_off():
    """A game minute by minute: gaps in all bins that an event goes through are alike."""
    rng, wrong, high = np.random.default_rng(6), 0, 0
    for _ in range(150):
        score = rng.normal(size=(150, 30)).cumsum(axis=1)
        left = np.sqrt(np.arange(30, 0, -1.0))
        before = np.concatenate([np.zeros((150, 1)), score[:, :-1]], axis=1)
        p = np.vectorize(lambda z: 0.5 * math.erfc(-z / math.sqrt(2)))(before / left)
        y = (score[:, -1] > 0).repeat(30) + 0.0
        names = [[f"g{k % 3}"] for k in range(150) for _ in range(30)]
        bins = GroupBins()
        bins.add(y, p.ravel(), None, Numbered().joined(names), np.arange(150).repeat(30))
        errors = bins.errors(4)
        wrong += any(error.excess > 1 for error in errors)
        high += errors[0].squares > errors[0].high
    assert wrong <= 3
    assert high <= 15  # about one in twenty


def test_six_events_prove_nothing_however_often_they_are_forecast(tmp_path):
    path = tmp_path / "log.csv"
    rows = [f"m{k},{'ab'[k % 5 == 0]},0.4,{int(k % 5 == 0 or k % 3 == 0)}" for k in range(30)]
    lines = [row for row in rows for _ in range(10)]
    path.write_text("\n".join(["match,league,p,won", *lines]) + "\n")
    found = replay_file(path, ROLES, ReplaySettings())
    assert not any("Is this column known" in note for note in found.notes)


def test_the_certificate_of_a_group_counts_events():
    forecaster = Recalibrator(groups=["a"], seed=0)
    events = np.arange(40).repeat(5)
    p, y = np.full(200, 0.5), (np.arange(40) % 2).repeat(5)
    groups = [["a"] if k < 20 else [] for k in events]
    forecaster.run(p, y, event=events, groups=groups)
    words = str(forecaster.certificate(group="a"))
    assert words.startswith("100 forecasts in group a that make 20 events (every event counts")
    assert "Sums (events × points²" in words
    weighted = Recalibrator(groups=["a"], seed=0)
    weight = np.where(events == 3, 0.5, 1.0)
    weighted.run(p, y, event=events, groups=groups, sample_weight=weight)
    words = str(weighted.certificate(group="a"))
    assert words.startswith("100 forecasts in group a of total weight 19.5")


def test_bars_of_chance_count_events_however_often_they_are_forecast():
    table = np.array([0.1, 0.5]), np.array([4.0, 6.0]), np.array([0.0, 0.5])
    error = Quantity.L2_CALIBRATION_ERROR
    shared = {"mass": 10.0, "noise": 0.34, "table": table}
    plain = Certificate(error, 10, 0.3, None, None, "x", **shared)
    often = Certificate(error, 40, 0.3, None, None, "x", once=True, group="a", **shared)
    named = Certificate(error, 40, 0.3, None, None, "x", events=10, **shared)
    assert high_together([often]) == high_together([named]) == high_together([plain])
