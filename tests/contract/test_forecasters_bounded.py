"""The laws that every forecaster keeps: refusals, guarantees, bounded memory."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.makers import CERTAIN, MAKERS, ON_GRIDS, column, kind_behind, nbytes_of, row_of
from fullswap import Forecaster, Recalibrator
from fullswap.certificates.words import sums
from fullswap.forecasting import OnlineForecasting
from fullswap.kernels.columns import LEVEL

every = pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
on_grids = pytest.mark.parametrize("maker", ON_GRIDS.values(), ids=ON_GRIDS)
few = settings(max_examples=8)
seeds = st.integers(0, 10_000)


def refused(forecaster, call, *fragments):
    """The call raises a ValueError that says all of this, and leaves the state as it was."""
    before = forecaster.to_json()
    with pytest.raises(ValueError) as error:
        call()
    for fragment in fragments:
        assert fragment in str(error.value), str(error.value)
    assert forecaster.to_json() == before


def bad_outcomes(maker):
    common = [math.nan, math.inf, -1, "perhaps", None, [], [[1], [1, 0]], 1j, 10**400, {}, object()]
    if not maker.vector:
        return [*common, 2, -0.1, [1], np.array([0, 1])]
    k = maker.classes
    wrong = [np.full(k, 2.0), np.full(k, math.nan), np.eye(k), np.ones(k + 1) / (k + 1)]
    return [*common, *wrong, k, 1.5, True, [1.5, -0.5, *[0.0] * (k - 2)], [0.0] * k]


@every
def test_bad_outcomes_are_refused(maker):
    log, forecaster = maker.log(10, 0), maker(seed=1)
    log.run(forecaster, slice(0, 5))
    forecast = log.predict(forecaster, 5)
    for outcome in bad_outcomes(maker):
        call = lambda outcome=outcome: forecaster.update(outcome, forecast)  # noqa: E731
        refused(forecaster, call, "outcome must")
    forecaster.update(log.outcomes[5], forecast)


@every
def test_bad_weights_are_refused(maker):
    log, forecaster = maker.log(10, 0), maker(seed=1, max_weight=1.5)
    forecast = log.predict(forecaster, 0)
    wrong = [-1, math.nan, 2, "x", None, [1.0], np.ones(2), math.inf, 10**400, np.float32(1.6)]
    for weight in wrong:
        call = lambda weight=weight: forecaster.update(log.outcomes[0], forecast, weight)  # noqa: E731
        refused(forecaster, call, "weight must", "max_weight = 1.5", repr(weight)[:12])
    forecaster.update(log.outcomes[0], forecast, 1.5)


@every
def test_outcomes_without_their_forecast_are_refused(maker):
    log, forecaster = maker.log(10, 0), maker(seed=1)
    y = log.outcomes[0]
    refused(forecaster, lambda: forecaster.update(y), "no forecast is pending", "predict()")
    first, second = log.predict(forecaster, 0), log.predict(forecaster, 1)
    refused(forecaster, lambda: forecaster.update(y), "forecast must be given", "2 forecasts")
    forecaster.update(y, forecast=first)
    for call in (lambda: forecaster.update(y, first), lambda: forecaster.drop(first.id)):
        refused(forecaster, call, f"forecast {first.id} is not pending", "had its outcome")
    forecaster.drop(second)
    refused(forecaster, lambda: forecaster.update(y, second.id), "is not pending", "dropped")
    third = log.predict(forecaster, 2)
    for unknown in (third.id + 1, -1, 10**30):
        call = lambda unknown=unknown: forecaster.update(y, unknown)  # noqa: E731
        refused(forecaster, call, "did not make it")
    for wrong in (1.0, True):
        call = lambda wrong=wrong: forecaster.update(y, wrong)  # noqa: E731
        refused(forecaster, call, "forecast must be a Forecast, its id or the name of its event")
    refused(forecaster, lambda: forecaster.update(y, "x"), "event 'x' has no pending forecast")
    refused(forecaster, lambda: forecaster.update([y, y], [third]), "as long as outcome")
    for seed in range(50):  # the same number, and sooner or later another forecast
        stranger = maker(seed=seed)
        maker.log(10, seed).run(stranger, slice(0, 2))
        theirs = log.predict(stranger, 9)
        if not theirs.same_as(third):
            break
    assert theirs.id == third.id
    call = lambda: forecaster.update(y, theirs)  # noqa: E731
    refused(forecaster, call, f"forecast {third.id} was made by another forecaster")


@every
def test_bad_runs_are_refused_whole(maker):
    log, forecaster = maker.log(10, 0), maker(seed=1)
    log.predict(forecaster, 0)
    contexts = () if log.contexts is None else (log.contexts,)

    def run_with(outcomes, weights=None):
        return lambda: forecaster.run(*contexts, outcomes, weights)

    spoilt = log.outcomes.astype(float).copy()
    spoilt[7] = math.nan
    outside = log.outcomes.astype(float).copy()
    outside[-1] = 1.5
    masked = np.ma.array(log.outcomes, mask=False)
    masked[0] = np.ma.masked
    for outcomes in (spoilt, outside, masked, 1, [["a"]] * 10, np.zeros((10, 2, 2)), [None] * 10):
        refused(forecaster, run_with(outcomes), "outcomes")
    largest = forecaster.max_weight
    for weights in (
        np.full(10, 1.1 * largest), -np.ones(10), np.full(10, math.nan), np.ones(9), 1.0,
        np.ones((10, 1)), ["1"] * 10,
    ):  # fmt: skip
        refused(forecaster, run_with(log.outcomes, weights), "sample_weight must")
    if contexts:
        refused(forecaster, run_with(log.outcomes[:-1]), "equally long")


@pytest.mark.parametrize("name", [name for name, maker in MAKERS.items() if maker.models])
def test_bad_contexts_are_refused(name):
    maker = MAKERS[name]
    log, forecaster = maker.log(10, 0), maker(seed=1)
    log.run(forecaster, slice(0, 5))
    shape = np.shape(log.contexts[0])
    wrong = [
        np.full(shape, 1.5), np.full(shape, -0.1), np.full(shape, math.inf), "half", None,
        np.full(shape, math.nan),
    ]  # fmt: skip
    for p in wrong:
        for verb in (forecaster.predict, forecaster.peek):
            refused(forecaster, lambda p=p, verb=verb: verb(p), "p must")
    if shape not in ((), (1,)):  # else these are seven events
        for p in (np.full((*shape, 7), 0.5), np.full(7, 0.5)):
            refused(forecaster, lambda p=p: forecaster.predict(p), "p must")
    spoilt = log.contexts.copy()
    spoilt[3] = 1.5
    refused(forecaster, lambda: forecaster.run(spoilt, log.outcomes), "p must")


@every
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"horizon": 0}, "horizon"), ({"horizon": 2.5}, "horizon"), ({"horizon": True}, "horizon"),
        ({"seed": -1}, "seed"), ({"seed": "x"}, "seed"),
        ({"max_weight": 0.0}, "max_weight"), ({"max_weight": math.inf}, "max_weight"),
        ({"max_weight": math.nan}, "max_weight"),
    ],
)  # fmt: skip
def test_bad_settings_are_refused(maker, arguments, named):
    with pytest.raises(ValueError, match=f"{named} must .*got"):
        maker(**arguments)


# --- guarantees -------------------------------------------------------------------------------


@every
@few
@given(seeds)
def test_what_is_guaranteed_is_kept_or_its_absence_explained(maker, seed):
    """Distributions keep it in each run; here outcomes come in time, then late."""
    log = maker.log(200, seed)
    forecaster = maker(seed=seed, feedback="distribution")
    certain = maker in CERTAIN.values()
    log.run(forecaster, slice(0, 100))
    assert math.isfinite(forecaster.guarantee)
    for certificate in forecaster.certificates():
        assert certificate.broken == ()
        assert certificate.after_the_fact <= certificate.guaranteed
        if certain:
            assert certificate.holds, str(certificate)
            assert certificate.measured <= certificate.after_the_fact + 1e-9
    rng = np.random.default_rng(seed)
    waiting = []
    for t in range(100, 200):
        waiting.append((log.predict(forecaster, t), log.outcomes[t]))
        while len(waiting) > 5:
            forecast, y = waiting.pop(rng.integers(len(waiting)))
            forecaster.update(y, forecast)
    for certificate in forecaster.certificates():
        assert (certificate.guaranteed is None) == bool(certificate.broken)
        if certain:
            assert certificate.holds or certificate.broken
            assert certificate.measured <= certificate.after_the_fact + 1e-9, "however late"
        assert "nan" not in str(certificate) and json.dumps(certificate.to_dict(), allow_nan=False)
    first = forecaster.certificate()
    assert (forecaster.guarantee is None) == bool(first.broken)
    assert first.guaranteed is None or first.guaranteed <= forecaster.guarantee
    known = "No guarantee: " if first.broken else f"at most {sums(forecaster.guarantee)} ["
    assert known in forecaster.explain()


@on_grids
def test_draws_are_guaranteed_on_average_and_distributions_always(maker):
    log = maker.log(50, 2)
    for feedback in ("realised", "distribution"):
        forecaster = maker(seed=1, feedback=feedback)
        log.run(forecaster)
        for certificate in forecaster.certificates():
            assert certificate.on_average == forecaster.spec.realised
            assert certificate.after_the_fact <= certificate.guaranteed
            assert ("On average over our own draws" in str(certificate)) == certificate.on_average
            assert certificate.rounds == forecaster.rounds == 50


@every
def test_before_the_first_event_nothing_is_owed(maker):
    forecaster = maker(seed=1)
    certificate = forecaster.certificate()
    assert certificate.measured == 0.0 and certificate.guaranteed == 0.0 and certificate.holds
    assert (forecaster.guarantee == 0.0) == (forecaster.horizon is None)


# --- memory -----------------------------------------------------------------------------------


@every
def test_memory_is_that_of_the_grid_and_not_of_the_run(maker):
    forecaster, log = maker(seed=1), maker.log(1000, 0)
    widths = {}
    for start in range(0, 1000, 50):
        log.run(forecaster, slice(start, start + 50), record=False)
        level = int(column(forecaster, LEVEL))
        widths.setdefault(level, set()).add(len(row_of(forecaster)))
        assert len(row_of(forecaster)) == kind_behind(forecaster).row_width(level)
    assert all(len(width) == 1 for width in widths.values())
    assert nbytes_of(forecaster) <= 8 * kind_behind(forecaster).row_width(level) + 64
    before = len(forecaster.to_json())
    for _ in range(3):
        log.run(forecaster, record=False)
    if int(column(forecaster, LEVEL)) == level:
        assert len(forecaster.to_json()) <= before + 100  # a row in base64 has a fixed length


@every
def test_the_interface_is_that_of_the_protocol(maker):
    assert isinstance(maker(seed=1), OnlineForecasting)


def test_the_tuner_picks_grids_that_can_be_kept():
    assert Recalibrator(None, horizon=2**53).guarantee > 0
    assert Recalibrator(1e-6).step == 1e-6 and Forecaster(2**53, step=1e-6).step == 1e-6
