"""Ours beside the usual recalibrators: calibration error, Brier score, log loss, time per event.

Every stream is played against every contender. Forecasts are scored after the warm-up
(``WARM_UP``), and once more over the first events (``FIRST``), where nobody has learnt much. For
the calibration error all are rounded to multiples of 5 %, because a continuous forecast is hardly
ever made twice; Brier score and log loss are those of the forecasts as they are. Times are those of
the loop of single events from Python; ours run as an array (`Recalibrator.run`) is timed too.

Outcomes are learnt when they are known: before the next forecast, or later, as the log has it. They
never depend on the draw of their own event. The adversary's depend on the mean of a forecast, which
is known before the draw.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Vector
from fullswap.metrics import (
    DistinctForecastsWarning,
    brier_score,
    l2_calibration_error,
    log_loss,
)
from studies.fits import significant
from studies.logs import Stream, made_streams, read_logs
from studies.recalibrators import (
    GRID,
    WARM_UP,
    Contender,
    Ours,
    contenders,
    make_recalibrator,
)
from studies.runs import Job, Part, Row, number, rows_where

AS_ONE_RUN = "as one run"
"""Of ours: the same forecasts, timed as a run over arrays."""
FIRST = 250
"""Events of a cold start."""
_EVENTS = {True: 5_000, False: 20_000}
_SEEDS = {True: 5, False: 10}
_MICROSECONDS = 65.0
"""CPU time per event of all contenders together, about."""


@dataclass(frozen=True)
class Score:
    """One contender on one stream."""

    stream: str
    events: int
    contender: str
    calibration: float
    """Σ_p n_p·(p − ȳ_p)² / T over forecasts rounded to the grid."""
    noise: float
    """What a calibrated forecaster would have there, on average: Σ_p p·(1 − p) / T, and more where
    forecasts share an outcome."""
    brier: float
    log_loss: float | None
    """None: infinite."""
    first_brier: float
    """Over the first events, from the very first one."""
    first_log_loss: float | None
    microseconds: float
    """Per forecast."""
    delayed: bool = False
    """Whether forecasts waited for their outcomes."""
    outcomes: int | None = None
    """Events, where there are fewer than forecasts."""
    guaranteed: float | None = None
    """Most calibration error per event over the whole stream, on average over the draws."""


def jobs(quick: bool, seed: int) -> list[Job]:
    """A job for each made stream and seed."""
    events = _EVENTS[quick]
    names = [stream.name for stream in made_streams(1, seed)]
    return [
        Job(
            on_made,
            {"stream": name, "events": events, "seed": stream_seed},
            events * _MICROSECONDS / 1e6,
        )
        for stream_seed in range(seed, seed + _SEEDS[quick])
        for name in names
    ]


@cache
def part_with_logs(folder: Path) -> Part:
    """The part with a job for every stream of the public logs that lie in a folder.

    Recorded streams are what they are: only the seed of our draws is drawn, and only once.
    """
    known = {name: len(stream.claimed) for name, stream in _recorded(str(folder)).items()}
    if not known:
        raise ValueError(f"folder must hold one of the public logs, got {str(folder)!r}")

    def with_logs(quick: bool, seed: int) -> list[Job]:
        recorded = [
            Job(
                # no argument: results do not depend on where the logs lie
                partial(on_recorded, folder=str(folder)),
                {"stream": name, "recorded": True, "seed": seed},
                events * _MICROSECONDS / 1e6,
            )
            for name, events in known.items()
        ]
        return jobs(quick, seed) + recorded

    return Part(PART.name, with_logs, summarise, timed=True, prepare=warm_up)


def on_made(stream: str, events: int, seed: int) -> list[Row]:
    """Scores of all contenders on a made stream."""
    played = next(each for each in made_streams(events, seed) if each.name == stream)
    return [asdict(score) for score in scores(played, seed)]


def on_recorded(stream: str, recorded: bool, seed: int, folder: str) -> list[Row]:
    """Scores of all contenders on a stream of a log."""
    return [asdict(score) for score in scores(_recorded(folder)[stream], seed)]


@lru_cache(maxsize=1)
def _recorded(folder: str) -> dict[str, Stream]:
    """All streams of a folder: reading a log takes longer than playing a short one."""
    return {stream.name: stream for stream in read_logs(Path(folder))}


def warm_up() -> None:
    """Compile and import: neither is part of an event."""
    for _ in scores(next(made_streams(500, 0)), 0):
        pass


def summarise(rows: Sequence[Row]) -> dict[str, Any]:
    """Scores by stream and contender: means over the seeds, medians for times."""
    streams = []
    for name in dict.fromkeys(row["stream"] for row in rows):
        here = rows_where(rows, stream=name)
        means = [
            _mean(str(contender), rows_where(here, contender=contender))
            for contender in dict.fromkeys(row["contender"] for row in here)
        ]
        streams.append(
            {
                "stream": name,
                "recorded": bool(here[0].get("recorded")),
                "delayed": bool(here[0].get("delayed")),
                "outcomes": here[0].get("outcomes"),
                "events": int(number(here[0], "events")),
                "seeds": len({row["seed"] for row in here}),
                "contenders": means,
            }
        )
    return {"grid": GRID, "warm_up": WARM_UP, "first": FIRST, "streams": streams}


def _mean(contender: str, rows: list[Row]) -> dict[str, Any]:
    means: dict[str, float | None] = {
        key: significant(fmean(number(row, key) for row in rows))
        for key in ("calibration", "noise", "brier", "first_brier")
    }
    for key in ("log_loss", "first_log_loss"):  # infinite on average, if it is in one run
        finite = all(key in row for row in rows)
        means[key] = significant(fmean(number(row, key) for row in rows)) if finite else None
    times = significant(median(number(row, "microseconds") for row in rows))
    score = {"contender": contender, **means, "microseconds": times}
    if all("guaranteed" in row for row in rows):
        score["guaranteed"] = significant(max(number(row, "guaranteed") for row in rows))
    return score


def scores(stream: Stream, seed: int) -> Iterator[Score]:
    """Every contender on a stream."""
    events = stream.event_of()
    mass = int(events.max()) + 1
    for name, contender in contenders(len(events), seed, mass < len(events)).items():
        forecasts, outcomes, seconds = _play(stream, contender)
        if not isinstance(contender, Ours):
            yield _score(stream, name, forecasts, outcomes, seconds)
            continue
        issued = _score(stream, f"{name}, issued", np.array(contender.issued), outcomes, seconds)
        guarantee = contender.guarantee
        yield replace(issued, guaranteed=None if guarantee is None else guarantee / mass)
        yield _score(stream, f"{name}, mean", forecasts, outcomes, seconds)
        if stream.adaptive is None and not stream.delayed:
            seconds = _time_of_run(stream, seed)
            yield _score(stream, f"{name}, {AS_ONE_RUN}", forecasts, outcomes, seconds)


def _play(stream: Stream, contender: Contender) -> tuple[Vector, Vector, float]:
    """Forecasts, outcomes and seconds; an event is resolved when its outcome is known."""
    claimed, outcomes = stream.claimed.tolist(), stream.outcomes.tolist()
    events, resolved = stream.event_of(), stream.resolved()
    first = np.unique(events, return_index=True)[1].tolist()  # where the outcome of an event is
    forecasts = np.empty(len(claimed))
    began = time.process_time()
    for t, (p, event, done) in enumerate(zip(claimed, events.tolist(), resolved, strict=True)):
        forecasts[t] = contender.predict(p, event)
        if stream.adaptive is not None:
            outcomes[t] = stream.adaptive(forecasts[t])
        for over in done:
            contender.resolve(over, outcomes[first[over]])
    return forecasts, np.array(outcomes), time.process_time() - began


def _time_of_run(stream: Stream, seed: int) -> float:
    recalibrator = make_recalibrator(seed)
    recalibrator.run(stream.claimed[:1], stream.outcomes[:1])
    began = time.process_time()
    recalibrator.run(stream.claimed[1:], stream.outcomes[1:])
    return time.process_time() - began


def _score(stream: Stream, name: str, forecasts: Vector, outcomes: Vector, seconds: float) -> Score:
    events = stream.event_of()
    forecasts = np.clip(forecasts, 0.0, 1.0)
    late = slice(int(WARM_UP * len(forecasts)), None)
    early = events < FIRST
    rounded, happened = np.rint(forecasts[late] * GRID) / GRID, outcomes[late]
    shared = int(events.max()) + 1
    return Score(
        stream.name,
        len(forecasts),
        name,
        _calibration(happened, rounded),
        expected_by_chance(rounded, events[late]),
        brier_score(happened, forecasts[late]),
        _finite(log_loss(happened, forecasts[late])),
        brier_score(outcomes[early], forecasts[early]),
        _finite(log_loss(outcomes[early], forecasts[early])),
        seconds / len(forecasts) * 1e6,
        stream.delayed,
        shared if shared < len(events) else None,
    )


def _calibration(happened: Vector, rounded: Vector) -> float:
    """Σ_p n_p·(p − ȳ_p)² / T over forecasts on the grid, however few."""
    with warnings.catch_warnings():
        # a short stream may well say everything once: the noise beside it tells
        warnings.simplefilter("ignore", DistinctForecastsWarning)
        return l2_calibration_error(happened, rounded) / len(happened)


def expected_by_chance(forecasts: Vector, events: Indices) -> float:
    """Calibration error per forecast of a calibrated forecaster who makes these forecasts.

    Of the n_p forecasts at p, c_e are about the event e and share its outcome: the sum of their
    outcomes has variance p·(1 − p)·Σ c_e², and the error at p is that over n_p. Outcomes of
    different p count as independent.

    Examples
    --------
    >>> expected_by_chance(np.array([0.5, 0.5, 0.1]), np.array([0, 1, 2]))
    0.1133
    >>> expected_by_chance(np.array([0.5, 0.5, 0.1]), np.array([0, 0, 2]))
    0.1966
    """
    levels, kinds = np.unique(forecasts, return_inverse=True)
    pairs, repeats = np.unique(kinds * (int(events.max()) + 1) + events, return_counts=True)
    squares = np.bincount(pairs // (int(events.max()) + 1), repeats.astype(float) ** 2)
    spread = levels * (1 - levels) * squares / np.bincount(kinds)
    return float(spread.sum()) / len(forecasts)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


PART = Part("forecasters", jobs, summarise, timed=True, prepare=warm_up)
"""Recalibrators compared."""
