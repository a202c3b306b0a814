"""One more class for a stream of many: as if it had been there, never expected and never met."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.kernels.columns import HINT, MASS
from fullswap.online.kinds import kind_of
from fullswap.online.pending import Pending
from fullswap.online.rows import Rows
from fullswap.online.stream import Stream
from fullswap.online.tickets import Forecast

if TYPE_CHECKING:
    from fullswap.online.classwise import Classwise


def grown_stream(stream: Stream) -> Stream:
    """A stream that goes on from where this one is, with one more class."""
    old: Any = stream.kind
    new: Any = kind_of(replace(old.spec, classes=old.spec.classes + 1))
    draws = stream.draws
    rows = Rows(new, draws.seed, [draws.stream])
    rows.put(0, grown_row(old, new, stream.settle()))
    other = Stream(rows, draws, Pending())
    for ticket in stream.pending:
        play = old.as_of(ticket._play, new.spec)
        grown = Forecast(new, ticket.level, play, ticket.key, ticket.event)
        grown.crowd = ticket.crowd
        other.pending.add(grown.id, grown)
    return other


def grown_row(old: Classwise, new: Classwise, row: Vector) -> Vector:
    """A row of one kind as one of the other, which has one more class.

    A class with x = 0 and y = 0 in every event has no errors: what is measured and what is known of
    it stay as they are.
    """
    beliefs = row[old.base - old._beliefs.size : old.base].reshape(old._beliefs.shape)
    grown = np.concatenate(
        (
            row[: old.base - old._beliefs.size],
            _grown_beliefs(old, new, beliefs).ravel(),
            row[old.base :],
            new._blank_points(0)[-1],
        )
    )
    grown[HINT] = new.blank[HINT]
    from fullswap.kernels import classwise as kernel  # a kind brings its own compiled code

    new.bins(grown)[kernel.REST_WEIGHT, -1, 0] = row[MASS]
    return grown


def _grown_beliefs(old: Classwise, new: Classwise, beliefs: Points) -> Points:
    classes, grown = old.spec.classes, new._beliefs.copy()
    if not old.spec.models:
        grown.reshape(2, -1)[:, :classes] = beliefs.reshape(2, -1)
        return grown
    from fullswap.kernels import classes_advice as advice

    scaling = advice.SCALING
    grown[:, : scaling + classes + 1] = beliefs[:, : scaling + classes + 1]
    known = scaling + classes + 1
    grown[:, known + 1 : known + 2 + classes] = beliefs[:, known:]
    return grown
