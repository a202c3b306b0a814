"""Many connections at once: nothing fails, nothing is lost, and all of it is counted."""

import asyncio
import sys

import pytest

pytest.importorskip("litestar", reason="the extra serve is not installed")

from benchmarks.served import Served, file_bytes  # noqa: E402
from benchmarks.service import batch, mix  # noqa: E402
from benchmarks.service_load import Load, drive  # noqa: E402

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
CONNECTIONS = 64


@pytest.fixture
def served(tmp_path):
    made = Served(tmp_path / "kept", "--log-level", "warning")
    yield made
    made.process.kill()
    made.process.wait()


def counts(served, streams):
    listed = served.ask(f"/v1/streams?limit=1000&sort=stream&search=load-{streams}")["streams"]
    return {name: sum(row[name] for row in listed) for name in ("forecasts", "events", "pending")}


def test_all_answers_are_right_and_all_are_counted(served):
    single = Load(lambda random: 1, 60.0, 3, CONNECTIONS, streams=3, check=True)
    mixed = Load(mix, 60.0, 2, CONNECTIONS, streams=5, check=True, listing=0.3, own_ids=True)
    for load in (single, mixed):
        tally = asyncio.run(drive(served.port, load, first=0 if load is single else 100))
        assert tally.errors == []
        assert tally.requests >= 2 * CONNECTIONS * load.most
        assert tally.forecasts == tally.outcomes >= CONNECTIONS * load.most
        if load is single:
            seen = {"forecasts": tally.forecasts, "events": tally.outcomes, "pending": 0}
            assert counts(served, "") == seen
    listed = served.ask("/v1/streams?limit=1000")
    assert listed["total"] == len(listed["streams"]) <= CONNECTIONS * 8
    assert sum(row["events"] for row in listed["streams"]) == seen["events"] + tally.outcomes
    assert listed["counts"]["pending"] == 0
    assert served.cpu_seconds() > 0 and served.resident() > 0


def test_what_was_answered_outlives_a_kill(served):
    load = Load(batch, 60.0, 2, connections=4, streams=50)
    tally = asyncio.run(drive(served.port, load))
    served.kill()
    again = Served(served.folder)
    try:
        assert tally.errors == [] and tally.events == 4 * 2 * 2 * 1_000
        assert counts(again, "") == {"forecasts": 8_000, "events": 8_000, "pending": 0}
        assert again.health["recovered"] > 0
        again.stop()
    finally:
        again.process.kill()
        again.process.wait()
    assert min(file_bytes(served.folder).values()) > 0
