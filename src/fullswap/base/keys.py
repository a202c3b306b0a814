"""Names of streams and of events: texts, numbers, bytes, or tuples of such."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Iterator, KeysView
from typing import Any

import numpy as np

from fullswap.base import checks

DEEPEST = 16
"""How deep tuples may lie in tuples: what is read back must not exhaust the stack."""
_ABSENT = frozenset({"NAType", "NaTType"})
"""What pandas puts where nothing is."""


def plain_key(key: Any) -> Any:
    """A key as JSON knows it: tuples and bytes are marked."""
    if isinstance(key, tuple):
        return {"tuple": [plain_key(part) for part in key]}
    if isinstance(key, bytes):
        return {"bytes": base64.b64encode(key).decode()}
    return key.item() if isinstance(key, np.generic) else key


def key_of(stored: Any, depth: int = 0) -> Any:
    """What ``plain_key`` gave."""
    if isinstance(stored, dict) and list(stored) == ["tuple"] and isinstance(stored["tuple"], list):
        if depth == DEEPEST:
            checks.refuse("key", f"have tuples at most {DEEPEST} deep", "deeper ones")
        return tuple(key_of(part, depth + 1) for part in stored["tuple"])
    if isinstance(stored, dict) and list(stored) == ["bytes"] and isinstance(stored["bytes"], str):
        try:
            return base64.b64decode(stored["bytes"], validate=True)
        except (binascii.Error, ValueError):
            checks.refuse("key", "be bytes in base64", stored)
    if not isinstance(stored, str | int | float | bool) or stored != stored:
        checks.refuse("key", "be a text, a number, bytes or a tuple of such", stored)
    return stored


def event_name(event: Any, depth: int = 0) -> Any:
    """The name of an event, checked: a text, a number, bytes, or a tuple of such.

    Examples
    --------
    >>> event_name(("2026", np.int64(17)))
    ('2026', 17)
    """
    if isinstance(event, np.generic):
        event = event.item()
    if isinstance(event, tuple) and event and depth < DEEPEST:
        return tuple(event_name(part, depth + 1) for part in event)
    named = isinstance(event, str | bytes) and (depth > 0 or len(event) > 0)
    if named or isinstance(event, int) or (isinstance(event, float) and math.isfinite(event)):
        return event
    checks.refuse("event", "be a text, a number, or a tuple of such, not empty", event)


def event_names(events: Any, count: int) -> list[Any] | None:
    """Names of the events of so many forecasts; None where one is an event of its own.

    Nothing is a name that is None, NaN or an empty text; None if there is no name at all.

    Examples
    --------
    >>> event_names(["final", "", "final", None], 4)
    ['final', None, 'final', None]
    """
    if events is None:
        return None
    if isinstance(events, str | bytes) or not hasattr(events, "__len__"):
        checks.refuse("event", "be one name for each forecast", events)
    own = events.tolist() if isinstance(events, np.ndarray) else list(events)
    checks.same_length("event", own, "the forecasts", count)
    names = [None if _is_absent(event) else event_name(event) for event in own]
    return None if all(name is None for name in names) else names


def _is_absent(event: Any) -> bool:
    if isinstance(event, float | np.floating):
        return bool(event != event)
    return (
        event is None
        or (isinstance(event, str | bytes) and not event)
        or type(event).__name__ in _ABSENT
    )


class Keyed:
    """What has a stream for each key: how many, which, and in what order they came."""

    _places: dict[Any, int]
    """Key ↦ place of its row."""

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: Any) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[Any]:
        return iter(self._places)

    def keys(self) -> KeysView[Any]:
        """The keys of all streams, in the order in which they came."""
        return self._places.keys()
