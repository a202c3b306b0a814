"""Measured quantities, from a transcript alone. Distribution-level unless a name says otherwise."""

from fullswap.metrics.regret import (
    SwapRegret,
    discretised_swap_regret,
    external_regret,
    full_swap_regret,
    regret_curve,
    swap_regret_report,
)
from fullswap.metrics.tally import Tally

__all__ = [
    "SwapRegret",
    "Tally",
    "discretised_swap_regret",
    "external_regret",
    "full_swap_regret",
    "regret_curve",
    "swap_regret_report",
]
