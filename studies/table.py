"""The paper's table, measured: how full swap regret grows, against the worst adversary found.

The worst adversary is the worst of those tried here; the true worst case may be worse, so an
exponent far below the paper's says that these adversaries do not reach it, not that the bound is
loose. Beside the learner of each row play two that know nothing of it: Blum–Mansour on a plain
net, which is the learner of row 1, and gradient descent, made for external regret alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fullswap.adversaries import meet
from fullswap.template import FullSwapLearner
from fullswap.theorems import THEOREMS
from studies.adversaries import all_adversaries
from studies.descent import Descent
from studies.fits import exponent, significant
from studies.problems import cases, problem
from studies.runs import Job, Part, Row, number, rows_where

OURS, NET, DESCENT = "fullswap", "plain net", "gradient descent"
QUICK_HORIZONS = (64, 128, 256, 512)
FULL_HORIZONS = (256, 512, 1_024, 2_048, 4_096, 8_192, 16_384)
OTHERS_HORIZONS = FULL_HORIZONS[:5]
"""Of the two that know nothing of the row, in a full study; in a quick one they play in d = 1."""


def jobs(quick: bool, seed: int) -> list[Job]:
    """One for every row, dimension, player and horizon."""
    planned = []
    for row, dim in cases():
        for player in players_of(row):
            horizons: tuple[int, ...] = QUICK_HORIZONS if quick else FULL_HORIZONS
            if player != OURS:
                horizons = (QUICK_HORIZONS if dim == 1 else ()) if quick else OTHERS_HORIZONS
            for horizon in horizons:
                arguments: Row = {
                    "row": row, "dim": dim, "player": player, "horizon": horizon, "seed": seed,
                }  # fmt: skip
                planned.append(Job(measure, arguments, cost=float(horizon)))
    return planned


def players_of(row: str) -> tuple[str, ...]:
    """Who plays the problem of a row; row 1 is itself the plain net.

    Examples
    --------
    >>> players_of("lipschitz"), players_of("discretised")
    (('fullswap', 'gradient descent'), ('fullswap',))
    """
    if row == "discretised":  # its regret is another, among given actions: see the figure
        return (OURS,)
    return (OURS, DESCENT) if row == "lipschitz" else (OURS, NET, DESCENT)


def measure(row: str, dim: int, player: str, horizon: int, seed: int) -> list[Row]:
    """One player against every adversary that applies: a row each."""
    posed = problem(row, dim)
    rows: list[Row] = []
    for adversary in all_adversaries(posed.action_set, posed.loss_class, seed, rounds=horizon):
        about: Row = {"adversary": type(adversary).__name__}
        if player == DESCENT:
            descent = Descent(posed.learner(horizon))
            meet(descent, adversary, horizon)
            rows.append({**about, "measured": descent.full_swap_regret()})
            continue
        learner = posed.learner(horizon)
        if player == NET:
            learner = FullSwapLearner(
                posed.action_set, posed.loss_class, horizon, row="lipschitz", learner="hedge"
            )
        meet(learner, adversary, horizon)
        certificate = learner.certificate()
        assert certificate.guaranteed is not None, certificate.broken
        rows.append(
            {**about, "measured": certificate.measured, "guaranteed": certificate.guaranteed}
        )
    return rows


def summarise(rows: Sequence[Row]) -> dict[str, Any]:
    """The worst run of every player and horizon, and the exponents through them."""
    horizons = sorted({int(number(row, "horizon")) for row in rows})
    ratios = [number(row, "measured") / number(row, "guaranteed")
              for row in rows if "guaranteed" in row]  # fmt: skip
    return {
        "largest_ratio": significant(max(ratios)),
        "horizons": horizons,
        "adversaries": len({row["adversary"] for row in rows}),
        "cases": [
            {
                "row": row,
                "dim": dim,
                "paper": paper_exponent(row, dim),
                "paper_with_log": paper_exponent_with_log(row, dim, horizons),
                "players": {
                    player: _growth(own)
                    for player in players_of(row)
                    if (own := rows_where(rows, row=row, dim=dim, player=player))
                },
            }
            for row, dim in cases()
        ],
    }


def _growth(rows: Sequence[Row]) -> dict[str, Any]:
    horizons = sorted({int(number(row, "horizon")) for row in rows})
    worst = [
        max(rows_where(rows, horizon=horizon), key=lambda row: number(row, "measured"))
        for horizon in horizons
    ]
    measured = [number(row, "measured") for row in worst]
    growth: dict[str, Any] = {
        "horizons": horizons,
        "worst": [significant(value) for value in measured],
        "adversary": [row["adversary"] for row in worst],
        "exponent": exponent(horizons, measured),
    }
    if "guaranteed" in worst[0]:
        guaranteed = [number(row, "guaranteed") for row in worst]
        growth["guaranteed"] = [significant(value) for value in guaranteed]
        growth["guaranteed_exponent"] = exponent(horizons, guaranteed)[0]
        growth["largest_ratio"] = significant(
            max(m / g for m, g in zip(measured, guaranteed, strict=True))
        )
    return growth


def paper_exponent(row: str, dim: int) -> float:
    """Exponent a of the paper's rate T^a·log T; √(εT) at ε = T^(−1/5) for given actions.

    Examples
    --------
    >>> paper_exponent("strongly convex and smooth", 2), paper_exponent("discretised", 1)
    (0.5, 0.4)
    """
    return 0.4 if row == "discretised" else significant(THEOREMS[row].exponent(dim))


def paper_exponent_with_log(row: str, dim: int, horizons: Sequence[int]) -> float:
    """The exponent that a fit finds in T^a·ln T itself over these horizons.

    Examples
    --------
    >>> paper_exponent_with_log("strongly convex and smooth", 1, [256, 1024, 4096])
    0.479574
    """
    power = paper_exponent(row, dim)
    return exponent(horizons, [t**power * math.log(t) for t in horizons])[0]


PART = Part("table", jobs, summarise)
