"""The state of one-versus-rest forecasters as text, and back."""

from __future__ import annotations

from collections.abc import Sequence

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.forecasting.contexts import Labels
from fullswap.forecasting.state import (
    pack,
    pack_labels,
    pack_row,
    unpack,
    unpack_labels,
    unpack_number,
    unpack_stream,
)
from fullswap.kernels.columns import NEXT_ID, ROUNDS
from fullswap.online.spec import Spec
from fullswap.online.stream import Stream
from fullswap.online.tickets import Forecast

FIELDS = frozenset({"spec", "seed", "classes"})
"""Of a saved state."""


def text_of(spec: Spec, seed: int, parts: Sequence[Stream], labels: Labels | None) -> str:
    """The whole state, pending forecasts and seed of the draws included, as JSON."""
    stored = [
        [pack_row(part.settle()), [ticket.to_list() for ticket in part.pending]] for part in parts
    ]
    content = {"spec": spec.to_dict(), "seed": str(seed), "classes": stored}
    return pack("OneVsRest", {**content, **pack_labels(labels)})


def parts_of(
    text: str | bytes, least: int, most: int
) -> tuple[Spec, int, Labels | None, list[tuple[Vector, list[Forecast]]]]:
    """Spec, seed, names and streams of the classes from what ``text_of`` wrote, all checked."""
    stored = unpack("OneVsRest", text, FIELDS)
    spec, parts = Spec.from_dict(stored["spec"]), stored["classes"]
    if spec.classes != 2 or spec.kind == "simplex":
        checks.refuse("spec", "be of a forecaster of yes-or-no events", spec.kind)
    if not isinstance(parts, list) or not least <= len(parts) <= most:
        size = f"be a list of {least} to {most}"
        checks.refuse("classes", size, type(parts).__name__)
    entries = []
    for k, entry in enumerate(parts):
        if not isinstance(entry, list) or len(entry) != 2:
            checks.refuse("classes", "be [row, pending] each", entry)
        entries.append(unpack_stream(spec, entry[0], entry[1], (k,)))
    ids = {
        (row[NEXT_ID], tuple((ticket.id, ticket.event) for ticket in tickets))
        for row, tickets in entries
    }
    rounds = [row[ROUNDS] for row, _ in entries]
    # later classes may have been added after some events
    if len(ids) > 1 or rounds != sorted(rounds, reverse=True):
        raise ValueError("classes must have seen the same events, got others")
    seed = unpack_number("seed", stored["seed"])
    return spec, seed, unpack_labels(stored, len(parts)), entries
