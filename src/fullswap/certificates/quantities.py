"""What a certificate is about."""

from __future__ import annotations

from enum import StrEnum


class Quantity(StrEnum):
    """What is bounded."""

    FULL_SWAP_REGRET = "full swap regret"
    SWAP_REGRET = "swap regret"
    DISCRETISED_SWAP_REGRET = "discretised swap regret"
    L2_CALIBRATION_ERROR = "l2 calibration error"
    EXCESS_BRIER = "total Brier score"
    """In excess of what ``Certificate.against`` names."""
    CLASSWISE_ERROR = "class-wise calibration error"
    """Σ over classes and their soft bins of R²/W: see ``fullswap.theorems.classwise``."""
    TOP_LABEL_ERROR = "top-label calibration error"
    """The same over events in which the class was declared."""


class Subject(StrEnum):
    """Whose quantity it is: distributions and what was drawn from them are told apart."""

    PLAYED = ""
    ISSUED = "issued forecasts"
    DISTRIBUTIONS = "distributions"
    VECTORS = "vectors"
    """One for each event, and nothing is drawn."""
