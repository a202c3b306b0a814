"""``python -m studies literal``: gradient descent with the paper's own learning rates.

Two proofs of the paper lose constants (docs/errata.md, E2 and E3), so its two bounds on gradient
descent are not proved as they are stated. Are they exceeded? Here both schedules run as they are
printed, [FKO25, Algorithm 3] and [FKO25, Algorithm 5], against losses that are made to hurt them,
and the scaled external regret after every round is divided by the bound that the paper states for
it, with the true constants of the losses.

Losses are g·‖x − z‖² on a ball of diameter 1, the centres z up to ``reach`` outside it (α = 2,
L = 2·(1 + reach)), for the second schedule on [0, 1] and piecewise linearised with gap ε. All runs
of a setting go on at once, one row of an array each.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NAME = "literal"
Array = NDArray[np.float64]
ALPHA = 2.0
"""Strong convexity of the squared distance."""
REACHES = (0.0, 0.5, 2.0)
DIMENSIONS = (1, 2, 4)
GAPS = (1 / 2, 1 / 4, 1 / 8, 1 / 32)
ROUNDS = 200
SEEDS = 8
"""Runs of each adversary with each kind of scales."""


@dataclass(frozen=True)
class Outcome:
    """Many runs of one schedule: how many, and the largest regret as a share of the bound."""

    result: str
    runs: int
    largest: float


def strongly_convex_rate(mass: Array) -> Array:
    """R'(G) of [FKO25, Algorithm 3]."""
    return 1 / (ALPHA * np.maximum(mass, 1))


def nearly_strongly_convex_rate(mass: Array, lipschitz: float, gap: float) -> Array:
    """R'(G) of [FKO25, Algorithm 5], with c = √2·ε/L."""
    c = np.sqrt(2) * gap / lipschitz
    late = c / np.sqrt(np.maximum(mass, 1e-300))
    early = 2 / (ALPHA * np.maximum(mass, 1))
    return np.where(mass >= max(1.0, (2 / (ALPHA * c)) ** 2), late, early)


# --- Adversaries: centres of a round, for all runs, from what each run plays now and played before.


def _away(x: Array, mean: Array, t: int, rng: np.random.Generator) -> Array:
    return -x + 1e-9 * rng.standard_normal(x.shape)


def _from_the_mean(x: Array, mean: Array, t: int, rng: np.random.Generator) -> Array:
    return mean - x + 1e-9 * rng.standard_normal(x.shape)


def _random(x: Array, mean: Array, t: int, rng: np.random.Generator) -> Array:
    return rng.standard_normal(x.shape)


def _one_side(x: Array, mean: Array, t: int, rng: np.random.Generator) -> Array:
    return np.broadcast_to(np.eye(1, x.shape[1]), x.shape)


def _turning(x: Array, mean: Array, t: int, rng: np.random.Generator) -> Array:
    side = 1.0 if int(np.log2(t + 1)) % 2 else -1.0  # stretches that double in length
    return side * _one_side(x, mean, t, rng)


Adversary = Callable[[Array, Array, int, np.random.Generator], Array]
Scale = Callable[[int, int, np.random.Generator], Array]
ADVERSARIES: tuple[Adversary, ...] = (
    _away, _from_the_mean, _random, _one_side, _turning,
)  # fmt: skip
SCALES: tuple[Scale, ...] = (
    lambda t, size, rng: np.ones(size),
    lambda t, size, rng: rng.random(size),
    lambda t, size, rng: np.full(size, min(1.0, 0.01 * 1.05**t)),
    lambda t, size, rng: (rng.random(size) < 0.1).astype(float),
)
"""Round, runs, generator ↦ the scales g."""


def _runs(dim: int, rng: np.random.Generator) -> Array:
    """Starts: in half of the runs on the sphere, far from the best point; inside in the rest."""
    starts = rng.standard_normal((SEEDS, dim))
    starts /= np.maximum(np.linalg.norm(starts, axis=1, keepdims=True), 1e-12)
    return 0.5 * starts * np.where(np.arange(SEEDS) % 2, 1.0, rng.random(SEEDS))[:, None]


def _into_ball(points: Array, radius: float) -> Array:
    length = np.linalg.norm(points, axis=1, keepdims=True)
    return points * np.minimum(1.0, radius / np.maximum(length, 1e-300))


def _onto_sphere(points: Array, radius: float) -> Array:
    length = np.linalg.norm(points, axis=1, keepdims=True)
    return radius * points / np.maximum(length, 1e-300)


