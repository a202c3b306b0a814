"""What evidence and monitor promise, counted on many streams.

Bounds are quantiles of the counts that the promise allows at most: what keeps it exactly fails with
a chance below one in a thousand, and with these seeds not at all.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom, poisson

import fullswap as fs
from fullswap.checking.evidence import EvidenceRun, e_bh, evidence_of
from miscalibrated import TABLE, forecasts, sigmoid, stream
from naive.bets import FAMILIES, OURS
from studies.detection import inputs_shift, monitor_alarms

SAFE = 0.999
LEVEL = 0.05
LINE = 1 / LEVEL
"""Evidence that a calibrated forecaster reaches with chance ``LEVEL`` at most, ever."""


def found(evidence):
    """Whether it ever reached the line."""
    return evidence.log10_most >= np.log10(LINE)


def right_stream(rare, events, rng):
    """Outcomes drawn from the forecasts."""
    p = forecasts("rare" if rare else "right", events, rng)
    return (rng.random(events) < p).astype(np.float64), p


def most(runs, chance=LEVEL):
    """Hits that happen or are exceeded once in a thousand times, if each has this chance."""
    return int(binom.ppf(SAFE, runs, chance))


def reacting(events, rng):
    """Right forecasts that go where the last outcomes were: the past decides them."""
    y, p, level = np.empty(events), np.empty(events), 0.0
    for t in range(events):
        p[t] = sigmoid(np.float64(level))
        y[t] = rng.random() < p[t]
        level = 0.98 * level + 1.5 * (y[t] - p[t])
    return y, p


NULLS = {
    "everyday": lambda events, rng: right_stream(False, events, rng),
    "rare": lambda events, rng: right_stream(True, events, rng),
    "reacting": reacting,
}


@pytest.mark.parametrize("null", NULLS)
def test_looking_after_every_event_hardly_ever_finds_what_is_not_there(null):
    runs = 300
    ever = sum(
        found(evidence_of(*NULLS[null](1_500, np.random.default_rng([11, run]))))
        for run in range(runs)
    )
    assert ever <= most(runs)


@pytest.mark.slow
@pytest.mark.parametrize("null", NULLS)
def test_looking_ten_thousand_times_at_a_thousand_streams(null):
    ever = sum(
        found(evidence_of(*NULLS[null](10_000, np.random.default_rng([12, run]))))
        for run in range(1_000)
    )
    assert ever <= most(1_000)


def test_a_model_that_is_wrong_is_found():
    # else nothing above would say anything
    wrong = [stream("slope .6", 1_500, np.random.default_rng([13, run])) for run in range(60)]
    assert sum(found(evidence_of(y, p)) for y, p in wrong) >= 57


def flags(runs, segments, events, seed, wrong=()):
    """For each run: which segments are flagged at one look or more, of ten, and at the last."""
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        y, p = right_stream(False, events, rng)
        own = rng.integers(segments, size=events)
        bad = np.isin(own, wrong)
        y[bad] = rng.random(bad.sum()) < sigmoid(0.5 * np.log(p / (1 - p)))[bad]
        kept, ever = EvidenceRun(segments), np.zeros(segments, bool)
        for part in np.array_split(np.arange(events), 10):
            kept.add(y[part], p[part], stream=own[part])
            now = e_bh([each.log10 for each in kept.result()])
            ever |= now
        yield ever, now


def test_twenty_right_segments_are_hardly_ever_flagged():
    runs = 150
    assert sum(ever.any() for ever, _ in flags(runs, 20, 4_000, 14)) <= most(runs)


@pytest.mark.slow
def test_twenty_right_segments_are_hardly_ever_flagged_in_a_thousand_runs():
    runs = 1_000
    assert sum(ever.any() for ever, _ in flags(runs, 20, 20_000, 15)) <= most(runs)


def test_the_wrong_segment_is_flagged_and_few_others():
    runs = 20
    flagged = np.array([now for _, now in flags(runs, 20, 16_000, 16, wrong=(3,))])
    assert flagged[:, 3].sum() >= 17
    others = np.delete(flagged, 3, axis=1).any(axis=1)
    assert others.sum() <= most(runs, 0.1)  # of two flags one is half: so twice the level


def worst_ratio(name, runs, seed):
    """Lower end of the ratio of medians: ours to the best single family, over redrawn runs."""
    streams = [stream(name, 4_000, np.random.default_rng([seed, run])) for run in range(runs)]
    took = {
        family: np.array([until(y, p, LINE) for y, p in streams], dtype=float)
        for family, until in FAMILIES.items()
    }
    for events in took.values():
        events[events < 0] = 8_000  # later than was watched
    draws = np.random.default_rng(0).integers(runs, size=(1_000, runs))
    medians = {family: np.median(events[draws], axis=1) for family, events in took.items()}
    best = np.min([medians[family] for family in FAMILIES if family != OURS], axis=0)
    return np.quantile(medians[OURS] / best, 1 - SAFE)


@pytest.mark.parametrize("name", TABLE)
def test_no_single_family_is_much_quicker(name):
    assert worst_ratio(name, 40, 17) <= 1.25


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE)
def test_no_single_family_is_a_quarter_quicker(name):
    assert worst_ratio(name, 600, 18) <= 1.25


def alarms_as_inputs_shift(run_length, runs, events, seed):
    """Alarms of monitors of right forecasts whose inputs change half way."""
    return sum(
        len(
            monitor_alarms(
                fs.Monitor(run_length=run_length),
                *inputs_shift(events, events // 2, np.random.default_rng([seed, run])),
            )
        )
        for run in range(runs)
    )


def test_inputs_that_shift_ring_no_more_than_the_run_length_says():
    alarms = alarms_as_inputs_shift(500, 20, 5_000, 19)
    assert 0 < alarms <= poisson.ppf(SAFE, 20 * 5_000 / 500)


@pytest.mark.slow
def test_inputs_that_shift_ring_no_more_than_the_run_length_says_in_long_runs():
    assert alarms_as_inputs_shift(10_000, 100, 50_000, 20) <= poisson.ppf(SAFE, 500)
    assert alarms_as_inputs_shift(100_000, 100, 20_000, 21) <= poisson.ppf(SAFE, 20)


def game_log(events, each, rng):
    """Games decided by the sign of a random walk; forecasts on the way, given where it stands.

    Each is right: at time t the chance of ending above 0 is Φ(W_t/√(1 − t)). Games come one after
    another, at different strengths at the start.
    """
    times = np.arange(each) / each
    steps = rng.standard_normal((events, each)) / np.sqrt(each)
    start = 0.5 * rng.standard_normal(events)
    walk = start[:, None] + np.cumsum(steps, axis=1)
    before = np.column_stack((start, walk[:, :-1]))
    p = ndtr(before / np.sqrt(1 - times))
    y = np.repeat((walk[:, -1] > 0).astype(float), each)
    return y, p.ravel(), np.repeat(np.arange(events), each)


def test_forecasts_of_one_event_count_once():
    runs = 200
    told = naive = 0
    for run in range(runs):
        y, p, event = game_log(100, 10, np.random.default_rng([22, run]))
        told += found(evidence_of(y, p, event=event))
        naive += found(evidence_of(y, p))
    assert told <= most(runs)
    assert naive > runs / 2  # so these logs are hard for whoever is not told
