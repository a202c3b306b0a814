"""Pictures of calibration, of equilibria and of regret, drawn with matplotlib (the extra ``plot``).

Every function returns a ``matplotlib.figure.Figure`` of its own, or draws on the axes it is given;
pyplot and its global state are not touched. Colours of text and background follow the settings
of matplotlib at the time. ``figure.savefig("name.svg")`` writes it.

Functions called ``draw_…`` take parts of a check that are known already.
"""

from fullswap.report.benefit import draw_benefit
from fullswap.report.classes import draw_classes, plot_classes
from fullswap.report.decisions import decision_curve, draw_decisions
from fullswap.report.evidence import draw_evidence
from fullswap.report.groups import plot_groups
from fullswap.report.history import History, calibration_history, history_of
from fullswap.report.history_picture import draw_history
from fullswap.report.joint import joint_distribution
from fullswap.report.players import marginals
from fullswap.report.regret import regret_curves
from fullswap.report.reliability import draw_reliability, reliability_diagram
from fullswap.report.segments import draw_segments
from fullswap.report.top_label import plot_top_label
from fullswap.report.windows import draw_windows

__all__ = [
    "History", "calibration_history", "decision_curve", "draw_benefit", "draw_classes",
    "draw_decisions", "draw_evidence", "draw_history",
    "draw_reliability", "draw_segments", "draw_windows", "history_of", "joint_distribution",
    "marginals", "plot_classes", "plot_groups", "plot_top_label", "regret_curves",
    "reliability_diagram",
]  # fmt: skip
