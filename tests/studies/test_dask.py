"""Runs on a Dask cluster: the same results, nothing lost with a worker, nothing left behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import errands
import pytest
from whole import ROOT

import fullswap
from studies import attempts, cluster, runs, shipping
from studies.__main__ import main
from studies.runs import Job, Store, provenance, run
from studies.threads import THREADS

distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")


def children():
    """Processes that this one began and that are still there."""
    found = psutil.Process().children(recursive=True)
    return {each for each in found if each.status() != psutil.STATUS_ZOMBIE}


def until(happens, seconds=30.0):
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def local():
    before = children()
    with cluster.local_workers(2) as executor:
        yield executor
    until(lambda: not any("spawn_main" in " ".join(each.cmdline()) for each in children() - before))


def squares(*sides):
    return [Job(errands.square, {"side": side, "seed": 0}, cost=side) for side in sides]


def plain(folder):
    """Files of a study, but for CPU times."""
    found = {}
    for path in sorted(folder.rglob("*.csv")):
        rows = runs.from_csv(path.read_text(encoding="utf-8"))
        found[path.name] = [{**row, "cpu_seconds": 0.0} for row in rows]
    for path in sorted(folder.rglob("*.json")):
        found[path.name] = {**json.loads(path.read_text(encoding="utf-8")), "cpu_seconds": 0}
    return found


def test_rows_are_those_of_any_other_engine_in_the_same_order(local, tmp_path):
    jobs = attempts.jobs(True, 0)[:3]
    jobs = [Job(job.measure, {**job.arguments, "rounds": 20, "budget": 2}) for job in jobs]
    rows = []
    with ThreadPoolExecutor(1) as threads:
        for name, executor in (("here", threads), ("there", local)):
            run(jobs, Store(tmp_path / name, "search"), executor)
            rows.append(plain(tmp_path / name))
    assert rows[0] == rows[1] and rows[0]["search.csv"]


def test_every_worker_makes_runs_and_is_one_process_with_one_thread(local, tmp_path):
    rows = run(squares(*range(1, 13)), Store(tmp_path, "squares"), local)
    assert [row["side"] for row in rows] == list(range(1, 13))
    assert os.getpid() not in {row["process"] for row in rows} and len(children()) >= 2
    seen = local.submit(errands.surroundings).result(30)
    assert all(seen[name] == "1" for name in THREADS)


def test_nobody_but_this_machine_can_call(local):
    local.submit(errands.surroundings).result(30)
    heard = [
        connection.laddr.ip.removeprefix("::ffff:")  # the same address, as Java writes it
        for process in (psutil.Process(), *children())
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert len(heard) >= 3 and set(heard) == {"127.0.0.1"}


def test_a_worker_that_is_lost_costs_its_own_run_alone(local, tmp_path):
    place = tmp_path / "attempts"
    place.mkdir()

    def end_it():
        until(lambda: list(place.glob("0.*")) and len(list(place.glob("*"))) > 2)
        os.kill(int(next(place.glob("0.*")).suffix[1:]), signal.SIGKILL)

    jobs = [Job(errands.noted, {"folder": str(place), "side": n}, cost=9 - n) for n in range(9)]
    killer = threading.Thread(target=end_it)
    killer.start()
    rows = run(jobs, Store(tmp_path, "noted"), local)
    killer.join()
    assert [row["area"] for row in rows] == [n**2 for n in range(9)]
    assert sorted(int(path.stem) for path in place.glob("*")) == [0, *range(9)]


def test_a_failure_keeps_what_was_running_and_begins_nothing_new(local, tmp_path):
    jobs = [
        Job(errands.after, {"folder": str(tmp_path), "fails": fails}, cost=99) for fails in (0, 1)
    ]
    with pytest.raises(RuntimeError, match="first"):
        run([*jobs, *squares(*range(1, 40))], Store(tmp_path, "mixed"), local)
    known = Store(tmp_path, "mixed").load()
    assert jobs[0].name in known and len(known) < 30
    assert len(run(squares(2, 3), Store(tmp_path, "mixed"), local)) == 2  # it goes on


def test_what_waits_can_be_called_off(local, tmp_path):
    slow = [local.submit(time.sleep, 0.5) for _ in range(2)]
    waiting = [local.submit(errands.square, side, 0) for side in range(20)]
    assert waiting[-1].cancel() and waiting[-1].cancelled()
    assert [future.result(30) for future in slow] == [None, None]
    assert waiting[0].result(30)[0]["area"] == 0


def test_a_run_that_ends_every_worker_is_named(tmp_path):
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        cluster.local_workers(1) as executor,
        pytest.raises(RuntimeError, match=r"lost one after the other, at side=3"),
    ):
        run([Job(errands.fatal, {"side": 3})], Store(tmp_path, "fatal"), executor)
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(errands.surroundings)


class Elsewhere:
    """A scheduler and workers as processes of their own, in a folder that has no studies."""

    def __init__(self, folder):
        self.folder = folder
        self.started = []
        where = folder / "scheduler.json"
        options = ["--port", "0", "--dashboard-address", "127.0.0.1:0"]
        self.start("scheduler", *options, "--scheduler-file", str(where))
        until(lambda: where.exists() and where.read_text().strip().endswith("}"))
        self.address = json.loads(where.read_text())["address"]

    def start(self, what, *options):
        source = str(Path(fullswap.__file__).parents[1])
        with (self.folder / f"log{len(self.started)}").open("w") as log:
            self.started.append(
                subprocess.Popen(
                    [sys.executable, "-m", "dask", what, *options, "--host", "127.0.0.1"],
                    cwd=self.folder, env={**os.environ, "PYTHONPATH": source},
                    stdout=log, stderr=log, start_new_session=True,
                )
            )  # fmt: skip
        return self.started[-1]

    def worker(self, threads=1):
        return self.start("worker", self.address, "--nthreads", str(threads), "--no-dashboard")

    def close(self):
        for process in reversed(self.started):
            end(process)


def end(process):
    """With all that it began, at once."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait(10)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    found = Elsewhere(tmp_path_factory.mktemp("elsewhere"))
    try:
        found.worker()
        yield found
    finally:
        found.close()


