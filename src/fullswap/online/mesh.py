"""Recalibration of several classes: experts on a grid of the simplex, played by a fixed point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fullswap.base.draws import Words
from fullswap.base.protocols import Indices, Points, Vector
from fullswap.kernels import experts_mesh as kernel
from fullswap.kernels.columns import CELLS, LEVEL, LOST, MASS, ROUNDING_MOST, SQUARES
from fullswap.kernels.events import Layout
from fullswap.kernels.logistic import SCALING_TIGHT, SCALING_WIDE
from fullswap.online.claims import Claim, chance_of
from fullswap.online.expert_rows import LARGEST_LOGIT, ODDS_BLANK, ExpertRows
from fullswap.online.kind import Play, slack_of
from fullswap.online.lattices import lookup_of
from fullswap.online.plays import give_id
from fullswap.online.simplex_rows import SimplexRows, check_vectors, vectors_agree
from fullswap.theorems.recalibration import IMAGINED

STEPS = 20
"""Of a search for a fixed point, by classes and cells a side: hardly any takes a tenth."""
VARIANCES = np.array([SCALING_TIGHT, SCALING_WIDE, SCALING_WIDE])
"""Of the recalibrations of an input, before anything is known."""


class MeshExperts(ExpertRows, SimplexRows):
    """A play is (id, drawn, members, shares, what they recommend, their means, memo), arrays."""

    squared_diameter = 2.0
    kinds = (
        "", "recalibrated", "recalibrated widely", "recalibrated with forgetting",
        "shifted by likeliest class",
    )  # fmt: skip

    @property
    def width(self) -> int:  # type: ignore[override]
        """One simplex; closed classes, which are rarely needed, are made room for then."""
        return self.spec.classes

    @property
    def shared_columns(self) -> dict[str, int]:
        """Totals and mix, recalibrations, errors by likeliest class."""
        return self._with_mix(recalibrations=self._scaling, likely=self._likely)

    @property
    def point_names(self) -> tuple[str, ...]:
        """Mass, odds, outcomes."""
        return ("weight", "odds", *(f"ones {k}" for k in range(self.spec.classes)))

    @property
    def _scaling(self) -> int:
        return self.inputs * kernel.SCALINGS * (self.spec.classes + 1) * (self.spec.classes + 2)

    @property
    def _likely(self) -> int:
        return self.inputs * self.spec.classes * (1 + self.spec.classes)

    def _blank_points(self, level: int) -> Points:
        blank = np.zeros((self.spec.levels[level].size(self.spec.classes), self.columns))
        blank[:, kernel.ODDS] = ODDS_BLANK
        return blank

    def _blank_shared(self) -> Vector:
        size = self.spec.classes + 1
        one = np.zeros((len(VARIANCES), size, size + 1))
        one[:, 0, 0] = 1.0  # slope; biases start at 0
        one[:, :, 1:] = np.eye(size) / VARIANCES[:, None, None]
        recalibrations = np.tile(one.ravel(), self.inputs)
        return np.concatenate((self._blank_mix(), recalibrations, np.zeros(self._likely)))

    def _compile(self, layout: Layout) -> Any:
        classes = self.spec.classes
        self._largest = int(np.diff(layout.first).max())
        self._lattice = lookup_of(self.spec.levels[0], classes)
        self._grid = layout.grid
        # of a location: cumulative sums and fractional parts; of a recommendation: q and μ
        self._work = np.zeros((4, classes + 1)), np.zeros(classes + 1, np.int64)
        self._matrix = np.zeros((classes + 4, classes + 1))
        d = classes - 1
        room = np.zeros((d + 5, d + 2)), np.zeros((4, d + 2), np.int64)
        self._search = np.zeros(2 * d, np.int64), room
        self._limit = STEPS * classes * (self.spec.levels[0].cells + 1)
        self._arguments = (
            *layout, self.spec.realised, IMAGINED, self.prior, self._lattice, self._search,
            self._limit,
        )  # fmt: skip
        return self._with_room(self.width)

    def _with_room(self, room: int) -> Any:
        ticket = self._ticket(room)
        scratch = self._walk(room), self._work, self._matrix
        return kernel.MeshSpec._make((*self._arguments, *scratch, *ticket[:2], ticket))

    def _ticket(self, room: int) -> tuple[Any, ...]:
        classes = self.spec.classes
        memo = np.zeros((1 + 2 * self.inputs + self.experts, classes))
        # a search that finds a closed class may list the whole grid before it is cut
        return (
            np.zeros(max(self._largest, room), np.int64), np.zeros(max(room, classes)),
            np.zeros((room, classes)), np.zeros((room, classes)), memo,
        )  # fmt: skip

    def widen(self, size: int) -> None:
        """Make room for supports of this size."""
        self.kernel = self._with_room(max(size, len(self.kernel.walk[2])))

    def forecaster(self, row: Vector, source: Words) -> Callable[..., Play]:
        """A stationary distribution on a few points; the memo is all that was advised."""

        def forecast(count: int, context: Any) -> Play:
            size = -1
            while size < 0:
                ticket = self._ticket(len(self.kernel.walk[2]))
                size = kernel.mesh_forecast(
                    self._grid, row, self.base, IMAGINED, self._lattice, self._search,
                    self._limit, self.kernel.walk, self._work, context, self.inputs, ticket,
                )  # fmt: skip
                if size < 0:
                    self.widen(-2 * size)
            members, shares, targets, means, memo = ticket
            parts = members[:size].copy(), shares[:size], targets[:size], means[:size], memo
            return (*give_id(row, count, source, parts[1]), *parts)

        return forecast

    def learner(self, row: Vector, level: int) -> Callable[..., bool]:
        """Feed one outcome (K,)."""
        base, prior, delta, end = self.base, self.prior, self.rounding_cost(0), self.spec.end(0)

        def learn(
            number: int, drawn: int, members: Indices, shares: Vector, targets: Points,
            means: Points, memo: Points, scale: float, outcome: Vector,
        ) -> bool:  # fmt: skip
            ticket = (members, shares, targets, means, memo)
            due: bool = kernel.mesh_learn(
                self._grid, row, base, prior, delta, end, self.spec.realised, self._matrix, ticket,
                len(members), drawn, scale, outcome, number,
            )  # fmt: skip
            return due

        return learn

    def lifted(self, play: Play, old: int, new: int) -> Play:
        """There is one grid only."""
        return play

    def encode(self, play: Play) -> list[float]:
        """Size, members, shares, targets, means, memo."""
        return [float(len(play[2])), *(float(v) for part in play[2:] for v in part.ravel())]

    def encoded_length(self, size: int) -> int:
        """Of these six."""
        memo = (1 + 2 * self.inputs + self.experts) * self.spec.classes
        return 1 + 2 * size + 2 * size * self.spec.classes + memo

    def decode(self, numbers: list[float], level: int) -> tuple[Any, ...]:
        """The same, checked; an absent model is NaN."""
        classes = self.spec.classes
        members, shares = self._decode_support(numbers, level, 2 * classes)
        size = len(members)
        if len(numbers) != self.encoded_length(size):
            raise ValueError(f"play must have {self.encoded_length(size)} numbers")
        vectors = np.array(numbers[1 + 2 * size :]).reshape(-1, classes)
        targets, means, memo = vectors[:size], vectors[size : 2 * size], vectors[2 * size :]
        present = ~np.isnan(memo[1 : 1 + self.inputs]).any(axis=1)
        logs = memo[1 + self.inputs : 1 + 2 * self.inputs]
        opinions = memo[1 + 2 * self.inputs :].reshape(self.inputs, kernel.KINDS, classes)
        if not (
            present.any()
            and (present.all() or self.spec.models > 1)
            and (np.abs(logs) <= LARGEST_LOGIT).all()
            and np.isnan(memo[1 : 1 + self.inputs][~present]).all()
            and np.isnan(opinions[~present]).all()
        ):
            raise ValueError("play must hold what models said, got a memo that does not agree")
        said = memo[1 : 1 + self.inputs][present]
        check_vectors(np.concatenate((targets, means, memo[:1], said)))
        check_vectors(opinions[present].reshape(-1, classes))
        parts = (members, shares, targets, means, memo)
        return tuple(np.ascontiguousarray(part) for part in parts)

    def claims(self, row: Vector) -> list[Claim]:
        """Calibration error first, then the excess Brier score against each expert."""
        columns = self.point_columns(row)
        weights, ones = columns[:, kernel.WEIGHT], columns[:, kernel.ONES :]
        means = _means(weights, ones)
        points = self.points(int(row[LEVEL]))
        error = float((weights * np.square(points - means).sum(axis=1)).sum())
        regret = float(row[LOST]) - float(row[SQUARES]) + float((ones * means).sum())
        paid, most = float(row[CELLS]), float(row[ROUNDING_MOST])
        claim = self._calibration(row, error, regret, paid, most, chance_of(points, weights))
        return self._claims(row, claim, paid, most)

    def _check_learnt(self, row: Vector) -> None:
        columns, classes = self.point_columns(row), self.spec.classes
        weights, ones = columns[:, kernel.WEIGHT], columns[:, kernel.ONES :]
        begin = self.base - self._scaling - self._likely
        scaling = row[begin : begin + self._scaling].reshape(-1, classes + 1, classes + 2)
        likely = row[begin + self._scaling : self.base].reshape(-1, 1 + classes)
        slack = slack_of(row)
        odds = columns[:, kernel.ODDS]
        sound = (
            self._check_mix(row)
            and (ones >= 0).all()
            and (ones <= weights[:, None]).all()  # rounding keeps this order
            and vectors_agree(weights, _means(weights, ones), row)
            and (odds[weights == 0] == ODDS_BLANK).all()
            and (np.abs(odds - ODDS_BLANK) <= 2 * weights + slack).all()
            and self._check_beliefs(
                row, scaling[:, :, 0], scaling[:, :, 1:], np.tile(VARIANCES, self.inputs)
            )
            and (np.abs(likely[:, 1:]) <= likely[:, :1]).all()
            and likely[:, 0].sum() <= self.inputs * (row[MASS] + slack)
        )
        if not sound:
            raise ValueError("row must be what a stream can come to: its experts do not agree")


def _means(weights: Vector, ones: Points) -> Points:
    """Mean outcomes (n, K) of the points, 0 where there was none."""
    return ones / np.where(weights > 0, weights, 1.0)[:, None]
