"""Which column of a log is what: those that are named, and those that are obvious."""

from __future__ import annotations

import math
from typing import Any

from fullswap.base import checks
from fullswap.base.amounts import counted
from fullswap.checking.files import completed
from fullswap.inputs.columns import column_of
from fullswap.inputs.frames import pick
from fullswap.inputs.guess import NoProbabilities, guess_roles
from fullswap.inputs.looks import is_forecast_name, is_probabilities
from fullswap.replay.reading import Reading, plain_columns
from fullswap.replay.settings import ReplaySettings

NO_MODEL = ["none"]
"""What is said in place of a probability column to forecast from outcomes alone."""


def roles_of(head: Any, comma: bool, roles: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Which column is what: those that are named, and those that are obvious; and notes."""
    given = {role: value for role, value in roles.items() if value}
    apart: dict[str, Any] = {}
    for role in ("resolved", "key", "groups"):
        if role in given:
            apart[role] = given.pop(role)
    groups = list(dict.fromkeys(apart.get("groups", [])))
    if groups:
        apart["groups"] = groups
    refuse_groups(head.column_names, groups, given, apart.get("resolved"))
    if not {"p", "classes"} & given.keys():
        _refuse_only_model(head, comma, groups)
    taken = {apart.get("resolved"), apart.get("key"), *groups} - _named(given)
    own = [name for name in head.column_names if name not in taken]
    table = plain_columns(head.select(own), own, comma)
    if given.get("p") == NO_MODEL and "none" not in own:
        del given["p"]
        return {**_without_model(table, given), **apart}, []
    try:
        named, said = completed(table, given)
    except NoProbabilities:
        found = _without_model(table, given)
        _refuse_spoilt({name: head[name] for name in own}, found, comma)
        return {**found, **apart}, []
    except ValueError:
        _refuse_outcome(head, comma, groups)
        raise
    return {**named, **apart}, said


def refuse_groups(columns: list[str], groups: list[str], given: Any, resolved: Any) -> None:
    """Refuse columns of groups that do not exist, or are known only after the forecast."""
    for name in groups:
        pick(dict.fromkeys(columns), "groups", name)
        if name == resolved or name in _names_of(given.get("y")):
            _refuse_later(name)


def _refuse_later(name: str) -> None:
    checks.refuse("groups", "name columns that are known before the outcome", name)


def _refuse_only_model(head: Any, comma: bool, groups: list[str]) -> None:
    """Refuse to take another column for the model where that of groups alone is called one."""
    if any(is_forecast_name(name) for name in head.column_names if name not in groups):
        return
    columns = plain_columns(head.select(groups), groups, comma)
    for name in filter(is_forecast_name, groups):
        if is_probabilities(column_of(f"column {name}", columns[name]), percent=True):
            raise ValueError(
                f"groups must not be the only column that is called a probability, got {name}: "
                f"give p='{name}' if it is the model, p='none' to forecast from the outcomes "
                "alone, or the name of another column"
            )


def _refuse_outcome(head: Any, comma: bool, groups: list[str]) -> None:
    """Say so where a column of groups is what would have been read as outcomes."""
    if not groups:
        return
    try:
        found, _ = guess_roles(plain_columns(head, head.column_names, comma))
    except ValueError:
        return
    for name in groups:
        if name in _names_of(found.get("outcome")):
            _refuse_later(name)


def _names_of(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def _named(given: dict[str, Any]) -> set[str]:
    """Columns that have a role by name."""
    return {name for value in given.values() for name in _names_of(value)}


def _refuse_spoilt(columns: dict[str, Any], found: dict[str, Any], comma: bool) -> None:
    """Refuse to go on without a model where a column is nearly one of probabilities."""
    taken = {name for value in found.values() if value
             for name in (value if isinstance(value, list) else [value])}  # fmt: skip
    for name, column in columns.items():
        if name in taken or not hasattr(column, "to_pylist"):
            continue
        values = column.to_pylist()
        numbers = [_number(value, comma) for value in values]
        spoilt = [k for k, number in enumerate(numbers)
                  if values[k] not in (None, "") and not 0 <= number <= 1]  # fmt: skip
        if spoilt and 2 * sum(0 < number < 1 for number in numbers) > len(numbers):
            row = spoilt[0]
            raise ValueError(
                f"column {name} must hold probabilities, got {values[row]!r} in row {row + 1:,}: "
                "mend it, or give p='none' to forecast from the outcomes alone"
            )


def _number(value: Any, comma: bool) -> float:
    text = str(value).strip()
    try:
        return float(text.replace(",", ".") if comma else text)
    except ValueError:
        return math.nan


def _without_model(table: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    y = given.get("y")
    one = y[0] if isinstance(y, list) and len(y) == 1 else y
    found, _ = guess_roles(table, outcome=one, probability=[])
    named = {"y": found["outcome"], "time": found.get("time"), "event": found.get("event")}
    return {**named, **{role: value for role, value in given.items() if role != "y"}}


def when_known(reading: Reading, settings: ReplaySettings) -> str:
    """Which rule says when outcomes are known."""
    after = "after the last row of its event" if reading.event else "after its row"
    if settings.delay is not None:
        return f"an outcome is used {counted(settings.delay, 'row')} {after} at the earliest"
    if reading.resolved is not None:
        return f"an outcome is used by forecasts made after the moment in {reading.resolved}"
    if reading.time is not None:
        return (
            f"an outcome is used once {reading.time} has moved on: rows of one moment are all "
            "forecast before any of their outcomes is learnt"
        )
    return "an outcome is used by the next row" + (", " + after if reading.event else "")


def refuse_roles(reading: Reading, settings: ReplaySettings) -> None:
    """Refuse roles that do not go together."""
    if reading.groups and reading.classes > 2:
        raise ValueError(
            f"groups must be left out for several classes, got {', '.join(reading.groups)}: they "
            f"are for yes-or-no events, and here are {reading.classes} classes"
        )
    for name in reading.groups:
        if name in reading.later:
            _refuse_later(name)
    if reading.resolved is not None and settings.delay is not None:
        raise ValueError(
            f"delay must be left out where resolved is given, got {settings.delay}: give one of "
            "them"
        )
    if reading.resolved is not None and reading.time is None:
        raise ValueError(
            f"time must be given where resolved is (resolved='{reading.resolved}'), got none: it "
            "says when each forecast was made"
        )
