"""Certificates as numbers and in words, for somebody who never heard of regret."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from fullswap import (
    Certificate,
    Forecaster,
    FullSwapLearner,
    LossClass,
    MulticlassForecaster,
    Recalibrator,
)
from fullswap.certificates import Quantity, Subject
from fullswap.sets import Interval

TABLE = np.array([0.1, 0.6]), np.array([4000.0, 6000.0]), np.array([0.12, 0.585])
ERROR = 4000 * 0.02**2 + 6000 * 0.015**2
CALM = Certificate(
    Quantity.L2_CALIBRATION_ERROR, 10_000, ERROR, 40.9, 9.0, "FKO25", mass=10_000.0, noise=3.6,
    table=TABLE, on_average=True, subject=Subject.ISSUED,
)  # fmt: skip
SILENT = replace(CALM, guaranteed=None, broken=("labels came late; use one a lead time",), late=7)


def lines(certificate):
    return str(certificate).splitlines()


def test_points_are_the_root_of_the_mean_square():
    assert CALM.points == pytest.approx(math.sqrt(ERROR / 10_000))
    assert CALM.points_guaranteed == pytest.approx(math.sqrt(0.00409))
    assert CALM.points_after_the_fact == pytest.approx(0.03)
    assert CALM.points_noise == pytest.approx(math.sqrt(0.00036))
    nothing = replace(CALM, guaranteed=None, after_the_fact=None, noise=None)
    assert (
        nothing.points_guaranteed is nothing.points_after_the_fact is nothing.points_noise is None
    )


def test_first_line_is_for_everybody():
    assert lines(CALM) == [
        "10,000 forecasts: 1.7 percentage points off in root mean square (chance alone would show "
        "1.9); guaranteed at most 6.4, whatever happens.",
        "The 6.4 was known before the first forecast; after the fact, on average over our own "
        "draws, it is at most 3.0.",
        "Sums (forecasts × points², points as shares): l2 calibration error of the issued "
        "forecasts 2.95, after the fact 9, guaranteed 40.9 [FKO25].",
        "On average over our own draws, if the outcome of an event, its weight and whether it is "
        "reported do not depend on the draw for that event.",
    ]
    sure = replace(CALM, on_average=False, subject=Subject.DISTRIBUTIONS)
    assert lines(sure)[-1] == "For the distributions, not for draws from them, and in every run."
    assert "would show up to 1.9" in lines(sure)[0]


def test_bounds_are_rounded_up():
    assert "guaranteed at most 6.5," in lines(replace(CALM, guaranteed=41.1))[0]
    assert "guaranteed at most 6.4," in lines(replace(CALM, guaranteed=40.96))[0]


def test_trivial_bounds_are_called_so():
    few = replace(CALM, guaranteed=10_000.0)
    assert few.trivial and not CALM.trivial and not replace(few, guaranteed=None).trivial
    assert "too few events for a guarantee." in lines(few)[0]
    assert "guaranteed at most" not in str(few) and "coarser step" in lines(few)[1]
    assert "(trivial)" in lines(few)[2]
    vectors = replace(few, squared_diameter=2.0, table=None)
    assert not vectors.trivial
    assert "141 points" in str(replace(vectors, guaranteed=20_000.0))
    assert "lead time" in lines(replace(few, late=3))[1]
    weak = replace(CALM, guaranteed=3600.0)
    assert "always saying 50 % would guarantee 50" in lines(weak)[1] and not weak.trivial


def test_late_labels():
    late = replace(CALM, late=7, guaranteed=121.0)
    assert "guaranteed at most 11.0, with labels this late." in lines(late)[0]
    assert "Labels came up to 7 forecasts late, or not at all." in lines(late)
    assert len(lines(late)) == 5 and "before the first forecast" not in str(late)
    assert "nothing is guaranteed in advance." in lines(SILENT)[0]
    assert lines(SILENT)[1] == (
        "After the fact, on average over our own draws, at most 3.0 points. "
        "No guarantee in advance: labels came late; use one a lead time."
    )
    assert not SILENT.holds and len(lines(SILENT)) == 5


def test_weights_and_events_say_what_the_number_is_about():
    assert lines(replace(CALM, mass=4210.0))[0].startswith(
        "10,000 forecasts of total weight 4,210:"
    )
    assert "Sums (weight × points², points as shares)" in str(replace(CALM, mass=4210.0))
    named = replace(CALM, mass=59.0, events=59, guaranteed=20.0)
    assert "10,000 forecasts of 59 events (every event counts once)" in str(named)
    assert "Sums (events × points², points as shares)" in str(named)
    mixed = replace(named, mass=31.0)
    assert "10,000 forecasts of 59 events of total weight 31.0" in str(mixed)
    assert "every event" not in str(replace(CALM, mass=59.0, guaranteed=20.0))


def test_excess_of_the_brier_score_is_told_per_event():
    excess = replace(
        CALM, quantity=Quantity.EXCESS_BRIER, measured=-12.0, after_the_fact=3.0, guaranteed=14.51,
        brier=2311.0, against="the model", table=None, noise=None,
    )  # fmt: skip
    assert lines(excess)[0] == (
        "10,000 forecasts: Brier score 0.2311 per event, 0.0012 better than the model; "
        "guaranteed worse by at most 0.0015 per event, whatever happens."
    )
    assert (
        "after the fact, on average over our own draws, worse by at most 0.0003."
        in lines(excess)[1]
    )
    assert "better by at least 0.0004" in lines(replace(excess, after_the_fact=-4.9))[1]
    assert "0.0007 worse than the model" in lines(replace(excess, measured=7.0))[0]
    assert "guaranteed 14.5 [" in lines(excess)[2]
    assert excess.points is None and excess.points_guaranteed is None
    lost = replace(excess, guaranteed=None, broken=("labels came late",), late=2)
    assert "nothing is guaranteed in advance" in str(lost)
    assert "2 forecasts late, or not at all." in str(lost)
    assert replace(excess, guaranteed=10_000.0).trivial
    assert "too few events" in str(replace(excess, guaranteed=10_000.0))
    assert "as good" not in str(excess)


def test_other_quantities_in_plain_words():
    steps = replace(CALM, quantity=Quantity.DISCRETISED_SWAP_REGRET)
    assert "over and above rounding to the given steps" in lines(steps)[0]
    assert steps.points_noise is None and steps.decisions().guaranteed is None
    learner = replace(CALM, quantity=Quantity.FULL_SWAP_REGRET, subject=Subject.PLAYED)
    assert lines(learner) == [
        "10,000 rounds: replacing each point played by the best other point would have saved a "
        "loss of 2.95 in total; guaranteed at most 40.9, for all losses of the given class.",
        "This total is the full swap regret [FKO25].",
    ]
    player = replace(learner, quantity=Quantity.SWAP_REGRET, rounds=1)
    assert lines(player)[0].startswith("1 round: replacing each action played by")
    assert "gained a payoff of 2.95" in str(player) and "whatever the others play" in str(player)


def test_holds_compares_what_is_proven():
    assert CALM.holds
    assert not replace(CALM, measured_at_most=41.0).holds
    assert replace(CALM, measured=41.0, measured_at_most=40.0).holds
    assert not replace(CALM, broken=("something",)).holds


def test_a_single_run_above_the_average_says_so():
    assert "This run is above" in lines(replace(CALM, measured=50.0))[-1]
    assert "This run is above" not in str(CALM)


def test_a_footnote_comes_last():
    assert lines(replace(CALM, about="About something else."))[-1] == "About something else."


def test_as_data():
    stored = json.loads(json.dumps(CALM.to_dict(), allow_nan=False))
    assert stored["points"] == CALM.points and stored["trivial"] is False and stored["holds"]
    assert stored["table"]["mean_outcomes"] == TABLE[2].tolist()
    assert json.loads(json.dumps(SILENT.to_dict(), allow_nan=False))["points_guaranteed"] is None
    assert CALM == replace(CALM, table=None) and hash(CALM) == hash(replace(CALM))


@pytest.mark.parametrize("feedback", ["realised", "distribution"])
def test_forecasters_fill_in_mass_noise_and_table(feedback):
    rng = np.random.default_rng(1)
    forecaster = Forecaster(400, feedback=feedback, seed=1, max_weight=4.0)
    y, w = (rng.random(400) < 0.3).astype(float), 4 * rng.random(400)
    forecaster.run(y, sample_weight=w)
    certificate = forecaster.certificate()
    forecasts, weights, means = certificate.table
    assert certificate.mass == pytest.approx(w.sum()) == pytest.approx(weights.sum())
    assert weights @ np.square(forecasts - means) == pytest.approx(certificate.measured)
    chance = 4 * (np.minimum(weights / 4, 1) * forecasts * (1 - forecasts)).sum()
    assert certificate.noise == pytest.approx(chance)


def test_noise_is_what_calibrated_forecasts_show_by_chance():
    rng, points = np.random.default_rng(2), np.linspace(0, 1, 11)
    shown = []
    for _ in range(400):
        sums = [(p, rng.binomial(50, p) / 50) for p in points]
        shown.append(sum(50 * (p - mean) ** 2 for p, mean in sums))
    assert np.mean(shown) == pytest.approx((points * (1 - points)).sum(), rel=0.1)
    several = MulticlassForecaster(3, 600, seed=1)
    several.run(rng.integers(0, 3, 600))
    certificate = several.certificate()
    assert certificate.table is None and certificate.squared_diameter == 2.0
    assert 0 < certificate.noise < 3 * 11


@pytest.mark.parametrize(
    "forecaster",
    [
        Forecaster(50), Forecaster(), Forecaster(50, step=0.25),
        MulticlassForecaster(3, 50), Recalibrator(), Recalibrator(models=2),
        MulticlassForecaster(9), MulticlassForecaster(9, 50), Recalibrator(classes=9),
    ],
)  # fmt: skip
def test_before_the_first_outcome(forecaster):
    for certificate in (forecaster.certificate(), *forecaster.certificates()):
        assert str(certificate).startswith("No outcomes yet") and not certificate.trivial
        assert certificate.points is None and json.dumps(certificate.to_dict(), allow_nan=False)
    assert "nan" not in forecaster.explain() and "inf" not in forecaster.explain()


def test_before_the_first_outcome_certificates_say_what_is_guaranteed_for_the_horizon():
    assert "Guaranteed for 10,000 events: at most 6.3 percentage" in str(
        Forecaster(10_000).certificate()
    )
    weighted = str(Forecaster(1000, max_weight=4.0).certificate())
    assert "a total weight of 4,000: at most" in weighted and "weigh 1" not in weighted
    assert "No horizon was given" in str(Forecaster().certificate())
    steps = Forecaster(10_000, step=0.05)
    steps.run([1])
    assert "Guaranteed for" not in str(steps.certificate())  # of what happened from then on
    disc = FullSwapLearner(Interval(0, 1), LossClass.squared(1.0), horizon=1000)
    assert lines(disc.certificate()) == [
        "Nothing played yet: full swap regret [FKO25, Table 1 row 5].",
        "Guaranteed for 1,000 rounds: regret of at most 46.696 in total.",
    ]
    endless = FullSwapLearner(Interval(0, 1), LossClass.squared(1.0))
    assert "any horizon, such as 100,000 rounds: regret of at most" in str(endless.certificate())


def test_explanations_say_grid_reason_and_points():
    text = Forecaster(10_000).explain()
    assert "the grid with the smallest guarantee for 10,000 events" in text
    assert "Guaranteed for 10,000 events: at most" in text and "percentage points off" in text
    assert "finer from a total weight of" in Forecaster().explain()
    assert "Too few events" in Forecaster(1, step=0.05).explain()


def test_a_run_above_its_average_says_so():
    unlucky = "This one run is above that average: bad luck with its own draws."
    above = replace(CALM, after_the_fact=2.0)
    assert lines(above)[1].endswith(f"it is at most 1.5. {unlucky}")
    nothing = replace(SILENT, after_the_fact=2.0)
    assert f"at most 1.5 points. {unlucky} No guarantee in advance" in str(nothing)
    assert unlucky not in str(CALM) and unlucky not in str(SILENT)


def test_conditions_are_one_sentence():
    assert CALM.conditions == lines(CALM)[-1]
    shared = replace(CALM, events=10)
    assert shared.conditions == lines(shared)[-1] != CALM.conditions
