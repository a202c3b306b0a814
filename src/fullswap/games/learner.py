"""One player of a repeated structured game against anyone, with small swap regret.

The reduction of ``fullswap.games.player`` with the learner on the hull that guarantees most, and
with coordinates of the hull that suit the payoff vectors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.protocols import Loss, Mixture, Points, Vector
from fullswap.certificates import Certificate, Quantity
from fullswap.games.actions import ActionSet, Column
from fullswap.games.decompose import Mixed
from fullswap.games.hull import Hull, affine_frame
from fullswap.games.inverse import Coordinates, OnHull, widths_of
from fullswap.games.player import Player
from fullswap.grids import Grid
from fullswap.learners import SubLearner
from fullswap.losses import LossClass
from fullswap.template import FullSwapLearner, Plan, plan
from fullswap.template.choice import SHOWN_ROUNDS, Request, Row
from fullswap.template.plan import ROWS
from fullswap.template.rules import Rule
from fullswap.theorems import THEOREMS, Theorem

_ROW = "concave"  # the row of the table for linear losses
# Rows for linear losses, in any number of dimensions.
WAYS = tuple(row.name for row in ROWS if row.name in (_ROW, "tree"))
_LOOKED_AT = 400_000_000  # products of a look at all payoffs at most: part of a second
_STEPS = 300  # steps towards the smallest ellipsoid at most: what they reach will do
_FLAT = 1e-9  # directions in which vectors reach no farther than this share do not count
_CLOSE = 1.01  # factor (of squared lengths) within which an ellipsoid counts as the smallest


class StructuredLearner(Player):
    """Play a structured game repeatedly; see what the others' play makes of it; learn.

    Guarantee: the swap regret of the mixed actions p_t against payoff vectors w_t,

        Σ_a max_b Σ_t p_t[a]·⟨v_b − v_a, w_t⟩ ,

    is at most ``guarantee`` whatever the others do, by [FKO25, Lemma 11] and the
    row with the smallest bound: [FKO25, Table 1 row 3] on extreme points of the hull, on points
    near its boundary or on the actions themselves (up to 2,000), or the tree, whose bound does not
    know the dimension. Points that are no embeddings are played as mixed actions.

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
        Spacing of the points played, by default the one with the smallest guarantee. Where the
        actions themselves are played there is none.
    learner : str or None
        "hedge", or "matching", whose guarantee is weaker and whose regret is often smaller.
    row : str or None
        "concave" or "tree", by default the one with the smaller guarantee.
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
        row: str | None = None,
        track: bool = True,
    ) -> None:
        place = place_of(actions, bound)
        self.horizon, self.hull = horizon, place.hull
        if place.hull is None:
            super().__init__(actions, Settled(), place.coordinates, track)
            return
        best = BestRow(learner, row)
        inner = FullSwapLearner(
            place.hull, place.losses, horizon, row=best, mesh=mesh, track=track
        )  # fmt: skip
        super().__init__(actions, inner, place.coordinates, track)

    @property
    def payoff_range(self) -> float:
        """No two payoffs of a round differ by more than this, the B of the guarantee."""
        inner = self.learner
        return inner.plan.constants.loss_range if isinstance(inner, FullSwapLearner) else 0.0


class Place(NamedTuple):
    """Where a learner plays: hull, coordinates, and what is promised of the losses there."""

    hull: Hull | None
    """None if all actions are worth the same against anyone."""
    coordinates: Coordinates
    losses: LossClass


def place_of(actions: ActionSet, bound: ArrayLike) -> Place:
    """The hull of the actions in coordinates that suit payoff vectors of this length, or these."""
    checks.instance("actions", actions, ActionSet, "a set of fullswap.games")
    given, length = None, 1.0
    if isinstance(bound, list | tuple) or np.ndim(bound):
        given = checks.matrix("bound", bound, (None, actions.dim))
    else:
        length = checks.setting("bound", bound, above=0.0)
    linear = LossClass.linear(length)
    _, axes = affine_frame(actions)
    if not axes.shape[1]:
        return Place(None, OneAction(actions, length if given is None else given), linear)
    if given is None:
        hull = Hull(actions)
        return Place(hull, OnHull(hull, hull.axes, hull.axes, actions, length), linear)
    if not (given @ axes).any():
        checks.refuse("bound", "have a vector that tells the actions apart", bound)
    to_point, to_vector = rounding_maps(given @ axes)
    hull, spread = Hull(_Stretched(actions, to_point @ axes.T)), largest_difference(actions, given)
    outward, inward = axes @ to_vector.T @ hull.axes, axes @ to_point.T @ hull.axes
    known = hull.diameter if spread is None else spread  # vectors have length 1 there
    seen = OnHull(hull, outward, inward, actions, given, known)
    return Place(hull, seen, replace(linear, spread=spread))


