"""Streams of (model's probability, outcome): made here, or read from public forecast logs."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector


@dataclass(frozen=True, eq=False)
class Stream:
    """Forecasts in the order in which they were made.

    Attributes
    ----------
    name : str
        What the log is.
    claimed : Vector
        The model's probability of yes, shape (T,).
    outcomes : Vector
        What happened, shape (T,); for an adaptive stream only a place for it.
    adaptive : callable or None
        Mean of the forecast ↦ outcome, where the outcome is chosen against the forecaster.
    events : Indices or None
        Which event a forecast is about, shape (T,): forecasts of one event share its outcome.
        None: every forecast has an event of its own.
    known : Indices or None
        The forecast after which the outcome is known, shape (T,), the same for all forecasts of
        an event. None: its own, so that nobody waits.
    """

    name: str
    claimed: Vector
    outcomes: Vector
    adaptive: Callable[[float], float] | None = None
    events: Indices | None = None
    known: Indices | None = None

    @property
    def delayed(self) -> bool:
        """Whether forecasts are made while others wait for their outcome."""
        return self.known is not None

    def event_of(self) -> Indices:
        """The event of every forecast, numbered from 0 as they come."""
        if self.events is None:
            return np.arange(len(self.claimed))
        _, first, kinds = np.unique(self.events, return_index=True, return_inverse=True)
        order = np.argsort(np.argsort(first))
        numbered: Indices = order[kinds]
        return numbered

    def resolved(self) -> list[list[int]]:
        """Events whose outcome is known after each forecast, in the order of their first one."""
        events = self.event_of()
        known = np.arange(len(events)) if self.known is None else self.known
        after: list[list[int]] = [[] for _ in events]
        _, first = np.unique(events, return_index=True)
        for event, when in enumerate(known[first].tolist()):
            after[when].append(event)
        return after


def made_streams(events: int, seed: int) -> Iterator[Stream]:
    """A calibrated model, an overconfident one, two that drift, and an adversary."""
    rng = np.random.default_rng(seed)
    position = np.arange(events) / events

    def drawn(name: str, slope: Any, shift: Any) -> Stream:
        logits = rng.normal(0.0, 1.2, events)
        chance = 1 / (1 + np.exp(-(slope * logits + shift)))
        claimed = 1 / (1 + np.exp(-logits))
        return Stream(name, claimed, (rng.random(events) < chance).astype(float))

    yield drawn("calibrated", 1.0, 0.0)
    yield drawn("overconfident", 0.4, -0.3)
    yield drawn("drifting", 0.7, 1.5 * np.sin(2 * math.pi * 2 * position))
    yield drawn("flipped half-way", np.where(position < 0.5, 1.0, -1.0), 0.0)
    noise = 1 / (1 + np.exp(-rng.normal(0.0, 1.2, events)))
    # between two multiples of 5 %: whoever is certain of one of them is wrong every time
    yield Stream("adversarial", noise, np.zeros(events), lambda mean: float(mean < 0.525))


def read_logs(folder: Path) -> Iterator[Stream]:
    """Those of the public logs that lie in the folder; docs/recalibrators.md has their origin."""
    from studies import waiting_logs

    for name, reader in (
        ("mlb_games.csv", _baseball),
        ("wnba_games.csv", _women_basketball),
        ("club_soccer_matches.csv", _soccer),
        ("solar_flares_c1.csv", _flares),
        ("seattle_nws_forecast_log.csv", _rain),
        ("seattle_precip_forecast_log.csv", _rain),
        *waiting_logs.READERS,
    ):
        path = folder / name
        if path.is_file():
            yield from reader(path)


def three_way(rows: list[dict[str, str]]) -> tuple[Points, Points]:
    """Win, tie and loss: probabilities and outcomes, shape (T, 3) each."""
    sides = ("prob1", "probtie", "prob2")
    claimed = np.array([[float(row[side]) for side in sides] for row in rows])
    outcomes = np.array([[float(row[f"{side}_outcome"]) for side in sides] for row in rows])
    return claimed / claimed.sum(axis=1, keepdims=True), outcomes


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a log, by column."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _stream(name: str, pairs: list[tuple[float, float]]) -> Stream:
    claimed, outcomes = np.array(pairs, dtype=float).T
    valid = (claimed >= 0) & (claimed <= 1)  # other numbers stand for missing ones
    return Stream(name, claimed[valid], outcomes[valid])


def _baseball(path: Path) -> Iterator[Stream]:
    yield _newest_first("baseball", path)


def _women_basketball(path: Path) -> Iterator[Stream]:
    yield _newest_first("basketball, WNBA", path)


def _newest_first(name: str, path: Path) -> Stream:
    rows = rows_of(path)[::-1]
    return _stream(name, [(float(row["prob1"]), float(row["prob1_outcome"])) for row in rows])


def _soccer(path: Path) -> Iterator[Stream]:
    claimed, outcomes = three_way(sorted(rows_of(path), key=lambda row: row["date"]))
    for column, name in enumerate(("home win", "tie")):
        yield Stream(f"soccer, {name}", claimed[:, column], outcomes[:, column])


def _flares(path: Path) -> Iterator[Stream]:
    rows = rows_of(path)
    for forecaster in ("NICT", "SIDC", "ASSA", "MCSTAT"):
        yield _stream(
            f"flares, {forecaster}",
            [
                (float(row[forecaster]), float(row["rlz.C1"]))
                for row in rows
                if "NA" not in (row[forecaster], row["rlz.C1"])
            ],
        )


def _rain(path: Path) -> Iterator[Stream]:
    # the same-day forecast: its outcome is known before the next one is made
    rows = [row for row in rows_of(path) if row["0_days_out"] and row["actual"]]
    yield _stream(
        f"rain, {path.stem.split('_')[1]}",
        [(float(row["0_days_out"]) / 100, float(row["actual"] == "True")) for row in rows],
    )
