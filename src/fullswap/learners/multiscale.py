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

After [HSW26], who play the game over all bins, solved by linear programming. Here the simplex
method does it, on arrays that are kept. Measured in CPU milliseconds a round, at 1/γ = 128: HiGHS
34, the same game by the simplex method 7, coarsest first 0.12; at 1/γ = 64: 10, 1.3 and 0.05.
"""

from __future__ import annotations

import math

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.theorems.multiscale import GAME_TOLERANCE, multiscale_rates

MOST_CELLS = 512
"""1/γ at most: the finest game has 1/γ rows and about 2/γ columns."""
CELLS_PER_ROOT = 2.0
"""1/γ as a multiple of √T, before it is rounded to a power of 2."""
SLACK = 1e-9
"""Values of the finest game above this are handed to a second solver."""


def default_cells(horizon: int) -> int:
    """1/γ for so many rounds: the power of 2 nearest to 2·√T (by ratio), from 4 to 512.

    Examples
    --------
    >>> [default_cells(rounds) for rounds in (1, 300, 1_000, 10_000)]
    [4, 32, 64, 256]
    """
    # odd powers of 2 lie half-way: all of them go up, where round() would go to even exponents
    exponent = math.floor(math.log2(CELLS_PER_ROOT * math.sqrt(horizon)) + 0.5)
    return int(2 ** min(max(exponent, 2), MOST_CELLS.bit_length() - 1))


class MultiScale:
    """The algorithm on [0, 1], fed with laws; deterministic.

    ``cells`` is 1/γ, a power of 2 from 2 to 512; scales r are 1, ½, …, γ. Bins lose up to 2γ a
    round, √T in all if γ = 1/(2√T); at 512, from about T = 130,000 on, that is T/256, and the √T
    of the proof is lost. ``coarsest_first`` plays the coarsest game of value ≤ 0, otherwise it is
    the game over all bins, solved by "simplex" or by "highs" (scipy's, the slower of the two).

    ``scales`` and ``places`` (M,) are r/γ and b/γ of every bin, from coarse to fine; after ``mix``,
    ``shares`` (M,) is κ, ``value`` that of the game just solved (at most 0; the largest weight is
    1) and ``finest`` its smallest scale.

    Examples
    --------
    >>> binning = MultiScale(cells=8, horizon=100)
    >>> certain = np.linspace(0, 1, 9) >= 0.5  # v = ½ in every round
    >>> for _ in range(100):
    ...     binning.learn((np.linspace(0, 1, 9) > 0.5) * 1.0, certain * 1.0)
    >>> binning.mix()[0] / 8
    array([0.5])
    """

    def __init__(
        self, cells: int, horizon: int, coarsest_first: bool = True, solver: str = "simplex"
    ) -> None:
        n, rounds = checks.whole("cells", cells, 2, MOST_CELLS), checks.whole("horizon", horizon, 1)
        if n & (n - 1):
            checks.refuse("cells", "be a power of 2", cells)
        if checks.one_of("solver", solver, ("simplex", "highs")) == "highs" and coarsest_first:
            checks.refuse("solver", "be 'simplex' with coarsest_first=True", solver)
        self.cells = n
        self._compiled = solver == "simplex"
        scales = [n >> k for k in range(n.bit_length())]
        self.scales: Indices = np.concatenate([np.full(n // r + 1, r) for r in scales])
        self.places: Indices = np.concatenate([np.arange(0, n + 1, r) for r in scales])
        bins = np.cumsum([n // r + 1 for r in scales])
        self._levels = np.column_stack((scales, bins))
        self._first = 0 if coarsest_first else len(scales) - 1
        m = len(self.scales)
        self.rates: Vector = 0.5 ** np.arange(1.0, multiscale_rates(rounds) + 1)
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
            level = len(self._levels) - 1
            if self._compiled:
                from fullswap.kernels.multiscale import choose

                self.value, level = choose(
                    self.scales, self.places, self._levels, self._first, self.logs, *self._work,
                    self.shares,
                )  # fmt: skip
            if not (self._compiled and self.value <= SLACK):
                self.shares[:], self.value = solve_by_highs(self.game())
            if not self.value <= GAME_TOLERANCE:
                raise RuntimeError(f"the game of this round has value {self.value:.3g} above 0")
            self.finest = float(self._levels[level, 0]) / self.cells
            self._solved = True
        total = np.bincount(self.places, self.shares, self.cells + 1)
        indices = np.flatnonzero(total)
        return indices, total[indices] / total.sum()

    def learn(self, below: Vector, up_to: Vector) -> None:
        """Learn from a law: P(v < x) and P(v ≤ x) at the multiples x of γ, shape (n + 1,) each."""
        from fullswap.kernels.multiscale import log_weights, reward

        below, up_to = self._checked(below, "below"), self._checked(up_to, "up_to")
        self.mix()
        reward(self.scales, self.places, self.shares, below, up_to, self.state)
        log_weights(self.state, self.rates, self.shares, self.logs)
        self._solved = False

    def weights(self) -> Points:
        """Expert weights w of this round, shape (M, 4), the largest 1."""
        result: Points = np.exp(self.logs - self.logs.max())
        return result

    def game(self) -> Points:
        """Σ_ξ w·h_ξ(v) for v in each cell of length γ (rows) and each bin (columns)."""
        from fullswap.kernels.multiscale import pose_game

        n, m = self.cells, len(self.scales)
        game = np.zeros((n, m))
        pose_game(self.scales, self.places, self.weights(), m, 1, n, game)
        return game

    def _checked(self, law: Vector, name: str) -> Vector:
        array = checks.vector(name, law, self.cells + 1)
        checks.unit(name, array)
        if (np.diff(array) < 0).any():
            checks.refuse(name, "be in rising order", law)
        return array


def solve_by_highs(game: Points) -> tuple[Vector, float]:
    """κ that minimises max_p (game @ κ)[p], and that value, by linear programming."""
    from scipy.optimize import linprog

    rows, m = game.shape
    scale = float(np.abs(game).max()) or 1.0
    optimum = linprog(
        np.append(np.zeros(m), 1.0),
        np.column_stack((game / scale, -np.ones(rows))), np.zeros(rows),
        np.append(np.ones(m), 0.0)[None, :], [1.0],
        [(0.0, None)] * m + [(None, None)],
        method="highs",
    )  # fmt: skip
    if optimum.status != 0:
        raise RuntimeError(f"the linear program of this round was not solved: {optimum.message}")
    shares = np.maximum(optimum.x[:m], 0.0)
    shares /= shares.sum()
    return shares, float((game @ shares).max())
