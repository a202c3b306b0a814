"""One player of a repeated structured game against anyone, with small swap regret.

A mixed action is a point of K = conv{v}, payoffs are linear there, and swapping actions is a
swap of points: swap regret in the game is at most full swap regret on K. The points that are
played are extreme points of K, hence embeddings of real actions, so nothing has to be
decomposed, and the number of actions enters through the linear oracle only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.protocols import Points, Vector
from fullswap.certificates import Certificate, Quantity
from fullswap.games.actions import Action, ActionSet, Column
from fullswap.games.hull import Hull, affine_frame
from fullswap.losses import Linear, LossClass
from fullswap.template import FullSwapLearner
from fullswap.theorems import THEOREMS

_ROW = "concave"  # the row of the table for linear losses
_BEYOND = 1e-6  # share of a payoff vector outside of the span of the given ones that is rounding
_STEPS = 300  # steps towards the smallest ellipsoid at most: what they reach will do
_FLAT = 1e-9  # directions in which vectors reach no farther than this share do not count
_CLOSE = 1.01  # factor (of squared lengths) within which an ellipsoid counts as the smallest


class MixedAction(NamedTuple):
    """Distinct actions and their probabilities."""

    actions: Column
    weights: Vector

    def draw(self, generator: np.random.Generator) -> Action:
        """One action at random."""
        return self.actions[generator.choice(len(self.weights), p=self.weights)]


class StructuredLearner:
    """Play a structured game repeatedly; see what the others' play makes of it; learn.

    Guarantee: the swap regret of the mixed actions p_t against payoff vectors w_t,

        Σ_a max_b Σ_t p_t[a]·⟨v_b − v_a, w_t⟩ ,

    is at most ``guarantee`` whatever the others do, by [FKO25, Table 1 row 3].

    Parameters
    ----------
    actions : ActionSet
    bound : float or array (k, dim)
        Largest length of a payoff vector (along the hull of the embeddings); or vectors of which
        every w_t is a mixture, such as those of all pure actions of an opponent: the guarantee
        is then made for coordinates in which these are round, and smaller for that.
    horizon : int or None
        Number of rounds; None if unknown.
    mesh : float or None
        Spacing of the points played, by default the one with the smallest guarantee.
    learner : str or None
        "hedge", or "matching", whose guarantee is weaker and whose regret is often smaller.
    track : bool
        Keep the sums from which the certificate is computed.

    Examples
    --------
    >>> from fullswap.games import Vectors
    >>> player = StructuredLearner(Vectors([[0.0], [0.5], [1.0]]), bound=1.0, horizon=400)
    >>> for t in range(400):
    ...     actions, weights = player.play()
    ...     player.observe([1.0 if t % 4 else -1.0])
    >>> player.certificate().holds, round(player.guarantee, 2)
    (True, 16.65)
    """

    def __init__(
        self,
        actions: ActionSet,
        bound: ArrayLike,
        horizon: int | None = None,
        *,
        mesh: float | None = None,
        learner: str | None = None,
        track: bool = True,
    ) -> None:
        checks.instance("actions", actions, ActionSet, "a set of fullswap.games")
        self.actions, self.horizon = actions, horizon
        self.hull: Hull | None = None
        self._inner: FullSwapLearner | None = None
        self._rounds = 0
        given, length, turned = None, 1.0, np.eye(actions.dim)
        if isinstance(bound, list | tuple) or np.ndim(bound):
            given = checks.matrix("bound", bound, (None, actions.dim))
        else:
            length = checks.setting("bound", bound, above=0.0)
        _, axes = affine_frame(actions)
        if not axes.shape[1]:
            # all actions are worth the same against anyone
            self._played = actions.best(np.zeros((1, actions.dim)))[0]
            return
        self._beyond: Points | None = None
        if given is not None:
            if not (given @ axes).any():
                checks.refuse("bound", "have a vector that tells the actions apart", bound)
            actions, turned, self._beyond = _rounded(actions, axes, given @ axes)
        self.hull = Hull(actions)
        self._axes: Points = turned @ self.hull.axes
        self._inner = FullSwapLearner(
            self.hull, LossClass(length, concave=True), horizon,
            row=_ROW, mesh=mesh, learner=learner, track=track,
        )  # fmt: skip
        self._played = self.hull.actions_at(self._inner.points)

    @property
    def rounds(self) -> int:
        """Rounds played so far."""
        return self._rounds if self._inner is None else self._inner.rounds

    def __repr__(self) -> str:
        size = "∞" if self.actions.size is None else f"{self.actions.size:,}"
        planned = "" if self.horizon is None else f" of {self.horizon:,}"
        return f"<StructuredLearner: {size} actions; {self.rounds:,}{planned} rounds>"

    @property
    def guarantee(self) -> float:
        """Bound on the swap regret for the horizon or the rounds so far; NaN if ``bound`` broke."""
        return 0.0 if self._inner is None else self._inner.guarantee

    @property
    def payoff_range(self) -> float:
        """No two payoffs of a round differ by more than this, the B of the guarantee."""
        return 0.0 if self._inner is None else self._inner.plan.constants.loss_range

    @property
    def support(self) -> Column:
        """Actions that may be played at present."""
        if self._inner is None or self.hull is None:
            return self._played
        return self.hull.actions_at(self._inner.grid.points)

    def explain(self) -> str:
        """What was chosen and why."""
        if self._inner is None:
            return "All actions have the same embedding, so there is nothing to learn."
        return self._inner.explain()

    def play(self) -> MixedAction:
        """The mixed action of this round; the same until a payoff vector is observed."""
        if self._inner is None or self.hull is None:
            return MixedAction(self._played, np.ones(1))
        mixture = self._inner.play()
        assert mixture.indices is not None
        if mixture.indices.max() >= len(self._played):
            self._played = self.hull.actions_at(self._inner.points)
        used = mixture.weights > 0
        return MixedAction(self._played[mixture.indices[used]], mixture.weights[used])

    def observe(self, vector: ArrayLike) -> None:
        """Learn from the payoff vector w (dim,) that the others' play made: payoffs ⟨v, w⟩."""
        array = checks.vector("vector", vector, self.actions.dim)
        if self._inner is None:
            self._rounds += 1
            return
        self._inner.observe(Linear(self._directions(array[None, :])[0]))

    def run(self, vectors: ArrayLike) -> None:
        """Play against payoff vectors (T, dim) fixed in advance: the loop of play and observe."""
        array = checks.floats("vectors", vectors)
        if array.ndim != 2 or array.shape[1] != self.actions.dim:
            checks.refuse_shape("vectors", f"(T, {self.actions.dim})", array)
        if self._inner is None:
            self._rounds += len(array)
            return
        none = np.zeros(len(array))
        self._inner.run(np.column_stack((none, self._directions(array), none)))

    def certificate(self) -> Certificate:
        """Measured swap regret, against every action, beside its guarantees."""
        if self._inner is None:
            citation = THEOREMS[_ROW].citation
            return Certificate(Quantity.SWAP_REGRET, self._rounds, 0.0, 0.0, 0.0, citation, (), 0.0)
        return replace(self._inner.certificate(), quantity=Quantity.SWAP_REGRET)

    def _directions(self, vectors: Points) -> Points:
        """Losses −⟨·, w⟩ in the coordinates of the hull, shape (T, dim of the hull)."""
        # sums, not matrix products: a row must come out the same alone and among others
        if self._beyond is not None:
            missed = np.abs((vectors[:, :, None] * self._beyond).sum(axis=1)).max(axis=1)
            outside = missed > _BEYOND * np.abs(vectors).max(axis=1)
            rule = "be mixtures of those given as bound, inside of their span"
            checks.refuse_at("vectors", rule, vectors, outside)
        return np.asarray(-(vectors[:, :, None] * self._axes).sum(axis=1))