def largest_difference(actions: ActionSet, vectors: Points) -> float | None:
    """Payoffs against mixtures of these vectors differ by at most this; None if it takes long."""
    each = actions.size if actions.listed and actions.size else 1
    if len(vectors) * each * actions.dim > _LOOKED_AT:
        return None
    return float(widths_of(actions, vectors).max()) * (
        1 + 1e-9
    )  # rounding in other coordinates must not break it


@final
@dataclass(frozen=True)
class BestRow(Row):
    """Of the rows for linear losses the one with the smallest bound; the plan is that row's."""

    learner: str | None = None
    row: str | None = None
    theorem: Theorem = THEOREMS[_ROW]
    rounding: str | None = None
    has_learners = False

    def applies(self, request: Request) -> bool:
        """Losses are linear."""
        return True

    def check(self, request: Request, learner: SubLearner | None) -> None:
        """The rows themselves say what they need."""

    def plan(self, request: Request, learner: SubLearner | None) -> Plan | None:
        """The best plan; its remark tells of the others."""
        names = WAYS if self.row is None else (checks.one_of("row", self.row, WAYS),)
        if self.row is None and not (request.mesh is None and self.learner is None):
            names = (_ROW,)  # the tree has neither
        field, losses, horizon = request.action_set, request.loss_class, request.horizon
        plans = [plan(field, losses, horizon, name, request.mesh, self.learner) for name in names]
        rounds = horizon or SHOWN_ROUNDS
        best = min(plans, key=lambda one: one.bound(rounds, built=False))
        others = [c for one in plans if one is not best for c in one.considered]
        words = ", ".join(f"{row} with {name} {bound:.6g}" for row, name, bound in others)
        return replace(best, remark=f"Bounds of other rows: {words}." if others else "")

    def start(self, plan: Plan, grid: Grid) -> Rule:
        """As the row that was chosen does it."""
        return plan.kind.start(plan, grid)


class Settled:
    """What is left of a learner where all actions have the same embedding."""

    rounds = 0
    guarantee = 0.0

    def play(self) -> Mixture:
        """The one point of the hull."""
        return Mixture(np.zeros((1, 1)), np.ones(1))

    def observe(self, loss: Loss) -> None:
        """Nothing to learn."""
        self.rounds += 1

    def certificate(self) -> Certificate:
        """No swap gains anything."""
        citation = THEOREMS[_ROW].citation
        return Certificate(Quantity.SWAP_REGRET, self.rounds, 0.0, 0.0, 0.0, citation, (), 0.0)

    def explain(self) -> str:
        """Why."""
        return "All actions have the same embedding, so there is nothing to learn."


class OneAction:
    """One coordinate that is always 0: all actions have the same embedding, or next to."""

    def __init__(self, actions: ActionSet, bound: Points | float) -> None:
        self._actions, self._bound = actions, bound

    def mixed(self, point: Vector) -> Mixed:
        """Any action."""
        return self._actions.best(np.zeros((1, self._actions.dim)))[0], np.ones(1)

    def losses(self, vectors: Points) -> Points:
        """Nothing of them matters."""
        return np.zeros((len(vectors), 1))

    @cached_property
    def missed(self) -> float:
        """What payoffs may differ by all the same."""
        if isinstance(self._bound, np.ndarray):
            return float(widths_of(self._actions, self._bound).max())
        axes = np.eye(self._actions.dim)
        return self._bound * float(np.linalg.norm(widths_of(self._actions, axes)))


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
        self.dim, self.size, self.listed = len(matrix), actions.size, actions.listed

    def embed(self, actions: Column) -> Points:
        return self.actions.embed(actions) @ self.matrix.T

    def best(self, directions: Points) -> tuple[Column, Vector]:
        return self.actions.best(directions @ self.matrix)


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
