"""``python -m studies classes``: vectors of many classes, beside what is in common use.

A model is over-confident; all who mend it learn event by event, and are scored on all events, from
the very first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import fullswap as fs
from fullswap.base.protocols import Indices, Points, Vector
from studies.report.compared import Comparison, beside, blocks, command, means
from studies.runs import Row

NAME = "classes"
CELLS = 15
"""Of the soft bins."""
OURS, MODEL = "fullswap, class-wise", "model itself"
TEMPERATURE, VECTOR = "temperature, online", "vector scaling, online"
_TINY = 1e-9
"""Probabilities are at least this before their logarithm is taken."""
COLUMNS = "classwise", "classwise_noise", "top", "top_noise", "brier"
HEADS = ("class-wise, points off (chance)", "top label, points off (chance)", "Brier score")


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    seed: int = 0
    few: int = 10
    few_events: int = 20_000
    few_runs: int = 3
    many: int = 100
    many_events: int = 10_000


QUICK = Plan(few=4, few_events=200, few_runs=1, many=12, many_events=100)


class ClassStream(NamedTuple):
    """Events in order: a model's vectors (T, K), and the classes (T,)."""

    name: str
    claimed: Points
    labels: Indices


def modelled(events: int, classes: int, seed: int) -> ClassStream:
    """Logits are 1.8 times what they should be, and shifted; shares follow Zipf's law."""
    rng = np.random.default_rng([seed, classes])
    shares = 1 / np.arange(1, classes + 1)
    logits = rng.normal(0.0, 1.5, (events, classes)) + np.log(shares / shares.sum())
    claimed = softmax(1.8 * logits + rng.normal(0.0, 0.5, classes))
    return ClassStream(f"{classes} classes", claimed, drawn(softmax(logits), rng))


def drawn(chances: Points, rng: np.random.Generator) -> Indices:
    """A class from each row."""
    above = np.cumsum(chances, axis=1) > rng.random(len(chances))[:, None]
    return np.asarray(np.where(above.any(axis=1), above.argmax(axis=1), chances.shape[1] - 1))


def softmax(logits: Points) -> Points:
    """e^x/Σe^x over the last axis."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def temperature(model: Points, labels: Indices) -> Points:
    """softmax(a·log p): one Newton step an event down the log loss, from a = 1."""
    slope, precision, vectors = 1.0, 1.0, np.empty_like(model)
    for event, logs in enumerate(np.log(np.maximum(model, _TINY))):
        vector = vectors[event] = softmax(slope * logs)
        mean = float(vector @ logs)
        precision += float(vector @ (logs - mean) ** 2)
        slope += (float(logs[labels[event]]) - mean) / precision
    return vectors


def vector_scaling(model: Points, labels: Indices) -> Points:
    """softmax(a_k·log p_k + b_k): a slope and a shift a class, one AdaGrad step an event.

    p has the right temperature already: without that, a hundred slopes that start at 1 take too
    long, and the rival would be weaker than it needs to be.
    """
    classes, vectors = model.shape[1], np.empty_like(model)
    weights, squares = np.vstack((np.ones(classes), np.zeros(classes))), np.full((2, classes), 1e-8)
    features = np.ones((2, classes))
    for event, logs in enumerate(np.log(np.maximum(temperature(model, labels), _TINY))):
        features[0] = logs
        vectors[event] = softmax((weights * features).sum(axis=0))
        excess = vectors[event].copy()
        excess[labels[event]] -= 1
        slope = excess * features
        squares += slope**2
        weights -= 0.1 * slope / np.sqrt(squares)
    return vectors


def ours(stream: ClassStream, seed: int) -> tuple[Points, Indices]:
    """Vectors as they are, and the labels declared."""
    recalibrator = fs.Recalibrator(classes=stream.claimed.shape[1], seed=seed)
    record: Any = recalibrator.run(stream.claimed, stream.labels, progress=False)
    return record.mean, record.declared


def measure(plan: Plan) -> Iterator[Row]:
    """A row for every stream, contender and run."""
    for seed in range(plan.seed, plan.seed + plan.few_runs):
        yield from scores(modelled(plan.few_events, plan.few, seed), seed)
    yield from scores(modelled(plan.many_events, plan.many, plan.seed), plan.seed)


def scores(stream: ClassStream, seed: int) -> Iterator[Row]:
    """A row a contender; others declare their top class."""
    model, labels = stream.claimed, stream.labels
    classes = model.shape[1]
    others = {
        MODEL: model,
        TEMPERATURE: temperature(model, labels),
        VECTOR: vector_scaling(model, labels),
    }
    said = {name: (vectors, vectors.argmax(axis=1)) for name, vectors in others.items()}
    rows = np.arange(len(labels))
    happened = np.eye(classes)[labels]
    everything = np.tile(np.arange(classes), len(rows))
    for name, (vectors, declared) in {**said, OURS: ours(stream, seed)}.items():
        confidence, hit = vectors[rows, declared], happened[rows, declared]
        classwise, noise = soft_error(everything, vectors.ravel(), happened.ravel())
        top, top_noise = soft_error(declared, confidence, hit)
        yield {
            "stream": stream.name, "contender": name, "seed": seed, "events": len(labels),
            "classwise": points(classwise, len(rows)), "classwise_noise": points(noise, len(rows)),
            "top": points(top, len(rows)), "top_noise": points(top_noise, len(rows)),
            "brier": float(((vectors - happened) ** 2).sum(axis=1).mean()),
        }  # fmt: skip


def soft_bins(values: Vector) -> tuple[Indices, Vector]:
    """Left neighbour on the grid sin²(πi/2N) and the weight of it; the right one has the rest.

    Examples
    --------
    >>> left, weight = soft_bins(np.array([0.0, 0.5, 1.0]))
    >>> left.tolist(), weight.round(3).tolist()
    ([0, 7, 14], [1.0, 0.5, 0.0])
    """
    grid = np.sin(np.pi * np.arange(CELLS + 1) / (2 * CELLS)) ** 2
    left = np.clip(np.searchsorted(grid, values, side="right") - 1, 0, CELLS - 1)
    weight = (grid[left + 1] - values) / (grid[left + 1] - grid[left])
    return left, np.clip(weight, 0.0, 1.0)


def soft_error(kinds: Indices, said: Vector, happened: Vector) -> tuple[float, float]:
    """Σ over kinds and soft bins of R²/W, and its mean if every forecast were right.

    W sums the weights of the bin, R weight times outcome minus forecast; bins are hats on the grid
    sin²(πi/2N), so that a forecast counts in two of them.
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
    return error, float((summed(said * (1 - said), 2) / mass).sum())


def points(error: float, events: int) -> float:
    """The root of an error per event, in percentage points."""
    return 100 * float(np.sqrt(error / events))


def text(rows: list[Row], said: str, plan: Plan) -> str:
    """The table."""
    about = (
        f"{said} {plan.few} classes: {plan.few_events:,} events, means of {plan.few_runs} runs; "
        f"{plan.many} classes: {plan.many_events:,} events, one run. Points are percentage points, "
        "in brackets what chance alone would show if every forecast were right; errors are in soft "
        "bins. The Brier score is summed over the classes."
    )
    return f"{about}\n\n{blocks(means(rows, COLUMNS), HEADS, _cells, OURS)}"


def _cells(own: dict[str, float]) -> tuple[str, ...]:
    return (
        beside(own["classwise"], own["classwise_noise"]),
        beside(own["top"], own["top_noise"]),
        f"{own['brier']:.4f}",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return command(Comparison(NAME, Plan(), QUICK, measure, text), arguments, __doc__)
