"""Convex Lipschitz losses in one dimension by multi-scale binning, as a rule and as a player.

Losses on an interval [low, low + D] with slopes at most L become laws on [0, 1]:
P(v ≤ y) = (ℓ'(low + D·y +)/L + 1)/2, with the one-sided slopes at the grid points alone.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from fullswap.grids import ends
from fullswap.learners.multiscale import MOST_CELLS, MultiScale, default_cells
from fullswap.losses import SLACK, Custom, LossClass, QuadraticFamily
from fullswap.protocols import Indices, Loss, Mixture, Points, Vector
from fullswap.sets import ConvexSetBase
from fullswap.template.views import LineView

NUDGE = 1e-9
"""Slopes to the left and right of x are gradients this share of the diameter away from it."""
SECANT = 1e-6
"""The same for losses without a gradient, whose slopes are differences of values."""


def one_sided_slopes(loss: Loss, points: Points) -> tuple[Vector, Vector]:
    """Slopes ℓ'(x+) at all points but the last and ℓ'(x−) at all but the first, (n,) each.

    ``points`` (n + 1, 1) are in rising order; the loss is asked between the first and the last.

    Examples
    --------
    >>> tent = Custom(lambda x: abs(x[:, 0] - 0.5), lambda x: np.sign(x - 0.5))
    >>> one_sided_slopes(tent, np.array([[0.0], [0.5], [1.0]]))
    (array([-1.,  1.]), array([-1.,  1.]))
    """
    if isinstance(loss, QuadraticFamily):
        slopes = loss.gradient(points)[:, 0]
        return slopes[:-1], slopes[1:]
    length = float(points[-1, 0] - points[0, 0])
    n = len(points) - 1
    if getattr(loss, "has_gradient", True):
        step = NUDGE * length
        asked = np.concatenate((points[:-1] + step, points[1:] - step))
        slopes = loss.gradient(asked)[:, 0]
        return slopes[:n], slopes[n:]
    step = SECANT * length
    asked = np.concatenate((points, points[:-1] + step, points[1:] - step))
    values = loss.value(asked)
    here, right, left = values[: n + 1], values[n + 1 : 2 * n + 1], values[2 * n + 1 :]
    return (right - here[:-1]) / step, (here[1:] - left) / step


def law_of(loss: Loss, points: Points, lipschitz: float) -> tuple[Vector, Vector, str | None]:
    """P(v < x) and P(v ≤ x) at the points, (n + 1,) each, and which promise the loss breaks.

    Slopes beyond ``lipschitz`` are cut off and falling ones evened out, so that there is a law.

    Examples
    --------
    >>> from fullswap.losses import Quadratic
    >>> law_of(Quadratic([0.0], 0.5), np.array([[0.0], [0.5], [1.0]]), 1.0)
    (array([0.  , 0.75, 1.  ]), array([0.5 , 0.75, 1.  ]), None)
    """
    after, before = one_sided_slopes(loss, points)
    # in the order of the line: after the first point, before and after the second, …
    slopes = np.column_stack((after, before)).ravel() / lipschitz
    broken = None
    steepest, bend = float(np.abs(slopes).max()), float(np.diff(slopes).min(initial=0.0))
    if steepest > 1 + SLACK:
        broken = f"slope {steepest * lipschitz:.6g} exceeds lipschitz = {lipschitz:.6g}"
    elif bend < -SLACK:
        broken = f"a slope falls by {-bend * lipschitz:.6g}, but losses were promised to be convex"
    law = np.maximum.accumulate((np.clip(slopes, -1.0, 1.0) + 1.0) / 2)
    return np.append(0.0, law[1::2]), np.append(law[::2], 1.0), broken


class MultiScaleRule:
    """Multi-scale binning on [low, high], in the manner of ``fullswap.template.rules``.

    ``mix()`` gives indices into ``points`` and weights; ``learn`` returns what the points in play
    lost, there being no sub-learners with recommendations of their own.
    """

    residual = 0.0

    def __init__(
        self, low: float, high: float, lipschitz: float, cells: int, horizon: int,
        coarsest_first: bool = True,
    ) -> None:  # fmt: skip
        self.points: Points = np.linspace(low, high, cells + 1)[:, None]
        self.binning = MultiScale(cells, horizon, coarsest_first)
        self.lipschitz = lipschitz
        self.broken: str | None = None
        """Which promise the last loss broke."""

    def mix(self) -> tuple[Indices, Vector]:
        """Support and weights of this round's mixture."""
        return self.binning.mix()

    def learn(self, loss: Loss, indices: Indices, weights: Vector) -> Vector:
        """Feed the law of the loss to the bins in play."""
        lost = np.asarray(loss.value(self.points[indices]), dtype=float)
        below, up_to, broken = law_of(loss, self.points, self.lipschitz)
        self.binning.learn(below, up_to)
        self.broken = broken
        return lost

    def extended(self, points: Points, *args: Any) -> MultiScaleRule:
        """Never asked for: γ is set by the horizon, and without one there is no such rule."""
        raise NotImplementedError("multi-scale binning needs a horizon: its grid does not grow")


