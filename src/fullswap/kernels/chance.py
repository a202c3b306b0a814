"""Outcomes drawn for rows that belong to events, summed by cell.

Symbols: codes (n,) event of each row · cell (n,) its cell · chance (n,) probability of a yes ·
weight (n,), or (1,) for all · level (draws, events) uniform numbers · sums (draws, cells).
"""

from fullswap.kernels.compiling import kernel


@kernel
def add_shared(sums, codes, cell, chance, weight, level):
    """Add Σ w·[level of the event < chance] of every cell, draw by draw."""
    w = weight[0]
    many = weight.shape[0] == codes.shape[0]
    for k in range(sums.shape[0]):
        for i in range(codes.shape[0]):
            if many:
                w = weight[i]
            sums[k, cell[i]] += w * (level[k, codes[i]] < chance[i])
