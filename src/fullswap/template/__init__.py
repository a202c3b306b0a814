"""Blum–Mansour for convex sets: the one place where the parts meet.

``reference_step`` is the specification; the rules are the same step, lazy and compiled;
``plan`` picks the row, grid, sub-learner and rule with the smallest guarantee; and
``FullSwapLearner`` runs the plan.
"""

from fullswap.template.choice import Plan
from fullswap.template.learner import FullSwapLearner
from fullswap.template.plan import plan
from fullswap.template.step import reference_step

__all__ = ["FullSwapLearner", "Plan", "plan", "reference_step"]
