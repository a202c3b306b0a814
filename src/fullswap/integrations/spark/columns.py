"""What is asked for, checked on the driver before anything runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from fullswap.base import checks
from fullswap.forecasting.base import OnlineForecaster
from fullswap.forecasting.recalibrator import Recalibrator
from fullswap.integrations.spark.tables import Job

ADDED = ("issued", "mean", "forecast_id", "status")
"""Columns that come with the answer."""
NUMBERS = (T.IntegralType, T.FractionalType)
DATED = (T.TimestampType, T.TimestampNTZType, T.DateType)
NAMES = (T.StringType, T.IntegralType, T.BinaryType)
UNITS = {
    "microsecond": 1, "millisecond": 10**3, "second": 10**6, "minute": 60 * 10**6,
    "hour": 3600 * 10**6, "day": 86_400 * 10**6, "week": 7 * 86_400 * 10**6,
}  # fmt: skip
"""In microseconds, in which times are counted that have a date."""


def names_of(role: str, given: Any) -> tuple[str, ...]:
    """Names of one column or several."""
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not names or not all(isinstance(n, str) for n in names):
        checks.refuse(role, "be the name of a column, or several", given)
    return tuple(names)


def check_columns(df: DataFrame, job: Job, pattern: OnlineForecaster) -> None:
    """Refuse columns that are not there, or hold something else."""
    if len(set(df.columns)) < len(df.columns):
        checks.refuse("df", "have every column once", df.columns)
    for name in ADDED:
        if name in df.columns:
            checks.refuse("df", f"have no column {name!r}, which is added: rename it", df.columns)
    for name in job.key:
        _check(df, "key", name, (*NAMES, T.BooleanType), "texts, whole numbers, bytes or flags")
    for name in job.time:
        _check(df, "time", name, (*NUMBERS, *DATED), "times or numbers")
    if isinstance(df.schema[job.time[0]].dataType, T.DecimalType):
        checks.refuse(
            "time", "be a column of times, or of numbers other than decimals", job.time[0]
        )
    if job.id is not None:
        _check(df, "id", job.id, NAMES, "texts, whole numbers or bytes")
    _check_probability(df, job, pattern)
    kinds: tuple[type, ...] = (*NUMBERS, T.BooleanType)
    if pattern.labels is not None:
        kinds = (*kinds, T.StringType)
    wanted = "numbers or flags; for words give pattern the names of the classes"
    _check(df, "outcome", job.outcome, kinds, wanted)


def _check_probability(df: DataFrame, job: Job, pattern: OnlineForecaster) -> None:
    name = job.probability
    if not isinstance(pattern, Recalibrator):
        if name is not None:
            checks.refuse("probability", "be None for a pattern without models", name)
        return
    if name is None:
        checks.refuse("probability", "be the name of a column", name)
    if pattern.classes > 2 and pattern.models > 1:
        checks.refuse("pattern", "have one model if it has several classes", pattern)
    if pattern.classes == 2 and pattern.models == 1:
        _check(df, "probability", name, NUMBERS, "numbers")
        return
    kind = _type(df, "probability", name)
    if not (isinstance(kind, T.ArrayType) and isinstance(kind.elementType, NUMBERS)):
        rule = "be a column of arrays of numbers for this pattern"
        checks.refuse("probability", rule, f"{name!r} of {kind.simpleString()}")


def _type(df: DataFrame, role: str, name: str) -> T.DataType:
    if not isinstance(name, str) or name not in df.columns:
        checks.refuse(role, f"be a column of df: one of {', '.join(df.columns)}", name)
    return df.schema[name].dataType


def _check(df: DataFrame, role: str, name: str, kinds: tuple[type, ...], wanted: str) -> None:
    kind = _type(df, role, name)
    if not isinstance(kind, kinds):
        checks.refuse(role, f"be a column of {wanted}", f"{name!r} of {kind.simpleString()}")


def span_of(expire: Any, kind: T.DataType) -> Any:
    """How long a forecast may wait: microseconds for times with a date, else as the numbers are.

    Examples
    --------
    >>> span_of("2 hours", T.TimestampType()), span_of(3, T.LongType())
    (7200000000, 3.0)
    """
    if expire is None:
        return None
    if not isinstance(kind, DATED):
        return checks.number("expire", expire, above=0)
    rule = 'be a time such as "30 days", or a timedelta'
    if isinstance(expire, str):
        found = re.fullmatch(r"\s*(\d+)\s*([a-z]+?)s?\s*", expire.lower())
        if found is None or found[2] not in UNITS:
            checks.refuse("expire", f"{rule} ({', '.join(UNITS)}s)", expire)
        span = int(found[1]) * UNITS[found[2]]
    elif isinstance(expire, timedelta):
        span = expire // timedelta(microseconds=1)
    else:
        checks.refuse("expire", rule, expire)
    if span <= 0:
        checks.refuse("expire", "be positive", expire)
    return span


def order_of(df: DataFrame, job: Job) -> list[Column]:
    """Columns by which rows are sorted; what they mean is said in ``recalibrate``."""
    missing = F.lit(False)
    for name in job.key:
        missing = missing | F.col(_quoted(name)).isNull()
    order = [(~missing).cast("int"), *(F.col(_quoted(name)) for name in job.key)]
    order += [F.when(_absent(df, name), None).otherwise(F.col(_quoted(name))) for name in job.time]
    if job.probability is not None:
        order.append(_absent(df, job.probability).cast("int"))
    for own in (job.id, job.probability, job.outcome):
        if own is not None and not isinstance(df.schema[own].dataType, T.ArrayType):
            order.append(F.col(_quoted(own)))
    return order


def key_columns(job: Job) -> list[Column]:
    """The columns of the key."""
    return [F.col(_quoted(name)) for name in job.key]


def answer_schema(df: DataFrame, vectors: bool) -> T.StructType:
    """The columns of a frame and those that are added."""
    kind: T.DataType = T.ArrayType(T.DoubleType()) if vectors else T.DoubleType()
    added = dict(zip(ADDED, (kind, kind, T.LongType(), T.StringType()), strict=True))
    fields = [T.StructField(name, own) for name, own in added.items()]
    return T.StructType([*df.schema.fields, *fields])


def _absent(df: DataFrame, name: str) -> Column:
    column = F.col(_quoted(name))
    floating = isinstance(df.schema[name].dataType, T.FloatType | T.DoubleType)
    return column.isNull() | F.isnan(column) if floating else column.isNull()


def _quoted(name: str) -> str:
    """A name as it is, with whatever dots it has."""
    return "`" + name.replace("`", "``") + "`"
