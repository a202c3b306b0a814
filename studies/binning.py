"""Multi-scale binning: small full swap regret for convex Lipschitz losses on [0, 1].

A convex loss with slopes in [−1, 1] is a law of v on [0, 1]: P(v ≤ x) = (ℓ'(x+) + 1)/2, and its
minimisers are the medians. A *bin* (r, b) plays the point b and promises of the average law it
meets

    P(v > b + 2r), P(v < b − 2r) ≤ ½ − γ/4r    and    P(v ≥ b), P(v ≤ b) ≥ ½ − γ/2r:

the best point is within 2r of b and slopes at b are at most γ/r, so that b loses at most 2γ a
round to any other point. No bin keeps its promises against every law, but against each law *some*
bin does: a fine one where there is mass about the median, a coarse one where there is little.
Hence the zero-sum game between bins, which carry weights w on their promises, and outcomes v has
value at most 0, and playing a solution lets no promise fail by much.

Four experts a bin, one for each promise, carry second-order weights in closed form: with
rewards u = κ(r, b)·E h, U = Σu and V = Σu²,  w = Σ_j η_j·exp(η_j·U − η_j²·V),  η_j = 2^(−j).
Since exp(x − x²) ≤ 1 + x for x ≥ −½, a value ≤ 0 keeps Σ_i Σ_j exp(η_j·U_i − η_j²·V_i) from
growing, so that U ≤ ln(4MJ)/η_j + η_j·V for each of the 4M experts and each of the J rates.

That argument needs a value ≤ 0 and not the least one. Bins cost regret until their promises
have been tested, so the coarsest game that can be won is played: only where coarse bins break
their promises do finer ones come in. Against the worst adversary found, for 300 to 3,000 rounds,
the game over all bins has 1.5 to 1.9 times the regret.

After Hu, Schneider and Wu [HSW26], who play the game over all bins, by linear programming.
Here the simplex method does it, on arrays that are kept. Measured in CPU milliseconds a round, at
1/γ = 128: HiGHS 34, the same game by the simplex method 7, coarsest first 0.12; at 1/γ = 64: 10,
1.3 and 0.05.

The unit of the compiled functions is γ = 1/n. Bins are sorted from coarse to fine, so that those of
scale ρ and above are the first m. Their game depends on the outcome v only through the cell
(p·ρ, (p + 1)·ρ) that holds it: at a multiple of ρ each entry is at most its values in the two cells
beside it.

Symbols: scales, places (M,) integers r/γ, b/γ · state (M, 4, 2), sums U = Σu and V = Σu² of the
rewards of the experts (r, b, ξ), ξ in the order +2, −2, +1, −1 · rates η (J,) ·
logs (M, 4), ln w · weights w (M, 4) · game, its first rows × m entries ·
below, up_to (n + 1,): P(v < p·γ) and P(v ≤ p·γ) · shares κ (M,) ·
tableau (rows + 1, m + rows + 1) and basis (rows,), or larger.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from fullswap.base.protocols import Indices, Vector

GAME_TOLERANCE = 1e-7
"""Values of games up to this count as 0."""
TOLERANCE = 1e-11
"""Reduced costs and pivots below this count as 0; entries of the tableau start within [½, 3/2]."""
PERTURBATION = 1e-9
"""By how much right-hand sides differ from 1: the value is that close to the optimum."""


class MultiScale:
    """The algorithm on [0, 1], fed with laws; deterministic.

    ``cells`` is 1/γ, a power of 2 from 2 on; scales r are 1, ½, …, γ; ``rates`` is J. Bins lose up
    to 2γ a round, √T in all if γ = 1/(2√T). ``scales`` and ``places`` (M,) are r/γ and b/γ of every
    bin, from coarse to fine; after ``mix``, ``shares`` (M,) is κ, ``value`` that of the game just
    solved (at most 0; the largest weight is 1) and ``finest`` its smallest scale.

    Examples
    --------
    >>> binning = MultiScale(cells=8, rates=4)
    >>> certain = np.linspace(0, 1, 9) >= 0.5  # v = ½ in every round
    >>> for _ in range(100):
    ...     binning.learn((np.linspace(0, 1, 9) > 0.5) * 1.0, certain * 1.0)
    >>> binning.mix()[0] / 8
    array([0.5])
    """

    def __init__(self, cells: int, rates: int) -> None:
        self.cells = n = cells
        scales = [n >> k for k in range(n.bit_length())]
        self.scales: Indices = np.concatenate([np.full(n // r + 1, r) for r in scales])
        self.places: Indices = np.concatenate([np.arange(0, n + 1, r) for r in scales])
        self._levels = np.column_stack((scales, np.cumsum([n // r + 1 for r in scales])))
        m = len(self.scales)
        self.rates: Vector = 0.5 ** np.arange(1.0, rates + 1)
        self.state = np.zeros((m, 4, 2))
        self.logs = np.full((m, 4), math.log(self.rates.sum()))
        self.shares = np.zeros(m)
        self.value, self.finest = math.nan, math.nan
        self._solved = False
        tableau, basis = np.zeros((n + 1, m + n + 1)), np.zeros(n, np.int64)
        self._work = np.zeros((m, 4)), np.zeros((n, m)), tableau, basis

    def mix(self) -> tuple[Indices, Vector]:
        """Multiples of γ in play and their probabilities: Σ_r κ(r, b) at b."""
        if not self._solved:
            self.value, level = choose(
                self.scales, self.places, self._levels, self.logs, *self._work, self.shares
            )
            if not self.value <= GAME_TOLERANCE:
                raise RuntimeError(f"the game of this round has value {self.value:.3g} above 0")
            self.finest = float(self._levels[level, 0]) / self.cells
            self._solved = True
        total = np.bincount(self.places, self.shares, self.cells + 1)
        indices = np.flatnonzero(total)
        return indices, total[indices] / total.sum()

    def learn(self, below: Vector, up_to: Vector) -> None:
        """Learn from a law: P(v < x) and P(v ≤ x) at the multiples x of γ, shape (n + 1,) each."""
        self.mix()
        reward(self.scales, self.places, self.shares, below, up_to, self.state)
        log_weights(self.state, self.rates, self.shares, self.logs)
        self._solved = False


@njit
def log_weights(state, rates, shares, logs):
    """ln Σ_j η_j·exp(η_j·U − η_j²·V), for the bins in play (no others have changed)."""
    for i in range(state.shape[0]):
        if shares[i] == 0.0:
            continue
        for k in range(4):
            total, top = 0.0, -np.inf
            for j in range(rates.shape[0]):
                power = rates[j] * (state[i, k, 0] - rates[j] * state[i, k, 1])
                if power > top:
                    total = total * np.exp(top - power) + rates[j]
                    top = power
                else:
                    total += rates[j] * np.exp(power - top)
            logs[i, k] = top + np.log(total)


@njit
def scaled_weights(logs, m, weights):
    """w of the first m bins, divided by the largest."""
    largest = -np.inf
    for i in range(m):
        for k in range(4):
            largest = max(largest, logs[i, k])
    for i in range(m):
        for k in range(4):
            weights[i, k] = np.exp(logs[i, k] - largest)


@njit
def pose_game(scales, places, weights, m, cell, rows, game):
    """game[p, i] = Σ_ξ w[i, ξ]·h_ξ(v) of bin i for v in cell p, cells being ``cell`` units long."""
    for i in range(m):
        r, b = scales[i], places[i]
        far, near = 0.5 - 0.25 / r, 0.5 - 0.5 / r
        same = near * (weights[i, 2] + weights[i, 3]) - far * (weights[i, 0] + weights[i, 1])
        for p in range(rows):
            v = p * cell
            value = same
            if v >= b:
                value -= weights[i, 2]
                if v >= b + 2 * r:
                    value += weights[i, 0]
            else:
                value -= weights[i, 3]
                if v < b - 2 * r:
                    value += weights[i, 1]
            game[p, i] = value


@njit
def _pivot(tableau, rows, width, row, column):
    scale = 1.0 / tableau[row, column]
    for j in range(width + 1):
        tableau[row, j] *= scale
    tableau[row, column] = 1.0
    for i in range(rows + 1):
        factor = tableau[i, column]
        if i != row and factor != 0.0:
            for j in range(width + 1):
                tableau[i, j] -= factor * tableau[row, j]
            tableau[i, column] = 0.0


@njit
def solve_game(game, rows, m, tableau, basis, shares):
    """Write κ that minimises max_p (game @ κ)[p]; True if the simplex method came to its end.

    With P = 1 + game/(2·largest entry) this is max Σx subject to P·x ≤ 1, x ≥ 0, and κ = x/Σx;
    the slacks are a first basis.
    """
    width = m + rows
    scale = 1e-300
    for p in range(rows):
        for i in range(m):
            scale = max(scale, 2.0 * abs(game[p, i]))
    for p in range(rows):
        for i in range(m):
            tableau[p, i] = 1.0 + game[p, i] / scale
        for i in range(m, width):
            tableau[p, i] = 0.0
        tableau[p, m + p] = 1.0
        # right-hand sides that are all equal tie, and ties make the method cycle
        tableau[p, width] = 1.0 + PERTURBATION * ((p * 0.6180339887498949) % 1.0)
        basis[p] = m + p
    for i in range(width + 1):
        tableau[rows, i] = -1.0 if i < m else 0.0
    solved = False
    for _ in range(50 * (rows + 1)):
        column, steepest = -1, -TOLERANCE
        for i in range(width):
            if tableau[rows, i] < steepest:
                column, steepest = i, tableau[rows, i]
        if column < 0:
            solved = True
            break
        row, least = -1, np.inf
        for p in range(rows):
            if tableau[p, column] > TOLERANCE:
                ratio = tableau[p, width] / tableau[p, column]
                if ratio < least:
                    row, least = p, ratio
        if row < 0:
            break
        _pivot(tableau, rows, width, row, column)
        basis[row] = column
    total = 0.0
    shares[:] = 0.0
    for p in range(rows):
        if basis[p] < m and tableau[p, width] > TOLERANCE:
            shares[basis[p]] = tableau[p, width]
            total += tableau[p, width]
    if total > 0.0:
        for i in range(m):
            shares[i] /= total
    return solved and total > 0.0


@njit
def worst_cell(game, rows, m, shares):
    """max_p (game @ κ)[p]."""
    worst = -np.inf
    for p in range(rows):
        total = 0.0
        for i in range(m):
            total += game[p, i] * shares[i]
        worst = max(worst, total)
    return worst


@njit
def choose(scales, places, levels, logs, weights, game, tableau, basis, shares):
    """Solve the games of growing fineness until one has value ≤ 0; return (value, level).

    ``levels`` (K, 2): smallest scale and number of bins of each game. The value is NaN if the
    simplex method failed on the last game.
    """
    n = scales[0]
    value = np.nan
    for k in range(levels.shape[0]):
        cell, m = levels[k]
        rows = n // cell
        scaled_weights(logs, m, weights)
        pose_game(scales, places, weights, m, cell, rows, game)
        solved = solve_game(game, rows, m, tableau, basis, shares)
        value = worst_cell(game, rows, m, shares) if solved else np.nan
        if value <= 0.0:
            return value, k
    return value, levels.shape[0] - 1


@njit
def reward(scales, places, shares, below, up_to, state):
    """U += u and V += u² with u = κ·E h_ξ, for every expert of the bins in play."""
    n = scales[0]
    for i in range(scales.shape[0]):
        share = shares[i]
        if share == 0.0:
            continue
        r, b = scales[i], places[i]
        far, near = 0.5 - 0.25 / r, 0.5 - 0.5 / r
        above = 1.0 - up_to[b + 2 * r] if b + 2 * r < n else 0.0
        beneath = below[b - 2 * r] if b - 2 * r > 0 else 0.0
        values = (above - far, beneath - far, near - (1.0 - below[b]), near - up_to[b])
        for k in range(4):
            u = share * values[k]
            state[i, k, 0] += u
            state[i, k, 1] += u * u
