"""What a stream adds up beside its monitor: forecasts by bins, events by windows of time.

Behind the monitor's columns a whole row has: number of events, width of a window, time of the
first event; the bins of what the model said and of what we said; the windows.

Several forecasts of one event share its outcome. Each has an equal share of the event's weight, and
in a bin their deviations add up before they are squared: exact where they are equal, else a little
too much.

Of more than two classes it is the likeliest one, and whether it came.
"""

import numpy as np

from fullswap.kernels.compiling import kernel
from fullswap.kernels.evidence import EVENTS, NOW, NOW_SCALE, STEP_LOG

EDGES = np.array(
    [0.01, 0.03, 0.07, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.93, 0.97, 0.99]
)
"""Between the bins: narrower towards 0 and 1, where a point is much."""
BINS = 15
MASS, SAYS, YES, SPREAD, VARIANCE = range(5)
"""Of a bin: Σ w, Σ w·p, Σ w·y, Σ w·p·(1 − p), and the variance of Σ w·y if the forecasts are
right."""
SUMS = 5

COUNT, WIDTH, BEGAN = range(3)
RAW = 3
OURS = RAW + BINS * SUMS
WINDOWS = OURS + BINS * SUMS
"""Where the parts begin, behind the monitor's columns."""

MOST = 32
"""Windows that are kept."""
FEWEST = 8
"""Events of a window at first."""
ALL, GIVEN, RAW_GAP, OUR_GAP, NOISE, TIME, EVIDENCE, SHOWN = range(8)
"""Of a window: Σ w of all and of what the model said, Σ w·(p − y) of what the model and we said,
variance of what is watched; at its end: time, log10 of the evidence, events the monitor saw."""
FIELDS = 8
REST = WINDOWS + MOST * FIELDS
"""Columns behind the monitor's."""

DATA = 3
"""Columns of a forecast behind probabilities and outcome: weight, time, whether its event begins
here."""


@kernel(short=True, error_model="numpy")
def begin_sums(rest):
    """Nothing yet."""
    rest[:] = 0.0
    rest[WIDTH] = FEWEST


@kernel(short=True, error_model="numpy")
def bin_of(p):
    """The bin of a forecast."""
    b = 0
    for edge in EDGES:
        b += p >= edge
    return b


@kernel(short=True, error_model="numpy")
def said_of(table, r, at, size):
    """What counts of a forecast and of its outcome: the yes, or the likeliest class."""
    if size == 1:
        return table[r, at], table[r, 2]
    top = 0
    for j in range(1, size):
        top = j if table[r, at + j] > table[r, at + top] else top
    return table[r, at + top], table[r, 2 * size + top]


@kernel(short=True, error_model="numpy")
def add_bins(bins, table, at, size, first, last, work):
    """One event; returns Σ w and Σ w·(p − y) of the forecasts that there are."""
    weight = table[first, 3 * size] / (last - first)
    mass, gap = 0.0, 0.0
    if last - first > 1:
        work[:BINS] = 0.0
    for r in range(first, last):
        p, y = said_of(table, r, at, size)
        if p != p:  # nothing was said
            continue
        b = bin_of(p)
        cell = bins[b * SUMS : (b + 1) * SUMS]
        spread = p * (1.0 - p)
        cell[MASS] += weight
        cell[SAYS] += weight * p
        cell[YES] += weight * y
        cell[SPREAD] += weight * spread
        if last - first > 1:
            work[b] += weight * np.sqrt(spread)
        else:
            cell[VARIANCE] += weight * weight * spread
        mass += weight
        gap += weight * (p - y)
    if last - first > 1:
        for b in range(BINS):
            bins[b * SUMS + VARIANCE] += work[b] * work[b]
    return mass, gap


@kernel(short=True, error_model="numpy")
def watched_variance(table, size, first, last):
    """Variance of Σ w·y of an event, if what is watched of it is right."""
    weight, deviation = table[first, 3 * size] / (last - first), 0.0
    for r in range(first, last):
        at = size if table[r, 0] != table[r, 0] else 0
        p = said_of(table, r, at, size)[0]
        deviation += weight * np.sqrt(p * (1.0 - p))
    return deviation * deviation


@kernel(short=True, error_model="numpy")
def merge_windows(windows):
    """Pairs become one: sums add up, the later end counts."""
    for k in range(MOST // 2):
        into = windows[k * FIELDS : (k + 1) * FIELDS]
        one = windows[2 * k * FIELDS : (2 * k + 1) * FIELDS]
        two = windows[(2 * k + 1) * FIELDS : (2 * k + 2) * FIELDS]
        for f in range(TIME):
            into[f] = one[f] + two[f]
        for f in range(TIME, FIELDS):
            into[f] = two[f]
    windows[MOST // 2 * FIELDS :] = 0.0


@kernel(short=True, error_model="numpy")
def add_sums(monitor, rest, table, size, first, last, work):
    """One event that the monitor has taken already."""
    mass, raw_gap = add_bins(rest[RAW:OURS], table, 0, size, first, last, work)
    whole, our_gap = add_bins(rest[OURS:WINDOWS], table, size, size, first, last, work)
    windows = rest[WINDOWS:]
    time = table[first, 3 * size + 1]
    if rest[COUNT] == 0.0:
        rest[BEGAN] = time
    at = int(rest[COUNT] // rest[WIDTH])
    if at == MOST:
        merge_windows(windows)
        rest[WIDTH] *= 2.0
        at = MOST // 2
    own = windows[at * FIELDS : (at + 1) * FIELDS]
    own[ALL] += whole
    own[GIVEN] += mass
    own[RAW_GAP] += raw_gap
    own[OUR_GAP] += our_gap
    own[NOISE] += watched_variance(table, size, first, last)
    own[TIME] = time
    if len(monitor):
        own[EVIDENCE] = np.log10(monitor[NOW]) + monitor[NOW_SCALE] * STEP_LOG
        own[SHOWN] = monitor[EVENTS]
    rest[COUNT] += 1.0
