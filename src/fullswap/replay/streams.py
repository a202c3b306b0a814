"""The forecasters of a replay: one, or one for each key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullswap.base.protocols import Vector
from fullswap.base.records import Record
from fullswap.certificates import Certificate, GroupTable
from fullswap.certificates.quantities import Quantity

if TYPE_CHECKING:
    from fullswap.forecasting import Answers
    from fullswap.online.spec import Spec

MOST_CERTIFICATES = 100_000
"""Groups of streams that are looked at one by one."""
MANY = 100_000
"""Rows from which a run may show a bar of its own."""


class Made(NamedTuple):
    """Forecasts of n rows."""

    issued: NDArray[np.float64]
    """What was drawn, to be published, shape (n,) or (n, K)."""
    mean: NDArray[np.float64]
    """Mean of what might have been drawn."""
    lower: Vector
    """The two grid neighbours between which it was drawn, shape (n,); NaN for several classes."""
    upper: Vector
    upper_chance: Vector
    """Chance of the upper one."""
    declared: Vector
    """Numbers of the declared classes, of three or more; NaN where nothing was forecast."""

    @classmethod
    def room(cls, rows: int, classes: int) -> Made:
        """For so many rows, none forecast yet."""
        shape = (rows,) if classes == 2 else (rows, classes)
        return cls(*(np.full(s, np.nan) for s in (shape, shape, rows, rows, rows, rows)))

    def put(self, rows: Any, own: Made) -> None:
        """Write forecasts of some rows."""
        for column, values in zip(self, own, strict=True):
            column[rows] = values

    def part(self, rows: slice) -> Made:
        """Some rows."""
        return Made(*(column[rows] for column in self))


def made_of(record: Record) -> Made:
    """What a run recorded."""
    none = np.full(len(record), np.nan)
    if record.points.ndim > 1:
        declared = none if record.declared is None else record.declared.astype(float)
        return Made(record.issued, record.mean, none, none, none, declared)
    points, weights = record.points[record.indices], record.weights
    points = np.where(
        weights > 0, points, points[np.arange(len(points)), weights.argmax(1)][:, None]
    )
    first, last = points[:, 0], points[:, -1]
    lower, upper = np.minimum(first, last), np.maximum(first, last)
    chance = np.where(upper > lower, np.where(last >= first, weights[:, -1], weights[:, 0]), 1.0)
    return Made(record.issued, record.mean, lower, upper, chance, none)


class Streams:
    """A forecaster, or a bank of them."""

    def __init__(self, forecaster: Any, keyed: bool) -> None:
        from fullswap.forecasting import Bank

        self.keyed = keyed
        self.progress: bool | None = False
        """Whether long runs show a bar."""
        self.held: Any = Bank(forecaster) if keyed else forecaster
        self.classes = int(self.spec.classes)
        self.with_models = bool(self.spec.models)
        self.grouped = bool(self.spec.groups)

    def __len__(self) -> int:
        return len(self.held) if self.keyed else 1

    @property
    def spec(self) -> Spec:
        """Of all streams; groups that are new change it."""
        return self.held.spec  # type: ignore[no-any-return]

    def run(
        self, keys: list[Any] | None, p: Any, y: Vector, weight: Vector | None,
        names: list[Any] | None, known: Any, answers: Any, groups: Any = None,
    ) -> Made:  # fmt: skip
        """Forecast rows, and learn outcomes when ``known`` says; None: before the next row.

        ``answers`` for forecasts that wait already; ``groups``: names for each row.
        """
        outcomes = y if known is not None or self.classes == 2 else y.astype(np.int64)
        columns = ([keys] if self.keyed else []) + ([p] if self.with_models else []) + [outcomes]
        record = self.held.run(
            *columns, sample_weight=weight, event=names, known=known, answers=answers,
            progress=self.progress if len(y) >= MANY else False, **self._groups(groups),
        )  # fmt: skip
        return made_of(record)

    def _groups(self, groups: Any) -> dict[str, Any]:
        return {"groups": groups} if self.grouped else {}

    @property
    def step(self) -> float | None:
        """Width of an even grid; None if it is finer towards 0 and 1, which are never issued."""
        lattice = self.spec.levels[-1]
        return 1 / lattice.cells if lattice.shape == "even" else None

    def resolve(self, keys: list[Any], names: list[Any], y: list[float], weight: Any) -> None:
        """Learn outcomes of forecasts that wait, in this order."""
        values = self._outcomes(y)
        if self.keyed:
            self.held.resolve(keys, names, values, weight)
            return
        for k, (name, value) in enumerate(zip(names, values, strict=True)):
            self.held.resolve(name, value, 1.0 if weight is None else weight[k])

    def answers(
        self, keys: list[Any], names: list[Any], y: list[float], weight: list[float],
        known: list[int],
    ) -> Answers:  # fmt: skip
        """Outcomes of forecasts that wait, to be learnt in the course of a run."""
        from fullswap.forecasting import Answers

        own = keys if self.keyed else None
        return Answers(names, self._outcomes(y), known, own, weight)

    def _outcomes(self, y: list[float]) -> list[Any]:
        return list(y) if self.classes == 2 else [int(value) for value in y]

    def certificates(self) -> dict[Any, Certificate]:
        """Of every stream with outcomes; of the only one under the key None."""
        if self.keyed:
            return dict(self.held.certificates())
        return {None: self.held.certificate()}

    def declared(self) -> Certificate | None:
        """Of the declared class, where a single stream has three or more."""
        if self.keyed:
            return None
        found = (c for c in self.held.certificates() if c.quantity == Quantity.TOP_LABEL_ERROR)
        return next(found, None)

    def tables(self) -> list[GroupTable]:
        """The groups of every stream; none where there are too many to look at."""
        if not self.grouped:
            return []
        if not self.keyed:
            return [self.held.by_group()]
        if len(self.held) * len(self.held.groups) > MOST_CERTIFICATES:
            return []
        return [self.held[key].by_group() for key in self.held]
