"""What a service takes: ``python -m benchmarks.service [--quick]``.

Starts ``fullswap serve`` on a temporary folder, puts load on it from 64 connections of this
process, on this machine's own network, and says how much was answered, how quickly, and where
the time went. A forecast is one event, and its outcome is another: both are durable when they are
answered. The load and the service share the processors.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

from benchmarks.served import Served, file_bytes, table_bytes
from benchmarks.service_load import Load, Tally, drive

BATCH = 1_000
RATIO, DURABLE = 20.0, 100_000.0
"""Targets: events a second in batches against single ones; and altogether."""
MIX = (1, 1, 1, 10, 100, 1_000)
COLUMNS = (
    "", "requests/s", "events/s", "errors", "p50", "p95", "p99", "max", "CPU: service", "load",
    "service an event",
)  # fmt: skip
ALL = 10**9


def single(random: Random) -> int:
    """One item a request."""
    return 1


def batch(random: Random) -> int:
    """A thousand."""
    return BATCH


def mix(random: Random) -> int:
    """Any of these."""
    return random.choice(MIX)


def parts(quick: bool, streams: int) -> list[tuple[str, Load, int]]:
    """Name, load, and the number of the first client: ids of clients are used once."""
    seconds = 3.0 if quick else 11.0
    return [
        ("single", Load(single, seconds, ALL, streams=streams), 0),
        (f"batches of {BATCH:,}", Load(batch, seconds, ALL, streams=streams), 0),
        ("… with clients' ids", Load(batch, seconds, ALL, streams=streams, own_ids=True), 1_000),
        ("mix", Load(mix, seconds, ALL, streams=streams, listing=0.02), 0),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all parts; missed targets are shown, and only errors are a failure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="about 20 seconds, not a minute")
    parser.add_argument("--streams", type=int, default=None, help="of each connection")
    given = parser.parse_args(arguments)
    streams = given.streams or (100 if given.quick else 500)
    with tempfile.TemporaryDirectory(prefix="fullswap-load-") as place:
        return measure(Path(place) / "kept", parts(given.quick, streams))


def measure(folder: Path, wanted: list[tuple[str, Load, int]]) -> int:
    """Run these parts on a folder and print what came of them; 1 if anything went wrong."""
    served = Served(folder)
    try:
        empty, memory = served.start_seconds, served.resident()
        asyncio.run(drive(served.port, Load(batch, 60.0, 1, connections=1, streams=100), 9_000))
        print(" | ".join(COLUMNS))
        before = served.written()
        tallies = {name: _part(served, name, load, first) for name, load, first in wanted}
        _targets(tallies)
        _sizes(served, memory, before, list(tallies.values()))
        _restarts(served, folder, empty)
    finally:
        served.process.kill()
        served.process.wait()
    errors = [error for tally in tallies.values() for error in tally.errors]
    for error in errors[:5]:
        print(f"error: {error}")
    return int(bool(errors))


def _part(served: Served, name: str, load: Load, first: int) -> Tally:
    service, own = served.cpu_seconds(), time.process_time()
    tally = asyncio.run(drive(served.port, load, first))
    service, own = served.cpu_seconds() - service, time.process_time() - own
    times = [f"{1000 * tally.percentile(share):.1f} ms" for share in (0.5, 0.95, 0.99, 1.0)]
    print(" | ".join((
        name, f"{tally.requests / tally.seconds:,.0f}", f"{tally.events / tally.seconds:,.0f}",
        str(len(tally.errors)), *times, f"{service:.1f} s of {tally.seconds:.1f}", f"{own:.1f} s",
        f"{1e6 * service / max(tally.events, 1):.1f} µs",
    )), flush=True)  # fmt: skip
    return tally


def _targets(tallies: dict[str, Tally]) -> None:
    speeds = {name: tally.events / tally.seconds for name, tally in tallies.items()}
    one = speeds.pop("single", None)
    best = max((speed for name, speed in speeds.items() if "batches" in name), default=None)
    if one is None or best is None:
        return
    print(
        f"\nAn event is a forecast or an outcome: {best:,.0f} a second in batches, "
        f"{best / one:.1f} times as many as one by one (target {RATIO:g}: "
        f"{_said(best / one >= RATIO)}); {DURABLE:,.0f} durable ones a second: "
        f"{_said(best >= DURABLE)}."
    )


def _sizes(served: Served, memory: int, before: int, tallies: list[Tally]) -> None:
    events = sum(tally.events for tally in tallies)
    served_streams = served.ask("/v1/streams?limit=1")["total"]
    grown, written = served.resident() - memory, served.written() - before
    seconds = served.stop()
    sizes, tables = file_bytes(served.folder), table_bytes(served.folder)
    print(
        f"{events:,} events of {served_streams:,} streams. Memory: {memory / 2**20:,.0f} MiB at "
        f"first, {grown / served_streams:,.0f} bytes a stream more. Written to disk: "
        f"{written / events:,.0f} bytes an event. Stopped in {seconds:.1f} s."
    )
    print("On disk: " + ", ".join(f"{name}.db {size:,} bytes" for name, size in sizes.items()))
    if tables:
        forecasts = sum(tally.forecasts for tally in tallies)
        print(
            f"of which a stream {tables['streams'] / served_streams:,.0f} bytes, a resolved "
            f"forecast {tables['history'] / forecasts:,.0f}, all ids {tables['ids']:,}"
        )


def _restarts(served: Served, folder: Path, empty: float) -> None:
    """Start again after an orderly stop, and after a kill under load."""
    again = Served(folder)
    streams = again.health["streams"]
    print(
        f"Start: {empty:.1f} s with an empty folder, {again.start_seconds:.1f} s with "
        f"{streams:,} streams", end="",
    )  # fmt: skip
    try:
        load = Load(batch, 2.0, ALL, connections=8, streams=100)
        tally = asyncio.run(drive(again.port, load, 0))
        again.kill()
        journal = file_bytes(folder)["journal"]
        after = Served(folder)
    finally:
        again.process.kill()
        again.process.wait()
    try:
        entries = after.health["recovered"]
        print(
            f", {after.start_seconds:.1f} s after a kill ({tally.events:,} events in two seconds "
            f"before it; {entries:,} entries and {journal / 2**20:.0f} MiB of the journal)."
        )
    finally:
        after.process.kill()
        after.process.wait()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"The load itself took {peak:,.0f} MiB at most.")


def _said(met: bool) -> str:
    return "reached" if met else "not reached"


if __name__ == "__main__":
    raise SystemExit(main())
