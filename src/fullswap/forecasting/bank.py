"""Many streams of one kind over one array: one row a stream."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, KeysView, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.draws import Draws, stream_of
from fullswap.base.protocols import Indices
from fullswap.base.records import Record
from fullswap.certificates import Certificate
from fullswap.forecasting.base import OnlineForecaster
from fullswap.forecasting.binary import Forecaster
from fullswap.forecasting.guarantees import first_certificate_of
from fullswap.forecasting.inputs import event_of, scales_of
from fullswap.forecasting.multiclass import MulticlassForecaster
from fullswap.forecasting.recalibrator import Recalibrator
from fullswap.forecasting.state import (
    key_of,
    pack,
    pack_row,
    plain_key,
    unpack,
    unpack_number,
    unpack_stream,
)
from fullswap.online.loop import record_of, run_events
from fullswap.online.rows import Rows
from fullswap.online.spec import Spec
from fullswap.online.stream import Stream, is_fresh, watch
from fullswap.online.tickets import Forecast, Pending

FIELDS = frozenset({"spec", "forecaster", "seed", "streams"})
"""Of a saved state."""


class Bank:
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
            checks.refuse("pattern", "be a forecaster", pattern)
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

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: Any) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[Any]:
        return iter(self._places)

    def keys(self) -> KeysView[Any]:
        """The keys of all streams, in the order in which they came."""
        return self._places.keys()

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
    def _columns(read: Any, columns: tuple[Any, ...]) -> Any:
        """What the pattern reads from these columns."""
        names = list(signature(read).parameters)
        if len(columns) != len(names):
            wanted = " and ".join(names) or "nothing"
            raise ValueError(f"{wanted} must be given beside keys, got {len(columns)} arrays")
        return read(*columns)

    # --- the verbs --------------------------------------------------------------------------------

    def run(
        self,
        keys: Any,
        *columns: Any,
        sample_weight: Any = None,
        record: bool = True,
        progress: bool | None = None,
    ) -> Record | None:
        """The pattern's ``run`` with keys first: events of all streams, in the given order.

        The same numbers as if every stream were run alone. ``columns`` are those of the pattern's
        ``run``: outcomes, or probabilities and outcomes.
        """
        contexts, outcomes = self._columns(self._pattern._read, columns)
        keys, progress = _listed(keys), checks.flag("progress", progress)
        checks.same_length("keys", keys, "outcomes", len(outcomes))
        scales = scales_of(sample_weight, len(outcomes), self.spec.max_weight)
        streams = self._streams(keys)
        waiting = {}
        if self._pending:
            names = {place: key for key, place in self._places.items()}
            waiting = {place: self._stream(names[place]) for place in self._pending}
        recorded = run_events(
            self._rows, streams, contexts, outcomes, scales, record, progress,
            watch(waiting, streams, scales),
        )  # fmt: skip
        if recorded is None:
            return None
        kind = self._rows.kind
        return record_of(kind, kind.level_in_view(recorded[2]), recorded)

    def predict(self, keys: Sequence[Any], *columns: Any) -> list[Forecast]:
        """Forecast one event of each of these streams; ``columns`` as for ``run``, no outcomes."""
        contexts = self._columns(self._pattern._contexts, columns)
        own = _listed(keys)
        if contexts is not None:
            checks.same_length("keys", own, "p", len(contexts))
        tickets = []
        for k, (key, place) in enumerate(zip(own, self._streams(own).tolist(), strict=True)):
            self._pending.setdefault(place, Pending())
            tickets.append(self._stream(key).predict(event_of(contexts, k)))
        return tickets

    def update(
        self, forecasts: Sequence[Forecast], outcomes: Any, sample_weight: Any = None
    ) -> None:
        """Learn the outcomes of forecasts that this bank made, in the given order.

        All of them are checked before any is learnt.
        """
        values = self._pattern._outcomes(outcomes)
        checks.same_length("forecasts", forecasts, "outcomes", len(values))
        scales = scales_of(sample_weight, len(values), self.spec.max_weight)
        events = []
        for forecast in forecasts:
            if not isinstance(forecast, Forecast) or forecast.key is None:
                checks.refuse("forecasts", "be forecasts of this bank", forecast)
            stream = self._stream(forecast.key[0])
            events.append((stream, stream.find(forecast)))
        if len({(stream.index, ticket.id) for stream, ticket in events}) < len(events):
            checks.refuse("forecasts", "be distinct", forecasts)
        for k, (stream, ticket) in enumerate(events):
            value = float(values[k]) if values.ndim == 1 else values[k]
            stream.learn(ticket, value, float(scales[k]) if len(scales) else 1.0)
            if not stream.pending.tickets:
                self._pending.pop(stream.index, None)

    def drop(self, forecast: Forecast) -> None:
        """The outcome of this forecast will never come: forget it, and learn nothing."""
        if not isinstance(forecast, Forecast) or forecast.key is None:
            checks.refuse("forecast", "be a forecast of this bank", forecast)
        stream = self._stream(forecast.key[0])
        ticket = stream.find(forecast)
        stream.pending.remove(ticket.id, ticket)
        if not stream.pending.tickets:
            self._pending.pop(stream.index, None)

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
        target = Path(path)
        with tempfile.NamedTemporaryFile(
            "w", dir=target.parent, prefix=target.name, delete=False, encoding="utf-8"
        ) as file:
            try:
                file.write(self.to_json())
                file.flush()
                os.fsync(file.fileno())
                os.replace(file.name, target)
            except BaseException:
                os.unlink(file.name)
                raise

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
