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
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

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
    values = [_written(table.slice(a, b - a)) for a, b in zip(first.tolist(), ends, strict=True)]
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


def play_pages(
    job: Job,
    table: pa.Table,
    read: Callable[[int], bytes | None],
    write: Callable[[int, bytes], None],
) -> pa.Table:
    """Rows with what was forecast; the streams of their keys are read from pages, and written."""
    from fullswap.integrations.spark.state import fingerprint_of, from_bytes, to_bytes
    from fullswap.integrations.spark.tables import answer_table, events_of, keys_of, sorted_table

    fingerprint = fingerprint_of(job.text, job.pages)
    keys, codes = keys_of(job, table)
    page_of_row = table[PAGE].to_numpy()
    found = [(page, read(page)) for page in np.unique(page_of_row[codes >= 0]).tolist()]
    stored = {page: content for page, content in found if content is not None}
    streams, counts = from_bytes(job.pattern, fingerprint, list(stored.values()))
    page_of = np.repeat(np.array(list(stored), np.int64), counts).tolist()
    places = {own: place for place, own in enumerate(streams.keys)}
    firsts = np.unique(codes, return_index=True)[1][len(np.unique(codes)) - len(keys) :]
    for own, first in zip(keys, firsts.tolist(), strict=True):
        if own not in places:  # new, and behind the others
            places[own] = len(places)
            page_of.append(int(page_of_row[first]))
    streams.add(list(places)[len(streams.keys) :])
    own_places = np.array([*(places[own] for own in keys), -1])[codes]
    table, own_places = sorted_table(job, table.drop_columns([PAGE]), own_places)
    played = streams.play(events_of(job, table, streams.keys, own_places), job.expire)
    groups: dict[int, list[int]] = {}
    for place, page in enumerate(page_of):
        groups.setdefault(page, []).append(place)
    for page, members in groups.items():
        write(page, to_bytes(streams.only(members), fingerprint))
    return answer_table(table, played)


class Processor(StatefulProcessor):
    """Keeps the streams of a bucket, page by page."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Called once a task."""
        self._pages = handle.getMapState("pages", "page int", "streams binary")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802
        """Play the rows of a bucket."""
        table = pa.concat_tables([_read(row.rows) for row in rows])
        yield Row(rows=_written(play_pages(self._job, table, self._page, self._write)))

    def _page(self, page: int) -> bytes | None:
        found = self._pages.getValue((page,))
        return None if found is None else bytes(found[0])

    def _write(self, page: int, content: bytes) -> None:
        self._pages.updateValue((page,), (content,))
