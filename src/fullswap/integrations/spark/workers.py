"""What runs on executors: rows through the streams of their keys, in batches or with state.

Streaming queries of Spark hand rows to Python one by one, which takes longer than forecasting them.
So rows travel to the operator that has the state as whole tables, a binary value for each bucket of
keys, and are taken apart again behind it. The state of a bucket is a map of pages, and a page has
the streams of a few keys: only the pages of keys that have rows are read and written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from fullswap.integrations.spark.tables import Job

PAGE, BUCKET = "__fullswap_page", "__fullswap_bucket"
PACKED = f"{BUCKET} int, rows binary"
MOST_ROWS = 2**18
"""Rows that a worker gathers before it hands them on."""
Batches = Iterator[pa.RecordBatch]


# --- frames that are there as a whole -------------------------------------------------------------


def whole_frame(job: Job) -> Callable[[Batches], Batches]:
    """For partitions that hold all rows of their keys, sorted."""

    def play(batches: Batches) -> Batches:
        from fullswap.integrations.spark.streams import Streams
        from fullswap.integrations.spark.tables import answer_table, events_of, keys_of

        streams = Streams(job.pattern, [])
        for batch in batches:
            table = pa.Table.from_batches([batch])
            keys, places = keys_of(job, table)
            # rows of a key may go on from one batch to the next
            goes_on = bool(keys and streams.keys and keys[0] == streams.keys[0])
            if not goes_on:
                streams = Streams(job.pattern, [])
            streams.add(keys[1:] if goes_on else keys)
            played = streams.play(events_of(job, table, keys, places), job.expire)
            if keys:
                streams = streams.only([len(keys) - 1])
            yield from answer_table(table, played).to_batches()

    return play


# --- streams of rows ------------------------------------------------------------------------------


def packed(buckets: int) -> Callable[[Batches], Batches]:
    """Rows of each bucket as one binary value."""

    def pack(batches: Batches) -> Batches:
        held: list[pa.RecordBatch] = []
        for batch in batches:
            held.append(batch)
            if sum(len(one) for one in held) >= MOST_ROWS:
                yield _by_bucket(pa.Table.from_batches(held), buckets)
                held = []
        if held:
            yield _by_bucket(pa.Table.from_batches(held), buckets)

    return pack


def _by_bucket(table: pa.Table, buckets: int) -> pa.RecordBatch:
    own = table[PAGE].to_numpy() % buckets
    order = np.argsort(own, kind="stable")
    table, own = table.take(pa.array(order)).combine_chunks(), own[order]
    met, first = np.unique(own, return_index=True)
    ends = [*first[1:].tolist(), len(own)]
    values = [
        _written(table.slice(a, b - a)) for a, b in zip(first.tolist(), ends, strict=True)
    ]
    return pa.RecordBatch.from_arrays(
        [pa.array(met, pa.int32()), pa.array(values, pa.binary())], [BUCKET, "rows"]
    )


def unpacked(batches: Batches) -> Batches:
    """The rows that were packed."""
    for batch in batches:
        for value in batch.column(0):
            yield from _read(value.as_buffer()).to_batches()


def _written(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _read(content: Any) -> pa.Table:
    with pa.ipc.open_stream(content) as reader:
        return reader.read_all()


class Processor(StatefulProcessor):
    """Keeps the streams of a bucket, page by page."""

    def __init__(self, job: Job) -> None:
        from fullswap.integrations.spark.state import fingerprint_of

        self._job = job
        self._fingerprint = fingerprint_of(job.text, job.pages)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Called once a task."""
        self._pages = handle.getMapState("pages", "page int", "streams binary")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802
        """Play the rows of a bucket."""
        from fullswap.integrations.spark.state import from_bytes, to_bytes
        from fullswap.integrations.spark.tables import (
            answer_table,
            events_of,
            keys_of,
            sorted_table,
        )

        job = self._job
        table = pa.concat_tables([_read(row.rows) for row in rows])
        keys, codes = keys_of(job, table)
        page_of_row = table[PAGE].to_numpy()
        stored = self._read_pages(np.unique(page_of_row[codes >= 0]).tolist())
        streams, counts = from_bytes(job.pattern, self._fingerprint, list(stored.values()))
        # those that are new, behind the others
        page_of = dict(zip(streams.keys, np.repeat(list(stored), counts).tolist(), strict=True))
        first = np.unique(codes, return_index=True)[1][-len(keys) :]  # without rows that have no key
        met = dict(zip(keys, page_of_row[first].tolist(), strict=True)) if keys else {}
        streams.add([own for own in keys if own not in page_of])
        places = {own: place for place, own in enumerate(streams.keys)}
        table, own_places = sorted_table(
            job, table, np.array([*(places[own] for own in keys), -1])[codes]
        )
        played = streams.play(events_of(job, table, streams.keys, own_places), job.expire)
        for page, members in _grouped(streams.keys, {**met, **page_of}).items():
            self._pages.updateValue((page,), (to_bytes(streams.only(members), self._fingerprint),))
        yield Row(rows=_written(answer_table(table.drop_columns([PAGE]), played)))

    def _read_pages(self, pages: list[int]) -> dict[int, bytes]:
        found = {page: self._pages.getValue((page,)) for page in pages}
        return {page: bytes(one[0]) for page, one in found.items() if one is not None}


def _grouped(keys: list[Any], page_of: dict[Any, Any]) -> dict[int, list[int]]:
    """Places of the keys of each page."""
    groups: dict[int, list[int]] = {}
    for place, own in enumerate(keys):
        groups.setdefault(int(page_of[own]), []).append(place)
    return groups
