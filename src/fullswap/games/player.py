"""The reduction: a learner on the hull of the embeddings becomes a player of the game.

Mixed actions are points of K = conv{v_a}, payoffs ⟨v, w⟩ are linear there, and so all that a
player needs is a learner with small full swap regret on K and, for every point s that it plays,
one fixed mixed action with mean s.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from fullswap.base import checks
from fullswap.base.protocols import Indices, Loss, Mixture, Points, Vector
from fullswap.certificates import Certificate, Quantity
from fullswap.games.actions import Action, ActionSet, Column
from fullswap.games.hull import Hull
from fullswap.games.inverse import Coordinates, Embedded, Inverse, OnHull, Oracle
from fullswap.losses import Linear
from fullswap.sets import ConvexSetBase

LEMMA = "FKO25, Lemma 11"
_OUTSIDE = 1e-7  # embeddings may miss a learner's set by this share of its size: rounding
_ROUNDING = 1e-14  # share of the coordinates that is rounding
_LISTED = 10_000  # so many embeddings are all looked for in a learner's set, of others some
_PROBES = 64  # directions in which the others' are looked for


class HullLearner(Protocol):
    """A learner on the hull: what it plays, and the loss that it meets."""

    def play(self) -> Mixture:
        """Points (m, A) of the hull and their probabilities; the same until a loss comes."""

    def observe(self, loss: Loss) -> None:
        """Learn."""


class MixedAction(NamedTuple):
    """Distinct actions and their probabilities."""

    actions: Column
    weights: Vector

    def draw(self, generator: np.random.Generator) -> Action:
        """One action at random."""
        return self.actions[generator.choice(len(self.weights), p=self.weights)]


def as_player(learner: HullLearner, actions: ActionSet, oracle: Oracle | None = None) -> Player:
    """A player of the game whose swap regret is at most the learner's full swap regret.

    [FKO25, Lemma 11]: let the learner play s with probability x_t[s], and let λ_s
    be a fixed mixed action with mean s. The player plays p_t = Σ_s x_t[s]·λ_s, sees w_t, and the
    learner meets the loss −⟨·, w_t⟩. Then

        Σ_a max_b Σ_t p_t[a]·⟨v_b − v_a, w_t⟩ ≤ Σ_s max_{b∈K} Σ_t x_t[s]·⟨b − s, w_t⟩ .

    For a map φ of actions that attains the left side, φ̃(s) = Σ_a λ_s[a]·v_φ(a) lies in K, and

        Σ_a p_t[a]·⟨v_φ(a) − v_a, w_t⟩ = Σ_s x_t[s]·Σ_a λ_s[a]·⟨v_φ(a) − v_a, w_t⟩
                                       = Σ_s x_t[s]·⟨φ̃(s) − s, w_t⟩ ,

    because λ_s is the same in all rounds and has mean s. Sum over t, and replace each φ̃(s) by the
    best point of K. Decompositions miss their means by rounding, up to 1e-9 of the extent of the
    hull; so much of the length of w_t a round would have to be added, and is not.

    Parameters
    ----------
    learner : FullSwapLearner, or anything with play() and observe(loss)
        On a set whose points are embeddings, shape (m, dim), such as a polytope or simplex that is
        the hull of the embeddings, or on a ``Hull`` in its own coordinates. Points must lie in the
        hull, and embeddings in the learner's set: where it has an ``action_set``, this is checked
        (up to 10,000 actions, else in some directions).
    actions : ActionSet
    oracle : callable, optional
        A point (dim,) ↦ actions and weights with this mean, the same whenever it is asked. By
        default ``decompose``, by best responses. Each distinct point is asked for once.

    Examples
    --------
    >>> import fullswap as fs
    >>> corners = [[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.4, 0.4]]
    >>> inner = fs.FullSwapLearner(
    ...     fs.sets.Polytope(vertices=corners), fs.LossClass.linear(1.0), 100)
    >>> player = as_player(inner, fs.games.Vectors(corners))
    >>> player.run([[0.6, -0.8]] * 100)
    >>> sorted(player.play().actions.tolist()), player.certificate().holds
    ([0, 1, 2], True)
    """
    for name in ("play", "observe"):
        if not callable(getattr(learner, name, None)):
            checks.refuse("learner", "have play() and observe(loss)", learner)
    checks.instance("actions", actions, ActionSet, "a set of fullswap.games")
    if oracle is not None and not callable(oracle):
        checks.refuse("oracle", "be a function of a point", oracle)
    field = getattr(learner, "action_set", None)
    if isinstance(field, Hull):
        if field.actions is not actions:
            checks.refuse("actions", "be those of the learner's hull", actions)
        promised = getattr(getattr(learner, "loss_class", None), "lipschitz", None)
        axes = field.axes
        return Player(actions, learner, OnHull(field, axes, axes, actions, promised, oracle=oracle))
    if isinstance(field, ConvexSetBase):
        _refuse_smaller(field, actions)
    return Player(actions, learner, Embedded(actions, oracle))


class Player:
    """A learner on the hull at play in the game; ``as_player`` makes one of any learner.

    Parameters
    ----------
    actions : ActionSet
    learner : HullLearner
    coordinates : Coordinates
        How the learner's points and losses are read in the game.
    track : bool
        Keep the sums from which the certificate is computed.
    """

    def __init__(
        self,
        actions: ActionSet,
        learner: HullLearner,
        coordinates: Coordinates,
        track: bool = True,
    ) -> None:
        self.actions, self.learner = actions, learner
        self._coordinates, self._track = coordinates, track
        self._inverse = Inverse(coordinates)
        self._sums: Points = np.zeros((0, actions.dim))
        self._pending: tuple[Indices, Vector] | None = None
        self._rounds = 0

    @property
    def rounds(self) -> int:
        """Rounds played so far."""
        return self._rounds

    @property
    def guarantee(self) -> float:
        """Bound on the swap regret: the learner's on its full swap regret; NaN if it has none.

        Where the hull is so thin somewhere that coordinates leave that out, what payoffs do there
        is added.
        """
        rounds = max(self.rounds, getattr(self.learner, "horizon", None) or 0)
        inner = float(getattr(self.learner, "guarantee", math.nan))
        return inner + self._coordinates.missed * rounds

    @property
    def support(self) -> Column:
        """Actions that have been played or may be at present, as far as is known."""
        grid = getattr(self.learner, "grid", None)
        if grid is None:
            self._labelled()
            return self._inverse.column()
        return self._inverse.column(self._inverse.labels(np.asarray(grid.points)))

    def play(self) -> MixedAction:
        """The mixed action of this round; the same until a payoff vector is observed."""
        labels, weights = self._labelled()
        return MixedAction(self._inverse.column(labels), weights.copy())

    def observe(self, vector: ArrayLike) -> None:
        """Learn from the payoff vector w (dim,) that the others' play made: payoffs ⟨v, w⟩."""
        array = checks.vector("vector", vector, self.actions.dim)
        self._observe(array, self._coordinates.losses(array[None, :])[0])

    def run(self, vectors: ArrayLike) -> None:
        """Play against payoff vectors (T, dim) fixed in advance: the loop of play and observe."""
        array = checks.floats("vectors", vectors)
        if array.ndim != 2 or array.shape[1] != self.actions.dim:
            checks.refuse_shape("vectors", f"(T, {self.actions.dim})", array)
        for vector, direction in zip(array, self._coordinates.losses(array), strict=True):
            self._observe(vector, direction)

    def swap_regret(self) -> float:
        """Σ_a max_b Σ_t p_t[a]·⟨v_b − v_a, w_t⟩ so far, against every action."""
        if not self._track:
            checks.refuse("track", "be True for a certificate", self._track)
        if not self.rounds:
            return 0.0
        sums = self._sums[: len(self._inverse)]
        best = self.actions.best(sums)[1]
        own = (self.actions.embed(self._inverse.column()) * sums).sum(axis=1)
        return float(np.maximum(best - own, 0.0).sum())

    def certificate(self) -> Certificate:
        """Measured swap regret, against every action, beside the learner's guarantees."""
        measured, make = self.swap_regret(), getattr(self.learner, "certificate", None)
        known: dict[str, Any] = {"guaranteed": None, "after_the_fact": None, "theorem": LEMMA}
        if callable(make):
            inner = make()
            names = ("guaranteed", "after_the_fact", "theorem", "broken", "about")
            known = {name: getattr(inner, name) for name in names}
            for name in ("guaranteed", "after_the_fact"):
                if known[name] is not None:
                    known[name] += self._coordinates.missed * self.rounds
        quantity = Quantity.SWAP_REGRET
        return Certificate(quantity, self.rounds, measured, measured_at_most=measured, **known)

    def explain(self) -> str:
        """What was chosen and why, if the learner says."""
        tell = getattr(self.learner, "explain", None)
        return str(tell()) if callable(tell) else f"Plays what {self.learner!r} plays on the hull."

    def __repr__(self) -> str:
        size = "∞" if self.actions.size is None else f"{self.actions.size:,}"
        horizon = getattr(self.learner, "horizon", None)
        planned = "" if horizon is None else f" of {horizon:,}"
        return f"<{type(self).__name__}: {size} actions; {self.rounds:,}{planned} rounds>"

    def _labelled(self) -> tuple[Indices, Vector]:
        if self._pending is None:
            self._pending = self._inverse.mix(self.learner.play())
        return self._pending

    def _observe(self, vector: Vector, direction: Vector) -> None:
        labels, weights = self._labelled()
        self.learner.observe(Linear(direction))
        if self._track:
            if len(self._inverse) > len(self._sums):
                more = np.zeros((2 * len(self._inverse), self.actions.dim))
                more[: len(self._sums)] = self._sums
                self._sums = more
            self._sums[labels] += weights[:, None] * vector
        self._rounds += 1
        self._pending = None


def _refuse_smaller(field: ConvexSetBase, actions: ActionSet) -> None:
    """Where the learner's set lacks actions, its regret says nothing of swaps to them."""
    width = getattr(field, "ambient_dim", None)
    if width != actions.dim:
        rule = f"play points with {actions.dim} coordinates, as the embeddings have"
        checks.refuse("learner", rule, width)
    if actions.size is not None and actions.size <= _LISTED:
        some = np.arange(actions.size)
    else:
        turns = np.random.default_rng(0).standard_normal((_PROBES, actions.dim))
        some = actions.best(np.vstack((np.eye(actions.dim), -np.eye(actions.dim), turns)))[0]
    rows = actions.embed(some)
    away = np.linalg.norm(field.project(rows) - rows, axis=1)
    outside = away > _OUTSIDE * field.diameter + _ROUNDING * np.abs(rows).max()
    checks.refuse_at("actions", f"have embeddings in the learner's set {field}", rows, outside)
