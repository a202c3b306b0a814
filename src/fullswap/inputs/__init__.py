"""Outcomes and probabilities as people have them -> checked arrays."""

from fullswap.inputs.files import read_batches, read_table
from fullswap.inputs.guess import guess_roles
from fullswap.inputs.log import Log, log_of
from fullswap.inputs.outcomes import Outcomes, outcomes
from fullswap.inputs.probabilities import probabilities

__all__ = [
    "Log",
    "Outcomes",
    "guess_roles",
    "log_of",
    "outcomes",
    "probabilities",
    "read_batches",
    "read_table",
]
