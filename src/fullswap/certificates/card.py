"""A certificate in a line, and as a card for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullswap.base.amounts import counted as many
from fullswap.base.html import card, note, table
from fullswap.certificates.words import counted, points, sums

if TYPE_CHECKING:
    from fullswap.certificates.certificate import Certificate


def line_of(c: Certificate) -> str:
    """Measured beside guaranteed in a few words."""
    if c.mass is not None and c.mass <= 0:
        return f"{c.title}: no outcomes yet" + ("" if c.group is None else f" in group {c.group}")
    if c.points is None:
        head = f"{c.title} {sums(c.measured)} after {many(c.rounds, 'round')}"
    else:
        head = f"{counted(c)}: {points(c.points)} points off"
    return f"{head}, {_guarantee(c)}"


def _guarantee(c: Certificate) -> str:
    if c.guaranteed is None:
        return "nothing is guaranteed"
    if c.trivial:
        return "too few events for a guarantee"
    share = c.points_guaranteed
    most = sums(c.guaranteed) if share is None else points(share, up=True)
    return f"guaranteed at most {most}" + ("" if c.holds else ", which is exceeded")


def html_of(c: Certificate) -> str:
    """The card: a table of measured and guaranteed, and the certificate in words."""
    notes = [note(line) for line in str(c).splitlines()]
    if c.mass is not None and c.mass <= 0:
        return card(line_of(c), *notes)
    rows = [
        ("measured", c.points, c.measured, False),
        ("chance alone would show", c.points_noise, c.noise, False),
        ("known after the fact, at most", c.points_after_the_fact, c.after_the_fact, True),
        ("guaranteed, at most", c.points_guaranteed, c.guaranteed, True),
    ]
    kept = [row for row in rows if row[2] is not None]
    if c.points is None:
        told = [[name, sums(value)] for name, _, value, _ in kept if value is not None]
        return card(line_of(c), table(["", "sum"], told), *notes)
    cells = [
        [name, "–" if share is None else points(share, up=up), sums(value)]
        for name, share, value, up in kept
        if value is not None
    ]
    return card(line_of(c), table(["", "points", "sum"], cells), *notes)
