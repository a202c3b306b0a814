"""Regret, slowly.

It is recomputed from the raw rounds, (points, weights, loss) each, by plain loops; minima
over a set are found by trying many members of the set and improving the best of them.
"""

from __future__ import annotations

import math

import numpy as np


def rounds_of(transcript):
    """The raw rounds of a transcript: (points (m, A), weights (m,), value function)."""
    for t in range(len(transcript)):
        keep = transcript.weights[t] > 0
        points = transcript.points[transcript.indices[t][keep]]
        weights = transcript.weights[t][keep]
        if transcript.coefficients is not None:
            yield points, weights, ("row", tuple(transcript.coefficients[t]))
        else:
            loss = transcript.losses[t]
            row = getattr(loss, "coefficients", None)
            yield points, weights, ("loss", loss) if row is None else ("row", tuple(row))


def members(action_set, count, seed=0):
    """Many members of a set, from corners, faces and inside, through its projection only."""
    rng = np.random.default_rng(seed)
    width = action_set.ambient_dim
    far = rng.standard_normal((count, width)) * 10 * action_set.diameter
    near = rng.standard_normal((count, width)) * action_set.diameter / 2
    middle = action_set.project(np.zeros((1, width)) + far.mean(axis=0))
    inside = action_set.project(near + middle)
    outside = action_set.project(far + middle)
    shares = rng.random((count, 1))
    blends = shares * inside + (1 - shares) * outside
    return np.concatenate((inside, outside, blends))


class PointSum:
    """Σ_t g_t·ℓ_t for one support point: quadratics added up, other losses kept with weights."""

    def __init__(self, width):
        self.weight = 0.0
        self.row = np.zeros(width + 2)
        self.others = {}

    def add(self, weight, kind, loss):
        self.weight += weight
        if kind == "row":
            self.row += weight * np.array(loss)
        else:
            held = self.others.setdefault(id(loss), [loss, 0.0])
            held[1] += weight

    def __call__(self, x):
        total = self.row[0] * (x**2).sum(axis=1) + x @ self.row[1:-1] + self.row[-1]
        for loss, weight in self.others.values():
            total = total + weight * np.asarray(loss.value(x))
        return total


def sums_by_point(transcript):
    """{support point as tuple: PointSum}."""
    sums = {}
    for points, weights, (kind, loss) in rounds_of(transcript):
        for point, weight in zip(points, weights, strict=True):
            key = tuple(point.tolist())
            if key not in sums:
                sums[key] = PointSum(len(point))
            sums[key].add(float(weight), kind, loss)
    return sums


def best_value(function, action_set, pool, rng):
    """The smallest value found: the pool, exact minimisers of quadratics, then local search."""
    candidates = [pool]
    if not function.others:
        a, b = function.row[0], function.row[1:-1]
        if a > 0:
            candidates.append(action_set.project(-b[None, :] / (2 * a)))
        candidates.append(action_set.project(pool.mean(axis=0) - 1e7 * b[None, :] / norm(b)))
    tried = np.concatenate(candidates)
    values = function(tried)
    best, x = values.min(), tried[values.argmin()]
    share = 0.5
    for _ in range(10 if function.others else 2):
        # a blend of two members is a member
        nearby = (1 - share) * x + share * pool[rng.integers(len(pool), size=40)]
        values = function(nearby)
        if values.min() < best:
            best, x = values.min(), nearby[values.argmin()]
        share /= 2
    return float(best)


def norm(vector):
    """Euclidean norm, never 0."""
    return max(math.sqrt(float((vector**2).sum())), 1e-300)


def full_swap_regret(transcript, count=200, seed=0):
    """Σ_s max_x Σ_t x_t[s](ℓ_t(s) − ℓ_t(x)) by search over members of the set."""
    action_set = transcript.action_set
    rng = np.random.default_rng(seed)
    pool = members(action_set, count, seed)
    if action_set.vertices is not None:
        pool = np.concatenate((pool, action_set.vertices))
    total = 0.0
    for key, function in sums_by_point(transcript).items():
        here = float(function(np.array([key]))[0])
        total += max(0.0, here - best_value(function, action_set, pool, rng))
    return total


def discretised_swap_regret(transcript, actions):
    """The same with deviations into a finite list of actions, all of them tried."""
    allowed = np.asarray(actions, dtype=float).reshape(-1, transcript.action_set.ambient_dim)
    total = 0.0
    for key, function in sums_by_point(transcript).items():
        here = float(function(np.array([key]))[0])
        total += max(0.0, here - float(function(allowed).min()))
    return total


def external_regret(transcript, count=200, seed=0):
    """max_x Σ_t [ℓ_t(x_t) − ℓ_t(x)] by search."""
    action_set = transcript.action_set
    whole = PointSum(action_set.ambient_dim)
    incurred = 0.0
    for points, weights, (kind, loss) in rounds_of(transcript):
        one = PointSum(action_set.ambient_dim)
        one.add(1.0, kind, loss)
        incurred += float(weights @ one(points))
        whole.add(1.0, kind, loss)
    pool = members(action_set, count, seed)
    return incurred - best_value(whole, action_set, pool, np.random.default_rng(seed))


def rt(x):
    """min(x, 1) + ln max(x, 1)."""
    return min(x, 1.0) + math.log(max(x, 1.0))


def bound(row, T, n, r, h, V, L, D, alpha=0.0, beta=0.0, gap=0.0, tau=2.0):
    """The table of guarantees, written out a second time."""
    B = L * D
    hedge = B * math.sqrt(T * n * math.log(n) / 2)
    descent = n * L**2 / (2 * alpha) * rt(T / n) if alpha else math.inf
    if row == "discretised":
        rho = alpha * (1 - 1 / tau) ** 2
        value = math.sqrt(2) * tau * gap * L * math.sqrt(n * T) + n * L**2 / (2 * rho) * rt(T / n)
    else:
        value = {
            "lipschitz": L * r * T + hedge,
            "smooth": (L * h + beta * V / 2) * T + hedge,
            "concave": L * h * T + hedge,
            "strongly convex": L * r * T + descent,
            "strongly convex and smooth": (L * h + beta * V / 2) * T + descent,
        }[row]
    return min(B * T, value)