def test_workers_elsewhere_get_the_studies_and_give_the_same(elsewhere, tmp_path, monkeypatch):
    monkeypatch.setattr(attempts, "QUICK", (20, 2))
    monkeypatch.setattr(attempts, "cases", lambda: [("lipschitz", 1), ("lipschitz", 2)])
    with ThreadPoolExecutor(1) as threads:
        run(attempts.jobs(True, 0), Store(tmp_path / "here", "search"), threads)
    asked = ["search", "--engine", "dask", "--scheduler", elsewhere.address]
    assert main([*asked, "--out", str(tmp_path / "there")]) == 0
    here, there = plain(tmp_path / "here"), plain(tmp_path / "there")
    assert there["search.csv"] == here["search.csv"]  # with the revision of the source here
    assert list(there["summary.json"]["parts"]) == ["search"]
    # and nothing stays with them
    code = "__import__('importlib.util').util.find_spec('studies') is None"
    with distributed.Client(elsewhere.address, set_as_default=False) as client:
        assert set(client.run(eval, code).values()) == {True}


def test_a_worker_that_goes_for_good_is_replaced_by_one_that_came_late(elsewhere):
    lost = elsewhere.started[-1]
    with cluster.running_workers(elsewhere.address) as executor:
        first = executor.submit(os.getpid).result(30)
        asked = [executor.submit(runs.number, {"gap": gap}, "gap") for gap in range(3)]
        slow = executor.submit(time.sleep, 1.0)
        until(slow.running)
        end(lost)
        elsewhere.worker()
        assert [future.result(30) for future in asked] == [0.0, 1.0, 2.0]
        assert slow.result(30) is None and executor.submit(os.getpid).result(30) != first


