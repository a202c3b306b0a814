"""What a kind of forecaster does with one row: forecast, learn, refine; and what follows from it.

A kind is made from a spec and shared by all streams of that spec: it holds the grids, the arrays
that compiled code reads, and scratch. It holds nothing of any stream.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from fullswap.base import checks
from fullswap.base.draws import Words
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.base.records import Record
from fullswap.kernels.columns import (
    CELLS,
    CROWD,
    DELAY,
    HEAD,
    HINT,
    LEARNT,
    LEVEL,
    LOST,
    MASS,
    NEXT_ID,
    OVERLAP,
    PARTIAL,
    REPEATS,
    ROUNDING,
    ROUNDING_MOST,
    ROUNDS,
    SQUARES,
)
from fullswap.kernels.events import Layout
from fullswap.online.claims import Claim
from fullswap.online.lattices import places_in, points_of
from fullswap.online.spec import Spec

POINTS_IN_VIEW = 4096
"""Grids are laid out for compiled code up to so many points together; more when needed."""
SLACK = 1e-9
"""How far sums in a stored row may be from each other: rounding of many additions."""
MEAN_SLACK = 1e-6
"""How far running means may be from quotients of sums, and measured errors from their bounds."""
LARGEST = 1e18
"""Of a number in a row: no sum over 2^52 events is larger, and squares are far from overflow."""
MOST_IDS = 2.0**52
"""Of a row that is read: there is room for as many events more before floats stop counting."""

Play = tuple[Any, ...]
"""What a forecast played and what learning will need of it; each kind has its own.

