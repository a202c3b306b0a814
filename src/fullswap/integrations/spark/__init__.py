"""Calibrated forecasts of many keys in Spark: batch frames and streaming queries."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fullswap.base import checks
from fullswap.base.extras import is_installed
from fullswap.forecasting.bank import Bank
from fullswap.forecasting.base import OnlineForecaster
from fullswap.forecasting.recalibrator import Recalibrator

for _needed in ("pyspark", "pyarrow"):
    if not is_installed(_needed):
        raise ImportError(
            f"fullswap.integrations.spark needs {_needed}: pip install 'fullswap[spark]'"
        )

from pyspark.sql import DataFrame, SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402, N812

__all__ = ["recalibrate", "session"]

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PAGES_OF_A_BUCKET = 32
"""Rows of so many pages travel together."""
MOST_PAGES = 2**31 - 1


def session(name: str = "fullswap", settings: Mapping[str, Any] | None = None) -> SparkSession:
    """A Spark session whose workers run this interpreter, with a state store for streaming queries.

    Parameters
    ----------
    name : str
        Of the application.
    settings : mapping or None
        More settings, by their names: ``{"spark.master": "local[4]"}``.

    Notes
    -----
    The same by hand: the environment variable ``PYSPARK_PYTHON`` is the interpreter, before the
    session starts, and ``spark.sql.streaming.stateStore.providerClass`` names RocksDB.
    """
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName(name).config(PROVIDER, ROCKSDB)
    if "NUMBA_CACHE_DIR" in os.environ:  # compiled code is found again
        folder = os.environ["NUMBA_CACHE_DIR"]
        builder = builder.config("spark.executorEnv.NUMBA_CACHE_DIR", folder)
    for key, value in (settings or {}).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def recalibrate(
    df: DataFrame,
    *,
    key: str | Sequence[str],
    time: str | Sequence[str],
    outcome: str,
    probability: str | None = None,
    id: str | None = None,
    pattern: OnlineForecaster | None = None,
    seed: int | None = None,
    expire: Any = None,
    pages: int = 512,
) -> DataFrame:
    """Forecast every row of a frame, each key with a forecaster of its own that learns as it goes.

    The numbers are those of ``fullswap.Bank(pattern).run`` over the rows of each key in the order
    of time, to the last bit, for a batch frame and for a streaming one, however its rows are cut
    into micro-batches.

    Parameters
    ----------
    df : DataFrame
        The rows; streaming (``df.isStreaming``) or not.
    key : str or several
        Columns that say whose row it is: texts, whole numbers, bytes or flags. Several columns
        are a tuple, in the words of ``Bank``.
    time : str or several
        Columns by which the rows of a key are sorted; the first is the time. In a streaming query
        rows are sorted within a micro-batch, and micro-batches come as they come. At one time rows
        that are forecast come before those that only bring an outcome; then they go by id, by
        probability and by outcome, so that rows that are still equal may change places. Arrays
        are not compared.
    outcome : str
        Column of outcomes, null as long as there is none.
    probability : str or None
        Column of the model's probability; of arrays, where the pattern has several models or
        classes. None for patterns without models.
    id : str or None
        Column that names forecasts, where outcomes come in rows of their own: one row with a
        probability and no outcome, and later one with the same key and id, and the outcome.
    pattern : Recalibrator, Forecaster or MulticlassForecaster
        One without events, and with a seed: what every key begins as. None: ``Recalibrator()``.
    seed : int
        Of the draws, where no pattern is given.
    expire : str, timedelta or number
        How long a forecast may wait for its outcome, by the times of its key's own rows: "30
        days", or a number if the times are numbers. None: for ever.
    pages : int
        Streaming queries read and write state in so many pages, each with the streams of its
        keys: one for every twenty keys is good. A query runs on at most ``pages / 32`` cores. The
        number stays the same as long as the checkpoint lives.

    Returns
    -------
    DataFrame
        The rows with four more columns: ``issued`` and ``mean``, the draw and the mean of the
        forecast (arrays for several classes); ``forecast_id``, its number among those of its key;
        and ``status``: "forecast" (made, and its outcome is not known), "learnt", "known" (the
        forecast with this id waits already, and is shown once more), "unknown" (an outcome for
        which no forecast waits: it never did, had its outcome, or expired), "refused" (no key, no
        time, neither probability nor outcome, or numbers that are none).
    """
    from fullswap.integrations.spark import columns as own
    from fullswap.integrations.spark.tables import Job

    checks.instance("df", df, DataFrame, "a Spark DataFrame")
    chosen = _pattern(pattern, seed)
    names = own.names_of("key", key), own.names_of("time", time)
    job = Job(
        type(chosen).__name__, chosen.to_json(), *names, probability, outcome, id, None,
        checks.whole("pages", pages, 1, MOST_PAGES),
    )  # fmt: skip
    own.check_columns(df, job, chosen)
    job = replace(job, expire=own.span_of(expire, df.schema[names[1][0]].dataType))
    _check_session(df)
    return _stream(df, job, chosen) if df.isStreaming else _batch(df, job, chosen)


def _pattern(pattern: Any, seed: Any) -> OnlineForecaster:
    """What every key begins as; its seed is fixed from here on."""
    if pattern is None:
        if seed is None:
            rule = "be given where no pattern is: all workers, and all starts, draw the same"
            checks.refuse("seed", rule, seed)
        return Recalibrator(seed=seed)
    if seed is not None:
        checks.refuse("seed", "be left out where a pattern is given, which has its own", seed)
    Bank(pattern)  # it says what a pattern must be
    if pattern.spec.groups:
        rule = "have no groups: Spark's rows do not name any (a Bank takes them from a frame)"
        checks.refuse("pattern", rule, pattern)
    chosen: OnlineForecaster = pattern
    return chosen


def _check_session(df: DataFrame) -> None:
    """Refuse a session in which nothing can come of it, with what to do."""
    spark = df.sparkSession
    if df.isStreaming and spark.conf.get(PROVIDER, "") != ROCKSDB:
        raise ValueError(
            f"the session must keep the state of streams in RocksDB, got {PROVIDER} = "
            f"{spark.conf.get(PROVIDER, None)}: spark.conf.set({PROVIDER!r}, {ROCKSDB!r})"
        )
    if df.isStreaming and not is_installed("google.protobuf"):
        raise ImportError("streaming queries need protobuf: pip install 'fullswap[spark]'")
    context = getattr(spark, "_sc", None)  # none in a session that is far away
    if context is None or not context.master.startswith("local"):
        return
    found = shutil.which(context.pythonExec)
    if found is None or os.path.abspath(found) != os.path.abspath(sys.executable):
        raise ValueError(
            f"the session must have been started with this interpreter, got workers that run "
            f"{context.pythonExec}: stop it and begin with fullswap.integrations.spark.session(), "
            f"or set PYSPARK_PYTHON={sys.executable} before it starts"
        )


def _batch(df: DataFrame, job: Any, pattern: OnlineForecaster) -> DataFrame:
    from fullswap.integrations.spark import columns, workers

    keys, order = columns.key_columns(job), columns.order_of(df, job)
    rows = df.repartition(*keys).sortWithinPartitions(*order)
    schema = columns.answer_schema(df, pattern.spec.classes > 2)
    return rows.mapInArrow(workers.whole_frame(job), schema)


def _stream(df: DataFrame, job: Any, pattern: OnlineForecaster) -> DataFrame:
    from fullswap.integrations.spark import columns, workers

    page = F.pmod(F.xxhash64(*columns.key_columns(job)), F.lit(job.pages)).cast("int")
    buckets = max(job.pages // PAGES_OF_A_BUCKET, 1)
    packed = df.withColumn(workers.PAGE, page).mapInArrow(workers.packed(buckets), workers.PACKED)
    played = packed.groupBy(workers.BUCKET).transformWithState(
        workers.Processor(job), "rows binary", outputMode="Append", timeMode="None"
    )
    schema = columns.answer_schema(df, pattern.spec.classes > 2)
    return played.mapInArrow(workers.unpacked, schema)
