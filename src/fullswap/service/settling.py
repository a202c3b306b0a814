"""What follows when events get their outcomes, or never will: for requests, and for a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import UNSET

from fullswap.service.fleet import Fleet, Held

if TYPE_CHECKING:
    from fullswap.service.engine import Engine

_JSON = msgspec.json.Encoder().encode
_PACK = msgspec.msgpack.Encoder().encode


def settle(
    engine: Engine, fleet: Fleet, places: Any, slots: Any, outcomes: Any, scales: Any, now: float
) -> None:
    """Learn outcomes of events that wait, each given by one of its forecasts, or drop them.

    ``outcomes`` None: they will never come.
    """
    desk = fleet.desk
    heads = desk.heads(slots)
    counts = desk.counts(heads)
    alone = bool((counts == 1).all())
    groups = heads[:, None].tolist() if alone else [desk.siblings(head) for head in heads.tolist()]
    own = [slot for group in groups for slot in group]
    held = [fleet.held.pop(slot) for slot in own]
    nos = [fleet.nos[place] for place in places.tolist()]
    owners = nos if alone else np.repeat(nos, counts).tolist()
    texts: list[str | None] = [None] * len(groups)
    if outcomes is not None:
        texts = [_text(outcome) for outcome in outcomes.tolist()]
    shown = texts if alone else [texts[k] for k, group in enumerate(groups) for _ in group]
    numbers = desk.tickets(own).notes[:, 0].tolist()
    _write(engine, owners, numbers, held, shown, now)
    fleet.last[places] = now
    for place, group in zip(places.tolist(), groups, strict=True):
        fleet.crowds[place] -= len(group)
    if outcomes is None:
        for slot in reversed(own):
            desk.drop(slot)
        return
    desk.resolve(heads, outcomes, scales)
    said, ours = [fleet.said(one.p) for one in held], [one.answer.mean for one in held]
    bounds = None if alone else np.concatenate(([0], np.cumsum(counts)))
    began = fleet.watch.take(
        places, *fleet.watched(said, ours, outcomes), scales, np.full(len(heads), now), bounds
    )
    for place, alarm in began:
        engine.note_alarm(fleet, place, alarm)


def _write(
    engine: Engine, nos: list[int], numbers: list[int], held: list[Held], texts: list[Any],
    now: float,
) -> None:  # fmt: skip
    """Note what became of forecasts."""
    add = engine.index.add
    for no, number, one, text in zip(nos, numbers, held, texts, strict=True):
        answer = one.answer
        own: tuple[Any, ...] = () if one.groups is None else (one.groups,)
        if answer.declared is not UNSET:
            own = (one.groups, answer.declared)
        body = _PACK((one.p, answer.issued, answer.mean, answer.points, answer.weights, *own))
        add((no, number, one.time, now, one.id, one.event, text, body))
        if one.event is not None:
            engine.forget_event(one.event, no)


def _text(outcome: Any) -> str:
    """An outcome as JSON."""
    return "1.0" if outcome == 1.0 else "0.0" if outcome == 0.0 else _JSON(outcome).decode()
