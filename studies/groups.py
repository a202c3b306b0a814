"""``python -m studies groups``: what it is worth to say which groups an event belongs to.

Ways to mend a model, on the same streams; what is scored is what was issued. Everybody is not among
the groups of an event.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import fullswap as fs
from fullswap.base.protocols import Indices, Vector
from studies.report.compared import Comparison, beside, blocks, command, means
from studies.runs import Row

NAME = "groups"
BINS = 10
"""Bins of equal width in which forecasts are compared with outcomes."""
OURS, IGNORING, OWN = "fullswap, groups told", "groups ignored", "one a group"
MODEL, TRUTH = "model itself", "true chances"
COLUMNS = "everybody", "everybody_noise", "worst", "worst_noise", "brier"
HEADS = ("everybody, points off (chance)", "worst group, points off (chance)", "Brier score")


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    seed: int = 0
    runs: int = 3
    events: int = 10_000


QUICK = Plan(runs=1, events=300)


class GroupStream(NamedTuple):
    """Events in order: groups of each, a model's probabilities, and outcomes.

    Outcomes were drawn with these chances; all arrays have shape (T,).
    """

    name: str
    members: list[tuple[str, ...]]
    claimed: Vector
    outcomes: Vector
    chances: Vector

    @property
    def groups(self) -> list[str]:
        """Names of all groups, in order."""
        return sorted({name for names in self.members for name in names})

    def places(self) -> list[Indices]:
        """Groups of every event as indices: everybody is 0, ``groups[j]`` is j + 1."""
        index = {name: j + 1 for j, name in enumerate(self.groups)}
        return [np.array([0, *(index[name] for name in names)]) for names in self.members]


def segments(events: int, seed: int) -> Iterator[GroupStream]:
    """A model in 5 or 50 segments that do not overlap: wrong in each in its own way, or right.

    The k-th largest segment has a share of events proportional to 1/k. Logits of the model are
    normal; the true logit of segment g is slope_g·logit + shift_g.
    """
    for count in (5, 50):
        for wrong in (True, False):
            rng = np.random.default_rng([seed, 2, count, wrong])
            shares = 1 / np.arange(1, count + 1)
            own = rng.choice(count, events, p=shares / shares.sum())
            logits = rng.normal(0.0, 1.2, events)
            shift = rng.normal(0.0, 0.8, count) if wrong else np.zeros(count)
            slope = np.exp(rng.normal(0.0, 0.25, count)) if wrong else np.ones(count)
            chances = 1 / (1 + np.exp(-(slope[own] * logits + shift[own])))
            yield GroupStream(
                f"{count} segments, {'each biased' if wrong else 'none biased'}",
                [(f"segment {g + 1}",) for g in own.tolist()],
                1 / (1 + np.exp(-logits)),
                (rng.random(events) < chances).astype(float),
                chances,
            )


def measure(plan: Plan) -> Iterator[Row]:
    """A row for every stream, way to forecast, and run."""
    for seed in range(plan.seed, plan.seed + plan.runs):
        for stream in segments(plan.events, seed):
            yield from scores(stream, seed)


def scores(stream: GroupStream, seed: int) -> Iterator[Row]:
    """A row for each way to forecast, and for what is known without one."""
    for name, issued in said(stream, seed).items():
        points, noise, beyond = errors(stream, issued, stream.outcomes)
        worst = 1 + int(np.argmax(beyond[1:]))
        yield {
            "stream": stream.name, "contender": name, "seed": seed,
            "events": len(issued), "groups": len(stream.groups),
            "everybody": float(points[0]), "everybody_noise": float(noise[0]),
            "worst": float(points[worst]), "worst_noise": float(noise[worst]),
            "worst_group": stream.groups[worst - 1],
            "brier": float(np.mean((issued - stream.outcomes) ** 2)),
        }  # fmt: skip


def said(stream: GroupStream, seed: int) -> dict[str, Vector]:
    """What each says, by name, shape (T,); "one a group" learns the events of that group alone."""
    claimed, everything = stream.claimed, np.arange(len(stream.members))

    def issued(place: int, own: Indices, **more: Any) -> Vector:
        seeded = int(np.random.SeedSequence([seed, place]).generate_state(1)[0])
        settings = {"groups": stream.groups} if more else {}
        forecaster: Any = fs.Recalibrator(seed=seeded, **settings)
        record = forecaster.run(claimed[own], stream.outcomes[own], progress=False, **more)
        result: Vector = record.issued
        return result

    pooled = issued(0, everything)
    separate = np.empty_like(pooled)
    for place, group in enumerate(stream.groups, 1):
        own = np.array([event for event in everything if group in stream.members[event]])
        separate[own] = issued(place, own)
    told = issued(0, everything, groups=stream.members)
    known = {TRUTH: stream.chances, MODEL: claimed}
    return {**known, IGNORING: pooled, OWN: separate, OURS: told}


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


def text(rows: list[Row], said: str, plan: Plan) -> str:
    """The table."""
    about = (
        f"{said} Means of {plan.runs} runs of {plan.events:,} events. Points are percentage "
        f"points, over {BINS} bins; in brackets what chance alone would show if every forecast "
        "were right. The worst group is the one that is most clearly off, in standard deviations "
        "of chance."
    )
    return f"{about}\n\n{blocks(means(rows, COLUMNS), HEADS, _cells, OURS)}"


def _cells(own: dict[str, float]) -> tuple[str, str, str]:
    return (
        beside(own["everybody"], own["everybody_noise"]),
        beside(own["worst"], own["worst_noise"]),
        f"{own['brier']:.4f}",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return command(Comparison(NAME, Plan(), QUICK, measure, text), arguments, __doc__)
