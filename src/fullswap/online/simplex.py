"""Events of several classes: running means on a grid of the simplex, played by a fixed point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fullswap.base.draws import Words
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.certificates import Quantity
from fullswap.kernels import simplex as kernel
from fullswap.kernels.columns import HEAD, LEVEL, LOST, MASS, ROUNDING_MOST, SQUARES
from fullswap.kernels.events import Layout
from fullswap.kernels.fixed_point import MEAN, WEIGHT
from fullswap.online.claims import Claim, chance_of
from fullswap.online.kind import MEAN_SLACK, Play, slack_of
from fullswap.online.lattices import lookup_of
from fullswap.online.simplex_rows import SimplexRows, check_vectors
from fullswap.theorems import LEDGER
from fullswap.theorems.means import ClassForecasts

RESULT = "calibration of classes"
STEPS_A_CELL = 100
"""A search may take so many steps a cell and class: many times what crosses the whole grid."""


class SimplexMeans(SimplexRows):
    """A play is (id, drawn, members, shares, what they recommend, place of the search)."""

    @property
    def width(self) -> int:  # type: ignore[override]
        """A fixed point has one point a class at most."""
        return self.spec.classes

    @property
    def shared_columns(self) -> dict[str, int]:
        """Base and order of the simplex that was played."""
        return {"place": 2 * (self.spec.classes - 1)}

    @property
    def point_names(self) -> tuple[str, ...]:
        """G and what is recommended."""
        return ("weight", *(f"target {k}" for k in range(self.spec.classes)))

    def _blank_points(self, level: int) -> Points:
        blank = np.zeros((self.spec.levels[level].size(self.spec.classes), self.columns))
        blank[:, MEAN:] = 1.0 / self.spec.classes
        return blank

    def _blank_shared(self) -> Vector:
        classes, cells = self.spec.classes, self.spec.levels[0].cells
        middle = np.arange(1, classes) * (cells / classes)
        base = np.minimum(np.floor(middle), cells - 1)
        # by falling fractional part; among equal ones the larger index first, as kuhn_locate does
        order = sorted(range(classes - 1), key=lambda k: (base[k] - middle[k], -k))
        return np.concatenate((base, order))

    def _compile(self, layout: Layout) -> Any:
        classes = self.spec.classes
        self._largest = int(np.diff(layout.first).max())
        levels = self.spec.levels[: len(layout.ends)]
        lattices = [lookup_of(lattice, classes) for lattice in levels]
        self._lattices = lattices
        sizes = [len(lookup) for _, _, lookup in lattices]
        d = classes - 1
        self._work = np.zeros((d + 5, d + 2)), np.zeros((4, d + 2), np.int64)
        self._arguments = (
            *layout, self.spec.realised, STEPS_A_CELL * classes * (int(lattices[-1][0][0]) + 1),
            np.array([cells for cells, _, _ in lattices]),
            np.array([strides for _, strides, _ in lattices]),
            np.concatenate([lookup for _, _, lookup in lattices]),
            np.cumsum([0, *sizes]), self._work,
        )  # fmt: skip
        return self._with(None, classes)

    def _with(self, walk: Any, room: int) -> Any:
        ticket = self._ticket(room)
        parts = (*self._arguments, walk, *ticket[:2], ticket)
        return kernel.SimplexSpec._make(parts)

    def _ticket(self, room: int) -> tuple[Any, ...]:
        # a search that finds a closed class may list the whole grid before it is cut
        classes = self.spec.classes
        return (
            np.zeros(max(self._largest, room), np.int64), np.zeros(max(room, classes)),
            np.zeros((room, classes)), np.zeros(2 * (classes - 1), np.int64),
        )  # fmt: skip

    def widen(self, size: int) -> None:
        """Make room for supports of this size, and for the search that may find them."""
        room = max(size, self._room)
        self.kernel = self._with(self._walk(room), room)

    @property
    def _room(self) -> int:
        return len(self.kernel.ticket[2])

    def forecaster(self, row: Vector, source: Words) -> Callable[..., Play]:
        """Neighbouring points; a closed class where rounding spoils the search."""
        lattice, base, work = self._lattices[self.level_of(row)], self.base, self._work

        def forecast(count: int) -> Play:
            size = -1
            while size < 0:
                ticket, spec = self._ticket(self._room), self.kernel
                size, number, drawn = kernel.simplex_predict(
                    row, base, lattice, work, spec.limit, spec.walk, ticket, source, count
                )
                if size < 0:
                    self.widen(-2 * size)
            members, shares, targets, place = ticket
            return number, drawn, members[:size].copy(), shares[:size], targets[:size], place

        return forecast

    def learner(self, row: Vector, level: int) -> Callable[..., bool]:
        """Feed one outcome (K,)."""
        end, delta = self.spec.end(self.level_of(row)), self.rounding_cost(level)
        base, realised = self.base, self.spec.realised

        def learn(
            number: int, drawn: int, members: Indices, shares: Vector, targets: Points,
            place: Indices, scale: float, outcome: Vector,
        ) -> bool:  # fmt: skip
            ticket = (members, shares, targets, place)
            due: bool = kernel.simplex_update(
                row, base, delta, end, realised, ticket, len(members), drawn, scale, outcome, number
            )
            return due

        return learn

    def lifted(self, play: Play, old: int, new: int) -> Play:
        """The same points on a finer grid; the place of the search is left to the row."""
        number, drawn, members, shares, targets, _ = play
        lifted = self.lift(members, old, new)
        return number, drawn, lifted, shares, targets, np.zeros(0, np.int64)

    def encode(self, play: Play) -> list[float]:
        """Size, members, shares, targets, place."""
        return [float(len(play[2])), *(float(v) for part in play[2:] for v in part.ravel())]

    def encoded_length(self, size: int) -> int:
        """Of these five."""
        return 1 + size * (2 + self.spec.classes) + 2 * (self.spec.classes - 1)

    def decode(self, numbers: list[float], level: int) -> tuple[Any, ...]:
        """The same, checked."""
        classes = self.spec.classes
        members, shares = self._decode_support(numbers, level, classes)
        size = len(members)
        if len(numbers) != self.encoded_length(size):
            raise ValueError(f"play must have {self.encoded_length(size)} numbers")
        rest = np.array(numbers[1 + 2 * size :])
        targets = rest[: size * classes].reshape(size, classes)
        check_vectors(targets)
        place = rest[size * classes :]
        self._check_place(place, level)
        return members, shares, targets, place.astype(np.int64)

    # --- what is guaranteed ---------------------------------------------------------------------

    def bound(
        self, mass: float, rounding: float, level: int, waiting: int, whole: bool = False
    ) -> float:
        """By the ledger."""
        size = self.spec.levels[level].size(self.spec.classes)
        premises = ClassForecasts(self.spec.classes, size, mass, rounding, whole, waiting)
        return LEDGER[RESULT].bound(premises)

    def claims(self, row: Vector) -> list[Claim]:
        """The calibration error."""
        level, paid = int(row[LEVEL]), float(row[ROUNDING_MOST])
        weights, means = self._means(row)
        used = weights > 0
        points = self.points(level)
        error = float((weights * np.square(points - means).sum(axis=1))[used].sum())
        best = float(row[SQUARES]) - float((weights * np.square(means).sum(axis=1)).sum())
        bound = self.bound(float(row[MASS]), paid, level, self.waiting(row), self.whole(row))
        after = paid + float(row[LOST]) - best
        noise = chance_of(points, weights)
        return [Claim(Quantity.L2_CALIBRATION_ERROR, error, bound, after, RESULT, noise=noise)]

    def _means(self, row: Vector) -> tuple[Vector, Points]:
        """Masses and mean outcomes of the points, 0 where there was none."""
        weights, sums = self._sums(row)
        used = (weights > 0)[:, None]
        means = np.divide(sums, weights[:, None], out=np.zeros_like(sums), where=used)
        return weights, np.clip(means, 0.0, 1.0)  # of tiny masses quotients are rough

    def _sums(self, row: Vector) -> tuple[Vector, Points]:
        """Masses and outcomes of the points, without the imagined one in what they recommend."""
        columns = self.point_columns(row)
        weights, targets = columns[:, WEIGHT], columns[:, MEAN:]
        return weights, targets * (weights[:, None] + 1) - 1.0 / self.spec.classes

    def _check_learnt(self, row: Vector) -> None:
        weights, sums = self._sums(row)
        slack = MEAN_SLACK * (1 + weights)
        fresh = self.point_columns(row)[weights == 0, MEAN:]
        with np.errstate(over="ignore"):  # of masses that no outcomes had
            squares = np.square(sums).sum(axis=1)[weights > 0] / weights[weights > 0]
        sound = (
            (weights >= 0).all()
            and abs(weights.sum() - row[MASS]) <= slack_of(row)
            and (sums >= -slack[:, None]).all()
            and (np.abs(sums.sum(axis=1) - weights) <= slack).all()
            and squares.sum() <= row[SQUARES] + MEAN_SLACK * (1 + row[MASS])
            and (fresh == 1.0 / self.spec.classes).all()
        )
        if not sound:
            raise ValueError("row must be what a stream can come to: its points do not agree")
        self._check_place(row[HEAD : self.base], int(row[LEVEL]))

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
