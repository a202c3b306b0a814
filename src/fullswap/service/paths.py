"""Every path of the service: which methods it takes, and which role each of them needs.

This one table decides who gets where, before any handler runs: a path that is not in it does not
exist. Names of streams may be any text; in the address they are percent-encoded, and they are
read from the bytes that came, so that no decoding or tidying of paths on the way can change one.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote_to_bytes

OPEN, READ, FORECAST, ADMIN = "open", "read", "forecast", "admin"
ROLES = (READ, FORECAST, ADMIN)
"""Each may do what those before it may."""
RANK = {OPEN: -1, READ: 0, FORECAST: 1, ADMIN: 2}

STREAM, SPEC, FILE = "/v1/streams/{stream}", "/v1/specs/{name}", "/static/{file}"
FORECASTS, OUTCOMES = "/v1/forecasts", "/v1/outcomes"
ROUTES: dict[str, dict[str, str]] = {
    FORECASTS: {"POST": FORECAST},
    OUTCOMES: {"POST": FORECAST},
    "/v1/specs": {"GET": READ},
    SPEC: {"GET": READ, "PUT": ADMIN},
    "/v1/streams": {"GET": READ},
    STREAM: {"GET": READ, "DELETE": ADMIN},
    "/v1/alarms": {"GET": READ},
    "/v1/alarms/acknowledge": {"POST": FORECAST},
    "/v1/export": {"GET": READ},
    "/metrics": {"GET": READ},
    "/openapi.json": {"GET": READ},
    "/healthz": {"GET": OPEN},
    "/": {"GET": OPEN},
    FILE: {"GET": OPEN},
}
UNKNOWN = "other"
"""What logs and metrics call a path that does not exist."""

_FIXED = {route.encode(): route for route in ROUTES if "{" not in route}
_NAMED = {route.partition("{")[0].encode(): route for route in ROUTES if "{" in route}


class Place(NamedTuple):
    """Where a request goes."""

    route: str
    name: str | None = None
    """Of the stream, the spec or the file."""


def locate(raw: bytes) -> Place | None:
    """Where a path as it came leads; None: nowhere.

    Raises ``ValueError`` where a name is no text.

    Examples
    --------
    >>> locate(b"/v1/streams/a%2Fb/../c%20d")
    Place(route='/v1/streams/{stream}', name='a/b/../c d')
    >>> locate(b"/v1/streams"), locate(b"/v1/nothing"), locate(b"/v1/streams/")
    (Place(route='/v1/streams', name=None), None, None)
    """
    fixed = _FIXED.get(raw)
    if fixed is not None:
        return Place(fixed)
    for prefix, route in _NAMED.items():
        if raw.startswith(prefix) and len(raw) > len(prefix):
            try:
                return Place(route, unquote_to_bytes(raw[len(prefix) :]).decode())
            except UnicodeDecodeError:
                raise ValueError("a name in the path must be percent-encoded UTF-8") from None
    return None


def inner_path(place: Place) -> str:
    """The path for the router: a name is one segment of plain letters there.

    Examples
    --------
    >>> inner_path(Place(STREAM, "a/b")), name_of("612f62")
    ('/v1/streams/612f62', 'a/b')
    """
    if place.name is None:
        return place.route
    return place.route.partition("{")[0] + place.name.encode().hex()


def name_of(segment: str) -> str:
    """The name that ``inner_path`` has written."""
    return bytes.fromhex(segment).decode()
