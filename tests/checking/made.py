"""Made logs with known flaws."""

from __future__ import annotations

import numpy as np


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def stream(n, seed=0, shift=0.0, slope=1.0, center=0.0, spread=1.5):
    """Outcomes and forecasts; the true log-odds are shift + slope·(those of the forecast)."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(center, spread, n)
    y = (rng.random(n) < sigmoid(shift + slope * logits)).astype(float)
    return y, sigmoid(logits)


def classes(n, seed=0, temperature=1.0, k=3):
    """Class numbers and their probabilities; the truth is sharper or flatter by the temperature."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 1.0, (n, k))

    def soft(z):
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    truth = soft(temperature * logits)
    y = (truth.cumsum(axis=1) > rng.random(n)[:, None]).argmax(axis=1)
    return y, soft(logits)


def games(events, forecasts, seed=0):
    """In-game logs: a calibrated random walk of log-odds towards each outcome; event numbers."""
    rng = np.random.default_rng(seed)
    # a Brownian path W on [0, 1] and the event W(1) > 0: its chance given W(t) is known
    steps = rng.normal(0, np.sqrt(1 / (forecasts + 1)), (events, forecasts + 1))
    path = rng.normal(0, 0.7, (events, 1)) + steps.cumsum(axis=1)
    y = (path[:, -1] > 0).astype(float)
    left = 1 - np.arange(1, forecasts + 1) / (forecasts + 1)
    from scipy.stats import norm

    p = norm.cdf(path[:, :-1] / np.sqrt(left))
    names = np.repeat(np.arange(events), forecasts)
    return np.repeat(y, forecasts), p.ravel(), names
