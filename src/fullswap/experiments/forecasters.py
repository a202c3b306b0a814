"""Ours beside the usual recalibrators: calibration error, Brier score, time an event.

One run plays every stream against every contender. Forecasts are scored after the warm-up
(``WARM_UP``); for the calibration error all are rounded to multiples of 5 %, because a continuous
forecast is hardly ever made twice. The times are those of the loop of single events from Python;
ours run as an array (`Recalibrator.run`) is timed beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fullswap.experiments.logs import Stream, made_streams, read_logs
from fullswap.experiments.recalibrators import WARM_UP, Contender, Ours, contenders
from fullswap.forecasting import Recalibrator
from fullswap.metrics import brier_score, l2_calibration_error
from fullswap.protocols import Vector

GRID = 20
"""Forecasts are compared on multiples of 1/GRID."""


@dataclass(frozen=True)
class Score:
    """One contender on one stream."""

    stream: str
    events: int
    contender: str
    calibration: float
    """Σ_p n_p·(p − ȳ_p)² / T over forecasts rounded to the grid."""
    noise: float
    """What a calibrated forecaster would have there, on average: Σ_p p·(1 − p) / T."""
    brier: float
    microseconds: float
    """An event."""


def compare(
    events: int, seed: int, folder: Path | None, advance: Callable[[int, int], None]
) -> list[Score]:
    """Every contender on every stream: made ones, and the logs of a folder if it is given."""
    for _ in _scores(next(made_streams(500, seed)), seed):
        pass  # compile and import: neither is part of an event
    streams = [*made_streams(events, seed)]
    if folder is not None:
        streams += read_logs(folder)
    scores: list[Score] = []
    for done, stream in enumerate(streams):
        advance(done, len(streams))
        scores += _scores(stream, seed)
    return scores


def _scores(stream: Stream, seed: int) -> Iterator[Score]:
    events = len(stream.claimed)
    start = int(WARM_UP * events)
    for name, contender in contenders(events, seed).items():
        forecasts, outcomes, seconds = _play(stream, contender)
        shown = {name: forecasts}
        if isinstance(contender, Ours):
            shown = {f"{name}, issued": np.array(contender.issued), f"{name}, mean": forecasts}
        for label, values in shown.items():
            yield _score(stream, label, values, outcomes, start, seconds)
        if isinstance(contender, Ours) and stream.adaptive is None:
            seconds = _time_of_run(stream, seed)
            yield _score(stream, f"{name}, as one run", forecasts, outcomes, start, seconds)


def _play(stream: Stream, contender: Contender) -> tuple[Vector, Vector, float]:
    claimed, outcomes = stream.claimed.tolist(), stream.outcomes.tolist()
    forecasts = np.empty(len(claimed))
    began = time.process_time()
    for t, p in enumerate(claimed):
        forecasts[t] = contender.predict(p)
        if stream.adaptive is not None:
            outcomes[t] = stream.adaptive(forecasts[t])
        contender.update(outcomes[t])
    return forecasts, np.array(outcomes), time.process_time() - began


def _time_of_run(stream: Stream, seed: int) -> float:
    recalibrator = Recalibrator(seed=seed)
    recalibrator.run(stream.claimed[:1], stream.outcomes[:1])
    began = time.process_time()
    recalibrator.run(stream.claimed[1:], stream.outcomes[1:])
    return time.process_time() - began


def _score(
    stream: Stream, name: str, forecasts: Vector, outcomes: Vector, start: int, seconds: float
) -> Score:
    scored, happened = np.clip(forecasts[start:], 0.0, 1.0), outcomes[start:]
    rounded = np.rint(scored * GRID) / GRID
    levels = np.unique(rounded)
    return Score(
        stream.name,
        len(forecasts),
        name,
        l2_calibration_error(happened, rounded) / len(scored),
        float((levels * (1 - levels)).sum()) / len(scored),
        brier_score(happened, scored),
        seconds / len(forecasts) * 1e6,
    )
