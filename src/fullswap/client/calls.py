"""The calls of a service, and what to do when one fails: the same for both clients.

Nothing here sends anything. A call says what to send and what its answer means; ``Retries`` says
whether and when to send it again.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from fullswap.client.answers import ServiceError, as_forecasts, as_outcomes, only

AGAIN = (502, 503, 504)
"""Statuses that say: not now."""
LONGEST_PAUSE = 10.0


@dataclass(frozen=True)
class Call:
    """One request, and what its answer means."""

    method: str
    path: str
    body: Any = None
    meaning: Callable[[Any], Any] = lambda answer: answer
    gone_is_done: bool = False
    """When it is repeated and finds nothing any more, the first try has done it."""
    stays_failing: bool = False
    """A 503 is an answer, not a reason to ask again."""

    def content(self) -> bytes | None:
        """The body."""
        return None if self.body is None else json.dumps(self.body, allow_nan=False).encode()

    def read(self, status: int, content: bytes, repeated: bool) -> Any:
        """What an answer means; raises ``ServiceError`` where it is an error."""
        if status == 404 and repeated and self.gone_is_done:
            return None
        if 200 <= status < 300 or (status == 503 and self.stays_failing):
            try:
                return self.meaning(json.loads(content) if content else None)
            except (ValueError, KeyError, TypeError):
                raise ServiceError("the answer is not one of a fullswap service", "odd-answer",
                                   status) from None  # fmt: skip
        raise error_of(status, content)


def error_of(status: int, content: bytes) -> ServiceError:
    """What an answer with an error says."""
    try:
        said = json.loads(content)["error"]
        return ServiceError(said["message"], said["code"], status)
    except (ValueError, KeyError, TypeError):
        return ServiceError(f"the service answered with status {status}", "odd-answer", status)


class Retries:
    """How often one call is repeated, and after which pauses."""

    def __init__(self, retries: int) -> None:
        self.left, self.done = retries, 0

    def pause(self, status: int | None, asked: str | None = None) -> float | None:
        """Seconds until the next try; None: no more.

        ``status``: None if no answer came; ``asked``: seconds that the service asks for.
        """
        if self.left <= 0 or (status is not None and status not in AGAIN):
            return None
        self.left -= 1
        self.done += 1
        # at random, so that many clients do not come back at the same moment
        pause = random.uniform(0.5, 1.0) * min(LONGEST_PAUSE, 0.1 * 2.0**self.done)
        if asked is not None and asked.isascii() and asked.isdigit():
            pause += min(LONGEST_PAUSE, float(asked))
        return pause


def check_address(url: str, token: str | None) -> str:
    """The address without a slash at its end."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"url must be like http://localhost:8642, got {url!r}")
    if token is not None and not (token.isascii() and token.isprintable() and token.strip()):
        raise ValueError("token must be printable ASCII, got something else")
    return url.rstrip("/")


# --- the calls --------------------------------------------------------------------------------


def forecast_item(
    stream: str, p: Any, spec: str | None, event: str | None, id: str | None, groups: Any = None
) -> dict[str, Any]:
    """An item for ``forecasts``; numbers of numpy become plain ones."""
    given = {"stream": stream, "p": _plain(p), "spec": spec, "event": event, "id": id,
             "groups": groups}  # fmt: skip
    return {key: value for key, value in given.items() if value is not None}


def forecasts(items: Iterable[Mapping[str, Any]]) -> Call:
    """POST /v1/forecasts, with an id for each: what is repeated is done once."""
    own = [{**item, "id": item.get("id") or str(uuid.uuid4())} for item in items]
    own = [{**item, "p": _plain(item["p"])} if "p" in item else item for item in own]
    return Call("POST", "/v1/forecasts", {"items": own}, as_forecasts)


def outcome_item(
    outcome: Any, id: str | None, event: str | None, stream: str | None, weight: float
) -> dict[str, Any]:
    """An item for ``outcomes``."""
    if (id is None) == (event is None):
        raise ValueError(f"give either id or event, got id={id!r} and event={event!r}")
    given = {"id": id, "event": event, "stream": stream}
    named = {key: value for key, value in given.items() if value is not None}
    return {**named, "outcome": _plain(outcome), **({} if weight == 1.0 else {"weight": weight})}


def outcomes(items: Iterable[Mapping[str, Any]]) -> Call:
    """POST /v1/outcomes; the same outcome again changes nothing."""
    own = [
        {**item, "outcome": _plain(item["outcome"])} if "outcome" in item else dict(item)
        for item in items
    ]
    return Call("POST", "/v1/outcomes", {"items": own}, as_outcomes)


def one_of(call: Call) -> Call:
    """The same for one item."""
    whole = call.meaning
    return Call(call.method, call.path, call.body, lambda answer: only(whole(answer)))


def put_spec(name: str, settings: Mapping[str, Any]) -> Call:
    """PUT /v1/specs/{name}."""
    return Call("PUT", f"/v1/specs/{_segment(name)}", dict(settings))


def specs() -> Call:
    """GET /v1/specs."""
    return Call("GET", "/v1/specs", meaning=lambda answer: answer["specs"])


def streams(**query: Any) -> Call:
    """GET /v1/streams."""
    given = {key: _word(value) for key, value in query.items() if value is not None}
    return Call("GET", f"/v1/streams?{urlencode(given)}")


def stream(name: str) -> Call:
    """GET /v1/streams/{stream}."""
    return Call("GET", f"/v1/streams/{_segment(name)}")


def delete(name: str) -> Call:
    """DELETE /v1/streams/{stream}."""
    return Call("DELETE", f"/v1/streams/{_segment(name)}", gone_is_done=True)


def alarms() -> Call:
    """GET /v1/alarms."""
    return Call("GET", "/v1/alarms", meaning=lambda answer: answer["alarms"])


def acknowledge(name: str) -> Call:
    """POST /v1/alarms/acknowledge."""
    body = {"stream": name}
    return Call("POST", "/v1/alarms/acknowledge", body, lambda _: None, gone_is_done=True)


def export(name: str | None) -> Call:
    """GET /v1/export."""
    return Call("GET", "/v1/export" + ("" if name is None else f"?{urlencode({'stream': name})}"))


def health() -> Call:
    """GET /healthz."""
    return Call("GET", "/healthz", stays_failing=True)


def _segment(name: str) -> str:
    if not isinstance(name, str) or not name:
        raise ValueError(f"a name must be text and not empty, got {name!r}")
    return quote(name, safe="")


def _word(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _plain(value: Any) -> Any:
    """Arrays and numbers of numpy as lists and numbers; NaN, where a model is silent, as null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and value != value else value
