"""Adversaries: losses of a promised class, chosen to hurt.

Each adversary is one idea, about ten lines, deterministic given its seed. It sees the mixture
of the round (not the draw from it) and answers with a loss that keeps every promise of the
class on this set. ``search`` looks for the worst of them against one learner.
"""

from fullswap.adversaries.base import Adversary, Binary, longest_segment
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
from fullswap.adversaries.searching import (
    ADVERSARIES,
    SearchResult,
    all_adversaries,
    meet,
    search,
)
from fullswap.adversaries.shapes import Blocks, ConvexLipschitz, MeanAware, Sweep

__all__ = [
    "ADVERSARIES",
    "Adversary",
    "Binary",
    "Blocks",
    "Boundary",
    "ConvexLipschitz",
    "Drift",
    "EarlyStop",
    "Greedy",
    "Losses",
    "MeanAware",
    "Midpoint",
    "OneBin",
    "Scripted",
    "SearchResult",
    "SignPreservation",
    "Sweep",
    "Switching",
    "all_adversaries",
    "kinds",
    "longest_segment",
    "meet",
    "search",
]
