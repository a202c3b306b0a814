"""Many streams of one kind over one array: one row a stream."""

from __future__ import annotations

import os
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.draws import Draws, stream_of
from fullswap.base.files import write_text
from fullswap.base.keys import Keyed, event_name, event_names, key_of, plain_key
from fullswap.base.protocols import Indices, Vector
from fullswap.base.records import Record
from fullswap.certificates import Certificate
from fullswap.forecasting.base import OnlineForecaster
from fullswap.forecasting.binary import Forecaster
from fullswap.forecasting.events import (
    known_rows,
    moments_of,
    refuse_sibling,
    run_rows,
    values_of,
)
from fullswap.forecasting.guarantees import first_certificate_of
from fullswap.forecasting.inputs import event_of, scales_of
from fullswap.forecasting.multiclass import MulticlassForecaster
from fullswap.forecasting.recalibrator import Recalibrator
from fullswap.forecasting.state import pack, pack_row, unpack, unpack_number, unpack_stream
from fullswap.online.loop import Recorded, record_of, recorded_of, run_events
from fullswap.online.pending import Pending
from fullswap.online.rows import Rows
from fullswap.online.spec import Spec
from fullswap.online.stream import Stream, is_fresh, watch
from fullswap.online.tickets import Forecast

FIELDS = frozenset({"spec", "forecaster", "seed", "streams"})
"""Of a saved state."""


