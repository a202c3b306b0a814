"""The laws that every forecaster keeps: runs, restarts, copies, late outcomes, draws."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator, Philox

from contract.makers import (
    MAKERS,
    ON_GRIDS,
    described,
    draws_of,
    masses,
    point_columns,
    rounds_of_groups,
    row_of,
    run_described,
    state_of,
)
from fullswap.kernels.columns import (
    DELAY,
    HINT,
    LEARNT,
    LEVEL,
    LOST,
    MASS,
    NEXT_ID,
    OVERLAP,
    ROUNDS,
)

seeds = st.integers(0, 10_000)
every = pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
on_grids = pytest.mark.parametrize("maker", ON_GRIDS.values(), ids=ON_GRIDS)
few = settings(max_examples=12)


@st.composite
def settings_of(draw):
    """What any forecaster may be asked for besides."""
    return {
        "feedback": draw(st.sampled_from(["realised", "distribution"])),
        "max_weight": draw(st.sampled_from([1.0, 1.0, 2.5])),
        "seed": draw(st.integers(0, 5)),
    }


@st.composite
def weights_of(draw, events):
    """No weights, some that are 0, or some so small that products of them vanish."""
    kind = draw(st.sampled_from(["none", "some", "tiny"]))
    rng = np.random.default_rng(draw(seeds))
    if kind == "none":
        return None
    sizes = rng.random(events) ** (1 if kind == "some" else 400)
    return np.where(rng.random(events) < 0.2, 0.0, sizes)


@every
@few
@given(st.data())
def test_a_run_is_the_loop_to_the_last_bit(maker, data):
    events = data.draw(st.integers(0, 200))
    log = maker.log(events, data.draw(seeds))
    weights = data.draw(weights_of(events))
    cut = data.draw(st.integers(0, events))
    own = data.draw(settings_of())
    looped, ran, silent = (maker(**own) for _ in range(3))
    for part in (slice(0, cut), slice(cut, None)):
        shown = log.loop(looped, part, weights)
        record = log.run(ran, part, weights)
        assert run_described(record) == shown
        assert log.run(silent, part, weights, record=False) is None
        assert state_of(ran) == state_of(looped) == state_of(silent)
    assert ran.certificates() == looped.certificates()
    assert ran.guarantee == looped.guarantee
    assert ran.rounds == events


@every
@few
@given(settings_of(), seeds, st.integers(0, 400))
def test_a_run_in_two_parts_is_the_run_at_once(maker, own, seed, cut):
    log = maker.log(400, seed)
    whole, parts = maker(**own), maker(**own)
    at_once = log.run(whole)
    first, second = log.run(parts, slice(0, cut)), log.run(parts, slice(cut, None))
    assert state_of(whole) == state_of(parts)
    assert run_described(first) + run_described(second) == run_described(at_once)


@every
@few
@given(settings_of(), seeds)
def test_a_run_beside_pending_forecasts_is_the_loop_too(maker, own, seed):
    log = maker.log(80, seed)
    weights = np.random.default_rng(seed).choice([0.0, 0.3, 1.0], 80)
    one, other = maker(**own), maker(**own)
    waiting = []
    for forecaster in (one, other):
        log.run(forecaster, slice(0, 10), weights)
    for start, stop in ((10, 11), (11, 11), (11, 12), (12, 15), (15, 80)):
        waiting.append(described(log.predict(one, start % 80)))
        log.predict(other, start % 80)
        for t in range(start, stop):
            forecast = log.predict(one, t)
            one.update(log.outcomes[t], forecast, weights[t])
        log.run(other, slice(start, stop), weights)
        assert state_of(other) == state_of(one)
    assert [described(forecast) for forecast in other.pending] == waiting
    assert other.certificates() == one.certificates()


@every
def test_an_empty_run_changes_nothing(maker):
    log, forecaster = maker.log(5, 0), maker()
    log.predict(forecaster, 0)
    before = forecaster.to_json()
    record = log.run(forecaster, slice(0, 0))
    assert len(record) == 0 and len(record.issued) == 0 and len(record.mean) == 0
    assert log.run(forecaster, slice(0, 0), record=False) is None
    assert forecaster.to_json() == before


# --- restarts and copies ----------------------------------------------------------------------


def random_step(forecaster, log, rng, seen):
    """One random action; what can be seen of it goes into ``seen``."""
    pending, t = forecaster.pending, int(rng.integers(len(log)))
    alone = [forecast for forecast in pending if forecast.event is None]
    named = sorted({forecast.event for forecast in pending} - {None})
    actions = ["predict", "predict", "update", "update", "resolve", "drop", "run", "peek"]
    action = rng.choice(actions)
    if action == "predict" and len(pending) < 12:
        event = None if rng.random() < 0.5 else f"event {rng.integers(3)}"
        seen.append(described(log.predict(forecaster, t, event)))
    elif action == "update" and alone:
        chosen = alone[rng.integers(len(alone))]
        weight = float(rng.choice([0.0, 0.3, 1.0]))
        forecaster.update(log.outcomes[t], chosen if rng.random() < 0.5 else chosen.id, weight)
    elif action == "resolve" and named:
        weight = float(rng.choice([0.0, 0.3, 1.0]))
        forecaster.resolve(named[rng.integers(len(named))], log.outcomes[t], weight)
    elif action == "drop" and pending and rng.random() < 0.3:
        forecaster.drop(pending[rng.integers(len(pending))])
    elif action == "drop" and named and rng.random() < 0.3:
        forecaster.drop(event=named[0])
    elif action == "run" and rng.random() < 0.3:
        seen.append(run_described(log.run(forecaster, slice(t, t + int(rng.integers(30))))))
    elif action == "peek":
        shown = log.peek(forecaster, t)
        seen.append((shown.points.tolist(), shown.weights.tolist(), forecaster.guarantee))


WAYS = {
    "json": lambda f: type(f).from_json(f.to_json()),
    "bytes": lambda f: type(f).from_json(f.to_json().encode()),
    "pickle": lambda f: pickle.loads(pickle.dumps(f)),
    "copy": lambda f: f.copy(),
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@every
@few
@given(settings_of(), seeds, st.integers(10, 120), st.sampled_from(sorted(WAYS)))
def test_a_restart_at_any_moment_goes_unnoticed(maker, own, seed, steps, way):
    log = maker.log(60, seed)
    straight, restarted = maker(**own), maker(**own)
    shown = [], []
    mine, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
    for moment in np.random.default_rng(seed + 1).random(steps) < 0.15:
        random_step(straight, log, mine, shown[0])
        random_step(restarted, log, theirs, shown[1])
        if moment:
            restarted = WAYS[way](restarted)
            assert restarted.to_json() == straight.to_json()
    assert str(shown[1]) == str(shown[0])  # as text, because NaN is no equal of itself
    assert restarted.to_json() == straight.to_json()
    assert str(restarted.certificates()) == str(straight.certificates())
    assert repr(restarted) == repr(straight)


@every
@pytest.mark.parametrize("way", WAYS)
def test_copies_are_equal_and_go_their_own_ways(maker, way):
    log, forecaster = maker.log(50, 1), maker(seed=5)
    log.run(forecaster, slice(0, 20))
    pending = log.predict(forecaster, 20)
    before = forecaster.to_json()
    other = WAYS[way](forecaster)
    assert type(other) is type(forecaster) and other.to_json() == before
    other.update(log.outcomes[20], pending)  # a forecast made before the copy is known to it
    log.run(other, slice(20, None))
    assert forecaster.to_json() == before
    assert [forecast.id for forecast in forecaster.pending] == [20]
    forecaster.update(log.outcomes[20], pending)
    log.run(forecaster, slice(20, None))
    assert state_of(forecaster) == state_of(other)


# --- looking ----------------------------------------------------------------------------------


@every
@few
@given(settings_of(), seeds)
def test_peek_shows_the_next_forecast_and_changes_nothing(maker, own, seed):
    log, forecaster = maker.log(40, seed), maker(**own)
    for t in range(len(log)):
        before = forecaster.to_json()
        shown, again = log.peek(forecaster, t), log.peek(forecaster, t)
        assert forecaster.to_json() == before
        assert np.array_equal(shown.points, again.points)
        forecast = log.predict(forecaster, t)
        assert np.array_equal(shown.points, forecast.points)
        assert np.array_equal(shown.weights, forecast.weights)
        assert shown.mean == pytest.approx(forecast.mean, abs=1e-14)
        forecaster.update(log.outcomes[t])


@on_grids
@few
@given(settings_of(), seeds)
def test_a_forecast_is_a_distribution_from_which_its_draw_comes(maker, own, seed):
    log, forecaster = maker.log(60, seed), maker(**own)
    for t in range(len(log)):
        forecast = log.predict(forecaster, t)
        assert forecast.id == t
        assert (forecast.weights > 0).all() and math.fsum(forecast.weights) == pytest.approx(1)
        assert any(np.array_equal(forecast.issued, point) for point in forecast.points)
        mean = forecast.weights @ forecast.points
        assert forecast.mean == pytest.approx(mean, abs=1e-14)
        assert forecast.points.min() >= 0 and forecast.points.max() <= 1
        if maker.vector:
            assert forecast.points.sum(axis=1) == pytest.approx(np.ones(len(forecast.weights)))
        forecaster.update(log.outcomes[t])


# --- late outcomes and weights ----------------------------------------------------------------


@on_grids
@few
@given(seeds, st.permutations(range(6)))
def test_outcomes_of_different_points_commute(maker, seed, order):
    """Where no two outcomes go to the same point, each point learns the same in any order."""
    forecaster = maker(seed=seed, feedback="realised", max_weight=1.0)
    log = maker.log(1600, seed, soft=False)
    waiting = {}
    for t in range(0, len(log), 40):
        log.run(forecaster, slice(t, t + 40), record=False)
        forecast = log.predict(forecaster, t)
        where = tuple(np.ravel(forecast.issued))
        if where in waiting or len(waiting) == 6:
            forecaster.drop(forecast)
        waiting.setdefault(where, forecast.id)
    pairs = [(number, log.outcomes[k]) for k, number in enumerate(list(waiting.values())[:6])]
    other = forecaster.copy()
    for number, y in pairs:
        forecaster.update(y, number)
    for k in order:
        if k < len(pairs):
            other.update(pairs[k][1], pairs[k][0])
    mine, theirs = row_of(forecaster), row_of(other)
    for place in (LEVEL, ROUNDS, NEXT_ID, MASS, OVERLAP, DELAY):
        assert mine[place] == theirs[place]
    if forecaster.spec.hears:  # what the points share is learnt in order; their masses are not
        assert np.array_equal(point_columns(forecaster)[:, 0], point_columns(other)[:, 0])
    else:
        assert np.array_equal(point_columns(forecaster), point_columns(other))
        assert mine[LOST] == pytest.approx(theirs[LOST], rel=1e-12)
        one, two = forecaster.certificate(), other.certificate()
        assert one.measured == pytest.approx(two.measured, rel=1e-12, abs=1e-12)
        assert one.guaranteed == two.guaranteed


@on_grids
@few
@given(settings_of(), seeds)
def test_a_late_outcome_is_learnt_where_its_forecast_was_made(maker, own, seed):
    """Also if the grid has been refined since; the points that learn gain their shares."""
    log, forecaster = maker.log(400, seed), maker(**own)
    early = [log.predict(forecaster, t) for t in range(3)]
    log.run(forecaster, slice(3, None), record=False)
    for t, forecast in enumerate(early):
        before, scale = masses(forecaster), 0.5 / forecaster.max_weight
        forecaster.update(log.outcomes[t], forecast, weight=0.5)
        gained = {
            point: mass - before.get(point, 0.0) for point, mass in masses(forecaster).items()
        }
        expected = {forecast.issued: 1.0}
        if not forecaster.spec.realised:
            expected = dict(zip(forecast.points.tolist(), forecast.weights.tolist(), strict=True))
        for point, mass in gained.items():
            assert mass == pytest.approx(scale * expected.get(point, 0.0), abs=1e-9)
    total = math.fsum(masses(forecaster).values())
    assert total == pytest.approx(row_of(forecaster)[MASS])


@every
@few
@given(settings_of(), seeds, st.sampled_from([2.0, 0.5, 1024.0]))
def test_only_the_share_of_the_largest_weight_matters(maker, own, seed, factor):
    log = maker.log(60, seed)
    weights = np.random.default_rng(seed).random(60)
    one, other = maker(**{**own, "max_weight": 1.0}), maker(**{**own, "max_weight": factor})
    shown = run_described(log.run(one, weights=weights))
    assert run_described(log.run(other, weights=factor * weights)) == shown
    assert other.guarantee == factor * one.guarantee
    for mine, theirs in zip(one.certificates(), other.certificates(), strict=True):
        assert theirs.measured == factor * mine.measured
        assert theirs.guaranteed == factor * mine.guaranteed


@every
@few
@given(settings_of(), seeds)
def test_weight_zero_and_dropped_forecasts_teach_nothing(maker, own, seed):
    log, forecaster = maker.log(60, seed), maker(**own)
    log.run(forecaster, slice(0, 40))
    before = row_of(forecaster).copy()
    log.predict(forecaster, 0)
    forecaster.update(log.outcomes[0], weight=0)
    log.run(forecaster, slice(40, None), np.zeros(60))
    forecaster.drop(log.predict(forecaster, 3))
    after = row_of(forecaster)
    assert forecaster.rounds == 61 and forecaster.pending == ()
    assert after[NEXT_ID] == before[NEXT_ID] + 22
    changed = np.flatnonzero(after != before)
    assert set(changed) <= {ROUNDS, NEXT_ID, LEARNT, HINT, *rounds_of_groups(forecaster)}


# --- draws ------------------------------------------------------------------------------------


@on_grids
@few
@given(settings_of(), seeds)
def test_draws_are_those_of_numpys_generator_in_the_order_of_ids(maker, own, seed):
    """The point drawn is the first whose cumulative weight exceeds the number of its id."""
    log, forecaster = maker.log(60, seed), maker(**own)
    stream = draws_of(forecaster).stream
    # numpy counts up before its first block
    start = ((stream << 128) - 1) % 2**256
    numbers = Generator(Philox(key=draws_of(forecaster).seed, counter=start)).random(60)
    for t, u in enumerate(numbers.tolist()):
        forecast = log.predict(forecaster, t)
        place = int((np.cumsum(forecast.weights)[:-1] <= u).sum())
        assert np.array_equal(forecast.issued, forecast.points[place])
        forecaster.update(log.outcomes[t])


@every
def test_equal_seeds_draw_the_same_and_no_seed_never_does(maker):
    log = maker.log(400, 3)
    first, second, other = (run_described(log.run(maker(seed=seed))) for seed in (1, 1, 2))
    assert first == second and (first != other) == maker.drawn
    free = [maker(seed=None) for _ in range(3)]
    assert len({draws_of(forecaster).seed for forecaster in free}) == 3
    shown = [run_described(log.run(forecaster)) for forecaster in free]
    assert not maker.drawn or shown[0] != shown[1] != shown[2] != shown[0]
    assert draws_of(WAYS["json"](free[0])).seed == draws_of(free[0]).seed
