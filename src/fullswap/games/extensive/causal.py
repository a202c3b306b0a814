"""Deviations in a tree, by players who are told their moves one at a time.

A correlated equilibrium of reduced strategies tells everybody a whole strategy at the start. If
moves are told only where they are to be made (von Stengel and Forges, 2008), a player knows less
when they deviate, and after a deviation hears nothing more. So the gain by such deviations, which
is 0 in an extensive-form correlated equilibrium, is at most that by swaps of strategies, and at
least that by one fixed strategy.
"""

from __future__ import annotations

import numpy as np

from fullswap.base.protocols import Indices, Points
from fullswap.games.extensive.sequence import SequenceForm


def causal_gain(form: SequenceForm, strategies: Indices, directions: Points) -> float:
    """The most that a player gains in a tree.

    ``directions`` (r, dim) are payoff vectors met with each of the recommended ``strategies``
    (r,), probability counted. Let D(σ) be the sum over the strategies that play sequence σ. In an
    information set with recommendation σ the player either deviates, for the best plan from there
    on against D(σ), or follows, is paid D(σ)[σ], and goes on to the sets that σ leads to.
    """
    plans = form.embed(strategies)
    met = plans.T @ directions  # D(σ), a row for each sequence
    within = form.within_sets(met)
    earned = met.diagonal().copy()  # D(σ)[σ], then with what the best earns after it
    for members, parents in form.backwards():
        best = np.maximum(earned[members], within[members, members])
        np.add.at(earned, parents, best)
    following = float(np.einsum("ij,ij->", plans, directions))
    return max(float(earned[0]) - following, 0.0)
