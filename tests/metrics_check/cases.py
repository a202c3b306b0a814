"""Yes/no events to draw from: ties, weights, forecasts of exactly 0 and 1."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st


@st.composite
def yes_no(draw, most=40, weighted=True, least=1):
    """(y, p, w): some forecasts repeat, some are 0 or 1, some weights are 0."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = draw(st.integers(least, most))
    p = np.where(rng.random(size) < 0.6, rng.integers(0, 6, size) / 5, rng.random(size))
    y = rng.integers(0, 2, size).astype(float)
    w = np.ones(size)
    if weighted and draw(st.booleans()):
        w = rng.choice([0.0, 0.25, 1.0, 3.0, 0.1], size)
        w[rng.integers(size)] = 1.5
    return y, p, w


def logistic(n, seed, spread=1.5, shift=0.0, slope=1.0):
    """(y, p) with outcomes of log-odds shift + slope·ln odds(p)."""
    rng = np.random.default_rng(seed)
    odds = spread * rng.standard_normal(n)
    p = 1 / (1 + np.exp(-odds))
    y = rng.random(n) < 1 / (1 + np.exp(-shift - slope * odds))
    return y.astype(float), p
