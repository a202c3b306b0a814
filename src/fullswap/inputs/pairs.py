"""Outcomes and probabilities read together: classes, competing models, swapped columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.amounts import counted
from fullswap.base.protocols import Vector
from fullswap.inputs.classes import is_table, without_common
from fullswap.inputs.columns import column_of, plain
from fullswap.inputs.frames import columns_of
from fullswap.inputs.given import Given
from fullswap.inputs.looks import is_outcomes, is_varied
from fullswap.inputs.outcomes import NO_WORDS, WORDS, Outcomes, distinct, outcomes, place_of
from fullswap.inputs.probabilities import probabilities


@dataclass
class Pair:
    """Outcomes and probabilities of all given rows, in the given order."""

    y: Vector
    labels: list[Any]
    keep: NDArray[np.bool_]
    """Rows that have a forecast and no outcome between yes and no."""
    p: NDArray[np.float64] | None = None
    models: dict[str, Vector] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_pair(given: Given, pos_label: Any, labels: Any) -> Pair:
    """Read what was given as outcomes and as probabilities."""
    if given.models:
        return _read_models(given, pos_label, labels)
    refuse_swapped(given)
    columns = columns_of(given.probability)
    names = None if columns is None or len(columns) < 2 else list(columns)
    if names is not None and columns is not None and len(names) == 2:
        names, labels = _two(columns, names, given.outcome, pos_label, labels)
        given.probability = {name: columns[name] for name in names}
    p, notes = probabilities(given.called["p"], given.probability)
    classes = p.shape[1] if p.ndim == 2 else None
    if classes is not None and pos_label is not None:
        raise ValueError(
            f"pos_label must be left out with {classes} classes, got {pos_label!r}: give labels"
        )
    known = names if classes is not None and names is not None else classes
    result = outcomes(given.called["y"], given.outcome, pos_label, labels, known)
    checks.same_length(given.called["p"], p, given.called["y"], len(result.codes))
    keep = ~np.isnan(p if p.ndim == 1 else p[:, 0]) & ~result.absent
    return Pair(result.codes, result.labels, keep, p=p, notes=[*result.notes, *notes])


def _read_models(given: Given, pos_label: Any, labels: Any) -> Pair:
    """Several forecasters of the same yes/no events; a row stays if one of them forecast it."""
    result: Outcomes = outcomes(given.called["y"], given.outcome, pos_label, labels)
    read: dict[str, tuple[Any, list[str]]] = {}
    for name, column in given.models.items():
        read[name] = probabilities(f"column {name}", column)
    percents = [name for name, (_, notes) in read.items() if any("percent" in v for v in notes)]
    if 2 * len(percents) >= len(read):  # a column of the same table that is never above 1 %
        for name in set(read) - set(percents):
            read[name] = probabilities(f"column {name}", given.models[name], percent=True)
    notes = list(result.notes)
    if percents:
        scale = "all" if 2 * len(percents) >= len(read) else ", ".join(percents)
        notes.append(f"probabilities: read as percent ({scale})")
    models: dict[str, Vector] = {}
    for name, (values, _) in read.items():
        checks.same_length(f"column {name}", values, given.called["y"], len(result.codes))
        if values.ndim != 1:
            checks.refuse_shape(f"column {name}", "(n,) among competing forecasters", values)
        models[name] = values
    notes += [note for _, said in read.values() for note in said if "read as no" in note]
    empty = [name for name, values in models.items() if np.isnan(values).all()]
    if empty:
        notes.append(f"without any forecast, left out: {', '.join(empty)}")
        models = {name: values for name, values in models.items() if name not in empty}
    if not models:
        raise ValueError(f"{given.called['p']} must hold probabilities, got no number at all")
    gaps = {name: int(np.isnan(values).sum()) for name, values in models.items()}
    none = np.all([np.isnan(values) for values in models.values()], axis=0)
    if none.any():
        notes.append(f"{counted(int(none.sum()), 'row')} without any forecast left out")
    some = {name: gap - int(none.sum()) for name, gap in gaps.items() if gap > none.sum()}
    if some:
        worst = max(some, key=lambda name: some[name])
        notes.append(
            f"{len(some)} of {len(models)} forecasters have gaps, {worst} the most "
            f"({counted(some[worst], 'row')}): each is judged on its own rows"
        )
    return Pair(result.codes, result.labels, ~none & ~result.absent, models=models, notes=notes)


def _two(
    columns: dict[str, Any], names: list[str], outcome: Any, pos_label: Any, labels: Any
) -> tuple[list[str], Any]:
    """Two named columns in the order [no, yes], and the labels if the outcomes are their names."""
    bare = without_common(names)
    for called in (names, bare):
        if pos_label is not None and place_of(pos_label, called) == 0:
            return names[::-1], labels
        if plain(called[0]) in WORDS and plain(called[1]) in NO_WORDS:
            return _two(columns, names[::-1], outcome, pos_label, labels)
    if labels is None and pos_label is None and not is_table(outcome):
        found = distinct(column_of("y_true", outcome))[1]
        for called in (names, bare):
            if found and all(place_of(value, called) is not None for value in found):
                return names, called
    return names, labels


def refuse_swapped(given: Given) -> None:
    """Refuse outcomes that look like probabilities beside probabilities that are only 0 and 1."""
    if is_table(given.outcome) or is_table(given.probability):
        return
    y_column, p_column = (column_of(given.called[role], values) for role, values in
                          (("y", given.outcome), ("p", given.probability)))  # fmt: skip
    if not is_varied(y_column) or not is_outcomes(p_column):
        return
    y, p = given.names["y"], given.names["p"]
    if given.framed:
        raise ValueError(
            f"y and p look swapped: column {y} holds probabilities and column {p} holds outcomes; "
            f"give y={p!r}, p={y!r}"
        )
    raise ValueError(
        "y_true and y_proba look swapped: y_true holds probabilities and y_proba only 0 and 1; "
        "call check(y, p)"
    )
