"""Streams of (model's probability, outcome): made here, or read from public forecast logs."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fullswap.base.protocols import Points, Vector


@dataclass(frozen=True, eq=False)
class Stream:
    """Events in the order in which they came.

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
    """

    name: str
    claimed: Vector
    outcomes: Vector
    adaptive: Callable[[float], float] | None = None


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
    """Those of the public logs that lie in the folder; see docs/forecasting.md for their origin."""
    for name, reader in (
        ("mlb_games.csv", _baseball),
        ("club_soccer_matches.csv", _soccer),
        ("solar_flares_c1.csv", _flares),
        ("seattle_nws_forecast_log.csv", _rain),
        ("seattle_precip_forecast_log.csv", _rain),
    ):
        path = folder / name
        if path.is_file():
            yield from reader(path)


def soccer_classes(path: Path) -> tuple[Points, Points]:
    """Win, tie and loss: probabilities and outcomes, shape (T, 3) each."""
    rows = sorted(_rows(path), key=lambda row: row["date"])
    sides = ("prob1", "probtie", "prob2")
    claimed = np.array([[float(row[side]) for side in sides] for row in rows])
    outcomes = np.array([[float(row[f"{side}_outcome"]) for side in sides] for row in rows])
    return claimed / claimed.sum(axis=1, keepdims=True), outcomes


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _stream(name: str, pairs: list[tuple[float, float]]) -> Stream:
    claimed, outcomes = np.array(pairs, dtype=float).T
    valid = (claimed >= 0) & (claimed <= 1)  # other numbers stand for missing ones
    return Stream(name, claimed[valid], outcomes[valid])


def _baseball(path: Path) -> Iterator[Stream]:
    rows = _rows(path)[::-1]  # newest first in the file
    yield _stream("baseball", [(float(row["prob1"]), float(row["prob1_outcome"])) for row in rows])


def _soccer(path: Path) -> Iterator[Stream]:
    claimed, outcomes = soccer_classes(path)
    for column, name in enumerate(("home win", "tie")):
        yield Stream(f"soccer, {name}", claimed[:, column], outcomes[:, column])


def _flares(path: Path) -> Iterator[Stream]:
    rows = _rows(path)
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
    rows = [row for row in _rows(path) if row["0_days_out"] and row["actual"]]
    yield _stream(
        f"rain, {path.stem.split('_')[1]}",
        [(float(row["0_days_out"]) / 100, float(row["actual"] == "True")) for row in rows],
    )
