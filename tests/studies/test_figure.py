"""The paper's figure: three approaches, their guarantees, and the study."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from whole import kept

from fullswap.adversaries import meet
from fullswap.losses import Quadratic
from fullswap.metrics import discretised_swap_regret
from fullswap.play import simulate
from fullswap.template import FullSwapLearner
from studies import figure
from studies.adversaries import ADVERSARIES
from studies.approaches import (
    APPROACHES,
    LINE,
    PAPER,
    PROVED,
    SQUARED,
    by_discretised,
    by_rounding,
    by_weights,
    discretised_plan,
    fine_plan,
    forecasts,
    multiples,
    nearest_multiple,
    rounding_guarantees,
)
from studies.searching import search

chances = st.floats(0.0, 1.0)
TWO = (Quadratic([0.0]), Quadratic([1.0]))


# --- What rounding costs -------------------------------------------------------------------------


@given(forecast=chances, mean=chances, steps=st.integers(1, 60))
def test_a_swap_of_a_rounded_forecast_gains_little(forecast, mean, steps):
    rounded = nearest_multiple(np.array([forecast]), steps)[0] / steps
    gain = (rounded - mean) ** 2 - np.square(multiples(steps) - mean).min()
    error, step = abs(forecast - mean), 1 / steps
    assert gain <= error**2 + 2 * step * error + 1e-12
    assert gain <= (step / 2 + error) ** 2 + 1e-12


@given(
    rows=st.lists(st.tuples(chances, chances, st.floats(0.01, 100.0)), min_size=1, max_size=12),
    steps=st.integers(1, 20),
)
def test_rounding_guarantees_cover_any_forecasts(rows, steps):
    points, means, weights = np.array(rows).T
    calibration, rounds = float(weights @ (points - means) ** 2), float(weights.sum())
    rounded = nearest_multiple(points, steps) / steps
    regret = discretised_swap_regret(means, rounded, 1 / steps, sample_weight=weights)
    assert regret <= min(rounding_guarantees(calibration, 1 / steps, rounds)) * (1 + 1e-9) + 1e-9


def test_the_first_form_is_attained_up_to_the_calibration_error():
    # forecasts just above ½ of outcomes just below it, rounded to 0 and 1: all gain is 2εe
    error, rounds = 0.001, 1e4
    regret = discretised_swap_regret([0.5 - error], [1.0], 1.0, sample_weight=[rounds])
    first, second = rounding_guarantees(rounds * error**2, 1.0, rounds)
    assert regret == pytest.approx(2 * rounds * error)
    assert regret == pytest.approx(first, rel=0.01) and second > 100 * first


# --- Approaches ----------------------------------------------------------------------------------


@pytest.mark.parametrize("approach", APPROACHES)
@pytest.mark.parametrize("steps", [1, 3, 9])
def test_every_run_is_within_its_guarantee(approach, steps):
    horizon = 150
    for adversary in figure.aimed(steps, horizon, seed=1):
        learner = APPROACHES[approach](steps, horizon)
        meet(learner, adversary, learner.horizon)
        told = learner.certificate()
        assert 0 <= told.measured <= told.guaranteed and told.rounds == horizon
        weights, sums = learner.tally.weights, learner.tally.sums
        met = weights > 0
        means = np.clip(-sums[met, 1] / (2 * weights[met]), 0, 1)
        regret = discretised_swap_regret(
            means, learner.points[met, 0], 1 / steps, sample_weight=weights[met]
        )
        assert told.measured == pytest.approx(regret, abs=1e-9)
        assert weights.sum() == pytest.approx(horizon)


def test_weights_guarantee_has_loss_range_one():
    learner = by_weights(steps=3, horizon=10_000)
    assert learner.guarantee == pytest.approx(math.sqrt(1e4 * 4 * math.log(4) / 2), rel=1e-3)
    assert by_weights(steps=20, horizon=20).guarantee == 20


@pytest.mark.parametrize("steps", [4, 11])
def test_discretised_plays_as_the_learner_of_the_library(steps):
    horizon = 200
    made = discretised_plan(steps, horizon)
    assert made.row == ("discretised" if steps == 4 else "strongly convex and smooth")
    ours = by_discretised(steps, horizon)
    theirs = FullSwapLearner(LINE, SQUARED, horizon, row=made.row, actions=multiples(steps))
    assert ours.guarantee == theirs.guarantee
    for outcome in np.random.default_rng(2).integers(0, 2, horizon):
        mine, other = ours.play(), theirs.play()
        np.testing.assert_allclose(mine.points, other.points)
        np.testing.assert_allclose(mine.weights, other.weights)
        ours.observe(TWO[outcome])
        theirs.observe(TWO[outcome])
    assert ours.certificate().measured == pytest.approx(theirs.certificate().measured)


def test_rounding_merges_forecasts_that_become_equal():
    horizon, steps = 2_000, 2
    learner = by_rounding(steps, horizon)
    fine = FullSwapLearner(LINE, SQUARED, horizon, row=fine_plan(horizon).row)
    merged = 0
    for outcome in np.random.default_rng(0).random(300) < 0.52:
        mine, other = learner.play(), fine.play()
        expected = np.zeros(steps + 1)
        np.add.at(expected, nearest_multiple(other.points[:, 0], steps), other.weights)
        assert len(set(mine.indices)) == len(mine.indices)
        np.testing.assert_allclose(expected[mine.indices], mine.weights)
        np.testing.assert_allclose(mine.points[:, 0], mine.indices / steps)
        merged += len(mine.indices) < len(other.weights)
        learner.observe(TWO[int(outcome)])
        fine.observe(TWO[int(outcome)])
    assert merged > 100


def test_the_driver_can_play_an_approach():
    learner = by_weights(steps=2, horizon=50)
    played = simulate(learner, ADVERSARIES["one_bin"](LINE, SQUARED), 50)
    assert len(played) == 50 and learner.rounds == 50


@pytest.mark.parametrize("approach", ["weights", "rounding", "discretised"])
def test_forecasts_of_a_whole_run_equal_those_of_the_loop(approach):
    horizon, steps = 400, 4
    outcomes = (np.random.default_rng(5).random(horizon) < 0.6).astype(float)
    points, weights, means = forecasts(approach, steps, outcomes)
    learner = APPROACHES[approach](steps, horizon)
    for outcome in outcomes:
        learner.observe(TWO[int(outcome)])
    mass, ones = np.zeros(steps + 1), np.zeros(steps + 1)
    np.add.at(mass, nearest_multiple(points, steps), weights)
    np.add.at(ones, nearest_multiple(points, steps), weights * means)
    np.testing.assert_allclose(mass, learner.tally.weights, atol=1e-9)
    np.testing.assert_allclose(ones, -learner.tally.sums[:, 1] / 2, atol=1e-9)


# --- Adversaries ---------------------------------------------------------------------------------


def test_hard_chance_is_where_rounding_costs_most():
    horizon, steps = 3_000, 1
    chance = figure.hard_chance(steps, horizon)
    fine = fine_plan(horizon).grid_at(0).points[:, 0]

    def cost(c):
        above = min(max(int(np.searchsorted(fine, c)), 1), len(fine) - 1)
        low, high = fine[above - 1], fine[above]
        shares = ((high - c) / (high - low), low), ((c - low) / (high - low), high)
        best = min((x - c) ** 2 for x in multiples(steps))
        return sum(share * ((round(s * steps) / steps - c) ** 2 - best) for share, s in shares)

    assert cost(chance) == pytest.approx(max(cost(c) for c in np.arange(1, 1000) / 1000))
    learner = by_rounding(steps, horizon)
    meet(learner, ADVERSARIES["scripted"](LINE, SQUARED, chances=(chance,)), horizon)
    assert learner.certificate().measured > 0.5 * horizon * cost(chance) > 100


@pytest.mark.parametrize("steps", [1, 7, 2_000])
def test_aimed_adversaries_fit_any_step(steps):
    assert len(list(figure.aimed(steps, 50, 0))) == 5


def test_settings_are_carried_over_within_what_is_allowed():
    long = figure.carry_over("drift", {"period": 900_000_000, "mesh": 0.002}, 10, 0.1)
    assert long == {"period": 10**9, "mesh": 0.001}
    assert figure.carry_over("one_bin", {"middle": 0.5, "seed": 1}, 10, 0.1) == {
        "middle": 0.5,
        "seed": 1,
    }


def test_the_search_is_repeated_at_its_own_horizon():
    rows = figure.face_adversaries("rounding", 60, 0.25, False, 60, 6, seed=3)
    steps = figure.steps_at(60, 0.25)
    found = search(lambda: by_rounding(steps, 60), LINE, SQUARED, 60, 6, 3)
    assert rows[-1]["found_by"] == "search" and rows[-1]["adversary"] == found.adversary
    assert rows[-1]["measured"] == pytest.approx(found.measured)
    assert rows == figure.face_adversaries("rounding", 60, 0.25, False, 60, 6, seed=3)


def test_outcomes_are_told_apart():
    rows = figure.face_adversaries("discretised", 40, 0.3, True, 40, 2, seed=0)
    told = {row["adversary"]: row["outcomes"] for row in rows}
    assert told["one_bin"] == "0 or 1" and told["blocks"] == "in [0, 1]"
    assert len(rows) == 5 + len(ADVERSARIES) + 1


# --- The study -----------------------------------------------------------------------------------


@pytest.mark.parametrize("quick", [True, False])
def test_jobs_cover_the_figure(quick):
    made = figure.jobs(quick, seed=7)
    assert len({job.name for job in made}) == len(made)
    faced = [job.arguments for job in made if job.measure is figure.face_adversaries]
    horizons = figure.QUICK_HORIZONS if quick else figure.FULL_HORIZONS
    for a in (0, 1 / 5, 1 / 4, 1 / 3, 0.45):
        cases = [job for job in faced if abs(job["exponent"] - a) < 1e-5]
        assert {(job["approach"], job["horizon"]) for job in cases} == {
            (approach, horizon) for approach in APPROACHES for horizon in horizons
        }
    for horizon in horizons:
        steps = {figure.steps_at(horizon, job["exponent"]) for job in faced}
        assert len(steps) == len({job["exponent"] for job in faced})
    assert all(job.arguments["seed"] == 7 and job.cost > 0 for job in made)
    tossed = [job.arguments for job in made if job.measure is figure.toss_coins]
    assert {job["approach"] for job in tossed} == {*APPROACHES, "unrounded"}
    assert sum(job.cost for job in made) < (60 if quick else 1_700)


@pytest.mark.parametrize("approach", figure.MIDPOINT_APPROACHES)
def test_no_forecaster_keeps_the_papers_error_small(approach):
    steps, horizon = 4, 4_000
    rows = figure.toss_coins(approach, steps, horizon, repeats=3, seed=0)
    error = np.mean([row["calibration"] for row in rows])
    regret = np.mean([row["regret"] for row in rows])
    assert rows[0]["chance"] == 0.625
    assert 0.15 < error / (horizon / steps**2) < 1.5
    assert regret < error / 3


@pytest.fixture(scope="module")
def rows():
    """A study in small: two horizons for the adversaries, four for the coins."""
    found = []
    for approach in APPROACHES:
        for horizon in (40, 120):
            for exponent in (0.0, 0.333333):
                job = figure.Job(
                    figure.face_adversaries,
                    {"approach": approach, "horizon": horizon, "exponent": exponent,
                     "everyone": horizon == 40, "found_at": 40, "budget": 3, "seed": 0},
                )  # fmt: skip
                found += [{**job.arguments, **row} for row in job.measure(**job.arguments)]
    for approach in figure.MIDPOINT_APPROACHES:
        for horizon in (50, 100, 200, 400):
            asked = {"approach": approach, "steps": 4, "horizon": horizon, "repeats": 2, "seed": 0}
            found += [{**asked, **row} for row in figure.toss_coins(**asked)]
    return found


def test_summary_is_plain_and_survives_the_journal(rows):
    told = figure.summarise(rows)
    again = kept([{k: v for k, v in row.items() if v is not None} for row in rows])
    assert figure.summarise(again) == told
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_summary_keeps_the_worst_run(rows):
    told = figure.summarise(rows)
    assert told["horizons"] == [40, 120] and told["exceeded"] == 0
    assert told["without_catalogue"] == [120]
    assert len(told["worst"]) == 12 and len(told["growth"]) == 6
    for worst in told["worst"]:
        runs = [
            row["measured"]
            for row in rows
            if all(row.get(k) == worst[k] for k in ("approach", "horizon", "exponent"))
        ]
        assert worst["measured"] == pytest.approx(max(runs), rel=1e-5)
    coins = told["midpoint"][0]
    assert coins["horizons"] == [50, 100, 200, 400]
    tossed = [row["regret"] for row in rows if row["approach"] == "weights" and "chance" in row]
    assert coins["regret"][0] == pytest.approx(np.mean(tossed[:2]), rel=1e-5)


def test_growth_is_of_adversaries_that_played_at_every_horizon(rows):
    def told(changed):
        return figure.summarise(changed)["growth"][0]

    def worst(horizon):
        return max(
            row["measured"]
            for row in rows
            if (row["approach"], row["horizon"]) == ("weights", horizon)
            and row.get("exponent") == 0.0
            and row["found_by"] != "catalogue"
        )

    slope = math.log(worst(120) / worst(40)) / math.log(3)
    first = told(rows)
    assert first["measured"] == [pytest.approx(slope, rel=1e-5)]
    assert (first["approach"], first["paper"], first["proved"]) == ("weights", 0.5, 0.5)
    louder = [
        {**row, "measured": 1e3} if row.get("found_by") == "catalogue" else row for row in rows
    ]
    assert told(louder) == first
    rounding = [line for line in figure.summarise(rows)["growth"] if line["approach"] == "rounding"]
    assert [line["paper"] for line in rounding] == [1.0, pytest.approx(1 / 3, abs=1e-5)]
    assert [line["proved"] for line in rounding] == pytest.approx([2 / 3, 1 / 3], abs=1e-5)


def test_slopes_have_intervals_from_four_horizons_on(rows):
    coins = [row for row in rows if row["experiment"] == "midpoint"]
    met = [row for row in rows if row["experiment"] == "adversaries"]
    many = figure.summarise(rows)["midpoint"][0]
    slope, low, high = many["calibration_exponent"]
    fitted = np.polyfit(np.log(many["horizons"]), np.log(many["calibration"]), 1)[0]
    assert low < slope < high and slope == pytest.approx(fitted, rel=1e-4)
    few = figure.summarise(met + [row for row in coins if row["horizon"] < 400])["midpoint"][0]
    rise = few["regret"][2] / few["regret"][0]
    assert few["regret_exponent"] == [pytest.approx(math.log(rise) / math.log(4), rel=1e-4)]


def test_a_broken_guarantee_is_counted(rows):
    met = [row for row in rows if row["experiment"] == "adversaries"]
    worse = [{**met[0], "measured": 2 * met[0]["guaranteed"]}]
    told = figure.summarise(worse + rows)
    assert told["exceeded"] == 1


def test_the_papers_curves_meet_where_its_figure_says():
    assert PAPER["weights"](0) == PAPER["discretised"](0) == 0.5
    assert PAPER["rounding"](1 / 3) == pytest.approx(PAPER["discretised"](1 / 3))
    assert PAPER["rounding"](1 / 5) == pytest.approx(PAPER["weights"](1 / 5)) == 0.6
    assert PAPER["rounding"](1 / 4) == pytest.approx(1 / 2)


@given(a=st.floats(0.0, 1.0))
def test_what_is_proved_is_never_above_the_paper(a):
    assert all(PROVED[name](a) <= PAPER[name](a) + 1e-12 for name in APPROACHES)
    assert PROVED["rounding"](1 / 6) == pytest.approx(1 / 2)
