"""Games that solvers are compared on, with gaps that nothing of the package calculates."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.games import StructuredGame, from_matrices, zoo
from studies.rivals import matrix_gap

SEEDS = 5
"""Of random games."""
Gap = Callable[[Points, Vector], float]


@dataclass(frozen=True)
class Posed:
    """A game, its range of payoffs, and the gap of joint actions (m, players) with weights (m,)."""

    name: str
    game: StructuredGame
    scale: float
    gap: Gap
    matrices: tuple[Points, Points] | None = None


def posed(quick: bool = False) -> Iterator[Posed]:
    """All games, made one at a time."""
    for n in (100,) if quick else (100, 300, 1000):
        for seed in range(1 if quick else SEEDS):
            rng = np.random.default_rng([seed, n])
            yield _matrices(f"random {n}, seed {seed}", rng.random((n, n)), rng.random((n, n)))
    yield _matrices("all-pay auction 100", *all_pay(100))
    yield _matrices("Colonel Blotto 84", *blotto(6, 4))
    yield _matrices("traveller's dilemma 100", *traveller(100))
    for dim in (5,) if quick else (5, 8, 12):
        yield _unit_vectors(10_000, dim)
    for firms in (8, 24):
        yield _cournot(firms)
    yield _ring(300)
    yield _ring(100_000)
    if not quick:
        yield _matrices("all-pay auction 3000", *all_pay(3000))
        yield _unit_vectors(100_000, 5)
        yield _unit_vectors(1_000_000, 5)


def all_pay(n: int) -> tuple[Points, Points]:
    """Bids 0 … n − 1 for a prize worth 0.83·n, lost either way; ties are split.

    Were it worth n, uniform play would be an equilibrium, where some methods happen to begin.
    """
    bids, prize = np.arange(n, dtype=float), 0.83 * n
    wins = (bids[:, None] > bids) + 0.5 * (bids[:, None] == bids)
    return prize * wins - bids[:, None], prize * (1 - wins) - bids


def blotto(troops: int, fields: int) -> tuple[Points, Points]:
    """Troops on fields; who has more fields wins."""
    every = itertools.product(range(troops + 1), repeat=fields)
    splits = np.array([split for split in every if sum(split) == troops])
    won = np.sign(np.sign(splits[:, None] - splits).sum(axis=2)).astype(float)
    return won, -won


def traveller(n: int) -> tuple[Points, Points]:
    """Claims 2 … n + 1: both get the lower one, and 2 go from the higher to the lower."""
    claims = np.arange(2, n + 2)
    pays = np.minimum.outer(claims, claims) + 2.0 * np.sign(claims - claims[:, None])
    return pays, pays.T.copy()


def _matrices(name: str, first: Points, second: Points) -> Posed:
    def gap(support: Points, weights: Vector) -> float:
        joint = np.zeros(first.shape)
        np.add.at(joint, tuple(support.astype(int).T), weights)
        return matrix_gap(first, second, joint)

    scale = max(float(np.ptp(first)), float(np.ptp(second)))
    return Posed(name, from_matrices(first, second, name=name), scale, gap, (first, second))


def _embedded(name: str, V: Points, W: Points, V2: Points, W2: Points, scale: float) -> Posed:
    """u_1 = ⟨V[i], W[j]⟩, u_2 = ⟨V2[i], W2[j]⟩."""

    def gap(support: Points, weights: Vector) -> float:
        i, j = support.astype(int).T
        return max(_gain(V, i, W[j], weights), _gain(W2, j, V2[i], weights))

    small = len(V) * len(W) <= 1_000_000
    tables = (V @ W.T, V2 @ W2.T) if small else None
    game = StructuredGame.from_embeddings(V, W, V2, W2, name)
    return Posed(name, game, scale, gap, tables)


def _gain(own: Points, actions: Indices, met: Points, weights: Vector) -> float:
    total = 0.0
    for action in np.unique(actions):
        here = actions == action
        values = own @ (weights[here] @ met[here])
        total += float(values.max() - values[action])
    return total


def _unit_vectors(n: int, dim: int) -> Posed:
    rng = np.random.default_rng([n, dim])
    drawn = rng.standard_normal((4, n, dim))
    drawn /= np.linalg.norm(drawn, axis=2, keepdims=True)
    V, W, V2, W2 = drawn
    return _embedded(f"unit vectors, d = {dim}, n = {n:,}", V, W, V2, W2, scale=2.0)


def _ring(n: int) -> Posed:
    angles = 2 * np.pi * np.arange(n) / n

    def at(angle: Vector) -> Points:
        return np.column_stack((np.cos(angle), np.sin(angle)))

    return _embedded(
        f"ring {n:,}", at(angles), at(angles + 1), at(angles + 1), at(angles), scale=2.0
    )


def _cournot(firms: int) -> Posed:
    def gap(support: Points, weights: Vector) -> float:
        total, worst = support.sum(axis=1), 0.0
        for p in range(firms):
            gain = 0.0
            for output in np.unique(support[:, p]):
                here = support[:, p] == output
                mass = weights[here].sum()
                price = 1 - (weights[here] @ (total[here] - output)) / mass
                best = min(max(price / 2, 0.0), 1.0)
                gain += mass * (best * (price - best) - output * (price - output))
            worst = max(worst, gain)
        return worst

    return Posed(f"Cournot, {firms} firms", zoo.cournot(firms), firms - 0.75, gap)
