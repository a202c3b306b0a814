"""Which column is what: only where names and contents make it obvious, and said in words."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fullswap.base.amounts import counted
from fullswap.inputs.classes import without_common
from fullswap.inputs.columns import Column, column_of, plain
from fullswap.inputs.frames import columns_of, listed, pick
from fullswap.inputs.guess_order import add_event, add_time
from fullswap.inputs.looks import (
    is_forecast_name,
    is_outcome_name,
    is_outcomes,
    is_probabilities,
    ranged,
)  # fmt: skip
from fullswap.inputs.moments import is_date_column
from fullswap.inputs.outcomes import NO_WORDS, WORDS, distinct, place_of
from fullswap.inputs.probabilities import SUM_TOLERANCE, probabilities

FLAGS = "give --outcome COL --probability COL (y=…, p=…)"
MOST_CLASSES = 20
FEWEST_MODELS = 3


class NoProbabilities(ValueError):
    """There is an outcome, and no column that looks like probabilities."""


def guess_roles(
    table: Any, outcome: Any = None, probability: Any = None
) -> tuple[dict[str, Any], list[str]]:
    """Guess which column of a table holds what.

    Parameters
    ----------
    table
        A frame of any kind, or a dict of columns.
    outcome, probability
        Columns that are known already.

    Returns
    -------
    dict
        "outcome": a column, or one a class; then one of "probability": a column, "classes": the
        probability columns of the classes, or "models": those of competing forecasters; and
        "time" and "event" if there are such columns.
    list of str
        One sentence a role.

    Raises
    ------
    ValueError
        If it is not obvious; the message names the candidates and what to give.

    Examples
    --------
    >>> roles, sentences = guess_roles({"won": [1, 0, 1], "prob": [0.7, 0.2, 0.6]})
    >>> roles
    {'outcome': 'won', 'probability': 'prob'}
    >>> sentences[0]
    'outcome: column won (holds only 0 and 1)'
    """
    raw = columns_of(table)
    if raw is None or not raw:
        raise ValueError(f"the table must have columns, got {type(table).__name__}")
    columns = {}
    for name, values in raw.items():
        try:
            columns[name] = column_of(name, values)
        except ValueError:  # lists or structures: no role for them
            continue
    for given in (outcome, probability):
        for name in [given] if isinstance(given, str) else given or ():
            pick(columns, "y" if given is outcome else "p", name)
    roles, sentences = _paired(columns, outcome, probability) or _apart(
        columns, outcome, probability
    )
    add_time(columns, roles, sentences)
    add_event(columns, roles, sentences)
    return roles, sentences


def _refuse(what: str, candidates: list[str], kind: type[ValueError] = ValueError) -> NoReturn:
    shown = f" ({listed(candidates)})" if candidates else ""
    raise kind(f"the columns must be named where they are not obvious, got {what}{shown}: {FLAGS}")


# --- probabilities that each have an outcome of their own -----------------------------------------


def _paired(
    columns: dict[str, Column], outcome: Any, probability: Any
) -> tuple[dict[str, Any], list[str]] | None:
    """Columns x and x_outcome."""
    pairs = [(name[: -len("_outcome")], name) for name in columns if name.endswith("_outcome")
             and name[: -len("_outcome")] in columns]  # fmt: skip
    if isinstance(outcome, str) or isinstance(probability, str):
        pairs = [pair for pair in pairs if outcome in (None, pair[1])
                 and probability in (None, pair[0])]  # fmt: skip
    elif outcome is not None or probability is not None:
        return None
    if not pairs:
        return None
    p = [columns[name].floats() for name, _ in pairs]
    y = [columns[name].floats() for _, name in pairs]
    if any(v is None for v in (*p, *y)):
        return None
    first, its = pairs[0]
    if len(pairs) > 1 and not (_sum_to_one(p) and _sum_to_one(y)):
        _refuse(f"{len(pairs)} pairs of columns that answer different questions",
                [f"{a} with {b}" for a, b in pairs])  # fmt: skip
    if len(pairs) <= 2:
        said = [f"outcome: column {its} ({_held(columns[its])})", f"probability: column {first}"]
        if len(pairs) == 2:
            said[1] += f" ({pairs[1][0]} is what is left to 1)"
        return {"outcome": its, "probability": first}, said
    return (
        {"outcome": [b for _, b in pairs], "classes": [a for a, _ in pairs]},
        [f"outcome: columns {listed([b for _, b in pairs])} (one is 1, the rest 0)",
         f"probability: columns {listed([a for a, _ in pairs])}, one a class (sum to 1)"],
    )  # fmt: skip


def _sum_to_one(parts: list[Any]) -> bool:
    """Whether the columns sum to 1 (or 100) wherever all are given, and that is somewhere."""
    total: NDArray[np.float64] = np.sum(parts, axis=0)
    total = total[~np.isnan(total)]
    return bool(len(total)) and any(
        bool((np.abs(total / unit - 1) <= SUM_TOLERANCE).all()) for unit in (1, 100)
    )


# --- an outcome, and probabilities ----------------------------------------------------------------


def _apart(
    columns: dict[str, Column], outcome: Any, probability: Any
) -> tuple[dict[str, Any], list[str]]:
    taken = [probability] if isinstance(probability, str) else list(probability or ())
    y = outcome if outcome is not None else _outcome(columns, taken)
    said = []
    if outcome is None:
        said.append(f"outcome: column {y} ({_held(columns[y])})")
    if probability is not None:
        return {"outcome": y}, said
    used = [y] if isinstance(y, str) else list(y)
    found = _probabilities({k: v for k, v in columns.items() if k not in used})
    if not found:
        _refuse_spoilt({k: v for k, v in columns.items() if k not in used})
        _refuse("no column that looks like probabilities", [k for k in columns if k not in used],
                NoProbabilities)  # fmt: skip
    if len(found) == 1:
        said.append(f"probability: column {found[0]} ({ranged(columns[found[0]])})")
        return {"outcome": y, "probability": found[0]}, said
    classes = _classes(columns, y, found)
    if classes:
        said.append(f"probability: columns {listed(classes)}, one a class (sum to 1)")
        return {"outcome": y, "classes": classes}, said
    said.append(f"probability: {len(found)} forecasters compared, columns {listed(found, 20)}")
    return {"outcome": y, "models": found}, said


def _outcome(columns: dict[str, Column], taken: list[str]) -> str:
    rest = {name: column for name, column in columns.items() if name not in taken}
    named = [name for name in rest if is_outcome_name(name)]
    fitting = [name for name in named if is_outcomes(rest[name])]
    if not fitting:  # classes by name or number
        fitting = [name for name in named if rest[name].kind in ("text", "number")
                   and 2 <= len(distinct(rest[name])[1]) <= MOST_CLASSES
                   and not is_probabilities(rest[name], percent=True)]  # fmt: skip
    if not fitting:
        fitting = [name for name, column in rest.items() if is_outcomes(column)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        _refuse("several columns that may be the outcome", fitting)
    for name in named:
        if rest[name].missing.all():
            raise ValueError(
                f"column {name} must hold outcomes, got {counted(len(rest[name]), 'row')}, all "
                "blank: no outcome is known yet"
            )
    for name, column in rest.items():
        found = distinct(column)[1] if column.kind == "text" else []
        if len(found) == 2 and not is_date_column(column):
            raise ValueError(
                "the columns must be named where they are not obvious, got no column of yes/no "
                f"outcomes: if column {name} holds them ({found[0]}, {found[1]}), give y={name!r} "
                "and pos_label=…, the value that means yes"
            )
    _refuse("no column of yes/no outcomes", list(rest))


def _held(column: Column) -> str:
    """What an outcome column holds, in words."""
    found = distinct(column)[1]
    if len(found) == 2:
        return f"holds only {found[0]} and {found[1]}"
    return f"holds {listed(found, 5)}"


def _probabilities(columns: dict[str, Column]) -> list[str]:
    """Columns that are called and look like probabilities; else all that look like them."""
    named = [name for name, column in columns.items()
             if is_forecast_name(name) and is_probabilities(column, percent=True)]  # fmt: skip
    if named:
        return named
    found = [name for name, column in columns.items() if is_probabilities(column)]
    if not found:
        return []
    if len(found) < FEWEST_MODELS:
        return found
    # among many forecasters stand some that are silent in this table, or say only yes and no
    names = list(columns)
    span = names[names.index(found[0]) : names.index(found[-1])]
    silent = {
        name for name, column in columns.items() if column.kind == "number"
        and (column.missing.all() or (name in span and is_outcomes(column)))
    }  # fmt: skip
    return [name for name in names if name in found or name in silent]


def _refuse_spoilt(columns: dict[str, Column]) -> None:
    """Say what is wrong with the column that is called like probabilities."""
    for name, column in columns.items():
        if is_forecast_name(name) and column.kind in ("text", "number"):
            try:
                probabilities(f"column {name}", column)
            except ValueError as error:
                raise NoProbabilities(str(error)) from None


def _classes(columns: dict[str, Column], y: Any, found: list[str]) -> list[str]:
    """The same columns if they are the classes of the outcome, in the order of the table."""
    parts = [columns[name].floats() for name in found]
    if any(part is None for part in parts) or not _sum_to_one(parts):
        return []
    if len(found) == 2:
        bare = [plain(name) for name in without_common(found)]
        if any(a in WORDS and b in NO_WORDS for a, b in (bare, bare[::-1])):
            return found
    labels = distinct(columns[y])[1] if isinstance(y, str) else []
    fits = all(
        any(place_of(label, names) is not None for names in (found, without_common(found)))
        or (isinstance(label, int) and 0 <= label < len(found))
        for label in labels
    )
    if len(found) > 2 and fits:
        return found
    _refuse("probability columns that sum to 1 but are not named as the outcomes", found)
