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
FIRST_ALARM = RECOVERS
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


@kernel(error_model="numpy")
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


@kernel(error_model="numpy")
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


@kernel(error_model="numpy")
def revive(prior, work, run_length, row, columns, held, count):
    """The whole row of a stream that is a list of ``count`` forecasts."""
    begin_row(row, columns, prior.shape[0])
    size = (held.shape[1] - DATA) // 3
    watched, hot, weights = np.empty((count, size)), np.empty(count), np.empty(count)
    watched_of(held, count, watched, hot, weights)
    first = 0
    for last in range(1, count + 1):
        if last == count or held[last, 3 * size + 2] == 1.0:
            event(prior, work, run_length, row, columns, held, watched, hot, weights, first, last)
            first = last


@kernel(error_model="numpy")
def revive_all(prior, work, run_length, columns, lists, slots, counts, whole, into):
    """The same for many: lists ``slots`` become the rows ``into`` of ``whole``."""
    for j in range(slots.shape[0]):
        revive(prior, work, run_length, whole[into[j]], columns, lists[slots[j]], counts[j])


@kernel(error_model="numpy")
def run(
    prior, work, run_length, columns, heads, level, slot, few, some, whole, scratch, touched,
    starts, order, table, watched, hot, weights, bounds, cursor,
):  # fmt: skip
    """Events until an alarm rings or is over; says which, and where it is, in ``cursor``.

    Stream touched[j] has the events order[starts[j]:starts[j + 1]], in their order; event e has the
    forecasts bounds[e] to bounds[e + 1] − 1. ``cursor``: number of the stream among those touched,
    and of the next event among those ordered.
    """
    j, i = cursor[0], cursor[1]
    while j < touched.shape[0]:
        s = touched[j]
        small = level[s] < WHOLE
        held = few[slot[s]] if level[s] == FEW else some[slot[s] if level[s] == SOME else 0]
        row = scratch if small else whole[slot[s]]
        head = heads[s]
        if small and i == starts[j]:
            revive(prior, work, run_length, row, columns, held, int(head[HELD]))
        while i < starts[j + 1]:
            first, last = bounds[order[i]], bounds[order[i] + 1]
            i += 1
            rang = event(
                prior, work, run_length, row, columns, table, watched, hot, weights, first, last
            )
            if small:
                count = int(head[HELD])
                held[count : count + last - first] = table[first:last]
                head[HELD] += last - first
            if rang or (columns and row[EVENTS] >= head[RECOVERS]):
                cursor[0], cursor[1] = j, i
                return RANG if rang else RECOVERED
        summarise(row, columns, head)
        j += 1
    return DONE


@kernel(error_model="numpy")
def _error_of(bins):
    """Σ|Σ w·(p − y)| over the bins, what chance shows, its variance, Σ w·p·(1 − p), Σ w."""
    error = chance = variance = spread = mass = 0.0
    for b in range(BINS):
        cell = bins[b * SUMS : (b + 1) * SUMS]
        error += abs(cell[SAYS] - cell[YES])
        # the sum of what each forecast is off by itself is never less, and right for one alone
        chance += min(MEAN_SIZE * np.sqrt(cell[VARIANCE]), 2.0 * cell[SPREAD])
        variance += cell[VARIANCE]
        spread += cell[SPREAD]
        mass += cell[MASS]
    return error, chance, variance, spread, mass


@kernel(error_model="numpy")
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
