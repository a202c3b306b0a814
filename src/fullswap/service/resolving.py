"""Outcomes that clients report, many requests at a time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from fullswap.forecasting.inputs import scale_of
from fullswap.service.fleet import Fleet
from fullswap.service.index import Place
from fullswap.service.messages import OutcomeItem, Refusal, Settled
from fullswap.service.problems import Refused
from fullswap.service.records import Dropped, Outcomes, encode, packed
from fullswap.service.settling import settle

if TYPE_CHECKING:
    from fullswap.service.engine import Engine

OWN = re.compile(r"fs-([0-9]{1,18})-([0-9]{1,18})")
"""Ids that the service gives out: number of the stream, number of the forecast."""
LEARNT, KNOWN, DROPPED = "learnt", "known", "dropped"


class Due(NamedTuple):
    """An event that waits and will be resolved."""

    fleet: Fleet
    place: int
    head: int
    """Where its oldest forecast waits."""


class Found(NamedTuple):
    """A forecast that a client named."""

    fleet: Fleet
    place: int
    head: int
    """Where the oldest forecast of its event waits; −1: it has its outcome, or was never made."""
    name: Place


class Batch:
    """Events of one fleet: first those that are learnt, then those that are dropped."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.learnt = Dues()
        self.dropped = Dues()
        self.closed: set[int] = set()
        """Streams that learn no more in this batch: something of them was dropped."""

    def entries(self, now: float) -> list[bytes]:
        """What the journal says of it."""
        fleet, entries = self.fleet, []
        if self.learnt.places:
            outcomes, scales = packed(self.learnt.values()), packed(self.learnt.weights())
            entries.append(
                encode(Outcomes(now, fleet.no, *self.learnt.numbers(fleet), outcomes, scales))
            )
        if self.dropped.places:
            entries.append(encode(Dropped(now, fleet.no, *self.dropped.numbers(fleet))))
        return entries


