"""Columns of text made numbers where every value is one; missing words become missing values."""

from __future__ import annotations

from typing import Any

from fullswap.inputs.columns import MISSING_WORDS
from fullswap.inputs.sources import arrow

SAMPLE = 1_000
"""Values that are looked at before a whole column is converted."""


def typed(column: Any, decimal_comma: bool = False, wanted: Any = None) -> Any:
    """The column as whole numbers, as floats, or as it is.

    Texts such as 007 stay texts: they are names.

    Parameters
    ----------
    column
        An Arrow array of texts, whole or in chunks.
    decimal_comma
        Whether 0,5 may be a number.
    wanted
        The type that earlier rows had: whole numbers are then not tried where floats are wanted.
    """
    pa = arrow()
    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        return column
    if len(column) > SAMPLE and _converted(column[:SAMPLE], decimal_comma, wanted) is None:
        return column
    result = _converted(column, decimal_comma, wanted)
    return column if result is None else result


def _converted(column: Any, decimal_comma: bool, wanted: Any) -> Any:
    pa = arrow()
    import pyarrow.compute as pc

    whole = [] if wanted == pa.float64() else [pa.int64()]
    found = _cast(column, [*whole, pa.float64()])
    if found is None:
        trimmed = pc.utf8_trim_whitespace(column)
        gone = pc.is_in(pc.utf8_lower(trimmed), value_set=pa.array(sorted(MISSING_WORDS)))
        clean = pc.if_else(gone, pa.scalar(None, column.type), trimmed)
        found = _cast(clean, [*whole, pa.float64()])
        if found is None and decimal_comma:
            found = _cast(pc.replace_substring(clean, ",", "."), [pa.float64()])
    if found is not None and found.type == pa.int64():
        padded = pc.and_(pc.starts_with(column, "0"), pc.greater(pc.utf8_length(column), 1))
        if pc.any(padded).as_py():
            return None
    return found


def _cast(column: Any, kinds: list[Any]) -> Any:
    pa = arrow()
    for kind in kinds:
        try:
            return column.cast(kind)
        except pa.ArrowInvalid:
            continue
    return None


class Typing:
    """Types of columns kept from batch to batch; a column that fails once stays text."""

    def __init__(self, decimal_comma: bool = False, text: Any = ()) -> None:
        self._comma, self._text = decimal_comma, set(text)
        self._kinds: dict[str, Any] = {}

    def batch(self, names: list[str], columns: list[Any]) -> Any:
        """A record batch of these columns of text, with numbers where they still fit."""
        pa = arrow()
        result = []
        for name, column in zip(names, columns, strict=True):
            was = self._kinds.get(name)
            if name in self._text or was == pa.string():
                result.append(column)
                continue
            now = typed(column, self._comma, was)
            if now.null_count < len(now):  # a batch without a value says nothing
                self._kinds[name] = now.type
            result.append(now)
        return pa.RecordBatch.from_arrays(result, names=names)
