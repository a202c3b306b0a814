"""The paper's open question, measured: convex Lipschitz losses on a line, √T or T^(2/3)?

Two learners meet the same adversaries on [0, 1]: multiplicative weights on a net, which is all
that the paper has for these losses (row 1, T^(2/3)), and multi-scale binning [HSW26], which has
Õ(√T). What is measured is the worst of the adversaries tried, not the worst case.

The default γ of binning, and that coarse bins come first, were chosen by looking at adversaries
with seeds 0 and 1000, so the seeds here begin at 2000 beyond the first seed of the study. The
search has seeds of its own: 0 for every adversary at first, then seeds drawn at random.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from fullswap.adversaries import Adversary, meet
from fullswap.losses import LossClass
from fullswap.sets import Interval
from fullswap.template import FullSwapLearner
from studies.adversaries import ADVERSARIES, all_adversaries
from studies.fits import exponent, significant
from studies.multiscale import MOST_CELLS, MultiScaleRow, default_cells
from studies.runs import Job, Part, Row, number, rows_where
from studies.searching import search

LINE, LOSSES = Interval(0.0, 1.0), LossClass(1.0, convex=True)
NET, BINS = "row 1", "convex"
PLAYERS = (NET, BINS)
QUICK_HORIZONS = (64, 128, 256, 512, 1_024)
FULL_HORIZONS = (256, 512, 1_024, 2_048, 4_096, 8_192, 16_384)
FULL_SEEDS = 2
SEEN_SEEDS = 2_000
"""Seeds below this may have been looked at when defaults were chosen."""
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""γ as a multiple of its default."""
MESH_HORIZON = {True: 256, False: 2_048}
SEARCH = {True: (256, 30), False: (1_024, 120)}
"""Rounds of a run, and runs of a search, for quick and full studies."""
_SECONDS = {NET: 1.2e-4, BINS: 2.5e-4}
"""About what a round takes; with bins, more where there are many."""


def jobs(quick: bool, seed: int) -> list[Job]:
    """Growth by learner, horizon and seed; other γ by factor; a search for each learner."""
    horizons = QUICK_HORIZONS if quick else FULL_HORIZONS
    first = seed + SEEN_SEEDS
    seeds = range(first, first + (1 if quick else FULL_SEEDS))
    count = len(ADVERSARIES)
    planned = [
        Job(
            grow,
            {"study": "growth", "learner": learner, "horizon": horizon, "seed": own_seed},
            cost=_work(learner, horizon) * count,
        )
        for learner in PLAYERS
        for horizon in horizons
        for own_seed in seeds
    ]
    horizon = MESH_HORIZON[quick]
    planned += [
        Job(
            grow,
            {"study": "mesh", "learner": BINS, "horizon": horizon, "factor": factor,
             "seed": first},
            cost=_work(BINS, horizon) * count,
        )
        for factor in FACTORS
        if factor != 1.0  # the default is played above
    ]  # fmt: skip
    rounds, budget = SEARCH[quick]
    planned += [
        Job(
            seek,
            {"study": "search", "learner": learner, "rounds": rounds, "budget": budget,
             "first": horizons[0], "last": horizons[-1], "seed": first},
            cost=_work(learner, rounds) * budget + 2 * _work(learner, horizons[-1]),
        )
        for learner in PLAYERS
    ]  # fmt: skip
    return planned


def _work(learner: str, horizon: int) -> float:
    return _SECONDS[learner] * horizon * (1 + (learner == BINS) * horizon / 12_000)


def make_learner(learner: str, horizon: int, factor: float = 1.0) -> FullSwapLearner:
    """One of the two, tuned for the horizon; γ is ``factor`` times its default.

    Examples
    --------
    >>> [len(make_learner(name, 1000).grid) for name in PLAYERS]
    [8, 65]
    """
    if learner == NET:
        return FullSwapLearner(LINE, LOSSES, horizon, row="lipschitz", learner="hedge")
    cells = min(max(default_cells(horizon) / factor, 2.0), float(MOST_CELLS))
    return FullSwapLearner(LINE, LOSSES, horizon, row=MultiScaleRow(), mesh=1 / cells)


