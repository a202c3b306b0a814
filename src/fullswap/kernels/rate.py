"""The learning rate as a function of the scales so far.

Symbols: rate (3,) = (ρ, κ, switch): η(G) = 1/(ρG) while G ≤ switch, κ/√G after.
"""

import numpy as np

from fullswap.kernels.compiling import kernel
from fullswap.kernels.states import MODULUS, ROOT, SWITCH


# error_model="numpy": G > 0 whenever a rate is asked for, so division needs no check.
@kernel(inline="always", error_model="numpy")
def scaled_rate(rate, weight_sum, g):
    """η(G)·g at once: η alone would overflow for the smallest weights, and ρ·G may vanish."""
    if weight_sum <= rate[SWITCH]:
        scaled = rate[MODULUS] * weight_sum
        return g / scaled if scaled > 0.0 else 1.0 / rate[MODULUS]
    return rate[ROOT] * g / np.sqrt(weight_sum)
