"""Opponents of a learner: payoff vectors of length at most 1 that answer what is played."""

import numpy as np
import pytest


def fixed(dim, seed):
    """The same vector every round."""
    w = np.random.default_rng(seed).normal(size=dim)
    w /= np.linalg.norm(w)
    return lambda mean, t: w


def hostile(dim, seed):
    """Against where the player is on average, a little off."""
    rng = np.random.default_rng(seed)

    def answer(mean, t):
        w = -mean + 0.1 * rng.normal(size=dim)
        return w / max(np.linalg.norm(w), 1e-12)

    return answer


def sweeping(dim, seed, rounds=400, noise=0.5):
    """−u_θ ± σ·tangent on a circle of the first two coordinates, θ going round once."""
    rng = np.random.default_rng(seed)

    def answer(mean, t):
        theta = 2 * np.pi * t / rounds
        w = np.zeros(dim)
        side = noise * rng.choice([-1.0, 1.0])
        w[:2] = np.array(
            [-np.cos(theta) - side * np.sin(theta), -np.sin(theta) + side * np.cos(theta)]
        )[:dim]
        return w / max(np.linalg.norm(w), 1.0)

    return answer


OPPONENTS = {"fixed": fixed, "hostile": hostile, "sweeping": sweeping}


def normal_form_regret(payoffs, plays):
    """Σ_a max_b Σ_t p_t[a]·(U[b, t] − U[a, t]), by loops over all pairs of actions."""
    total = 0.0
    for a in range(len(payoffs)):
        gains = [
            float((plays[:, a] * (payoffs[b] - payoffs[a])).sum()) for b in range(len(payoffs))
        ]
        total += max(gains)
    return total


def played_out(player, actions, answer, rounds):
    """Play and log: mixed actions over all actions (T, n), payoff vectors (T, dim)."""
    plays, vectors = np.zeros((rounds, actions.size)), np.zeros((rounds, actions.dim))
    for t in range(rounds):
        chosen, weights = player.play()
        assert weights.min() > 0 and weights.sum() == pytest.approx(1.0)
        assert len(set(chosen.tolist())) == len(chosen)
        plays[t, chosen] = weights
        vectors[t] = answer(weights @ actions.embed(chosen), t)
        player.observe(vectors[t])
    return plays, vectors
