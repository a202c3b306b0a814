"""Entries of the journal: what happened, as packed bytes.

Forecasts are written with what was answered, so a restart repeats no forecast; outcomes are learnt
again. Arrays travel as little-endian bytes.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from fullswap.online.desk import Tickets

Array = tuple[str, list[int], bytes]
"""Type, shape and content of an array."""


def packed(array: NDArray[Any]) -> Array:
    """An array as plain data."""
    kind = "<i8" if array.dtype.kind in "iu" else "<f8"
    return kind, list(array.shape), np.ascontiguousarray(array, dtype=kind).tobytes()


def unpacked(stored: Array) -> NDArray[Any]:
    """What ``packed`` gave."""
    kind, shape, content = stored
    native = np.int64 if kind == "<i8" else np.float64
    return np.frombuffer(content, dtype=kind).astype(native).reshape(shape)


class Forecasts(Struct, tag="f", array_like=True):
    """Forecasts of streams of one spec."""

    time: float
    spec: int
    new: list[tuple[int, str]]
    """Streams that nothing was written of before: number and name."""
    nos: Array
    """Whose forecasts."""
    notes: Array
    plays: Array
    supports: Array
    weights: Array
    issued: Array
    means: Array
    contexts: Array | None
    ids: list[str | None]
    """Those that clients chose."""
    events: list[str | None]
    declared: Array | None = None

    @property
    def tickets(self) -> Tickets:
        """What waits."""
        return Tickets(unpacked(self.notes), unpacked(self.plays))


class Outcomes(Struct, tag="o", array_like=True):
    """Outcomes of events of one spec, each given by the id of its oldest forecast."""

    time: float
    spec: int
    nos: Array
    numbers: Array
    outcomes: Array
    scales: Array


class Dropped(Struct, tag="d", array_like=True):
    """Events whose outcomes will never come, as above."""

    time: float
    spec: int
    nos: Array
    numbers: Array


class Deleted(Struct, tag="x", array_like=True):
    """A stream that is no more."""

    no: int


class Acknowledged(Struct, tag="a", array_like=True):
    """Somebody has seen the alarm of a stream."""

    time: float
    no: int


Entry = Forecasts | Outcomes | Dropped | Deleted | Acknowledged
encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Entry).decode


class Waiting(Struct, array_like=True):
    """What waits in one stream, as its row in the tables has it."""

    notes: Array
    plays: Array
    records: list[tuple[Any, ...]]
    """When it was made, the client's id, the event, what models said, the answer, its groups."""


decode_waiting = msgspec.msgpack.Decoder(Waiting).decode
