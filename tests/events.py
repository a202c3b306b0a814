"""Events and runs of forecasters to draw from, and slow sums over them with dictionaries."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from fullswap import Record

TIGHT = {"rel": 1e-10, "abs": 1e-13}


@st.composite
def events(draw, classes=(1, 3, 4), soft=True):
    """Draw (y_true, y_proba, weights) with repeated forecasts among the others."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size, width = draw(st.integers(1, 40)), draw(st.sampled_from(classes))
    weights = rng.choice([0.0, 0.5, 1.0, 2.0, rng.random()], size)
    weights[rng.integers(size)] = 1.5
    hard = not soft or draw(st.booleans())
    if width == 1:
        p = np.where(rng.random(size) < 0.5, rng.integers(0, 6, size) / 5, rng.random(size))
        y = rng.integers(0, 2, size).astype(float) if hard else rng.random(size)
        return y, p, weights
    pool = np.vstack([rng.dirichlet(np.ones(width), 3), np.eye(width)])
    p = pool[rng.integers(len(pool), size=size)]
    if hard:
        return rng.integers(0, width, size), p, weights
    return rng.dirichlet(np.ones(width), size), p, weights


@st.composite
def runs(draw, classes=(1, 3)):
    """Draw a record with its outcomes and weights of events; some points coincide."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    width, rounds = draw(st.sampled_from(classes)), draw(st.integers(1, 25))
    if width == 1:
        points, outcomes = rng.integers(0, 5, 6) / 4, rng.random(rounds)
    else:
        points = rng.dirichlet(np.ones(width), 6)
        points[4] = points[1]
        outcomes = rng.integers(0, width, rounds)
    indices = rng.integers(0, 6, (rounds, 3))
    shares = rng.dirichlet(np.ones(3), rounds) * (rng.random((rounds, 3)) < 0.7)
    shares[:, 0] += 1 - shares.sum(axis=1)
    record = Record.of_forecasts(points, indices, shares, indices[:, 0])
    return record, outcomes, rng.random(rounds) + 0.1


def rows_of(y, p):
    """Outcomes and forecasts as tuples, one an event."""
    p = np.asarray(p, dtype=float)
    if p.ndim == 1:
        return [((float(b),), (float(q),)) for b, q in zip(y, p, strict=True)]
    y = np.asarray(y)
    y = np.eye(p.shape[1])[y.astype(int)] if y.ndim == 1 else y
    return [(tuple(map(float, b)), tuple(map(float, q))) for b, q in zip(y, p, strict=True)]


def slow_groups(triples, key):
    """{key: (weight, mean forecast, mean outcome)} of (outcome, forecast, weight) triples."""
    held: dict = {}
    for b, q, w in triples:
        if w > 0:
            held.setdefault(key(q), []).append((np.array(b), np.array(q), w))
    return {
        k: (
            sum(w for *_, w in group),
            sum(w * q for _, q, w in group) / sum(w for *_, w in group),
            sum(w * b for b, _, w in group) / sum(w for *_, w in group),
        )
        for k, group in held.items()
    }


def slow_error(triples, key, norm):
    groups = slow_groups(triples, key).values()
    total = sum(weight for weight, *_ in groups)
    gaps = [(weight, np.abs(p - y)) for weight, p, y in groups]
    if norm == "max":
        return max(gap.max() for _, gap in gaps)
    power = {"l1": 1, "l2": 2}[norm]
    return sum(weight * (gap**power).sum() for weight, gap in gaps) / total


def triples_of(y, p, weights):
    return [(b, q, w) for (b, q), w in zip(rows_of(y, p), weights, strict=True)]


def one_class(triples, k):
    return [((b[k],), (q[k],), w) for b, q, w in triples]


def bin_of(edges):
    """Number of the bin [e_i, e_{i+1}), the last one closed."""
    return lambda q: min(sum(edge <= q[0] for edge in edges[1:]), len(edges) - 2)


def as_events(record, outcomes, weights):
    """Every entry of every distribution as an event of its own."""
    return (
        np.repeat(outcomes, record.indices.shape[1], axis=0),
        record.points[record.indices.ravel()],
        (record.weights * weights[:, None]).ravel(),
    )
