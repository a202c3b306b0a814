"""The compiled round on Kuhn grids of boxes and simplices, for quadratic losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.base.protocols import Indices, Points, Rounding, Vector
from fullswap.grids.kuhn import KuhnLocator
from fullswap.learners import GradientDescent
from fullswap.rounding import Barycentric
from fullswap.sets.base import KernelShape

if TYPE_CHECKING:
    from fullswap.template.rules import Stationary


def fused_mesh(learner: Any, rounding: Rounding) -> FusedMesh | None:
    """The compiled round where there is one: gradient descent, Kuhn grid, a set with kernels."""
    if isinstance(learner, GradientDescent) and isinstance(rounding, Barycentric):
        shape = learner.action_set.kernel_shape
        if isinstance(rounding.locate, KuhnLocator) and shape is not None:
            return FusedMesh(learner.rate.parameters(), shape, rounding.locate)
    return None


class FusedMesh:
    """Arguments of ``fullswap.kernels.mesh``, gathered once."""

    def __init__(self, rate: Vector, shape: KernelShape, locate: KuhnLocator) -> None:
        width = len(shape[1])
        self._rate, self._shape = rate, shape
        shift, matrix = np.array(locate.shift, dtype=float), np.array(locate.matrix, dtype=float)
        self._lattice = (shift, matrix, locate.cells, locate.strides, locate.lookup)
        self._scratch = (np.zeros((2, width + 1)), np.zeros(width + 1, np.int64))

    @staticmethod
    def _bank(rule: Stationary) -> tuple[Any, ...]:
        return rule.bank.targets, rule.bank.weight_sums, rule.row_indices, rule.row_weights

    def learn(
        self, rule: Stationary, coefficients: Vector, indices: Indices, weights: Vector
    ) -> Vector:
        """One round's update; returns what each recommendation lost."""
        from fullswap.kernels.mesh import mesh_learn

        lost = np.empty(len(indices))
        mesh_learn(
            self._bank(rule), self._rate, self._shape, self._lattice, self._scratch,
            indices, weights, coefficients, lost,
        )  # fmt: skip
        return lost

    def run(
        self, rule: Stationary, coefficients: Points, labels: Indices, weights: Vector
    ) -> tuple[int, Points, Vector]:
        """Rounds until the end, or until a class needs more room; see ``mesh_run``."""
        from fullswap.kernels.mesh import mesh_run

        n, width = len(rule.points), coefficients.shape[1]
        gained, recommended = np.zeros((n, width + 1)), np.zeros(n)
        played, rule.heaviest = mesh_run(
            self._bank(rule), self._rate, self._shape, self._lattice, self._scratch,
            rule.walk, rule.heaviest, coefficients, gained, recommended, labels, weights,
        )  # fmt: skip
        return played, gained, recommended
