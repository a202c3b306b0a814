"""Measured quantities, from transcripts, forecasts and outcomes alone.

Names that end in ``_of`` are about distributions, as are those that read a transcript; the others
are about forecasts as issued.
"""

from fullswap.metrics.calibration import (
    CalibrationTally,
    calibration_error,
    discretised_calibration_error,
    discretised_calibration_error_of,
    discretised_swap_regret_issued,
    discretised_swap_regret_of,
    l2_calibration_error,
    l2_calibration_error_of,
)
from fullswap.metrics.regret import (
    SwapRegret,
    discretised_swap_regret,
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
    kl_calibration_error_of,
    log_loss,
)
from fullswap.metrics.smooth import smooth_calibration_error
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
    "discretised_calibration_error_of",
    "discretised_swap_regret",
    "discretised_swap_regret_issued",
    "discretised_swap_regret_of",
    "external_regret",
    "full_swap_regret",
    "kl_calibration_error",
    "kl_calibration_error_of",
    "l2_calibration_error",
    "l2_calibration_error_of",
    "log_loss",
    "regret_curve",
    "smooth_calibration_error",
    "swap_regret_report",
]
