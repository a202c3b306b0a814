"""Binary forecasts: the measured error against the guarantee, by slow code, for every mode.

Adversaries see the distribution of each forecast, never the draw. The marked slow tests go on to
a million events (``make verify``).
"""

import itertools
import math

import numpy as np
import pytest
from fullswap.kernels.forecast import forecast_run

from forecasting import (
    NAMES,
    OBLIVIOUS,
    Measured,
    against,
    answer,
    events_of,
    make_adversary,
    measure,
    oblivious_outcomes,
    round_of,
    rounds_of,
)
from fullswap.forecasting import Forecaster

STEPS = (0.25, 0.1, 0.05, 0.02)
LONG = 10**6

every_adversary = pytest.mark.parametrize("name", NAMES)


def check(forecaster, measured):
    """Measured by slow code ≤ after the fact ≤ guaranteed; return measured/guaranteed."""
    certificate = forecaster.certificate()
    assert certificate.measured == pytest.approx(measured, rel=1e-7, abs=1e-7)
    assert certificate.guaranteed <= forecaster.guarantee * (1 + 1e-12)
    if forecaster.horizon is None:
        assert certificate.guaranteed == forecaster.guarantee
    if forecaster.feedback == "distribution":
        assert measured <= certificate.guaranteed * (1 + 1e-9), forecaster.explain()
        assert certificate.holds
        if not forecaster._delay:
            assert measured <= certificate.after_the_fact * (1 + 1e-9) + 1e-9
            assert certificate.after_the_fact <= certificate.guaranteed
    return measured / certificate.guaranteed


