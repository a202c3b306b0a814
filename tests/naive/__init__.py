"""Slow, obvious references. Nothing here imports the code that it checks."""

from naive.regret import (
    bound,
    discretised_swap_regret,
    external_regret,
    full_swap_regret,
    members,
)

__all__ = ["bound", "discretised_swap_regret", "external_regret", "full_swap_regret", "members"]
