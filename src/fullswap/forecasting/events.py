"""Whole logs in which outcomes come late, or several forecasts belong to one event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.progress import Progress
from fullswap.base.protocols import Indices, Vector
from fullswap.online.loop import due_rows
from fullswap.online.pending import Pending
from fullswap.online.tickets import Forecast

Ticket = TypeVar("Ticket")


def refuse_sibling(ticket: Forecast, pending: Pending) -> None:
    """A forecast whose event has others that wait is not taught alone."""
    if ticket.event is not None and len(pending.of_event(ticket.event)) > 1:
        call = f"resolve({ticket.event!r}, outcome)"
        if ticket.key is not None:
            call = f"resolve([{ticket.key[0]!r}], [{ticket.event!r}], [outcome])"
        raise ValueError(
            f"forecast {ticket.id} belongs to event {ticket.event!r}, whose forecasts share one "
            f"outcome: call {call}"
        )


def known_rows(known: Any, outcomes: Any) -> Indices:
    """When the outcome of each row becomes known, as checked numbers of rows, shape (T,).

    A row that stays pending, because its outcome is absent (NaN) or known after the T rows of this
    log only, has T + 1.
    """
    total = len(outcomes)
    rows = checks.numbers("known", known)
    if rows.shape != (total,):
        checks.refuse_shape("known", f"({total},)", rows)
    later = (rows > np.arange(total)) & (rows == np.floor(rows))  # not NaN
    rule = "be whole numbers of rows, larger than that of the row itself (from 0)"
    checks.refuse_at("known", rule, rows, ~later)
    absent = np.isnan(outcomes).reshape(total, -1).any(axis=1) if total else np.zeros(0, np.bool_)
    return np.where(absent, total + 1, np.minimum(rows, total + 1)).astype(np.int64)


def moments_of(
    names: list[Any] | None, owners: list[Any] | None, outcomes: Any, scales: Vector,
    known: Indices | None,
) -> Indices:  # fmt: skip
    """At each row, how many rows have been forecast when its event is resolved there, shape (T,).

    T + 1 for rows where nothing is resolved: those that stay pending, and all but the last row of
    an event. ``known`` as by ``known_rows``; None: an event is known after its last row.
    """
    total = len(outcomes)
    moments = np.arange(1, total + 1) if known is None else known
    if names is None:
        return moments
    return np.where(last_rows(names, owners, outcomes, scales, known), moments, total + 1)


def last_rows(
    names: list[Any], owners: list[Any] | None, outcomes: Any, scales: Vector,
    known: Indices | None = None,
) -> NDArray[np.bool_]:  # fmt: skip
    """Which rows of a log are the last of their events; rows without a name are events themselves.

    ``owners`` say to whose streams the rows belong: the same name there is another event. All rows
    of an event must have the same outcome and weight, and become known together.
    """
    first: dict[Any, int] = {}
    last: dict[Any, int] = {}
    begins, ends = np.arange(len(names)), np.ones(len(names), np.bool_)
    for t, name in enumerate(names):
        if name is None:
            continue
        token = name if owners is None else (owners[t], name)
        begins[t] = first.setdefault(token, t)
        if token in last:
            ends[last[token]] = False
        last[token] = t
    own = (("outcome", outcomes), ("sample_weight", scales), ("known", known))
    for what, given in own:
        values = np.asarray(() if given is None else given)
        firsts = values[begins[: len(values)]]
        differs = (values != firsts) & ((values == values) | (firsts == firsts))  # NaN is NaN
        rows = np.flatnonzero(differs.reshape(len(values), -1).any(axis=1) if len(values) else [])
        if len(rows):
            t = int(rows[0])
            raise ValueError(
                f"event {names[t]!r} must have one {what}, "
                f"got others in rows {int(begins[t])} and {t}"
            )
    return ends


def values_of(outcomes: Any) -> Any:
    """Outcomes one by one, as single updates hand them to compiled code."""
    array = np.ascontiguousarray(outcomes, dtype=np.float64)
    return array.tolist() if array.ndim == 1 else array


def run_rows(
    moments: Indices,
    predict: Callable[[int], Ticket],
    resolve: Callable[[int, Ticket], None],
    record: bool,
    progress: bool | None,
    answer: Callable[[int], None] = lambda rows: None,
) -> list[Ticket]:
    """Forecast row after row, and resolve events when they are due; the tickets, if asked for.

    ``moments`` as by ``moments_of``; ``answer`` learns what is due, after so many rows, of
    forecasts that waited before. What is stopped in the middle leaves forecasts that wait, as
    single forecasts do.
    """
    tickets: list[Ticket] = []
    total, resolved = len(moments), 0
    due, waiting = due_rows(moments).tolist(), {}
    ends = moments.tolist()
    with Progress(total, progress, "events") as bar:
        answer(0)
        for t in range(total):
            ticket = predict(t)
            if record:
                tickets.append(ticket)
            if ends[t] <= total:
                waiting[t] = ticket
            answer(t + 1)
            while resolved < len(due) and ends[due[resolved]] == t + 1:
                resolve(due[resolved], waiting.pop(due[resolved]))
                resolved += 1
            bar.update(t + 1)
    return tickets
