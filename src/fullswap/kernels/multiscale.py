"""Multi-scale binning on [0, 1]: expert weights, the game they pose, and its solution.

The unit is γ = 1/n. A bin is a pair (r, b): scale r = 2^k·γ, place b a multiple of r; bins are
sorted from coarse to fine, so that those of scale ρ and above are the first m. Their game depends
on the outcome v only through the cell (p·ρ, (p + 1)·ρ) that holds it: at a multiple of ρ each entry
is at most its values in the two cells beside it.

Symbols: scales, places (M,) integers r/γ, b/γ · state (M, 4, 2), sums U = Σu and V = Σu² of the
rewards of the experts (r, b, ξ), ξ in the order +2, −2, +1, −1 · rates η (J,) ·
logs (M, 4), ln w · weights w (M, 4) · game, its first rows × m entries ·
below, up_to (n + 1,): P(v < p·γ) and P(v ≤ p·γ) · shares κ (M,) ·
tableau (rows + 1, m + rows + 1) and basis (rows,), or larger.
"""

import numpy as np

from fullswap.kernels.compiling import kernel

TOLERANCE = 1e-11
"""Reduced costs and pivots below this count as 0; entries of the tableau start within [½, 3/2]."""
PERTURBATION = 1e-9
"""By how much right-hand sides differ from 1: the value is that close to the optimum."""


@kernel
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


@kernel
def scaled_weights(logs, m, weights):
    """w of the first m bins, divided by the largest."""
    largest = -np.inf
    for i in range(m):
        for k in range(4):
            largest = max(largest, logs[i, k])
    for i in range(m):
        for k in range(4):
            weights[i, k] = np.exp(logs[i, k] - largest)


@kernel
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


@kernel
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


@kernel
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


@kernel
def worst_cell(game, rows, m, shares):
    """max_p (game @ κ)[p]."""
    worst = -np.inf
    for p in range(rows):
        total = 0.0
        for i in range(m):
            total += game[p, i] * shares[i]
        worst = max(worst, total)
    return worst


@kernel
def choose(scales, places, levels, first, logs, weights, game, tableau, basis, shares):
    """Solve the games of growing fineness until one has value ≤ 0; return (value, level).

    ``levels`` (K, 2): smallest scale and number of bins of each game; the search starts at level
    ``first``. The value is NaN if the simplex method failed on the last game.
    """
    n = scales[0]
    value = np.nan
    for k in range(first, levels.shape[0]):
        cell, m = levels[k]
        rows = n // cell
        scaled_weights(logs, m, weights)
        pose_game(scales, places, weights, m, cell, rows, game)
        solved = solve_game(game, rows, m, tableau, basis, shares)
        value = worst_cell(game, rows, m, shares) if solved else np.nan
        if value <= 0.0:
            return value, k
    return value, levels.shape[0] - 1


@kernel
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
