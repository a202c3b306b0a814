"""A second binary forecaster, written anew, and adversaries that play it in compiled code.

The forecaster of ``fullswap.Forecaster`` once more, from its description alone: every grid point s
recommends q = (Σ g·y + s)/(G + 1); neighbours with q ≥ s on the left and q ≤ s on the right are
played so that points and recommendations have one mean. It makes the same draws, so that outcomes
that were chosen against it hurt the library's forecaster as much: ``studies.tightness`` lets that
one replay them.

What makes a bound tight. With d = |q − s| on both sides of a cell, a round adds to Σ_s G·(s − ȳ)²

    d_l·d_r·(2·gap/(d_l + d_r) − 1)   +   variance of the outcome / (1 + G of the point drawn)

on average over the draw, whatever the outcome. The first is gap²/4 at its largest, where both sides
recommend the middle of the cell; the second adds up to s(1 − s)·ln G. So a strong adversary keeps
the mean of the forecast in the middle of a cell, and visits all cells, those near ½ longer. It
leaves a cell by all ones or all zeros, which costs nothing on average.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import njit

from fullswap.base.draws import Draws, seed_of
from fullswap.base.protocols import Indices, Vector
from fullswap.kernels.philox import uniform
from fullswap.online.lattices import points_of

KINDS = ("tour", "poorest")
"""Of adversaries; see ``Adversary``."""


@dataclass(frozen=True)
class Adversary:
    """Chooses outcomes in sight of everything but the draw.

    - "tour": visits the cells in [low, high] one after the other and keeps the mean of the
      forecast at ``centre`` of a cell; the time in a cell goes with (s(1 − s))^``evenness``. While
      a point of the cell has less than ``early`` times its share of the mass, the mean swings by
      ``swing`` either way: a point that is played nearly alone learns fast.
    - "poorest": as "tour", always on to the cell with the least mass for its variance, for
      ``patience`` of the events at a time.
    """

    kind: str = "tour"
    evenness: float = 1.3
    centre: float = 0.5
    swing: float = 0.6
    early: float = 0.0
    down: bool = False
    cool: float = 0.0
    warm: float = 0.0
    """"tour": at first all zeros, then all ones, for these many times the number of points."""
    low: float = 0.0
    high: float = 1.0
    patience: float = 0.02
    lightness: float = 0.01
    """Where weights are free they are 1 less up to so much."""
    turning: bool = False
    """Whether every other grid, where there are several, is toured the other way round."""

    def numbers(self) -> Vector:
        """For compiled code."""
        return np.array([
            KINDS.index(self.kind), self.evenness, self.centre, self.swing, self.early,
            float(self.down), self.warm, self.low, self.high, self.patience,
            float(self.turning), self.cool,
        ])  # fmt: skip


def random_adversary(rng: np.random.Generator) -> Adversary:
    """Any adversary."""
    low, high = sorted(rng.random(2))
    return Adversary(
        kind=str(rng.choice(KINDS, p=(0.85, 0.15))),
        evenness=float(rng.uniform(0, 3)),
        centre=float(rng.uniform(0.3, 0.7)),
        swing=float(rng.uniform(0, 0.7)),
        early=float(rng.choice([0.0, 10 ** rng.uniform(-2, 1)])),
        down=bool(rng.integers(2)),
        cool=float(rng.choice([0.0, rng.uniform(0, 3)])),
        warm=float(rng.choice([0.0, rng.uniform(0, 6)])),
        low=float(rng.choice([0.0, low])),
        high=float(rng.choice([1.0, high])),
        patience=float(10 ** rng.uniform(-3, -0.7)),
        lightness=float(rng.choice([0.01, rng.random()])),
        turning=bool(rng.integers(2)),
    )


def neighbour(adversary: Adversary, rng: np.random.Generator) -> Adversary:
    """One or two settings changed, mostly a little."""
    other = random_adversary(rng)
    names = [name for name in vars(adversary) if name != "kind" or rng.random() < 0.2]
    changed: dict[str, Any] = {}
    for name in rng.choice(names, int(rng.integers(1, 3)), replace=False):
        new, old = getattr(other, name), getattr(adversary, name)
        if type(old) is float and rng.random() < 0.7:
            new = old + (new - old) * float(rng.uniform(0, 0.3))
        changed[str(name)] = new
    return replace(adversary, **changed)


@dataclass(frozen=True, eq=False)
class Rules:
    """How the forecaster plays: grids, when they change, who learns, and when.

    ``grids`` has the points of all levels one after the other, ``first`` (L + 1,) where each
    begins, ``starts`` (L,) the mass from which on it is played. ``weighted``: whether events
    weigh 1, or what the adversary likes. Outcomes are known ``late`` forecasts later, or, where
    ``shared`` > 1 forecasts are about one event and weigh 1/shared, after the last of them.
    """

    grids: Vector
    first: Indices
    starts: Vector
    realised: bool = True
    weighted: bool = False
    late: int = 0
    shared: int = 1
    hint: int = 0
    """Where the search for the first crossing starts."""

    @classmethod
    def of(
        cls, forecaster: Any, events: int, weighted: bool = False, late: int = 0, shared: int = 1
    ) -> Rules:
        """Those of a forecaster of the library, for so many events."""
        spec = forecaster.spec
        reached = [k for k, start in enumerate(spec.starts) if start <= events]
        levels = [points_of(spec.levels[k], 2) for k in reached]
        first = np.concatenate(([0], np.cumsum([len(points) for points in levels])))
        starts = np.array([spec.starts[k] for k in reached])
        realised = forecaster.feedback == "realised"
        # nothing has been learnt: every point is a crossing, and the first one met is played
        hint = int(min(forecaster.peek().indices))
        return cls(np.concatenate(levels), first, starts, realised, weighted, late, shared, hint)


@dataclass(frozen=True, eq=False)
class Duel:
    """What was played: outcomes and weights in order, and sums at every point of the last grid."""

    points: Vector
    masses: Vector
    ones: Vector
    outcomes: Vector
    weights: Vector

    @property
    def error(self) -> float:
        """Σ_s G·(s − ȳ)², of the draws or of the distributions as who learns has it."""
        met = self.masses > 0
        gaps = self.points[met] - self.ones[met] / self.masses[met]
        return float((self.masses[met] * gaps**2).sum())


def duel(rules: Rules, adversary: Adversary, events: int, seed: int) -> Duel:
    """The adversary against the forecaster with the draws of this seed."""
    weights = np.ones(events)
    if rules.weighted:
        weights -= adversary.lightness * np.random.default_rng([seed, events]).random(events)
    if rules.shared > 1:
        weights /= rules.shared
    outcomes = np.empty(events)
    level, masses, ones = _duel(
        rules.grids, rules.first, rules.starts, rules.realised, rules.late, rules.shared,
        rules.hint, adversary.numbers(), Draws(seed_of(seed)).source, outcomes, weights,
    )  # fmt: skip
    points = rules.grids[rules.first[level] : rules.first[level + 1]]
    return Duel(points, masses[: len(points)], ones[: len(points)], outcomes, weights)


@njit
def crossing(points, recommended, hint):
    """(left, right, share of left): the crossing that is found from the hint on."""
    last = points.shape[0] - 1
    low, step = min(max(hint, 0), last - 1), 1
    if recommended[low] >= points[low]:
        high = low + 1
        while recommended[high] > points[high]:
            if high == last:
                return last, last, 1.0
            low, step = high, 2 * step
            high = min(high + step, last)
    else:
        high, low = low, low - 1
        if high == 0:
            return 0, 0, 1.0
        while recommended[low] < points[low]:
            if low == 0:
                return 0, 0, 1.0
            high, step = low, 2 * step
            low = max(low - step, 0)
    while high - low > 1:
        middle = (low + high) // 2
        if recommended[middle] >= points[middle]:
            low = middle
        else:
            high = middle
    above, below = recommended[low] - points[low], points[high] - recommended[high]
    return low, high, below / (above + below) if above + below > 0 else 1.0


@njit
def _tour(points, evenness, down, cool, warm, low, high, begin, end):
    """Left point of every cell in order, and the mass of forecasts at which its visit ends."""
    cells = points.shape[0] - 1
    order, ends = np.empty(cells + 2, np.int64), np.empty(cells + 2)
    # below the first point: all zeros; beyond the last: all ones
    order[0], ends[0] = -1, begin + cool * points.shape[0]
    order[1], ends[1] = cells, ends[0] + warm * points.shape[0]
    total, count = 0.0, 2
    for k in range(cells):
        cell = cells - 1 - k if down else k
        middle = (points[cell] + points[cell + 1]) / 2
        if low <= middle <= high:
            total += (middle * (1 - middle)) ** evenness
            order[count], ends[count] = cell, total
            count += 1
    if count == 2:  # no cell has its middle there: the one where it is
        cell = min(max(np.searchsorted(points, (low + high) / 2) - 1, 0), cells - 1)
        order[count], ends[count], total = cell, 1.0, 1.0
        count += 1
    for k in range(2, count):
        ends[k] = begin + ends[k] / total * (end - begin)
    return order[:count], ends[:count]


@njit
def _poorest(points, masses):
    """The cell with the least mass for its variance."""
    best, least = 0, np.inf
    for cell in range(points.shape[0] - 1):
        middle = (points[cell] + points[cell + 1]) / 2
        value = (masses[cell] + masses[cell + 1]) / (middle * (1 - middle))
        if value < least:
            best, least = cell, value
    return best


@njit
def _duel(
    grids, first, starts, realised, late, shared, hint, how, source, outcomes, weights
):  # fmt: skip
    events, widest = outcomes.shape[0], 0
    for k in range(first.shape[0] - 1):
        widest = max(widest, first[k + 1] - first[k])
    level, mass = 0, 0.0
    points = grids[first[0] : first[1]]
    masses, ones, recommended = np.zeros(widest), np.zeros(widest), np.zeros(widest)
    recommended[: points.shape[0]] = points
    touring = how[0] == 0
    evenness, centre, swing, early, down, warm = how[1:7]
    low, high, patience, turning, cool = how[7:]
    total, made = weights.sum(), 0.0
    end = min(total, starts[1]) if starts.shape[0] > 1 else total
    order, ends = _tour(points, evenness, down > 0, cool, warm, low, high, 0.0, end)
    visit, rising, until, target = 0, True, 0.0, 0
    # forecasts that wait: left, right, share, drawn, weight, level
    room = late + shared + 1
    waiting, kept = np.zeros((room, 6)), 0
    y = 0.0
    for t in range(events):
        left, right, share = crossing(points, recommended, hint)
        # --- the adversary
        if t % shared == 0:
            if touring:
                while visit < order.shape[0] - 1 and made >= ends[visit]:
                    visit += 1
                    rising = True
                target = order[visit]
            elif t >= until:
                target = _poorest(points, masses)
                until = t + patience * events
                rising = True
            if left < target:
                y = 1.0
            elif left > target:
                y = 0.0
            elif left == right:
                y = 1.0 if left == 0 else 0.0
            else:
                due = (end if touring else mass) / points.shape[0]
                poor = min(masses[left], masses[right]) < early * due
                place, width = 1 - share, swing if poor else 0.0
                if width == 0.0:
                    rising = place < centre
                elif rising and place >= centre + width:
                    rising = False
                elif not rising and place <= centre - width:
                    rising = True
                y = 1.0 if rising else 0.0
        outcomes[t] = y
        made += weights[t]
        # --- the forecast waits
        drawn = 0 if uniform(source, t) < share else 1
        waiting[kept, 0], waiting[kept, 1], waiting[kept, 2] = left, right, share
        waiting[kept, 3], waiting[kept, 4], waiting[kept, 5] = drawn, y, weights[t]
        kept += 1
        # --- outcomes that are known now
        ready = 0
        if shared > 1:
            if (t + 1) % shared == 0 or t == events - 1:
                ready = kept
        elif t == events - 1:
            ready = kept
        elif kept > late:
            ready = 1
        for k in range(ready):
            left, right, share = int(waiting[k, 0]), int(waiting[k, 1]), waiting[k, 2]
            happened, g = waiting[k, 4], waiting[k, 5]
            for side in range(2):
                i = left if side == 0 else right
                scale = share if side == 0 else 1.0 - share
                if realised:
                    scale = 1.0 if side == int(waiting[k, 3]) else 0.0
                scale *= g
                if scale > 0.0:
                    masses[i] += scale
                    ones[i] += scale * happened
                    recommended[i] = (ones[i] + points[i]) / (masses[i] + 1.0)
            mass += g
            if g > 0.0:
                hint = left
            while level + 1 < starts.shape[0] and mass >= starts[level + 1]:
                finer = grids[first[level + 1] : first[level + 2]]
                places = np.searchsorted(finer, points)
                new_masses, new_ones = np.zeros(widest), np.zeros(widest)
                new_recommended = np.zeros(widest)
                new_recommended[: finer.shape[0]] = finer
                for i in range(points.shape[0]):
                    new_masses[places[i]], new_ones[places[i]] = masses[i], ones[i]
                    new_recommended[places[i]] = recommended[i]
                for j in range(k + 1, kept):
                    waiting[j, 0] = places[int(waiting[j, 0])]
                    waiting[j, 1] = places[int(waiting[j, 1])]
                hint, points, level = places[hint], finer, level + 1
                masses, ones, recommended = new_masses, new_ones, new_recommended
                # a new tour of the new grid, as long as that is in play
                end = min(total, starts[level + 1]) if level + 1 < starts.shape[0] else total
                back = turning > 0 and level % 2 == 1
                falling = (down > 0) != back
                order, ends = _tour(points, evenness, falling, 0.0, 0.0, low, high, mass, end)
                visit = 2
        for k in range(ready, kept):
            waiting[k - ready] = waiting[k]
        kept -= ready
    return level, masses, ones