def play_and_check(arguments, name, horizon, seed=0, anytime=False):
    """The guarantee at several moments on the way, and at the end; the ratio there."""
    forecaster = Forecaster(None if anytime else horizon, **arguments)
    adversary = make_adversary(name, seed, horizon)
    measured, done, ratio = Measured(), 0, 0.0
    for moment in sorted({1, 2, horizon // 20 + 1, horizon // 3 + 1, horizon}):
        rounds = against(forecaster, adversary, moment - done, done)
        measured.add(events_of(rounds, forecaster.feedback))
        done = moment
        ratio = check(forecaster, measured.of(forecaster))
    assert forecaster.rounds == horizon
    return ratio


def mean_and_check(arguments, name, horizon, seeds, anytime=False):
    """Realised feedback: the guarantee is for the mean over the draws."""
    errors, guarantee = [], math.nan
    for seed in range(seeds):
        settings = dict(arguments, feedback="realised", seed=seed)
        forecaster = Forecaster(None if anytime else horizon, **settings)
        adversary = make_adversary(name, 100 + seed, horizon)
        rounds = played(forecaster, adversary, horizon)
        errors.append(measure(forecaster, rounds))
        check(forecaster, errors[-1])
        guarantee = forecaster.guarantee
    assert np.mean(errors) <= guarantee
    return float(np.mean(errors)) / guarantee


def played(forecaster, adversary, rounds):
    """The rounds of a run where the adversary does not look, of the loop where it does."""
    if adversary.name in OBLIVIOUS:
        outcomes = oblivious_outcomes(adversary, rounds)
        yield from rounds_of(forecaster.run(outcomes), outcomes)
        return
    for start in range(0, rounds, 1000):  # a million at once would fill the memory
        yield from against(forecaster, adversary, min(1000, rounds - start), start)


# --- the numbers themselves ------------------------------------------------------------------


def regret_sum(x):
    return min(x, 1.0) + math.log(max(x, 1.0))


@pytest.mark.parametrize(
    ("horizon", "cells", "bound"),
    [(10**3, 5, 46.7), (10**4, 9, 109.9), (10**5, 18, 259.0), (10**6, 37, 607.4)],
)
def test_the_guarantee_is_the_tuned_formula(horizon, cells, bound):
    forecaster = Forecaster(horizon)
    assert len(forecaster.run([]).points) == cells + 1
    formula = horizon / (4 * cells**2) + (cells + 1) * regret_sum(horizon / (cells + 1))
    assert forecaster.guarantee == pytest.approx(formula) == pytest.approx(bound, abs=0.05)
    forecaster.run(np.zeros(horizon + 50), record=False)
    longer = horizon + 50
    formula = longer / (4 * cells**2) + (cells + 1) * regret_sum(longer / (cells + 1))
    assert forecaster.guarantee == pytest.approx(formula), "beyond the horizon, for these events"


@pytest.mark.parametrize("late", [0, 6])
def test_the_guarantee_without_horizon_adds_up_the_grids(late):
    """Each event counts with the grid on which it was forecast, also when its outcome is late."""
    forecaster = Forecaster(feedback="distribution")
    sizes, waiting = [], []
    for y in np.tile([1, 0, 0, 1, 1], 1000):
        waiting.append((forecaster.predict(), y, len(forecaster._points)))
        while len(waiting) > late:
            forecast, outcome, size = waiting.pop(0)
            forecaster.update(outcome, forecast)
            sizes.append(size)
    rounds, n = len(sizes), len(forecaster._points)
    formula = sum(1 / (4 * (size - 1) ** 2) for size in sizes) + n * regret_sum(rounds / n)
    if late:
        assert forecaster._delay == late
        formula += n * (2 + late + 2 * late * math.log(rounds / n))
    assert forecaster.guarantee == pytest.approx(formula, rel=1e-9)
    assert sizes == sorted(sizes) and len(set(sizes)) > 3


# --- distributions ---------------------------------------------------------------------------


@every_adversary
@pytest.mark.parametrize("anytime", [False, True], ids=["known horizon", "anytime"])
def test_l2_calibration_error_of_the_distributions(name, anytime, record_property):
    longest = 500 if name == "greedy" else 2000 if anytime else 5000
    ratios = [
        play_and_check({"feedback": "distribution"}, name, horizon, seed, anytime)
        for seed, horizon in enumerate((50, 300, longest))
    ]
    record_property("ratio", float(max(ratios)))


@every_adversary
@pytest.mark.parametrize("anytime", [False, True], ids=["known horizon", "anytime"])
def test_the_paper_s_own_rule(name, anytime, record_property):
    arguments = {"feedback": "distribution", "rule": "stationary"}
    ratios = [play_and_check(arguments, name, horizon, 1, anytime) for horizon in (50, 300)]
    record_property("ratio", float(max(ratios)))


@every_adversary
@pytest.mark.parametrize("anytime", [False, True], ids=["known horizon", "anytime"])
def test_kl_calibration_error_of_the_distributions(name, anytime, record_property):
    arguments = {"feedback": "distribution", "loss": "log"}
    ratios = [play_and_check(arguments, name, horizon, 2, anytime) for horizon in (50, 600)]
    record_property("ratio", float(max(ratios)))


@pytest.mark.theorem("discretised")
@every_adversary
@pytest.mark.parametrize("step", STEPS)
def test_swap_regret_among_multiples_of_the_step(name, step, record_property):
    arguments = {"feedback": "distribution", "step": step}
    ratios = [play_and_check(arguments, name, 300, 3, anytime) for anytime in (False, True)]
    if name in OBLIVIOUS and step == 0.25:  # long enough for the nearly strongly convex rates
        for horizon in (100_000, None):
            forecaster = Forecaster(horizon, **arguments)
            rounds = played(forecaster, make_adversary(name, 4, 10_000), 10_000)
            ratios.append(check(forecaster, measure(forecaster, rounds)))
            assert forecaster.plan.row == "discretised"
    record_property("ratio", float(max(ratios)))


def test_the_paper_s_rule_with_a_step():
    for name, step in zip(NAMES, itertools.cycle(STEPS)):
        arguments = {"feedback": "distribution", "step": step, "rule": "stationary"}
        for anytime in (False, True):
            play_and_check(arguments, name, 120, 5, anytime)


# --- draws -----------------------------------------------------------------------------------


@every_adversary
@pytest.mark.parametrize("anytime", [False, True], ids=["known horizon", "anytime"])
def test_l2_calibration_error_of_the_issued_forecasts(name, anytime, record_property):
    horizon = 60 if name == "greedy" else 150
    record_property("ratio", float(mean_and_check({}, name, horizon, 20, anytime)))


@pytest.mark.parametrize(
    ("name", "anytime"),
    [("midpoint", True), ("mean_aware", False), ("one_bin", True), ("switching", False)],
)
@pytest.mark.parametrize(
    "arguments",
    [*({"step": step} for step in STEPS), {"loss": "log"}, {"rule": "stationary"}],
    ids=str,
)
def test_other_errors_of_the_issued_forecasts(name, anytime, arguments, record_property):
    horizon = 50 if "rule" in arguments else 120
    record_property("ratio", float(mean_and_check(arguments, name, horizon, 20, anytime)))


# --- weights and late outcomes -----------------------------------------------------------------


@pytest.mark.parametrize("arguments", [{}, {"step": 0.1}, {"loss": "log"}], ids=str)
@pytest.mark.parametrize("anytime", [False, True], ids=["known horizon", "anytime"])
def test_weighted_events_are_within_the_scaled_guarantee(arguments, anytime, record_property):
    ratios = []
    for seed, name in enumerate(NAMES):
        rng = np.random.default_rng(seed)
        adversary = make_adversary(name, seed, 200)
        forecaster = Forecaster(
            None if anytime else 200, feedback="distribution", max_weight=3.0, **arguments
        )
        weights = 3.0 * rng.random(200) ** rng.choice([0.0, 1.0, 5.0], 200)
        rounds = against(forecaster, adversary, 200, weights=weights)
        ratios.append(check(forecaster, measure(forecaster, rounds)))
        if not anytime:
            assert forecaster.guarantee == 3.0 * Forecaster(200, **arguments).guarantee
    record_property("ratio", float(max(ratios)))


def late_play(forecaster, adversary, rounds, rng, patience):
    """Outcomes chosen at once and told late, in random order; some are never told."""
    told, waiting = [], []
    for t in range(rounds):
        forecast = forecaster.predict()
        waiting.append((forecast, answer(adversary, forecast, t)))
        while waiting and (len(waiting) > patience or rng.random() < 0.4):
            forecast, outcome = waiting.pop(rng.integers(len(waiting)))
            if rng.random() < 0.05:
                forecaster.drop(forecast)
                continue
            forecaster.update(outcome, forecast)
            told.append(round_of(forecast, outcome))
    return told


@every_adversary
@pytest.mark.parametrize("patience", [1, 20])
def test_late_outcomes_are_within_the_guarantee(name, patience, record_property):
    ratios = []
    for arguments in ({}, {"step": 0.25}, {"step": 0.05}):
        for horizon in (None, 500):
            rng = np.random.default_rng(patience)
            forecaster = Forecaster(horizon, feedback="distribution", **arguments)
            rounds = late_play(forecaster, make_adversary(name, 6, 200), 200, rng, patience)
            assert forecaster._delay > 0
            ratios.append(check(forecaster, measure(forecaster, rounds)))
            assert forecaster.certificate().after_the_fact is None
    record_property("ratio", float(max(ratios)))


@pytest.mark.parametrize("name", ["mean_aware", "drift", "one_bin"])
def test_late_outcomes_of_issued_forecasts(name, record_property):
    errors, guarantees = [], []
    for seed in range(20):
        forecaster = Forecaster(200, seed=seed)
        adversary, rng = make_adversary(name, seed + 50, 200), np.random.default_rng(seed)
        rounds = late_play(forecaster, adversary, 200, rng, 10)
        errors.append(measure(forecaster, rounds))
        check(forecaster, errors[-1])
        guarantees.append(forecaster.guarantee)  # for as many waiting as there were
    assert np.mean(errors) <= min(guarantees)
    record_property("ratio", float(float(np.mean(errors)) / min(guarantees)))


def late_loss(outcomes, scales, delay):
    """Σ g·|ℓ(q when forecast) − ℓ(q when learnt)| of one sub-learner, each outcome so late."""
    means, learnt, total, lost = [], 0.0, 0.0, 0.0
    size = len(outcomes)

    def recommended():
        return learnt / total if total else 0.5

    for t in range(size + delay):
        if t < size:
            means.append(recommended())
        if t >= delay:
            g, y = scales[t - delay], outcomes[t - delay]
            lost += g * abs((means[t - delay] - y) ** 2 - (recommended() - y) ** 2)
            learnt, total = learnt + g * y, total + g
    return lost, total


@pytest.mark.parametrize("delay", [1, 3, 10])
def test_what_late_outcomes_cost_one_sub_learner(delay, record_property):
    """At most B·(2 + b) + L²·b·∫η, found by climbing over outcomes and scales."""
    forecaster = Forecaster(500, feedback="distribution")
    forecaster._delay = delay
    rng = np.random.default_rng(delay)
    best = 0.0
    for size, scale in ((5, 1.0), (40, 1.0), (40, 0.1), (150, 0.5)):
        starts = [rng.integers(0, 2, size), np.arange(size) // (delay + 1) % 2, rng.random(size)]
        for outcomes in starts:
            scales = np.full(size, scale)
            here = 0.0
            for _ in range(150):
                tried, shares = outcomes.astype(float), scales.copy()
                k = rng.integers(size)
                tried[k : k + rng.integers(1, 2 * delay + 2)] = rng.choice([0.0, 1.0])
                shares[k] = rng.choice([scale, 1.0, 0.1])
                lost, total = late_loss(tried, shares, delay)
                allowed = 2 + delay + 2 * delay * math.log(max(total, 1.0))
                assert forecaster._late_cost(total) == pytest.approx(allowed)
                assert lost <= allowed
                if lost / allowed >= here:
                    here, outcomes, scales = lost / allowed, tried, shares
            best = max(best, here)
    assert best > 0.05, "the search makes lateness cost something"
    record_property("ratio", float(best))


def test_what_late_outcomes_cost_every_sub_learner_of_a_forecaster():
    """The same from the forecaster's own rounds, recommendations recomputed from outcomes."""
    forecaster = Forecaster(400, feedback="distribution")
    rng = np.random.default_rng(0)
    sums, waiting, lost = {}, [], {}

    def recommended(s):
        n, ones = sums.get(s, (0.0, 0.0))
        return ones / n if n else s

    for t in range(400):
        forecast = forecaster.predict()
        waiting.append((forecast, {s: recommended(s) for s in forecast.points.tolist()}))
        while len(waiting) > 15 or (waiting and t == 399):
            forecast, then = waiting.pop(rng.integers(len(waiting)))
            y = float(forecast.mean < 0.3 + 0.4 * (t // 50 % 2))
            for s, w in zip(forecast.points.tolist(), forecast.weights.tolist(), strict=True):
                moved = abs((then[s] - y) ** 2 - (recommended(s) - y) ** 2)
                lost[s] = lost.get(s, 0.0) + w * moved
            forecaster.update(y, forecast)
            for s, w in zip(forecast.points.tolist(), forecast.weights.tolist(), strict=True):
                n, ones = sums.get(s, (0.0, 0.0))
                sums[s] = n + w, ones + w * y
    assert forecaster._delay >= 10 and max(lost.values()) > 1
    for s, cost in lost.items():
        assert cost <= forecaster._late_cost(sums[s][0])


# --- searching -------------------------------------------------------------------------------


def replay(horizon, loss="squared"):
    """Outcomes ↦ measured error of the distributions, over fresh states in compiled code."""
    forecaster = Forecaster(horizon, feedback="distribution", loss=loss)
    bank, none, draws = forecaster._bank, np.zeros(0), np.zeros(horizon)
    fresh, hint = bank._state.copy(), bank.start
    nothing = np.zeros((0, 2), np.int32), np.zeros((0, 2)), np.zeros(0, np.int32)
    # the log loss keeps its points as logits
    points = fresh[0] if loss == "squared" else 1 / (1 + np.exp(-fresh[0]))

    def measured(outcomes):
        state = fresh.copy()
        forecast_run(
            state, bank._kind, bank._rate, False, hint, outcomes, none, draws[: len(outcomes)],
            *nothing,
        )  # fmt: skip
        used = state[2] > 0
        n, mean, p = state[2, used], -0.5 * state[5, used] / state[2, used], points[used]
        if loss == "squared":
            return float((n * (p - mean) ** 2).sum())
        mean = np.clip(mean, 1e-300, 1.0)
        zeros = np.where(mean < 1, (1 - mean) * np.log(np.maximum(1 - mean, 1e-300) / (1 - p)), 0)
        return float((n * (mean * np.log(mean / p) + zeros)).sum())

    return forecaster, measured


@pytest.mark.parametrize("horizon", range(1, 11))
@pytest.mark.parametrize("loss", ["squared", "log"])
def test_no_short_sequence_of_bits_beats_the_guarantee(horizon, loss, record_property):
    forecaster, measured = replay(horizon, loss)
    worst = max(
        itertools.product((0.0, 1.0), repeat=horizon), key=lambda bits: measured(np.array(bits))
    )
    result = forecaster.run(np.array(worst))
    ratio = check(forecaster, measure(forecaster, rounds_of(result, worst)))
    assert ratio <= 1
    record_property("ratio", float(ratio))


def climb(horizon, loss, budget, seed):
    """Hill-climb over outcome sequences for the largest measured error; return the worst."""
    rng = np.random.default_rng(seed)
    forecaster, measured = replay(horizon, loss)
    starts = [rng.integers(0, 2, horizon).astype(float)]
    for name in ("mean_aware", "one_bin", "greedy"):
        player = Forecaster(horizon, feedback="distribution", loss=loss)
        starts.append(
            np.array([y for *_, y, _ in against(player, make_adversary(name, seed, 100), horizon)])
        )
    found = []
    for worst in starts:
        best = measured(worst)
        for _ in range(budget):
            tried = worst.copy()
            k, size = rng.integers(horizon), rng.choice([1, 1, 2, 8])
            kind = rng.random()
            if kind < 0.5:
                tried[k : k + size] = 1 - tried[k : k + size]
            elif kind < 0.8:
                tried[k : k + size] = rng.choice([0.0, 0.5, 1.0, rng.random()])
            else:
                other = rng.integers(horizon)
                tried[[k, other]] = tried[[other, k]]
            error = measured(tried)
            if error >= best:
                best, worst = error, tried
        found.append((best, worst))
    return forecaster, max(found, key=lambda pair: pair[0])[1], measured(starts[0])


@pytest.mark.parametrize("horizon", [60, 120, 200])
@pytest.mark.parametrize("loss", ["squared", "log"])
def test_a_searching_adversary_stays_within_the_guarantee(horizon, loss, record_property):
    forecaster, worst, first = climb(horizon, loss, 600, seed=horizon)
    error = measure(forecaster, rounds_of(forecaster.run(worst), worst))
    assert error > first, "the search found something worse than coins"
    record_property("ratio", float(check(forecaster, error)))


# --- long ------------------------------------------------------------------------------------


def long_check(arguments, name, horizon, anytime):
    forecaster = Forecaster(None if anytime else horizon, feedback="distribution", **arguments)
    adversary = make_adversary(name, 9, horizon)
    return check(forecaster, measure(forecaster, played(forecaster, adversary, horizon)))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "greedy"])
@pytest.mark.parametrize("anytime", [False, True], ids=["known horizon", "anytime"])
def test_a_million_events(name, anytime, record_property):
    record_property("ratio", float(long_check({}, name, LONG, anytime)))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "greedy"])
@pytest.mark.parametrize("arguments", [*({"step": s} for s in STEPS), {"loss": "log"}], ids=str)
def test_many_events_of_other_kinds(name, arguments, record_property):
    horizon = LONG // 5 if name in OBLIVIOUS else LONG // 20
    ratios = [long_check(arguments, name, horizon, anytime) for anytime in (False, True)]
    record_property("ratio", float(max(ratios)))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("anytime", [False, True], ids=["known horizon", "anytime"])
def test_a_hundred_thousand_greedy_events(anytime, record_property):
    record_property("ratio", float(long_check({}, "greedy", LONG // 10, anytime)))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", sorted(OBLIVIOUS))
def test_a_million_issued_forecasts(name, record_property):
    record_property("ratio", float(mean_and_check({}, name, LONG, 3)))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@every_adversary
def test_the_paper_s_own_rule_for_long(name, record_property):
    arguments = {"feedback": "distribution", "rule": "stationary"}
    record_property("ratio", float(play_and_check(arguments, name, 20_000, 1)))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("loss", ["squared", "log"])
@pytest.mark.parametrize("horizon", [60, 200, 1000])
def test_a_long_search(horizon, loss, record_property):
    forecaster, worst, _ = climb(horizon, loss, 60_000, seed=1)
    error = measure(forecaster, rounds_of(forecaster.run(worst), worst))
    record_property("ratio", float(check(forecaster, error)))
