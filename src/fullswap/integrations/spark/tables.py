"""Arrow tables of rows -> events, and back with what was forecast beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fullswap.base import checks
from fullswap.forecasting.base import OnlineForecaster
from fullswap.integrations.spark.plan import STATUS, Events
from fullswap.integrations.spark.streams import Played, pattern_of

DAY = 86_400 * 10**6
"""Microseconds, in which times are counted that have a date."""


@dataclass(frozen=True)
class Job:
    """What workers need to know: plain data, fixed on the driver."""

    skin: str
    """The class of the pattern."""
    text: str
    """The pattern, its seed included, as it was saved."""
    key: tuple[str, ...]
    time: tuple[str, ...]
    probability: str | None
    outcome: str
    id: str | None
    expire: Any
    pages: int

    @property
    def pattern(self) -> OnlineForecaster:
        """What every stream begins as."""
        return pattern_of(self.skin, self.text)


def sorted_table(job: Job, table: pa.Table, places: Any) -> tuple[pa.Table, Any]:
    """Rows in the order in which they are played; ``places`` says whose they are."""
    columns = {"0": places}
    for k, name in enumerate(job.time):
        columns[f"t{k}"] = table[name]
    if job.probability is not None:
        columns["late"] = absent(table[job.probability])
    names = (job.id, job.probability, job.outcome)
    for k, own in enumerate(names):
        if own is not None and not pa.types.is_nested(table.schema.field(own).type):
            columns[f"v{k}"] = table[own]
    keys = [(name, "ascending", "at_start") for name in columns]
    order = pc.sort_indices(pa.table(columns), sort_keys=keys)
    return table.take(order), places[order.to_numpy()]


def absent(column: pa.ChunkedArray) -> Any:
    """Whether there is nothing, or NaN."""
    return pc.is_null(column, nan_is_null=pa.types.is_floating(column.type))


def keys_of(job: Job, table: pa.Table) -> tuple[list[Any], Any]:
    """Distinct keys of a table, in the order in which they come, and whose row each one is.

    −1: it has no key.
    """
    columns = [table[name].combine_chunks().dictionary_encode() for name in job.key]
    nothing = np.zeros(len(table), bool)
    codes = np.zeros(len(table), np.int64)
    for column in columns:
        nothing |= column.is_null().to_numpy(zero_copy_only=False)
        codes = codes * max(len(column.dictionary), 1) + column.indices.fill_null(0).to_numpy()
    codes[nothing] = -1
    met, first, places = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(np.where(met < 0, -1, first))
    rank = np.empty(len(met), np.int64)
    rank[order] = np.arange(len(met)) - int(nothing.any())
    parts = [
        column.take(pa.array(first[order[rank[order] >= 0]])).to_pylist() for column in columns
    ]
    return parts[0] if len(parts) == 1 else list(zip(*parts, strict=True)), rank[places]


def events_of(job: Job, table: pa.Table, keys: list[Any], places: Any) -> Events:
    """Rows of a table that is sorted, each of the key at its place."""
    pattern, count = job.pattern, len(table)
    times, timed = _times(table[job.time[0]])
    keyed = places >= 0
    times = np.where(keyed, times, times.min(initial=0))  # those come first, and must not rise
    sound = timed & keyed
    if job.probability is None:
        contexts, forecast = None, sound
    else:
        p, state = _probabilities(pattern, table[job.probability])
        forecast, sound = sound & (state > 0), sound & (state >= 0)
        own = pattern._contexts(p[forecast])
        contexts = np.zeros((count, *own.shape[1:]))
        contexts[forecast] = own
    values, state = _outcomes(pattern, table[job.outcome])
    outcome, sound = sound & (state > 0), sound & (state >= 0)
    forecast = forecast & sound
    known = pattern._outcomes(values[outcome])
    outcomes = np.zeros((count, *known.shape[1:]))
    outcomes[outcome] = known
    ids, names = np.full(count, -1), []
    if job.id is not None:
        encoded = table[job.id].combine_chunks().dictionary_encode()
        ids, names = encoded.indices.fill_null(-1).to_numpy(), encoded.dictionary.to_pylist()
    return Events(
        keys, np.maximum(places, 0), times, forecast, outcome, contexts, outcomes, ids, names
    )


def _times(column: pa.ChunkedArray) -> tuple[Any, Any]:
    """Numbers that can be compared, and where there are any."""
    kind = column.type
    valid = pc.is_valid(column).to_numpy()
    if pa.types.is_timestamp(kind):
        numbers = column.cast(pa.timestamp("us", kind.tz)).cast(pa.int64())
    elif pa.types.is_date(kind):
        numbers = pc.multiply(column.cast(pa.int32()).cast(pa.int64()), DAY)
    else:
        numbers = column
    if pa.types.is_floating(numbers.type):
        values = numbers.cast(pa.float64()).fill_null(-np.inf).to_numpy()
        return values, valid & ~np.isnan(values)
    least = np.iinfo(np.int64).min // 2
    return numbers.cast(pa.int64()).fill_null(least).to_numpy(), valid


def _probabilities(pattern: OnlineForecaster, column: pa.ChunkedArray) -> tuple[Any, Any]:
    """Probabilities, and 1 where they are sound, 0 where there is none, −1 else."""
    gone = absent(column).to_numpy()
    if not pa.types.is_nested(column.type):
        p = column.cast(pa.float64()).to_numpy()
        return p, _state(gone, (p >= 0) & (p <= 1))
    spec = pattern.spec
    width = spec.models if spec.classes == 2 else spec.classes
    array = column.combine_chunks()
    fits = pc.fill_null(pc.equal(pc.list_value_length(array), width), False).to_numpy(
        zero_copy_only=False
    )
    p = np.full((len(array), width), np.nan)
    flat = array.filter(pa.array(fits)).flatten().cast(pa.float64())
    p[fits] = flat.to_numpy(zero_copy_only=False).reshape(-1, width)
    inside = (p >= 0) & (p <= 1)
    if spec.classes == 2:  # a model may say nothing, but not all of them
        sound = (inside | np.isnan(p)).all(axis=1) & inside.any(axis=1)
        gone = gone | (fits & np.isnan(p).all(axis=1))
    else:
        sound = inside.all(axis=1) & (np.abs(p.sum(axis=1) - 1) <= checks.ROW_TOLERANCE)
    return p, _state(gone, sound)


def _outcomes(pattern: OnlineForecaster, column: pa.ChunkedArray) -> tuple[Any, Any]:
    """Outcomes as the pattern reads them, and which are sound, as for probabilities."""
    gone, classes = absent(column).to_numpy(), pattern.spec.classes
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        labels = pa.array([str(label) for label in pattern.labels or ()], column.type)
        values = column.to_numpy()
        return values, _state(gone, pc.is_in(column, labels).to_numpy())
    numbers = column.cast(pa.float64()).to_numpy()
    sound = (numbers >= 0) & (numbers <= (1 if classes == 2 else classes - 1))
    if classes > 2:
        sound &= numbers == np.floor(numbers)
    return numbers, _state(gone, sound)


def _state(gone: Any, sound: Any) -> Any:
    return np.where(gone, 0, np.where(sound, 1, -1))


def answer_table(table: pa.Table, played: Played) -> pa.Table:
    """The same rows, with what was forecast."""
    none = played.numbers < 0
    for name, values in (("issued", played.issued), ("mean", played.mean)):
        if values.ndim == 1:
            column = pa.array(values, mask=none)
        else:
            ends = np.arange(len(values) + 1, dtype=np.int32) * values.shape[1]
            flat = pa.array(values.ravel())
            column = pa.ListArray.from_arrays(pa.array(ends), flat, mask=pa.array(none))
        table = table.append_column(name, column)
    table = table.append_column("forecast_id", pa.array(played.numbers, mask=none))
    codes = pa.DictionaryArray.from_arrays(pa.array(played.status), pa.array(STATUS))
    return table.append_column("status", codes.dictionary_decode())
