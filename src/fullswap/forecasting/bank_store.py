"""A bank in a store: what changed is written, and all that is read is checked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from json.encoder import encode_basestring_ascii
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.keys import key_of, plain_key
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.forecasting.bank_state import Entry, pattern_of, settings_of
from fullswap.forecasting.base import OnlineForecaster
from fullswap.forecasting.groups import FIRST_ROOM, GroupNames, in_room, spec_of_row
from fullswap.forecasting.state import checked_stream, pack, unpack
from fullswap.forecasting.stores import Store, StoredStream, json_of
from fullswap.kernels.columns import CROWD, HEAD, LEVEL, MASS, NEXT_ID, ROUNDS
from fullswap.online.kinds import kind_of
from fullswap.online.rows import Rows
from fullswap.online.spec import Spec
from fullswap.online.stream import Stream

FIELDS = frozenset({"spec", "forecaster", "seed"})
"""Of the settings in a store."""
KIND = "Bank in a store"
NAMES_KEY = '{"groups": "open"}'
"""Under which a store keeps names of groups; the text of no key."""
MOST_KNOWN = 2**16
"""Rows that have been checked and are remembered: streams that have seen little are often equal."""


def key_text(key: Any) -> str:
    """A key as stores find it: equal keys have one text.

    Examples
    --------
    >>> key_text("north"), key_text(1.0), key_text(("north", True))
    ('"north"', '1', '{"tuple": ["north", 1]}')
    """
    if type(key) is int:
        return str(key)
    if type(key) is str:
        return encode_basestring_ascii(key)
    return json.dumps(plain_key(_plainest(key)))


def _plainest(key: Any) -> Any:
    """Of equal keys the same one: numbers as whole ones where they are."""
    if isinstance(key, tuple):
        return tuple(_plainest(part) for part in key)
    whole = isinstance(key, bool | int | np.integer | np.bool_)
    if whole or (isinstance(key, float | np.floating) and float(key).is_integer()):
        return int(key)
    return key


# --- what changed ---------------------------------------------------------------------------------


def marks_of(rows: Rows, waiting: Mapping[int, Stream]) -> Points:
    """What differs as soon as a stream does, shape (S, 3): ids given, outcomes learnt, waiting.

    The first two never fall, and where both are the same only a drop can have happened.
    """
    counts = np.zeros(len(rows))
    for place, stream in waiting.items():
        counts[place] = len(stream.pending)
    own = rows.arena[rows.start + NEXT_ID], rows.arena[rows.start + ROUNDS], counts
    return np.column_stack(own)


def changed_since(marks: Points, before: Points | None) -> NDArray[np.bool_]:
    """Which streams differ from what they were; new ones do."""
    changed = np.ones(len(marks), np.bool_)
    if before is not None:
        changed[: len(before)] = (marks[: len(before)] != before).any(axis=1)
    return changed


# --- writing --------------------------------------------------------------------------------------


def settings_text(pattern: OnlineForecaster, seed: int) -> str:
    """What a store keeps of a bank beside its streams: the same as long as the bank lives.

    Groups that come as they come are therefore kept by ``stored_names``.
    """
    settings = settings_of(pattern, seed)
    if pattern.spec.open_groups:
        first = replace(pattern.spec, groups=FIRST_ROOM)
        settings |= {"spec": first.to_dict(), "groups": []}
    return pack(KIND, settings)


def stored_names(pattern: OnlineForecaster) -> list[StoredStream]:
    """The groups that came as they came, as an entry among the streams; no entry without."""
    names = pattern._groups
    if names is None or not names.open:
        return []
    return [StoredStream.of(NAMES_KEY, b"", json.dumps(names.pack()).encode())]


def settle_all(rows: Rows, places: Indices, stream_at: Any) -> None:
    """Refine what is due, if an interrupt came before that; streams by place."""
    rows.arena[rows.start[places] + CROWD] = 0.0
    begins = rows.start[places]
    due = np.searchsorted(
        np.array(rows.kind.spec.starts[1:]), rows.arena[begins + MASS], side="right"
    )
    for place in places[due > rows.arena[begins + LEVEL]].tolist():
        stream_at(place).settle()


def stored_streams(
    rows: Rows, waiting: Mapping[int, Stream], keys: Iterable[tuple[Any, int]]
) -> Iterator[StoredStream]:
    """These streams, given as key and place, as a store keeps them."""
    arena: Any = rows.arena.astype("<f8", copy=False)
    content, begins = memoryview(arena).cast("B"), rows.start.tolist()
    levels = rows.arena[rows.start + LEVEL].astype(np.int64).tolist()
    sizes = [8 * rows.kind.row_width(level) for level in range(max(levels, default=0) + 1)]
    for key, place in keys:
        begin = 8 * begins[place]
        row = bytes(content[begin : begin + sizes[levels[place]]])
        stream = waiting.get(place)
        tickets = [] if stream is None else [ticket.to_list() for ticket in stream.pending]
        yield StoredStream.of(key_text(key), row, json_of(tickets))


# --- reading ------------------------------------------------------------------------------------


def read_settings(store: Store) -> OnlineForecaster:
    """The pattern of the bank that is in a store, checked."""
    text = store.settings()
    if text is None:
        checks.refuse("store", "hold a bank that was saved there", store)
    try:
        pattern = pattern_of(unpack(KIND, text, FIELDS))
        if pattern.spec.open_groups:
            for entry in store.get([NAMES_KEY]):
                pattern._take_names(_names(entry, pattern.spec))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"store must hold the streams of a bank: {error}") from None
    return pattern


def refuse_other_names(store: Store, pattern: OnlineForecaster) -> None:
    """Refuse to give numbers of groups that the store has another meaning."""
    if pattern.spec.open_groups:
        for entry in store.get([NAMES_KEY]):
            held = _names(entry, pattern.spec)
            if held is not None and held.names != pattern.groups[: len(held.names)]:
                raise ValueError(
                    "store must be empty or hold streams of this bank, got one with other groups: "
                    f"{list(held.names[:5])}"
                )


def _names(entry: StoredStream, spec: Spec) -> GroupNames | None:
    """What ``stored_names`` gave, checked."""
    if not entry.sound:
        raise ValueError("its groups do not fit their checksum")
    stored = json.loads(entry.tickets)
    room = GroupNames(tuple(stored), True).room if isinstance(stored, list) else FIRST_ROOM
    return GroupNames.unpack(stored, replace(spec, groups=room))


def read_streams(store: Store, spec: Spec, keys: Any, blank: Vector) -> list[Entry]:
    """All streams, or those of some keys, checked as ``unpack_stream`` does."""
    wanted = None if keys is None else list(dict.fromkeys(key_text(key) for key in keys))
    known = {np.ascontiguousarray(blank, "<f8").tobytes()}
    entries = []
    for stored in store.get(wanted):
        if stored.key == NAMES_KEY:
            continue
        try:
            entries.append(_checked(spec, stored, known))
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(
                f"store must hold streams as they were saved, got a damaged one under the key "
                f"{stored.key}: {error}"
            ) from None
        if len(known) < MOST_KNOWN:
            known.add(stored.row)
    return entries


def _checked(spec: Spec, stored: StoredStream, known: set[bytes]) -> Entry:
    if not stored.sound:
        raise ValueError("it does not fit its checksum")
    key = key_of(json.loads(stored.key))
    if len(stored.row) % 8:
        checks.refuse("row", "be whole floats", len(stored.row))
    row = np.frombuffer(stored.row, "<f8").astype(np.float64)
    if stored.row in known and not stored.tickets:
        return key, row, []
    pending = json.loads(stored.tickets) if stored.tickets else []
    own = spec_of_row(spec, row) if spec.open_groups and len(row) > HEAD else spec
    found, tickets = checked_stream(own, row, pending, (key,))
    if own == spec:
        return key, found, tickets
    for ticket in tickets:
        ticket._kind = kind_of(spec)
    return key, in_room(spec, found, own), tickets
