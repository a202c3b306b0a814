"""What a stream of a service takes: ``python -m benchmarks.service_sizes``.

Streams of several kinds get 1, 10 and 100 events each; every line is a process of its own, so
that its memory is that of these streams. Start is the processor time in which a folder is opened
again, a stream.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

KINDS = {
    "recalibrator (default)": {},
    "recalibrator, step 5 %": {"step": 0.05},
    "forecaster": {"forecaster": "forecaster"},
    "recalibrator, 3 classes": {"classes": 3},
    "recalibrator, not watched": {"monitor": False},
}
STREAMS, EVENTS = 5_000, (1, 10, 100)
COLUMNS = ("kind", "events", "memory", "of it rows", "watch", "disk: stream", "forecast", "start")


def main() -> int:
    """Print all lines."""
    print(" | ".join(COLUMNS))
    for kind in KINDS:
        for events in EVENTS if "classes" not in kind else EVENTS[:2]:
            command = [sys.executable, "-m", "benchmarks.service_sizes", kind, str(events)]
            subprocess.run(command, check=True)
    return 0


def measure(kind: str, events: int) -> None:
    """One line."""
    from benchmarks.served import table_bytes
    from fullswap.service.messages import SpecBody
    from fullswap.service.service import Service

    with tempfile.TemporaryDirectory(prefix="fullswap-sizes-") as folder:
        service = Service.open(folder)
        service.ask(lambda engine: engine.put_spec("kind", SpecBody(**KINDS[kind]))).result()
        feed(service, 50, events, "before-")  # whatever comes with the first streams
        before = _resident()
        feed(service, STREAMS, events, "s")
        memory = (_resident() - before) / STREAMS
        fleet = service.ask(lambda engine: engine.specs_by_name["kind"]).result()
        rows, watch = fleet.rows.row(len(fleet) - 1).nbytes, fleet.watch.nbytes / len(fleet)
        streams = len(fleet)
        service.close()
        tables = table_bytes(Path(folder))
        begun = time.process_time()
        again = Service.open(folder)
        start = (time.process_time() - begun) / streams
        again.close()
    cells = (
        f"{memory:,.0f} B", f"{rows:,} B", f"{watch:,.0f} B",
        f"{tables['streams'] / streams:,.0f} B", f"{tables['history'] / streams / events:,.0f} B",
        f"{1e6 * start:,.0f} µs",
    )  # fmt: skip
    print(" | ".join((kind, str(events), *cells)), flush=True)


def feed(service: object, streams: int, events: int, prefix: str) -> None:
    """Events of a model that is right, or of none, for so many streams."""
    from fullswap.service.messages import ForecastItem, OutcomeItem

    rng = np.random.default_rng(0)
    fleet = service.ask(lambda engine: engine.specs_by_name["kind"]).result()  # type: ignore[attr-defined]
    classes = fleet.classes
    for _ in range(events):
        for begin in range(0, streams, 1_000):
            names = [f"{prefix}{k}" for k in range(begin, min(begin + 1_000, streams))]
            p = rng.dirichlet(np.ones(classes), len(names)).round(6)
            said = p[:, 1].tolist() if classes == 2 else (p / p.sum(axis=1)[:, None]).tolist()
            if not fleet.models:
                said = [None] * len(names)
            items = [
                ForecastItem(name, "kind", p=one) for name, one in zip(names, said, strict=True)
            ]
            made = service.forecasts(items).result()  # type: ignore[attr-defined]
            came = (p.cumsum(axis=1) < rng.random(len(names))[:, None]).sum(axis=1)
            came = np.minimum(came, classes - 1).tolist()
            pairs = zip(made, came, strict=True)
            service.outcomes([OutcomeItem(y, one.id) for one, y in pairs]).result()  # type: ignore[attr-defined]


def _resident() -> int:
    """Bytes of memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        measure(sys.argv[1], int(sys.argv[2]))
        raise SystemExit
    raise SystemExit(main())
