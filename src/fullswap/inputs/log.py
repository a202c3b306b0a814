"""A log of forecasts: outcomes, probabilities and what belongs to them, checked and in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.protocols import Indices, Vector
from fullswap.inputs import given as roles
from fullswap.inputs.columns import column_of
from fullswap.inputs.events import events_of, refuse_contradictions, spans_of
from fullswap.inputs.frames import columns_of
from fullswap.inputs.given import Given
from fullswap.inputs.moments import in_order, moments, unread_dates
from fullswap.inputs.notice import notice_dates, notice_overlaps, notice_repeats
from fullswap.inputs.outcomes import label_list
from fullswap.inputs.pairs import Pair, read_pair
from fullswap.inputs.rows import (
    cut,
    is_due,
    note_pending,
    readable,
    refuse_unknown,
    taken,
    weights,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Log:
    """Forecasts and outcomes in order; rows without a forecast, and others left out, are gone."""

    y: Vector
    """Outcomes: 1 yes, 0 no, or the number of the class; NaN where pending, shape (n,)."""
    p: NDArray[np.float64] | None
    """Probabilities of yes, shape (n,), or of the classes, shape (n, K); None with ``models``."""
    labels: list[Any]
    """Names of the outcomes as the user wrote them: [no, yes], or the classes."""
    order: Indices
    """Which of the given rows these are, shape (n,)."""
    rows: int
    """How many rows were given."""
    models: dict[str, Vector] = field(default_factory=dict)
    """Probabilities of yes of competing forecasters; NaN where one made none."""
    weight: Vector | None = None
    event: Indices | None = None
    """Codes of events in order of first appearance, shape (n,); None if every row is its own."""
    event_names: list[str] = field(default_factory=list)
    same_outcome: bool = True
    """Whether the rows of an event share one outcome, or only hang together."""
    time: NDArray[Any] | None = None
    """Moments, ascending: numbers or ``datetime64`` in UTC, shape (n,)."""
    by: dict[str, NDArray[Any]] = field(default_factory=dict)
    """Columns to cut by: floats (NaN: missing) or texts ("(missing)")."""
    names: dict[str, Any] = field(default_factory=dict)
    """Role ("y", "p", "time", …) -> name of its column or columns, or of the argument."""
    notes: list[str] = field(default_factory=list)
    """What was recognised, guessed, clipped, reordered, left out and noticed."""

    @property
    def pending(self) -> int:
        """How many rows have no outcome yet."""
        return int(np.isnan(self.y).sum())

    @property
    def classes(self) -> int:
        """How many classes there are: 2 for yes/no."""
        return 2 if self.p is None or self.p.ndim == 1 else self.p.shape[1]

    def __len__(self) -> int:
        return len(self.y)


def log_of(
    y_true: Any, y_proba: Any = None, *,
    y: Any = None, p: Any = None, classes: Any = None, by: Any = None, time: Any = None,
    event: Any = None, together: Any = None, sample_weight: Any = None, pos_label: Any = None,
    labels: Any = None,
    due: Any = None, as_of: Any = None, guess: bool = False,
) -> Log:  # fmt: skip
    """Read a log of forecasts.

    Parameters
    ----------
    y_true
        Outcomes, or a frame (pandas, polars, Arrow, dict of columns) whose columns the other
        arguments name.
    y_proba
        Probabilities of yes, shape (n,) or (n, 2), or of the classes, shape (n, K) or a frame.
    y, p
        Names of the columns in a frame. Several names for ``p`` are forecasters that compete;
        several for ``y`` are columns of 0 and 1, one a class.
    classes
        Names of the probability columns, one a class; or True if ``p`` holds these (three or more
        names with as many ``labels`` are taken so too).
    by
        What to cut by: names, or a column, or a dict of columns.
    time
        When the forecasts were made: the order in which they are read.
    event
        What a forecast is about, where several rows share an outcome: a column, or several.
    together
        What makes rows hang together without sharing an outcome (one day, one storm), in place of
        ``event``.
    sample_weight
        Weights >= 0.
    pos_label
        The outcome that means yes.
    labels
        Classes in the order of the probability columns; [no, yes] for yes/no events.
    due
        When the outcome of a row is due. Rows due after ``as_of`` are left out, also when their
        outcome is known: yes often comes early, so that what is known too soon is mostly yes.
    as_of
        That moment; None: now for dates, the largest ``time`` for numbers.
    guess
        Whether to guess the columns of a frame that are not named, where it is obvious.

    Examples
    --------
    >>> log = log_of({"won": ["yes", "no", None], "prob": [70, 20, 50]}, y="won", p="prob")
    >>> log.y, log.p, log.labels, log.pending
    (array([ 1.,  0., nan]), array([0.7, 0.2, 0.5]), ['no', 'yes'], 1)
    >>> log.notes[0]
    'column prob: read as percent (largest value 70)'
    """
    sentences: list[str] = []
    if together is not None and event is not None:
        raise ValueError(
            f"together must be left out where event is given, got {together!r}: rows of an event "
            "count together anyway"
        )
    grouped = event if together is None else together
    if y_proba is None:
        columns = columns_of(y_true)
        if isinstance(y_true, str):
            raise ValueError(
                f"y_true must be outcomes or a frame, got {y_true!r}: read the file first, or run "
                f"`fullswap check {y_true}`"
            )
        if columns is None:
            raise ValueError("y_proba must be probabilities, got None: call check(y, p)")
        if guess and (y is None or (p is None and classes is None)):
            y, p, classes, time, grouped, sentences = _guessed(
                columns, y, p, classes, time, grouped
            )
        if classes is None and labels is not None and roles.is_names(p):
            classes = len(p) > 2 and len(p) == len(label_list(labels)) or None
        given = roles.from_frame(columns, y, p, classes, by, time, grouped, sample_weight, due)
    else:
        for role, value in (("y", y), ("p", p), ("classes", classes)):
            if value is not None:
                raise ValueError(
                    f"{role} must be left out with arrays, got {value!r}: it names a column, and "
                    "needs the frame as first argument, check(frame, y=…, p=…)"
                )
        given = roles.from_arrays(y_true, y_proba, by, time, grouped, sample_weight, due)
    pair = read_pair(given, pos_label, labels)
    return _assembled(given, pair, as_of, sentences, together is None)


def _guessed(columns: Any, y: Any, p: Any, classes: Any, time: Any, event: Any) -> Any:
    from fullswap.inputs.guess import guess_roles

    found, sentences = guess_roles(columns, outcome=y, probability=p if p is not None else classes)
    y = found["outcome"] if y is None else y
    if p is None and classes is None:
        p, classes = found.get("probability", found.get("models")), found.get("classes")
    time = found.get("time") if time is None else time
    return y, p, classes, time, found.get("event") if event is None else event, sentences


def _assembled(given: Given, pair: Pair, as_of: Any, notes: list[str], same_outcome: bool) -> Log:
    """Rows left out, the rest put in order, and everything else brought along."""
    n = len(pair.y)
    first = given.called["y"]
    notes = [*notes, *pair.notes]
    called = given.called
    times = None if given.time is None else moments(called["time"], given.time)
    weight = None if given.weight is None else weights(called["sample_weight"], given.weight)
    by = {key: column_of(f"by ({key})", value) for key, value in given.by.items()}
    ids = {key: column_of(f"event ({key})", value) for key, value in given.event.items()}
    held = [("time", times), ("sample_weight", weight), *by.items(), *ids.items()]
    for key, value in held:
        if value is not None:
            checks.same_length(called.get(key, key), value, first, n)
    keep = pair.keep.copy()
    due = None
    if given.due is not None:
        due = moments(called["due"], given.due, missing=True)
        checks.same_length(called["due"], due, first, n)
        keep &= is_due(due, times, as_of, pair.y, notes)
    order = np.flatnonzero(keep).astype(np.int64)
    if times is not None:
        sort, said = in_order(times[order], str(given.names["time"]))
        order, notes = order[sort], notes + said
    elif given.framed:
        notes.append("no time given: read in the order of the rows")
    y = pair.y[order]
    refuse_unknown(first, y, n)
    others = readable(given.others)
    codes: Indices | None = None
    event_names: list[str] = []
    if ids:
        codes, event_names, said = events_of({k: taken(v, order) for k, v in ids.items()})
        notes += said
        if same_outcome:
            refuse_contradictions(codes, event_names, y, pair.labels, order)
            notes += notice_overlaps(*spans_of(codes, len(event_names)))
    else:
        mine = {k: taken(v, order) for k, v in {**by, **others}.items() if len(v) == n}
        notes += notice_repeats(mine, y)
    if due is not None and times is not None and due.dtype.kind == times.dtype.kind:
        notes += notice_overlaps(times[order], due[order])
    if times is None:
        beside = {k: v for k, v in {**by, **others}.items() if len(v) == n}
        notes += notice_dates(beside)
        notes += [note for note in unread_dates(beside) if note not in notes]
    note_pending(y, due is not None, notes)
    return Log(
        y=y,
        p=None if pair.p is None else pair.p[order],
        labels=pair.labels,
        order=order,
        rows=n,
        models={key: value[order] for key, value in pair.models.items()},
        weight=None if weight is None else weight[order],
        event=codes,
        event_names=event_names,
        same_outcome=same_outcome,
        time=None if times is None else times[order],
        by={key: cut(taken(column, order)) for key, column in by.items()},
        names=given.names,
        notes=notes,
    )
