"""Columns of a state row: what every kind of forecaster keeps of a stream.

A row is one float64 vector: HEAD columns that all kinds share, then columns that the points of the
grid share, then the same few columns for every grid point, point after point. It is the whole truth
about what a stream has learnt.

- LEVEL: which grid is in play · ROUNDS: events with an outcome · NEXT_ID: id of the next forecast
- LEARNT: id of the forecast that was learnt last (−1: none, or a run)
- MASS: Σ g of the scales g = weight/max_weight of these events
- DELAY: most other events that waited at a grid point when it learnt · OVERLAP: the same anywhere
- ROUNDING_MOST: Σ g·δ, δ the most that a round can lose on its grid · ROUNDING: Σ g·δ_t as it was
- LOST: Σ g·ℓ(q) of what the grid points recommended when they forecast · SQUARES: Σ g·‖y‖²
- HINT: where the next search starts
- CROWD: while an outcome is learnt, the other events that waited then or when it was forecast
- PARTIAL: Σ g·(1 − g): 0 as long as every scale is 0 or 1
- REPEATS: forecasts beyond the first of their event, which was resolved at once
- CELLS: Σ g·δ, δ the most that a round can lose in its very cell of the grid
"""

(
    LEVEL,
    ROUNDS,
    NEXT_ID,
    LEARNT,
    MASS,
    DELAY,
    OVERLAP,
    ROUNDING_MOST,
    ROUNDING,
    LOST,
    SQUARES,
    HINT,
    CROWD,
    PARTIAL,
    REPEATS,
    CELLS,
) = range(16)
HEAD = 16
VERSION = 4
"""Of the columns; raised when a reader of the old ones would misread the new ones."""
