"""Events for a watch, and the same numbers worked out slowly."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from fullswap.base.protocols import Vector
from fullswap.kernels.watch_sums import EDGES
from fullswap.service.watch import Watch


@st.composite
def happenings(draw: Any, classes: int = 2, most: int = 45, soft: bool = True) -> list[dict]:
    """Events of up to three streams: said and ours (forecasts), y, weight, time."""
    found = []
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    for t in range(draw(st.integers(0, most))):
        rows = int(rng.choice([1, 1, 1, 2, 5]))
        said, ours = forecasts(rng, rows, classes), forecasts(rng, rows, classes)
        said[rng.random(rows) < 0.2] = np.nan
        y: Any = (
            float(rng.random() < 0.5) if classes == 2 else np.eye(classes)[rng.integers(classes)]
        )
        if soft and rng.random() < 0.1:
            y = float(rng.random()) if classes == 2 else rng.dirichlet(np.ones(classes))
        weight = float(rng.choice([1.0, 1.0, 0.5, 0.0]))
        found.append(
            {"place": int(rng.integers(3)), "said": said, "ours": ours, "y": y, "weight": weight,
             "time": float(t + rng.normal())}
        )  # fmt: skip
    return found


def forecasts(rng: np.random.Generator, rows: int, classes: int) -> np.ndarray:
    if classes == 2:
        return np.where(rng.random(rows) < 0.1, np.round(rng.random(rows)), rng.random(rows))
    table = rng.dirichlet(np.ones(classes), rows)
    return table / table.sum(axis=1, keepdims=True)


def give(watch: Watch, events: list[dict]) -> list[tuple[int, dict]]:
    """All in one call."""
    size = () if watch.classes == 2 else (watch.classes,)
    bounds = np.cumsum([0, *(len(e["ours"]) for e in events)])
    return watch.take(
        [e["place"] for e in events],
        np.concatenate([np.zeros((0, *size)), *(e["said"] for e in events)]),
        np.concatenate([np.zeros((0, *size)), *(e["ours"] for e in events)]),
        np.array([e["y"] for e in events]).reshape(-1, *size),
        [e["weight"] for e in events],
        [e["time"] for e in events],
        bounds,
    )  # fmt: skip


def made(classes: int = 2, run_length: float | None = 40.0, streams: int = 3) -> Watch:
    watch = Watch(classes, run_length, 0.02)
    watch.add(streams)
    return watch


def top(p: Any, y: Any) -> tuple[float, float]:
    """What is tallied of a forecast and its outcome."""
    if np.ndim(p) == 0:
        return float(p), float(y)
    at = int(np.argmax(p))
    return float(p[at]), float(y[at])


def slow_bins(events: list[dict], name: str) -> dict[int, list[float]]:
    """Bin ↦ Σ w, Σ w·p, Σ w·y, Σ w·p·(1 − p), variance."""
    bins: dict[int, list[float]] = {}
    for e in events:
        own: dict[int, float] = {}
        for forecast in e[name]:
            if np.isnan(forecast).any():
                continue
            p, y = top(forecast, e["y"])
            w = e["weight"] / len(e[name])
            b = int(np.searchsorted(EDGES, p, side="right"))
            sums = bins.setdefault(b, [0.0] * 5)
            for k, value in enumerate((w, w * p, w * y, w * p * (1 - p))):
                sums[k] += value
            own[b] = own.get(b, 0.0) + w * (p * (1 - p)) ** 0.5
        for b, deviation in own.items():
            bins[b][4] += deviation**2
    return bins


def slow_error(bins: dict[int, list[float]]) -> tuple[float, float]:
    """Error and what chance shows."""
    mass = sum(b[0] for b in bins.values())
    error = sum(abs(b[1] - b[2]) for b in bins.values())
    chance = 0.0
    for w, _, _, spread, variance in bins.values():
        alone = spread * w < 1.5 * variance
        chance += 2 * spread if alone else min((2 / np.pi * variance) ** 0.5, 2 * spread)
    return error / mass, chance / mass


def rain(n: int, seed: int, off: float = 0.0) -> tuple[Vector, Vector]:
    """Forecasts and outcomes; the chance is ``off`` higher in logits."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.05, 0.95, n)
    odds = p / (1 - p) * np.exp(off)
    return p, (rng.random(n) < odds / (1 + odds)).astype(float)


def give_rain(watch: Watch, p: Vector, y: Vector, place: int = 0, start: float = 0.0) -> list:
    times = start + np.arange(len(p))
    return watch.take([place] * len(p), p, np.full(len(p), 0.5), y, np.ones(len(p)), times)


def state(watch: Watch) -> list[bytes]:
    return [watch.dump(place) for place in range(len(watch))]