def grow(study: str, learner: str, horizon: int, seed: int, factor: float = 1.0) -> list[Row]:
    """The learner against every adversary: a row each."""
    return [
        {"adversary": type(adversary).__name__, **_met(learner, adversary, horizon, factor)}
        for adversary in all_adversaries(LINE, LOSSES, seed, rounds=horizon)
    ]


def seek(
    study: str, learner: str, rounds: int, budget: int, first: int, last: int, seed: int
) -> list[Row]:
    """The worst adversary that a search finds in runs of so many rounds, met again at all horizons.

    Horizons go from ``first`` to ``last`` by factors of 2.
    """
    worst = search(partial(make_learner, learner, rounds), LINE, LOSSES, rounds, budget, seed)
    rows: list[Row] = []
    horizon = first
    while horizon <= last:
        adversary = ADVERSARIES[worst.adversary](LINE, LOSSES, **worst.parameters)
        rows.append(
            {
                "horizon": horizon,
                "adversary": type(adversary).__name__,
                "settings": json.dumps(worst.parameters, default=float),
                **_met(learner, adversary, horizon),
            }
        )
        horizon *= 2
    return rows


def _met(learner: str, adversary: Adversary, horizon: int, factor: float = 1.0) -> Row:
    player = make_learner(learner, horizon, factor)
    meet(player, adversary, horizon)
    certificate = player.certificate()
    assert certificate.guaranteed is not None, certificate.broken
    return {
        "points": len(player.grid),
        "measured": certificate.measured,
        "after_the_fact": certificate.after_the_fact,
        "guaranteed": certificate.guaranteed,
    }


def summarise(rows: Sequence[Row]) -> dict[str, Any]:
    """The worst run by learner and horizon, exponents through them, and the worst run by γ."""
    growth, mesh = rows_where(rows, study="growth"), rows_where(rows, study="mesh")
    horizons = sorted({int(number(row, "horizon")) for row in growth})
    horizon, seed = (int(number(mesh[0], key)) for key in ("horizon", "seed"))
    by_factor = {factor: rows_where(mesh, factor=factor) for factor in FACTORS}
    by_factor[1.0] = rows_where(growth, learner=BINS, horizon=horizon, seed=seed)
    met = {
        learner: _worst([rows_where(growth, learner=learner, horizon=t) for t in horizons])
        for learner in PLAYERS
    }
    searched = {
        learner: _searched(rows_where(rows, study="search", learner=learner), horizons)
        for learner in PLAYERS
    }
    return {
        "horizons": horizons,
        "seeds": sorted({int(number(row, "seed")) for row in growth}),
        "adversaries": len({row["adversary"] for row in growth}),
        "largest_ratio": significant(
            max(number(row, "measured") / number(row, "guaranteed") for row in rows)
        ),
        "learners": {
            learner: {
                **met[learner],
                **_growth(horizons, map(max, met[learner]["worst"], searched[learner]["worst"])),
            }
            for learner in PLAYERS
        },
        "search": searched,
        "mesh": {
            "horizon": horizon,
            "factors": [*by_factor],
            **_worst([*by_factor.values()]),
        },
    }


def _worst(groups: Sequence[Sequence[Row]]) -> dict[str, Any]:
    """Of each group the run of largest regret."""
    worst = [max(rows, key=lambda row: number(row, "measured")) for rows in groups]
    return {
        "worst": [significant(number(row, "measured")) for row in worst],
        "adversary": [row["adversary"] for row in worst],
        "points": [int(number(row, "points")) for row in worst],
        "guaranteed": [significant(number(row, "guaranteed")) for row in worst],
    }


def _searched(rows: Sequence[Row], horizons: Sequence[int]) -> dict[str, Any]:
    first = rows[0]
    return {
        **_worst([rows_where(rows, horizon=horizon) for horizon in horizons]),
        "rounds": first["rounds"],
        "budget": first["budget"],
        "settings": first["settings"],
    }


def _growth(horizons: Sequence[int], worst: Iterable[float]) -> dict[str, Any]:
    """Exponents through the largest regrets found, by adversaries as they are or by the search."""
    largest = [*worst]
    late = len(horizons) // 2 - 1  # the curves bend: what the longer runs say by themselves
    return {
        "largest": largest,
        "exponent": exponent(horizons, largest),
        "late_from": horizons[late],
        "late_exponent": exponent(horizons[late:], largest[late:]),
    }


PART = Part("convex", jobs, summarise)
