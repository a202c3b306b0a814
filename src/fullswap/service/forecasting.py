"""Forecasts that clients ask for, many requests at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.online.desk import Made
from fullswap.service.fleet import Fleet, Held, answers_of
from fullswap.service.index import said_of
from fullswap.service.messages import ForecastItem, Issued, Refusal
from fullswap.service.problems import Refused
from fullswap.service.records import Forecasts, encode, packed
from fullswap.service.resolving import OWN

if TYPE_CHECKING:
    from fullswap.service.engine import Engine

Answer = Issued | Refusal


def own_id(no: int, number: int) -> str:
    """The id of a forecast for which the client chose none."""
    return f"fs-{no}-{number}"


class Batch:
    """Forecasts of one fleet, in order."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.turns: list[int] = []
        """Which items they are."""
        self.places: list[int] = []
        self.contexts: list[Any] = []
        self.groups: list[list[int]] = []
        self.ids: list[str | None] = []
        self.events: list[str | None] = []
        self.given: Any = None
        """What models say, as compiled code reads it."""
        self.made: Made | None = None
        self.held: list[Held]

    def compute(self, now: float) -> None:
        """Forecast all; nothing but ids has changed then."""
        fleet = self.fleet
        names = self.events if any(event is not None for event in self.events) else None
        where = np.array(self.places, np.int64)
        self.given = given = fleet.contexts(self.contexts, self.groups)
        self.made = made = fleet.desk.forecast(where, given, names)
        pairs = zip(self.ids, self.places, made.numbers.tolist(), strict=True)
        ids = [name or own_id(fleet.nos[place], number) for name, place, number in pairs]
        answers = answers_of(made, ids, fleet.labels)
        said = [None] * len(ids) if given is None else fleet.plain(given)
        own_groups = fleet.group_names(given, len(ids))
        rows = zip(self.ids, self.events, said, answers, own_groups, strict=True)
        self.held = [Held(now, *own) for own in rows]

    def entry(self, now: float, began: set[int]) -> bytes:
        """What the journal says of it; ``began``: numbers of new streams."""
        fleet, made = self.fleet, self.made
        assert made is not None
        nos = [fleet.nos[place] for place in self.places]
        new = {no: fleet.names[place] for no, place in zip(nos, self.places, strict=True)
               if no in began}  # fmt: skip
        tickets = fleet.desk.tickets(made.slots)
        return encode(
            Forecasts(
                now, fleet.no, list(new.items()), packed(np.array(nos, np.int64)),  # type: ignore[arg-type]
                packed(tickets.notes), packed(tickets.plays), packed(made.supports),
                packed(made.weights), packed(made.issued), packed(made.means),
                None if self.given is None else packed(self.given), self.ids, self.events,
                None if made.declared is None else packed(made.declared),
            )
        )  # fmt: skip


