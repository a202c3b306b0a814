"""Whole logs in which several forecasts belong to one event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fullswap.base.progress import Progress
from fullswap.base.protocols import Vector
from fullswap.online.tickets import Forecast

Ticket = TypeVar("Ticket")


def refuse_sibling(ticket: Forecast) -> None:
    """A forecast that belongs to an event is not taught alone."""
    if ticket.event is not None:
        call = f"resolve({ticket.event!r}, outcome)"
        if ticket.key is not None:
            call = f"resolve([{ticket.key[0]!r}], [{ticket.event!r}], [outcome])"
        raise ValueError(
            f"forecast {ticket.id} belongs to event {ticket.event!r}, whose forecasts share one "
            f"outcome: call {call}"
        )


def last_rows(
    names: list[Any], owners: list[Any] | None, outcomes: Any, scales: Vector
) -> NDArray[np.bool_]:
    """Which rows of a log are the last of their events; rows without a name are events themselves.

    ``owners`` say to whose streams the rows belong: the same name there is another event. All rows
    of an event must have the same outcome and weight.
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
    for what, values in (("outcome", outcomes), ("sample_weight", scales)):
        differs = np.asarray(values) != np.asarray(values)[begins[: len(values)]]
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
    ends: NDArray[np.bool_],
    predict: Callable[[int], Ticket],
    resolve: Callable[[int, Ticket], None],
    record: bool,
    progress: bool | None,
) -> list[Ticket]:
    """Forecast row after row, and resolve an event at its last one; the tickets, if asked for.

    What is stopped in the middle leaves forecasts that wait, as single forecasts do.
    """
    tickets = []
    with Progress(len(ends), progress, "events") as bar:
        for t, is_last in enumerate(ends.tolist()):
            ticket = predict(t)
            if record:
                tickets.append(ticket)
            if is_last:
                resolve(t, ticket)
            bar.update(t + 1)
    return tickets
