"""The learner that users meet: play, observe, and a guarantee that is a number."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.protocols import Indices, Loss, Mixture, Points, Vector
from fullswap.base.records import Record
from fullswap.certificates import Certificate, Quantity
from fullswap.grids import Grid, ends
from fullswap.learners import SubLearner
from fullswap.losses import Custom, LossClass, QuadraticFamily, as_points
from fullswap.metrics.regret import TOLERANCE, minima, report
from fullswap.metrics.tally import Tally
from fullswap.sets import ConvexSetBase
from fullswap.template.choice import LITTLE, Plan, Row
from fullswap.template.plan import plan
from fullswap.template.rules import Rule
from fullswap.template.views import LineView, view_of


class FullSwapLearner:
    """Play on a convex set with small full swap regret, whatever the losses do.

    Guarantee: ``guarantee`` bounds the full swap regret of the distributions played, for every
    sequence of losses in the class, by the theorem that ``explain()`` names.

    Parameters
    ----------
    action_set : ConvexSetBase
    loss_class : LossClass
        What is promised of every loss.
    horizon : int or None
        Number of rounds T; None if unknown (grids are then refined as rounds go by).
    row : str, Row or None
        A row of the table, a key of ``fullswap.theorems.THEOREMS``. By default the applicable
        row with the smallest bound. Or "tree" (convex losses), whose points move and whose bound
        does not know the dimension: taken by itself where that is the smallest, mostly in many
        dimensions.
    mesh : float or None
        Spacing of the grid. By default the one that minimises the bound.
    learner : str, SubLearner or None
        Sub-learner: "hedge", "gradient" or "matching", or one of one's own.
    rule : str or None
        "crossing" (d = 1, convex losses) or "stationary".
    actions : sequence of float or None
        In d = 1, the only points that may be played; regret is then against maps into them
        (the discretised case).
    track : bool
        Keep the sums from which the certificate is computed.

    Examples
    --------
    >>> from fullswap import sets, losses
    >>> learner = FullSwapLearner(sets.Interval(0, 1), LossClass.squared(1.0), horizon=1000)
    >>> for outcome in [1, 0, 1, 1] * 250:
    ...     mixture = learner.play()
    ...     learner.observe(losses.Quadratic([outcome]))
    >>> print(learner.certificate())
    1,000 rounds: replacing each point played by the best other point would have saved a loss of
    8.686 in total; guaranteed at most 46.7, for all losses of the given class.
    This total is the full swap regret [FKO25, Table 1 row 5].
    """

    def __init__(
        self,
        action_set: ConvexSetBase,
        loss_class: LossClass,
        horizon: int | None = None,
        *,
        row: str | Row | None = None,
        mesh: float | None = None,
        learner: str | SubLearner | None = None,
        rule: str | None = None,
        actions: Any = None,
        track: bool = True,
    ) -> None:
        checks.instance("action_set", action_set, ConvexSetBase, "a set of fullswap.sets")
        checks.instance("loss_class", loss_class, LossClass, "a LossClass")
        self.action_set, self.loss_class, self.horizon = action_set, loss_class, horizon
        self._view = view_of(action_set)
        inner = action_set if self._view is None else self._view.inner
        allowed = None if actions is None else self._allowed(actions)
        self.plan: Plan = plan(inner, loss_class, horizon, row, mesh, learner, rule, allowed)
        self._inner = self.plan.action_set
        self._actions = None if allowed is None else allowed[:, None]
        self._track = track
        self._tally = Tally(self._inner.ambient_dim)
        self._level = 0
        self._grid: Grid = self.plan.grid_at(0)
        self._rule: Rule = self.plan.start(self._grid)
        self._labels = self._labels_of_grid()
        self._probes, self._probes_suffice = _probes(self._inner)
        self._tangent = self._inner.frame[1]
        self._pending: tuple[Any, Vector] | None = None
        self._broken: tuple[str, ...] = ()
        self._known: dict[int, tuple[Loss, Loss]] = {}
        self.rounds = 0

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # copies of losses have ids of their own
        self._known = {id(loss): (loss, seen) for loss, seen in self._known.values()}

    def __repr__(self) -> str:
        planned = "" if self.horizon is None else f" of {self.horizon:,}"
        little = "; little is promised" if self.plan.share > LITTLE else ""
        extent = self.plan.kind.extent(self.grid)
        return (
            f"<FullSwapLearner: {self.row}, {extent} of {self.action_set!r}; "
            f"{self.rounds:,}{planned} rounds{little}>"
        )

    # --- what was chosen ------------------------------------------------------------------

    @property
    def row(self) -> str:
        """The row of the table in play."""
        return self.plan.row

    @property
    def mesh(self) -> float:
        """Spacing of the grid in play; where points move, the radius of the set around it."""
        return self._grid.mesh

    @property
    def grid(self) -> Grid:
        """The grid in play, in the set's own coordinates; where points move, their start."""
        return self._grid

    @property
    def guarantee(self) -> float:
        """A-priori bound: for the horizon, or for the rounds so far if there is none.

        NaN once a loss has broken what its class promised: nothing is guaranteed then.
        """
        if self._broken:
            return math.nan
        return self.plan.bound(max(self.rounds, self.horizon or 0))

    @property
    def points(self) -> Points:
        """Every point played so far or in the grid, by label, shape (P, A).

        With ``track=False`` points that move are not kept: mixtures then carry no labels.
        """
        return self._outward(self._tally.points)

    def explain(self) -> str:
        """What was chosen and why."""
        return self.plan.explain()

    # --- one round --------------------------------------------------------------------------

    def play(self) -> Mixture:
        """Mixture of this round; the same until a loss is observed."""
        indices, weights = self._mix()
        points = self._outward(self._rule.points[indices])
        return Mixture(points, weights, self._labels_at(indices))

    def observe(self, loss: Loss) -> None:
        """Learn from the loss of this round."""
        seen = self._seen(loss)
        indices, weights = self._mix()
        support, labels = self._rule.points[indices], self._labels_at(indices)
        broken = self._violation(seen)
        if not isinstance(seen, QuadraticFamily):
            seen.value(support)  # what the certificate will ask for must not fail then
        # What can raise comes before what changes the state.
        if broken:
            self._warn(broken, stacklevel=3)
        lost = self._rule.learn(seen, indices, weights)
        if broken:
            self._note(broken, self.rounds + 1)
        if self._track:
            self._tally.add(labels, weights, seen)
            self._tally.recommended[labels] += weights * lost
        self._advance(1)

    def run(self, losses: Any, record: bool = False) -> Record | None:
        """Play against losses fixed in advance: rows of coefficients (T, A + 2), or a sequence.

        The same numbers as the loop of play and observe. Rows of coefficients (or a sequence of
        linear and quadratic losses) run in one compiled loop under gradient descent on lines,
        boxes, simplices, balls and polytopes, whatever their grid and rule, trees too. Sets given
        by functions, other losses, learners over the grid points, and the discretised row by a
        stationary distribution take the loop in Python.
        ``record=True`` gives the record.
        """
        from fullswap.template.batch import run_losses

        return run_losses(self, losses, record)

    # --- measured against guaranteed -------------------------------------------------------

    def certificate(self) -> Certificate:
        """Measured regret of this run beside its guarantees, before and after the fact."""
        if not self._track:
            checks.refuse("track", "be True for a certificate", self._track)
        tally, quantity = self._tally, Quantity.FULL_SWAP_REGRET
        if self._actions is not None:
            quantity = Quantity.DISCRETISED_SWAP_REGRET
            best = tally.at_all(self._actions).min(axis=1)
            measured = at_most = float(np.maximum(tally.incurred() - best, 0.0).sum())
        else:
            regret = report(tally, self._inner, *self._promised)
            measured, at_most = regret.value, regret.upper
        known, after = None, None
        if not self._broken:
            known = self.plan.bound(self.rounds)
            after = min(known, self._after_the_fact())
        source = self.plan.theorem.citation
        about = "" if self.rounds else self.plan.promise()
        return Certificate(
            quantity, self.rounds, measured, known, after, source, self._broken, at_most,
            about=about,
        )  # fmt: skip

    def _after_the_fact(self) -> float:
        """Σδ_t + Σ_s Reg_s of this run, plus what the numerical residual may have cost."""
        tally = self._tally
        if self.plan.deviates_on_grid:
            # rounding a deviation to the grid in play is paid for by δ, so its points suffice
            best = tally.at_all(self._rule.points).min(axis=1)
        else:
            _, _, best = minima(tally, self._inner, *self._promised)
        regret = float((tally.recommended - best).sum())
        charge = self.plan.constants.loss_range / 2 * self._rule.residual
        return self.plan.rounding_cost(self.rounds) + regret + charge

    # --- inside -------------------------------------------------------------------------------

    @property
    def context(self) -> dict[str, Any]:
        """What a record of this learner carries along."""
        actions = None if self._actions is None else self._outward(self._actions)
        return {"actions": actions, "lipschitz": self.loss_class.lipschitz}

    @property
    def _promised(self) -> tuple[float, float, bool]:
        """What certified minima may rely on."""
        return self.loss_class.lipschitz, TOLERANCE, self.loss_class.convex

    def _mix(self) -> tuple[Any, Vector]:
        if self._pending is None:
            self._pending = self._rule.mix()
        return self._pending

    def _advance(self, rounds: int) -> None:
        self.rounds += rounds
        self._pending = None
        if self.plan.schedule is not None and self.plan.schedule.level(self.rounds) > self._level:
            self._level = self.plan.schedule.level(self.rounds)
            self._grid = self.plan.grid_at(self.rounds)
            self._rule = self._rule.carried_into(self.plan.start(self._grid))
            self._labels = self._labels_of_grid()

    def _labels_of_grid(self) -> Indices | None:
        """Rows of the tally for the grid in play; None where points move."""
        return None if self.plan.kind.moving else self._tally.indices_of(self._grid.points)

    def _labels_at(self, indices: Indices) -> Any:
        """Rows of the tally for points in play; moving ones enter it only where it is kept."""
        if self._labels is not None:
            return self._labels[indices]
        return self._tally.indices_of(self._rule.points[indices]) if self._track else None

    def _rounds_on_this_grid(self) -> int:
        """How many rounds may be played before the grid changes."""
        if self.plan.schedule is None:
            return 2**62
        return self.plan.schedule.level_ends(self.rounds) - self.rounds

    def _absorb(self, weights: Vector, recommended: Vector, sums: Points, rounds: int) -> None:
        """Take over what a compiled loop added up at the grid points."""
        if self._track:
            self._tally.weights[self._labels] += weights
            self._tally.recommended[self._labels] += recommended
            self._tally.sums[self._labels] += sums
        self._advance(rounds)

    def _allowed(self, actions: Any) -> Vector:
        if not isinstance(self._view, LineView):
            rule = "have dimension 1 with actions (the paper leaves more dimensions open)"
            checks.refuse("action_set", rule, self.action_set.dim)
        array = checks.floats("actions", actions)
        if array.ndim == 1 and self.action_set.ambient_dim == 1:
            array = array[:, None]
        if array.ndim == 2:
            array = self._view.coordinates(as_points(array, self.action_set.ambient_dim, "actions"))
        if array.ndim != 1 or array.size < 2:
            checks.refuse("actions", "be at least 2 points of the line", actions)
        if not (np.diff(array) > 0).all():
            checks.refuse("actions", "be distinct and in rising order", actions)
        low, high = ends(self._view.inner)
        slack = 1e-9 * (high - low)  # ends that were computed may be off by rounding
        if array[0] < low - slack or array[-1] > high + slack:
            first, last = ends(self.action_set)
            checks.refuse("actions", f"lie in [{first:.6g}, {last:.6g}]", actions)
        return array

    def _outward(self, points: Points) -> Points:
        return points if self._view is None else self._view.outward(points)

    def _seen(self, loss: Loss) -> Loss:
        """The loss on the inner set; values and gradients of foreign losses get checked."""
        if not all(callable(getattr(loss, name, None)) for name in ("value", "gradient")):
            checks.refuse("loss", "have value() and gradient()", loss)
        if isinstance(loss, QuadraticFamily):
            wanted, width = self.action_set.ambient_dim, loss.ambient_dim
            if width != wanted:
                raise ValueError(f"loss must be on {wanted} coordinates, got one on {width}")
            return loss if self._view is None else self._view.inward(loss)
        # A loss that comes again must be recognised: the tally keeps each of them once. Both
        # objects are held, so that no id is given twice.
        if id(loss) not in self._known:
            checked = loss if isinstance(loss, Custom) else Custom(loss.value, loss.gradient)
            seen = checked if self._view is None else self._view.inward(checked)
            if not self._track:
                return seen
            self._known[id(loss)] = (loss, seen)
        return self._known[id(loss)][1]

    def _violation(self, loss: Loss) -> str | None:
        points = self._probes
        if not isinstance(loss, QuadraticFamily):
            if id(loss) in self._tally.others:
                return None  # looked at when it first came
            points = np.concatenate((points, self._rule.points[:256]))
        elif not self._probes_suffice:
            points = self._steepest(loss.coefficients)
        return self.loss_class.violation(loss, points, self._tangent, self._inner.diameter)

    def _steepest(self, coefficients: Vector) -> Points:
        """Where a quadratic f is steepest: ‖2a·x + b‖ peaks where −f (if a > 0) is least."""
        a, b = float(coefficients[0]), coefficients[None, 1:-1]
        if a == 0.0:
            return self._probes  # equally steep everywhere
        try:
            return self._inner._minimize_concave(np.array([-abs(a)]), b if a < 0.0 else -b)
        except NotImplementedError:  # sets given by functions cannot tell
            return self._probes

    def _steepest_points(self, rows: Points) -> Points | None:
        """The same for rows, one point each (T, A), whichever where they are linear."""
        a, b = rows[:, 0], rows[:, 1:-1]
        slopes = np.where(a[:, None] < 0.0, b, -b)
        try:
            return self._inner._minimize_concave(-np.abs(a), slopes)
        except NotImplementedError:
            return None

    def _first_violation(self, rows: Points) -> tuple[int, str] | None:
        """The same check for rows of coefficients."""
        if not len(rows):
            return None
        from fullswap.kernels.quadratic import extreme_rows, steepest_rows

        # if any row breaks a promise, then one of these three does
        points = None if self._probes_suffice else self._steepest_points(rows)
        if points is None:
            extremes = set(extreme_rows(rows, self._probes, self._tangent))
        else:
            extremes = set(steepest_rows(rows, points, self._tangent))
        if not any(self._violation(QuadraticFamily(rows[i])) for i in extremes):
            return None
        messages = ((i, self._violation(QuadraticFamily(row))) for i, row in enumerate(rows))
        return next(((i, message) for i, message in messages if message), None)

    def _warn(self, message: str, stacklevel: int) -> None:
        """Warn of the first broken promise only."""
        if not self._broken:
            text = f"a loss breaks what its class promises ({message}): no guarantee from here on"
            warnings.warn(text, stacklevel=stacklevel)

    def _note(self, message: str, round_number: int) -> None:
        self._broken = self._broken or (f"round {round_number}: {message}",)


def _probes(action_set: ConvexSetBase) -> tuple[Points, bool]:
    """Points where slopes are looked at: vertices if not too many, else axis extremes.

    True with the vertices: slopes of linear and quadratic losses are steepest at one of them.
    """
    vertices = action_set.vertices
    if vertices is not None and len(vertices) <= 256:
        return np.asarray(vertices), True
    axes = action_set.frame[1].T
    return action_set.minimize_linear(np.concatenate((axes, -axes))), False
