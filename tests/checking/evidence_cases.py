"""Short logs of every kind: ends of the scale, weights, events, rounding, classes."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from naive.evidence import Classes, YesNo, factors


def short_log(seed, n=24, classes=2, step=None, events=False, weights=False):
    """Outcomes, forecasts, weights or None, event codes or None."""
    rng = np.random.default_rng(seed)
    if classes == 2:
        p = 1 / (1 + np.exp(-2 * rng.standard_normal(n)))
        p[rng.random(n) < 0.15] = rng.integers(2)
        p[rng.random(n) < 0.1] = 1e-7
    else:
        p = rng.dirichlet(np.ones(classes), n)
        p[rng.random(n) < 0.2, 0] = 0
        p /= p.sum(axis=1, keepdims=True)
    if step:
        p = np.round(p / step) * step
        p = np.clip(p, 0, 1) if classes == 2 else p / p.sum(axis=1, keepdims=True)
    y = rng.integers(classes, size=n).astype(float)
    event = None
    if events:
        event = rng.integers(n // 2, size=n)
        y = rng.integers(classes, size=n).astype(float)[event]
    weight = rng.choice([0.0, 0.3, 1.0], n) if weights else None
    return y, p, weight, event


def naive_factors(y, p, weight, event, step):
    """What every bet paid, event by event, in the order of their last rows."""
    rows = {}
    for t in range(len(y)):
        rows.setdefault(("row", t) if event is None else int(event[t]), []).append(t)
    groups = sorted(rows.values(), key=lambda own: own[-1])
    log = []
    for own in groups:
        forecasts = [(1.0 if weight is None else float(weight[t]), p[t].tolist()) for t in own]
        log.append((int(y[own[0]]), forecasts))
    half = (step or 0) / 2
    bets = YesNo(half) if p.ndim == 1 else Classes(half)
    return factors(bets, log), [own[-1] for own in groups]


KINDS = {
    "plain": {},
    "weights": {"weights": True},
    "events": {"events": True},
    "events and weights": {"events": True, "weights": True},
    "rounded": {"step": 0.05},
    "rounded coarsely, events": {"step": 0.5, "events": True},
    "classes": {"classes": 4},
    "classes, events and weights": {"classes": 3, "events": True, "weights": True},
    "classes, rounded": {"classes": 3, "step": 0.1},
}

probabilities = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 1e-300, 1 - 2**-53]), st.floats(0.0, 1.0))
logs = st.lists(st.tuples(st.integers(0, 1), probabilities), min_size=1, max_size=40)
