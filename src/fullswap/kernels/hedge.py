"""Passes over the n × k matrices of multiplicative weights and regret matching.

Symbols: losses C (n, k) cumulative scaled losses · rates η (n,) · rows Q (n, k) ·
weights g (n,) · values ℓ (k,).
"""

from fullswap.kernels.compiling import kernel


@kernel(fastmath={"contract", "reassoc"})
def add_outer(losses, weights, values):
    """C[s, j] += g[s]·ℓ[j]."""
    n, k = losses.shape
    for s in range(n):
        g = weights[s]
        if g != 0.0:
            for j in range(k):
                losses[s, j] += g * values[j]


@kernel
def exponents(losses, rates, out):
    """out[s, j] = −η[s]·(C[s, j] − min_j C[s, j]), at most 0, so that exp cannot overflow."""
    n, k = losses.shape
    for s in range(n):
        least = losses[s, 0]
        for j in range(1, k):
            least = min(least, losses[s, j])
        rate = rates[s]
        for j in range(k):
            out[s, j] = rate * (least - losses[s, j])


@kernel(fastmath={"contract", "reassoc"})
def normalise_rows(rows):
    """Divide each row by its sum."""
    n, k = rows.shape
    for s in range(n):
        total = 0.0
        for j in range(k):
            total += rows[s, j]
        scale = 1.0 / total
        for j in range(k):
            rows[s, j] *= scale


@kernel
def match_regrets(regrets, rows, weights, values):
    """R[s, j] ← max(R[s, j] + g[s]·(⟨Q[s], ℓ⟩ − ℓ[j]), 0), then Q[s] ∝ R[s] (uniform if 0)."""
    n, k = regrets.shape
    for s in range(n):
        g = weights[s]
        if g == 0.0:
            continue
        mean = 0.0
        for j in range(k):
            mean += rows[s, j] * values[j]
        total = 0.0
        for j in range(k):
            regret = max(regrets[s, j] + g * (mean - values[j]), 0.0)
            regrets[s, j] = regret
            total += regret
        for j in range(k):
            rows[s, j] = regrets[s, j] / total if total > 0.0 else 1.0 / k
