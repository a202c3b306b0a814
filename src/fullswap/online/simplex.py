"""Events of several classes: running means on a grid of the simplex, played by a fixed point."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Points, Vector
from fullswap.certificates import Quantity
from fullswap.kernels import simplex as kernel
from fullswap.kernels.columns import DELAY, HEAD, LEVEL, LOST, MASS, ROUNDING_MOST, SQUARES
from fullswap.kernels.fixed_point import MEAN, WEIGHT
from fullswap.online.claims import Claim
from fullswap.online.kind import MEAN_SLACK, Play, slack_of
from fullswap.online.lattices import lookup_of
from fullswap.online.simplex_rows import SimplexRows, check_vectors, vectors_agree
from fullswap.theorems import LEDGER, Forecasts

STEPS_A_CELL = 100
"""A search may take so many steps a cell and class: many times what crosses the whole grid."""


class SimplexMeans(SimplexRows):
    """A play is (members, shares, what they recommend, the simplex searched from), arrays."""

    @property
    def width(self) -> int:  # type: ignore[override]
        """A fixed point has one point a class at most."""
        return self.spec.classes

    @property
    def base(self) -> int:
        """Prior mass and mean, then base and order of the simplex that was played."""
        return HEAD + 1 + self.spec.classes + 2 * (self.spec.classes - 1)

    @property
    def columns(self) -> int:
        """G and the mean."""
        return 1 + self.spec.classes

    def _blank_points(self, level: int) -> Points:
        return np.zeros((self.spec.levels[level].size(self.spec.classes), self.columns))

    def _blank_shared(self) -> Vector:
        classes, cells = self.spec.classes, self.spec.levels[0].cells
        middle = np.arange(1, classes) * (cells / classes)
        base = np.minimum(np.floor(middle), cells - 1)
        # by falling fractional part; among equal ones the larger index first, as kuhn_locate does
        order = sorted(range(classes - 1), key=lambda k: (base[k] - middle[k], -k))
        return np.concatenate(([1.0], np.full(classes, 1.0 / classes), base, order))

    def _compile(
        self, grid: Points, first: Indices, ends: Vector, places: Indices, blank: Points,
        deltas: Vector,
    ) -> Any:  # fmt: skip
        classes = self.spec.classes
        self._largest = int(np.diff(first).max())
        lattices = [lookup_of(lattice, classes) for lattice in self.spec.levels[: len(ends)]]
        self._lattices = lattices
        sizes = [len(lookup) for _, _, lookup in lattices]
        d = classes - 1
        self._work = np.zeros((d + 5, d + 2)), np.zeros((4, d + 2), np.int64)
        self._arguments = (
            grid, first, ends, places, blank, self.base, deltas, self.spec.realised,
            STEPS_A_CELL * classes * (self.spec.levels[len(ends) - 1].cells + 1),
            np.array([cells for cells, _, _ in lattices]),
            np.array([strides for _, strides, _ in lattices]),
            np.concatenate([lookup for _, _, lookup in lattices]),
            np.cumsum([0, *sizes]), self._work,
        )  # fmt: skip
        return self._with_room(classes)

    def _with_room(self, room: int) -> Any:
        return kernel.SimplexSpec(*self._arguments, self._walk(room), self._ticket(room))

    def _ticket(self, room: int) -> tuple[Any, ...]:
        # a search that finds a closed class may list the whole grid before it is cut
        classes = self.spec.classes
        return (
            np.zeros(max(self._largest, room), np.int64), np.zeros(max(room, classes)),
            np.zeros((room, classes)), np.zeros(2 * (classes - 1), np.int64),
        )  # fmt: skip

    def widen(self, size: int) -> None:
        """Make room for supports of this size."""
        self.kernel = self._with_room(max(size, len(self.kernel.walk[2])))

    def forecast(self, row: Vector, context: Any) -> Play:
        """Neighbouring points; a closed class where rounding spoils the search."""
        level, size = int(row[LEVEL]), -1
        while size < 0:
            spec = self.kernel
            ticket = self._ticket(len(spec.walk[2]))
            size = kernel.simplex_forecast(
                row, self.base, self._lattices[level], self._work, spec.limit, spec.walk, ticket
            )
            if size < 0:
                self.widen(-2 * size)
        members, shares, targets, place = ticket
        return members[:size].copy(), shares[:size], targets[:size], place

    def learn(
        self,
        row: Vector,
        play: Play,
        level: int,
        drawn: int,
        outcome: Any,
        scale: float,
        number: int,
    ) -> bool:
        """Feed one outcome (K,)."""
        now = int(row[LEVEL])
        members, shares, targets, place = play
        if level != now:  # the next search starts where the last one on this grid did
            members = self.lift(members, level, now)
            place = row[self.base - len(place) : self.base].astype(np.int64)
        due: bool = kernel.simplex_learn(
            row, self.base, self.rounding_cost(level), self.spec.end(now), self.spec.realised,
            (members, shares, targets, place), len(members), drawn, scale, outcome, number,
        )  # fmt: skip
        return due

    def encode(self, play: Play) -> list[float]:
        """Size, members, shares, targets, place."""
        return [float(len(play[0])), *(float(v) for part in play for v in part.ravel())]

    def decode(self, numbers: list[float], level: int) -> Play:
        """The same, checked."""
        classes = self.spec.classes
        members, shares = self._decode_support(numbers, level, classes)
        size, d = len(members), classes - 1
        rest = np.array(numbers[1 + 2 * size :])
        if len(rest) != size * classes + 2 * d:
            raise ValueError(f"play must have {1 + size * (2 + classes) + 2 * d} numbers")
        targets = rest[: size * classes].reshape(size, classes)
        check_vectors(targets)
        place = rest[size * classes :]
        self._check_place(place, level)
        return members, shares, targets, place.astype(np.int64)

    # --- what is guaranteed ---------------------------------------------------------------------

    def bound(self, mass: float, rounding: float, level: int, waiting: int) -> float:
        """By the ledger."""
        n = self.spec.levels[level].size(self.spec.classes)
        premises = Forecasts(mass, n, rounding, waiting, self.squared_diameter)
        return LEDGER["calibration"].bound(premises)

    def claims(self, row: Vector) -> list[Claim]:
        """The calibration error."""
        level, paid = int(row[LEVEL]), float(row[ROUNDING_MOST])
        columns = self.point_columns(row)
        weights, means = columns[:, WEIGHT], columns[:, MEAN:]
        learnt = weights > 0
        gaps = (self.points(level) - means)[learnt]
        error = float((weights[learnt] * np.square(gaps).sum(axis=1)).sum())
        best = float(row[SQUARES]) - float((weights * np.square(means).sum(axis=1)).sum())
        bound = self.bound(float(row[MASS]), paid, level, int(row[DELAY]))
        after = min(bound, paid + float(row[LOST]) - best)
        return [Claim(Quantity.L2_CALIBRATION_ERROR, error, bound, after, "calibration")]

    def _check_learnt(self, row: Vector) -> None:
        classes = self.spec.classes
        columns = self.point_columns(row)
        weights, means = columns[:, WEIGHT], columns[:, MEAN:]
        prior = row[HEAD : HEAD + 1 + classes]
        all_outcomes = (1.0 / classes + weights @ means) / (1 + row[MASS])
        sound = (
            vectors_agree(weights, means, row)
            and abs(prior[0] - 1 - row[MASS]) <= slack_of(row)
            and (np.abs(prior[1:] - all_outcomes) <= MEAN_SLACK).all()
        )
        if not sound:
            raise ValueError("row must be what a stream can come to: its points do not agree")
        self._check_place(row[HEAD + 1 + classes : self.base], int(row[LEVEL]))

    def _check_place(self, place: Vector, level: int) -> None:
        d, cells = self.spec.classes - 1, self.spec.levels[level].cells
        base, order = place[:d], place[d:]
        sound = (
            (base == np.floor(base)).all()
            and (base >= 0).all()
            and (base <= cells - 1).all()
            and (np.diff(base) >= 0).all()
            and sorted(order.tolist()) == list(range(d))
        )
        # among equal base coordinates a later one must rise first, or the path leaves the simplex
        rank = np.argsort(order) if sound else order
        for k in range(d - 1):
            sound = sound and (base[k] < base[k + 1] or rank[k] > rank[k + 1])
        if not sound:
            raise ValueError(f"place must be a simplex of the grid, got {place.tolist()}")
