"""Spark itself: batch frames and streaming queries give what a bank gives."""

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fullswap as fs
from fullswap.integrations import spark as adapter
from fullswap.integrations.spark import recalibrate, session
from spark_cases import OLD_PANDAS, PAGES, SETTINGS, log_of, needs_java, replayed

pytestmark = [needs_java, pytest.mark.filterwarnings(OLD_PANDAS)]
PATTERN = fs.Recalibrator(seed=7)
ROLES = {"key": "key", "time": "time", "probability": "p", "outcome": "y"}
LATE = {**ROLES, "id": "id"}
START = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = ("key", "time", "p", "y", "id")


@pytest.fixture(scope="module")
def spark():
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYSPARK_PYTHON", raising=False)
        own = session("tests", SETTINGS)
        yield own
        own.stop()
        patch.delenv("PYSPARK_PYTHON", raising=False)


def written(folder, parts):
    """Files that a streaming query reads one by one, in this order."""
    folder.mkdir()
    for k, part in enumerate(parts):
        pq.write_table(part, folder / f"{k}.parquet")
        os.utime(folder / f"{k}.parquet", (k, k))
    return str(folder)


def source(spark, folder):
    """One file a micro-batch."""
    schema = spark.read.parquet(folder).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(folder)


def streamed(frame, folder):
    """All rows of a query that ran to the end, as Spark reads them back."""
    out, checkpoint = str(folder / "out"), str(folder / "checkpoint")
    writer = frame.writeStream.format("parquet").option("checkpointLocation", checkpoint)
    query = writer.trigger(availableNow=True).start(out)
    query.awaitTermination()
    assert query.exception() is None
    return frame.sparkSession.read.parquet(out).toArrow()


@pytest.fixture(scope="module")
def log():
    return log_of(3_000, 40)


@pytest.fixture(scope="module")
def run(log):
    return fs.Bank(PATTERN).run(log["key"], log["p"], log["y"])


class TestTheSameNumbers:
    def compare(self, found, run):
        found = found.sort_by("time")
        assert found.schema.names == ["key", "time", "p", "y", *adapter_columns()]
        assert np.array_equal(found["issued"].to_numpy(), run.issued)
        assert np.array_equal(found["mean"].to_numpy(), run.mean)
        assert set(found["status"].to_pylist()) == {"learnt"}

    def test_of_a_batch_frame(self, spark, log, run):
        # rows lie anywhere, and the order of time brings them back
        mixed = pa.table(log).take(np.random.default_rng(1).permutation(3_000))
        frame = recalibrate(spark.createDataFrame(mixed), **ROLES, pattern=PATTERN)
        self.compare(frame.toArrow(), run)

    def test_of_micro_batches(self, spark, log, run, tmp_path):
        table = pa.table(log)
        parts = [table.slice(0, 10), table.slice(10, 1_990), table.slice(2_000)]
        mixed = [part.take(np.random.default_rng(1).permutation(len(part))) for part in parts]
        rows = source(spark, written(tmp_path / "in", mixed))
        frame = recalibrate(rows, **ROLES, pattern=PATTERN, pages=PAGES)
        self.compare(streamed(frame, tmp_path), run)

    def test_of_several_key_columns_and_classes(self, spark):
        rng = np.random.default_rng(2)
        p = rng.dirichlet(np.ones(3), 300)
        log = {
            "key": rng.integers(0, 4, 300), "half": rng.random(300) < 0.5,
            "time": np.arange(300), "p": p.tolist(), "y": rng.integers(0, 3, 300),
        }  # fmt: skip
        pattern = fs.Recalibrator(classes=3, seed=1)
        roles = {**ROLES, "key": ["key", "half"]}
        frame = recalibrate(spark.createDataFrame(pa.table(log)), **roles, pattern=pattern)
        keys = list(zip(log["key"].tolist(), log["half"].tolist(), strict=True))
        run = fs.Bank(pattern).run(keys, p, log["y"])
        found = frame.orderBy("time").toArrow()
        assert np.array_equal(np.array(found["issued"].to_pylist()), run.issued)
        assert np.array_equal(np.array(found["mean"].to_pylist()), run.mean)


