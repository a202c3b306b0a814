"""Recalibration of yes-or-no events, calibrated in every group: a play, what follows from a row."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from fullswap.base.draws import Words
from fullswap.base.protocols import Points, Vector
from fullswap.certificates import Quantity
from fullswap.inputs.memberships import MOST_IN_EVENT
from fullswap.kernels import experts_groups as kernel
from fullswap.kernels import group_advice
from fullswap.kernels.columns import CELLS, HEAD, LEVEL, LOST, MASS, ROUNDING_MOST, ROUNDS, SQUARES
from fullswap.kernels.events import Layout
from fullswap.kernels.experts import MEMO_HEAD
from fullswap.online.claims import Claim, chance_of
from fullswap.online.expert_rows import RAW_PRIOR, spread_of
from fullswap.online.experts import Experts
from fullswap.online.kind import LARGEST, MEAN_SLACK, SLACK, Play, grids_of, slack_of
from fullswap.online.line import check_pair, mean_outcomes, sums_agree
from fullswap.online.plays import check_indices, check_unit
from fullswap.online.spec import Spec
from fullswap.theorems import LEDGER
from fullswap.theorems.groups import (
    ADVICE_PRIOR,
    TRUST_PRIOR,
    InGroup,
    equal_share,
    reserved_share,
    trust_cost,
)
from fullswap.theorems.recalibration import IMAGINED

BLOCK_VARIANCES = np.array(
    [
        [[group_advice.variance_of.py_func(h, member, slope) for slope in (False, True)]
         for member in (0, 1)]
        for h in range(group_advice.HIERARCHIES)
    ]
)  # fmt: skip
"""Before anything is known, by recalibration; of everybody's part, a group's; intercept, slope."""
TRUST_BLANK = math.log((1 - TRUST_PRIOR) / group_advice.TRUSTED / TRUST_PRIOR)
"""ln of the prior weight, in a group, of a recalibration in groups over the advice's."""


