"""Batches at the desk: the same rows, forecasts and draws as one event after the other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.makers import MAKERS
from fullswap import Bank
from fullswap.base.draws import stream_of
from fullswap.forecasting.contexts import event_of
from fullswap.kernels.columns import NEXT_ID
from fullswap.online.desk import Desk
from fullswap.online.rows import Rows

KEYS = ("a", "b", "c")


class Pair:
    """A bank, and a desk over rows of the same streams."""

    def __init__(self, maker):
        pattern = maker(seed=5)
        self.pattern = pattern
        self.bank = Bank(pattern)
        self.bank._streams(list(KEYS))
        seed = pattern._stream.draws.seed
        self.rows = Rows(pattern._stream.kind, seed, [stream_of(key) for key in KEYS])
        self.desk = Desk(self.rows)
        self.held = {}

    def forecast(self, streams, contexts, names):
        tickets = []
        for t, stream in enumerate(streams):
            own = self.bank._open(KEYS[stream])
            tickets.append(own.predict(event_of(contexts, t), names[t]))
        made = self.desk.forecast(np.array(streams, int), contexts, names)
        for t, ticket in enumerate(tickets):
            held = made.weights[t] > 0
            assert ticket.id == made.numbers[t]
            assert np.array_equal(ticket.points, made.supports[t][held])
            assert np.array_equal(ticket.weights, made.weights[t][held])
            assert np.array_equal(ticket.issued, made.issued[t])
            assert np.array_equal(ticket.mean, made.means[t])
            notes, plays = self.desk.tickets([made.slots[t]])
            assert notes[0, 3] == ticket.crowd
            self.held[streams[t], ticket.id] = ticket
        return made

    def resolve(self, chosen, outcomes, scales):
        heads = []
        for k, (stream, number) in enumerate(chosen):
            slot = self.desk.find(stream, number)
            heads.append(self.desk.head(slot))
            own, ticket = self.bank._open(KEYS[stream]), self.held[stream, number]
            tickets = [ticket]
            if ticket.event is not None:
                tickets = own.pending.of_event(ticket.event)
            assert [t.id for t in tickets] == [
                self.desk.number(s) for s in self.desk.siblings(heads[-1])
            ]
            value = outcomes[k].tolist() if outcomes.ndim == 1 else outcomes[k]
            own.resolve(tickets, value, float(scales[k]))
            for other in tickets:
                del self.held[stream, other.id]
        self.desk.resolve(np.array(heads, int), outcomes, scales)

    def check(self):
        for place, key in enumerate(KEYS):
            mine, theirs = self.rows.row(place), self.bank._rows.row(self.bank._places[key])
            assert np.array_equal(mine, theirs)
            waiting = sorted(n for s, n in self.held if s == place)
            assert sorted(self.desk.number(s) for s in self.desk.waiting(place)) == waiting
            held = self.bank._waiting.get(place)
            assert self.desk.pending(place) == (held.pending.crowd() if held else 0)


def contexts_of(pair, log):
    said = None if log.contexts is None else pair.pattern._contexts(log.contexts)
    return pair.pattern._with_groups(said, len(log), log.groups)[0]


def turns(pair, maker, rng, count, named=0.4):
    """Batches of forecasts and of outcomes, some events with names, until all is resolved."""
    log = maker.log(4 * count, int(rng.integers(1000)))
    contexts = contexts_of(pair, log)
    outcomes = np.ascontiguousarray(pair.pattern._outcomes(log.outcomes), dtype=float)
    begin = 0
    for turn in range(2 * count):
        size = int(rng.integers(0, 5))
        if turn < count and begin + size <= len(outcomes):
            streams = rng.integers(0, len(KEYS), size).tolist()
            names = [f"e{rng.integers(3)}" if rng.random() < named else None for _ in streams]
            part = None if contexts is None else contexts[begin : begin + size]
            yield "forecast", pair.forecast(streams, part, names)
        events = {}
        for stream, number in pair.held:
            head = pair.desk.head(pair.desk.find(stream, number))
            events.setdefault(head, (stream, number))
        chosen = [events[h] for h in rng.permutation(sorted(events))[: int(rng.integers(0, 5))]]
        if chosen:
            scales = rng.choice([0.0, 0.3, 1.0], len(chosen), p=[0.1, 0.2, 0.7])
            own = outcomes[rng.integers(0, len(outcomes), len(chosen))]
            pair.resolve(chosen, own, scales)
            yield "resolve", None
        begin += size


@pytest.mark.parametrize("name", MAKERS)
def test_batches_are_single_events_to_the_bit(name):
    maker = MAKERS[name]
    pair, rng = Pair(maker), np.random.default_rng(3)
    for _ in turns(pair, maker, rng, 60):
        pair.check()
    assert pair.rows.row(0)[NEXT_ID] > 10


@pytest.mark.parametrize("name", ["binary", "recalibrator"])
@given(seed=st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_what_is_undone_leaves_no_trace_and_what_is_put_back_goes_on(name, seed):
    maker = MAKERS[name]
    rng = np.random.default_rng(seed)
    pair = Pair(maker)
    for kind, _ in turns(pair, maker, rng, 12):
        if kind == "forecast" and rng.random() < 0.5:
            before = pair.rows.arena.copy()
            log = maker.log(4, 1)
            contexts = contexts_of(pair, log)
            more = pair.desk.forecast(np.array([0, 1, 0, 2]), contexts, ["e0", None, "e0", "x"])
            pair.desk.undo(more.slots)
            assert np.array_equal(pair.rows.arena, before)
            assert pair.desk.event(2, "x") == -1
        if rng.random() < 0.3:  # another desk takes over
            slots = [s for place in range(3) for s in reversed(list(pair.desk.waiting(place)))]
            streams = np.array([place for place in range(3) for _ in pair.desk.waiting(place)], int)
            names = [pair.desk.name(s) for s in slots]
            tickets = pair.desk.tickets(slots)
            pair.desk = Desk(pair.rows)
            pair.desk.put(streams, tickets, names)
        pair.check()


def test_a_forecast_that_is_dropped_leaves_the_others_of_its_event():
    pair = Pair(MAKERS["binary"])
    made = pair.desk.forecast(np.array([0, 0, 0, 1]), None, ["e", "e", "e", None])
    pair.desk.drop(int(made.slots[0]))
    assert pair.desk.event(0, "e") == made.slots[1]
    assert pair.desk.siblings(int(made.slots[1])) == made.slots[1:3].tolist()
    pair.desk.drop(int(made.slots[2]))
    assert pair.desk.siblings(int(made.slots[1])) == [made.slots[1]]
    pair.desk.drop(int(made.slots[1]))
    assert pair.desk.event(0, "e") == -1
    assert (pair.desk.pending(0), pair.desk.pending(1)) == (0, 1)
