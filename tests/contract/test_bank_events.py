"""Laws of events in banks: they belong to their stream, which is a forecaster of its own."""

import numpy as np
import pytest

from contract.makers import MAKERS
from contract.test_banks import KEYS, assert_streams_equal, columns_of, keys_for
from contract.test_events import with_one_outcome
from fullswap import Bank, Forecaster

every = pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)


def outcomes_by_stream(log, names, picks, weights):
    """One outcome and weight for each event of each stream."""
    own = [None if name is None else (int(k), name) for k, name in zip(picks, names, strict=True)]
    with_one_outcome(log, own, weights)


def events_for(count, seed=0):
    rng = np.random.default_rng(seed)
    return [None if rng.random() < 0.2 else f"event {t // 20}" for t in range(count)]


@every
def test_a_run_with_events_is_that_of_each_stream_alone(maker):
    log, names = maker.log(200, 3), events_for(200)
    keys, picks = keys_for(200)
    weights = np.random.default_rng(1).choice([0.5, 1.0], 200)
    outcomes_by_stream(log, names, picks, weights)
    bank = Bank(maker(seed=5))
    bank.predict(keys[-2:], *(() if log.contexts is None else (log.contexts[-2:],)),
                 **log.more(slice(-2, None)),
                 event=names[-2:])  # fmt: skip
    others = {key: bank[key] for key in bank}
    others.update({key: bank.blank(key) for key in KEYS if key not in others})
    record = bank.run(keys, *columns_of(log), sample_weight=weights, event=names, **log.more())
    for k, key in enumerate(KEYS):
        own = np.flatnonzero(picks == k)
        run = others[key].run(
            *columns_of(log, own), weights[own], event=[names[t] for t in own], **log.more(own)
        )
        np.testing.assert_array_equal(run.issued, record.issued[own])
        np.testing.assert_array_equal(run.mean, record.mean[own])
    assert_streams_equal(bank, others)


@every
def test_single_events_and_restarts(maker):
    log, names = maker.log(60, 4), events_for(60, 1)
    keys, _ = keys_for(60, 2)
    contexts = () if log.contexts is None else (log.contexts,)
    bank = Bank(maker(seed=6))
    others = {key: bank.blank(key) for key in KEYS}
    for t in range(60):
        part = slice(t, t + 1)
        (ticket,) = bank.predict(
            keys[part], *(c[part] for c in contexts), event=names[part], **log.more(part)
        )
        other = log.predict(others[keys[t]], t, names[t])
        np.testing.assert_array_equal(ticket.issued, other.issued)
        assert ticket.event == names[t]
        if t % 9 == 8:
            bank = Bank.from_json(bank.to_json())
        if t % 4 == 3 and names[t] is not None:
            bank.resolve(keys[part], names[part], log.outcomes[part], [0.5])
            others[keys[t]].resolve(names[t], log.outcomes[t], 0.5)
        if names[t] is None:
            bank.update([ticket], log.outcomes[part])
            others[keys[t]].update(log.outcomes[t], other)
        assert_streams_equal(bank, {key: others[key] for key in bank})


def test_the_same_name_in_two_streams_is_two_events():
    bank = Bank(Forecaster(seed=1))
    first, second = bank.predict(["a", "b"], event=["game", "game"])
    bank.resolve(["a"], ["game"], [1])
    assert bank["a"].rounds == 1 and bank["b"].rounds == 0
    assert bank.pending == (second,) and bank["b"].pending[0].event == "game"
    bank.drop(key="b", event="game")
    assert bank.pending == ()


def test_what_is_refused_changes_nothing():
    bank = Bank(Forecaster(seed=1))
    tickets = bank.predict(["a", "a", "b"], event=["game", "game", None])
    before = bank.to_json()
    refusals = {
        "call resolve": lambda: bank.update(tickets[:1], [1]),
        "event 'game' has no pending forecast": lambda: bank.resolve(["b"], ["game"], [1]),
        "events must be distinct": lambda: bank.resolve(["a", "a"], ["game"] * 2, [1, 1]),
        "event must be one name": lambda: bank.predict(["a"], event="game"),
        "event must be a text": lambda: bank.resolve(["a"], [None], [1]),
        "outcomes must": lambda: bank.resolve(["a"], ["game"], [2]),
        "events must be as long": lambda: bank.resolve(["a"], ["game"], [1, 1]),
        "no stream has the key": lambda: bank.resolve(["c"], ["game"], [1]),
        "must have one outcome": lambda: bank.run(["d"] * 2, [0, 1], event=["game"] * 2),
        "be left out": lambda: bank.drop(tickets[0], key="a", event="game"),
    }
    for message, act in refusals.items():
        with pytest.raises((ValueError, KeyError), match=message):
            act()
        assert bank.to_json() == before and "d" not in bank
