"""Laws of forecasts that share an outcome: an event is resolved at once and counts once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator, Philox

from contract.makers import (
    MAKERS,
    ON_GRIDS,
    column,
    described,
    draws_of,
    kind_behind,
    masses,
    point_columns,
    row_of,
    run_described,
    state_of,
)
from contract.test_forecasters import WAYS, settings_of
from fullswap.kernels.columns import (
    CROWD,
    DELAY,
    LEVEL,
    LOST,
    MASS,
    NEXT_ID,
    OVERLAP,
    ROUNDING,
    ROUNDING_MOST,
    ROUNDS,
    SQUARES,
)

seeds = st.integers(0, 10_000)
every = pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
on_grids = pytest.mark.parametrize("maker", ON_GRIDS.values(), ids=ON_GRIDS)
few = settings(max_examples=8)
MEANS = [
    name for name, maker in ON_GRIDS.items() if not maker.models and "step" not in maker.arguments
]
"""Those whose points recommend running means, on grids that are not given."""
NAMES = ("final", 7, ("cup", 2026), 0.5)


@st.composite
def events_of(draw, count):
    """Names for so many rows, some without one; events overlap."""
    rng = np.random.default_rng(draw(seeds))
    reach = draw(st.sampled_from([1, 3, 12]))
    names = [f"event {t // 8 + rng.integers(reach)}" for t in range(count)]
    return [None if rng.random() < 0.2 else name for name in names]


def with_one_outcome(log, names, weights):
    """The outcomes and weights of every event are those of its first row."""
    first = {}
    for t, name in enumerate(names):
        k = t if name is None else first.setdefault(name, t)
        log.outcomes[t], weights[t] = log.outcomes[k], weights[k]


def loop(forecaster, log, names, weights):
    """What ``run(event=…)`` promises, by the verbs for single events."""
    shown, last = [], {name: t for t, name in enumerate(names)}
    for t, name in enumerate(names):
        shown.append(described(log.predict(forecaster, t, name)))
        if name is None:
            forecaster.update(log.outcomes[t], shown_id(forecaster), float(weights[t]))
        elif last[name] == t:
            forecaster.update(log.outcomes[t], event=name, weight=float(weights[t]))
    return shown


def shown_id(forecaster):
    return int(column(forecaster, NEXT_ID)) - 1


@every
@few
@given(settings_of(), seeds, st.data())
def test_a_run_with_events_is_the_loop_to_the_last_bit(maker, own, seed, data):
    log, names = maker.log(70, seed), data.draw(events_of(70))
    weights = np.random.default_rng(seed).choice([0.0, 0.4, 1.0], 70)
    with_one_outcome(log, names, weights)
    looped, ran, silent = (maker(**own) for _ in range(3))
    for forecaster in (looped, ran, silent):  # forecasts from before are resolved with the others
        log.predict(forecaster, 0, data.draw(st.just(names[-1])))
    shown = loop(looped, log, names, weights)
    assert run_described(log.run(ran, weights=weights, event=names)) == shown
    assert log.run(silent, weights=weights, event=names, record=False) is None
    assert state_of(ran) == state_of(looped) == state_of(silent)


@every
def test_a_run_whose_events_differ_is_a_run_without_names(maker):
    log = maker.log(60, 4)
    plain, named, absent = maker(), maker(), maker()
    shown = run_described(log.run(plain))
    assert run_described(log.run(named, event=np.arange(60))) == shown
    nothing = [None, float("nan"), "", np.nan] * 15
    assert run_described(log.run(absent, event=nothing)) == shown
    assert state_of(plain) == state_of(named) == state_of(absent)


@every
@few
@given(settings_of(), seeds)
def test_an_event_of_one_forecast_is_a_forecast(maker, own, seed):
    log = maker.log(40, seed)
    plain, named = maker(**own), maker(**own)
    for t in range(40):
        assert described(log.predict(plain, t)) == described(log.predict(named, t, "again"))
        weight = float(plain.max_weight / (1 + t % 3))
        plain.update(log.outcomes[t], weight=weight)
        named.resolve("again", log.outcomes[t], weight)
    assert plain.to_json() == named.to_json()


@pytest.mark.parametrize("name", MEANS)
@few
@given(seeds, st.sampled_from([2, 4, 8]))
def test_n_copies_of_a_forecast_are_one_update_of_running_means(name, seed, copies):
    maker = MAKERS[name]
    log = maker.log(60, seed, soft=False)
    once = maker(seed=seed)
    for t in range(60):
        often = once.copy()
        forecast = described(log.predict(once, t))
        for _ in range(copies):
            assert described(log.predict(often, t, "event")) == forecast
        once.update(log.outcomes[t])
        often.resolve("event", log.outcomes[t])
        np.testing.assert_allclose(point_columns(often), point_columns(once), atol=1e-9)
        mine, theirs = row_of(often), row_of(once)
        for place in (LEVEL, MASS, LOST, SQUARES, ROUNDING, ROUNDING_MOST, DELAY, OVERLAP):
            assert mine[place] == pytest.approx(theirs[place], abs=1e-12)
        assert often.rounds == once.rounds - 1 + copies


@on_grids
@few
@given(settings_of(), seeds, st.permutations(range(4)))
def test_events_may_be_resolved_in_any_order(maker, own, seed, order):
    """Masses are whole numbers of halves and quarters, and so are exact in any order."""
    log, forecaster = maker.log(60, seed), maker(**own)
    log.run(forecaster, slice(0, 40), record=False)
    for t, k in enumerate((0, 1, 2, 3, 1, 2, 2, 2)):
        log.predict(forecaster, 40 + t, NAMES[k])
    other = forecaster.copy()
    for k in range(4):
        forecaster.resolve(NAMES[k], log.outcomes[k])
    for k in order:
        other.resolve(NAMES[k], log.outcomes[k])
    mine, theirs = row_of(forecaster), row_of(other)
    for place in (LEVEL, ROUNDS, NEXT_ID, MASS, OVERLAP):
        assert mine[place] == pytest.approx(theirs[place], abs=1e-12)
    held = masses(other)
    assert masses(forecaster) == pytest.approx({point: held.get(point) for point in held})
    assert forecaster.pending == other.pending == ()


@on_grids
@few
@given(settings_of(), seeds)
def test_an_event_counts_once(maker, own, seed):
    """Its forecasts gain weight/n where they learn, n of them that wait when it is resolved."""
    log, forecaster = maker.log(60, seed), maker(**own)
    tickets = [log.predict(forecaster, t, "event") for t in range(3)]
    log.run(forecaster, slice(10, 60), record=False)
    tickets += [log.predict(forecaster, t, "event") for t in range(3, 6)]
    forecaster.drop(tickets.pop(4))
    before, scale = masses(forecaster), 0.5 / forecaster.max_weight
    rounds, mass = forecaster.rounds, column(forecaster, MASS)
    forecaster.resolve("event", log.outcomes[0], weight=0.5)
    gained = {point: held - before.get(point, 0.0) for point, held in masses(forecaster).items()}
    expected = dict.fromkeys(gained, 0.0)
    for ticket in tickets:
        points, weights = ticket.points, ticket.weights
        if forecaster.spec.realised:
            points, weights = np.array([ticket.issued]), np.ones(1)
        for point, weight in zip(points, weights, strict=True):
            expected[float(point)] += scale * weight / 5
    assert gained == pytest.approx(expected, abs=1e-9)
    assert forecaster.rounds == rounds + 5
    assert column(forecaster, MASS) == pytest.approx(mass + scale)


# --- the draw ----------------------------------------------------------------------------------


@on_grids
@few
@given(settings_of(), seeds)
def test_forecasts_of_an_event_draw_with_the_number_of_its_oldest(maker, own, seed):
    """Whatever is learnt and whatever restarts in between; a new event has another number."""
    log, forecaster = maker.log(60, seed), maker(**own)
    stream = draws_of(forecaster).stream
    start = ((stream << 128) - 1) % 2**256  # numpy counts up before its first block
    numbers = Generator(Philox(key=draws_of(forecaster).seed, counter=start)).random(60)
    first = {}
    for t in range(60):
        name = NAMES[t % 3]
        forecast = log.predict(forecaster, t, name)
        u = numbers[first.setdefault(name, forecast.id)]
        place = int((np.cumsum(forecast.weights)[:-1] <= u).sum())
        assert np.array_equal(forecast.issued, forecast.points[place])
        assert forecast.event == name and forecast.id == t
        if t % 7 == 6:
            forecaster.resolve(name, log.outcomes[t])
            del first[name]
        if t % 11 == 10:
            forecaster = WAYS["json"](forecaster)


# --- lateness ----------------------------------------------------------------------------------


def waiting_besides(forecaster, event, ticket):
    """Other events that wait, anywhere and most at a point where this ticket learns."""
    level = int(column(forecaster, LEVEL))
    places, others = {}, set()
    for other in forecaster.pending:
        token = ("alone", other.id) if other.event is None else ("named", other.event)
        if other.id == ticket.id or token == ("named", event):
            continue
        others.add(token)
        for place in other.learners(level):
            places.setdefault(place, set()).add(token)
    at_points = [len(places.get(place, ())) for place in ticket.learners(level)]
    return len(others), max(at_points)


@every
@few
@given(settings_of(), seeds)
def test_late_are_other_events_each_of_them_once(maker, own, seed):
    rng = np.random.default_rng(seed)
    log, forecaster = maker.log(120, seed), maker(**own)
    overlap = delay = 0
    for t in range(120):
        name = None if rng.random() < 0.3 else f"event {rng.integers(4)}"
        ticket = log.predict(forecaster, t, name)
        if rng.random() < 0.4:
            own_tickets = [ticket]
            if name is not None:
                own_tickets = [other for other in forecaster.pending if other.event == name]
            for late in own_tickets:
                found = waiting_besides(forecaster, name, late)
                overlap, delay = max(overlap, found[0]), max(delay, found[1])
            if name is None:
                forecaster.update(log.outcomes[t], ticket)
            else:
                forecaster.resolve(name, log.outcomes[t])
            if forecaster._stream.kind.fixed:  # else a grid may be refined within an event
                assert column(forecaster, DELAY) == delay
            assert column(forecaster, OVERLAP) == overlap
        assert column(forecaster, CROWD) == 0


@every
def test_kernels_are_told_how_many_other_events_wait(maker, monkeypatch):
    log, forecaster = maker.log(40, 3), maker()
    crowds, kind = [], kind_behind(forecaster)
    learner = type(kind).learner

    def spying(self, row, level):
        learn = learner(self, row, level)

        def spied(*arguments):
            crowds.append(row[CROWD])
            return learn(*arguments)

        return spied

    monkeypatch.setattr(type(kind), "learner", spying)
    for t in range(3):
        log.predict(forecaster, t, "first")
        log.predict(forecaster, t, "second")
        log.predict(forecaster, t)
    forecaster.resolve("first", log.outcomes[0])
    forecaster.update(log.outcomes[0], forecaster.pending[1])
    forecaster.resolve("second", log.outcomes[0], 0.5)
    # with experts also what waited when a forecast was made
    later = [2, 2, 3] if forecaster.spec.hears else [2, 2, 2]
    assert crowds == [4, 4, 4, 3, *later]
    run = type(forecaster._stream.rows).run

    def spying_run(self, streams, arguments):
        crowds.append(self.row(0)[CROWD])
        return run(self, streams, arguments)

    monkeypatch.setattr(type(forecaster._stream.rows), "run", spying_run)
    log.run(forecaster, slice(20, 21))
    assert crowds[-1] == 2 and column(forecaster, CROWD) == 0


# --- what is refused -----------------------------------------------------------------------------


@every
def test_what_is_refused_changes_nothing(maker):
    log, forecaster = maker.log(10, 2), maker()
    forecasts = [log.predict(forecaster, t, "game") for t in range(2)]
    log.predict(forecaster, 2)
    y = log.outcomes[0]
    before = forecaster.to_json()
    two = maker.log(2, 0)
    two.outcomes[:] = np.eye(maker.classes)[:2] if maker.vector else [0, 1]
    one = maker.log(2, 0)
    one.outcomes[1] = one.outcomes[0]
    refusals = {
        r"call resolve\('game', outcome\)": lambda: forecaster.update(y, forecasts[0]),
        "event 'match' has no pending forecast": lambda: forecaster.resolve("match", y),
        "event 'cup' has no pending forecast": lambda: forecaster.drop(event="cup"),
        "forecast must be left out": lambda: forecaster.update(y, forecasts[0], event="game"),
        "forecast must be left out where": lambda: forecaster.drop(forecasts[0], event="game"),
        "outcome must": lambda: forecaster.resolve("game", -1),
        "weight must lie in": lambda: forecaster.resolve("game", y, 3.0),
        "event must be a text": lambda: log.predict(forecaster, 0, ["game"]),
        "event must be a text, a number": lambda: log.predict(forecaster, 0, float("nan")),
        "event must .* not empty": lambda: log.predict(forecaster, 0, ""),
        "event 'final' must have one outcome, got others in rows 0 and 1": lambda: two.run(
            forecaster, event=["final"] * 2
        ),
        "event 'final' must have one sample_weight": lambda: one.run(
            forecaster, weights=np.array([0.5, 1.0]), event=["final"] * 2
        ),
        "event must be as long as": lambda: one.run(forecaster, event=["final"]),
        "event must be one name for each": lambda: one.run(forecaster, event="final"),
    }
    for message, act in refusals.items():
        with pytest.raises(ValueError, match=message):
            act()
        assert forecaster.to_json() == before
    forecaster.resolve("game", y)
    with pytest.raises(ValueError, match="event 'game' has no pending forecast: it was resolved"):
        forecaster.resolve("game", y)
    log.predict(forecaster, 0, "game")
    forecaster.drop(event="game")
    assert [forecast.event for forecast in forecaster.pending] == [None]
