"""A late log in parts: what waited for its outcome is answered in the course of a later run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.makers import run_described
from contract.test_forecasters import settings_of
from contract.test_late_runs import ROWS, every, prepare, seeds
from fullswap import Bank, Forecaster
from fullswap.forecasting import Answers

few = settings(max_examples=4)


def in_parts(make_run, log, known, weights, names, keys, cuts, forecaster):
    """The log in parts, each forecaster read back from what the last one saved."""
    shown, edges = [], [0, *sorted(cuts), ROWS]
    for start, stop in zip(edges, edges[1:], strict=False):
        part = slice(start, stop)
        late, owners = {}, [None] * ROWS if keys is None else keys
        told = set(zip(owners[part], names[part], strict=True))  # by rows of this part
        for t in range(start):
            due = start < known[t] <= stop and not np.isnan(log.outcomes[t]).any()
            if due and (owners[t], names[t]) not in told:
                late[owners[t], names[t]] = t
        own = sorted(late.values())
        answers = Answers(
            [names[t] for t in own], log.outcomes[own], known[own] - start,
            None if keys is None else [keys[t] for t in own], weights[own],
        )  # fmt: skip
        local = np.where(known[part] <= stop, known[part] - start, 9**9)
        shown += make_run(forecaster, part, local, answers)
        forecaster = type(forecaster).from_json(forecaster.to_json())
    return shown, forecaster


@every
@few
@given(settings_of(), seeds, st.lists(st.integers(0, ROWS), max_size=4), st.booleans(), st.data())
def test_a_late_log_in_parts_is_one_run(maker, own, seed, cuts, shared, data):
    log, known, weights, names = prepare(maker, seed, data, shared)
    names = [t if name is None else f"event {name}" for t, name in enumerate(names)]
    whole, parts = maker(**own), maker(**own)
    expected = run_described(log.run(whole, known=known, weights=weights, event=names))

    def run(forecaster, part, local, answers):
        columns = () if log.contexts is None else (log.contexts[part],)
        record = forecaster.run(
            *columns, log.outcomes[part], weights[part], event=names[part], known=local,
            answers=answers, **log.more(part),
        )  # fmt: skip
        return run_described(record)

    shown, parts = in_parts(run, log, known, weights, names, None, cuts, parts)
    assert shown == expected
    assert parts.to_json() == whole.to_json()


@every
@few
@given(settings_of(), seeds, st.lists(st.integers(0, ROWS), max_size=4), st.booleans(), st.data())
def test_a_late_log_of_a_bank_in_parts_is_one_run(maker, own, seed, cuts, shared, data):
    keys = np.random.default_rng(seed).choice(["north", "south", "west"], ROWS).tolist()
    log, known, weights, names = prepare(maker, seed, data, shared, keys)
    names = [t if name is None else f"event {name}" for t, name in enumerate(names)]
    whole, parts = Bank(maker(**own)), Bank(maker(**own))
    contexts = () if log.contexts is None else (log.contexts,)
    more = {"sample_weight": weights, "known": known, "event": names, **log.more()}
    expected = run_described(whole.run(keys, *contexts, log.outcomes, **more))

    def run(bank, part, local, answers):
        record = bank.run(
            keys[part], *(column[part] for column in contexts), log.outcomes[part],
            sample_weight=weights[part], event=names[part], known=local, answers=answers,
            **log.more(part),
        )  # fmt: skip
        return run_described(record)

    shown, parts = in_parts(run, log, known, weights, names, keys, cuts, parts)
    assert shown == expected
    assert parts.to_json() == whole.to_json()


def test_answers_may_come_without_rows():
    asked, told = Forecaster(seed=1), Forecaster(seed=1)
    for forecaster in (asked, told):
        forecaster.predict(event="final")
    asked.resolve("final", 1)
    told.run([], answers=Answers(["final"], [1], [0]))
    assert told.to_json() == asked.to_json() and not told.pending


def test_answers_without_rows_go_to_their_own_stream():
    bank = Bank(Forecaster(seed=1))
    bank.run(["north", "south"], [1, 0])
    bank.predict(["south"], event=["e"])
    bank.run([], [], answers=Answers(["e"], [1], [0], keys=["south"]))
    assert (bank["north"].rounds, bank["south"].rounds) == (1, 2)


@pytest.mark.parametrize(
    "answers, message",
    [
        (Answers(["cup"], [1], [0]), "event 'cup' has no pending forecast"),
        (Answers(["final"], [2], [0]), "outcomes must lie in"),
        (Answers(["final"], [1], [3]), "answers.known must be whole numbers of rows, from 0 to 2"),
        (Answers(["final"], [1], [0, 1]), "answers.known must have shape"),
        (Answers(["final", "final"], [1, 1], [0, 1]), "answers.events must be distinct"),
        (Answers(["final"], [1], [0], keys=["a"]), "answers.keys must be left out"),
        (["final"], "answers must be Answers or None"),
    ],
    ids=["unknown", "outcome", "beyond", "lengths", "twice", "keys", "kind"],
)
def test_bad_answers_are_refused_and_change_nothing(answers, message):
    forecaster = Forecaster(seed=1)
    forecaster.predict(event="final")
    before = forecaster.to_json()
    with pytest.raises(ValueError, match=message):
        forecaster.run([0, 1], answers=answers)
    assert forecaster.to_json() == before


def test_an_event_is_not_answered_twice():
    forecaster = Forecaster(seed=1)
    forecaster.predict(event="final")
    answers = Answers(["final"], [1], [1])
    with pytest.raises(ValueError, match="no row with an outcome in the run itself, got 'final'"):
        forecaster.run([0, 1], event=["final", None], answers=answers)
    forecaster.run([0, np.nan], known=[1, 2], event=[None, "final"], answers=answers)
    assert [ticket.event for ticket in forecaster.pending] == ["final"]  # a new event of that name
