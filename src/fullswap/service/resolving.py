"""Outcomes that clients report, many requests at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from fullswap.forecasting.inputs import scale_of
from fullswap.service.fleet import Fleet
from fullswap.service.index import Place
from fullswap.service.messages import OutcomeItem, Refusal, Settled
from fullswap.service.problems import Refused
from fullswap.service.records import Dropped, Outcomes, encode, packed

if TYPE_CHECKING:
    from fullswap.service.engine import Engine

LEARNT, KNOWN, DROPPED = "learnt", "known", "dropped"
_JSON = msgspec.json.Encoder().encode
_PACK = msgspec.msgpack.Encoder().encode


class Due(NamedTuple):
    """An event that waits and will be resolved."""

    fleet: Fleet
    place: int
    head: int
    """Where its oldest forecast waits."""


class Batch:
    """Events of one fleet, in order."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.learnt: list[tuple[Due, Any, float]] = []
        self.dropped: list[Due] = []

    def entries(self, now: float) -> list[bytes]:
        """What the journal says of it."""
        fleet, entries = self.fleet, []
        if self.learnt:
            outcomes = np.array([outcome for _, outcome, _ in self.learnt], float)
            scales = np.array([scale for _, _, scale in self.learnt])
            nos, numbers = self._numbers([due for due, _, _ in self.learnt])
            entries.append(encode(
                Outcomes(now, fleet.no, nos, numbers, packed(outcomes), packed(scales))
            ))  # fmt: skip
        if self.dropped:
            entries.append(encode(Dropped(now, fleet.no, *self._numbers(self.dropped))))
        return entries

    def _numbers(self, dues: list[Due]) -> tuple[Any, Any]:
        fleet = self.fleet
        nos = np.array([fleet.nos[due.place] for due in dues], np.int64)
        heads = np.array([due.head for due in dues], np.int64)
        return packed(nos), packed(fleet.desk.tickets(heads).notes[:, 0])


