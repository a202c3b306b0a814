"""What changed in the groups of a replayed log, in plain words.

``changes`` are ``GroupChanges``, a row of which is a ``GroupChange``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fullswap.base.amounts import counted
from fullswap.certificates import EVERYBODY
from fullswap.certificates.words import points
from fullswap.checking.verdict import MISCALIBRATED, NO_EVIDENCE

ALIKE = 50
"""A larger group of which all or none happened may be known only from the outcome."""
ODD = 1e-4
"""Chances below this, were the group like everybody, are worth a question."""
MOST_ODD = 5
"""Such groups that are named; the rest are counted."""


def groups_off(changes: Any, after: bool = False) -> list[Any]:
    """Groups in which the model is clearly off, or the issued forecasts; least chance first."""
    rows = () if changes is None else changes.rows
    which = "excess" if after else "excess_before"
    found = [row for row in rows if row.name != EVERYBODY and (getattr(row, which) or 0.0) > 1]
    return sorted(found, key=lambda row: -getattr(row, which))


def worst_of(changes: Any) -> Any:
    """The group that chance explains least, before if there is a model; None without events."""
    measured = () if changes is None else changes.measured
    with_model = [row for row in measured if row.excess_before is not None]
    if with_model:
        return max(with_model, key=lambda row: row.excess_before or 0.0)
    return measured[0] if measured else None


def right_words(before: Any) -> str | None:
    """How to say that a model is not clearly off on average, up to "in groups"; None if it is."""
    if before.verdict.startswith(MISCALIBRATED):
        return None
    if before.verdict == NO_EVIDENCE and before.error <= before.chance.high:
        return "Right on average, but not"
    return "Not clearly off on average, but clearly"


def change_words(row: Any, arrow: str = "->") -> str:
    """One group: from how far off to how far off."""
    before = "" if row.before is None else f"{points(row.before)} {arrow} "
    return f"{row.name} {before}{points(row.points)} points (chance {points(row.points_noise)})"


def groups_words(
    changes: Any, right: str | None, gain: float, same: float, arrow: str = "->"
) -> str:
    """What telling the groups did; "" without groups.

    Parameters
    ----------
    changes
        All groups.
    right
        What `right_words` says of the model.
    gain
        By how much the Brier score is better.
    same
        Gains up to this are none.
    arrow
        Between before and after.
    """
    worst = worst_of(changes)
    if changes is None or worst is None:
        return ""
    many = len(changes.measured)
    if worst.before is None:
        return (
            f"Of {counted(many, 'group')} chance explains this least: {change_words(worst, arrow)}."
        )
    off = groups_off(changes)
    if not off:
        whole = f"None of {many:,} groups was" if many > 1 else "The only group was not"
        return f"{whole} clearly off; the worst before: {change_words(worst, arrow)}."
    share = f"in {len(off):,} of {counted(many, 'group')}"
    head = f"{right} {share}" if right else f"Before, clearly off {share}"
    still = len(groups_off(changes, after=True))
    verdict = "Telling the groups helps."
    if gain <= same:
        verdict = "The Brier score does not show a gain from telling the groups yet."
    rest = f" After: clearly off in {counted(still, 'group')}." if still else ""
    return f"{head}; the worst before: {change_words(worst, arrow)}. {verdict}{rest}"


def one_sided(names: Sequence[Any], events: Sequence[int], shares: Sequence[float]) -> list[str]:
    """Notes about groups of which all or none happened, though it was else for everybody.

    ``shares`` of events that happened; everybody is the first group.
    """
    rate, found = shares[0], []
    for name, many, share in zip(names[1:], events[1:], shares[1:], strict=True):
        if many <= ALIKE or share not in (0.0, 1.0):
            continue
        if (rate if share else 1 - rate) ** many * len(names) < ODD:
            which = "all" if share else "none"
            found.append(f"group {name}: {which} of {many:,} happened")
    if not found:
        return []
    rest = len(found) - MOST_ODD
    more = f"; and {counted(rest, 'group')} more" if rest > 0 else ""
    listed = "; ".join(found[:MOST_ODD]) + more
    return [f"{listed}. Is this column known before the outcome?"]