class GroupExperts(Experts):
    """A play is (id, drawn, left, right, share of left, memo of all that was advised)."""

    result = "recalibration in groups"
    own_prior = 1 - ADVICE_PRIOR
    _update, _delta = staticmethod(kernel.groups_update), kernel.DELTA
    hierarchies: ClassVar[tuple[str, ...]] = (
        "recalibrated in groups", "recalibrated in groups widely",
        "recalibrated in groups with forgetting", "recalibrated in groups with fast forgetting",
    )  # fmt: skip

    # --- experts of the advice -------------------------------------------------------------------

    @property
    def experts(self) -> int:
        """Experts of the shared advice."""
        return (len(self.kinds) + len(self.hierarchies)) * self.inputs

    @property
    def prior(self) -> Vector:
        """Half of all weight on what the models say, the rest equally on what is made of it."""
        others = len(self.kinds) - 1 + len(self.hierarchies)
        raw = RAW_PRIOR if self.spec.models else 1 / (1 + others)
        one = np.full(len(self.kinds), (1 - raw) / others)
        one[0] = raw
        more = np.full(len(self.hierarchies), (1 - raw) / others)
        parts = np.tile(one, self.inputs), np.tile(more, self.inputs)
        return np.concatenate(parts) / self.inputs

    @property
    def names(self) -> list[str]:
        """The experts by name, in the order of the mix."""
        inputs = super().names[:: len(self.kinds)]
        if not self.spec.models:
            inputs = ["the constant 1/2"]
        plain = [f"{name}, {kind}" if kind else name for name in inputs for kind in self.kinds]
        return plain + [f"{name}, {kind}" for name in inputs for kind in self.hierarchies]

    # --- rows ------------------------------------------------------------------------------------

    @property
    def point_names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Of everybody, then the advice's weight, then of each group."""
        own = ("weight", "ones", "log weight")
        each = tuple(f"{name} of group {j}" for j in range(self.spec.groups) for name in own)
        return (*own, "log weight of the advice", *each)

    @property
    def shared_columns(self) -> dict[str, int]:
        """Totals and mix, recalibrations, errors by bin, recalibrations in groups, their sums."""
        return super().shared_columns | {
            "blocks": self._blocks, "sums of groups": group_advice.SUMS * self.spec.groups
        }  # fmt: skip

    @property
    def _blocks(self) -> int:
        return self.inputs * group_advice.HIERARCHIES * (1 + self.spec.groups) * group_advice.BLOCK

    def group_prior(self, j: int) -> float:
        """π of the mean of group j; −1: of everybody."""
        if self.spec.open_groups:
            return reserved_share(j + 1)
        return equal_share(self.spec.groups)

    @cached_property
    def _log_priors(self) -> Vector:
        """Of everybody and of the groups."""
        return np.log([self.group_prior(j) for j in range(-1, self.spec.groups)])

    def _blank_points(self, level: int) -> Points:
        blank = np.zeros((self.spec.levels[level].size(2), self.columns))
        blank[:, kernel.ADVICE_LOG] = math.log(ADVICE_PRIOR)
        blank[:, kernel.LOG] = self._log_priors[0]
        blank[:, kernel.ADVICE_LOG + 1 + kernel.LOG :: kernel.OF_GROUP] = self._log_priors[1:]
        return blank

    def _blank_shared(self) -> Vector:
        blocks = np.zeros((group_advice.HIERARCHIES, 1 + self.spec.groups, group_advice.BLOCK))
        blocks[:, 0, 1] = 1.0
        precision = 1.0 / BLOCK_VARIANCES
        blocks[:, 0, 2::2] = precision[:, 0]
        blocks[:, 1:, 2::2] = precision[:, 1:]
        own = np.tile(blocks.ravel(), self.inputs)
        sums = np.zeros((self.spec.groups, group_advice.SUMS))
        sums[:, group_advice.TRUST :] = TRUST_BLANK
        return np.concatenate((super()._blank_shared(), own, sums.ravel()))

    def _views(self, row: Vector) -> tuple[Points, Points, Points]:
        """Blocks (I, H, 1 + G, 5), sums (G, 8) and groups at points (n, G, 3): views."""
        groups = self.spec.groups
        sums = self.base - group_advice.SUMS * groups
        shape = self.inputs, group_advice.HIERARCHIES, 1 + groups, group_advice.BLOCK
        points = self.point_columns(row)[:, kernel.ADVICE_LOG + 1 :]
        return (
            row[sums - self._blocks : sums].reshape(shape),
            row[sums : self.base].reshape(groups, group_advice.SUMS),
            points.reshape(len(points), groups, kernel.OF_GROUP),
        )

    def regrouped(self, row: Vector, old: Any) -> Vector:
        """The row of a kind with less room for groups, laid out with the room of this one."""
        level = int(row[LEVEL])
        wider = np.zeros(self.row_width(level))
        shared = old.base - old._blocks - group_advice.SUMS * old.spec.groups
        wider[HEAD : self.base] = self._blank_shared()
        wider[:shared] = row[:shared]
        self.point_columns(wider)[:] = self._blank_points(level)
        always = kernel.ADVICE_LOG + 1
        self.point_columns(wider)[:, :always] = old.point_columns(row)[:, :always]
        room = old.spec.groups
        for axis, mine, theirs in zip((2, 0, 1), self._views(wider), old._views(row), strict=True):
            kept = slice(0, room + 1 if axis == 2 else room)
            mine[(*[slice(None)] * axis, kept)] = theirs
        return wider

    # --- compiled code ---------------------------------------------------------------------------

    @property
    def _records(self) -> int:
        """Where the records of a memo begin; before them their number."""
        return MEMO_HEAD + 2 * self.inputs + self.experts + 2

    def _length(self, groups: int) -> int:
        """Of the memo of an event of so many groups."""
        return self._records + group_advice.RECORD * (group_advice.ALWAYS + groups)

    def _compile(self, layout: Layout) -> Any:
        spec = self.spec
        how = [self.base, IMAGINED, spec.models, self.inputs, spec.groups, spec.realised]
        self._frames = [
            np.array([*how, delta, end, *self.prior, *grid])
            for delta, end, grid in zip(layout.delta, layout.ends, grids_of(layout), strict=True)
        ]
        self._memo_size = self._length(min(spec.groups, MOST_IN_EVENT))
        memo = np.zeros(self._memo_size)
        return kernel.GroupsSpec(
            *layout, spec.realised, IMAGINED, self.prior, spec.models, spec.groups, memo
        )

    def forecaster(self, row: Vector, source: Words) -> Callable[..., Play]:
        """Two neighbours; the memo is all that was advised."""
        frame, models = self._frames[self.level_of(row)], self.spec.models
        fewest = self._length(0)

        def forecast(count: int, context: Any) -> Play:
            memo = np.empty(fewest + group_advice.RECORD * int(context[models]))
            return (*kernel.groups_predict(frame, row, source, memo, context, count), memo)

        return forecast

    def used_length(self, plays: Points) -> int:
        """As many as the event of most groups needs: there is room for many more."""
        most = int(plays[:, 2 + self._records].max()) if len(plays) else 0
        return 3 + self._length(most)

    def as_of(self, play: Play, spec: Spec) -> Play | None:
        """The same play, whatever room has been made for groups since."""
        mine = replace(self.spec, groups=spec.groups) if self.spec.open_groups else self.spec
        return play if mine == spec else None

    def decode(self, numbers: list[float], level: int) -> tuple[Any, ...]:
        """Left, right, share and as much of the memo as is in use, checked."""
        records = 3 + self._records
        few = len(numbers) < records
        room = min(self.spec.groups, MOST_IN_EVENT)
        groups = -1 if few else check_indices([numbers[records - 1]], room + 1)[0]
        length = 3 + self._length(groups)
        if few or len(numbers) < length:
            raise ValueError(f"play must be at least {length} numbers, got {len(numbers)}")
        pair = check_pair(numbers, self.spec.levels[level].size(2))
        memo = np.array(numbers[3:length])
        head, shared = np.split(memo[: self._records - 1], [-1])
        self._check_memo(head, (len(self.kinds), len(self.hierarchies)))
        check_unit(shared)
        own = memo[self._records :].reshape(-1, group_advice.RECORD)
        index = check_indices(own[group_advice.ALWAYS :, group_advice.INDEX], self.spec.groups)
        check_unit(own[:, [group_advice.LEFT_MEAN, group_advice.RIGHT_MEAN]])
        logs = own[:, [group_advice.LEFT_LOG, group_advice.RIGHT_LOG]]
        if not (
            (own[: group_advice.ALWAYS, group_advice.INDEX] == -1).all()
            and (np.diff(index) > 0).all()
            and (np.abs(logs) <= LARGEST).all()
        ):
            raise ValueError("play must hold groups and their weights, got others")
        return (*pair, memo)

    # --- what is guaranteed ----------------------------------------------------------------------

    def bound(
        self, mass: float, rounding: float, level: int, waiting: int, whole: bool = False
    ) -> float:
        """By the ledger, for everybody; nothing is known in advance where outcomes come late."""
        return self._bound(mass, rounding, level, waiting, -1)

    def _bound(self, mass: float, rounding: float, level: int, waiting: int, j: int) -> float:
        if waiting:
            return math.inf
        lattice = self.spec.levels[level]
        spread, prior = spread_of(lattice), self.group_prior(j)
        premises = InGroup(mass, lattice.size(2), rounding, spread, prior)
        return LEDGER[self.result].bound(premises)

    def _trust(self, row: Vector) -> float:
        """Of every group that came."""
        return trust_cost(int((self._views(row)[1][:, group_advice.G_MASS] > 0).sum()))

    def group_claim(self, row: Vector, j: int, name: str) -> Claim:
        """The calibration error in group j; everybody's is the first of ``claims``."""
        _, sums, groups = self._views(row)
        own, level = sums[j], int(row[LEVEL])
        points = self.points(level)
        weights, ones = groups[:, j, kernel.WEIGHT], groups[:, j, kernel.ONES]
        means = mean_outcomes(weights, ones)
        mass, most = float(own[group_advice.G_MASS]), float(own[group_advice.G_ROUNDING_MOST])
        regret = own[group_advice.G_LOST] - own[group_advice.G_SQUARES] + (ones * means).sum()
        return Claim(
            Quantity.L2_CALIBRATION_ERROR,
            float((weights * np.square(points - means)).sum()),
            self._bound(mass, most, level, self.waiting(row), j),
            float(own[group_advice.G_CELLS] + regret),
            self.result,
            in_order=True,
            noise=chance_of(points, weights),
            table=(points, weights, means),
            group=name,
            rounds=int(own[group_advice.G_ROUNDS]),
            mass=mass,
        )

    # --- rows from outside -----------------------------------------------------------------------

    def _check_learnt(self, row: Vector) -> None:
        columns = self.point_columns(row)
        weights, ones = columns[:, kernel.WEIGHT], columns[:, kernel.ONES]
        sound = (
            self._check_advice(row)
            and sums_agree(weights, ones, row)
            and self._check_blocks(row)
            and self._check_logs(row)
            and self._check_groups(row)
        )
        if not sound:
            raise ValueError("row must be what a stream can come to: its experts do not agree")

    def _check_blocks(self, row: Vector) -> bool:
        blocks, _, _ = self._views(row)
        most = BLOCK_VARIANCES.max(axis=2)
        variances = np.concatenate(
            [most[:, :1], np.repeat(most[:, 1:], self.spec.groups, 1)], 1
        )  # fmt: skip
        return all(
            self._check_beliefs(
                row,
                own[..., :2],
                own[..., [2, 3, 3, 4]].reshape(-1, 2, 2),
                variance,
                BLOCK_VARIANCES.min(),
            )  # fmt: skip
            for each in blocks
            for own, variance in zip(each, variances, strict=True)
        )

    def _check_logs(self, row: Vector) -> bool:
        """Whether weights are their priors where nothing was learnt.

        An event of scale g moves a log by at most 2g.
        """
        columns, slack = self.point_columns(row), slack_of(row)
        _, _, groups = self._views(row)
        advice = columns[:, [kernel.WEIGHT, kernel.ONES, kernel.ADVICE_LOG]]
        everybody = columns[:, [kernel.WEIGHT, kernel.ONES, kernel.LOG]]
        own = np.concatenate((advice[:, None], everybody[:, None], groups), axis=1)
        blank = np.concatenate(([math.log(ADVICE_PRIOR)], self._log_priors))
        weights, moved = own[..., kernel.WEIGHT], np.abs(own[..., kernel.LOG] - blank)
        return bool((moved[weights == 0] == 0).all() and (moved <= 2 * weights + slack).all())

    def _check_groups(self, row: Vector) -> bool:
        """Whether the sums of groups fit what the points have learnt, and those of everybody."""
        _, sums, groups = self._views(row)
        columns, slack = self.point_columns(row), slack_of(row)
        weights, ones = groups[..., kernel.WEIGHT], groups[..., kernel.ONES]
        rounds, mass, lost, squares, cells, most = sums[:, : group_advice.TRUST].T
        trust = np.abs(sums[:, group_advice.TRUST :] - TRUST_BLANK)
        means = mean_outcomes(weights, ones)
        everybody = columns[:, [kernel.WEIGHT]], columns[:, [kernel.ONES]]
        low, high = self.rounding_cost(int(row[LEVEL])), self.rounding_cost(0)
        return bool(
            (ones >= 0).all()
            and (ones <= weights).all()
            and (weights <= everybody[0] + slack).all()
            and (ones <= everybody[1] + slack).all()
            and (weights - ones <= everybody[0] - everybody[1] + slack).all()
            and (np.abs(weights.sum(axis=0) - mass) <= slack).all()
            and (rounds == np.floor(rounds)).all()
            and (rounds >= 0).all()
            and (rounds <= row[ROUNDS]).all()
            and (mass <= rounds * (1 + SLACK)).all()
            and (mass <= row[MASS] + slack).all()
            and ((lost >= 0) & (lost <= mass + slack) & (lost <= row[LOST] + slack)).all()
            and (squares >= (ones * means).sum(axis=0) - slack).all()
            and (squares <= ones.sum(axis=0) + slack).all()
            and (squares <= row[SQUARES] + slack).all()
            and ((cells >= 0) & (cells <= most + slack) & (cells <= row[CELLS] + slack)).all()
            and ((most >= low * mass - slack) & (most <= high * mass + slack)).all()
            and (most <= row[ROUNDING_MOST] + slack).all()
            and (trust <= 2 * mass[:, None] + slack).all()
            and (trust[mass == 0] == 0).all()
        )

    def _check_claims(self, row: Vector) -> None:
        super()._check_claims(row)
        if self.spec.realised:
            return
        # promptness is not needed: recommendations are charged as they were at the forecast
        slack = MEAN_SLACK * (1 + row[MASS])
        for j in range(self.spec.groups):
            claim = self.group_claim(row, j, "")
            if not claim.measured <= min(claim.after_the_fact, claim.guaranteed) + slack:
                raise ValueError("row must be what a stream can come to: its bounds do not hold")
