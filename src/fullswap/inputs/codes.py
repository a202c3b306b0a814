"""Columns of keys as numbers: which of the distinct values each row has, without a loop in Python.

Numbers are hashed in compiled code; texts are encoded by the library that they come from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base.amounts import counted
from fullswap.base.protocols import Indices
from fullswap.inputs.columns import SERIES_HOMES, factorise


def codes_of(name: str, values: Any) -> tuple[Indices, list[Any]]:
    """Codes in order of first appearance, and the distinct values as plain Python ones.

    Parameters
    ----------
    name
        What the column is called in messages.
    values
        An array, a list, or a column of pandas, polars or Arrow. A missing value is refused.

    Examples
    --------
    >>> codes, names = codes_of("key", np.array([7, 3, 7]))
    >>> codes.tolist(), names
    ([0, 1, 0], [7, 3])
    """
    home = type(values).__module__.split(".")[0]
    if home == "narwhals":
        return codes_of(name, values.to_native())
    if isinstance(values, np.ndarray):
        bits = _bits(values)
        if bits is None:
            return factorise(values)
        codes, first = _numbered(bits)
        return codes, values[first].tolist()
    if home == "pandas" and hasattr(values, "factorize"):
        numbers, distinct = values.factorize()
        _refuse_missing(name, numbers < 0)
        return numbers.astype(np.int64, copy=False), distinct.tolist()
    if home == "polars":
        return _of_polars(name, values)
    if home == "pyarrow":
        return _of_arrow(name, values)
    if home in SERIES_HOMES:
        return factorise(values.to_list())
    return factorise(values)


def joined_codes(parts: list[tuple[Indices, list[Any]]]) -> tuple[Indices, list[Any]]:
    """Several columns as one: the distinct values are tuples of theirs.

    Examples
    --------
    >>> north, east = codes_of("a", ["n", "e", "n"]), codes_of("b", [1, 1, 1])
    >>> joined_codes([north, east])[1]
    [('n', 1), ('e', 1)]
    """
    (codes, _), *rest = parts
    for other, distinct in rest:
        codes = _numbered(codes * max(len(distinct), 1) + other)[0]
    first = _numbered(codes)[1]
    picked = [[distinct[k] for k in own[first].tolist()] for own, distinct in parts]
    return codes, list(zip(*picked, strict=True))


def reordered_codes(codes: Indices, distinct: list[Any], order: Indices) -> Any:
    """The same for rows in another order, numbered as they come then.

    Examples
    --------
    >>> codes, names = reordered_codes(np.array([0, 1, 0]), ["a", "b"], np.array([1, 0, 2]))
    >>> codes.tolist(), names
    ([0, 1, 1], ['b', 'a'])
    """
    own = codes[order]
    numbers, first = _numbered(own)
    return numbers, [distinct[code] for code in own[first].tolist()]


def _numbered(values: NDArray[np.int64]) -> tuple[Indices, Indices]:
    from fullswap.kernels.grouping import number_values  # it brings compiled code

    codes, first = number_values(np.ascontiguousarray(values))
    return codes, first


def _bits(values: NDArray[Any]) -> NDArray[np.int64] | None:
    """Whole numbers that are equal where these are; None if they are no numbers."""
    if values.ndim != 1:
        return None
    if values.dtype.kind in "biu":
        return values.astype(np.int64, copy=False)
    if values.dtype.kind == "f" and values.dtype.itemsize <= 8:
        return np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return None


def _of_polars(name: str, values: Any) -> tuple[Indices, list[Any]]:
    import polars as pl

    _refuse_missing(name, values.is_null().to_numpy())
    kind = values.dtype
    if kind in (pl.String, pl.Categorical) or isinstance(kind, pl.Enum):
        numbers = values.cast(pl.Categorical).to_physical().to_numpy()
    elif kind.is_numeric() or kind == pl.Boolean:
        numbers = values.to_numpy()
    else:
        return factorise(values.to_list())
    bits = _bits(numbers)
    if bits is None:
        return factorise(values.to_list())
    codes, first = _numbered(bits)
    return codes, values.gather(first).to_list()


def _of_arrow(name: str, values: Any) -> tuple[Indices, list[Any]]:
    import pyarrow as pa

    array = values.combine_chunks() if hasattr(values, "combine_chunks") else values
    _refuse_missing(name, array.is_null().to_numpy(zero_copy_only=False))
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    numbers = encoded.indices.to_numpy(zero_copy_only=False)
    codes, first = _numbered(numbers.astype(np.int64))
    return codes, array.take(pa.array(first)).to_pylist()


def _refuse_missing(name: str, gone: NDArray[np.bool_]) -> None:
    if gone.any():
        raise ValueError(
            f"{name} must be given for every row, got {counted(int(gone.sum()), 'row')} without "
            f"(first at position {int(gone.argmax())})"
        )
