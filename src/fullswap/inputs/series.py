"""Columns of pandas, polars and Arrow, read through narwhals."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.inputs.columns import Column, of_array, of_objects
from fullswap.inputs.frames import narwhals_of


def of_series(name: str, values: Any) -> Column:
    """A column of pandas, polars or Arrow."""
    nw = narwhals_of()
    home = type(values).__module__.split(".")[0]
    if home == "pyarrow" and not hasattr(values, "chunks"):
        import pyarrow as pa

        values = pa.chunked_array([values])
    elif home == "pandas" and not hasattr(values, "iloc"):  # an index or an extension array
        import pandas as pd  # type: ignore[import-untyped]

        values = pd.Series(values)
    try:
        series = nw.from_native(values, series_only=True)
    except TypeError:
        checks.refuse(name, "be one column of values", type(values).__name__)
    kind = series.dtype
    if kind == nw.Boolean:
        return Column("bool", series.cast(nw.Float64).to_numpy())
    wide = kind in (nw.Int128, nw.UInt128)
    if kind.is_integer() and not wide and not series.is_null().any():
        return Column("number", series.to_numpy())
    if kind.is_numeric() and not wide:
        return Column("number", series.cast(nw.Float64).to_numpy())
    if kind == nw.Datetime:
        if getattr(kind, "time_zone", None) is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return of_array(name, series.to_numpy())
    if kind in (nw.Date, nw.Duration):
        return of_array(name, np.asarray(series.to_numpy()))
    items = series.to_list()
    filled = np.empty(len(items), dtype=object)
    filled[:] = items
    return of_objects(name, filled)
