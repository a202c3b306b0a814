"""How near adversaries come to the guarantees: two forecasters agree, and no bound is exceeded."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import fullswap as fs
from studies import duels, tightness, trees

FEEDBACK = ("realised", "distribution")


@pytest.mark.parametrize("feedback", FEEDBACK)
@pytest.mark.parametrize("setting", tightness.SETTINGS, ids=lambda setting: setting.name)
def test_the_library_plays_as_the_second_forecaster_does(setting, feedback):
    rng = np.random.default_rng(0)
    for seed in range(4):
        forecaster = setting.forecaster(feedback, 600, seed)
        rules = duels.Rules.of(forecaster, 600, setting.weighted, setting.late, setting.shared)
        played = duels.duel(rules, duels.random_adversary(rng), 600, seed)
        library = tightness.replayed(setting, feedback, played, seed)
        assert tightness.measured_by_the_library(library) == pytest.approx(played.error)
        assert played.error <= library.guarantee  # far below: no luck is needed


def test_the_error_is_that_of_the_record():
    forecaster = fs.Forecaster(500, seed=3)
    played = duels.duel(duels.Rules.of(forecaster, 500), duels.Adversary(), 500, 3)
    record = forecaster.run(played.outcomes)
    slow = 0.0
    for point in np.unique(record.issued):
        happened = played.outcomes[record.issued == point]
        slow += len(happened) * (point - happened.mean()) ** 2
    assert played.error == pytest.approx(slow)


@pytest.mark.parametrize("kind", duels.KINDS)
def test_every_adversary_repeats_itself_and_plays_zeros_and_ones(kind):
    rules = duels.Rules.of(fs.Forecaster(300), 300)
    first, again = (duels.duel(rules, duels.Adversary(kind), 300, 1) for _ in range(2))
    assert np.array_equal(first.outcomes, again.outcomes)
    assert set(first.outcomes) <= {0.0, 1.0} and first.masses.sum() == 300
    assert first.ones.sum() == first.outcomes.sum()


def test_the_search_keeps_the_best():
    rules = duels.Rules.of(fs.Forecaster(400), 400)
    budget = tightness.Budget(tries=30, seeds=2, reported=2)
    rng = np.random.default_rng(0)
    best = tightness.worst(rules, 400, budget, [], rng)
    more = range(2, 8)  # the leaders play once more with other seeds
    errors = [tightness.error(rules, one, 400, more) for one in best]
    assert errors == sorted(errors, reverse=True) and len(best) == tightness.LEADERS
    usual = [tightness.error(rules, one, 400, range(8)) for one in tightness.STRONG]
    assert tightness.error(rules, best[0], 400, range(8)) >= 0.9 * max(usual)


def brute_force(forecaster, events):
    """The value of the game with the library's own forecaster, copied at every turn."""
    if events == 0:
        return tightness.measured_by_the_library(forecaster)
    values = []
    for outcome in (0.0, 1.0):
        after = forecaster.copy()
        after.update(outcome, after.predict())
        values.append(brute_force(after, events - 1))
    return max(values)


@pytest.mark.parametrize("horizon", [6, None])
def test_the_tree_without_draws_is_all_sequences(horizon):
    make = {"horizon": horizon, "feedback": "distribution", "seed": 0}
    value = trees.largest_error(duels.Rules.of(fs.Forecaster(**make), 6), 6)
    largest = 0.0
    for outcomes in product((0.0, 1.0), repeat=6):
        forecaster = fs.Forecaster(**make)
        forecaster.run(np.array(outcomes), record=False)
        largest = max(largest, tightness.measured_by_the_library(forecaster))
    assert value == pytest.approx(largest)
    assert value == pytest.approx(brute_force(fs.Forecaster(**make), 6))


def test_the_tree_with_draws_averages_over_them():
    # one adversary that does not look at draws, averaged over many: never above the tree's value
    rules = duels.Rules.of(fs.Forecaster(5), 5)
    value = trees.largest_error(rules, 5)
    for outcomes in product((0.0, 1.0), repeat=5):
        errors = []
        for seed in range(60):
            forecaster = fs.Forecaster(5, seed=seed)
            forecaster.run(np.array(outcomes), record=False)
            errors.append(tightness.measured_by_the_library(forecaster))
        assert np.mean(errors) <= value + 4 * np.std(errors) / 60**0.5 + 1e-9


@pytest.mark.parametrize("feedback", FEEDBACK)
@pytest.mark.parametrize("setting", tightness.SETTINGS[:4], ids=lambda setting: setting.name)
def test_no_tree_exceeds_its_guarantee(setting, feedback):
    for events in (1, 2, 3, 5, 8, 10):
        row = tightness.tree_row(setting, feedback, events)
        assert 0 < row["measured"] <= row["guaranteed"]


@pytest.mark.slow
@pytest.mark.parametrize("feedback", FEEDBACK)
@pytest.mark.parametrize("setting", tightness.SETTINGS[:4], ids=lambda setting: setting.name)
def test_no_tree_of_twelve_events_exceeds_its_guarantee(setting, feedback):
    for events in range(1, 13):
        row = tightness.tree_row(setting, feedback, events)
        assert 0 < row["measured"] <= row["guaranteed"]


def test_the_command_writes_its_table(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(tightness, "SETTINGS", tightness.SETTINGS[:2])
    monkeypatch.setattr(tightness, "SIZES", {True: (50, 100)})
    monkeypatch.setattr(tightness, "TREE", 4)
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- tightness: begin -->\n<!-- tightness: end -->\nb\n", encoding="utf-8")
    status = tightness.main(["--quick", "--out", str(tmp_path), "--page", str(page)])
    text = page.read_text(encoding="utf-8")
    assert status == 0 and (tmp_path / "tightness.csv").exists()
    assert "| use | 50 events | 100 events | 4 events, all of them |" in text
    assert "| horizon unknown |" in text and text.startswith("a\n") and text.endswith("b\n")
    assert "horizon known, realised, 50" in capsys.readouterr().err
