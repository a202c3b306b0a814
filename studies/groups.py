"""What it is worth to say which groups an event belongs to: ways to forecast, on the same streams.

All play event by event against the same rules, so that adversaries can answer each of them. What
is scored is what was issued. ``studies.report.groups`` makes the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fullswap.base.protocols import Vector
from studies.group_contenders import Contender, contenders
from studies.group_streams import BINS, GroupStream, overlapping, segments, soccer
from studies.runs import Row

NAME = "groups"


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    seed: int = 0
    runs: int = 3
    events: int = 20_000
    groups: int = 21
    """Everybody among them."""
    segment_events: int = 10_000
    most_matches: int | None = None
    """Of the log; None: all."""


QUICK = Plan(runs=1, events=300, groups=6, segment_events=300, most_matches=300)


def measure(plan: Plan, folder: Path | None = None) -> Iterator[Row]:
    """A row for every stream, contender and run; without a folder there is no log."""
    for run in range(plan.runs):
        seed = plan.seed + run
        for stream in overlapping(plan.events, plan.groups, seed):
            yield from scores("overlapping", stream, seed)
        for stream in segments(plan.segment_events, seed):
            yield from scores("segments", stream, seed)
    for stream in () if folder is None else soccer(folder):
        yield from scores("soccer", first(stream, plan.most_matches), plan.seed)


def first(stream: GroupStream, events: int | None) -> GroupStream:
    """Its first events, of those with a model and without an adversary."""
    if events is None or stream.claimed is None:
        return stream
    members, claimed = stream.members[:events], stream.claimed[:events]
    return GroupStream(stream.name, members, claimed, stream.outcomes[:events])


def scores(part: str, stream: GroupStream, seed: int) -> Iterator[Row]:
    """A row a contender."""
    for name, make in contenders(stream, seed).items():
        issued, outcomes = play(stream, make())
        points, noise, beyond = errors(stream, issued, outcomes)
        worst = 1 + int(np.argmax(beyond[1:]))
        yield {
            "part": part, "stream": stream.name, "contender": name, "seed": seed,
            "events": len(issued), "groups": len(stream.groups),
            "adaptive": stream.adversary is not None,
            "everybody": float(points[0]), "everybody_noise": float(noise[0]),
            "everybody_beyond": float(beyond[0]), "worst": float(points[worst]),
            "worst_noise": float(noise[worst]), "worst_beyond": float(beyond[worst]),
            "worst_group": stream.groups[worst - 1],
            "brier": float(np.mean((issued - outcomes) ** 2)),
        }  # fmt: skip


def play(stream: GroupStream, contender: Contender) -> tuple[Vector, Vector]:
    """What was issued and what happened, shape (T,) each."""
    adversary = None if stream.adversary is None else stream.adversary()
    issued, outcomes = np.empty(len(stream.members)), stream.outcomes.copy()
    for event in range(len(issued)):
        forecast = contender.predict(event)
        if adversary is not None:
            outcomes[event] = adversary.choose(event, forecast)
            adversary.learn(event, forecast.issued, outcomes[event])
        contender.resolve(float(outcomes[event]))
        issued[event] = forecast.issued
    return issued, outcomes


def errors(stream: GroupStream, said: Vector, happened: Vector) -> tuple[Vector, Vector, Vector]:
    """Points off in each group, what chance shows, and how far beyond; everybody first.

    Over bins b of equal width a group of T_j events is √(Σ_b E_b²/n_b/T_j) off, E_b the sum of
    outcome minus forecast. If every forecast were right the sum would be Σ_b v_b on average, v_b
    the mean of p(1 − p), with a variance of about 2·Σ_b v_b². Points are percentage points;
    "beyond" counts standard deviations: points alone would always name the smallest group.
    """
    places = stream.places()
    event = np.repeat(np.arange(len(places)), [len(own) for own in places])
    bins = np.minimum((said * BINS).astype(int), BINS - 1)
    cell = np.concatenate(places) * BINS + bins[event]
    shape = (1 + len(stream.groups), BINS)

    def summed(weights: Vector) -> Vector:
        sums: Vector = np.bincount(cell, weights[event], shape[0] * shape[1]).astype(float)
        return sums.reshape(shape)

    count = summed(np.ones(len(said)))
    some = np.maximum(count, 1)
    off = (summed(happened - said) ** 2 / some).sum(axis=1)
    variances = summed(said * (1 - said)) / some
    noise, spread = variances.sum(axis=1), np.sqrt(2 * (variances**2).sum(axis=1))
    total = count.sum(axis=1)
    beyond = (off - noise) / np.maximum(spread, 1e-12)
    return 100 * np.sqrt(off / total), 100 * np.sqrt(noise / total), beyond
