"""Farthest jumps along sorted numbers.

Symbols: x (m,) rising · reach, at least the widest gap of x · places (m,) int64, filled in.
"""

from fullswap.kernels.compiling import kernel


@kernel
def farthest_jumps(x, reach, places):
    """Indices from 0 to m − 1, each the farthest within ``reach`` of the last; their number."""
    last = x.shape[0] - 1
    at, stride, count = 0, 1, 1
    places[0] = 0
    while at < last:
        limit = x[at] + reach
        # jumps are about equally long: from the length of the last one, double and halve
        low, high = at, min(at + stride, last)
        while high < last and x[high] <= limit:
            low = high
            stride *= 2
            high = min(at + stride, last)
        if x[high] <= limit:
            low = high
        while high - low > 1:
            middle = (low + high) // 2
            if x[middle] <= limit:
                low = middle
            else:
                high = middle
        at, stride = max(low, at + 1), max(low - at, 1)
        places[count] = at
        count += 1
    return count
