"""The paper's figure, measured: discretised swap regret against the step, for three approaches.

Every approach meets the same adversaries: one of each kind, some that are aimed at the multiples
of the step, and those that a search found for it at the shortest horizon, carried over to longer
ones. The regret told is the worst of these runs. All play the squared loss; most adversaries give
outcomes 0 or 1, a few any in [0, 1], for which regret and guarantees are the same.

Beside it, what the paper takes for the calibration error of discretised forecasts, the sum of
n_p·(p − [b̄_p])²: if outcomes are coins whose chance lies half-way between two multiples, the
rounded mean [b̄_p] falls on either side by luck, and every forecaster that says multiples pays of
the order of ε²·T. Swap regret does not mind, because half-way both multiples lose the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from fullswap.adversaries import meet
from fullswap.adversaries.base import Adversary
from fullswap.adversaries.outcomes import middle_of_cell
from fullswap.adversaries.parameters import Number
from fullswap.metrics import discretised_calibration_error, discretised_swap_regret
from fullswap.metrics.tally import Tally
from fullswap.template.plan import plan
from studies.adversaries import ADVERSARIES, all_adversaries
from studies.approaches import (
    APPROACHES,
    LINE,
    PAPER,
    PROVED,
    SQUARED,
    fine_plan,
    forecasts,
    multiples,
    nearest_multiple,
    rounding_guarantees,
)
from studies.fits import SMALLEST, significant
from studies.fits import exponent as fitted_exponent
from studies.runs import Job, Part, Row, Value, rows_where
from studies.searching import search

QUICK_HORIZONS, FULL_HORIZONS = (300, 2_000), (1_000, 10_000, 100_000)
QUICK_EXPONENTS = (0.0, 1 / 5, 1 / 4, 1 / 3, 0.45)
FULL_EXPONENTS = (0.0, 0.1, 1 / 5, 1 / 4, 0.3, 1 / 3, 0.45)
"""ε = 1/m with m the whole number nearest to T^a."""
QUICK_BUDGET, FULL_BUDGET = 15, 60
"""Runs of a search."""
QUICK_LONG, FULL_LONG = 2_000, 100_000
"""Rounds at which adversaries that know nothing of the step are left out, to save time."""
MIDPOINT_STEPS = (4, 10)
MIDPOINT_HORIZONS = (316, 1_000, 3_162, 10_000, 31_623, 100_000, 316_228, 1_000_000)
FITTED_FROM = 3_000
"""Rounds from which on growth is fitted: before, early learning hides ε²·T."""
FEWEST = 4
"""Horizons that an interval for a slope takes; through fewer, the slope from end to end."""
_SECONDS = 4e-5
"""CPU seconds of a round, roughly."""


def steps_at(horizon: int, exponent: float) -> int:
    """m ≈ T^a, at least 1.

    Examples
    --------
    >>> steps_at(10_000, 0.25), steps_at(300, 0.0)
    (10, 1)
    """
    return max(1, round(horizon**exponent))


def jobs(quick: bool, seed: int) -> list[Job]:
    """Every approach at every horizon and step, then the midpoint runs."""
    horizons = QUICK_HORIZONS if quick else FULL_HORIZONS
    budget = QUICK_BUDGET if quick else FULL_BUDGET
    made = []
    for horizon in horizons:
        everyone = horizon < (QUICK_LONG if quick else FULL_LONG)
        for exponent in QUICK_EXPONENTS if quick else FULL_EXPONENTS:
            for approach in APPROACHES:
                arguments: dict[str, Value] = {
                    "approach": approach, "horizon": horizon, "exponent": round(exponent, 6),
                    "everyone": everyone, "found_at": horizons[0], "budget": budget, "seed": seed,
                }  # fmt: skip
                runs = (19 if everyone else 6) * horizon + budget * horizons[0]
                size = steps_at(horizon, exponent) if approach == "weights" else 0
                # dense chains take time for every pair of multiples
                made.append(Job(face_adversaries, arguments, runs * (_SECONDS + 1e-8 * size**2)))
    for steps in MIDPOINT_STEPS:
        for approach in MIDPOINT_APPROACHES:
            # no compiled loop over all rounds for weights
            dear = approach == "weights"
            most = (1e4 if dear else 1e5) if quick else (1e5 if dear else 1e6)
            repeats = (3 if dear else 16) if quick else (8 if dear else 16)
            for horizon in MIDPOINT_HORIZONS:
                if horizon <= most:
                    arguments = {
                        "approach": approach, "steps": steps, "horizon": horizon,
                        "repeats": repeats, "seed": seed,
                    }  # fmt: skip
                    cost = repeats * horizon * (_SECONDS if dear else 2e-7)
                    made.append(Job(toss_coins, arguments, cost))
    return made


# --- Worst of many adversaries -------------------------------------------------------------------


def face_adversaries(
    approach: str,
    horizon: int,
    exponent: float,
    everyone: bool,
    found_at: int,
    budget: int,
    seed: int,
) -> list[Row]:
    """One row for each adversary.

    Parameters
    ----------
    approach : str
        A key of ``APPROACHES``.
    horizon, exponent : int, float
        T, and a of ε ≈ T^(−a).
    everyone : bool
        Also the adversaries that know nothing of the step.
    found_at, budget : int
        Horizon of the search whose worst run is carried over, and its number of runs.
    seed : int
        Of the adversaries and of the search.
    """
    steps = steps_at(horizon, exponent)
    opponents = [("aimed", each) for each in aimed(steps, horizon, seed)]
    if everyone:
        catalogue = all_adversaries(LINE, SQUARED, seed, rounds=horizon)
        opponents += [("catalogue", each) for each in catalogue]
    name, settings = _found(approach, exponent, found_at, budget, seed)
    coarse = steps_at(found_at, exponent)
    carried = carry_over(name, settings, horizon / found_at, coarse / steps)
    opponents.append(("search", ADVERSARIES[name](LINE, SQUARED, **carried)))
    beside = other_guarantees(approach, steps, horizon)
    rows: list[Row] = []
    for source, adversary in opponents:
        learner = APPROACHES[approach](steps, horizon)
        meet(learner, adversary, horizon)
        found = learner.certificate()
        rows.append(
            {
                "experiment": "adversaries", "steps": steps, "found_by": source,
                "adversary": adversary.name, "settings": _told(adversary.settings),
                "kind": adversary.losses.kind, "outcomes": _outcomes(learner.tally),
                "measured": found.measured, "guaranteed": found.guaranteed,
                "theorem": found.theorem, **beside,
            }
        )  # fmt: skip
    return rows


def aimed(steps: int, horizon: int, seed: int) -> Iterator[Adversary]:
    """Adversaries that know the step: at midpoints of two multiples, and where rounding hurts."""
    mesh = max(1 / steps, 0.001)
    middle = middle_of_cell(0.5, mesh)
    for name, settings in (
        ("midpoint", {"mesh": mesh}),
        ("drift", {"path": "sweep", "mesh": mesh, "period": max(horizon, 2)}),
        ("mean_aware", {"threshold": middle}),
        ("mean_aware", {"swing": 0.5, "period": max(horizon, 2)}),
        ("scripted", {"chances": (hard_chance(steps, horizon),)}),
    ):
        yield ADVERSARIES[name](LINE, SQUARED, seed, **settings)


def hard_chance(steps: int, horizon: int) -> float:
    """The chance c of a coin at which rounding the forecaster of T rounds costs most.

    Its two forecasts next to c, mixed to the mean c, both come to meet the mean outcome c; one of
    them may be rounded past the midpoint of two multiples, away from the multiple nearest to c.

    Examples
    --------
    >>> hard_chance(steps=4, horizon=100_000)
    0.146
    """
    fine = fine_plan(horizon).grid_at(0).points[:, 0]
    chances = np.arange(1, 1000) / 1000
    above = np.searchsorted(fine, chances).clip(1, len(fine) - 1)
    best = (nearest_multiple(chances, steps) / steps - chances) ** 2
    lost = np.zeros_like(chances)
    for place, other in ((above - 1, above), (above, above - 1)):
        share = (fine[other] - chances) / (fine[other] - fine[place])
        rounded = nearest_multiple(fine[place], steps) / steps
        lost += share * ((rounded - chances) ** 2 - best)
    # the lower one of two that differ by rounding errors only, such as c and 1 − c
    return float(chances[lost.round(12).argmax()])


@cache
def _found(
    approach: str, exponent: float, horizon: int, budget: int, seed: int
) -> tuple[str, dict[str, Any]]:
    """Worst adversary of a search; remembered, because longer horizons ask for it again."""
    steps = steps_at(horizon, exponent)
    make = APPROACHES[approach]
    worst = search(lambda: make(steps, horizon), LINE, SQUARED, horizon, budget, seed)
    return worst.adversary, worst.parameters


def carry_over(
    name: str, settings: Mapping[str, Any], longer: float, finer: float
) -> dict[str, Any]:
    """Settings for a run that is longer by a factor, with a step that is finer by another.

    Examples
    --------
    >>> carry_over("drift", {"seed": 3, "path": "sweep", "period": 100, "mesh": 0.2}, 10, 0.5)
    {'seed': 3, 'path': 'sweep', 'period': 1000, 'mesh': 0.1}
    """
    carried = dict(settings)
    for key, factor in (("period", longer), ("length", longer), ("mesh", finer)):
        allowed = ADVERSARIES[name].parameters.get(key)
        if key in carried and isinstance(allowed, Number):
            value = min(max(carried[key] * factor, allowed.low), allowed.high)
            carried[key] = round(value) if allowed.whole else value
    return carried


def other_guarantees(approach: str, steps: int, horizon: int) -> dict[str, float]:
    """What else could be guaranteed, to compare with.

    For rounding ``by_shift`` and ``by_square``, the two forms of `rounding_guarantees`; for the
    discretised algorithm ``own_choice``, the least of all rows on the multiples of the step, which
    is what the library plays unless told otherwise.
    """
    if approach == "rounding":
        shift, square = rounding_guarantees(fine_plan(horizon).bound(horizon), 1 / steps, horizon)
        return {"by_shift": shift, "by_square": square}
    if approach == "discretised":
        least = plan(LINE, SQUARED, horizon, actions=multiples(steps)).bound(horizon)
        return {"own_choice": min(least, float(horizon))}
    return {}


def _told(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in settings.items()) or "none"


def _outcomes(tally: Tally) -> str:
    """b² ≤ b on [0, 1] with equality at the ends only, so sums tell whether all b were there."""
    _, slope, squares = tally.sums.sum(axis=0)
    return "0 or 1" if abs(squares + slope / 2) < 1e-6 else "in [0, 1]"


# --- Coins half-way between two multiples --------------------------------------------------------

MIDPOINT_APPROACHES = (*APPROACHES, "unrounded")
"""The last is the calibrated forecaster of ``rounding`` before rounding."""


def toss_coins(approach: str, steps: int, horizon: int, repeats: int, seed: int) -> list[Row]:
    """Both quantities against coins half-way between two multiples, one row for each repeat."""
    chance = middle_of_cell(0.5, 1 / steps)
    rows: list[Row] = []
    for repeat in range(repeats):
        rng = np.random.default_rng([seed, repeat, steps, horizon])
        outcomes = (rng.random(horizon) < chance).astype(float)
        points, weights, means = forecasts(approach, steps, outcomes)
        rows.append(
            {
                "experiment": "midpoint", "repeat": repeat, "chance": chance,
                "calibration": discretised_calibration_error(
                    means, points, 1 / steps, sample_weight=weights
                ),
                "regret": discretised_swap_regret(
                    means, points, 1 / steps, sample_weight=weights
                ),
            }
        )  # fmt: skip
    return rows


# --- Summary -------------------------------------------------------------------------------------


def summarise(rows: Sequence[Row]) -> dict[str, Any]:
    """Worst runs, growth with T, and the midpoint runs averaged over their repeats."""
    met: list[Any] = rows_where(rows, experiment="adversaries")
    tossed: list[Any] = rows_where(rows, experiment="midpoint")
    horizons = sorted({row["horizon"] for row in met})
    exponents = sorted({row["exponent"] for row in met})
    worst = [
        _worst(rows_where(met, approach=approach, horizon=horizon, exponent=exponent))
        for approach in APPROACHES
        for horizon in horizons
        for exponent in exponents
    ]
    return {
        "horizons": horizons,
        "runs": len(met),
        "largest_ratio": significant(max(row["measured"] / row["guaranteed"] for row in met)),
        "exceeded": sum(row["measured"] > row["guaranteed"] * (1 + 1e-9) for row in met),
        "real_outcomes": sum(row["outcomes"] != "0 or 1" for row in met),
        "found_at": met[0]["found_at"],
        "budget": met[0]["budget"],
        "without_catalogue": sorted({row["horizon"] for row in met if not row["everyone"]}),
        "worst": worst,
        "growth": [
            _growth(rows_where(met, approach=approach, exponent=exponent))
            for approach in APPROACHES
            for exponent in exponents
        ],
        "midpoint": [
            _averaged(rows_where(tossed, approach=approach, steps=steps))
            for steps in sorted({row["steps"] for row in tossed})
            for approach in MIDPOINT_APPROACHES
        ],
    }


def _worst(runs: Sequence[Any]) -> dict[str, Any]:
    """The run with the largest regret: all of one approach, horizon and step."""
    row = max(runs, key=lambda run: run["measured"])
    kept = ("approach", "horizon", "exponent", "steps", "adversary", "settings", "found_by")
    told = {key: row[key] for key in kept}
    numbers = ("measured", "guaranteed", "own_choice", "by_shift", "by_square")
    return told | {key: significant(row[key]) for key in numbers if row.get(key) is not None}


def _growth(runs: Sequence[Any]) -> dict[str, Any]:
    """Growth of the worst regret with T along ε = T^(−a), beside that of the bounds.

    Only adversaries that played at every T: with others, short runs would have more of them.
    """
    approach, a = runs[0]["approach"], runs[0]["exponent"]
    worst: dict[int, float] = {}
    for run in runs:
        if run["found_by"] != "catalogue":
            worst[run["horizon"]] = max(worst.get(run["horizon"], 0.0), run["measured"])
    horizons = sorted(worst)
    return {
        "approach": approach,
        "exponent": a,
        "paper": significant(PAPER[approach](a)),
        "proved": significant(PROVED[approach](a)),
        "measured": _slope(horizons, [worst[horizon] for horizon in horizons]),
    }


def _averaged(runs: Sequence[Any]) -> dict[str, Any]:
    """Means over the repeats at every horizon, and how they grow once early learning is over."""
    horizons = sorted({run["horizon"] for run in runs})
    told: dict[str, Any] = {key: runs[0][key] for key in ("approach", "steps", "chance", "repeats")}
    late = [place for place, horizon in enumerate(horizons) if horizon >= FITTED_FROM]
    late = late if len(late) > 1 else list(range(len(horizons)))
    told |= {"horizons": horizons, "fitted_from": horizons[late[0]]}
    for key in ("calibration", "regret"):
        means = [
            float(np.mean([run[key] for run in runs if run["horizon"] == horizon]))
            for horizon in horizons
        ]
        told[key] = [significant(mean) for mean in means]
        told[f"{key}_exponent"] = _slope([horizons[i] for i in late], [means[i] for i in late])
    return told


def _slope(horizons: Sequence[int], heights: Sequence[float]) -> list[float]:
    """Slope of a line in logarithms; with its interval where there are points enough for one."""
    if len(horizons) < FEWEST:
        rise = math.log(max(heights[-1], SMALLEST) / max(heights[0], SMALLEST))
        return [significant(rise / math.log(horizons[-1] / horizons[0]))]
    return fitted_exponent(horizons, heights)


PART = Part("figure", jobs, summarise)
