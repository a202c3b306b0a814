"""Public forecast logs where forecasts wait for their outcome, or many share one.

A game is forecast again and again until it ends; a tournament's rounds are forecast days ahead, for
every player; rain is forecast up to fifteen days ahead. An outcome is learnt only when it is known.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fullswap.base.protocols import Indices
from studies.logs import Stream, rows_of, three_way

RAIN_LEADS = {"nws": (1, 6), "precip": (1, 7, 15)}
"""Days ahead that get a stream of their own."""


class Asked(NamedTuple):
    """One forecast: the time at which it is made, what it is about, and what comes of it."""

    made: Any
    event: Hashable
    claimed: float
    outcome: float
    decided: Any
    """Forecasts made before this time did not know the outcome; those made from it on do."""


def waiting_stream(name: str, asked: Sequence[Asked]) -> Stream:
    """A stream of forecasts in the order in which they were made.

    ``made`` and ``decided`` are times of one kind. The outcome is known after the last forecast
    made before ``decided``.
    """
    made = [forecast.made for forecast in asked]
    last = [bisect_left(made, forecast.decided) - 1 for forecast in asked]
    kinds = {event: k for k, event in enumerate(dict.fromkeys(f.event for f in asked))}
    return Stream(
        name,
        np.array([forecast.claimed for forecast in asked]),
        np.array([forecast.outcome for forecast in asked]),
        events=np.array([kinds[forecast.event] for forecast in asked]),
        known=np.array(last),
    )


def _games(rows: list[dict[str, str]]) -> tuple[Indices, Indices]:
    """Game of every row, and the last row of that game: games come one after the other."""
    names = [(row["season"], row["team1"], row["team2"]) for row in rows]
    kinds = {name: k for k, name in enumerate(dict.fromkeys(names))}
    events = np.array([kinds[name] for name in names])
    last = np.searchsorted(events, events, side="right") - 1
    return events, last


def _march_madness(path: Path) -> Iterator[Stream]:
    # the file has the games in order, and within a game the clock runs: period up, seconds down
    rows = rows_of(path)
    claimed, outcomes = ([float(row[key]) for row in rows] for key in ("prob1", "prob1_outcome"))
    events, last = _games(rows)
    yield Stream(
        "basketball, in game", np.array(claimed), np.array(outcomes), events=events, known=last
    )


def _world_cup(path: Path) -> Iterator[Stream]:
    rows = rows_of(path)
    claimed, outcomes = three_way(rows)
    events, last = _games(rows)
    for column, name in enumerate(("win", "tie")):
        yield Stream(
            f"world cup, in game, {name}", claimed[:, column], outcomes[:, column],
            events=events, known=last,
        )  # fmt: skip


def _tennis(path: Path) -> Iterator[Stream]:
    rows = rows_of(path)
    days = sorted({row["forecast_date"] for row in rows})
    rounds = range(1, 8)
    by_day = {day: [row for row in rows if row["forecast_date"] == day] for day in days}
    # a round is over on the first day on which all of its forecasts are 0 or 1
    over = {
        k: next(
            (d for d in days if all(row[f"round_{k}"] in ("0.0", "1.0") for row in by_day[d])),
            "9999",
        )
        for k in rounds
    }

    def decided(row: dict[str, str], k: int) -> str:
        """The day on which it is known whether the player wins round k."""
        lost = [j for j in rounds if j < k and float(row[f"round_{j}_outcome"]) == 0]
        return over[min([*lost, k])]

    asked = [
        Asked(
            day,
            (row["player"], k),
            float(row[f"round_{k}"]),
            float(row[f"round_{k}_outcome"]),
            decided(row, k),
        )  # fmt: skip
        for day in days
        for row in by_day[day]
        for k in rounds
        if day < decided(row, k)  # what is decided is no forecast any more
    ]
    yield waiting_stream("tennis", asked)


def _rain_ahead(path: Path) -> Iterator[Stream]:
    """Leads one by one, then all of them: there a day's forecasts share its outcome."""
    source = path.stem.split("_")[1]
    rows = [row for row in rows_of(path) if row["actual"]]
    columns = {int(key.split("_")[0]): key for key in rows[0] if key.endswith("_days_out")}
    if set(columns) == {0}:  # nobody waits
        return
    by_lead = {
        lead: [ask for row in rows if (ask := _rain_forecast(row, lead, key)) is not None]
        for lead, key in columns.items()
    }
    for lead in RAIN_LEADS[source]:
        if by_lead.get(lead):
            days = "1 day" if lead == 1 else f"{lead} days"
            yield waiting_stream(f"rain, {source}, {days} ahead", by_lead[lead])
    every = [ask for asked in by_lead.values() for ask in asked]
    yield waiting_stream(f"rain, {source}, all leads", sorted(every, key=lambda ask: ask.made))


def _rain_forecast(row: dict[str, str], lead: int, key: str) -> Asked | None:
    """Made ``lead`` days before its day, whose outcome the forecasts of the next day know."""
    if not row[key] or not 0 <= float(row[key]) <= 100:  # other numbers stand for missing ones
        return None
    day = date.fromisoformat(row["date"])
    tomorrow = day + timedelta(days=1)
    made = day - timedelta(days=lead)
    return Asked(made, day, float(row[key]) / 100, float(row["actual"] == "True"), tomorrow)


READERS: tuple[tuple[str, Callable[[Path], Iterator[Stream]]], ...] = (
    ("march_madness_in_game_women.csv", _march_madness),
    ("world_cup_matches_in_game_women.csv", _world_cup),
    ("tennis_women.csv", _tennis),
    ("seattle_nws_forecast_log.csv", _rain_ahead),
    ("seattle_precip_forecast_log.csv", _rain_ahead),
)
"""File ↦ its reader."""
