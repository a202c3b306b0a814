"""Outcomes and probabilities as people have them -> checked arrays."""

from fullswap.inputs.log import Log, log_of
from fullswap.inputs.outcomes import Outcomes, outcomes
from fullswap.inputs.probabilities import probabilities

__all__ = ["Log", "Outcomes", "log_of", "outcomes", "probabilities"]
