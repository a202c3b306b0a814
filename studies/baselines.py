"""What one would use instead: the whole game as matrices, solved by the usual methods.

All of these take payoff matrices of two players and answer with a table of probabilities, so
their time and memory grow with the number of actions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import process_time

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.games.game import StructuredGame
from fullswap.games.lp import best_equilibrium, check_size
from fullswap.games.verify import verify

MOST_BYTES = 2_000_000_000
"""Memory that a run may take."""
_VERIFIED_ENTRIES = 50_000_000
"""Entries of the payoff vectors of all joint actions up to which ``verify`` takes a whole table."""
HASTE = 30.0
"""How much faster weights are learned than the theorem says."""
_LEAST = -60.0
"""Least logarithm of a weight, next to the largest: numbers near 1e-308 are slow to calculate."""
_POWERS = 60
"""Steps of power iteration before the stationary distribution is found by elimination."""


@dataclass(frozen=True, eq=False)
class Found:
    """What a baseline ended with: probabilities of joint actions (None if none), and why.

    ``seconds`` of CPU are told by those that run in a process of their own.
    """

    joint: Points | None
    rounds: int = 0
    note: str = ""
    seconds: float | None = None


def table_gap(game: StructuredGame, joint: Points) -> float:
    """The largest swap gap of a two-player profile given as a table of probabilities (n, n').

    The same as ``verify(game, joint).gap`` without a row for each of the n·n' joint actions:

        gap = max_p Σ_a [max_v ⟨v, w_a⟩ − ⟨v(a), w_a⟩] ,   w_a = Σ_b joint(a, b)·w(b).

    Examples
    --------
    >>> from fullswap.games import zoo
    >>> table_gap(zoo.chicken(), np.array([[0.0, 0.0], [0.0, 1.0]]))   # both yield; dare pays 7
    1.0
    """
    gaps = []
    for player, own in enumerate(game.actions):
        probabilities = joint if player == 0 else joint.T
        columns = [np.arange(probabilities.shape[1])] * 2  # the player's own is not looked at
        directions = probabilities @ game.vectors(player, columns)
        obeyed = np.einsum("ij,ij->", own.embed(np.arange(len(probabilities))), directions)
        gaps.append(float(own.best(directions)[1].sum() - obeyed) + 2 * game.errors[player])
    return max(max(gaps), 0.0)


def checked_gap(game: StructuredGame, joint: Points) -> float:
    """By ``verify``, or by ``table_gap`` where the table has too many entries for it."""
    entries = joint.size * max(s.dim for s in game.actions)
    return verify(game, joint).gap if entries <= _VERIFIED_ENTRIES else table_gap(game, joint)


def matrices(game: StructuredGame) -> list[Points]:
    """Payoff matrices (n, n') of both players."""
    return game.table([np.arange(s.size or 0) for s in game.actions])


def linear_programme(game: StructuredGame, budget: float) -> Found:
    """One programme on the whole game, for the equilibrium of largest welfare."""
    try:
        check_size([s.size for s in game.actions])
    except ValueError:
        sizes = [s.size or 0 for s in game.actions]
        entries = sum(math.prod(sizes) * (k - 1) for k in sizes)
        return Found(None, note=f"too large: {entries:.1e} constraint entries")
    joint = best_equilibrium(matrices(game), seconds=budget)
    return Found(joint, note="" if joint is not None else f"no solution in {budget:g} s")


def dense_blum_mansour(
    game: StructuredGame, gap: float, budget: float, rounds: int | None = None
) -> Found:
    """Both players by Blum and Mansour's reduction over all of their actions, in plain numpy.

    Action a of n has a learner with multiplicative weights over all n actions; a round plays the
    stationary distribution p of the learners' rows, and the learner of a is charged the share
    p_a of the payoffs, at the rate 30·√(8 ln n / (1 + Σ p_a)). The theorem has 1 in place of 30;
    of 1, 3, 10 and 30, tried on the games of ``equilibria`` with 30 to 300 actions, 30 was mostly
    the quickest, and 1 took 8 to 170 times as many rounds where both ended.

    Stops when the mean of the joint distributions is an equilibrium to within ``gap``, or when
    the ``budget`` of CPU seconds or of rounds is spent.

    Examples
    --------
    >>> from fullswap.games import zoo
    >>> result = dense_blum_mansour(zoo.chicken(), 0.01, 10.0)
    >>> table_gap(zoo.chicken(), result.joint) <= 0.01
    True
    """
    started = process_time()
    sizes = [s.size or 0 for s in game.actions]
    needed = 8 * (3 * math.prod(sizes) + 3 * sum(k * k for k in sizes))
    if needed > MOST_BYTES:
        return Found(None, note=_too_large(needed))
    first, second = matrices(game)
    sides = [_Side(first), _Side(np.ascontiguousarray(second.T))]
    total = np.zeros(first.shape)
    played, look = 0, 1
    while True:
        mine, theirs = sides[0].play(), sides[1].play()
        sides[0].learn(mine, theirs)
        sides[1].learn(theirs, mine)
        total += mine[:, None] * theirs
        played += 1
        over = process_time() - started >= budget or played == rounds
        if played >= look or over:
            # looks take their share of the time, so they become rarer
            look = played + max(1, played // 8)
            joint = total / total.sum()
            if table_gap(game, joint) <= gap:
                return Found(joint, played)
            if over:
                limit = f"{budget:g} s" if played != rounds else f"{rounds} rounds"
                return Found(joint, played, f"stopped after {limit}")


class _Side:
    """The learners of one player, payoffs (own actions, others' actions) scaled to [0, 1]."""

    def __init__(self, payoffs: Points) -> None:
        n = len(payoffs)
        self._payoffs = payoffs / (float(np.ptp(payoffs)) or 1.0)
        self._totals = np.zeros((n, n))
        self._charged = np.zeros(n)
        self._mixed = np.full(n, 1 / n)

    def play(self) -> Vector:
        """The stationary distribution of the learners' rows."""
        n = len(self._totals)
        rates = HASTE * np.sqrt(8 * math.log(max(n, 2)) / (1 + self._charged))
        rows = rates[:, None] * self._totals
        rows -= rows.max(axis=1, keepdims=True)
        np.maximum(rows, _LEAST, out=rows)
        np.exp(rows, out=rows)
        rows /= rows.sum(axis=1, keepdims=True)
        self._mixed = stationary(rows, self._mixed)
        return self._mixed

    def learn(self, own: Vector, other: Vector) -> None:
        """Charge each learner its share of what every action would have paid."""
        self._totals += own[:, None] * (self._payoffs @ other)
        self._charged += own


def stationary(rows: Points, guess: Vector) -> Vector:
    """p with p = p·rows: power iteration from a guess, elimination where that is slow.

    Examples
    --------
    >>> stationary(np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([0.5, 0.5])).round(6).tolist()
    [0.75, 0.25]
    """
    mixed = guess
    for _ in range(_POWERS):
        before, mixed = mixed, mixed @ rows
        if np.abs(mixed - before).sum() < 1e-9:
            return mixed / mixed.sum()
    system = rows.T - np.eye(len(rows))
    system[-1] = 1.0
    right = np.zeros(len(rows))
    right[-1] = 1.0
    try:
        mixed = np.maximum(np.linalg.solve(system, right), 0.0)
    except np.linalg.LinAlgError:  # several recurrent classes, up to rounding: any of them will do
        pass
    return mixed / mixed.sum()


def _too_large(needed: float) -> str:
    return f"too large: {needed / 1e9:.2g} GB of matrices"
