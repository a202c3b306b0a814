"""Self-play of Blum–Mansour learners in a finite game, many rounds a call.

Every player has one learner for each action: learner a recommends a distribution Q[a] over the
actions, the player mixes by the stationary distribution x = xQ, and learner a is charged with the
share x[a] of what happens. The learners are regret matching+ that expects the last round to come
again.

Symbols: N players, player p with k_p actions, K = max k_p, M = Π k_p; sizes (N,) the k_p;
tables (N, M): payoffs of player p as a (k_p, M/k_p) matrix, own action first, the others in order;
scores (N, K, K): regrets R of learner a for action b; rows Q (N, K, K); mixed x (N, K);
last (N, K) payoffs of the last round.
"""

import numpy as np

from fullswap.kernels.compiling import kernel
from fullswap.kernels.stationary import gth_in_place, stationary_dense

_LARGE = 64  # chains of more states are repaired from the last round by steps, where a few suffice
_STEPS = 12  # such steps are tried before elimination: a part of its work


@kernel(error_model="numpy", fastmath={"contract", "reassoc"})
def _match(scores, rows, shares, last, k):
    """Q[a] ∝ (R[a] + expected)₊ where the regrets of the last round are expected again."""
    for a in range(k):
        mean = 0.0
        for b in range(k):
            mean += rows[a, b] * last[b]
        total = 0.0
        for b in range(k):
            value = max(scores[a, b] + shares[a] * (last[b] - mean), 0.0)
            rows[a, b] = value
            total += value
        scale = 1.0 / total if total > 0.0 else 0.0
        for b in range(k):
            rows[a, b] = rows[a, b] * scale if total > 0.0 else 1.0 / k


@kernel
def _stationary(rows, x, k, square, steps, residual):
    """x ← stationary distribution of the leading k × k block of rows."""
    if k > _LARGE:
        chain = np.ascontiguousarray(rows[:k, :k])
        if stationary_dense(chain, x[:k], steps, residual, _STEPS) <= residual:
            return
    for a in range(k):
        for b in range(k):
            square[a, b] = rows[a, b]
    gth_in_place(square, k, x)


@kernel(fastmath={"contract", "reassoc"})
def _payoffs(table, sizes, mixed, player, joint, out):
    """Expected payoff of each action of a player against the others' mixed actions."""
    length = 1
    joint[0] = 1.0
    for other in range(sizes.shape[0]):
        if other == player:
            continue
        k = sizes[other]
        # from the back, so that no weight is overwritten before it is used
        for i in range(length - 1, -1, -1):
            weight = joint[i]
            for j in range(k - 1, -1, -1):
                joint[i * k + j] = weight * mixed[other, j]
        length *= k
    for a in range(sizes[player]):
        total = 0.0
        start = a * length
        for j in range(length):
            total += table[start + j] * joint[j]
        out[a] = total


@kernel(fastmath={"contract", "reassoc"})
def _learn(scores, rows, shares, last, k):
    """Charge learner a with x[a] times the payoffs; regrets are clipped at 0."""
    for a in range(k):
        share = shares[a]
        mean = 0.0
        for b in range(k):
            mean += rows[a, b] * last[b]
        for b in range(k):
            scores[a, b] = max(scores[a, b] + share * (last[b] - mean), 0.0)


@kernel
def play_rounds(tables, sizes, scores, rows, mixed, last, residual, history):
    """Play len(history) rounds; all state is updated and history (rounds, N, K) is written.

    ``residual`` is how far from stationary, ‖xQ − x‖₁, the mixed actions of many actions may be.
    """
    players, most = mixed.shape
    square, steps = np.empty((most, most)), np.empty((3, most))
    joint = np.empty(tables.shape[1])
    for t in range(history.shape[0]):
        for p in range(players):
            k = sizes[p]
            _match(scores[p], rows[p], mixed[p], last[p], k)
            x = history[t, p]
            # entry by entry: what numba would say of shapes that differ takes seconds to compile
            for a in range(most):
                x[a] = mixed[p, a] if a < k else 0.0
            _stationary(rows[p], x, k, square, steps[:, :k], residual)
        for p in range(players):
            for a in range(most):
                mixed[p, a] = history[t, p, a]
        for p in range(players):
            _payoffs(tables[p], sizes, mixed, p, joint, last[p])
            _learn(scores[p], rows[p], mixed[p], last[p], sizes[p])