def adapter_columns():
    return ["issued", "mean", "forecast_id", "status"]


def late_rows():
    """Forecasts and outcomes in rows of their own, days apart: parts as they arrive."""

    def at(day):
        return START + timedelta(days=day)

    rng = np.random.default_rng(3)
    first, later, too_late = [], [], []
    for k in range(60):
        key, p = f"key {k % 3}", float(rng.random())
        first.append((key, at(k / 10), p, None, f"{k}"))
        day, part = (7, later) if k % 5 else (40, too_late)
        part.append((key, at(day + k / 10), None, float(rng.random() < p), f"{k}"))
    again = [(*first[7][:1], at(6.95), *first[7][2:]), ("key 1", at(8.0), None, 1.0, "never")]
    at_once = [("key 2", at(6.5 + k / 100), 0.7, 1.0, None) for k in range(20)]
    no_outcome = [("key 0", at(30.5), 0.2, None, None)]
    return [first, again + at_once + later[:30], later[30:] + no_outcome + too_late]


def late_table(rows):
    kinds = (pa.string(), pa.timestamp("us", "UTC"), pa.float64(), pa.float64(), pa.string())
    columns = zip(NAMES, zip(*rows, strict=True), kinds, strict=True)
    return pa.table({name: pa.array(values, kind) for name, values, kind in columns})


def shown(table):
    """Rows by what was given: (issued, mean, id, status)."""
    return {
        tuple(row[name] for name in NAMES): tuple(row[name] for name in adapter_columns())
        for row in table.to_pylist()
    }


@pytest.mark.parametrize("streaming", [False, True])
def test_outcomes_come_later_or_too_late(spark, tmp_path, streaming):
    parts = late_rows()
    ordered = [sorted(part, key=lambda row: row[1]) for part in parts]
    rows = [row for part in ordered for row in part]
    if not streaming:
        rows.sort(key=lambda row: row[1])
        frame = spark.createDataFrame(late_table(rows))
        found = recalibrate(frame, **LATE, seed=7, expire="30 days").toArrow()
    else:
        folder = written(tmp_path / "in", [late_table(part) for part in parts])
        frame = recalibrate(source(spark, folder), **LATE, seed=7, expire="30 days", pages=PAGES)
        found = streamed(frame, tmp_path)
    wanted = replayed(PATTERN, rows, timedelta(days=30))
    assert shown(found) == dict(zip(rows, wanted, strict=True))
    states = [status for *_, status in wanted]
    assert {name: states.count(name) for name in set(states)} == {
        "forecast": 61, "known": 1, "learnt": 20 + 48, "unknown": 1 + 12,
    }  # fmt: skip


