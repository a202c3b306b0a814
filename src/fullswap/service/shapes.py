"""What the service answers, for its OpenAPI document and for readers.

The engine makes plain dictionaries; these types say what is in them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from fullswap.service.messages import (
    ForecastItem,
    Issued,
    OutcomeItem,
    Settled,
    SpecBody,
)

Verdict = Literal[
    "miscalibrated", "miscalibrated, but little", "no evidence of miscalibration",
    "too little data to say", "not watched",
]  # fmt: skip
Sort = Literal[
    "stream", "certain", "error", "evidence", "events", "pending", "oldest_pending", "last_event",
    "alarm", "verdict",
]  # fmt: skip
Share = float | None
Time = float | None
"""Seconds since 1970."""


class Forecasts(Struct, forbid_unknown_fields=True):
    """Forecasts that are asked for."""

    items: list[ForecastItem]


class Outcomes(Struct, forbid_unknown_fields=True):
    """Outcomes that have become known."""

    items: list[OutcomeItem]


class ForecastAnswers(Struct):
    """One answer for each item, in the same order; where one was refused, a ``Refusal``."""

    items: list[Issued]


class OutcomeAnswers(Struct):
    """One answer for each item, in the same order; where one was refused, a ``Refusal``."""

    items: list[Settled]


class SpecShape(SpecBody):
    """A spec as it is kept."""

    name: str = ""
    streams: int = 0


class Specs(Struct):
    """All specs."""

    specs: list[SpecShape]


class AlarmShape(Struct):
    """An alarm: since when a stream has been off, and which way."""

    id: int | str
    stream: str
    time: float
    at: int
    """Events of the stream when it rang."""
    since: int | None
    since_time: Time
    direction: str | None
    rings: int
    acknowledged: bool
    acknowledged_time: Time
    recovered: bool
    recovered_time: Time
    text: str


class Alarms(Struct):
    """Active alarms, newest first."""

    alarms: list[AlarmShape]


class Row(Struct):
    """One stream in short. Errors are shares: 0.041 is 4.1 percentage points."""

    stream: str
    spec: str
    events: int
    forecasts: int
    pending: int
    oldest_pending: Time
    last_event: Time
    verdict: Verdict
    watched: Literal["model", "ours"]
    error: Share
    noise: Share
    tolerance: Share
    certain: Share
    ours_error: Share
    ours_noise: Share
    evidence_log10: float | None
    evidence_log10_most: float | None
    direction: str | None
    spark: list[Share]
    alarm: AlarmShape | None


class Streams(Struct):
    """Some streams, and counts over all of them."""

    streams: list[Row]
    total: int
    matching: int
    time: float
    counts: dict[str, int]
    budget: dict[str, Any]


class GroupShape(Struct):
    """One group of a stream, or everybody. Errors are shares."""

    name: str
    rounds: int
    mass: float
    said: Share
    happened: Share
    points: Share
    points_noise: Share
    points_after_the_fact: Share
    points_guaranteed: Share


class StreamShape(Row):
    """One stream in full."""

    certificate: dict[str, Any] | None
    certificate_text: str
    explain: str
    by_group: list[GroupShape] | None
    reliability: dict[str, list[dict[str, float | None]]]
    windows: list[dict[str, float | None]]
    recent: list[dict[str, Any]]
    alarms: list[AlarmShape]


class Which(Struct, forbid_unknown_fields=True):
    """The stream whose alarm was seen."""

    stream: str


class Acknowledged(Struct):
    """The alarm of this stream was seen."""

    stream: str
    acknowledged: bool


class Health(Struct):
    """Whether the service works."""

    status: Literal["ok", "failing"]
    version: str
    uptime: Annotated[float, Meta(ge=0)]


def optional_query(description: str, **bounds: Any) -> Any:
    """The words for a parameter of a query."""
    from litestar.params import QueryParameter

    return QueryParameter(description=description, required=False, **bounds)
