"""Calibration error within each of many groups of events, which may overlap."""

from __future__ import annotations

from typing import Any

from fullswap.base import checks
from fullswap.base.protocols import Indices
from fullswap.base.records import Record
from fullswap.inputs.memberships import memberships_of
from fullswap.metrics.calibration import NORMS, error_per_event_of
from fullswap.metrics.groups import Groups, distinct_rows
from fullswap.metrics.reading import (
    GIVE_BINS,
    as_edges,
    as_forecasts,
    as_outcomes,
    as_weights,
    warn_if_distinct,
)


def group_calibration_error(
    y_true: Any, y_proba: Any, groups: Any, *, norm: str = "l2", sample_weight: Any = None,
    bins: Any = None,
) -> dict[Any, float]:  # fmt: skip
    """`calibration_error` of the events of each group, by the name of the group.

    Groups may overlap, and an event may belong to none; a group without events (or with weight
    0 only) is left out. Small groups show large errors by chance: what chance would show stands
    beside the error in ``check(…, groups=…)`` and in a forecaster's ``by_group()``.

    Parameters
    ----------
    y_true, y_proba, sample_weight, norm, bins
        As for `calibration_error`; of a `Record` the issued forecasts are taken.
    groups
        A sequence of names for each event, or one name, or None; a frame or dict of columns, whose
        rows belong to ``"column=value"`` for each column; or a table of 0 and 1, shape (T, G), an
        array or a sparse matrix, whose groups are then called 0, 1, ….

    Examples
    --------
    >>> y, p = [1, 0, 0, 1, 1], [0.2, 0.2, 0.2, 0.9, 0.9]
    >>> group_calibration_error(y, p, [["a"], ["a", "b"], ["a"], ["b"], ["b"]])
    {'a': 0.1333, 'b': 0.1414}
    """
    checks.one_of("norm", norm, NORMS)
    if bins is not None:
        bins = as_edges(bins)
    forecasts = as_forecasts(
        "y_proba", y_proba.issued if isinstance(y_proba, Record) else y_proba, "T"
    )
    weights = as_weights("sample_weight", sample_weight, len(forecasts))
    outcomes = as_outcomes("y_true", y_true, len(forecasts), forecasts.shape[1])
    if groups is None:
        checks.refuse("groups", "name the groups of each event", groups)
    found = memberships_of(groups, len(forecasts))
    if bins is None and not isinstance(y_proba, Record):
        # once for the whole: on a grid a small group has nearly as many forecasts as events
        warn_if_distinct(len(distinct_rows(forecasts)[0]), len(forecasts), GIVE_BINS)
    events = Groups.of_events(forecasts, outcomes, weights)
    errors: dict[Any, float] = {}
    for name, rows in zip(found.names, found.rows(), strict=True):
        own = _taken(events, rows).weighted()
        if len(own):
            errors[name] = error_per_event_of(own, norm, bins, "classwise", False, None)
    return errors


def largest_group_error(
    y_true: Any, y_proba: Any, groups: Any, *, norm: str = "l2", sample_weight: Any = None,
    bins: Any = None,
) -> tuple[Any, float]:  # fmt: skip
    """The group with the largest `group_calibration_error`, and that error.

    Of many small groups some show a large error by chance alone.

    Examples
    --------
    >>> y, p = [1, 0, 0, 1, 1], [0.2, 0.2, 0.2, 0.9, 0.9]
    >>> largest_group_error(y, p, [["a"], ["a", "b"], ["a"], ["b"], ["b"]])
    ('b', 0.1414)
    """
    errors = group_calibration_error(
        y_true, y_proba, groups, norm=norm, sample_weight=sample_weight, bins=bins
    )
    if not errors:
        raise ValueError("groups must have a group with events, got none")
    return max(errors.items(), key=lambda item: item[1])


def _taken(groups: Groups, rows: Indices) -> Groups:
    parts = groups.forecasts, groups.weights, groups.counts, groups.squares
    return Groups(*(part[rows] for part in parts))
