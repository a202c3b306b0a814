"""What comes back from a service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class ServiceError(Exception):
    """The service said no, or could not be reached.

    Parameters
    ----------
    message : str
        A sentence for people.
    code : str
        A word for programs, for instance "not-found"; "unreachable" where no answer came.
    status : int or None
        The HTTP status; None where no answer came.
    """

    def __init__(self, message: str, code: str = "unreachable", status: int | None = None) -> None:
        super().__init__(message)
        self.code, self.status = code, status


class ItemError(ServiceError):
    """One item was refused; in a batch it stands in the place of the item's answer."""


@dataclass(frozen=True)
class ServedForecast:
    """One forecast.

    Attributes
    ----------
    id : str
        With which the outcome is told.
    issued : float or list of float
        What to publish: drawn between two adjacent values. With three or more classes the vector
        itself: nothing is drawn.
    mean : float or list of float
        The average of the draw.
    points, weights : list
        The values between which it was drawn, and their chances.
    """

    id: str
    issued: Any
    mean: Any
    points: list[Any]
    weights: list[float]


@dataclass(frozen=True)
class SettledOutcome:
    """What became of an outcome.

    Attributes
    ----------
    id : str
        Of the forecast.
    status : str
        "learnt", "known" before, or "dropped".
    event : str or None
        Of which it was the outcome, if it was told by its event.
    ids : tuple of str
        All forecasts of that event.
    """

    id: str
    status: str
    event: str | None = None
    ids: tuple[str, ...] = ()


def as_forecasts(answer: Any) -> list[ServedForecast | ItemError]:
    """The items of an answer."""
    return [
        _error_of(one) if "error" in one else ServedForecast(**_known(ServedForecast, one))
        for one in answer["items"]
    ]


def as_outcomes(answer: Any) -> list[SettledOutcome | ItemError]:
    """The items of an answer."""
    return [
        _error_of(one)
        if "error" in one
        else SettledOutcome(**_known(SettledOutcome, {**one, "ids": tuple(one.get("ids", ()))}))
        for one in answer["items"]
    ]


def only(items: list[Any]) -> Any:
    """The one item, which is raised if it was refused."""
    (item,) = items
    if isinstance(item, ItemError):
        raise item
    return item


def _error_of(item: Any) -> ItemError:
    return ItemError(item["error"]["message"], item["error"]["code"], 200)


def _known(kind: Any, item: dict[str, Any]) -> dict[str, Any]:
    """What we know of: a newer service may say more."""
    return {key: value for key, value in item.items() if key in kind.__dataclass_fields__}
