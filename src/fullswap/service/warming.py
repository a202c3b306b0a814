"""Compile what the streams of a spec need, before anybody waits for it."""

from __future__ import annotations

import numpy as np

from fullswap.service.fleet import Fleet
from fullswap.service.messages import SpecBody


def warm(body: SpecBody) -> None:
    """All that is done with a stream, once, in one that is thrown away."""
    fleet = Fleet(0, "", body)
    for no, name in ((1, "a"), (2, "b")):
        fleet.add(no, name, 0.0)
    desk, places, k = fleet.desk, np.array([0, 1]), fleet.classes
    contexts = None
    if fleet.models:
        shape = (2, fleet.models, k) if fleet.vector else (2, fleet.models)
        contexts = np.full(shape, 1 / k)
    if fleet.groups is not None:
        said = [0.5 if fleet.models == 1 else [0.5] * fleet.models] * 2
        contexts = fleet.contexts(said, [[0], []])
    desk.undo(desk.forecast(places, contexts, None).slots)
    made = desk.forecast(places, contexts, ["event", None])
    tickets = desk.tickets(made.slots)
    for slot in made.slots.tolist():
        desk.drop(slot)
    desk.put(places, tickets)
    slots = desk.find_all(places, made.numbers)
    desk.oldest(0)
    desk.find(0, 0)
    outcomes = np.eye(k)[[0, 1]] if fleet.vector else np.array([0.0, 1.0])
    desk.resolve(slots, outcomes, np.ones(2))
    said = [[1 / k] * k] * 2 if fleet.vector else [0.5] * 2
    fleet.watch.take(
        places, *fleet.watched(said, made.means.tolist(), outcomes), np.ones(2), np.zeros(2)
    )
    fleet.watch.rows([0])
