"""Sums over windows of a stream and bins of its forecasts.

Symbols: sums (windows, bins, 5): Σ w, Σ w·p, Σ w·y, Σ w²·p·(1 − p), Σ w² · edges (bins − 1,)
between the bins · row is the number of rows so far, width the rows of a window.
"""

from fullswap.kernels.compiling import kernel


@kernel
def add_rows(sums, edges, row, width, y, p, weight):
    """Add rows in order and return the width; one weight stands for all.

    When all windows are full pairs become one, always at the same row, so that every sum is made
    of the same steps however the rows come in batches.
    """
    most = sums.shape[0]
    at = row // width
    left = width - row % width
    w = weight[0] if weight.shape[0] > 0 else 1.0
    many = weight.shape[0] == y.shape[0]
    for i in range(y.shape[0]):
        if at == most:
            for k in range(most // 2):
                sums[k] = sums[2 * k] + sums[2 * k + 1]
            sums[most // 2 :] = 0.0
            at = most // 2
            width *= 2
            left = width
        if many:
            w = weight[i]
        q = p[i]
        b = 0
        for edge in edges:
            b += q >= edge
        cell = sums[at, b]
        cell[0] += w
        cell[1] += w * q
        cell[2] += w * y[i]
        cell[3] += w * w * q * (1.0 - q)
        cell[4] += w * w
        left -= 1
        if left == 0:
            at += 1
            left = width
    return width