class Reported:
    """Items of many requests: what becomes of them, once that is durable."""

    def __init__(self, engine: Engine, items: list[OutcomeItem | Refusal]) -> None:
        self._engine, self._now = engine, engine.clock()
        self.answers: list[Any] = [None] * len(items)
        self._batches: dict[int, Batch] = {}
        self._settling: dict[tuple[int, int], Any] = {}
        """(Fleet, place at the desk) ↦ outcome, of events that this batch resolves."""
        ids = {item.id for item in items if type(item) is OutcomeItem and item.id is not None}
        self._places = engine.index.find_ids({one for one in ids if not one.startswith("fs-")})
        self._places.update(
            {one: place for one in ids if (place := place_of(one)) is not None}
        )
        for turn, item in enumerate(items):
            if type(item) is Refusal:
                self.answers[turn] = item
                continue
            assert isinstance(item, OutcomeItem)
            try:
                self.answers[turn] = self._take(item)
            except Refused as refused:
                self.answers[turn] = refused.answer

    @property
    def entries(self) -> list[bytes]:
        """What is to be made durable."""
        return [entry for batch in self._batches.values() for entry in batch.entries(self._now)]

    def undo(self) -> None:
        """It could not be written; nothing has changed."""

    def finish(self, seq: int) -> list[Settled | Refusal]:
        """It is durable from this entry on: learn."""
        engine = self._engine
        for batch in self._batches.values():
            fleet = batch.fleet
            if batch.learnt:
                dues = [due for due, _, _ in batch.learnt]
                outcomes = np.array([outcome for _, outcome, _ in batch.learnt], float)
                scales = np.array([scale for _, _, scale in batch.learnt])
                self._settle(fleet, dues, outcomes, scales, seq)
            if batch.dropped:
                self._settle(fleet, batch.dropped, None, None, seq)
        if self._batches:
            engine.saving.begin(seq)
        engine.counts["outcomes"] += sum(type(answer) is Settled for answer in self.answers)
        engine.counts["refused"] += sum(type(answer) is Refusal for answer in self.answers)
        return self.answers

    def _settle(self, fleet: Fleet, dues: list[Due], outcomes: Any, scales: Any, seq: int) -> None:
        places = np.array([due.place for due in dues], np.int64)
        heads = np.array([due.head for due in dues], np.int64)
        self._engine.saving.touch_all([fleet.nos[place] for place in places.tolist()], seq)
        settle(self._engine, fleet, places, heads, outcomes, scales, self._now)

    # --- item by item -------------------------------------------------------------------------

    def _take(self, item: OutcomeItem) -> Settled:
        if (item.id is None) == (item.event is None):
            raise Refused("bad-item", "an outcome must have either id or event")
        if item.id is not None:
            return self._take_id(item, item.id)
        assert item.event is not None
        return self._take_event(item, item.event)

    def _take_id(self, item: OutcomeItem, name: str) -> Settled:
        engine, place = self._engine, self._places.get(name)
        if place is None or place[0] not in engine.by_no:
            raise Refused("unknown-id", f"id must be that of a forecast, got {name!r}")
        fleet, own = engine.by_no[place[0]]
        if item.stream is not None and item.stream != fleet.names[own]:
            raise Refused("conflict", f"id {name!r} belongs to another stream than {item.stream!r}")
        slot = fleet.desk.find(own, place[1])
        if slot < 0:
            return Settled(name, self._compare(fleet, place, item))
        return Settled(name, self._resolve(Due(fleet, own, fleet.desk.head(slot)), item))

    def _take_event(self, item: OutcomeItem, event: str) -> Settled:
        engine = self._engine
        if item.stream is None:
            nos = list(engine.where.get(event, ()))
        else:
            found = engine.places.get(item.stream)
            if found is None:
                raise Refused("unknown-stream", f"stream must be there, got {item.stream!r}")
            nos = [found[0].nos[found[1]]] if found[0].desk.event(found[1], event) >= 0 else []
        dues = []
        for no in nos:
            fleet, place = engine.by_no[no]
            dues.append(Due(fleet, place, fleet.desk.event(place, event)))
        if not dues:
            return self._known_event(item, event)
        for due in dues:  # all or none
            self._value(due.fleet, item)
            self._scale(due.fleet, item)
            self._clash(due, item)
        ids = [due.fleet.held[slot].answer.id for due in dues
               for slot in due.fleet.desk.siblings(due.head)]  # fmt: skip
        status = [self._resolve(due, item) for due in dues]
        whole = KNOWN if all(one == KNOWN for one in status) else status[0]
        return Settled(ids[0], whole, event, ids)

    def _known_event(self, item: OutcomeItem, event: str) -> Settled:
        """An event that does not wait: it may have its outcome."""
        engine = self._engine
        found = engine.index.find_events([event])
        own = [place for (no, _), place in found.items() if no in engine.by_no and (
            item.stream is None or engine.places[item.stream] == engine.by_no[no])]  # fmt: skip
        if not own:
            raise Refused("unknown-event", f"event must be one that was forecast, got {event!r}")
        status = KNOWN
        for place in own:
            status = self._compare(engine.by_no[place[0]][0], place, item)
        row = engine.index.find_row(own[0])
        name = (row[4] if row else None) or f"fs-{own[0][0]}-{own[0][1]}"
        return Settled(name, status, event)

    def _resolve(self, due: Due, item: OutcomeItem) -> str:
        """Learn it when it is durable; "known" if this batch does so already."""
        fleet = due.fleet
        value, scale = self._value(fleet, item), self._scale(fleet, item)
        token = (fleet.no, due.head)
        if self._clash(due, item):
            return KNOWN
        self._settling[token] = value
        batch = self._batches.get(fleet.no)
        if batch is None:
            batch = self._batches[fleet.no] = Batch(fleet)
        if value is None:
            batch.dropped.append(due)
            return DROPPED
        batch.learnt.append((due, value, scale))
        return LEARNT

    def _clash(self, due: Due, item: OutcomeItem) -> bool:
        """Whether this batch resolves the event already; refused if differently."""
        token = (due.fleet.no, due.head)
        if token not in self._settling:
            return False
        if self._settling[token] != self._value(due.fleet, item):
            raise Refused("conflict", "outcome must not contradict the one that was reported before")
        return True

    def _compare(self, fleet: Fleet, place: Place, item: OutcomeItem) -> str:
        """An outcome of a forecast that has one: the same is fine, another is refused."""
        row = self._engine.index.find_row(place)
        if row is None:
            raise Refused("unknown-id", "id must be that of a forecast, got one that was not made")
        before = None if row[6] is None else msgspec.json.decode(row[6])
        if before != self._value(fleet, item):
            said = "that it will never come" if before is None else f"{before}"
            raise Refused(
                "conflict", f"outcome must not contradict the one that was reported before, {said}"
            )
        return KNOWN

    def _value(self, fleet: Fleet, item: OutcomeItem) -> Any:
        """The outcome as compiled code reads it; None: it will never come."""
        outcome = item.outcome
        if outcome is None:
            return None
        if not fleet.vector and type(outcome) in (int, float, bool) and 0 <= outcome <= 1:  # type: ignore[operator]
            return float(outcome)  # type: ignore[arg-type]
        try:
            value = fleet.pattern._outcome(outcome)
        except (ValueError, TypeError) as error:
            raise Refused("bad-outcome", str(error)) from None
        return value.tolist() if fleet.vector else float(value)

    def _scale(self, fleet: Fleet, item: OutcomeItem) -> float:
        if item.weight == 1.0 and fleet.pattern.max_weight == 1.0:
            return 1.0
        try:
            return float(scale_of(item.weight, fleet.pattern.max_weight))
        except (ValueError, TypeError) as error:
            raise Refused("bad-weight", str(error)) from None