@pytest.fixture(scope="module")
def frame(spark):
    return spark.createDataFrame(
        [("a", 1, 0.5, 1.0, START)], "key string, time long, p double, y double, at timestamp"
    )


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (
                {"key": "where"},
                "key must be a column of df: one of key, .*, got 'where'",
            ),
            ({"key": "at"}, "key must be a column of texts, whole numbers, .*'at' of timestamp"),
            ({"key": []}, "key must be the name of a column, or several"),
            ({"time": "key"}, "time must be a column of times or numbers, got .*'key' of string"),
            ({"probability": "key"}, "probability must be a column of numbers"),
            ({"probability": None}, "probability must be the name of a column, got None"),
            ({"outcome": "key"}, "outcome must be a column of numbers or flags; for words"),
            ({"id": "p"}, "id must be a column of texts, whole numbers or bytes"),
            ({"seed": None}, "seed must be given where no pattern is"),
            ({"pattern": PATTERN}, "seed must be left out where a pattern is given"),
            ({"seed": None, "pattern": 3}, "pattern must be a forecaster"),
            ({"seed": None, "pattern": fs.Forecaster(seed=1)}, "probability must be None"),
            ({"pages": 0}, "pages must"),
            ({"expire": -1}, "expire must be positive"),
            ({"time": "at", "expire": "soon"}, "expire must be a time such as"),
            ({"time": "at", "expire": 3}, "expire must be a time such as"),
            ({"time": "at", "expire": "0 days"}, "expire must be positive"),
        ],
    )
    def test_before_anything_runs(self, frame, change, message):
        with pytest.raises(ValueError, match=message):
            recalibrate(frame, **{**ROLES, "seed": 1, **change})

    def test_a_pattern_that_has_learnt(self, frame):
        pattern = fs.Recalibrator(seed=1)
        pattern.run([0.5], [1])
        with pytest.raises(ValueError, match="pattern must be a forecaster without events"):
            recalibrate(frame, **ROLES, pattern=pattern)

    def test_a_pattern_with_groups(self, frame):
        with pytest.raises(ValueError, match="pattern must have no groups"):
            recalibrate(frame, **ROLES, pattern=fs.Recalibrator(groups="open", seed=1))

    def test_names_that_are_added(self, frame):
        with pytest.raises(ValueError, match="df must have no column 'status', which is added"):
            recalibrate(frame.withColumnRenamed("at", "status"), **ROLES, seed=1)

    def test_a_frame_of_something_else(self):
        with pytest.raises(ValueError, match="df must be a Spark DataFrame"):
            recalibrate({"key": [1]}, **ROLES, seed=1)

    def test_another_state_store(self, spark):
        rows = (
            spark.readStream.format("rate")
            .load()
            .selectExpr("value key", "value time", "0.5D p", "1D y")
        )
        spark.conf.unset(adapter.PROVIDER)
        try:
            spark.conf.set(adapter.PROVIDER, "another.Provider")
            with pytest.raises(ValueError, match="state of streams in RocksDB, got .*another"):
                recalibrate(rows, **ROLES, seed=1)
        finally:
            spark.conf.set(adapter.PROVIDER, adapter.ROCKSDB)

    def test_workers_of_another_interpreter(self, spark, frame, monkeypatch):
        monkeypatch.setattr(spark.sparkContext, "pythonExec", "no-such-python")
        with pytest.raises(ValueError, match="started with this interpreter, got .*no-such-python"):
            recalibrate(frame, **ROLES, seed=1)


def test_the_jobs_of_the_page_run(spark, tmp_path):
    page = Path(__file__).parents[2] / "docs" / "howto" / "spark.md"
    text = re.sub(r'"(\w+)/"', rf'"{tmp_path.as_posix()}/\1"', page.read_text(encoding="utf-8"))
    batch, stream = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    answers = str(tmp_path / "answers")
    log = log_of(100, 3)
    table = pa.table(
        {"station": log["key"], "time": log["time"], "p": log["p"], "rained": log["y"]}
    )
    written(tmp_path / "rows", [table])
    exec(batch, {})
    run = fs.Bank(fs.Recalibrator(step=0.05, seed=7)).run(log["key"], log["p"], log["y"])
    found = spark.read.parquet(answers).orderBy("time").toArrow()
    assert np.array_equal(found["issued"].to_numpy(), run.issued)
    (tmp_path / "answers").rename(tmp_path / "answers of the batch")
    (tmp_path / "incoming").mkdir()
    for k, end in enumerate(('"p": 0.3', '"rained": 1.0')):
        line = f'{{"station": "a", "id": "x", "time": "2026-01-0{k + 1}T00:00:00Z", {end}}}'
        (tmp_path / "incoming" / f"{k}.json").write_text(line + "\n", encoding="utf-8")
    exec(stream.replace('processingTime="1 minute"', "availableNow=True"), {})
    found = spark.read.parquet(answers).orderBy("time").toArrow()
    assert found["status"].to_pylist() == ["forecast", "learnt"]
    assert len(set(found["issued"].to_pylist())) == 1
