"""What a record could have shown: how small an error is too small for so few events."""

from __future__ import annotations

import math

from fullswap.base import checks
from fullswap.metrics.cells import Cells
from fullswap.metrics.neighbours import dot

MIXTURE_COST = 2.0
"""Log of the evidence that is lost because the bet does not know the error beforehand."""
FOUR_OF_FIVE = 0.84
"""Standard deviations below the mean that are exceeded four times of five."""


def smallest_seen(cells: Cells, threshold: float = 20.0, largest: float | None = None) -> float:
    """Smallest error, the same way everywhere, that four records of five would have shown.

    A share. A shift of z standard errors has evidence of about exp(z²/2 − z·N) with N standard
    normal, less what the mixture costs; z is such that four times of five this reaches the
    threshold. The standard error is that of the mean of the outcomes, for as many events as
    there are, not rows. At most 1.

    Weights are powers of what bets pay, as shares of the ``largest`` weight; None: of the mean.

    Examples
    --------
    >>> import numpy as np
    >>> smallest_seen(Cells.of_events(np.tile([0.0, 1.0], 500), np.full(1000, 0.5)))
    0.065
    """
    threshold = checks.number("threshold", threshold, least=1.0)
    wanted = math.log(threshold) + MIXTURE_COST
    mean = dot(cells.weight, cells.forecast * (1 - cells.forecast)) / cells.total
    squares = float(cells.squares.sum())
    unit = squares / cells.total if largest is None else largest
    # what a bet gains grows with Σw, its luck with √Σw²
    gain, luck = cells.total / unit, squares / unit**2
    if cells.shared is not None:
        share = min(cells.shared.events / cells.rows, 1.0)
        gain, luck = share * gain, share * luck
    late = FOUR_OF_FIVE * math.sqrt(luck)
    shift = (late + math.sqrt(late**2 + 2 * gain * wanted)) / gain
    return min(shift * math.sqrt(mean), 1.0)
