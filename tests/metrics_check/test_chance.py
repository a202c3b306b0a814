"""Errors by chance against all possible records, and the promise of the 95 % value."""

import numpy as np
import pytest

from fullswap.metrics import Cells, bins_of, chance_of
from fullswap.metrics import chance as module
from fullswap.metrics.chance import drawn_sums, flipped_gaps
from metrics_check.cases import logistic
from naive.statistics import all_errors, walks


@pytest.mark.parametrize("weights", [None, [1, 3, 0.5, 1, 2, 1, 1, 0.2, 1]])
def test_all_possible_records(weights):
    p = np.array([0.05, 0.2, 0.35, 0.3, 0.5, 0.6, 0.8, 0.9, 1.0])
    y = np.array([1.0, 0, 1, 0, 1, 0, 1, 1, 1])
    w = np.ones(9) if weights is None else np.array(weights)
    cells = Cells.of_events(y, p, None if weights is None else w)
    bins = bins_of(cells, 3)
    parts = [list(cells.forecast[bins.place == g]) for g in range(len(bins))]
    records = all_errors(p, w, parts)
    chance = chance_of(cells, bins, draws=20_000, seed=3)
    level = sum(q for q, error in records if error >= bins.error - 1e-12)
    assert chance.level == pytest.approx(level, abs=0.015)
    for value, share in ((chance.median, 0.5), (chance.high, 0.95)):
        below = sum(q for q, error in records if error < value - 1e-9)
        upto = sum(q for q, error in records if error <= value + 1e-9)
        assert below - 0.015 <= share <= upto + 0.015


