"""Groups of events as adapters get them: features, columns, functions; in the form of names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fullswap.base import checks
from fullswap.certificates import GroupTable
from fullswap.inputs.memberships import memberships_of
from fullswap.integrations.footnotes import about_means
from fullswap.online.spec import MOST_GROUPS

Names = list[list[Any]]
"""The groups of each event, by name."""


def names_of(groups: Any, events: int) -> Names:
    """The groups of each event, from every form in which people have them."""
    found = memberships_of(groups, events)
    own = [found.names[number] for number in found.members.tolist()]
    starts = found.starts.tolist()
    return [own[start:end] for start, end in zip(starts[:-1], starts[1:], strict=True)]


def check_room(known: Sequence[Any], groups: Names) -> None:
    """Refuse groups for which there is no room, before anything learns."""
    count = len(set(known).union(*groups))
    if count > MOST_GROUPS:
        checks.refuse("groups", f"be at most {MOST_GROUPS} different ones", count)


def table_about_means(table: GroupTable, shown_by: str) -> GroupTable:
    """The same table; its certificates say what they do not cover."""
    return GroupTable.of((row.name, about_means(row.certificate, shown_by)) for row in table)
