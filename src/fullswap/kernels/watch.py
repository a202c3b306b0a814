"""Events of many streams, stream after stream: monitors, tallies and windows.

A stream that has seen little is a list of its last forecasts, at most as many as fit; its whole row
is worked out from them when it is needed. So it says the same as one that has had a row from the
beginning.

Symbols: a whole row is the monitor's columns, then those of ``watch_sums`` · heads (S, HEAD): what
is asked of all streams at once · level of a stream: EMPTY; FEW or SOME forecasts, a row of ``few``
or ``some`` at its slot; WHOLE, a row of ``whole`` · table (n, 3·size + DATA): what the model said,
what we said, the outcome, weight, time, whether an event begins here.
"""

import numpy as np

from fullswap.kernels.compiling import kernel
from fullswap.kernels.evidence import (
    EVENTS,
    IMPOSSIBLE,
    MOST,
    MOST_SCALE,
    NOW,
    NOW_SCALE,
    begin,
    take,
)
from fullswap.kernels.watch_sums import (
    BINS,
    COUNT,
    DATA,
    FIELDS,
    MASS,
    NOISE,
    OUR_GAP,
    OURS,
    RAW,
    RAW_GAP,
    SAYS,
    SPREAD,
    SUMS,
    VARIANCE,
    WIDTH,
    WINDOWS,
    YES,
    add_sums,
    begin_sums,
)

(
    SEEN, HELD, NOW_, NOW_SCALE_, MOST_, MOST_SCALE_, IMPOSSIBLE_, SHOWN_, ERROR, CHANCE, HIGH,
    OVER_TIME, SPREAD_, MASS_, MODEL, OUR_ERROR, OUR_CHANCE, RECOVERS, ALARM_TIME, ACKNOWLEDGED,
    ALARMS_BEGUN,
) = range(21)  # fmt: skip
"""Events · forecasts in the list · of the monitor: evidence now and at most, with scales, certain
and wrong, events · of what is watched: error, what chance shows on average and at most one time in
twenty, error over time beyond chance, mean of p·(1 − p), weight · 1 if it is the model · error of
ours and what chance shows · events of the monitor at which the active alarm is over, its time,
whether it is acknowledged · alarms so far."""
HEAD = 21
EMPTY, FEW, SOME, WHOLE = range(4)
DONE, RANG, RECOVERED = range(3)

MEAN_SIZE = np.sqrt(2.0 / np.pi)
"""Mean of |N|, N standard normal."""
SIZE_SPREAD = np.sqrt(1.0 - 2.0 / np.pi)
"""Its standard deviation."""
RARELY = (1.96 - MEAN_SIZE) / SIZE_SPREAD
"""So many of these above the mean is what one |N| passes one time in twenty; sums of several pass
it more rarely."""


@kernel(short=True, error_model="numpy")
def begin_row(row, columns, bets):
    """A whole row without events; the first ``columns`` are the monitor's."""
    if columns:
        begin(row[:columns], bets)
    begin_sums(row[columns:])


@kernel(error_model="numpy")
def event(prior, work, run_length, row, columns, table, watched, hot, weights, first, last):
    """One event: forecasts ``first`` to ``last`` − 1; whether the alarm rings."""
    size = (table.shape[1] - DATA) // 3
    monitor = row[:columns]
    rang = False
    if columns and hot[first] == hot[first]:  # shares of outcomes are none that one can bet on
        rang = take(
            prior, monitor, work, run_length, 0.0, hot, watched, weights, np.empty(0, np.int64),
            first, last, monitor[EVENTS],
        )  # fmt: skip
    add_sums(monitor, row[columns:], table, size, first, last, work[2])
    return rang


@kernel(short=True, error_model="numpy")
def watched_of(table, count, watched, hot, weights):
    """What the monitor reads of the first ``count`` forecasts; NaN: an outcome it does not read."""
    size = (table.shape[1] - DATA) // 3
    for r in range(count):
        at = size if table[r, 0] != table[r, 0] else 0
        for j in range(size):
            watched[r, j] = table[r, at + j]
        weights[r] = table[r, 3 * size]
        hot[r] = np.nan
        if size == 1:
            if table[r, 2] == 0.0 or table[r, 2] == 1.0:
                hot[r] = table[r, 2]
            continue
        others = 0.0
        top = -1
        for j in range(size):
            y = table[r, 2 * size + j]
            if y == 1.0 and top < 0:
                top = j
            else:
                others += y
        if top >= 0 and others == 0.0:
            hot[r] = top


@kernel(short=True, error_model="numpy")
def _append(held, count, table, first, last):
    for r in range(first, last):
        for f in range(table.shape[1]):
            held[count + r - first, f] = table[r, f]


