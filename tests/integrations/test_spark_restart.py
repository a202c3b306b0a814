"""A streaming job that is killed in the middle goes on from its checkpoint, as if nothing was."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fullswap as fs
from fullswap.integrations.spark import session
from spark_cases import OLD_PANDAS, SETTINGS, log_of, needs_java

pytestmark = [needs_java, pytest.mark.filterwarnings(OLD_PANDAS)]
JOB = Path(__file__).with_name("spark_job.py")
BATCHES = 6


def start(folder):
    """A process group of its own: the driver, its Java and their workers."""
    paths = [str(JOB.parent), str(JOB.parents[1]), *sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    with open(folder / "log.txt", "ab") as log:
        return subprocess.Popen(
            [sys.executable, "-W", "ignore", str(JOB), str(folder)],
            env=environment, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip


def kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def committed(folder):
    """Micro-batches that are through."""
    return len(list((folder / "checkpoint" / "commits").glob("[0-9]*")))


@pytest.mark.timeout(400)
def test_every_row_comes_once_and_is_the_same(tmp_path):
    log = log_of(3_000, 40)
    (tmp_path / "in").mkdir()
    table = pa.table(log)
    for k in range(BATCHES):
        pq.write_table(table.slice(500 * k, 500), tmp_path / "in" / f"{k}.parquet")
        os.utime(tmp_path / "in" / f"{k}.parquet", (k, k))
    process = start(tmp_path)
    try:
        while committed(tmp_path) < 2 and process.poll() is None:
            time.sleep(0.02)
        time.sleep(0.3)  # into the next one
        assert process.poll() is None, (tmp_path / "log.txt").read_text()
    finally:
        kill(process)
    before = committed(tmp_path)
    assert before < BATCHES
    again = start(tmp_path)
    try:
        assert again.wait(300) == 0, (tmp_path / "log.txt").read_text()
    finally:
        kill(again)
    assert committed(tmp_path) == BATCHES
    # such as a batch that was cut short leaves behind; Spark reads those files that count
    stray = next((tmp_path / "out").glob("*.parquet"))
    shutil.copy(stray, stray.with_name("part-00000-stray.snappy.parquet"))
    spark = session("tests", SETTINGS)
    try:
        found = spark.read.parquet(str(tmp_path / "out")).toArrow().sort_by("time")
    finally:
        spark.stop()
    run = fs.Bank(fs.Recalibrator(seed=7)).run(log["key"], log["p"], log["y"])
    assert found["time"].to_pylist() == list(range(3_000))
    assert np.array_equal(found["issued"].to_numpy(), run.issued)
    assert np.array_equal(found["mean"].to_numpy(), run.mean)
