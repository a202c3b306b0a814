"""A disk that is full, a folder that cannot be written, a store that somebody has locked."""

import os
import random
import sqlite3
import subprocess
import sys
from contextlib import contextmanager

import pytest

from fullswap.service.messages import ForecastItem, OutcomeItem
from fullswap.service.problems import Unavailable
from fullswap.service.service import Service
from service.killed import Server

pytestmark = pytest.mark.timeout(300)


@contextmanager
def small_disk(folder, size="3m"):
    """A file system of this size; the test is skipped where none can be mounted."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("no small file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def state_of(service):
    rows = service.ask(lambda engine: engine.streams(limit=1000, sort="stream")).result()["streams"]
    kept = ("stream", "events", "forecasts", "pending", "error", "evidence_log10")
    return [[row[name] for name in kept] for row in rows]


def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path):
    rng = random.Random(1)
    with small_disk(tmp_path / "disk") as disk:
        service = Service.open(disk / "data")
        filler, told = disk / "filler", {}
        try:
            for turn in range(2000):
                names = [f"stream {k}" for k in range(50)]
                items = [ForecastItem(one, p=rng.random(), id=f"{turn}/{one}") for one in names]
                try:
                    for item, answer in zip(items, service.forecasts(items).result(), strict=True):
                        told[item.id] = (item, answer)
                except Unavailable as trouble:
                    assert "disk is full" in str(trouble)
                    break
                if turn == 5:  # not much is left
                    left = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
                    filler.write_bytes(bytes(max(left - 300_000, 0)))
            else:
                raise AssertionError("the disk was never full")
            before = state_of(service)
            for _ in range(3):
                with pytest.raises(Unavailable, match="disk is full"):
                    service.forecasts([ForecastItem("more", p=0.5)] * 2000).result()
            assert state_of(service) == before
            filler.unlink()  # there is room again
            answers = service.outcomes([OutcomeItem(1, id=one) for one in told]).result()
            assert {answer.status for answer in answers} == {"learnt"}
            after = state_of(service)
        finally:
            service.close()
        service = Service.open(disk / "data")
        assert state_of(service) == after
        again = service.forecasts([item for item, _ in told.values()]).result()
        assert again == [answer for _, answer in told.values()]
        service.close()


@pytest.mark.parametrize("name", ["journal.db", "streams.db"])
def test_a_locked_store_is_said_and_nothing_is_lost(tmp_path, name, monkeypatch):
    monkeypatch.setattr("fullswap.service.storage.PATIENCE", 0.05)
    service = Service.open(tmp_path / "data")
    (first,) = service.forecasts([ForecastItem("a", p=0.5, id="x")]).result()
    other = sqlite3.connect(tmp_path / "data" / name, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    before = state_of(service)
    if name == "journal.db":
        with pytest.raises(Unavailable, match="locked"):
            service.forecasts([ForecastItem("a", p=0.5)]).result()
        with pytest.raises(Unavailable, match="locked"):
            service.outcomes([OutcomeItem(1, id="x")]).result()
        assert state_of(service) == before
    else:  # requests do not wait for the tables
        assert service.outcomes([OutcomeItem(1, id="x")]).result()[0].status == "learnt"
    other.execute("ROLLBACK")
    other.close()
    assert service.outcomes([OutcomeItem(1, id="x")]).result()[0].status in ("learnt", "known")
    service.close()
    service = Service.open(tmp_path / "data")
    assert service.forecasts([ForecastItem("a", p=0.5, id="x")]).result() == [first]
    service.close()


def run_serve(folder):
    command = [sys.executable, "-m", "fullswap", "serve", str(folder), "--port", "0"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_refused_in_one_sentence(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o500)
    done = run_serve(folder)
    assert done.returncode == 1 and "writ" in done.stderr and "Traceback" not in done.stderr


def test_a_read_only_file_system_is_refused_in_one_sentence(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        Service.open(disk / "data").close()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        done = run_serve(disk / "data")
        assert done.returncode == 1, done.stderr
        assert "Traceback" not in done.stderr and "writ" in done.stderr.lower()


def test_a_second_process_on_a_folder_is_refused_in_one_sentence(tmp_path):
    server = Server(tmp_path / "data").start()
    try:
        done = run_serve(tmp_path / "data")
        assert done.returncode == 1, done.stderr
        assert "another service" in done.stderr and "Traceback" not in done.stderr
        assert server.ask("GET", "/healthz")[0] == 200
    finally:
        assert server.stop() == 0