# --- coordinates in which the payoff vectors are round ------------------------------------------
#
# Payoffs ⟨v, w⟩ stay what they are under v ↦ A·v, w ↦ A⁻ᵀ·w, but the guarantee does not: it grows
# with the longest w times the diameter of {v}. If A⁻ᵀ takes the smallest ellipsoid around ±w (that
# of Löwner and John) to the unit ball, this product is at most √r times the largest difference of
# payoffs, r the dimension that the vectors span; directions that they do not reach are left out.


class _Stretched(ActionSet):
    """The same actions with embeddings matrix·v, matrix of shape (r, dim)."""

    def __init__(self, actions: ActionSet, matrix: Points) -> None:
        self.actions, self.matrix = actions, matrix
        self.dim, self.size = len(matrix), actions.size

    def embed(self, actions: Column) -> Points:
        return self.actions.embed(actions) @ self.matrix.T

    def best(self, directions: Points) -> tuple[Column, Vector]:
        return self.actions.best(directions @ self.matrix)


def _rounded(actions: ActionSet, axes: Points, vectors: Points) -> tuple[ActionSet, Points, Points]:
    """The actions where the vectors, given along the axes of the hull, are round.

    Also the matrices that take a vector w of the embedding space there, w·turned, and to what of
    it lies outside of the span of the given ones, w·beyond.
    """
    to_point, to_vector = rounding_maps(vectors)
    beyond = axes @ (np.eye(axes.shape[1]) - to_vector.T @ to_point)
    return _Stretched(actions, to_point @ axes.T), axes @ to_vector.T, beyond


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
