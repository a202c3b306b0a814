"""What clients and the service say to each other, as typed JSON.

Kept small and flat: a client in any language builds these by hand. Messages never refer to each
other in a circle, so the garbage collector need not look at them (``gc=False``).
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType

Number = float | int
Probability = Number | list[Number | list[Number | None] | None] | None


class ForecastItem(Struct, forbid_unknown_fields=True, gc=False):
    """One forecast that is asked for."""

    stream: str
    spec: str | None = None
    id: str | None = None
    p: Probability = None
    """What models say: one number, one for each model, or K for each; null where one is silent."""
    groups: list[str] | None = None
    """Groups of its spec to which the event belongs."""
    event: str | None = None


class OutcomeItem(Struct, forbid_unknown_fields=True, gc=False):
    """One outcome: of a forecast by its id, or of an event. null: it will never come."""

    outcome: bool | Number | str | list[Number] | None
    id: str | None = None
    event: str | None = None
    stream: str | None = None
    """Whose event it is; left out, it is that of all streams in which the event waits."""
    weight: Number = 1.0


class Issued(Struct, gc=False):
    """One forecast."""

    id: str
    issued: float | list[float]
    mean: float | list[float]
    points: list[float | list[float]]
    weights: list[float]
    declared: int | str | UnsetType = UNSET
    """The class for which top-label guarantees hold, as outcomes name it, if there are any."""


class Settled(Struct, omit_defaults=True, gc=False):
    """What became of an outcome: "learnt", "known" before, or "dropped"."""

    id: str
    status: str
    event: str | UnsetType = UNSET
    ids: list[str] | UnsetType = UNSET
    """All forecasts of the event."""


class Problem(Struct):
    """Why something was refused: a word for programs, a sentence for people."""

    code: str
    message: str


class Refusal(Struct):
    """In the place of an item, or as a whole answer."""

    error: Problem


def refusal(code: str, message: str) -> Refusal:
    """A refusal with this word and this sentence."""
    return Refusal(Problem(code, message))


class SpecBody(Struct, forbid_unknown_fields=True):
    """Of which kind the streams of a spec are; settings as those of the Python classes."""

    forecaster: str = "recalibrator"
    """"recalibrator", "forecaster" or "multiclass"."""
    horizon: int | None = None
    step: Number | str | None = None
    classes: int | list[str] = 2
    models: int = 1
    max_weight: Number = 1.0
    monitor: Number | bool = True
    """Run length of the alarms: calibrated streams ring at most once in so many events."""
    tolerance: Number = 0.02
    """Errors up to this are called small."""
    groups: list[str] | str | None = None
    """Names of groups in each of which forecasts are to be calibrated; yes-or-no events only."""


Plain = dict[str, Any]
