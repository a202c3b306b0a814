"""Outcomes as people write them: yes/no in numbers or words, classes by name, code or column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.amounts import counted
from fullswap.base.protocols import Indices, Vector
from fullswap.inputs.columns import MISSING_WORDS, Column, column_of, factorise, is_missing, plain
from fullswap.inputs.frames import listed

WORDS = {
    "yes": "no", "true": "false", "y": "n", "t": "f", "won": "lost", "win": "loss", "1": "0",
    "1.0": "0.0",
}  # fmt: skip
"""Words for yes, each with its word for no."""
NO_WORDS = frozenset(WORDS.values()) | {"lose"}
FIX = "name the one that means yes: pos_label=…"


class Outcomes(NamedTuple):
    """Outcomes as numbers, and how they were read."""

    codes: Vector
    """1 for yes and 0 for no, or the number of the class; NaN where pending, shape (n,)."""
    labels: list[Any]
    """What the codes are called, as the user wrote it: [no, yes], or the classes."""
    notes: list[str]
    absent: NDArray[np.bool_]
    """Rows whose outcome is known and neither yes nor no, shape (n,)."""


def outcomes(
    name: str,
    values: Any,
    pos_label: Any = None,
    labels: Sequence[Any] | None = None,
    classes: int | Sequence[str] | None = None,
) -> Outcomes:
    """Read outcomes.

    None, NaN, NaT, NA, empty texts and "NA" are pending.

    Parameters
    ----------
    name
        What the argument is called in messages.
    values
        One column, or for classes also one column of 0 and 1 a class.
    pos_label
        The value that means yes; not needed for 0/1, True/False, yes/no, won/lost and the like.
    labels
        The classes in the order of the probability columns; for yes/no events [no, yes].
    classes
        How many classes there are, or the names of the probability columns; None: yes/no.

    Examples
    --------
    >>> outcomes("y_true", ["Yes", "no", None])[:2]
    (array([ 1.,  0., nan]), ['no', 'Yes'])
    >>> outcomes("y_true", ["home", "away"], pos_label="home")[:2]
    (array([1., 0.]), ['away', 'home'])
    >>> outcomes("y_true", ["home", "away"])
    Traceback (most recent call last):
    ValueError: y_true must be 0 and 1, or words such as yes and no, got 'home' and 'away': name the
    one that means yes: pos_label=…
    """
    from fullswap.inputs.classes import class_codes, is_table

    labels = None if labels is None else label_list(labels)
    count = classes if isinstance(classes, int) or classes is None else len(classes)
    if is_table(values):
        if count is None and labels is None:
            count = 2
        return class_codes(name, values, count or len(labels or ()), labels, classes)
    if count is not None and count > 2:
        return class_codes(name, values, count, labels, classes)
    column = column_of(name, values)
    if column.kind == "time":
        checks.refuse(name, "be outcomes, not times", str(column.values[0]))
    if labels is not None:
        return _between(name, column, labels)
    if pos_label is not None:
        return _against(name, column, pos_label)
    if column.kind == "bool":
        return Outcomes(column.values, [False, True], [], np.zeros(len(column), dtype=bool))
    numbers = column.floats()
    return _of_words(name, column) if numbers is None else _of_numbers(name, numbers)


def distinct(column: Column, named: Iterable[Any] = ()) -> tuple[Indices, list[Any]]:
    """Codes (−1: missing) and the distinct values as the user wrote them, blanks cut off.

    A word such as "none" is a value where the user named it as one.
    """
    if column.kind == "text":
        gone = MISSING_WORDS - {plain(label) for label in named}
        codes, words = factorise(column.values)
        merged, kept = factorise(None if is_missing(w) else str(w).strip() for w in words)
        keep = [k for k, word in enumerate(kept) if word is not None and plain(word) not in gone]
        place = np.full(len(kept), -1, dtype=np.int64)
        place[keep] = np.arange(len(keep))
        return place[merged][codes], [kept[k] for k in keep]
    if column.kind == "time":
        known = ~np.isnat(column.values)
        codes = np.full(len(column), -1, dtype=np.int64)
        codes[known], moments = factorise(np.datetime_as_string(column.values[known], unit="auto"))
        return codes, moments
    values, inverse = np.unique(column.values, return_inverse=True)  # NaN comes last, once
    present = values[~np.isnan(values)]
    codes = np.where(inverse < len(present), inverse, -1)
    if column.kind == "bool":
        return codes, [bool(v) for v in present]
    return codes, [int(v) if float(v).is_integer() else v for v in present.tolist()]


def label_list(labels: Any) -> list[Any]:
    """Labels as a list, from whatever holds them in order."""
    if isinstance(labels, str | bytes | set | frozenset | dict) or not isinstance(labels, Iterable):
        checks.refuse("labels", "be a list of names", labels)
    return [label.item() if isinstance(label, np.generic) else label for label in labels]


def same_label(a: Any, b: Any) -> bool:
    """Whether two labels mean the same: equal, or equal as texts in small letters."""
    if is_missing(a) or is_missing(b):
        return False
    return bool(a == b) or plain(a) == plain(b)


def place_of(label: Any, labels: Sequence[Any]) -> int | None:
    """Which of the labels this is: an equal one first, then one that differs in writing only."""
    for k, other in enumerate(labels):
        if type(label) is type(other) and not is_missing(label) and label == other:
            return k
    return next((k for k, other in enumerate(labels) if same_label(label, other)), None)


def _between(name: str, column: Column, labels: Sequence[Any]) -> Outcomes:
    """Outcomes that are one of [no, yes]."""
    given = list(labels)
    if len(given) != 2 or same_label(*given):
        checks.refuse("labels", "be [no, yes] for yes/no events", given)
    codes, found = distinct(column, given)
    places = [place_of(value, given) for value in found]
    if None in places:
        k = places.index(None)
        at = int(np.flatnonzero(codes == k)[0])
        raise ValueError(
            f"{name} must be one of the labels ({listed(given)}), got {found[k]!r} at position {at}"
        )
    values = np.array([*map(float, [p or 0 for p in places]), np.nan])
    return Outcomes(values[codes], given, [], np.zeros(len(column), dtype=bool))


def _against(name: str, column: Column, pos_label: Any) -> Outcomes:
    """One label is yes, all others are no."""
    codes, found = distinct(column, [pos_label])
    yes = place_of(pos_label, found)
    if yes is None:
        near = listed([repr(v) for v in found])
        raise ValueError(f"pos_label must be a value of {name} ({near}), got {pos_label!r}")
    others = [value for k, value in enumerate(found) if k != yes]
    notes = []
    if len(others) > 1:
        notes.append(f"{name}: {found[yes]} is yes, all else ({listed(others, 5)}) is no")
    no = others[0] if len(others) == 1 else f"not {found[yes]}"
    values = np.where(codes < 0, np.nan, (codes == yes).astype(np.float64))
    return Outcomes(values, [no, found[yes]], notes, np.zeros(len(column), dtype=bool))


def _of_numbers(name: str, values: Vector) -> Outcomes:
    known = ~np.isnan(values)
    odd = known & (values != 0) & (values != 1)
    none = np.zeros(len(values), dtype=bool)
    if not odd.any():
        return Outcomes(values, [0, 1], [], none)
    strange = np.unique(values[odd])
    first = int(odd.argmax())
    if len(strange) == 1 and 0 < strange[0] < 1 and 2 * odd.sum() < known.sum():
        many = int(odd.sum())
        note = f"{name}: {counted(many, 'outcome')} {'is' if many == 1 else 'are'} neither yes nor "
        note += f"no ({strange[0]:g}): left out"
        return Outcomes(np.where(odd, np.nan, values), [0, 1], [note], odd)
    if len(strange) == 1 and strange[0] == -1 and not (values == 0).any():
        return Outcomes(np.where(odd, 0.0, values), [-1, 1], [f"{name}: -1 read as no"], none)
    found = np.unique(values[known])
    if len(found) == 2 and (found == np.floor(found)).all():
        raise ValueError(f"{name} must be 0 and 1, got {found[0]:g} and {found[1]:g}: {FIX}")
    hint = ""
    if len(strange) > 2 and (strange > 0).all() and (strange < 1).all():
        hint = ": these look like probabilities, not outcomes"
    elif len(strange) == 1 and strange[0] < 0:
        hint = ": leave outcomes that are pending empty, or write NaN"
    elif (strange == np.floor(strange)).all():
        hint = ": for more than two classes give one probability a class (classes=…)"
    raise ValueError(f"{name} must be 0 or 1, got {values[first]:g} at position {first}{hint}")


def _of_words(name: str, column: Column) -> Outcomes:
    codes, found = distinct(column)
    meaning = [1.0 if plain(v) in WORDS else 0.0 if plain(v) in NO_WORDS else None for v in found]
    if None in meaning:
        k = meaning.index(None)
        if len(found) == 2:
            shown = f"got {found[0]!r} and {found[1]!r}: {FIX}"
        else:
            at = int(np.flatnonzero(codes == k)[0])
            shown = f"got {found[k]!r} at position {at}: {FIX}"
        raise ValueError(f"{name} must be 0 and 1, or words such as yes and no, {shown}")
    values = np.array([*map(float, [m or 0 for m in meaning]), np.nan])[codes]
    seen = {m: v for m, v in reversed(list(zip(meaning, found, strict=True)))}
    return Outcomes(values, _both(seen.get(0.0), seen.get(1.0)), [],
                    np.zeros(len(column), dtype=bool))  # fmt: skip


def _both(no: str | None, yes: str | None) -> list[str]:
    """Both labels, where the log may hold only one of them."""
    if no is None:
        no = WORDS.get(plain(yes), "no")
    if yes is None:
        yes = next((word for word, other in WORDS.items() if other == plain(no)), "yes")
    return [no, yes]


def outcome_numbers(
    name: str, values: Any, fix: str = "write 1 for yes and 0 for no"
) -> NDArray[Any]:
    """Outcomes of yes/no events as numbers: yes and no in words become 1 and 0, NaN is pending.

    Numbers of any kind stay as they are, for callers that have rules of their own for them; they
    say by ``fix`` what to do about other words.

    Examples
    --------
    >>> outcome_numbers("y", ["yes", "No", None]), outcome_numbers("y", [True, False])
    (array([ 1.,  0., nan]), array([ True, False]))
    """
    if _has_words(values):
        try:
            return outcomes(name, values).codes
        except ValueError as error:
            raise ValueError(str(error).replace(FIX, fix)) from None
    return checks.numbers(name, values)


def _has_words(values: Any) -> bool:
    """Whether some value is a text."""
    array = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)
    if array.ndim != 1 or array.dtype.kind in "biufcmM":
        return False
    return array.dtype.kind in "US" or any(isinstance(value, str) for value in array)
