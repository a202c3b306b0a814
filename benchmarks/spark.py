"""A million events of ten thousand keys through Spark: ``python -m benchmarks.spark``.

Not among the other benchmarks, because it needs Java and a minute. The yardstick is the same run on
one machine without Spark, ``Bank.run``; what Spark itself takes to read, shuffle and write the rows
is measured beside it, because nothing that runs in Spark can take less.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fullswap import Bank, Recalibrator

BATCHES = 4
"""Micro-batches of the streaming query."""
SETTINGS = {
    "spark.master": "local[2]", "spark.ui.enabled": "false", "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "2", "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
    "spark.log.level": "ERROR",
}  # fmt: skip
COLUMNS = {"key": "key", "time": "time", "probability": "p", "outcome": "y"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the rows that come out are compared with those of the bank."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description=__doc__)
    parser.add_argument("--events", type=int, default=10**6)
    parser.add_argument("--keys", type=int, default=10**4)
    own = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), own.events, own.keys)
    return 0


def measure(folder: Path, events: int, keys: int) -> None:
    """Each of them once to begin with, because workers start and Java compiles, then measured."""
    from fullswap.integrations.spark import recalibrate, session

    pattern = Recalibrator(seed=7)
    columns = write_rows(folder / "rows", events, keys)
    run, alone = timed(lambda: Bank(pattern).run(columns["key"], columns["p"], columns["y"]))
    spark = session("benchmark", SETTINGS)
    rows = spark.read.parquet(str(folder / "rows"))

    def shuffle(out: str) -> None:
        moved = rows.repartition("key").sortWithinPartitions("key", "time")
        moved.write.parquet(out)

    def batch(out: str) -> None:
        recalibrate(rows, **COLUMNS, pattern=pattern).write.parquet(out)

    def stream(out: str) -> None:
        source = spark.readStream.schema(rows.schema).option("maxFilesPerTrigger", 1)
        frame = recalibrate(source.parquet(str(folder / "rows")), **COLUMNS, pattern=pattern)
        writer = frame.writeStream.option("checkpointLocation", f"{out}.checkpoint")
        writer.trigger(availableNow=True).start(out, format="parquet").awaitTermination()

    print(f"{events:,} events of {keys:,} keys; load of the machine {os.getloadavg()[0]:.1f}")
    print(f"{'Bank.run, one process':42}{alone:8.1f} s")
    parts: list[tuple[str, Callable[[str], None]]] = [
        ("Spark: read, shuffle, sort, write", shuffle),
        ("Spark: recalibrate, batch", batch),
        (f"Spark: recalibrate, {BATCHES} micro-batches", stream),
    ]
    for k, (name, work) in enumerate(parts):
        work(str(folder / f"first-{k}"))
        out = str(folder / f"out-{k}")
        _, seconds = timed(lambda work=work, out=out: work(out))
        print(f"{name:42}{seconds:8.1f} s{1e6 * seconds / events:8.1f} µs an event", flush=True)
        if work is not shuffle:
            found = spark.read.parquet(out).orderBy("time").select("issued", "mean").toArrow()
            same = [
                np.array_equal(found[name].to_numpy(), getattr(run, name))
                for name in found.schema.names
            ]
            print("    equal to Bank.run to the last bit" if all(same) else "    DIFFERENT")
    spark.stop()


def write_rows(folder: Path, events: int, keys: int) -> dict[str, Any]:
    """As many files as there are micro-batches."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    p = rng.random(events)
    columns = {
        "key": rng.integers(0, keys, events), "time": np.arange(events), "p": p,
        "y": (rng.random(events) < 0.2 + 0.6 * p).astype(float),
    }  # fmt: skip
    folder.mkdir()
    for k, part in enumerate(np.array_split(np.arange(events), BATCHES)):
        table = pa.table({name: column[part] for name, column in columns.items()})
        pq.write_table(table, folder / f"{k}.parquet")
        os.utime(folder / f"{k}.parquet", (k, k))  # they are read in this order
    return columns


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What it gives, and how long it takes."""
    begin = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begin


if __name__ == "__main__":
    raise SystemExit(main())
