"""Every kind of forecaster by name, with events to feed it: what the contract is tested on.

A new forecaster joins by one entry of ``MAKERS``. Laws talk to it through a ``Log``, which knows
whether contexts come with its events.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fullswap import Forecaster, MulticlassForecaster, Recalibrator
from fullswap.kernels import line
from fullswap.kernels.columns import LEARNT, LEVEL
from fullswap.kernels.group_advice import G_ROUNDS, SUMS


@dataclass(frozen=True)
class Maker:
    """A class with arguments, and the shape of its events."""

    cls: type
    arguments: dict = field(default_factory=dict)
    classes: int = 2
    models: int = 0
    groups: tuple = ()

    def __call__(self, seed=0, *, feedback=None, **more):
        """A fresh forecaster; ``more`` overrides, ``feedback`` where there is a choice."""
        if feedback is not None and self.cls is Forecaster:
            more["feedback"] = feedback
        return self.cls(**{**self.arguments, "seed": seed, **more})

    @property
    def drawn(self):
        """Whether a seed matters: all but vectors that are issued as they are."""
        return self.classes == 2

    @property
    def vector(self):
        """Whether outcomes are classes and forecasts vectors."""
        return self.classes > 2

    def log(self, events, seed, soft=True):
        """So many events, stable at first and then not, some of them soft."""
        rng = np.random.default_rng(seed)
        k = self.classes
        labels = rng.choice(k, size=events, p=rng.dirichlet(np.ones(k)))
        labels[events // 2 :] = rng.integers(k, size=events - events // 2)
        if rng.random() < 0.3:  # the same for long
            labels = np.cumsum(rng.random(events) < 0.1) % k
        blurred = rng.random(events) < (0.3 if soft else 0.0)
        if self.vector:
            outcomes = np.eye(k)[labels]
            outcomes[blurred] = rng.dirichlet(np.ones(k), size=int(blurred.sum()))
        else:
            outcomes = np.where(blurred, rng.random(events), labels)
        groups = None
        if self.groups:  # their own numbers: other logs stay what they were
            member = np.random.default_rng((seed, 1)).random((events, len(self.groups))) < 0.3
            groups = [[name for name, own in zip(self.groups, row, strict=True) if own]
                      for row in member]  # fmt: skip
        if not self.models:
            return Log(None, outcomes, groups)
        claims = rng.dirichlet(np.ones(k), (events, self.models))
        if self.models > 1:
            claims[rng.random((events, self.models)) < 0.3] = np.nan
            claims[:, 0] = 1 / k  # someone is always there
        if k == 2:
            claims = claims[:, :, 0]
        return Log(claims[:, 0] if self.models == 1 else claims, outcomes, groups)


@dataclass(frozen=True)
class Log:
    """Events in order: contexts (None where a forecaster takes none), outcomes, names of groups."""

    contexts: np.ndarray | None
    outcomes: np.ndarray
    groups: list | None = None

    def __len__(self):
        return len(self.outcomes)

    def predict(self, forecaster, t, event=None):
        return forecaster.predict(*self._context(t), event=event, **self._group(t))

    def peek(self, forecaster, t):
        return forecaster.peek(*self._context(t), **self._group(t))

    def run(self, forecaster, part=slice(None), weights=None, **more):
        """The events of this slice at once."""
        contexts = () if self.contexts is None else (self.contexts[part],)
        own = None if weights is None else weights[part]
        return forecaster.run(*contexts, self.outcomes[part], own, **self.more(part), **more)

    def more(self, part=slice(None)):
        """What else comes with these events, by name: their groups, where there are such."""
        if self.groups is None:
            return {}
        return {"groups": [self.groups[t] for t in np.arange(len(self))[part].tolist()]}

    def loop(self, forecaster, part=slice(None), weights=None):
        """The same, one after the other: what was forecast."""
        shown = []
        for t in range(len(self))[part]:
            shown.append(described(self.predict(forecaster, t)))
            weight = 1.0 if weights is None else float(weights[t])
            forecaster.update(self.outcomes[t], weight=weight)
        return shown

    def _group(self, t):
        return {} if self.groups is None else {"groups": self.groups[t]}

    def _context(self, t):
        return () if self.contexts is None else (self.contexts[t],)


GROUPS = ("north", 7, ("night", True))
"""Names of groups, of every sort."""

MAKERS = {
    "binary": Maker(Forecaster, {"horizon": 60}),
    "binary, anytime": Maker(Forecaster),
    "binary, long horizon": Maker(Forecaster, {"horizon": 3000}),
    "binary, one event": Maker(Forecaster, {"horizon": 1}),
    "binary in steps": Maker(Forecaster, {"step": 0.25, "horizon": 100_000}),
    "binary in steps, anytime": Maker(Forecaster, {"step": "5%"}),
    "binary distributions": Maker(Forecaster, {"feedback": "distribution"}),
    "binary, weights": Maker(Forecaster, {"max_weight": 2.5}),
    "3 classes": Maker(MulticlassForecaster, {"classes": 3, "horizon": 300}, 3),
    "3 classes, anytime": Maker(MulticlassForecaster, {"classes": 3}, 3),
    "12 classes": Maker(MulticlassForecaster, {"classes": 12, "max_weight": 2.0}, 12),
    "recalibrator": Maker(Recalibrator, {}, models=1),
    "recalibrator, growing": Maker(Recalibrator, {"step": None}, models=1),
    "recalibrator, horizon": Maker(Recalibrator, {"step": None, "horizon": 500}, models=1),
    "recalibrator, models": Maker(Recalibrator, {"step": 0.1, "models": 3}, models=3),
    "recalibrator, groups": Maker(
        Recalibrator, {"models": 2, "groups": GROUPS}, models=2, groups=GROUPS
    ),
    "binary, groups": Maker(
        Forecaster, {"feedback": "distribution", "groups": GROUPS}, groups=GROUPS
    ),
    "recalibrator, 3 classes": Maker(Recalibrator, {"classes": 3}, 3, 1),
    "recalibrator, 9 classes": Maker(Recalibrator, {"classes": 9, "models": 2}, 9, 2),
}
"""Forecasters of one stream; those of several streams or several parts join here."""

ON_GRIDS = {name: maker for name, maker in MAKERS.items() if maker.classes == 2}
"""Those whose forecasts are distributions over grid points, which learn alone."""
CERTAIN = {
    name: maker for name, maker in MAKERS.items() if maker.cls is Forecaster or maker.classes > 2
}
"""Those whose guarantees hold in every run, with feedback "distribution" where one may choose."""


def row_of(forecaster):
    """The row of its stream."""
    return forecaster._stream.row


def rounds_of_groups(forecaster):
    """Places of a row where events of groups are counted."""
    kind = kind_behind(forecaster)
    first = kind.base - SUMS * kind.spec.groups
    return range(first + G_ROUNDS, kind.base, SUMS)


def nbytes_of(forecaster):
    """Memory of the row and of what finds it."""
    return forecaster._stream.rows.nbytes


def kind_behind(forecaster):
    """The verbs of its kind."""
    return forecaster._stream.kind


def draws_of(forecaster):
    """Seed and stream of its draws."""
    return forecaster._stream.draws


def described(forecast):
    """(support with weights, mean, issued) as plain data."""
    pairs = zip(forecast.points.tolist(), forecast.weights.tolist(), strict=True)
    support = [(point, weight) for point, weight in pairs]
    return support, plain(forecast.mean), plain(forecast.issued)


def run_described(record):
    """The same of every round of a record."""
    points = record.points.tolist()
    rounds = zip(
        record.indices.tolist(), record.weights.tolist(), record.mean, record.issued, strict=True
    )
    return [
        (
            [(points[i], w) for i, w in zip(indices, weights, strict=True) if w > 0],
            plain(mean),
            plain(issued),
        )
        for indices, weights, mean, issued in rounds
    ]


def plain(value):
    return np.asarray(value).tolist()


def state_of(forecaster):
    """All that a forecaster will act on, bit by bit.

    Which forecast was learnt last is left out: a run does not write that down.
    """
    row = row_of(forecaster).copy()
    row[LEARNT] = -1
    pending = [ticket.to_list() for ticket in forecaster.pending]
    return (
        forecaster.spec,
        draws_of(forecaster).seed,
        draws_of(forecaster).stream,
        row.tobytes(),
        pending,
    )


def column(forecaster, place):
    """One column of the row of a forecaster with a single stream."""
    return float(row_of(forecaster)[place])


def masses(forecaster):
    """{grid point: mass of the outcomes that it has learnt}, those that have learnt."""
    kind, row = kind_behind(forecaster), row_of(forecaster)
    grid = kind.points(int(row[LEVEL])).tolist()
    place = line.WEIGHT if kind.spec.kind == "line" else 0
    held = zip(grid, point_columns(forecaster)[:, place].tolist(), strict=True)
    return {point: mass for point, mass in held if mass > 0}


def point_columns(forecaster):
    """What the grid points have learnt, (n, columns): a copy."""
    return kind_behind(forecaster).point_columns(row_of(forecaster)).copy()
