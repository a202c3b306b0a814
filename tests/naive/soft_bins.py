"""Calibration in soft bins and within groups, event by event."""

import math


def knots(steps):
    return [math.sin(math.pi * i / (2 * steps)) ** 2 for i in range(steps)] + [1.0]


def hat(x, i, s):
    """Weight of knot i at x: 1 there, 0 at its neighbours, straight in between."""
    if i > 0 and s[i - 1] <= x <= s[i]:
        return (x - s[i - 1]) / (s[i] - s[i - 1])
    if i < len(s) - 1 and s[i] <= x <= s[i + 1]:
        return (s[i + 1] - x) / (s[i + 1] - s[i])
    return 0.0


def soft_bins(y, p, w, s):
    """(W_i, R_i) of every knot."""
    found = []
    for i in range(len(s)):
        shares = [weight * hat(x, i, s) for x, weight in zip(p, w, strict=True)]
        gaps = [share * (b - x) for share, b, x in zip(shares, y, p, strict=True)]
        found.append((sum(shares), sum(gaps)))
    return found


def soft_square(y, p, w, s):
    """Σ R²/W."""
    return sum(r * r / m for m, r in soft_bins(y, p, w, s) if m > 0)


def group_error(y, p, w, chosen, norm):
    """Calibration error over equal forecasts, of the chosen events alone."""
    sums = {}
    for outcome, forecast, weight, inside in zip(y, p, w, chosen, strict=True):
        if inside:
            hit, total = sums.get(forecast, (0.0, 0.0))
            sums[forecast] = (hit + weight * outcome, total + weight)
    cells = [(f, hit / m, m) for f, (hit, m) in sums.items() if m > 0]
    if not cells:
        return None
    whole = sum(m for _, _, m in cells)
    if norm == "max":
        return max(abs(f - mean) for f, mean, _ in cells)
    if norm == "l1":
        return sum(m * abs(f - mean) for f, mean, m in cells) / whole
    return math.sqrt(sum(m * (f - mean) ** 2 for f, mean, m in cells) / whole)
