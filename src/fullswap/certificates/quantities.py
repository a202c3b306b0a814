"""What a certificate is about."""

from __future__ import annotations

from enum import StrEnum


class Quantity(StrEnum):
    """What is bounded."""

    FULL_SWAP_REGRET = "full swap regret"
    SWAP_REGRET = "swap regret"
    DISCRETISED_SWAP_REGRET = "discretised swap regret"
    L2_CALIBRATION_ERROR = "l2 calibration error"
    KL_CALIBRATION_ERROR = "KL calibration error"
    EXCESS_BRIER = "total Brier score"
    """In excess of what ``Certificate.against`` names."""
    SUM_OVER_CLASSES = "sum over the classes of their own l2 calibration error"


class Subject(StrEnum):
    """Whose quantity it is: distributions and what was drawn from them are told apart."""

    PLAYED = ""
    ISSUED = "issued forecasts"
    DISTRIBUTIONS = "distributions"