def place_of(name: str) -> Place | None:
    """Stream and number of an id that the service gave out."""
    from fullswap.service.forecasting import OWN

    found = OWN.fullmatch(name)
    return None if found is None else (int(found[1]), int(found[2]))


def settle(
    engine: Engine, fleet: Fleet, places: Any, slots: Any, outcomes: Any, scales: Any, now: float
) -> None:
    """Learn outcomes of events that wait, each given by one of its forecasts, or drop them.

    ``outcomes`` None: they will never come.
    """
    desk, index = fleet.desk, engine.index
    heads = [desk.head(slot) for slot in slots.tolist()]
    groups = [desk.siblings(head) for head in heads]
    texts = [None] * len(heads) if outcomes is None else [
        _JSON(outcome).decode() for outcome in outcomes.tolist()
    ]  # fmt: skip
    said, ours = [], []
    for place, own, text in zip(places.tolist(), groups, texts, strict=True):
        no = fleet.nos[place]
        for slot in own:
            held, number = fleet.held.pop(slot), desk.number(slot)
            answer = held.answer
            body = _PACK((held.p, answer.issued, answer.mean, answer.points, answer.weights))
            index.add((no, number, held.time, now, held.id, held.event, text, body))
            said.append(fleet.said(held.p))
            ours.append(answer.mean)
            if held.event is not None:
                engine.forget_event(held.event, no)
    fleet.last[places] = now
    if outcomes is None:
        for own in groups:
            for slot in own[::-1]:
                desk.drop(slot)
        return
    desk.resolve(np.array(heads, np.int64), outcomes, scales)
    counts = np.array([len(own) for own in groups])
    bounds = None if (counts == 1).all() else np.concatenate(([0], np.cumsum(counts)))
    began = fleet.watch.take(
        places, *fleet.watched(said, ours, outcomes), scales, np.full(len(heads), now), bounds
    )
    for place, alarm in began:
        engine.note_alarm(fleet, place, alarm)