(id, drawn, left, right, share of left, …), drawn the place of the draw in the support, unless a
forecast is one vector."""


class Kind(ABC):
    """The four verbs of one kind of forecaster, over rows of its spec."""

    vectors: ClassVar[bool] = False
    """Whether a forecast is one vector, which need not be on a grid, and no distribution."""
    squared_diameter: ClassVar[float] = 1.0
    """Of the set of forecasts, and the largest squared loss."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.fixed = len(spec.levels) == 1
        self.kernel: Any = None
        self._grow()

    # --- grids --------------------------------------------------------------------------------

    def points(self, level: int) -> Points:
        """Values of the grid points, (n,)."""
        return points_of(self.spec.levels[level], self.spec.classes)

    def _coordinates(self, level: int) -> Points:
        """The points as compiled code sees them."""
        return self.points(level)

    def lift(self, indices: Any, old: int, new: int) -> Indices:
        """Where points of an older, coarser grid are in a newer one."""
        lifted = np.asarray(indices, dtype=np.int64)
        for level in range(old, new):
            lifted = self.places(level)[lifted]
        return lifted

    def places(self, level: int) -> Indices:
        """Where the points of a grid are in the next finer one."""
        self.reach(level + 1)
        first = self._first
        return self._places[first[level] : first[level + 1]]

    @property
    def _view(self) -> int:
        """Levels that are laid out: those of the kernels' spec, which changes last and at once."""
        return 0 if self.kernel is None else len(self.kernel.first) - 1

    def reach(self, level: int) -> None:
        """Lay out grids for compiled code up to this level at least."""
        while self._view <= level:
            self._grow()

    def _grow(self) -> None:
        levels = len(self.spec.levels)
        view, total = 0, 0
        while view < levels and (view < min(levels, self._view + 2) or total <= POINTS_IN_VIEW):
            total += self.spec.levels[view].size(self.spec.classes)
            view += 1
        grids = [self._coordinates(level) for level in range(view)]
        self._first = np.cumsum([0, *(len(grid) for grid in grids)])
        pairs = zip(grids, grids[1:], strict=False)
        self._places = np.concatenate([np.zeros(0, np.int64), *(places_in(a, b) for a, b in pairs)])
        ends = np.array([self.spec.end(level) for level in range(view)])
        deltas = np.array([self.rounding_cost(level) for level in range(view)])
        blank = np.concatenate([self._blank_points(level) for level in range(view)])
        grid = np.ascontiguousarray(np.concatenate(grids))
        layout = Layout(grid, self._first, ends, self._places, blank, self.base, deltas)
        self.kernel = self._compile(layout)

    def finest(self, level: int) -> Indices:
        """For every point of the grids up to this level, where it is in the grid of the level."""
        self.reach(level)
        first = self._first
        parts = [self.lift(np.arange(first[k + 1] - first[k]), k, level) for k in range(level + 1)]
        return np.concatenate(parts)

    def level_in_view(self, places: Any) -> int:
        """The finest level to which one of these places in the grid of all levels belongs."""
        most = int(places.max(initial=0))
        return int(np.searchsorted(self._first, most, side="right")) - 1

    # --- rows ---------------------------------------------------------------------------------

    @cached_property
    def base(self) -> int:
        """Columns of a row before its points."""
        return HEAD + sum(self.shared_columns.values())

    @cached_property
    def columns(self) -> int:
        """Columns of a point."""
        return len(self.point_names)

    @property
    @abstractmethod
    def shared_columns(self) -> dict[str, int]:
        """Names of the columns that the points share, and how many there are of each."""

    @property
    @abstractmethod
    def point_names(self) -> tuple[str, ...]:
        """Names of the columns of a point."""

    @abstractmethod
    def _blank_points(self, level: int) -> Points:
        """Columns of points that have learnt nothing, shape (n, columns)."""

    def _blank_shared(self) -> Vector:
        """Columns that the points share, of a stream that has learnt nothing."""
        return np.zeros(self.base - HEAD)

    @abstractmethod
    def _compile(self, layout: Layout) -> Any:
        """The spec of the kernels."""

    def row_width(self, level: int) -> int:
        """Length of a row on this grid."""
        return self._row_widths[level]

    @cached_property
    def _row_widths(self) -> list[int]:
        sizes = [lattice.size(self.spec.classes) for lattice in self.spec.levels]
        return [self.base + self.columns * size for size in sizes]

    @cached_property
    def blank(self) -> Vector:
        """The row of a stream that has seen nothing; not to be written."""
        head = np.zeros(HEAD)
        head[LEARNT] = -1
        head[HINT] = self.spec.levels[0].size(self.spec.classes) // 2
        row = np.concatenate((head, self._blank_shared(), self._blank_points(0).ravel()))
        row.setflags(write=False)
        return row

    def point_columns(self, row: Vector) -> Points:
        """The columns of the points, shape (n, columns): a view."""
        return row[self.base :].reshape(-1, self.columns)

    # --- one event ----------------------------------------------------------------------------

    def level_of(self, row: Vector) -> int:
        """The level of the grid on which a row is."""
        return 0 if self.fixed else int(row.item(LEVEL))

    @abstractmethod
    def forecaster(self, row: Vector, source: Words) -> Callable[..., Play]:
        """(count[, context]) ↦ what is played now, as long as the row stays on its grid.

        ``count`` ids are given out; 0 changes nothing. ``source`` gives the draws.
        """

    @abstractmethod
    def learner(self, row: Vector, level: int) -> Callable[..., bool]:
        """(*play, scale, outcome) ↦ whether the row is now to be refined.

        For plays on the grid of ``level``, the row's or a coarser one; their points as the row's
        grid has them.
        """

    def lifted(self, play: Play, old: int, new: int) -> Play:
        """A play on an older, coarser grid as one on a newer grid."""
        left, right = self.lift(play[2:4], old, new).tolist()
        return (*play[:2], left, right, *play[4:])

    def as_of(self, play: Play, spec: Spec) -> Play | None:
        """A play as a stream that goes on by another spec has it; None if none does."""
        return play if spec == self.spec else None

    def support(self, play: Play) -> tuple[list[int], list[float]]:
        """The points of positive weight, and these weights."""
        left, right, share = play[2:5]
        if share >= 1.0:
            return [left], [1.0]
        if share <= 0.0:
            return [right], [1.0]
        return [left, right], [share, 1.0 - share]

    def issued(self, play: Play) -> int:
        """The grid point that was drawn."""
        return int(play[2 + play[1]])

    def drawn_with(self, play: Play, u: float) -> Play:
        """The same play with the point that this number in [0, 1) draws."""
        return (play[0], 0 if u < play[4] else 1, *play[2:])

    # --- what a play says -----------------------------------------------------------------------

    def shown(self, play: Play, level: int) -> tuple[Points, Vector]:
        """Points of the distribution and their probabilities."""
        indices, weights = self.support(play)
        return self.points(level)[indices], np.array(weights)

    def mean(self, play: Play, level: int) -> Any:
        """Mean of the distribution: a number, or K numbers."""
        indices, weights = self.support(play)
        grid = self.points(level)
        return float(sum(w * grid[i] for i, w in zip(indices, weights, strict=True)))

    def value(self, play: Play, level: int) -> Any:
        """What was issued: a number, or K numbers."""
        return float(self.points(level)[self.issued(play)])

    def declared(self, play: Play) -> int | None:
        """The class that was declared, where one is."""
        return None

    def learners(self, play: Play) -> list[int]:
        """The points that will learn from the outcome."""
        return [self.issued(play)] if self.spec.realised else self.support(play)[0]

    def check_drawn(self, drawn: Any, played: tuple[Any, ...]) -> int:
        """Place of the draw of a play from outside, without id and draw, in its support."""
        weights = played[2], 1 - played[2]
        place = checks.whole("drawn", drawn, 0, 1)
        if not weights[place] > 0:
            checks.refuse("drawn", "be a point of positive weight", place)
        return place

    def note(self, play: Play, level: int, t: int, recorded: tuple[Any, Any, Any]) -> None:
        """Write a play down as row t of a record, as compiled code does."""
        indices, weights, issued = recorded
        offset = int(self.kernel.first[level])
        indices[t] = offset
        indices[t] += play[2:4]
        weights[t] = play[4]
        issued[t] = offset + self.issued(play)

    def record(self, level: int, recorded: tuple[Any, Any, Any]) -> Record:
        """Forecasts that were written down, on the grid of this level, the finest reached."""
        indices, weights, issued = recorded
        if level:
            finest = self.finest(level).astype(indices.dtype)
            indices, issued = finest[indices], finest[issued]
        return Record.of_forecasts(self.points(level), indices, weights, issued)

    @abstractmethod
    def encode(self, play: Play) -> list[float]:
        """A play without id and draw as plain numbers, for saved states."""

    @abstractmethod
    def encoded_length(self) -> int:
        """How many numbers these are."""

    def used_length(self, plays: Points) -> int:
        """How many of the numbers of encoded plays, (T, W), any of these needs."""
        return int(plays.shape[1])

    @abstractmethod
    def decode(self, numbers: list[float], level: int) -> tuple[Any, ...]:
        """What follows id and draw in a play, checked against the grid of the level."""

    # --- what is guaranteed ---------------------------------------------------------------------

    @abstractmethod
    def rounding_cost(self, level: int) -> float:
        """δ: the most that a round can lose on this grid."""

    @abstractmethod
    def bound(
        self, mass: float, rounding: float, level: int, waiting: int, whole: bool = False
    ) -> float:
        """A-priori bound of the calibration error, for weights of at most 1.

        ``whole``: each outcome is learnt by one point, with scale 0 or 1.
        """

    def left_over(self, row: Vector) -> float:
        """What is to be added to the bound: where forecasts are not exactly what it is about."""
        return 0.0

    def waiting(self, row: Vector) -> int:
        """How many others waited when outcomes were learnt, as far as bounds mind."""
        return int(row[DELAY])

    def whole(self, row: Vector) -> bool:
        """Whether all outcomes so far were learnt whole, by one point each."""
        return bool(self.spec.realised and row[PARTIAL] == 0)

    @abstractmethod
    def claims(self, row: Vector) -> list[Claim]:
        """Measured quantities and their bounds; the calibration error first."""

    def group_claim(self, row: Vector, j: int, name: str) -> Claim:
        """The calibration error in group j, of kinds with groups."""
        raise AssertionError("this kind has no groups")

    def regrouped(self, row: Vector, old: Any) -> Vector:
        """The row of a kind with less room for groups, laid out with the room of this one."""
        raise AssertionError("this kind has no groups")

    # --- rows from outside ------------------------------------------------------------------------

    def check(self, row: Vector) -> None:
        """Refuse a row that no sequence of events could have left behind."""
        if not (np.abs(row) <= LARGEST).all():
            raise ValueError(f"row must be finite, of magnitude at most {LARGEST:g}, got others")
        level, mass = row[LEVEL], row[MASS]
        rounds, slack = row[ROUNDS], slack_of(row)
        whole = row[[LEVEL, ROUNDS, NEXT_ID, LEARNT, DELAY, OVERLAP, HINT, CROWD, REPEATS]]
        sound = (
            bool((whole == np.floor(whole)).all())
            and 0 <= rounds <= row[NEXT_ID] <= MOST_IDS
            and -1 <= row[LEARNT] < row[NEXT_ID]
            and 0 <= row[DELAY] <= row[OVERLAP] <= row[NEXT_ID]
            and 0 <= row[REPEATS] <= max(rounds - 1, 0)
            and row[CROWD] == 0  # no outcome is being learnt
            and 0 <= mass <= rounds * (1 + SLACK)
            and 0 <= level < len(self.spec.levels)
            and level == self.spec.level_at(mass)
            and 0 <= row[SQUARES] <= mass + slack
            and 0 <= row[PARTIAL] <= mass + slack
            and 0 <= row[CELLS] <= row[ROUNDING_MOST] + slack
            and 0 <= row[LOST] <= self.largest_loss * (mass + slack)
            # recommendations that disagree gain, at most the largest loss
            and -mass - slack <= row[ROUNDING] <= row[ROUNDING_MOST] + slack
        )
        if not sound:
            raise ValueError("row must be what a stream can come to: its counts do not agree")
        if len(row) != self.row_width(int(level)):
            raise ValueError(f"row must have {self.row_width(int(level))} columns, got {len(row)}")
        if not 0 <= row[HINT] < self.spec.levels[int(level)].size(self.spec.classes):
            raise ValueError(f"row must have its hint on the grid, got {row[HINT]}")
        low, high = self._rounding_range(float(mass))
        if not low - slack <= row[ROUNDING_MOST] <= high + slack:
            raise ValueError("row must be what a stream can come to: its rounding is impossible")
        self._check_learnt(row)
        self._check_claims(row)

    @property
    def largest_loss(self) -> float:
        """Of a recommendation, for one event of scale 1."""
        return self.squared_diameter

    def _check_claims(self, row: Vector) -> None:
        """Where a bound holds for every run, a row in which it does not is nobody's.

        What a run has paid never exceeds what was guaranteed before it; that the error is below
        both holds for every run only where all points of a distribution learn, in time.
        """
        slack = MEAN_SLACK * (1 + row[MASS])
        measurable = not (self.spec.realised or row[DELAY])
        for claim in self.claims(row):
            if claim.in_order and row[OVERLAP]:
                continue
            paid, known = claim.after_the_fact, claim.guaranteed
            sound = not math.isfinite(paid) or paid <= known + slack
            if measurable:
                sound = sound and claim.measured <= min(paid, known) + slack
            if not sound:
                raise ValueError("row must be what a stream can come to: its bounds do not hold")

    def _rounding_range(self, mass: float) -> tuple[float, float]:
        """Least and most Σ g·δ: outcomes learnt on a grid were forecast on it or a coarser one."""
        least, start = 0.0, 0.0
        for level in range(self.spec.level_at(mass) + 1):
            # the event that reaches the end of a level may overshoot it by its scale
            end = min(self.spec.end(level), mass)
            least += self.rounding_cost(level) * max(end - start, 0.0)
            start = max(start, end)
        return least, self.rounding_cost(0) * mass

    @abstractmethod
    def _check_learnt(self, row: Vector) -> None:
        """The same for what the kind keeps itself."""


def slack_of(row: Vector) -> float:
    """How far sums over all events of a row may be from each other; a sum rounds once an event."""
    return float((SLACK + row[ROUNDS] * 2.0**-53) * (1 + row[MASS]))


def grids_of(layout: Layout) -> list[Points]:
    """The points of every level that is laid out."""
    pairs = zip(layout.first, layout.first[1:], strict=False)
    return [layout.grid[begin:end] for begin, end in pairs]
