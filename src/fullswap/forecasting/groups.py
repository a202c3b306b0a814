"""Groups by name: which numbers they have, and what comes with events that belong to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.keys import event_name, key_of, plain_key
from fullswap.base.protocols import Points, Vector
from fullswap.certificates import EVERYBODY
from fullswap.inputs.memberships import MOST_IN_EVENT, Memberships, memberships_of
from fullswap.online.kinds import kind_of
from fullswap.online.rows import Rows
from fullswap.online.spec import MOST_GROUPS, Spec

OPEN = "open"
"""In place of names: any name becomes a group when it is first met."""
FIRST_ROOM = 16
"""Groups for which there is room at first, where they come as they come; then twice as many."""
NAMES_ONLY = "be names where groups come as they come (a table has the columns of a list)"


@dataclass(frozen=True)
class GroupNames:
    """The names of groups in the order of their numbers; what is new gives another one of these."""

    names: tuple[Any, ...]
    open: bool

    @classmethod
    def of(cls, groups: Any) -> GroupNames | None:
        """As people say which groups there are: None, "open", or names."""
        if groups is None:
            return None
        if isinstance(groups, str) and groups == OPEN:
            return cls((), True)
        if isinstance(groups, str | bytes) or not hasattr(groups, "__iter__"):
            checks.refuse("groups", 'be names of groups, "open" or None', groups)
        if isinstance(groups, set | frozenset):
            checks.refuse("groups", "have an order, which tables of 0 and 1 go by: a list", groups)
        return cls(_checked_names(list(groups)), False)

    @property
    def room(self) -> int:
        """Groups for which there is room."""
        if not self.open:
            return len(self.names)
        return next(room for room in _rooms() if room >= len(self.names))

    @cached_property
    def numbers(self) -> dict[Any, int]:
        """Name ↦ number."""
        return {name: j for j, name in enumerate(self.names)}

    def number(self, name: Any) -> int:
        """Of one group; ValueError if there is none of this name."""
        try:
            return self.numbers[name]
        except (KeyError, TypeError):
            shown = ", ".join(map(repr, self.names[:10])) + ", …" * (len(self.names) > 10)
            checks.refuse("group", f"be one of {shown or 'the groups met so far'}", name)

    # --- of events -------------------------------------------------------------------------------

    def of_event(self, groups: Any) -> tuple[GroupNames, list[int]]:
        """Numbers of the groups of one event, rising; and all names, of which some may be new."""
        if isinstance(groups, np.ndarray) and groups.dtype.kind in "biuf":
            rule = "be a list of names in a single event (tables of 0 and 1 are for many)"
            checks.refuse("groups", rule, groups)
        if isinstance(groups, Mapping):  # as a row of the columns of ``run``
            names, joined = self.of_events({name: [value] for name, value in groups.items()}, 1)
            return names, joined.members.tolist()
        own = _of_one(groups)
        try:  # the usual case, and quick
            found = sorted({self.numbers[name] for name in own})
        except (KeyError, TypeError):
            names, joined = self.of_events([own], 1)
            return names, joined.members.tolist()
        if len(found) > MOST_IN_EVENT:
            checks.refuse("groups", f"be at most {MOST_IN_EVENT} in one event", len(found))
        return self, found

    def of_events(self, groups: Any, events: int) -> tuple[GroupNames, Memberships]:
        """The same for many events; numbers as all names have them."""
        if not self.open:
            return self, memberships_of(groups, events, self.names)
        table = hasattr(groups, "tocsr") or (
            isinstance(groups, np.ndarray) and groups.ndim == 2 and groups.dtype.kind in "biuf"
        )
        if table:
            checks.refuse("groups", NAMES_ONLY, f"a table of shape {groups.shape}")
        return self.joined(memberships_of(groups, events))

    def joined(self, found: Memberships) -> tuple[GroupNames, Memberships]:
        """Groups that were read by themselves, with the numbers that all names have."""
        new = [name for name in found.names if name not in self.numbers]
        if EVERYBODY in new:
            _refuse_everybody()
        if new and not self.open:
            self.number(new[0])
        if len(self.names) + len(new) > MOST_GROUPS:
            rule = f"be at most {MOST_GROUPS} different ones in a forecaster"
            checks.refuse("groups", rule, len(self.names) + len(new))
        names = GroupNames(self.names + tuple(new), self.open) if new else self
        places = np.array([names.numbers[name] for name in found.names], np.int64)
        members = places[found.members] if len(found.members) else found.members
        if len(places) > 1 and (np.diff(places) < 0).any():  # within an event they rise
            members = members[np.lexsort((members, found.events))]
        return names, Memberships(names.names, found.starts, members)

    # --- as plain data ---------------------------------------------------------------------------

    def pack(self) -> list[Any]:
        """For JSON."""
        return [plain_key(name) for name in self.names]

    @classmethod
    def unpack(cls, stored: Any, spec: Spec) -> GroupNames | None:
        """The names in a saved state, checked against the room for them; None if there is none."""
        if not spec.groups:
            if stored is not None:
                checks.refuse("groups", "be left out where forecasts have none", stored)
            return None
        if not isinstance(stored, list):
            checks.refuse("groups", "be a list", stored)
        if len(stored) > spec.groups:
            checks.refuse("groups", f"be at most {spec.groups}", len(stored))
        names = cls(_checked_names([key_of(name) for name in stored], spec.open_groups),
                    spec.open_groups)  # fmt: skip
        # an interrupt may come when room is made and names are not taken in yet
        fits = names.room <= spec.groups if spec.open_groups else names.room == spec.groups
        if not fits or spec.groups not in (names.room, *_rooms()):
            checks.refuse("groups", f"be as many as there is room for, {spec.groups}", len(stored))
        return names


def _rooms() -> list[int]:
    """For how many groups there may be room, where they come as they come."""
    rooms = [FIRST_ROOM]
    while rooms[-1] < MOST_GROUPS:
        rooms.append(min(2 * rooms[-1], MOST_GROUPS))
    return rooms


def _checked_names(given: list[Any], empty: bool = False) -> tuple[Any, ...]:
    names = []
    for name in given:
        try:
            names.append(event_name(name))
        except ValueError:
            checks.refuse("groups", "be texts, numbers or tuples of such as names", name)
    if not (names or empty) or len(names) > MOST_GROUPS:
        checks.refuse("groups", f"be 1 to {MOST_GROUPS} names", len(names))
    if EVERYBODY in names:
        _refuse_everybody()
    if len(set(names)) < len(names):
        checks.refuse("groups", "have every name once", given)
    return tuple(names)


def _refuse_everybody() -> None:
    checks.refuse("groups", "have other names: everybody is always a group", EVERYBODY)


def _of_one(groups: Any) -> list[Any]:
    """Names of the groups of a single event."""
    if groups is None:
        return []
    if isinstance(groups, np.ndarray):
        return list(np.atleast_1d(groups).tolist())
    several = hasattr(groups, "__iter__") and not isinstance(groups, str | bytes)
    return list(groups) if several else [groups]


# --- what comes with events ---------------------------------------------------------------------


def context_in_groups(said: Any, groups: Sequence[int]) -> Vector:
    """What comes with one event: J probabilities (None: no models), how many groups, which."""
    heard = () if said is None else (said,) if isinstance(said, float) else said
    return np.array([*heard, len(groups), *groups], dtype=np.float64)


def contexts_in_groups(said: Any, joined: Memberships) -> Points:
    """The same for many events, shape (T, J + 1 + M), M the most groups of an event."""
    models = 0 if said is None else said.shape[1]
    counts = np.diff(joined.starts)
    contexts = np.zeros((len(joined), models + 1 + max(1, int(counts.max(initial=0)))))
    if models:
        contexts[:, :models] = said
    contexts[:, models] = counts
    events = joined.events
    places = np.arange(len(joined.members)) - joined.starts[events]
    contexts[events, models + 1 + places] = joined.members
    return contexts


# --- room ---------------------------------------------------------------------------------------


def widened_rows(rows: Rows, spec: Spec, seed: int) -> Rows:
    """The same streams, laid out with the room of a spec that has more of it."""
    kind, old = kind_of(spec), rows.kind
    own = [kind.regrouped(rows.row(place), old) for place in range(len(rows))]
    widths = np.array([len(row) for row in own], np.int64)
    arena = np.concatenate(own) if own else np.zeros(0)
    return Rows.of(kind, seed, rows.words[: len(rows)].copy(), arena, widths)
