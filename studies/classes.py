"""Many classes: a coherent vector, calibrated class by class, beside what is in common use.

All play event by event, so that adversaries can answer each of them. Scores are of all events,
from the very first. ``studies.report.classes`` makes the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from studies.class_contenders import Contender, contenders
from studies.class_streams import CELLS, ClassStream, digits, image_segments, made, soft_bins
from studies.runs import Row

NAME = "classes"
BINS = 15
"""Of the hard-binned error of the top label."""


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    seed: int = 0
    few: int = 10
    few_events: int = 20_000
    few_runs: int = 3
    many: int = 100
    many_events: int = 10_000
    digit_runs: int = 3
    most_rows: int | None = None
    """Of the data sets; None: all."""


QUICK = Plan(
    few=4, few_events=200, few_runs=1, many=12, many_events=100, digit_runs=1, most_rows=150
)


def measure(plan: Plan) -> Iterator[Row]:
    """A row for every stream, contender and run."""
    for run in range(plan.few_runs):
        for stream in made(plan.few_events, plan.few, plan.seed + run):
            yield from scores("few", stream, plan.seed + run)
    for stream in made(plan.many_events, plan.many, plan.seed):
        yield from scores("many", stream, plan.seed)
    yield from scores("data", image_segments(plan.most_rows), plan.seed)
    for run in range(plan.digit_runs):
        yield from scores("data", digits(plan.seed + run, plan.most_rows), plan.seed + run)


def scores(part: str, stream: ClassStream, seed: int) -> Iterator[Row]:
    """A row a contender."""
    for name, make in contenders(stream, seed).items():
        vectors, declared, totals, labels = play(stream, make())
        rows = np.arange(len(labels))
        happened = np.zeros_like(vectors)
        happened[rows, labels] = 1
        confidence, hit = vectors[rows, declared], happened[rows, declared]
        everything = np.repeat(np.arange(stream.classes)[None], len(rows), axis=0)
        classwise, noise, beyond = soft_error(everything.ravel(), vectors.ravel(), happened.ravel())
        top, top_noise, top_beyond = soft_error(declared, confidence, hit)
        yield {
            "part": part, "stream": stream.name, "contender": name, "seed": seed,
            "events": len(labels), "classes": stream.classes,
            "adaptive": stream.adversary is not None,
            "classwise": points(classwise, len(rows)), "classwise_noise": points(noise, len(rows)),
            "top": points(top, len(rows)), "top_noise": points(top_noise, len(rows)),
            "classwise_beyond": beyond, "top_beyond": top_beyond,
            "ece": 100 * hard_error(confidence, hit),
            "brier": float(((vectors - happened) ** 2).sum(axis=1).mean()),
            "beside_one": float(np.abs(totals - 1).mean()),
        }  # fmt: skip


def play(stream: ClassStream, contender: Contender) -> tuple[Points, Indices, Vector, Indices]:
    """Vectors, declared labels, sums before division, and what happened."""
    adversary = None if stream.adversary is None else stream.adversary()
    events, counts = len(stream.labels), np.full(stream.classes, 1 / stream.classes)
    vectors, totals = np.empty((events, stream.classes)), np.empty(events)
    declared, labels = np.empty(events, dtype=int), stream.labels.copy()
    for event in range(events):
        model = counts / counts.sum() if stream.claimed is None else stream.claimed[event]
        forecast = contender.predict(model)
        if adversary is not None:
            labels[event] = adversary.choose(event, forecast.vector)
        contender.resolve(int(labels[event]))
        counts[labels[event]] += 1
        vectors[event], declared[event], totals[event] = forecast
    return vectors, declared, totals, labels


def soft_error(kinds: Indices, said: Vector, happened: Vector) -> tuple[float, float, float]:
    """Σ over kinds and soft bins of R²/W, its mean if every forecast were right, how far beyond.

    W sums the weights of the bin, R weight times outcome minus forecast; bins are hats on the grid
    sin²(πi/2N), so that a forecast counts in two of them. "Beyond" counts standard deviations,
    roughly: as if neighbouring bins had nothing to do with each other.
    """
    left, weight = soft_bins(said)
    size = (int(kinds.max()) + 1) * (CELLS + 1)

    def summed(values: Vector, power: int = 1) -> Vector:
        cell = kinds * (CELLS + 1) + left
        near = np.bincount(cell, weight**power * values, size)
        far = np.bincount(cell + 1, (1 - weight) ** power * values, size)
        return np.asarray(near + far, dtype=float)

    mass = np.maximum(summed(np.ones(len(said))), 1e-12)
    error = float((summed(happened - said) ** 2 / mass).sum())
    variances = summed(said * (1 - said), 2) / mass
    noise, spread = float(variances.sum()), float(np.sqrt(2 * (variances**2).sum()))
    return error, noise, (error - noise) / max(spread, 1e-12)


def hard_error(confidence: Vector, hit: Vector) -> float:
    """ECE: Σ_b |Σ(hit − confidence)|/T over bins of equal width."""
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(place, hit - confidence, BINS)).sum() / len(hit))


def points(error: float, events: int) -> float:
    """The root of an error per event, in percentage points."""
    return 100 * float(np.sqrt(error / events))