@kernel(nogil=True, error_model="numpy")
def run(
    prior, work, run_length, columns, heads, level, slot, target, few, some, whole, scratch,
    touched, starts, order, table, watched, hot, weights, bounds, cursor,
):  # fmt: skip
    """Events until an alarm rings or is over; says which, and where it is, in ``cursor``.

    Stream touched[j] has the events order[starts[j]:starts[j + 1]], in their order, perhaps none;
    event e has the forecasts bounds[e] to bounds[e + 1] − 1. A list becomes a whole row in
    ``scratch`` first, or for good in row target[j] of ``whole`` if that is not negative. In the
    cursor: number of the stream among those touched, and of the next event among those ordered.
    """
    size = watched.shape[1]
    # what the monitor reads of a list
    most = some.shape[1]
    watched_, hot_, weights_ = np.empty((most, size)), np.empty(most), np.empty(most)
    j, i = cursor[0], cursor[1]
    while j < touched.shape[0]:
        s = touched[j]
        head, small = heads[s], level[s] < WHOLE
        held = few[slot[s]] if level[s] == FEW else some[slot[s] if level[s] == SOME else 0]
        row = scratch if small else whole[slot[s]]
        if target[j] >= 0:
            row = whole[target[j]]
        count = int(head[HELD]) if small else 0
        r = count
        if small and i == starts[j]:
            begin_row(row, columns, prior.shape[0])
            watched_of(held, count, watched_, hot_, weights_)
            r = 0
        while r < count or i < starts[j + 1]:
            again = r < count
            # one call for both, or all of it would be compiled twice
            if again:
                first, last = r, r + 1
                while last < count and held[last, 3 * size + 2] == 0.0:
                    last += 1
                r = last
                t, w, h, v = held, watched_, hot_, weights_
            else:
                first, last = bounds[order[i]], bounds[order[i] + 1]
                i += 1
                t, w, h, v = table, watched, hot, weights
            rang = event(prior, work, run_length, row, columns, t, w, h, v, first, last)
            if again:
                continue
            if small and target[j] < 0:
                _append(held, int(head[HELD]), table, first, last)
                head[HELD] += last - first
            if rang or (columns and row[EVENTS] >= head[RECOVERS]):
                cursor[0], cursor[1] = j, i
                return RANG if rang else RECOVERED
        summarise(row, columns, head)
        j += 1
    return DONE


@kernel(short=True, error_model="numpy")
def _error_of(bins):
    """Σ|Σ w·(p − y)| over the bins, what chance shows, its variance, Σ w·p·(1 − p), Σ w."""
    error = chance = variance = spread = mass = 0.0
    for b in range(BINS):
        cell = bins[b * SUMS : (b + 1) * SUMS]
        error += abs(cell[SAYS] - cell[YES])
        # the mean of |y − p| is 2·p·(1 − p): of one event that is all, of rare ones nearly all
        alone, normal = 2.0 * cell[SPREAD], MEAN_SIZE * np.sqrt(cell[VARIANCE])
        one = cell[SPREAD] * cell[MASS] < 1.5 * cell[VARIANCE]
        chance += alone if one else min(alone, normal)
        variance += cell[VARIANCE]
        spread += cell[SPREAD]
        mass += cell[MASS]
    return error, chance, variance, spread, mass


@kernel(short=True, error_model="numpy")
def summarise(row, columns, head):
    """What is asked of all streams at once, from a whole row."""
    rest = row[columns:]
    head[SEEN] = rest[COUNT]
    if columns:
        head[NOW_], head[NOW_SCALE_] = row[NOW], row[NOW_SCALE]
        head[MOST_], head[MOST_SCALE_] = row[MOST], row[MOST_SCALE]
        head[IMPOSSIBLE_], head[SHOWN_] = row[IMPOSSIBLE], row[EVENTS]
    raw, ours = _error_of(rest[RAW:OURS]), _error_of(rest[OURS:WINDOWS])
    # the model is watched if it speaks at least half of the time
    model = raw[4] > 0.0 and 2.0 * raw[4] >= ours[4]
    error, chance, variance, spread, mass = raw if model else ours
    total = mass if mass > 0.0 else np.nan
    head[MODEL] = 1.0 if model else 0.0
    head[ERROR], head[CHANCE] = error / total, chance / total
    head[HIGH] = (chance + RARELY * SIZE_SPREAD * np.sqrt(variance)) / total
    head[SPREAD_], head[MASS_] = spread / total, mass
    total = ours[4] if ours[4] > 0.0 else np.nan
    head[OUR_ERROR], head[OUR_CHANCE] = ours[0] / total, ours[1] / total
    beyond, gap = 0.0, RAW_GAP if model else OUR_GAP
    for k in range(int(np.ceil(rest[COUNT] / rest[WIDTH]))):
        own = rest[WINDOWS + k * FIELDS : WINDOWS + (k + 1) * FIELDS]
        beyond += abs(own[gap]) - MEAN_SIZE * np.sqrt(own[NOISE])
    head[OVER_TIME] = max(beyond, 0.0) / max(head[MASS_], 1e-300)
