"""What a column looks like, by its name and by what it holds."""

from __future__ import annotations

import re

import numpy as np

from fullswap.inputs.columns import Column, plain
from fullswap.inputs.outcomes import NO_WORDS, WORDS, distinct
from fullswap.inputs.probabilities import probabilities

OUTCOME_NAME = re.compile(
    r"(y|y_?true|outcome|outcomes|label|target|won|win|winner|result|actual|observed|obs|truth|"
    r"happened|occurred|resolution|resolved_yes|.*[_. ]outcome|outcome[_. ].*|rlz\..*|is_.*)",
    re.IGNORECASE,
)
FORECAST_NAME = re.compile(
    r"(p|p_?hat|y_?proba?|y_?pred|y_?score|probs?\d*|prob[a-z]{0,12}\d*|.*_proba?\d*|p_.*|"
    r"proba?_.*|.*probability.*|.*forecast|pred|pred_.*|.*_pred|prediction|predicted|score|"
    r"confidence|chance|.*\d_?(d|h|days?|hours?)_(out|ahead))",
    re.IGNORECASE,
)
MANY = 3
"""So many different values besides 0 and 1 make a column look like probabilities."""


def is_outcome_name(name: str) -> bool:
    """Whether people call outcomes so.

    Examples
    --------
    >>> [is_outcome_name(name) for name in ("won", "prob1_outcome", "rlz.C1", "prob")]
    [True, True, True, False]
    """
    return OUTCOME_NAME.fullmatch(name.strip()) is not None


def is_forecast_name(name: str) -> bool:
    """Whether people call probabilities so.

    Examples
    --------
    >>> [is_forecast_name(name) for name in ("prob1", "y_proba", "3_days_out", "season", "period")]
    [True, True, True, False, False]
    """
    return FORECAST_NAME.fullmatch(name.strip()) is not None and not is_outcome_name(name)


def is_outcomes(column: Column) -> bool:
    """Whether there are only yes and no, or 0 and 1 with a tie between, and not nothing."""
    if column.kind in ("bool", "time"):
        return column.kind == "bool" and not column.missing.all()
    numbers = column.floats()
    if numbers is None:
        found = distinct(column)[1]
        return bool(found) and all(plain(v) in WORDS or plain(v) in NO_WORDS for v in found)
    known = numbers[~np.isnan(numbers)]
    odd = known[(known != 0) & (known != 1)]
    tie = len(odd) and (odd == odd[0]).all() and 0 < odd[0] < 1 and 2 * len(odd) < len(known)
    return bool(len(known)) and bool(not len(odd) or tie)


def is_probabilities(column: Column, percent: bool = False) -> bool:
    """Whether these may be probabilities: shares of many values, or also percents if allowed."""
    if column.kind in ("bool", "time"):
        return False
    try:
        shares, notes = probabilities("p", column)
    except ValueError:
        return False
    known = shares[~np.isnan(shares)]
    if not percent and any("largest value" in note for note in notes):
        return False
    inside = known[(known > 0) & (known < 1)]
    few = len(known) < 2 * MANY  # a handful of rows
    return len(np.unique(inside)) >= (1 if few or percent else MANY) or (percent and len(known) > 0)


def is_varied(column: Column) -> bool:
    """Whether numbers from 0 to 100 take so many values that they cannot be outcomes."""
    numbers = column.floats()
    if numbers is None:
        return False
    inside = numbers[~np.isnan(numbers) & (numbers != 0) & (numbers != 1)]
    if not len(inside) or inside.min() < 0 or inside.max() > 100:
        return False
    whole = bool((inside == np.floor(inside)).all())  # percents, or classes
    return len(np.unique(inside)) >= (3 * MANY if whole else MANY)


def ranged(column: Column) -> str:
    """From where to where a column of probabilities goes, in words."""
    numbers = column.floats()
    if numbers is None:
        return "texts with %"
    return f"numbers from {np.nanmin(numbers):.3g} to {np.nanmax(numbers):.3g}"