class ConvexLearner:
    """Õ(√T) full swap regret for convex Lipschitz losses on a set of dimension 1.

    Multi-scale binning (``fullswap.learners.multiscale``). Deterministic: the mixture is a
    distribution over at most 1/γ + 1 evenly spaced points. It prints no guarantee, because the
    constants of the theorem are not explicit; measure with ``fullswap.metrics``.

    Parameters
    ----------
    action_set : ConvexSetBase
        A set of dimension 1.
    loss_class : LossClass
        With ``convex=True`` (or ``strong_convexity`` > 0); ``lipschitz`` sets the scale.
    horizon : int
        Number of rounds T.
    gamma : float or None
        Finest scale as a share of the diameter, rounded to a power of ½; by default that nearest
        to 1/(2·√T).
    coarsest_first : bool
        Let finer bins in only where coarse ones fail; False plays all scales in every round, as
        the authors of the algorithm do, with 1.5 to 1.9 times the regret measured.

    Examples
    --------
    >>> from fullswap import sets, losses
    >>> learner = ConvexLearner(sets.Interval(0, 1), LossClass(1.0, convex=True), horizon=400)
    >>> for _ in range(400):
    ...     learner.observe(losses.Custom(lambda x: abs(x[:, 0] - 0.3), lambda x: np.sign(x - 0.3)))
    >>> learner.play().mean.round(1)
    array([0.3])
    """

    def __init__(
        self,
        action_set: ConvexSetBase,
        loss_class: LossClass,
        horizon: int,
        *,
        gamma: float | None = None,
        coarsest_first: bool = True,
    ) -> None:
        if not isinstance(action_set, ConvexSetBase):
            raise ValueError(f"action_set must be a set of fullswap.sets, got {action_set!r}")
        if action_set.dim != 1:
            raise ValueError(f"action_set must have dimension 1, got {action_set.dim}")
        if not isinstance(loss_class, LossClass):
            raise ValueError(f"loss_class must be a LossClass, got {loss_class!r}")
        if not loss_class.convex:
            raise ValueError(f"loss_class must be convex (convex=True), got {loss_class!r}")
        whole = isinstance(horizon, int | np.integer) and not isinstance(horizon, bool)
        if not whole or horizon < 1:
            raise ValueError(f"horizon must be a whole number >= 1, got {horizon!r}")
        if not isinstance(coarsest_first, bool | np.bool_):
            raise ValueError(f"coarsest_first must be True or False, got {coarsest_first!r}")
        cells = default_cells(int(horizon)) if gamma is None else _cells_of(gamma)
        self.action_set, self.loss_class, self.horizon = action_set, loss_class, int(horizon)
        self._view = LineView(action_set)
        low, high = ends(self._view.inner)
        self._rule = MultiScaleRule(
            low, high, loss_class.lipschitz, cells, int(horizon), bool(coarsest_first)
        )
        self.broken: tuple[str, ...] = ()
        """The first broken promise, if any."""
        self.rounds = 0

    @property
    def gamma(self) -> float:
        """Finest scale, as a share of the diameter."""
        return 1.0 / self._rule.binning.cells

    @property
    def mesh(self) -> float:
        """Spacing of the points."""
        return self.gamma * self.action_set.diameter

    @property
    def points(self) -> Points:
        """All points that may be played, by label, shape (1/γ + 1, A)."""
        return self._view.outward(self._rule.points)

    @property
    def context(self) -> dict[str, Any]:
        """What a transcript of this learner carries along."""
        return {"lipschitz": self.loss_class.lipschitz}

    @property
    def value(self) -> float:
        """Value of this round's game between bins and outcomes: at most 0."""
        self._rule.mix()
        return self._rule.binning.value

    def play(self) -> Mixture:
        """Mixture of this round; the same until a loss is observed."""
        indices, weights = self._rule.mix()
        return Mixture(self._view.outward(self._rule.points[indices]), weights, indices)

    def observe(self, loss: Loss) -> None:
        """Learn from the loss of this round; the first one outside the class gets a warning."""
        seen = self._seen(loss)
        self._rule.learn(seen, *self._rule.mix())
        self.rounds += 1
        if self._rule.broken and not self.broken:
            self.broken = (f"round {self.rounds}: {self._rule.broken}",)
            warnings.warn(
                f"a loss breaks what its class promises ({self._rule.broken})", stacklevel=2
            )

    def _seen(self, loss: Loss) -> Loss:
        """The loss along the coordinate of the line, its values and gradients checked."""
        if isinstance(loss, QuadraticFamily):
            if loss.ambient_dim != self.action_set.ambient_dim:
                raise ValueError(
                    f"loss must be on {self.action_set.ambient_dim} coordinates, "
                    f"got one on {loss.ambient_dim}"
                )
            return self._view.inward(loss)
        if not callable(getattr(loss, "value", None)):
            raise ValueError(f"loss must have value() and gradient(), got {loss!r}")
        if not isinstance(loss, Custom):
            loss = Custom(loss.value, getattr(loss, "gradient", None))
        return self._view.inward(loss)


def _cells_of(gamma: float) -> int:
    number = isinstance(gamma, int | float | np.integer | np.floating)
    if not number or isinstance(gamma, bool) or not 1 / MOST_CELLS <= gamma <= 0.5:
        raise ValueError(f"gamma must be None or lie in [1/{MOST_CELLS}, 1/2], got {gamma!r}")
    return int(2 ** round(-math.log2(gamma)))
