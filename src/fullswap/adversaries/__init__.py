"""Adversaries: losses of a promised class, chosen to hurt.

Each adversary is one idea, about ten lines, deterministic given its seed. It sees the mixture
of the round (not the draw from it) and answers with a loss that keeps every promise of the
class on this set.
"""

from fullswap.adversaries.base import Adversary, Binary, longest_segment
from fullswap.adversaries.catalogue import ADVERSARIES, all_adversaries, meet
from fullswap.adversaries.greedy import Greedy
from fullswap.adversaries.makers import Losses, kinds
from fullswap.adversaries.outcomes import (
    Boundary,
    Drift,
    EarlyStop,
    Midpoint,
    OneBin,
    Scripted,
    SignPreservation,
    Switching,
)

__all__ = [
    "ADVERSARIES",
    "Adversary",
    "Binary",
    "Boundary",
    "Drift",
    "EarlyStop",
    "Greedy",
    "Losses",
    "Midpoint",
    "OneBin",
    "Scripted",
    "SignPreservation",
    "Switching",
    "all_adversaries",
    "kinds",
    "longest_segment",
    "meet",
]