class Bank(Keyed):
    """A forecaster for each of many keys: a station, a market, a customer.

    Every stream learns from its own events alone, and draws numbers of its own, which follow from
    the bank's seed and its key. ``bank[key]`` is the forecaster that these events alone would have
    made.

    Parameters
    ----------
    pattern : Forecaster, MulticlassForecaster or Recalibrator
        One without events: what every stream begins as.

    Examples
    --------
    >>> from fullswap import Forecaster
    >>> bank = Bank(Forecaster(seed=7))
    >>> record = bank.run(["north", "south", "north"], [1, 0, 1])
    >>> len(bank), bank["north"].rounds, len(record)
    (2, 2, 3)
    """

    def __init__(self, pattern: OnlineForecaster) -> None:
        if not isinstance(pattern, OnlineForecaster):
            advice = " (a Monitor goes into a MonitorBank)" * hasattr(pattern, "drift_detected")
            checks.refuse("pattern", f"be a forecaster{advice}", pattern)
        if not is_fresh(pattern._stream.row) or pattern.pending:
            checks.refuse("pattern", "be a forecaster without events", pattern)
        self._pattern = pattern.copy()
        self._seed = pattern._stream.draws.seed
        self._rows = Rows(pattern._stream.kind, self._seed, [])
        self._places: dict[Any, int] = {}
        self._pending: dict[int, Pending] = {}

    # --- streams ----------------------------------------------------------------------------------

    @property
    def spec(self) -> Spec:
        """The kind of forecaster as plain data."""
        return self._pattern.spec

    @property
    def nbytes(self) -> int:
        """Memory of all rows and of what finds them, without the keys themselves."""
        return self._rows.nbytes

    @property
    def pending(self) -> tuple[Forecast, ...]:
        """Forecasts that wait for their outcome, stream by stream."""
        return tuple(ticket for pending in self._pending.values() for ticket in pending)

    def __getitem__(self, key: Any) -> OnlineForecaster:
        """A forecaster that goes on from where this stream is; the bank does not follow it."""
        stream = self._stream(key)
        other = self.blank(key)
        other._stream.rows.put(0, stream.settle())
        other._stream.pending.tickets.update(
            {ticket.id: ticket.for_key(None) for ticket in stream.pending}
        )
        return other

    def blank(self, key: Any) -> OnlineForecaster:
        """The forecaster as which the stream of this key begins."""
        other = object.__new__(type(self._pattern))
        other._adopt(self.spec, Draws(self._seed, stream_of(key)))
        return other

    def _stream(self, key: Any) -> Stream:
        try:
            place = self._places[key]
        except (KeyError, TypeError):
            raise KeyError(f"no stream has the key {key!r}") from None
        pending = self._pending.get(place)
        draws = Draws(self._seed, stream_of(key))
        return Stream(self._rows, draws, Pending() if pending is None else pending, place, (key,))

    def _streams(self, keys: Any) -> Indices:
        """The streams of these keys; blank ones for those that are new."""
        own = _listed(keys)
        try:
            return np.fromiter(map(self._places.__getitem__, own), np.int64, len(own))
        except KeyError:
            new = [key for key in dict.fromkeys(own) if key not in self._places]
        except TypeError:
            checks.refuse("keys", "be texts, numbers, or tuples of such", keys)
        first = len(self._rows)
        self._rows.add([stream_of(key) for key in new])
        self._places.update(zip(new, range(first, first + len(new)), strict=True))
        return np.fromiter(map(self._places.__getitem__, own), np.int64, len(own))

    @staticmethod
    def _columns(read: Any, columns: tuple[Any, ...], **how: Any) -> Any:
        """What the pattern reads from these columns."""
        names = [name for name in signature(read).parameters if name != "absent"]
        if len(columns) != len(names):
            wanted = " and ".join(names) or "nothing"
            raise ValueError(f"{wanted} must be given beside keys, got {len(columns)} arrays")
        return read(*columns, **how)

    # --- the verbs --------------------------------------------------------------------------------

    def run(
        self,
        keys: Any,
        *columns: Any,
        sample_weight: Any = None,
        event: Any = None,
        known: Any = None,
        record: bool = True,
        progress: bool | None = None,
    ) -> Record | None:
        """The pattern's ``run`` with keys first: events of all streams, in the given order.

        The same numbers as if every stream were run alone. ``columns`` are those of the pattern's
        ``run``: outcomes, or probabilities and outcomes. ``event`` names the event of each row;
        the same name in two streams is two events. ``known`` says when outcomes came, if they came
        late, in rows of all streams: that of row i is learnt just before row ``known[i]``.
        """
        contexts, outcomes = self._columns(self._pattern._read, columns, absent=known is not None)
        keys, progress = _listed(keys), checks.flag("progress", progress)
        checks.same_length("keys", keys, "outcomes", len(outcomes))
        scales = scales_of(sample_weight, len(outcomes), self.spec.max_weight)
        names = event_names(event, len(outcomes))
        late = None if known is None else known_rows(known, outcomes)
        again = names is not None and self._are_met_again(keys, names)
        moments = moments_of(names, keys, outcomes, scales, late) if again else late
        streams = self._streams(keys)
        waiting = {}
        if self._pending:
            own = {place: key for key, place in self._places.items()}
            waiting = {place: self._stream(own[place]) for place in self._pending}
        try:
            if moments is not None and not again:
                recorded = self._run_late(
                    keys, names, streams, moments, contexts, outcomes, scales, record, progress
                )
            elif moments is None:
                recorded = run_events(
                    self._rows, streams, contexts, outcomes, scales, record, progress,
                    watch(waiting, streams, scales),
                )  # fmt: skip
            else:
                recorded = self._run_rows(
                    keys, names or [], moments, contexts, outcomes, scales, record, progress
                )
        except BaseException:
            for stream in waiting.values():
                stream.settle()
            raise
        if recorded is None:
            return None
        kind = self._rows.kind
        return record_of(kind, kind.level_in_view(recorded[2]), recorded)

    def _are_met_again(self, keys: list[Any], names: list[Any]) -> bool:
        """Whether one of these events has forecasts that wait, or comes twice in its stream."""
        try:
            own = [pair for pair in zip(keys, names, strict=True) if pair[1] is not None]
            met = set(own)
        except TypeError:
            checks.refuse("keys", "be texts, numbers, or tuples of such", keys)
        held = {(t.key[0], t.event) for t in self.pending if t.event is not None}
        return len(met) < len(own) or not met.isdisjoint(held)

    def _run_rows(
        self, keys: list[Any], names: list[Any], moments: Indices, contexts: Any, outcomes: Any,
        scales: Vector, record: bool, progress: bool | None,
    ) -> Recorded | None:  # fmt: skip
        """A log in which events come back: the loop of ``predict`` and ``resolve``."""
        values = values_of(outcomes)

        def predict(t: int) -> Forecast:
            return self._predict(keys[t], event_of(contexts, t), names[t])

        def resolve(t: int, ticket: Forecast) -> None:
            stream = self._stream(keys[t])
            own = [ticket] if names[t] is None else stream.pending.of_event(names[t])
            self._resolve(stream, own, values[t], float(scales[t]) if len(scales) else 1.0)

        tickets = run_rows(moments, predict, resolve, record, progress)
        return recorded_of(self._rows.kind, tickets) if record else None

    def _run_late(
        self, keys: list[Any], names: list[Any] | None, streams: Indices, moments: Indices,
        contexts: Any, outcomes: Any, scales: Vector, record: bool, progress: bool | None,
    ) -> Recorded | None:  # fmt: skip
        """A log in which outcomes come late and no event comes back, in compiled code."""
        from fullswap.online.late import LateRun

        run = LateRun(self._rows, streams, moments, self._pending)

        def wait() -> None:
            for stream, tickets in run.tickets(names, keys).items():
                self._pending.setdefault(stream, Pending()).restore(*tickets)

        try:
            recorded = run.run(contexts, outcomes, scales, record, progress)
            wait()
        except BaseException:
            wait()
            raise
        return recorded

    def _predict(self, key: Any, context: Any, event: Any) -> Forecast:
        self._pending.setdefault(self._places[key], Pending())
        return self._stream(key).predict(context, event)

    def _resolve(self, stream: Stream, tickets: list[Forecast], value: Any, scale: float) -> None:
        stream.resolve(tickets, value, scale)
        self._forget_if_none_waits(stream)

    def _forget_if_none_waits(self, stream: Stream) -> None:
        if not stream.pending.tickets:
            self._pending.pop(stream.index, None)

    def predict(self, keys: Sequence[Any], *columns: Any, event: Any = None) -> list[Forecast]:
        """Forecast one event of each of these streams; ``columns`` as for ``run``, no outcomes.

        ``event`` has a name for each forecast, None where it is an event of its own.
        """
        contexts = self._columns(self._pattern._contexts, columns)
        own = _listed(keys)
        if contexts is not None:
            checks.same_length("keys", own, "p", len(contexts))
        names = event_names(event, len(own)) or [None] * len(own)
        self._streams(own)
        return [
            self._predict(key, event_of(contexts, k), name)
            for k, (key, name) in enumerate(zip(own, names, strict=True))
        ]

    def update(
        self, forecasts: Sequence[Forecast], outcomes: Any, sample_weight: Any = None
    ) -> None:
        """Learn the outcomes of forecasts that this bank made, in the given order.

        All of them are checked before any is learnt.
        """
        found = [self._find(forecast) for forecast in forecasts]
        for _, ticket in found:
            refuse_sibling(ticket)
        waiting = [(stream, [ticket]) for stream, ticket in found]
        self._learn("forecasts", forecasts, waiting, outcomes, sample_weight)

    def resolve(
        self, keys: Sequence[Any], events: Sequence[Any], outcomes: Any, sample_weight: Any = None
    ) -> None:
        """Learn the outcomes of events of these streams, in the given order.

        Each event counts once, however often it was forecast. All are checked before any is learnt.
        """
        own = _listed(keys)
        names = event_names(events, len(own)) or [None] * len(own)
        streams = [self._stream(key) for key in own]
        pairs = zip(streams, names, strict=True)
        found = [(stream, stream.pending.of_event(event_name(name))) for stream, name in pairs]
        self._learn("events", events, found, outcomes, sample_weight)

    def _learn(
        self, name: str, given: Any, found: list[tuple[Stream, list[Forecast]]], outcomes: Any,
        sample_weight: Any,
    ) -> None:  # fmt: skip
        """Outcomes of forecasts, or of events, that were found to wait."""
        array = self._pattern._outcomes(outcomes)
        checks.same_length(name, given, "outcomes", len(array))
        scales = scales_of(sample_weight, len(array), self.spec.max_weight)
        if len({(stream.index, tickets[0].id) for stream, tickets in found}) < len(found):
            checks.refuse(name, "be distinct", given)
        values = values_of(array)
        for k, (stream, tickets) in enumerate(found):
            self._resolve(stream, tickets, values[k], float(scales[k]) if len(scales) else 1.0)

    def drop(self, forecast: Any = None, *, key: Any = None, event: Any = None) -> None:
        """The outcome of this forecast, or event of a key, will never come: learn nothing."""
        if event is not None and forecast is not None:
            checks.refuse("forecast", "be left out where event is given", forecast)
        if event is None:
            stream, ticket = self._find(forecast)
            stream.pending.drop([ticket])
        else:
            if key is None:
                checks.refuse("key", "be given where event is", key)
            stream = self._stream(key)
            stream.pending.drop(stream.pending.of_event(event_name(event)))
        self._forget_if_none_waits(stream)

    def _find(self, forecast: Any) -> tuple[Stream, Forecast]:
        if not isinstance(forecast, Forecast) or forecast.key is None:
            checks.refuse("forecast", "be a forecast of this bank", forecast)
        stream = self._stream(forecast.key[0])
        return stream, stream.find(forecast)

    def certificates(self) -> dict[Any, Certificate]:
        """Measured calibration error of every stream beside its guarantee."""
        kind = self._rows.kind
        return {
            key: first_certificate_of(kind, self._rows.row(place))
            for key, place in self._places.items()
        }

    # --- saved state -----------------------------------------------------------------------------

    def to_json(self) -> str:
        """The whole state, pending forecasts and seed of the draws included, as JSON."""
        streams = []
        for key in self._places:
            stream = self._stream(key)
            tickets = [ticket.to_list() for ticket in stream.pending]
            streams.append([plain_key(key), pack_row(stream.settle()), tickets])
        return pack(
            "Bank",
            {
                "forecaster": type(self._pattern).__name__,
                "spec": self.spec.to_dict(),
                "seed": str(self._seed),
                "streams": streams,
            },
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> Bank:
        """The bank that ``to_json`` wrote: every stream goes on with the same forecasts."""
        stored = unpack("Bank", text, FIELDS)
        spec = Spec.from_dict(stored["spec"])
        seed = unpack_number("seed", stored["seed"])
        skins = {skin.__name__: skin for skin in (Forecaster, MulticlassForecaster, Recalibrator)}
        skin = skins[checks.one_of("forecaster", stored["forecaster"], skins)]
        if spec.kind not in skin._kinds:
            checks.refuse("spec", f"be of kind {' or '.join(skin._kinds)}", spec.kind)
        if not isinstance(stored["streams"], list):
            checks.refuse("streams", "be a list", stored["streams"])
        entries = []
        for entry in stored["streams"]:
            if not isinstance(entry, list) or len(entry) != 3:
                checks.refuse("streams", "be [key, row, pending] each", entry)
            key = key_of(entry[0])
            entries.append((key, *unpack_stream(spec, entry[1], entry[2], (key,))))
        if len({key for key, _, _ in entries}) < len(entries):
            raise ValueError("streams must have distinct keys, got one twice")
        pattern = object.__new__(skin)
        pattern._adopt(spec, Draws(seed))
        self = cls(pattern)
        places = self._streams([key for key, _, _ in entries])
        for place, (_, row, tickets) in zip(places.tolist(), entries, strict=True):
            self._rows.put(place, row)
            if tickets:
                pending = self._pending.setdefault(place, Pending())
                for ticket in tickets:
                    pending.add(ticket.id, ticket)
        self._rows.compact()
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file; a crash in the middle leaves the old one."""
        write_text(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Bank:
        """The bank that ``save`` wrote."""
        return cls.from_json(Path(path).read_text(encoding="utf-8"))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_json, (self.to_json(),)

    def __repr__(self) -> str:
        return f"Bank({self._pattern!r}; {len(self)} streams)"


def _listed(keys: Any) -> list[Any]:
    """Keys one after the other, as plain values."""
    return keys.tolist() if isinstance(keys, np.ndarray) else list(keys)
