"""Many classes: one vector of sum 1 an event, on which the soft bins of all classes agree."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from fullswap.base import checks
from fullswap.base.draws import Words
from fullswap.base.protocols import Points, Vector
from fullswap.base.records import Record
from fullswap.kernels import classes_advice as advice
from fullswap.kernels import classwise as kernel
from fullswap.kernels.coherent import solver_room
from fullswap.kernels.columns import HEAD, MASS, NEXT_ID, OVERLAP, REPEATS
from fullswap.kernels.events import Layout
from fullswap.online.claims import Claim
from fullswap.online.classwise_checks import check_classwise, check_play
from fullswap.online.classwise_claims import classwise_claims
from fullswap.online.classwise_plays import grown_play
from fullswap.online.expert_rows import ExpertRows
from fullswap.online.kind import MEAN_SLACK, Play
from fullswap.online.spec import Spec
from fullswap.theorems import LEDGER
from fullswap.theorems.classwise import (
    ALL_PRIOR,
    OWN_PRIOR,
    PART_PRIOR,
    widths_of,
)
from fullswap.theorems.classwise import (
    Classwise as Bins,
)


class Classwise(ExpertRows):
    """A play is (id, 0, x, offsets of the lower and upper bins, said, (declared, ρ)), arrays."""

    vectors = True
    squared_diameter = 2.0

    @property
    def kinds(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the experts of an input do."""
        if not self.spec.models:
            return "", "with forgetting"
        return "", "at its temperature", "at its temperature, with forgetting", "scaled by class"

    @property
    def names(self) -> list[str]:
        """The experts by name, in the order of the mix."""
        if not self.spec.models:
            return ["the class frequencies", "the class frequencies, with forgetting"]
        return super().names

    @cached_property
    def nodes(self) -> Vector:
        """Where the bins of a class are."""
        return self.spec.levels[0].nodes

    # --- rows -----------------------------------------------------------------------------------

    def _coordinates(self, level: int) -> Points:
        """Compiled code knows classes by number."""
        return np.arange(float(self.spec.classes))

    @property
    def shared_columns(self) -> dict[str, int]:
        """Totals and mix, and what is made of the inputs."""
        return {**self._with_mix(), "totals": kernel.TOTALS, "beliefs": self._beliefs.size}

    @cached_property
    def _beliefs(self) -> Points:
        """Beliefs of every input before anything is known."""
        classes = self.spec.classes
        if not self.spec.models:
            return np.zeros((1, 2 * classes))
        one = np.zeros(advice.BELIEFS + 2 * (classes + 1))
        one[[advice.SLOPE, advice.FORGETTING, advice.SCALING]] = 1.0
        known = 1 / advice.SLOPE_VARIANCE
        one[[advice.SLOPE + 1, advice.FORGETTING + 1, advice.SCALING + classes + 1]] = known
        one[advice.SCALING + classes + 2 :] = 1 / advice.BIAS_VARIANCE
        return np.tile(one, (self.inputs, 1))

    @cached_property
    def point_names(self) -> tuple[str, ...]:
        """Weights of the bins and of the advice, then the bins, column by column."""
        names = (
            "top weight", "top error", "top chance", "rest weight", "rest error", "rest chance",
            "share of all", "share of top", "share of rest", "offset",
        )  # fmt: skip
        bins = (f"{name} {i}" for name in names for i in range(len(self.nodes)))
        return ("own", "trust", *bins)

    def _blank_points(self, level: int) -> Points:
        one = np.zeros(self.columns)
        one[kernel.OWN], one[kernel.TRUST] = OWN_PRIOR, 1 - OWN_PRIOR
        bins = one[kernel.CLASS_HEAD :].reshape(kernel.BIN_COLUMNS, -1)
        bins[kernel.SHARE_ALL] = ALL_PRIOR
        bins[[kernel.SHARE_TOP, kernel.SHARE_REST]] = PART_PRIOR
        return np.tile(one, (self.spec.classes, 1))

    def _blank_shared(self) -> Vector:
        more = np.zeros(kernel.TOTALS - 2)
        return np.concatenate((more, self._blank_mix(), self._beliefs.ravel()))

    def totals(self, row: Vector) -> Vector:
        """Losses and what the solver left."""
        return row[HEAD : HEAD + kernel.TOTALS]

    def _mix(self, row: Vector) -> tuple[Vector, Vector]:
        """Losses of advice and play (2,), and mix (3, M): views."""
        begin = HEAD + kernel.TOTALS
        mix = row[begin : begin + 3 * self.experts].reshape(3, self.experts)
        return self.totals(row)[:2], mix

    def bins(self, row: Vector) -> Points:
        """Columns of the bins, (BIN_COLUMNS, K, n): a view."""
        own = self.point_columns(row)[:, kernel.CLASS_HEAD :]
        return own.reshape(self.spec.classes, kernel.BIN_COLUMNS, -1).transpose(1, 0, 2)

    def _compile(self, layout: Layout) -> Any:
        classes, nodes = self.spec.classes, self.nodes
        squares = np.square(widths_of(tuple(nodes.tolist())))
        rates = 1 / (2 * np.append(squares, squares.max()))
        rates.setflags(write=False)
        nodes.setflags(write=False)
        self._memo = np.zeros((1 + 2 * self.inputs + self.experts, classes))
        self._rough = np.zeros((classes, len(nodes)))
        self._room = solver_room(classes, len(nodes))
        self._chance = np.zeros(classes)
        self._learning = (
            self.inputs, self.prior, (OWN_PRIOR, ALL_PRIOR, PART_PRIOR), rates,
        )  # fmt: skip
        return kernel.ClasswiseSpec._make((
            *layout, False, nodes, *self._learning, self._memo, self._rough, self._room,
            self._chance, np.zeros(1, np.int64), self._ticket(),
        ))  # fmt: skip

    def _ticket(self) -> tuple[Any, ...]:
        """Room for a vector, the offsets of both its bins, what models say, and marks."""
        classes, models = self.spec.classes, self.spec.models
        return (
            np.zeros(classes), np.zeros(classes), np.zeros(classes), np.zeros((models, classes)),
            np.zeros(2),
        )  # fmt: skip

    # --- one event ------------------------------------------------------------------------------

    def forecaster(self, row: Vector, source: Words) -> Callable[..., Play]:
        """The vector on which all classes agree."""

        def forecast(count: int, context: Any = None) -> Play:
            ticket = self._ticket()
            if context is not None:
                ticket[3][:] = context
            kernel.classwise_forecast(
                self.nodes, row, self.base, self.inputs, self._memo, self._rough, self._room, ticket
            )
            number = int(row.item(NEXT_ID))
            if count:
                row[NEXT_ID] = number + count
            return (number, 0, *ticket)

        return forecast

    def learner(self, row: Vector, level: int) -> Callable[..., bool]:
        """Feed one outcome (K,)."""

        def learn(
            number: int, drawn: int, x: Vector, low: Vector, high: Vector, said: Points,
            marks: Vector, scale: float, outcome: Vector,
        ) -> bool:  # fmt: skip
            kernel.classwise_learn(
                self.nodes, row, self.base, *self._learning, self._memo, self._chance,
                (x, low, high, said, marks), False, scale, outcome, number,
            )  # fmt: skip
            return False

        return learn

    def lifted(self, play: Play, old: int, new: int) -> Play:
        """There is one grid only."""
        return play

    def as_of(self, play: Play, spec: Spec) -> Play | None:
        """With the classes that were added since."""
        more = spec.classes - self.spec.classes
        if more < 0 or replace(self.spec, classes=spec.classes) != spec:
            return None
        return grown_play(self.nodes, play, more)

    def support(self, play: Play) -> tuple[list[int], list[float]]:
        """One vector."""
        return [0], [1.0]

    def shown(self, play: Play, level: int) -> tuple[Points, Vector]:
        """The vector, with all probability."""
        return play[2][None].copy(), np.ones(1)

    def mean(self, play: Play, level: int) -> Any:
        """The vector."""
        return play[2].copy()

    def value(self, play: Play, level: int) -> Any:
        """The vector."""
        return play[2].copy()

    def declared(self, play: Play) -> int:
        """The class that was declared."""
        return int(play[6][kernel.DECLARED])

    def issued(self, play: Play) -> int:
        """A vector is its own point."""
        return 0

    def learners(self, play: Play) -> list[int]:
        """All classes learn from every event: they are one point."""
        return [0]

    def drawn_with(self, play: Play, u: float) -> Play:
        """The same vector: nothing is drawn."""
        return play

    def check_drawn(self, drawn: Any, played: tuple[Any, ...]) -> int:
        """There is nothing to draw."""
        return checks.whole("drawn", drawn, 0, 0)

    def note(self, play: Play, level: int, t: int, recorded: tuple[Any, Any, Any]) -> None:
        """The vector and its declared class, as row t."""
        _, weights, issued = recorded
        weights[t], issued[t] = play[2], self.declared(play)

    def record(self, level: int, recorded: tuple[Any, Any, Any]) -> Record:
        """Vectors as points of their own."""
        _, vectors, declared = recorded
        own = np.arange(len(vectors))
        ones = np.ones((len(own), 1))
        return Record.of_forecasts(vectors, own[:, None], ones, own, declared.astype(np.int64))

    def encode(self, play: Play) -> list[float]:
        """Declared class and ρ, vector, offsets, what models said."""
        parts = (play[6], *play[2:6])
        return [float(value) for part in parts for value in part.ravel()]

    def encoded_length(self) -> int:
        """Of these."""
        return 2 + (3 + self.spec.models) * self.spec.classes

    def decode(self, numbers: list[float], level: int) -> tuple[Any, ...]:
        """The same, checked; an absent model is NaN."""
        if len(numbers) != self.encoded_length():
            raise ValueError(f"play must have {self.encoded_length()} numbers, got {len(numbers)}")
        classes = self.spec.classes
        marks, vectors = np.array(numbers[:2]), np.array(numbers[2:]).reshape(-1, classes)
        check_play(self.nodes, marks, vectors, self.spec.models)
        x, low, high = (np.ascontiguousarray(vectors[k]) for k in range(3))
        return x, low, high, np.ascontiguousarray(vectors[3:]), marks

    # --- what is guaranteed ---------------------------------------------------------------------

    def rounding_cost(self, level: int) -> float:
        """Nothing is rounded."""
        return 0.0

    @property
    def largest_loss(self) -> float:
        """Nothing is kept of recommendations alone."""
        return 0.0

    def waiting(self, row: Vector) -> int:
        """Anywhere; and where an event had several forecasts, which were learnt together."""
        return int(row[OVERLAP] + row[REPEATS])

    def bound(
        self, mass: float, rounding: float, level: int, waiting: int, whole: bool = False
    ) -> float:
        """By the ledger; nothing is known in advance where outcomes come late."""
        if waiting:
            return math.inf
        return LEDGER["classwise calibration"].bound(Bins(mass, self.spec.classes, self.knots))

    @cached_property
    def knots(self) -> tuple[float, ...]:
        """The nodes, as theorems take them."""
        return tuple(self.nodes.tolist())

    def left_over(self, row: Vector) -> float:
        """Σg·ρ: what the solver of vectors left."""
        return float(self.totals(row)[kernel.GAPS])

    def claims(self, row: Vector) -> list[Claim]:
        """Class-wise first, then top-label, then excess Brier scores."""
        return classwise_claims(self, row)

    def _check_claims(self, row: Vector) -> None:
        """The same in advance: what learning costs is bounded in each run."""
        super()._check_claims(row)
        if self.waiting(row):
            return
        slack = MEAN_SLACK * (1 + row[MASS])
        for claim in self.claims(row):
            if not claim.measured <= claim.guaranteed + slack:
                raise ValueError("row must be what a stream can come to: its bounds do not hold")

    def _check_learnt(self, row: Vector) -> None:
        check_classwise(self, row)