class Asked:
    """Items of many requests: what they are answered, once that is durable."""

    def __init__(self, engine: Engine, items: list[ForecastItem | Refusal]) -> None:
        self._engine, self._now = engine, engine.clock()
        self.answers: list[Any] = [None] * len(items)
        self._same: list[tuple[int, int]] = []
        """Items with the id of an earlier one of the batch, and that one."""
        self._batches: dict[int, Batch] = {}
        self._began: set[int] = set()
        """Streams that begin with this batch."""
        try:
            self._sort(items)
            for batch in self._batches.values():
                batch.compute(self._now)
        except BaseException:
            self.undo()
            raise

    @property
    def entries(self) -> list[bytes]:
        """What is to be made durable."""
        return [batch.entry(self._now, self._began) for batch in self._batches.values()]

    def undo(self) -> None:
        """It could not be written: as if nothing had been asked."""
        for batch in self._batches.values():
            if batch.made is not None:
                batch.fleet.desk.undo(batch.made.slots)
            for place in batch.places:
                batch.fleet.crowds[place] -= 1
        for no in sorted(self._began, reverse=True):
            self._engine.saving.forget(no)

    def finish(self, seq: int) -> list[Answer]:
        """It is durable from this entry on."""
        engine = self._engine
        for batch in self._batches.values():
            fleet = batch.fleet
            assert batch.made is not None
            fleet.held.update(zip(batch.made.slots.tolist(), batch.held, strict=True))
            places, numbers = np.array(batch.places), batch.made.numbers.tolist()
            nos = remember(engine, fleet, places, numbers, batch.held)
            engine.saving.touch_all(nos, seq)
            for turn, held in zip(batch.turns, batch.held, strict=True):
                self.answers[turn] = held.answer
            engine.counts["forecasts"] += len(nos)
        if self._batches:
            engine.saving.begin(seq)
        for turn, first in self._same:
            self.answers[turn] = self.answers[first]
        engine.counts["refused"] += sum(type(answer) is Refusal for answer in self.answers)
        return self.answers

    # --- item by item -------------------------------------------------------------------------

    def _sort(self, items: list[ForecastItem | Refusal]) -> None:
        """Check items and sort them by fleet; those that need no forecast are answered."""
        engine = self._engine
        asked = [item for item in items if type(item) is ForecastItem]
        known = engine.index.find_ids({item.id for item in asked if item.id is not None})
        names = {item.event for item in asked if item.event is not None}
        resolved = engine.index.find_events(names) if names else {}
        seen: dict[str, int] = {}
        for turn, item in enumerate(items):
            if type(item) is Refusal:
                self.answers[turn] = item
                continue
            assert isinstance(item, ForecastItem)
            try:
                if item.id is not None:
                    place = known.get(item.id)
                    if place is not None and place[0] in engine.by_no:  # else it was deleted
                        self.answers[turn] = self._again(item, place)
                        continue
                    first = seen.get(item.id)
                    if first is not None:
                        other = items[first]
                        assert isinstance(other, ForecastItem)
                        _refuse_other(item.id, item.stream, other.stream)
                        self._same.append((turn, first))
                        continue
                    if OWN.fullmatch(item.id):
                        raise Refused("bad-id", f"id must not look like those that the service "
                                      f"gives out, got {item.id!r}")  # fmt: skip
                    engine.check_name("id", item.id)
                self._add(turn, item, resolved)
                if item.id is not None:
                    seen[item.id] = turn
            except Refused as refused:
                self.answers[turn] = refused.answer

    def _add(self, turn: int, item: ForecastItem, resolved: Any) -> None:
        engine = self._engine
        event = item.event
        if event is not None:
            engine.check_name("event", event)
        found = engine.places.get(item.stream)
        if found is None or item.spec is not None:
            found = self._begun(item, found is None)
        fleet, place = found
        p = item.p
        if type(p) is float and fleet.models == 1 and fleet.classes == 2 and 0.0 <= p <= 1.0:
            context: Any = p
        else:
            context = fleet.context(p)
        groups = fleet.numbers(item.groups)
        if event is not None and (fleet.nos[place], event) in resolved:
            raise Refused("resolved", f"event {event!r} has its outcome already")
        if fleet.crowds[place] >= (most := engine.limits.pending_of(fleet.classes)):
            words = f"has {most} forecasts that wait, and takes no more"
            raise Refused("too-many-pending", f"stream {item.stream!r} {words}")
        batch = self._batches.get(fleet.no)
        if batch is None:
            batch = self._batches[fleet.no] = Batch(fleet)
        batch.turns.append(turn)
        batch.places.append(place)
        batch.contexts.append(context)
        batch.groups.append(groups)
        batch.ids.append(item.id)
        batch.events.append(event)
        fleet.crowds[place] += 1

    def _begun(self, item: ForecastItem, new: bool) -> tuple[Fleet, int]:
        """The stream of an item; what is refused begins none."""
        engine = self._engine
        if new and (spec := engine.specs_by_name.get(item.spec or "default")) is not None:
            spec.context(item.p)
            spec.numbers(item.groups)
        fleet, place = engine.stream_of(item.stream, item.spec, self._now)
        if new:
            self._began.add(fleet.nos[place])
        return fleet, place

    def _again(self, item: ForecastItem, place: tuple[int, int]) -> Answer:
        """The answer that was given before."""
        engine = self._engine
        no, number = place
        fleet, own = engine.by_no[no]
        _refuse_other(str(item.id), item.stream, str(fleet.names[own]))
        slot = fleet.desk.find(own, number)
        if slot >= 0:
            return fleet.held[slot].answer
        row = engine.index.find_row(place)
        assert row is not None
        said = said_of(row)
        return Issued(
            str(item.id), said.issued, said.mean, said.points, said.weights, said.declared
        )


def _refuse_other(name: str, stream: str, other: str) -> None:
    if stream != other:
        raise Refused("conflict", f"id {name!r} belongs to another stream than {stream!r}")


def remember(
    engine: Engine, fleet: Fleet, places: Any, numbers: list[int], held: list[Held]
) -> list[int]:
    """Note ids and events of forecasts that wait from now on; the numbers of their streams."""
    nos = [fleet.nos[place] for place in places.tolist()]
    for no, number, one in zip(nos, numbers, held, strict=True):
        if one.id is not None:
            engine.index.ids[one.id] = (no, number)
        if one.event is not None:
            engine.where.setdefault(one.event, {})[no] = None
    if held:
        fleet.last[places] = held[0].time
    return nos