def test_the_source_of_a_later_study_takes_the_place_of_the_earlier(
    elsewhere, tmp_path, monkeypatch
):
    with cluster.running_workers(elsewhere.address) as executor:
        assert executor.submit(runs.number, {"gap": 3}, "gap").result(30) == 3.0
    edited = tmp_path / "studies"
    shutil.copytree(shipping.HERE, edited, ignore=shutil.ignore_patterns("__pycache__"))
    with (edited / "runs.py").open("a") as file:
        file.write("\n\ndef number(row, key):\n    return 42.0\n")
    monkeypatch.setattr(shipping, "HERE", edited)
    with cluster.running_workers(elsewhere.address) as executor:
        assert executor.submit(runs.number, {"gap": 3}, "gap").result(30) == 42.0
        # somebody else's study puts other source in its place: that is said, not used
        monkeypatch.undo()
        with cluster.running_workers(elsewhere.address):
            late = executor.submit(runs.number, {"gap": 3}, "gap")
            with pytest.raises(ValueError, match="must have the same source of studies"):
                late.result(30)


def test_workers_that_would_compute_otherwise_are_refused(elsewhere, tmp_path, monkeypatch, capsys):
    Store(tmp_path, "search").append([{"job": "a"}])
    asked = ["search", "--fresh", "--engine", "dask", "--scheduler", elsewhere.address]
    asked += ["--out", str(tmp_path)]
    with monkeypatch.context() as patch:
        patch.setattr(shipping, "provenance", lambda: {**provenance(), "numpy": "numpy 0"})
        assert main(asked) == 1
    assert "must have numpy 0, got numpy" in capsys.readouterr().err
    loose = elsewhere.worker(threads=2)
    with distributed.Client(elsewhere.address, set_as_default=False) as client:
        until(lambda: 2 in client.nthreads().values())
        assert main(asked) == 1
        assert "must have one thread, got 2: start it with --nthreads 1" in capsys.readouterr().err
        end(loose)
        until(lambda: 2 not in client.nthreads().values())
    assert Store(tmp_path, "search").load()  # nothing was dropped


def test_a_process_that_would_compute_otherwise_says_why(monkeypatch):
    for name in THREADS:
        monkeypatch.setenv(name, "1")
    assert shipping.fault.__wrapped__(shipping.environment()) == ""
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    assert "start it with OMP_NUM_THREADS=1" in shipping.fault.__wrapped__(())


def test_a_scheduler_that_is_not_there_is_an_error_before_anything_is_dropped(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(cluster, "CONNECT", 0.3)
    Store(tmp_path, "search").append([{"job": "a"}])
    asked = ["search", "--fresh", "--engine", "dask", "--scheduler", "tcp://127.0.0.1:1"]
    assert main([*asked, "--out", str(tmp_path)]) == 1
    assert "tcp://127.0.0.1:1" in capsys.readouterr().err
    assert Store(tmp_path, "search").load()


def test_a_scheduler_that_goes_away_is_an_error_of_every_run(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT", 2.0)
    found = Elsewhere(tmp_path)
    try:
        found.worker()
        with cluster.running_workers(found.address) as executor:
            running, waiting = (executor.submit(time.sleep, 60) for _ in range(2))
            until(running.running)
            end(found.started[0])
            for future in (running, waiting):
                with pytest.raises(RuntimeError, match="the cluster"):
                    future.result(30)
    finally:
        found.close()


def test_without_distributed_the_extra_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["search", "--engine", "dask", "--out", str(tmp_path / "out")]) == 1
    assert "pip install 'fullswap[sweep]'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--engine", "threads"], "--engine"),
        (["--scheduler", "tcp://localhost:8786"], "--scheduler needs --engine dask"),
        (["--engine", "dask", "--scheduler", "localhost"], "must be like tcp://host:8786"),
        (["--engine", "dask", "--scheduler", "tcp://h:1", "--workers", "2"], "--workers"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_why(arguments, named, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2 and named in capsys.readouterr().err


def test_what_was_finished_when_somebody_stops_it_stays(tmp_path):
    asked = ["search", "--engine", "dask", "--workers", "2", "--out", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "studies", *asked],
        cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        until(Store(tmp_path, "search").load, 60)
        begun = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    finally:
        end(process)
    assert process.returncode == 130 and "Stopped. The same command goes on" in said
    assert "Traceback" not in said
    until(lambda: not any(each.is_running() and each.status() != "zombie" for each in begun), 10)
    assert Store(tmp_path, "search").load()
