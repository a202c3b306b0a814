"""Laws of whole runs whose outcomes come late: the loop of the verbs, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.makers import MAKERS, described, run_described, state_of
from contract.test_events import events_of, with_one_outcome
from contract.test_forecasters import settings_of
from fullswap import Bank

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
                tickets += forecaster.predict([keys[now]], *context, event=[names[now]])
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
