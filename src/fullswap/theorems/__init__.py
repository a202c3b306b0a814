"""The ledger of guarantees: every number that is printed as guaranteed comes from here.

One module a family of results. Each result states its premises as data, gives its bound as a
number and how to tune what is free, names its source, and is measured by a test of the same name
(``pytest.mark.theorem``). Pure arithmetic: no algorithm lives here, and constants of proofs are
written nowhere else.
"""

from typing import Any

from fullswap.theorems.anytime import ANYTIME, Growing, Schedule
from fullswap.theorems.calibration import (
    CALIBRATION,
    PLAIN_RATE,
    Forecasts,
    SteppedForecasts,
    log_loss_rounding,
    stepped_rate,
)
from fullswap.theorems.citations import CITATIONS
from fullswap.theorems.lateness import LATENESS, LateOutcomes, late_cost
from fullswap.theorems.learning import (
    LEARNING,
    RESIDUAL_SHARE,
    NearlyStronglyConvex,
    NearlySubLearners,
    TunedHedge,
    TunedSubLearners,
    anytime_hedge_cost,
    best_ratio,
    discretised_cost,
    gradient_cost,
    hedge_cost,
    matching_cost,
    nearly_strongly_convex_cost,
    residual_allowance,
    residual_tolerance,
    strongly_convex_cost,
)
from fullswap.theorems.ledger import Result, by_name
from fullswap.theorems.multiscale import (
    CONVEX,
    GAME_TOLERANCE,
    MULTISCALE,
    SLOPE_STEP,
    Binned,
    MultiScaleCost,
    multiscale_cost,
    multiscale_rates,
)
from fullswap.theorems.premises import Constants, Geometry, OnGrid, SubLearners, regret_sum
from fullswap.theorems.recalibration import (
    IMAGINED,
    OWN_PRIOR,
    RECALIBRATION,
    Excess,
    Recalibration,
)
from fullswap.theorems.rows import (
    ROWS,
    THEOREMS,
    Power,
    Theorem,
    barycentric_cost,
    hull_cost,
    lossless_cost,
    nearest_cost,
    with_learning_cost,
)

LEDGER: dict[str, Result[Any]] = by_name(
    ROWS, MULTISCALE, LEARNING, ANYTIME, CALIBRATION, LATENESS, RECALIBRATION
)
"""Every result by name; a new family is one module and one entry here."""

__all__ = [
    "CITATIONS", "CONVEX", "IMAGINED", "OWN_PRIOR", "PLAIN_RATE", "Excess", "Forecasts",
    "LateOutcomes", "Recalibration", "SteppedForecasts", "late_cost", "log_loss_rounding",
    "stepped_rate", "GAME_TOLERANCE", "LEDGER", "RESIDUAL_SHARE", "SLOPE_STEP", "THEOREMS",
    "Binned", "Constants", "Geometry", "Growing", "MultiScaleCost", "NearlyStronglyConvex",
    "NearlySubLearners", "OnGrid", "Power", "Result", "Schedule", "SubLearners", "Theorem",
    "TunedHedge", "TunedSubLearners", "anytime_hedge_cost", "barycentric_cost", "best_ratio",
    "by_name", "discretised_cost", "gradient_cost", "hedge_cost", "hull_cost", "lossless_cost",
    "matching_cost", "multiscale_cost", "multiscale_rates", "nearest_cost",
    "nearly_strongly_convex_cost", "regret_sum", "residual_allowance", "residual_tolerance",
    "strongly_convex_cost", "with_learning_cost",
]  # fmt: skip
