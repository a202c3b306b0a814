"""Is this forecaster calibrated? One answer for a log, and a watch over a stream."""

from fullswap.checking.answer import Check
from fullswap.checking.comparison import Comparison
from fullswap.checking.making import check
from fullswap.checking.segments import Segment

__all__ = ["Check", "Comparison", "Segment", "check"]
