"""State as versioned JSON: what is written comes back to the last bit, or is refused."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Vector
from fullswap.forecasting.contexts import Labels
from fullswap.forecasting.groups import GroupNames
from fullswap.forecasting.inputs import labels_of
from fullswap.kernels.columns import HEAD, LEARNT, LEVEL, NEXT_ID, ROUNDS, VERSION
from fullswap.online.kinds import kind_of
from fullswap.online.spec import Spec
from fullswap.online.tickets import Forecast

FORMAT = "fullswap forecaster"
OPTIONAL = frozenset({"labels", "groups"})
"""Fields that a state may have: names of the classes, names of groups."""
MOST_BYTES = 10**10
"""Of a state as text."""


def pack(kind: str, content: dict[str, Any]) -> str:
    """One line of JSON; numbers are written so that they are read back exactly."""
    body = {"format": FORMAT, "version": VERSION, "kind": kind, **content}
    text = json.dumps({**body, "checksum": _checksum(body)}, allow_nan=False)
    if len(text) > MOST_BYTES:
        raise ValueError(f"state must have at most {MOST_BYTES} characters, got {len(text)}")
    return text


def unpack(kind: str, text: Any, fields: frozenset[str]) -> dict[str, Any]:
    """The content, or a ValueError that says why it cannot be used.

    The checksum tells of accidents; it is no proof of anything, so whoever reads the content
    checks it.
    """
    if not isinstance(text, str | bytes):
        raise ValueError(f"text must be JSON as written by to_json(), got {type(text).__name__}")
    if len(text) > MOST_BYTES:
        raise ValueError(f"text must have at most {MOST_BYTES} characters, got {len(text)}")
    try:
        body = json.loads(text)
        checksum = body.pop("checksum", None) if isinstance(body, dict) else None
        fits = checksum == _checksum(body)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"text must be JSON, got something damaged ({error})") from None
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise ValueError("text must be a state written by to_json(), got other JSON")
    version = body.get("version")
    if version != VERSION:
        known = isinstance(version, int) and version < VERSION
        advice = (
            "states of earlier versions cannot be read: replay the log with run()"
            if known
            else "upgrade fullswap to read it"
        )
        raise ValueError(f"text must have state version {VERSION}, got {version!r}: {advice}")
    if not fits:
        raise ValueError("text must be as it was written, got one that does not fit its checksum")
    if body.get("kind") != kind:
        raise ValueError(
            f"text must be the state of a {kind}, got that of a {body.get('kind')}: read it with "
            f"{body.get('kind')}.from_json"
        )
    if set(body) - OPTIONAL != fields | {"format", "version", "kind"}:
        raise ValueError(f"text must have the fields {sorted(fields)}, got {sorted(body)}")
    return body


def pack_labels(labels: Labels | None) -> dict[str, Any]:
    """The names of the classes as a field of a state, if they have any."""
    return {} if labels is None else {"labels": list(labels)}


def unpack_labels(stored: dict[str, Any], classes: int) -> Labels | None:
    """The names of so many classes, checked; None if they have none."""
    if "labels" not in stored:
        return None
    if not isinstance(stored["labels"], list):
        checks.refuse("labels", "be a list", stored["labels"])
    return labels_of(stored["labels"], classes, classes)[1]


def pack_groups(groups: GroupNames | None) -> dict[str, Any]:
    """The names of groups as a field of a state, where there are groups."""
    return {} if groups is None else {"groups": groups.pack()}


def unpack_groups(stored: dict[str, Any], spec: Spec) -> GroupNames | None:
    """The names of groups, checked; None where there are no groups."""
    return GroupNames.unpack(stored.get("groups"), spec)


def _checksum(body: Any) -> str:
    plain = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()


def pack_row(row: Vector) -> str:
    """A row as text: little-endian floats in base64, which keeps every bit."""
    return base64.b64encode(np.ascontiguousarray(row, dtype="<f8").tobytes()).decode()


def unpack_row(text: Any) -> Vector:
    """What ``pack_row`` wrote; the numbers still have to be checked."""
    if not isinstance(text, str):
        checks.refuse("row", "be floats in base64", text)
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        checks.refuse("row", "be floats in base64", text)
    if len(content) % 8:
        checks.refuse("row", "be whole floats", len(content))
    return np.frombuffer(content, dtype="<f8").astype(np.float64)


def unpack_number(name: str, text: Any) -> int:
    """A number of 128 bits, written as text: most JSON readers keep less."""
    if not isinstance(text, str) or not text.isdecimal() or len(text) > 39 or int(text) >> 128:
        checks.refuse(name, "be a whole number of at most 128 bits, as text", text)
    return int(text)


def unpack_stream(
    spec: Spec, text: Any, pending: Any, key: Any = None
) -> tuple[Vector, list[Forecast]]:
    """A stored row and the forecasts that wait, both checked against the spec."""
    row = unpack_row(text)
    # before anything is laid out: what a short text can ask for stays as small as the text
    least = HEAD + spec.levels[0].size(spec.classes)
    if len(row) < least:
        checks.refuse("row", f"have at least {least} columns", len(row))
    kind = kind_of(spec)
    kind.check(row)
    if not isinstance(pending, list):
        checks.refuse("pending", "be a list", pending)
    tickets = [Forecast.from_list(kind, stored, key) for stored in pending]
    ids = [ticket.id for ticket in tickets]
    sound = (
        len(set(ids)) == len(ids)
        and all(number < row[NEXT_ID] and number != row[LEARNT] for number in ids)
        and len(ids) + row[ROUNDS] <= row[NEXT_ID]
        and all(ticket.level <= row[LEVEL] for ticket in tickets)
    )
    if not sound:
        checks.refuse("pending", "be forecasts of this row", ids)
    return row, tickets
