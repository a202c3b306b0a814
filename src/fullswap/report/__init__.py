"""Pictures of calibration and of equilibria, drawn with matplotlib (the extra ``plot``).

Every function returns a `matplotlib.figure.Figure` of its own, or draws on the axes it is given;
pyplot and its global state are not touched. ``figure.savefig("name.svg")`` writes it.
"""

from fullswap.report.decisions import decision_curve
from fullswap.report.history import calibration_history
from fullswap.report.joint import joint_distribution
from fullswap.report.players import marginals
from fullswap.report.reliability import reliability_diagram

__all__ = [
    "calibration_history",
    "decision_curve",
    "joint_distribution",
    "marginals",
    "reliability_diagram",
]
