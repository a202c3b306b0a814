"""Who played what: one record for learners and forecasters, as plain arrays.

In round t the point ``points[indices[t, j]]`` was played with probability ``weights[t, j]``. A
forecaster's record says in addition which point was drawn and issued; a learner's record says on
which set it played and which losses it met.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.protocols import ConvexSet, Indices, Loss, Mixture, Points, Vector


@dataclass(frozen=True, eq=False, repr=False)
class Record:
    """T rounds of play; ``to_frame`` gives them as a table.

    Shapes are checked, entries are not: the loop that wrote the record has checked them, and
    metrics check what they read.
    """

    points: NDArray[np.float64]
    """Every point that could be played, shape (P,) or (P, A)."""
    indices: NDArray[np.integer[Any]]
    """Which of the points each round mixes, shape (T, k)."""
    shares: NDArray[np.float64]
    """Their probabilities, shape (T, k), padding has 0; or (T, k − 1): the last has the rest."""
    issued_indices: NDArray[np.integer[Any]] | None = None
    """Which of the points was drawn, shape (T,); None where nothing was."""
    action_set: ConvexSet | None = None
    """The set on which a learner played."""
    losses: Points | tuple[Loss, ...] | None = None
    """The losses it met: (T, A + 2) coefficients of the quadratic family, or T objects."""
    actions: Points | None = None
    """The only deviations allowed, shape (m, A), in the discretised case."""
    declared: NDArray[np.integer[Any]] | None = None
    """The class that was declared, the top label, shape (T,); None where none was."""
    lipschitz: float | None = None
    """Promised constant, used to certify minima of losses given as functions."""

    def __post_init__(self) -> None:
        if self.shares.ndim != 2:
            checks.refuse_shape("weights", "(T, k)", self.shares)
        rounds, width = self.shares.shape
        if self.indices.shape not in ((rounds, width), (rounds, width + 1)):
            checks.refuse_shape("indices", f"{self.shares.shape} as weights", self.indices)
        if self.issued_indices is not None and self.issued_indices.shape != (rounds,):
            checks.refuse_shape("issued_indices", f"({rounds},)", self.issued_indices)
        if (self.action_set is None) != (self.losses is None):
            absent = "losses" if self.losses is None else "action_set"
            checks.refuse(absent, "be given where a learner met losses on a set", None)
        if self.losses is not None:
            checks.same_length("losses", self.losses, "weights", rounds)

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        kind = "forecasts" if self.losses is None else "rounds"
        sizes = f"each of up to {self.indices.shape[1]} among {len(self.points):,} points"
        return f"<Record: {len(self):,} {kind}, {sizes}>"

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Probabilities of all the points of each round, shape (T, k)."""
        if self.shares.shape == self.indices.shape:
            return self.shares
        return np.column_stack((self.shares, 1.0 - self.shares.sum(axis=1)))

    @cached_property
    def mean(self) -> NDArray[np.float64]:
        """Means of the mixtures, shape (T,) or (T, A)."""
        total = np.zeros((len(self), *self.points.shape[1:]))
        # column by column, in the order in which a single forecast adds them up
        for column in np.flatnonzero(self.weights.any(axis=0)):
            weights = self.weights[:, column]
            values = self.points[self.indices[:, column]]
            total += (weights if values.ndim == 1 else weights[:, None]) * values
        return total

    @cached_property
    def issued(self) -> NDArray[np.float64]:
        """The points drawn, shape (T,) or (T, A)."""
        if self.issued_indices is None:
            checks.refuse("issued_indices", "be given where draws are read", None)
        drawn: NDArray[np.float64] = self.points[self.issued_indices]
        return drawn

    def draw(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """A point from each mixture, whatever was issued, shape (T,) or (T, A)."""
        reached = np.cumsum(self.weights, axis=1) > rng.random(len(self))[:, None]
        # rounding may leave the whole sum below the draw: then it is the last point with a weight
        last = self.weights.shape[1] - 1 - np.argmax(self.weights[:, ::-1] > 0, axis=1)
        columns = np.where(reached[:, -1], np.argmax(reached, axis=1), last)
        drawn: NDArray[np.float64] = self.points[self.indices[np.arange(len(self)), columns]]
        return drawn

    @cached_property
    def loss(self) -> Vector | None:
        """Mean loss of the mixture in every round, shape (T,); None for forecasters."""
        if self.losses is None:
            return None
        if isinstance(self.losses, np.ndarray):  # a·‖x‖² + ⟨b, x⟩ + c
            a, b, c = self.losses[:, 0], self.losses[:, 1:-1], self.losses[:, -1]
            square = np.square(self.points).sum(axis=1)
            squares = (self.weights * square[self.indices]).sum(axis=1)
            return np.asarray(a * squares + (b * self.mean).sum(axis=1) + c)
        pairs = zip(self.losses, self.indices, self.weights, strict=True)
        means = [own @ loss.value(self.points[places]) for loss, places, own in pairs]
        return np.array(means, dtype=float)

    def to_frame(self, *, long: bool = False, backend: Any = "pandas") -> Any:
        """The rounds as a frame: pandas, or another that narwhals knows (polars, pyarrow).

        Parameters
        ----------
        long
            False: one row a round, with its mean, the number of points mixed, what was issued and
            the loss. True: one row for each point of each round, with its probability.
        backend
            Library of the frame.

        Returns
        -------
        frame
            Columns ``round`` (from 1); ``mean``, or ``mean_1`` … for vectors; ``support``;
            ``declared`` if a class was; ``issued`` (or ``issued_1`` …) if points were drawn;
            ``loss`` if losses are known.
            Long: ``round``, ``point`` (or ``point_1`` …), ``weight``, and whether it was
            ``issued``.

        Examples
        --------
        >>> record = Record.of_forecasts([0.25, 0.75], [[0, 1]] * 2, [[0.5, 0.5], [1, 0]], [1, 0])
        >>> record.to_frame()
           round   mean  support  issued
        0      1  0.500        2    0.75
        1      2  0.250        1    0.25
        >>> record.to_frame(long=True)
           round  point  weight  issued
        0      1   0.25     0.5   False
        1      1   0.75     0.5    True
        2      2   0.25     1.0    True
        """
        try:
            import narwhals
        except ImportError:
            raise ImportError("to_frame needs its extra: pip install 'fullswap[frames]'") from None
        columns = self._points_played() if long else self._rounds_played()
        return narwhals.from_dict(columns, backend=backend).to_native()

    def _rounds_played(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"round": np.arange(1, len(self) + 1)}
        columns |= _named("mean", self.mean)
        columns["support"] = (self.weights > 0).sum(axis=1)
        if self.declared is not None:
            columns["declared"] = self.declared
        if self.issued_indices is not None:
            columns |= _named("issued", self.issued)
        return columns if self.loss is None else columns | {"loss": self.loss}

    def _points_played(self) -> dict[str, Any]:
        rounds, places = np.nonzero(self.weights > 0)
        chosen = self.indices[rounds, places]
        columns: dict[str, Any] = {"round": rounds + 1, **_named("point", self.points[chosen])}
        columns["weight"] = self.weights[rounds, places]
        if self.issued_indices is not None:
            columns["issued"] = chosen == self.issued_indices[rounds]
        return columns

    @property
    def coefficients(self) -> Points | None:
        """The losses as rows of coefficients, if that is how they are carried."""
        return self.losses if isinstance(self.losses, np.ndarray) else None

    def head(self, rounds: int) -> Record:
        """The first ``rounds`` rounds."""
        drawn = self.issued_indices
        return replace(
            self, indices=self.indices[:rounds], shares=self.shares[:rounds],
            issued_indices=None if drawn is None else drawn[:rounds],
            declared=None if self.declared is None else self.declared[:rounds],
            losses=None if self.losses is None else self.losses[:rounds],
        )  # fmt: skip

    @classmethod
    def of_forecasts(
        cls, points: Any, indices: Any, weights: Any, issued_indices: Any = None,
        declared: Any = None,
    ) -> Record:  # fmt: skip
        """Forecasts that are distributions, and which point each of them issued.

        Examples
        --------
        >>> record = Record.of_forecasts([0.25, 0.75], [[0, 1]], [[0.5, 0.5]], [1])
        >>> record.issued, record.mean
        (array([0.75]), array([0.5]))
        """
        drawn = None if issued_indices is None else np.asarray(issued_indices)
        points, indices, weights = np.asarray(points), np.asarray(indices), np.asarray(weights)
        return cls(points, indices, weights, drawn, declared=declared)

    @classmethod
    def of_rounds(
        cls, action_set: ConvexSet, rounds: Sequence[tuple[Mixture, Loss]],
        *, actions: Points | None = None, lipschitz: float | None = None,
    ) -> Record:  # fmt: skip
        """Collect (mixture, loss) pairs; equal points are recognised by their coordinates.

        Examples
        --------
        >>> from fullswap import sets, losses
        >>> half = Mixture(np.array([[0.5]]), np.array([1.0]))
        >>> len(Record.of_rounds(sets.Interval(0, 1), [(half, losses.Quadratic([1.0]))]))
        1
        """
        places: dict[bytes, int] = {}
        indices = [
            # + 0.0 makes −0.0 the same point as 0.0
            [places.setdefault((p + 0.0).tobytes(), len(places)) for p in mixture.points]
            for mixture, _ in rounds
        ]
        points = np.array([np.frombuffer(key) for key in places])
        points = points.reshape(len(places), action_set.ambient_dim)
        weights, losses = [mixture.weights for mixture, _ in rounds], [loss for _, loss in rounds]
        return cls.of_rows(
            points, indices, weights, action_set=action_set, losses=losses, actions=actions,
            lipschitz=lipschitz,
        )  # fmt: skip

    @classmethod
    def of_rows(
        cls,
        points: Points,
        indices: Sequence[Sequence[int] | Indices],
        weights: Sequence[Vector],
        losses: Points | Sequence[Loss],
        **play: Any,
    ) -> Record:
        """Pad ragged rows of indices and weights; ``play``: other fields of the record."""
        lengths = np.array([len(row) for row in weights], dtype=int)
        shape = (len(weights), int(lengths.max(initial=1)))
        padded_indices, padded_weights = np.zeros(shape, np.int64), np.zeros(shape)
        filled = np.arange(shape[1]) < lengths[:, None]
        if len(weights):
            padded_indices[filled] = np.concatenate([np.asarray(row) for row in indices])
            padded_weights[filled] = np.concatenate([np.asarray(row) for row in weights])
        met = losses if isinstance(losses, np.ndarray) else tuple(losses)
        return cls(points, padded_indices, padded_weights, losses=met, **play)


def _named(name: str, values: NDArray[np.float64]) -> dict[str, Any]:
    """One column, or one for each coordinate of vectors, counted from 1."""
    if values.ndim == 1 or values.shape[1] == 1:
        return {name: values.ravel()}
    return {f"{name}_{k}": column for k, column in enumerate(values.T, 1)}
