"""Coordinates in which the opponent's payoff vectors are round.

Payoffs ⟨v, w⟩ stay what they are under v ↦ A·v, w ↦ A⁻ᵀ·w, but the guarantee does not: it grows
with the longest w times the diameter of {v}. If A⁻ᵀ takes the smallest ellipsoid around ±w (that
of Löwner and John) to the unit ball, this product is at most √r times the largest difference of
payoffs, r the dimension that the vectors span; directions that they do not reach are left out.
"""

from __future__ import annotations

import numpy as np

from fullswap.base.protocols import Points, Vector
from fullswap.games.actions import ActionSet, Column

_STEPS = 300  # steps towards the smallest ellipsoid at most: what they reach will do
_FLAT = 1e-9  # directions in which vectors reach no farther than this share do not count
_CLOSE = 1.01  # factor (of squared lengths) within which an ellipsoid counts as the smallest


class Stretched(ActionSet):
    """The same actions with embeddings matrix·v, matrix of shape (r, dim)."""

    def __init__(self, actions: ActionSet, matrix: Points) -> None:
        self.actions, self.matrix = actions, matrix
        self.dim, self.size = len(matrix), actions.size

    def embed(self, actions: Column) -> Points:
        """Embeddings, stretched."""
        return self.actions.embed(actions) @ self.matrix.T

    def best(self, directions: Points) -> tuple[Column, Vector]:
        """⟨A·v, direction⟩ = ⟨v, Aᵀ·direction⟩."""
        return self.actions.best(directions @ self.matrix)


def rounded(actions: ActionSet, axes: Points, vectors: Points) -> tuple[ActionSet, Points, Points]:
    """The actions where the vectors, given along the axes of the hull, are round.

    Also the matrices that take a vector w of the embedding space there, w·turned, and to what of
    it lies outside of the span of the given ones, w·beyond.
    """
    to_point, to_vector = rounding_maps(vectors)
    beyond = axes @ (np.eye(axes.shape[1]) - to_vector.T @ to_point)
    return Stretched(actions, to_point @ axes.T), axes @ to_vector.T, beyond


def rounding_maps(vectors: Points) -> tuple[Points, Points]:
    """Matrices (to_point, to_vector), both (r, d), for vectors (m, d) that span r > 0 dimensions.

    ⟨to_point·v, to_vector·w⟩ = ⟨v, w⟩ for all v and for w in the span; the longest
    to_vector·w has length 1, and the hull of ±to_vector·w holds a ball of about 1/√r.

    Examples
    --------
    >>> to_point, to_vector = rounding_maps(np.array([[100.0, 0.0, 0.0], [0.0, 0.1, 0.0]]))
    >>> np.abs(to_vector @ [100.0, 0.1, 0.0]).round(6).tolist()
    [1.0, 1.0]
    """
    left, values, right = np.linalg.svd(vectors, full_matrices=False)
    spanned = values > _FLAT * values[0]
    points, values, right = left[:, spanned], values[spanned], right[spanned]
    r, shares = len(values), np.full(len(points), 1 / len(points))
    # The smallest ellipsoid is {u : uᵀM⁻¹u <= r} with M = Σ p_i·u_i·u_iᵀ of largest determinant;
    # p_i ← p_i·(u_iᵀM⁻¹u_i)/r raises it. Any M will do for the guarantee.
    for _ in range(_STEPS):
        moment = (points * shares[:, None]).T @ points
        lengths = np.einsum("ij,jk,ik->i", points, np.linalg.inv(moment), points)
        if lengths.max() <= r * _CLOSE:
            break
        shares = shares * lengths / r
        shares /= shares.sum()
    spread, turn = np.linalg.eigh(moment)
    root = np.sqrt(spread * lengths.max())
    to_vector = (turn / root).T @ (right / values[:, None])
    to_point = (turn * root).T @ (right * values[:, None])
    return to_point, to_vector
