"""Laws of whole runs whose outcomes come late: the loop of the verbs, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.makers import MAKERS, described, run_described
from contract.test_events import events_of, with_one_outcome
from contract.test_forecasters import settings_of
from fullswap import Bank, Forecaster, MulticlassForecaster, Recalibrator

seeds = st.integers(0, 10_000)
every = pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
few = settings(max_examples=8)
ROWS = 70


def one_by_one(forecaster, log, known, weights, names, keys=None):
    """What ``run(known=…)`` promises, by the verbs for single events."""
    total, tickets = len(known), []
    ends = {(None if keys is None else keys[t], name): t for t, name in enumerate(names)}
    for now in range(total + 1):
        for t in range(now):
            absent = np.isnan(log.outcomes[t]).any()
            last = names[t] is None or ends[None if keys is None else keys[t], names[t]] == t
            if known[t] == now and last and not absent:
                teach(forecaster, tickets[t], names[t], log.outcomes[t], float(weights[t]), keys, t)
        if now < total:
            if keys is None:
                tickets.append(log.predict(forecaster, now, names[now]))
            else:
                context = () if log.contexts is None else (log.contexts[now : now + 1],)
                tickets += forecaster.predict(
                    [keys[now]], *context, event=[names[now]], **log.more([now])
                )
    return [described(ticket) for ticket in tickets]


def teach(forecaster, ticket, name, outcome, weight, keys, t):
    if keys is None and name is None:
        forecaster.update(outcome, ticket, weight)
    elif keys is None:
        forecaster.resolve(name, outcome, weight)
    elif name is None:
        forecaster.update([ticket], [outcome], [weight])
    else:
        forecaster.resolve([keys[t]], [name], [outcome], [weight])


@st.composite
def delays_of(draw, count):
    """When outcomes are known: soon, late, at the very end, or after it; some are absent."""
    rng = np.random.default_rng(draw(seeds))
    most = draw(st.sampled_from([1, 4, 30, 2 * count]))
    known = np.arange(1, count + 1) + rng.integers(0, most, count)
    return known, rng.random(count) < draw(st.sampled_from([0.0, 0.1]))


def share_moments(known, names, keys=None):
    """Rows of an event are known together, after the last of them."""
    latest = {}
    own = [None if name is None else (keys and keys[t], name) for t, name in enumerate(names)]
    for t, token in enumerate(own):
        latest[token] = max(latest.get(token, 0), known[t])
    return np.array([known[t] if own[t] is None else latest[own[t]] for t in range(len(known))])


def prepare(maker, seed, data, named, keys=None):
    """A log with delays; outcomes, weights and moments of an event agree."""
    log = maker.log(ROWS, seed)
    (known, gone), names = data.draw(delays_of(ROWS)), [None] * ROWS
    weights = np.random.default_rng(seed).choice([0.0, 0.4, 1.0], ROWS)
    log.outcomes[gone] = np.nan
    if named:
        names = data.draw(events_of(ROWS))
        tokens = names if keys is None else [n and (k, n) for k, n in zip(keys, names, strict=True)]
        with_one_outcome(log, tokens, weights)
        known = share_moments(known, names, keys)
    return log, known, weights, names


@every
@few
@given(settings_of(), seeds, st.booleans(), st.data())
def test_a_late_run_is_the_loop_to_the_last_bit(maker, own, seed, named, data):
    log, known, weights, names = prepare(maker, seed, data, named)
    looped, ran, silent = (maker(**own) for _ in range(3))
    for forecaster in (looped, ran, silent):  # what waited before waits on
        log.run(
            forecaster, slice(0, 10), record=False, weights=np.ones(ROWS), known=np.full(10, 9**9)
        )
        forecaster.drop(forecaster.pending[3])
        forecaster.update(0, 5)
    shown = one_by_one(looped, log, known, weights, names)
    more = {"weights": weights, "known": known, "event": names if named else None}
    assert run_described(log.run(ran, **more)) == shown
    assert log.run(silent, record=False, **more) is None
    assert ran.to_json() == looped.to_json() == silent.to_json()


@every
@few
@given(settings_of(), seeds, st.booleans(), st.data())
def test_a_late_run_of_a_bank_is_the_loop_to_the_last_bit(maker, own, seed, named, data):
    keys = np.random.default_rng(seed).choice(["north", "south", "west"], ROWS).tolist()
    log, known, weights, names = prepare(maker, seed, data, named, keys)
    looped, ran = Bank(maker(**own)), Bank(maker(**own))
    contexts = () if log.contexts is None else (log.contexts,)
    for bank in (looped, ran):
        bank.predict(["south", "east"], *(part[:2] for part in contexts), **log.more(slice(2)))
    shown = one_by_one(looped, log, known, weights, names, keys)
    more = {"sample_weight": weights, "known": known, "event": names if named else None}
    assert run_described(ran.run(keys, *contexts, log.outcomes, **more, **log.more())) == shown
    assert ran.to_json() == looped.to_json()


@every
@few
@given(settings_of(), seeds, st.integers(0, ROWS), st.data())
def test_a_late_run_in_two_parts_is_one_run(maker, own, seed, cut, data):
    """What is due in the second part, of the first, is taught by single updates in between."""
    log, known, _, _ = prepare(maker, seed, data, False)
    whole, parts = maker(**own), maker(**own)
    log.run(whole, known=known)
    log.run(parts, slice(0, cut), known=known[:cut])
    held = {ticket.id: ticket for ticket in parts.pending}
    late = [t for t in held if not np.isnan(log.outcomes[t]).any() and known[t] <= ROWS]
    moments = sorted({*known[late].tolist(), *known[cut:][known[cut:] <= ROWS].tolist(), ROWS})
    done = cut
    for now in moments:  # all that is due at one moment, by row: those of the first part first
        own_part = np.where(known[done:now] < now, known[done:now] - done, 9**9)
        log.run(parts, slice(done, now), known=own_part)
        waiting = {ticket.id for ticket in parts.pending}
        for t in sorted(waiting):
            if known[t] == now and not np.isnan(log.outcomes[t]).any():
                parts.update(log.outcomes[t], t)
        done = now
    assert parts.to_json() == whole.to_json()


@every
def test_outcomes_that_are_known_at_once_make_a_usual_run(maker):
    log = maker.log(60, 4)
    usual, at_once = maker(), maker()
    shown = run_described(log.run(usual))
    assert run_described(log.run(at_once, known=np.arange(1, 61))) == shown
    assert usual.certificates() == at_once.certificates()


@pytest.mark.parametrize("name", ["binary, anytime", "recalibrator"])
def test_long_late_runs_reach_finer_grids(name):
    """Rows grow, and their arena with them, while forecasts of coarser grids wait."""
    maker, rows = MAKERS[name], 1500
    log, rng = maker.log(rows, 1), np.random.default_rng(2)
    known = np.arange(1, rows + 1) + rng.integers(0, 300, rows)
    known[::50] = rows + 1
    looped, ran = maker(), maker()
    log.run(ran, known=known)
    in_order(known, lambda t: log.predict(looped, t), lambda y, own: looped.update(y, own), log)
    assert ran.to_json() == looped.to_json()
    keys = rng.integers(0, 5, rows).tolist()
    contexts = () if log.contexts is None else (log.contexts,)
    looped, ran = Bank(maker()), Bank(maker())
    ran.run(keys, *contexts, log.outcomes, known=known, **log.more())
    in_order(
        known,
        lambda t: looped.predict(
            [keys[t]], *(part[t : t + 1] for part in contexts), **log.more([t])
        ),
        lambda y, own: looped.update(own, [y]),
        log,
    )
    assert ran.to_json() == looped.to_json()
    if not maker.models:
        assert {ticket.level for ticket in ran.pending} >= {0, 1}


def in_order(known, predict, update, log):
    """``one_by_one`` for long logs."""
    tickets, order = [], np.argsort(known, kind="stable").tolist()
    for now in range(len(known) + 1):
        while order and known[order[0]] == now:
            t = order.pop(0)
            update(log.outcomes[t], tickets[t])
        if now < len(known):
            tickets.append(predict(now))


def test_classes_may_be_absent_as_numbers_too():
    forecaster = MulticlassForecaster(3, seed=1)
    forecaster.run([0, -1, 2, 1], known=[1, 2, 3, 4])
    assert [ticket.id for ticket in forecaster.pending] == [1]
    recalibrator = Recalibrator(classes=3, seed=1)
    recalibrator.run(np.full((3, 3), 1 / 3), [2, np.nan, 0], known=[3, 3, 3])
    assert [ticket.id for ticket in recalibrator.pending] == [1] and recalibrator.rounds == 2


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ([1, 2], r"known must have shape \(3,\), got \(2,\)"),
        ([1, 1, 3], "larger than that of the row itself .from 0., got 1 at position 1"),
        ([1, 2.5, 3], "known must be whole numbers of rows"),
        ([1, np.nan, 3], "known must be whole numbers of rows"),
        (["a", "b", "c"], "known must be numbers"),
    ],
)
def test_moments_that_cannot_be_are_refused(known, message):
    for forecaster in (Forecaster(seed=1), Bank(Forecaster(seed=1))):
        own = ([1, 2, 3],) if isinstance(forecaster, Bank) else ()
        with pytest.raises(ValueError, match=message):
            forecaster.run(*own, [1, 0, 1], known=known)
        assert forecaster.pending == ()


def test_rows_of_an_event_are_known_together():
    forecaster = Forecaster(seed=1)
    with pytest.raises(ValueError, match="event 'a' must have one known, got others in rows 0 and"):
        forecaster.run([1, 1, 0], event=["a", "a", "b"], known=[2, 3, 3])
    with pytest.raises(ValueError, match="event 'a' must have one outcome"):
        forecaster.run([1, np.nan, 0], event=["a", "a", "b"], known=[3, 3, 3])
    forecaster.run([np.nan, np.nan, 0], event=["a", "a", "b"], known=[3, 3, 4])
    assert [ticket.event for ticket in forecaster.pending] == ["a", "a", "b"]


def test_absent_outcomes_need_moments():
    with pytest.raises(ValueError, match="outcomes must lie in"):
        Forecaster(seed=1).run([1, np.nan])
