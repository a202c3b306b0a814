"""The streams of a bank: keys, rows, and forecasts that wait."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.draws import Draws, stream_of, stream_words
from fullswap.base.keys import Keyed
from fullswap.base.protocols import Indices
from fullswap.forecasting.base import OnlineForecaster
from fullswap.forecasting.groups import GroupNames, widened_rows
from fullswap.inputs.codes import codes_of
from fullswap.kernels.columns import CROWD, LEVEL, MASS
from fullswap.kernels.grouping import number_values
from fullswap.online.pending import Pending
from fullswap.online.rows import Rows
from fullswap.online.spec import Spec
from fullswap.online.stream import Stream, is_fresh
from fullswap.online.tickets import Forecast

MANY = 2**14
"""Keys from which on a table in compiled code is made to find them."""


class UnknownKey(KeyError, ValueError):
    """No stream has this key."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class RowKeys:
    """The keys of the rows of a run."""

    codes: Indices
    """Which of the distinct keys each row has, shape (T,)."""
    distinct: list[Any]
    """In order of first appearance."""

    @classmethod
    def of(cls, keys: Any) -> RowKeys:
        """Keys as people give them: a list, an array or a column."""
        try:
            codes, distinct = codes_of("keys", keys)
        except TypeError:
            checks.refuse("keys", "be texts, numbers, or tuples of such", keys)
        return cls(codes, distinct)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> Any:
        return self.distinct[int(self.codes[row])]

    def places(self, distinct: Indices) -> Indices:
        """Where the rows belong, from where the distinct keys do."""
        if (distinct == np.arange(len(distinct))).all():  # all are new, and the first
            return self.codes
        return distinct[self.codes]

    def listed(self) -> list[Any]:
        """Row by row."""
        return [self.distinct[code] for code in self.codes.tolist()]


class BankRows(Keyed):
    """A row a stream, found by key."""

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
        self._waiting: dict[int, Stream] = {}
        """Streams with forecasts that wait, by place."""
        self._numbers: Indices | None = None
        """The keys by place, as far as they were asked for."""

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
        return tuple(ticket for stream in self._waiting.values() for ticket in stream.pending)

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
        pattern, draws = self._pattern, Draws(self._seed, stream_of(key))
        other._adopt(self.spec, draws, pattern.labels, groups=pattern._groups)
        return other

    @property
    def groups(self) -> tuple[Any, ...]:
        """Names of the groups in which forecasts are calibrated, the same in all streams."""
        return self._pattern.groups

    def _take_names(self, names: GroupNames | None) -> None:
        """Have these groups in all streams from now on; room is made for them."""
        if names is not None and names.room > self.spec.groups:
            self._settle_all()
            rows = widened_rows(self._rows, replace(self.spec, groups=names.room), self._seed)
            for stream in self._waiting.values():
                stream.move_to(rows)
            self._rows = rows
        self._pattern._take_names(names)

    def _settle_all(self) -> None:
        """Refine what is due, if an interrupt came before that."""
        rows = self._rows
        begins, ends = rows.start, np.array(rows.kind.spec.starts[1:])
        rows.arena[begins + CROWD] = 0.0
        due = np.searchsorted(ends, rows.arena[begins + MASS], side="right")
        for place in np.flatnonzero(due > rows.arena[begins + LEVEL]).tolist():
            self._stream_at(place).settle()

    def _stream(self, key: Any) -> Stream:
        try:
            place = self._places[key]
        except (KeyError, TypeError):
            raise UnknownKey(f"no stream has the key {key!r}") from None
        held = self._waiting.get(place)
        if held is not None:
            return held
        rows = self._rows
        own = np.concatenate((rows.words[place], rows.seed))  # without hashing the key again
        return Stream(rows, Draws.of_words(self._seed, own), Pending(), place, (key,))

    def _stream_at(self, place: int) -> Stream:
        """The stream of a place, to look after its row."""
        held = self._waiting.get(place)
        return held or Stream(self._rows, Draws(self._seed), Pending(), place, ())

    def _open(self, key: Any) -> Stream:
        """The stream of a key, in which forecasts may wait from now on."""
        stream = self._stream(key)
        self._waiting.setdefault(stream.index, stream)
        return stream

    def _forget_idle(self, *streams: Stream) -> None:
        """Streams in which nothing waits any longer; all are looked at if none is given."""
        for stream in streams or tuple(self._waiting.values()):
            if not stream.pending.tickets:
                self._waiting.pop(stream.index, None)

    def _streams(self, own: list[Any]) -> Indices:
        """The places of these keys; blank rows for those that are new."""
        numbers = _whole_numbers(own) if len(own) >= MANY else None
        known = None if numbers is None else self._known_numbers()
        if numbers is not None and known is not None:
            codes, first = number_values(np.concatenate((known, numbers)))
            self._add([own[k] for k in (first[len(known) :] - len(known)).tolist()])
            found: Indices = codes[len(known) :]
            return found
        try:
            return np.fromiter(map(self._places.__getitem__, own), np.int64, len(own))
        except KeyError:
            new = [key for key in dict.fromkeys(own) if key not in self._places]
        except TypeError:
            checks.refuse("keys", "be texts, numbers, or tuples of such", own)
        self._add(new)
        return np.fromiter(map(self._places.__getitem__, own), np.int64, len(own))

    def _add(self, new: list[Any]) -> None:
        """Blank rows for keys that have none."""
        if new:
            first = len(self._rows)
            self._rows.add_words(stream_words(new))
            self._places.update(zip(new, range(first, first + len(new)), strict=True))

    def _known_numbers(self) -> Indices | None:
        """The keys by place, where all are whole numbers: compiled code then finds them."""
        count = len(self._places)
        if self._numbers is None or len(self._numbers) != count:
            self._numbers = _whole_numbers(self._places)
        # an interrupt may have left a row without a key: then places are not what they seem
        return self._numbers if count == len(self._rows) else None


def _whole_numbers(keys: Collection[Any]) -> Indices | None:
    """Keys as an array, if all are whole numbers of at most 64 bits."""
    if not set(map(type, keys)) <= {int}:
        return None
    try:
        return np.fromiter(keys, np.int64, len(keys))
    except OverflowError:
        return None


def listed(keys: Any) -> list[Any]:
    """Keys one after the other, as plain values."""
    return keys.tolist() if isinstance(keys, np.ndarray) else list(keys)
