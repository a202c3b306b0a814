"""Names of the rows and columns of packed arrays; no numba, so that wrappers may read them early.

Symbols: a line's state (7, n) holds at every grid point s its target q_s, G_s, Σ g·ℓ(q_s), and
Σ g·a, Σ g·b, Σ g·c of the losses a·t² + b·t + c it met · a rate is (ρ, κ, switch).
"""

POINT, TARGET, WEIGHT, RECOMMENDED, CURVATURE, SLOPE, CONSTANT = range(7)
"""Rows of a line's state."""
MODULUS, ROOT, SWITCH = range(3)
"""Entries of a rate: η(G) = 1/(ρG) while G ≤ switch, κ/√G after."""
