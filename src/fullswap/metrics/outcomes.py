"""Checked events, and their sums over groups of forecasts: all that these metrics depend on.

Every metric of forecasts is a function of `Groups`. An event is a group of its own until groups
are merged: equal forecasts into one (`distinct`), or forecasts of one bin (`binned`). A stream
keeps merged groups only, so batch and stream share one definition of each metric.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.grids.steps import steps_of

ROW_TOLERANCE = 1e-6
"""How far a row of probabilities may be from summing to 1."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Sums over the events of each of G groups; every group has positive weight.

    Attributes
    ----------
    forecasts : (G, C) array
        Forecast of the group, p_g (of a bin: the weighted mean); C = 1 for yes/no events.
    weights : (G,) array
        W_g = Σ w.
    counts : (G, max(C, 2)) array
        Σ w·y of every class; the classes of yes/no events are (no, yes). Kept apart from W_g,
        so that "never happened" is an exact 0.
    squares : (G, C) array
        Σ w·y², which differs from Σ w·y for soft outcomes.
    """

    forecasts: Points
    weights: Vector
    counts: Points
    squares: Points

    @property
    def classes(self) -> int:
        """Coordinates of a forecast: 1 for yes/no events, else the number of classes."""
        return int(self.forecasts.shape[1])

    @property
    def total(self) -> float:
        """Weight of all events."""
        return float(self.weights.sum())

    @property
    def sums(self) -> Points:
        """Σ w·y in the coordinates of the forecasts, shape (G, C)."""
        return self.counts[:, -self.classes :]

    @property
    def means(self) -> Points:
        """Mean outcomes ȳ_g, shape (G, C)."""
        return self.sums / self.weights[:, None]

    def of_class(self, k: int) -> Groups:
        """Class k against the rest, as yes/no events."""
        own = self.counts[:, k]
        counts = np.column_stack((np.maximum(self.weights - own, 0.0), own))
        return Groups(self.forecasts[:, [k]], self.weights, counts, self.squares[:, [k]])

    def top(self) -> Groups:
        """The likeliest class (the first of several) against the rest, as yes/no events."""
        rows, best = np.arange(len(self.weights)), self.forecasts.argmax(axis=1)
        own = self.counts[rows, best]
        counts = np.column_stack((np.maximum(self.weights - own, 0.0), own))
        squares = self.squares[rows, best][:, None]
        return Groups(self.forecasts[rows, best][:, None], self.weights, counts, squares)

    def distinct(self) -> Groups:
        """One group per distinct forecast, in increasing order if C = 1."""
        forecasts, labels = distinct_rows(self.forecasts)
        return self.merged(labels, len(forecasts), forecasts)

    def binned(self, edges: Vector) -> Groups:
        """One group per bin that is not empty; C = 1."""
        return self.merged(self.bins(edges), len(edges) - 1)

    def bins(self, edges: Vector) -> Indices:
        """Bin of every group: [e_i, e_{i+1}), the last one closed; C = 1."""
        labels = np.searchsorted(edges, self.forecasts[:, 0], side="right") - 1
        return np.minimum(labels, len(edges) - 2)

    def merged(self, labels: Indices, size: int, forecasts: Points | None = None) -> Groups:
        """Groups with the same label become one; labels without weight vanish."""

        def add(columns: Points) -> Points:
            return np.column_stack([sums_by(labels, column, size) for column in columns.T])

        weights = sums_by(labels, self.weights, size)
        held = weights > 0
        if forecasts is None:
            forecasts = np.zeros((size, self.classes))
            weighted = add(self.forecasts * self.weights[:, None])
            np.divide(weighted, weights[:, None], out=forecasts, where=held[:, None])
        counts, squares = add(self.counts), add(self.squares)
        if held.all():
            return Groups(forecasts, weights, counts, squares)
        return Groups(forecasts[held], weights[held], counts[held], squares[held])

    @classmethod
    def joined(cls, parts: list[Groups]) -> Groups:
        """All groups of the parts, not merged."""
        return cls(
            np.concatenate([part.forecasts for part in parts]),
            np.concatenate([part.weights for part in parts]),
            np.concatenate([part.counts for part in parts]),
            np.concatenate([part.squares for part in parts]),
        )

    @classmethod
    def empty(cls, classes: int) -> Groups:
        """No events; ``classes`` as in the property."""
        counts = np.zeros((0, max(classes, 2)))
        return cls(np.zeros((0, classes)), np.zeros(0), counts, np.zeros((0, classes)))


def sums_by(labels: Indices, values: Vector, size: int) -> Vector:
    """Sum of the values of every label from 0 to size − 1."""
    sums: Any = np.bincount(labels, values, minlength=size)
    return sums


def distinct_rows(rows: Points) -> tuple[Points, Indices]:
    """One row of every kind, and for every row the number of its kind.

    Columns are numbered one after another, which sorts numbers instead of rows.
    """
    if rows.shape[1] == 1:
        values, labels = np.unique(rows[:, 0], return_inverse=True)
        return values[:, None], labels
    codes, kinds = np.zeros(len(rows), dtype=np.int64), 1
    for column in rows.T:
        values, labels = np.unique(column, return_inverse=True)
        if len(values) == len(rows):  # one column tells all rows apart
            return rows, np.arange(len(rows))
        if kinds * len(values) >= 1 << 62:
            packed, codes = np.unique(codes, return_inverse=True)
            kinds = len(packed)
        codes = codes * len(values) + labels
        kinds *= len(values)
    _, first, labels = np.unique(codes, return_index=True, return_inverse=True)
    return rows[first], labels


def read_events(
    y_true: Any,
    y_proba: Any,
    sample_weight: Any = None,
    *,
    weightless: bool = False,
    names: tuple[str, str, str] = ("y_true", "y_proba", "sample_weight"),
) -> Groups:
    """Check events and return each as a group of its own, without those of weight 0.

    Yes/no events: ``y_proba`` (T,) and ``y_true`` (T,), both in [0, 1]. K ≥ 2 classes: ``y_proba``
    (T, K) with rows of probabilities, ``y_true`` class indices (T,) or rows (T, K). Weights must
    not all be 0 unless ``weightless``. ``names`` are the arguments as the caller knows them.
    """
    forecasts = as_forecasts(names[1], y_proba, "T")
    weights = _as_weights(names[2], sample_weight, len(forecasts), weightless)
    outcomes = _as_outcomes(names[0], y_true, len(forecasts), forecasts.shape[1])
    return _as_groups(forecasts, outcomes, weights)


def read_distributions(
    points: Any, labels: Any, weights: Any, outcomes: Any, sample_weight: Any = None
) -> Groups:
    """Check forecasts that are distributions and return the groups of their distinct points.

    In round t the forecaster plays ``points[labels[t, j]]`` with probability ``weights[t, j]``:
    an event of weight w_t counts x_t[p]·w_t at the point p.
    """
    at = as_forecasts("points", points, "n")
    shares = _as_array("weights", weights)
    if shares.ndim != 2 or not shares.size:
        raise ValueError(f"weights has shape {shares.shape}; allowed: (T, w), not empty")
    refuse("weights", shares, ~((shares >= 0) & (shares <= 1 + ROW_TOLERANCE)), "[0, 1]")
    _check_sums("weights", shares)
    chosen = _as_array("labels", labels)
    if chosen.shape != shares.shape:
        raise ValueError(f"labels has shape {chosen.shape}; allowed: {shares.shape} as of weights")
    chosen = _as_indices("labels", chosen, len(at))
    scales = _as_weights("sample_weight", sample_weight, len(shares))
    seen = _as_outcomes("outcomes", outcomes, len(shares), at.shape[1])
    distinct, kinds = distinct_rows(at)
    rows = np.repeat(np.arange(len(shares)), shares.shape[1])
    entries = (shares * scales[:, None]).ravel()
    size, chosen = len(distinct), kinds[chosen.ravel()]

    def add(column: Vector) -> Vector:
        return sums_by(chosen, entries * column[rows], size)

    held = sums_by(chosen, entries, size)
    counts = [add(column) for column in _class_columns(seen)]
    squares = [add(np.square(column)) for column in seen.T]
    played = held > 0
    return Groups(
        distinct[played],
        held[played],
        np.column_stack(counts)[played],
        np.column_stack(squares)[played],
    )


def as_forecasts(name: str, values: Any, rows: str) -> Points:
    """Forecasts of shape (rows,) in [0, 1], or (rows, K) of probabilities, as (rows, C)."""
    array = _as_array(name, values)
    if not array.size or not (array.ndim == 1 or (array.ndim == 2 and array.shape[1] >= 2)):
        raise ValueError(
            f"{name} has shape {array.shape}; allowed: ({rows},), or ({rows}, K) with K >= 2, "
            "not empty"
        )
    refuse(name, array, ~((array >= 0) & (array <= 1)), "numbers in [0, 1]")
    if array.ndim == 1:
        return array[:, None]
    _check_sums(name, array)
    return array


def as_edges(bins: Any) -> Vector:
    """Edges of the bins: k/n for an integer n, else increasing numbers that span [0, 1]."""
    array = _as_array("bins", bins)
    if array.ndim == 0:
        if not (array >= 1) or array != np.floor(array) or array > 1e7 or isinstance(bins, bool):
            raise ValueError(f"bins is {bins!r}; allowed: integers >= 1, or an array of edges")
        return np.arange(int(array) + 1) / int(array)
    increasing = array.ndim == 1 and array.size >= 2 and bool((np.diff(array) > 0).all())
    if not increasing or not (array[0] <= 0 and array[-1] >= 1):
        raise ValueError(
            f"bins is {bins!r}; allowed: integers >= 1, or increasing edges from 0 (or less) to 1 "
            "(or more)"
        )
    return array


def nearest_allowed(groups: Groups, step: float | None, actions: Any) -> Points:
    """The allowed forecast that is nearest to each mean outcome, shape (G, C)."""
    if (step is None) == (actions is None):
        raise ValueError(
            f"step is {step!r} and actions is {actions!r}; allowed: one of them, the other None"
        )
    if actions is None:
        if groups.classes > 1:
            raise ValueError(f"step is {step!r}; allowed: None for classes, give actions (m, K)")
        allowed = _multiples(step)[:, None]
    else:
        allowed = as_forecasts("actions", actions, "m")
    if allowed.shape[1] != groups.classes:
        raise ValueError(
            f"actions have {allowed.shape[1]} coordinates; allowed: {groups.classes} as forecasts"
        )
    if groups.classes > 1:
        from scipy.spatial import KDTree

        return allowed[KDTree(allowed).query(groups.means)[1]]
    line, means = np.sort(allowed[:, 0]), groups.means[:, 0]
    above = np.searchsorted(line, means).clip(max=len(line) - 1)
    below = np.maximum(above - 1, 0)
    lower = means - line[below] <= line[above] - means
    return np.where(lower, line[below], line[above])[:, None]


def _multiples(step: Any) -> Vector:
    parts = steps_of(step)
    return np.arange(parts + 1) / parts


def refuse(name: str, array: Any, bad: Any, allowed: str) -> None:
    """Raise ValueError that names the first place where ``bad`` holds."""
    if bad.any():
        place = np.unravel_index(int(bad.argmax()), bad.shape)
        where = ", ".join(str(int(i)) for i in place)
        raise ValueError(f"{name}[{where}] is {array[place]}; allowed: {allowed}")


def _as_array(name: str, values: Any) -> Any:
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiubO" or np.ma.is_masked(values):
            raise TypeError
        if array.dtype.kind == "O" and any(isinstance(v, str | bytes) for v in array.flat):
            raise TypeError  # numpy would read them as numbers
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        shown = reprlib.repr(values)
        raise ValueError(f"{name} is {shown}; allowed: arrays of real numbers") from None


def _check_sums(name: str, rows: Points) -> None:
    sums = rows.sum(axis=1)
    bad = np.abs(sums - 1) > ROW_TOLERANCE
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"{name}[{row}] sums to {sums[row]}; allowed: rows that sum to 1 within "
            f"{ROW_TOLERANCE:g}"
        )


def _as_weights(name: str, values: Any, rounds: int, weightless: bool = False) -> Vector:
    if values is None:
        return np.ones(rounds)
    array = _as_array(name, values)
    if array.shape != (rounds,):
        raise ValueError(f"{name} has shape {array.shape}; allowed: ({rounds},)")
    # far below the largest float, so that sums stay finite
    refuse(name, array, ~((array >= 0) & (array <= 1e300)), "numbers in [0, 1e300]")
    if not (weightless or array.any()):
        raise ValueError(f"{name} is 0 for every event; allowed: some positive weight")
    return array


def _as_indices(name: str, array: Any, size: int) -> Indices:
    bad = ~((array >= 0) & (array < size)) | (array != np.floor(array))
    refuse(name, array, bad, f"integers from 0 to {size - 1}")
    return array.astype(np.int64)


def _as_outcomes(name: str, values: Any, rounds: int, classes: int) -> Points:
    """Outcomes of shape (T, C), as the forecasts."""
    array = _as_array(name, values)
    if classes == 1:
        if array.shape != (rounds,):
            raise ValueError(f"{name} has shape {array.shape}; allowed: ({rounds},)")
        refuse(name, array, ~((array >= 0) & (array <= 1)), "numbers in [0, 1]")
        return array[:, None]
    if array.shape == (rounds,):
        rows = np.zeros((rounds, classes))
        rows[np.arange(rounds), _as_indices(name, array, classes)] = 1.0
        return rows
    if array.shape != (rounds, classes):
        raise ValueError(
            f"{name} has shape {array.shape}; allowed: class indices ({rounds},) or rows of "
            f"probabilities ({rounds}, {classes})"
        )
    refuse(name, array, ~((array >= 0) & (array <= 1)), "numbers in [0, 1]")
    _check_sums(name, array)
    return array


def _class_columns(outcomes: Points) -> list[Vector]:
    """Outcome of every class; yes/no events have the classes (no, yes)."""
    if outcomes.shape[1] > 1:
        return list(outcomes.T)
    return [1.0 - outcomes[:, 0], outcomes[:, 0]]


def _as_groups(forecasts: Points, outcomes: Points, weights: Vector) -> Groups:
    if not weights.all():
        held = weights > 0
        forecasts, outcomes, weights = forecasts[held], outcomes[held], weights[held]
    counts = np.column_stack(_class_columns(outcomes)) * weights[:, None]
    return Groups(forecasts, weights, counts, np.square(outcomes) * weights[:, None])
