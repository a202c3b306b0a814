"""What happened: the mixtures played and the losses met, as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Loss, Mixture, Points, Vector
from fullswap.losses import QuadraticFamily
from fullswap.sets import ConvexSetBase


@dataclass(frozen=True, eq=False)
class Transcript:
    """T rounds of play on one action set.

    Attributes
    ----------
    action_set : ConvexSetBase
        The set on which it was played.
    points : (P, A) array
        Every point that was ever played.
    indices, weights : (T, k) arrays
        Mixture of each round over ``points``; padding has weight 0.
    coefficients : (T, A + 2) array or None
        Losses of the quadratic family.
    losses : tuple of Loss or None
        The losses as objects where ``coefficients`` is None.
    actions : (m, A) array or None
        The only deviations allowed, in the discretised case.
    lipschitz : float or None
        Promised constant, used to certify minima of losses given as functions.
    """

    action_set: ConvexSetBase
    points: Points
    indices: Indices
    weights: Vector
    coefficients: Points | None = None
    losses: tuple[Loss, ...] | None = None
    actions: Points | None = None
    lipschitz: float | None = None

    def __post_init__(self) -> None:
        if (self.coefficients is None) == (self.losses is None):
            raise ValueError("give either coefficients or losses, and not both")
        if self.indices.shape != self.weights.shape or self.indices.ndim != 2:
            raise ValueError(
                f"indices and weights must share one shape (T, k), got "
                f"{self.indices.shape} and {self.weights.shape}"
            )
        told = len(self.losses) if self.losses is not None else len(self.coefficients)  # type: ignore[arg-type]
        if told != len(self.weights):
            raise ValueError(f"{len(self.weights)} mixtures but {told} losses")

    def __len__(self) -> int:
        return len(self.weights)

    def head(self, rounds: int) -> Transcript:
        """The first ``rounds`` rounds."""
        return replace(
            self,
            indices=self.indices[:rounds],
            weights=self.weights[:rounds],
            coefficients=None if self.coefficients is None else self.coefficients[:rounds],
            losses=None if self.losses is None else self.losses[:rounds],
        )

    @classmethod
    def from_rounds(
        cls, action_set: ConvexSetBase, rounds: Sequence[tuple[Mixture, Loss]], **context: Any
    ) -> Transcript:
        """Collect (mixture, loss) pairs; equal points are recognised by their coordinates.

        Examples
        --------
        >>> from fullswap import sets, losses
        >>> half = Mixture(np.array([[0.5]]), np.array([1.0]))
        >>> len(Transcript.from_rounds(sets.Interval(0, 1), [(half, losses.Quadratic([1.0]))]))
        1
        """
        known: dict[bytes, int] = {}
        labels = [
            [known.setdefault((p + 0.0).tobytes(), len(known)) for p in mixture.points]
            for mixture, _ in rounds
        ]
        points = np.array([np.frombuffer(key) for key in known]).reshape(len(known), -1)
        weights, losses = [m.weights for m, _ in rounds], [loss for _, loss in rounds]
        return cls.from_rows(action_set, points, labels, weights, losses, **context)

    @classmethod
    def from_rows(
        cls,
        action_set: ConvexSetBase,
        points: Points,
        labels: Sequence[Any],
        weights: Sequence[Any],
        losses: Sequence[Loss],
        **context: Any,
    ) -> Transcript:
        """Pad ragged rows of labels and weights; carry the losses as compactly as they allow."""
        lengths = np.array([len(row) for row in weights], dtype=int)
        shape = (len(weights), int(lengths.max(initial=1)))
        indices, padded = np.zeros(shape, np.int64), np.zeros(shape)
        filled = np.arange(shape[1]) < lengths[:, None]
        if len(weights):
            indices[filled] = np.concatenate([np.asarray(row) for row in labels])
            padded[filled] = np.concatenate([np.asarray(row) for row in weights])
        if all(isinstance(loss, QuadraticFamily) for loss in losses):
            rows = np.array([loss.coefficients for loss in losses])  # type: ignore[attr-defined]
            rows = rows.reshape(len(losses), action_set.ambient_dim + 2)
            return cls(action_set, points, indices, padded, coefficients=rows, **context)
        return cls(action_set, points, indices, padded, losses=tuple(losses), **context)
