"""Measured quantities, from records, forecasts and outcomes alone.

Metrics of forecasts take outcomes first and then what was forecast, an array or a `Record`; of a
record they measure what was issued, or with ``of="distributions"`` the distributions. Regrets take
the record of a learner.
"""

from fullswap.metrics.calibration import calibration_error, l2_calibration_error
from fullswap.metrics.discretised import discretised_calibration_error, discretised_swap_regret
from fullswap.metrics.regret import (
    SwapRegret,
    external_regret,
    full_swap_regret,
    regret_curve,
    swap_regret_report,
)
from fullswap.metrics.scores import (
    BrierDecomposition,
    brier_decomposition,
    brier_score,
    kl_calibration_error,
    log_loss,
)
from fullswap.metrics.smooth import smooth_calibration_error
from fullswap.metrics.stream import CalibrationTally
from fullswap.metrics.tally import Tally

__all__ = [
    "BrierDecomposition",
    "CalibrationTally",
    "SwapRegret",
    "Tally",
    "brier_decomposition",
    "brier_score",
    "calibration_error",
    "discretised_calibration_error",
    "discretised_swap_regret",
    "external_regret",
    "full_swap_regret",
    "kl_calibration_error",
    "l2_calibration_error",
    "log_loss",
    "regret_curve",
    "smooth_calibration_error",
    "swap_regret_report",
]
