"""Measured quantities, from records, forecasts and outcomes alone.

Metrics of forecasts take outcomes and forecasts: yes/no events have ``y_true`` and ``y_proba`` of
shape (T,) in [0, 1], soft outcomes allowed; events with K classes have ``y_proba`` (T, K) and
``y_true`` class indices (T,) or rows (T, K). Weights w_t default to 1, W = Σ w_t.

A `Record` may stand in place of ``y_proba``. Then ``of="issued"`` is about the forecasts that it
issued and ``of="distributions"`` about all that it might have issued: an event of weight w_t
counts w_t·x_t[p] at every point p, and W_p and ȳ_p are sums and means with these weights.
Regrets take the record of a learner.
"""

from fullswap.metrics.bins import Bins, bins_of
from fullswap.metrics.by_group import group_calibration_error, largest_group_error
from fullswap.metrics.calibration import (
    calibration_error,
    l2_calibration_error,
    smooth_calibration_error,
)
from fullswap.metrics.cell_tally import CellTally
from fullswap.metrics.cells import Cells, Clusters
from fullswap.metrics.chance import Chance, chance_of
from fullswap.metrics.corp import Curve, ScoreDecomposition, Stretch, curve_of, decompose
from fullswap.metrics.cox import Cox, cox_of
from fullswap.metrics.discretised import discretised_calibration_error, discretised_swap_regret
from fullswap.metrics.reading import DistinctForecastsWarning
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
from fullswap.metrics.seen import smallest_seen
from fullswap.metrics.soft_bins import (
    ClasswiseError,
    classwise_calibration_error,
    top_label_calibration_error,
)
from fullswap.metrics.stream import CalibrationTally
from fullswap.metrics.tally import Tally
from fullswap.metrics.windows import Windows, WindowTally
from fullswap.metrics.yes_no import (
    corp_curve,
    cox_calibration,
    net_benefit,
    score_decomposition,
)

__all__ = [
    "Bins", "BrierDecomposition", "CalibrationTally", "CellTally", "Cells", "Chance",
    "ClasswiseError", "Clusters", "Cox", "Curve", "DistinctForecastsWarning",
    "ScoreDecomposition", "Stretch", "SwapRegret", "Tally", "WindowTally", "Windows", "bins_of",
    "brier_decomposition", "brier_score", "calibration_error", "chance_of",
    "classwise_calibration_error", "corp_curve", "cox_calibration", "cox_of", "curve_of",
    "decompose", "discretised_calibration_error", "discretised_swap_regret", "external_regret",
    "full_swap_regret", "group_calibration_error", "kl_calibration_error", "l2_calibration_error",
    "largest_group_error", "log_loss",
    "net_benefit", "regret_curve", "score_decomposition", "smallest_seen",
    "smooth_calibration_error", "swap_regret_report", "top_label_calibration_error",
]  # fmt: skip