def strongly_convex(seed: int = 0) -> Outcome:
    """[FKO25, Lemma 24]: (L²/2α)·(ln(G + 1) + 1), against [FKO25, Algorithm 3]."""
    largest, runs = 0.0, 0
    for dim in DIMENSIONS:
        for reach in REACHES:
            for adversary in ADVERSARIES:
                for scale in SCALES:
                    rng = np.random.default_rng([seed, runs])
                    ratio = _strongly_convex_run(dim, reach, adversary, scale, rng)
                    largest, runs = max(largest, ratio), runs + SEEDS
    return Outcome("FKO25, Lemma 24", runs, largest)


def _strongly_convex_run(
    dim: int, reach: float, adversary: Adversary, scale: Scale, rng: np.random.Generator
) -> float:
    x = _runs(dim, rng)
    mass, paid = np.zeros(SEEDS), np.zeros(SEEDS)
    first, second = np.zeros((SEEDS, dim)), np.zeros(SEEDS)  # Σ g·z and Σ g·‖z‖²
    lipschitz, largest = 2 * (1 + reach), 0.0
    for t in range(ROUNDS):
        mean = first / np.maximum(mass, 1e-300)[:, None]
        z = _onto_sphere(adversary(x, mean, t, rng), 0.5 + reach)
        g = scale(t, SEEDS, rng)
        mass, first = mass + g, first + g[:, None] * z
        second = second + g * np.square(z).sum(axis=1)
        paid = paid + g * np.square(x - z).sum(axis=1)
        best = _into_ball(first / np.maximum(mass, 1e-300)[:, None], 0.5)
        least = mass * np.square(best).sum(axis=1) - 2 * (best * first).sum(axis=1) + second
        bound = lipschitz**2 / (2 * ALPHA) * (np.log1p(mass) + 1)
        largest = max(largest, float(((paid - least) / bound).max()))
        rate = strongly_convex_rate(mass)
        x = _into_ball(x - (rate * g)[:, None] * 2 * (x - z), 0.5)
    return largest


def nearly_strongly_convex(seed: int = 0) -> Outcome:
    """[FKO25, Thm 20]: 2√2·εL√G + (L²/α)·(ln(G + 1) + 1), against [FKO25, Algorithm 5]."""
    largest, runs = 0.0, 0
    for gap in GAPS:
        for reach in REACHES:
            for adversary in ADVERSARIES:
                for scale in SCALES:
                    rng = np.random.default_rng([seed, runs, 1])
                    ratio = _nearly_strongly_convex_run(gap, reach, adversary, scale, rng)
                    largest, runs = max(largest, ratio), runs + SEEDS
    return Outcome("FKO25, Thm 20", runs, largest)


def _nearly_strongly_convex_run(
    gap: float, reach: float, adversary: Adversary, scale: Scale, rng: np.random.Generator
) -> float:
    grid = np.arange(round(1 / gap) + 1) * gap - 0.5
    x = _runs(1, rng)[:, 0]
    mass, paid = np.zeros(SEEDS), np.zeros(SEEDS)
    total, first = np.zeros((SEEDS, grid.size)), np.zeros(SEEDS)  # losses of the points; Σ g·z
    lipschitz, largest = 2 * (1 + reach), 0.0
    every = np.arange(SEEDS)
    for t in range(ROUNDS):
        mean = first / np.maximum(mass, 1e-300)
        z = _onto_sphere(adversary(x[:, None], mean[:, None], t, rng), 0.5 + reach)[:, 0]
        g = scale(t, SEEDS, rng)
        losses = np.square(grid - z[:, None])
        cell = np.clip(np.floor((x + 0.5) / gap).astype(int), 0, grid.size - 2)
        slope = (losses[every, cell + 1] - losses[every, cell]) / gap
        paid = paid + g * (losses[every, cell] + slope * (x - grid[cell]))
        mass, total, first = mass + g, total + g[:, None] * losses, first + g * z
        # a sum of piecewise linear losses is least at a grid point
        regret = paid - total.min(axis=1)
        bound = 2 * np.sqrt(2) * gap * lipschitz * np.sqrt(mass)
        bound = bound + lipschitz**2 / ALPHA * (np.log1p(mass) + 1)
        largest = max(largest, float((regret / bound).max()))
        rate = nearly_strongly_convex_rate(mass, lipschitz, gap)
        x = np.clip(x - rate * g * slope, -0.5, 0.5)
    return largest


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both; 1 if a bound was exceeded."""
    parser = argparse.ArgumentParser("python -m studies literal", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    asked = parser.parse_args(arguments)
    outcomes = [strongly_convex(asked.seed), nearly_strongly_convex(asked.seed)]
    for outcome in outcomes:
        share = f"largest regret {outcome.largest:.2f} of the stated bound"
        print(f"[{outcome.result}], {outcome.runs:,} runs of {ROUNDS:,} rounds: {share}")
    return int(any(outcome.largest > 1 for outcome in outcomes))