def test_ties_of_equal_weights_are_drawn_exactly_and_seeds_repeat():
    y, p = np.tile([1.0, 0.0, 0.0], 20), np.repeat([0.2, 0.5, 0.5], 20)
    plain = Cells.of_events(y, p)
    heavy = Cells.of_events(y, p, np.full(60, 0.25))
    bins = bins_of(plain, 2)
    one = chance_of(plain, bins, seed=1)
    two = chance_of(heavy, bins_of(heavy, 2), seed=1)
    assert (two.median, two.high, two.level) == pytest.approx((one.median, one.high, one.level))
    assert one == chance_of(plain, bins, seed=1) != chance_of(plain, bins, seed=2)
    assert one.draws == 1000
    certain = Cells.of_events(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    nothing = chance_of(certain, bins_of(certain))
    assert (nothing.median, nothing.high, nothing.level) == (0, 0, 1)


@pytest.mark.parametrize("kind", ["single", "weighted", "tied", "folded"])
def test_drawn_sums_have_the_right_means_and_variances(kind):
    rng = np.random.default_rng(8)
    y, p = logistic(300, 6)
    p = np.round(p, 1) if kind in ("weighted", "tied") else p
    w = rng.exponential(size=300) + 0.1 if kind == "weighted" else None
    cells = Cells.of_events(y, p, w)
    cells = cells.folded(12) if kind == "folded" else cells
    sums = drawn_sums(cells, 20_000, rng)
    assert sums.shape == (len(cells), 20_000)
    variance = cells.squares * cells.forecast * (1 - cells.forecast)
    off = np.abs(sums.mean(axis=1) - cells.weight * cells.forecast)
    assert np.all(off <= 4.5 * np.sqrt(variance / 20_000) + 1e-12)
    np.testing.assert_allclose(sums.var(axis=1), variance, rtol=0.12)


def coupled(p, w, event, place):
    """Covariances of Σ w·y of parts if rows of an event are yes below one uniform number."""
    size = max(place) + 1
    table = np.zeros((size, size))
    for i in range(len(p)):
        for j in range(len(p)):
            if event[i] == event[j]:
                joint = min(p[i], p[j]) - p[i] * p[j]
                table[place[i], place[j]] += w[i] * w[j] * joint
    return table


def flipped(p, w, event, place):
    """Covariances of sums of deviations with one sign for an event."""
    table = np.zeros((max(event) + 1, max(place) + 1))
    for q, weight, e, k in zip(p, w, event, place, strict=True):
        table[e, k] += weight * np.sqrt(q * (1 - q))
    return table.T @ table


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("way", ["exact", "grouped"])
def test_shared_outcomes_have_the_covariances_of_their_events(way, weighted, monkeypatch):
    rng = np.random.default_rng(5)
    events = 30 if way == "exact" else 2500
    y, p, event = walks(events, 4, rng)
    p = np.round(5 * p) / 5
    w = rng.random(len(p)) + 0.2 if weighted else np.ones(len(p))
    cells = Cells.of_events(y, p, w if weighted else None, event)
    place = np.rint(5 * p).astype(int)
    assert len(cells) == 6
    if way == "grouped":
        monkeypatch.setattr(module, "EXACT_ROWS", 0)
        monkeypatch.setattr(module, "RECORDS", 40)
    table, mean = np.zeros((6, 6)), cells.weight * cells.forecast
    for e in range(events):
        own = event == e
        table += np.pad(coupled(p[own], w[own], event[own], place[own]), (0, 6))[:6, :6]
    sums = drawn_sums(cells, 20_000, np.random.default_rng(6))
    scale = np.sqrt(np.outer(np.diag(table), np.diag(table))).max()
    np.testing.assert_allclose(sums.mean(axis=1), mean, atol=5 * np.sqrt(scale / 20_000))
    np.testing.assert_allclose(np.cov(sums), table, atol=0.06 * scale)
    gaps = flipped_gaps(cells, np.arange(6), 20_000, np.random.default_rng(7))
    table = flipped(p, w, event, place)
    scale = np.diag(table).max()
    np.testing.assert_allclose(np.cov(gaps), table, atol=(0.04 if way == "exact" else 0.1) * scale)
    joined = flipped_gaps(cells, np.array([0, 0, 0, 1, 1, 1]), 20_000, np.random.default_rng(7))
    np.testing.assert_allclose(joined, np.add.reduceat(gaps, [0, 3], axis=0), atol=1e-9)


def below_high(records, runs, draws=200, **options):
    """Share of runs with an error up to the 95 % value."""
    below = 0
    for run in range(runs):
        cells = records(np.random.default_rng(run), **options)
        bins = bins_of(cells)
        below += bins.error <= chance_of(cells, bins, draws, seed=run).high * (1 + 1e-9)
    return below / runs


def independent(rng, n, kind):
    p = rng.beta(0.3, 6, n) if kind == "rare" else 1 / (1 + np.exp(-1.5 * rng.standard_normal(n)))
    p = np.round(20 * p) / 20 if kind == "rounded" else p
    w = rng.exponential(size=n) + 0.05 if kind == "weighted" else None
    return Cells.of_events((rng.random(n) < p).astype(float), p, w)


def log(rng, events, steps, start=0.0):
    y, p, event = walks(events, steps, rng, start)
    return Cells.of_events(y, p, event=event)


@pytest.mark.parametrize("kind", ["even", "rare", "rounded", "weighted"])
@pytest.mark.parametrize("n, runs", [(50, 400), (200, 300), (2000, 100)])
def test_calibrated_records_stay_below_their_95_percent_value(kind, n, runs):
    # four standard errors of a share of 95 %; ties may raise it
    slack = 4 * np.sqrt(0.05 * 0.95 / runs)
    share = below_high(independent, runs, n=n, kind=kind)
    assert 0.95 - slack <= share <= min(0.95 + slack, 1) or (kind == "rounded" and share > 0.9)


@pytest.mark.parametrize("events, steps, start", [(50, 10, 0.0), (200, 10, 0.0), (200, 10, -1.0)])
def test_calibrated_logs_stay_below_their_95_percent_value(events, steps, start):
    shared = below_high(log, 200, events=events, steps=steps, start=start)
    assert 0.9 <= shared <= 0.995


def test_rows_taken_for_events_would_not():
    def careless(rng):
        y, p, _ = walks(200, 10, rng)
        return Cells.of_events(y, p)

    assert below_high(careless, 60) < 0.7