class Dues:
    """Events that will be resolved together; lists have one entry each."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self.heads: list[int] = []
        self.outcomes: list[Any] = []
        self.scales: list[float] = []

    def add(self, place: int, head: int, outcome: Any, scale: float) -> None:
        """One more."""
        self.places.append(place)
        self.heads.append(head)
        self.outcomes.append(outcome)
        self.scales.append(scale)

    def values(self) -> Any:
        """Outcomes as an array."""
        return np.array(self.outcomes, float)

    def weights(self) -> Any:
        """Scales as an array."""
        return np.array(self.scales)

    def numbers(self, fleet: Fleet) -> tuple[Any, Any]:
        """Streams, and ids of the oldest forecasts."""
        nos = np.array([fleet.nos[place] for place in self.places], np.int64)
        return packed(nos), packed(fleet.desk.tickets(self.heads).notes[:, 0])


class Reported:
    """Items of many requests: what becomes of them, once that is durable."""

    def __init__(self, engine: Engine, items: list[OutcomeItem | Refusal]) -> None:
        self._engine, self._now = engine, engine.clock()
        self.answers: list[Any] = [None] * len(items)
        self._batches: list[Batch] = []
        self._last: dict[int, Batch] = {}
        """The last batch of each fleet."""
        self._settling: dict[tuple[int, int], Any] = {}
        """(Fleet, place at the desk) ↦ outcome, of events that this batch resolves."""
        self._places = self._find([
            item.id for item in items if type(item) is OutcomeItem and item.id is not None
        ])  # fmt: skip
        for turn, item in enumerate(items):
            if type(item) is Refusal:
                self.answers[turn] = item
                continue
            assert isinstance(item, OutcomeItem)
            if self._take_plain(item):
                self.answers[turn] = Settled(item.id, LEARNT)  # type: ignore[arg-type]
                continue
            try:
                self.answers[turn] = self._take(item)
            except Refused as refused:
                self.answers[turn] = refused.answer

    def _find(self, ids: list[str]) -> dict[str, Found]:
        """Where the forecasts of these ids are; unknown ones are left out."""
        engine = self._engine
        by_fleet: dict[int, list[tuple[str, Place, int]]] = {}
        places = {one: place for one in ids if (place := place_of(one)) is not None}
        places.update(engine.index.find_ids({one for one in ids if one not in places}))
        found = {}
        for one, place in places.items():
            stream = engine.by_no.get(place[0])
            if stream is not None:
                by_fleet.setdefault(stream[0].no, []).append((one, place, stream[1]))
        for no, own in by_fleet.items():
            fleet = engine.fleets[no]
            slots = fleet.desk.find_all(
                np.array([where for _, _, where in own]),
                np.array([place[1] for _, place, _ in own]),
            )
            heads = fleet.desk.heads(slots)
            for (one, place, where), head in zip(own, heads.tolist(), strict=True):
                found[one] = Found(fleet, where, head, place)
        return found

    @property
    def entries(self) -> list[bytes]:
        """What is to be made durable."""
        return [entry for batch in self._batches for entry in batch.entries(self._now)]

    def undo(self) -> None:
        """It could not be written; nothing has changed."""

    def finish(self, seq: int) -> list[Settled | Refusal]:
        """It is durable from this entry on: learn."""
        engine = self._engine
        for batch in self._batches:
            learnt = batch.learnt
            if learnt.places:
                self._settle(batch.fleet, learnt, learnt.values(), learnt.weights(), seq)
            if batch.dropped.places:
                self._settle(batch.fleet, batch.dropped, None, None, seq)
        if self._batches:
            engine.saving.begin(seq)
        engine.counts["outcomes"] += sum(type(answer) is Settled for answer in self.answers)
        engine.counts["refused"] += sum(type(answer) is Refusal for answer in self.answers)
        return self.answers

    def _settle(self, fleet: Fleet, dues: Dues, outcomes: Any, scales: Any, seq: int) -> None:
        places, heads = np.array(dues.places, np.int64), np.array(dues.heads, np.int64)
        self._engine.saving.touch_all([fleet.nos[place] for place in dues.places], seq)
        settle(self._engine, fleet, places, heads, outcomes, scales, self._now)

    # --- item by item -------------------------------------------------------------------------

    def _take_plain(self, item: OutcomeItem) -> bool:
        """The usual case, and quick: yes or no, by id, for the first time, of weight 1."""
        found = self._places.get(item.id)  # type: ignore[arg-type]
        if found is None or item.event is not None or item.stream is not None:
            return False
        fleet, place, head, _ = found
        outcome, token = item.outcome, (fleet.no, head)
        usual = type(outcome) in (int, float, bool) and 0 <= outcome <= 1  # type: ignore[operator]
        if head < 0 or not usual or not fleet.plain_outcomes or item.weight != 1.0:
            return False
        if token in self._settling:
            return False
        value = float(outcome)  # type: ignore[arg-type]
        self._settling[token] = value
        self._batch(fleet, place, True).learnt.add(place, head, value, 1.0)
        return True

    def _batch(self, fleet: Fleet, place: int, learns: bool) -> Batch:
        """Where the next event of a stream belongs, so that its events stay in order."""
        batch = self._last.get(fleet.no)
        if batch is None or (learns and place in batch.closed):
            batch = self._last[fleet.no] = Batch(fleet)
            self._batches.append(batch)
        return batch

    def _take(self, item: OutcomeItem) -> Settled:
        if (item.id is None) == (item.event is None):
            raise Refused("bad-item", "an outcome must have either id or event")
        if item.id is not None:
            return self._take_id(item, item.id)
        assert item.event is not None
        return self._take_event(item, item.event)

    def _take_id(self, item: OutcomeItem, name: str) -> Settled:
        found = self._places.get(name)
        if found is None:
            raise Refused("unknown-id", f"id must be that of a forecast, got {name!r}")
        fleet, own, head, place = found
        if item.stream is not None and item.stream != fleet.names[own]:
            raise Refused("conflict", f"id {name!r} belongs to another stream than {item.stream!r}")
        if head < 0:
            return Settled(name, self._compare(fleet, place, item))
        return Settled(name, self._resolve(Due(fleet, own, head), item))

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
        batch = self._batch(fleet, due.place, value is not None)
        if value is None:
            batch.dropped.add(due.place, due.head, None, 0.0)
            batch.closed.add(due.place)
            return DROPPED
        batch.learnt.add(due.place, due.head, value, scale)
        return LEARNT

    def _clash(self, due: Due, item: OutcomeItem) -> bool:
        """Whether this batch resolves the event already; refused if differently."""
        token = (due.fleet.no, due.head)
        if token not in self._settling:
            return False
        if self._settling[token] != self._value(due.fleet, item):
            raise Refused(
                "conflict", "outcome must not contradict the one that was reported before"
            )
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
    found = OWN.fullmatch(name)
    return None if found is None else (int(found[1]), int(found[2]))
