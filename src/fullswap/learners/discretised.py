"""Any bank of convex learners, fed piecewise-linearised losses. [FKO25, Algorithm GDK2]."""

from __future__ import annotations

from typing import Generic

from fullswap.base.protocols import Indices, Learner, Loss, Points, State, Vector
from fullswap.losses import piecewise_linear


class Discretised(Generic[State]):
    """Wraps a bank so that it competes on a given finite set of actions."""

    def __init__(self, base: Learner[State], actions: Points) -> None:
        self.base, self.actions = base, actions

    def init(self, n: int) -> State:
        """State of n fresh learners."""
        return self.base.init(n)

    def propose(self, state: State) -> Points:
        """Recommendations of the wrapped learners."""
        return self.base.propose(state)

    def update(
        self, state: State, loss: Loss, weights: Vector, rows: Indices | None = None
    ) -> State:
        """Feed the piecewise-linearised loss to the wrapped learners."""
        return self.base.update(state, self.seen(loss), weights, rows)

    def seen(self, loss: Loss) -> Loss:
        """The piecewise linearisation of the loss on the actions."""
        return piecewise_linear(loss, self.actions)
