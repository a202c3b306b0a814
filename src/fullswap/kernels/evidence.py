"""Evidence against forecasts, and the alarm: wealth of bets, event after event.

Bet k of prior weight w_k pays L_k. Two statistics of it:

- **Evidence**: M_k ← L_k·(M_k + γ_t) and E_t = Σ w_k·M_k + (1 − γ_1 − … − γ_t). If every chance
  given the past is p, E[L_k | past] ≤ 1, so the mean of w_k·M_k is at most w_k·(M_k + γ_t) before.
  As Σ w_k ≤ 1, the sum gains at most γ_t on average, which the last term loses. So E is a
  nonnegative supermartingale that starts at 1, and P(E_t ≥ 1/α for some t) ≤ α (Ville).
  γ_1 = ``AT_ONCE`` goes to bets that begin at once, the rest to later beginnings, of which
  (1 − γ_1)/(1 + ρ·ln t) is still to come after t events: what begins late is found, too, and no
  bet ever dies.
- **The alarm**: D_k ← L_k·(D_k + 1) rings at Σ w_k·D_k ≥ c. Under the same premise the sum grows
  by at most 1 an event on average, so by optional stopping an alarm takes at least c events on
  average. All begins anew after it. [SRR23]

Beside each bet stands the largest product over all beginnings, C ← max(C, 1)·L, and where that
began. Several forecasts of one outcome are one event: a bet pays its mean over them.

Wealth is kept as M·2^(−256·SCALE), so E may pass 10^300; what underflows is lost, which only
lowers E.
"""

import numpy as np

from fullswap.kernels.compiling import kernel
from fullswap.kernels.evidence_bets import ALL_KNOTS, LINES, learn_yes_no, logit_of, pays_yes_no
from fullswap.kernels.evidence_classes import pays_classes

(
    EVENTS, SCALE, LEFT, NOW, NOW_SCALE, MOST, MOST_SCALE, MOST_AT, LOGITS, SQUARES, WEIGHTS,
    ALARMS, BEST, SINCE, RANG_AT, NUMBER, IMPOSSIBLE,
) = range(17)  # fmt: skip
"""Number of events · scale of wealth · beginnings to come · E now, with its scale · the largest E,
with its scale, and where · Σ w·logit, Σ w·logit², Σ w · number of alarms, and of the last one: bet,
beginning, place · number of the last event · forecasts that were certain and wrong."""
HEAD = 17
WEALTH, RUN, START, ALARM = range(4)
"""Blocks behind the head, one number a bet: w·M, C, where C began, w·D."""
BLOCKS = 4

AT_ONCE = 0.6
SPREAD = 0.5
"""ρ above."""
STEP = 2.0**256
TOP = 2.0**512
STEP_LOG = 256 * np.log10(2.0)
SMALLEST = 1e-290
"""Wealth below it is none."""
LONGEST_RUN = 1e250
LINE_ENOUGH = 0.85


@kernel(error_model="numpy")
def width_of(bets, classes):
    """Columns of a row."""
    return HEAD + BLOCKS * bets + (2 * ALL_KNOTS if classes == 2 else 0)


@kernel(error_model="numpy")
def left_after(events):
    """1 − Σγ after so many events, at least one."""
    return (1.0 - AT_ONCE) / (1.0 + SPREAD * np.log(events))


@kernel(error_model="numpy")
def begin(row, bets):
    """A row without events."""
    row[:] = 0.0
    row[LEFT] = 1.0
    row[NOW] = row[MOST] = 1.0
    row[MOST_AT] = row[NUMBER] = -1.0
    row[BEST] = row[SINCE] = row[RANG_AT] = -1.0
    at = HEAD + RUN * bets
    row[at : at + bets] = 1.0


@kernel(error_model="numpy")
def total_of(values, count):
    """Sum by halves: in an order that does not hang on how wide the machine is; uses values up."""
    while count > 1:
        half = (count + 1) // 2
        for i in range(count - half):
            values[i] += values[half + i]
        count = half
    return values[0]


# Loops of their own, each over few arrays: what touches many is not vectorised.


@kernel(error_model="numpy")
def _grow(wealth, factor, prior, other, fresh):
    """w·M ← L·(w·M + w·γ), and a copy."""
    for k in range(wealth.shape[0]):
        grown = factor[k] * (wealth[k] + fresh * prior[k])
        grown = grown if grown > SMALLEST else 0.0
        wealth[k] = grown
        other[k] = grown


@kernel(error_model="numpy")
def _follow(longest, start, factor, number):
    """C ← max(C, 1)·L, and where it began."""
    for k in range(longest.shape[0]):
        before = longest[k]
        start[k] = start[k] if before > 1.0 else number
        longest[k] = min(max(before, 1.0) * factor[k], LONGEST_RUN)


@kernel(error_model="numpy")
def absorb(prior, row, factor, other, run_length, number):
    """One event whose bets paid ``factor``; whether the alarm rings."""
    count = prior.shape[0]
    wealth = row[HEAD : HEAD + count]
    longest = row[HEAD + RUN * count : HEAD + (RUN + 1) * count]
    start = row[HEAD + START * count : HEAD + (START + 1) * count]
    row[EVENTS] += 1.0
    row[NUMBER] = number
    scale = row[SCALE]
    shrink = 1.0 if scale == 0.0 else STEP**-scale if scale < 4.0 else 0.0
    left = left_after(row[EVENTS])
    fresh = (row[LEFT] - left) * shrink
    row[LEFT] = left
    _grow(wealth, factor, prior, other, fresh)
    _follow(longest, start, factor, number)
    total = total_of(other, count)
    if total == 0.0:  # all bets lost all they had: what is left for later ones is there still
        scale = row[SCALE] = 0.0
        shrink = 1.0
    now = total + left * shrink
    row[NOW] = now
    row[NOW_SCALE] = scale
    ahead = scale - row[MOST_SCALE]
    now = now if ahead <= 0.0 else now * STEP**ahead
    if now > (row[MOST] if ahead >= 0.0 else row[MOST] * STEP**-ahead):
        row[MOST] = row[NOW]
        row[MOST_SCALE] = scale
        row[MOST_AT] = number
    if total > TOP:
        for k in range(count):
            wealth[k] *= 1.0 / STEP
        row[SCALE] += 1.0
    elif scale > 0.0 and total < 1.0 / STEP:
        for k in range(count):
            wealth[k] *= STEP
        row[SCALE] -= 1.0
    if run_length == 0.0:
        return False
    return _watch(prior, row, factor, other, run_length, number)


@kernel(error_model="numpy")
def best_of(prior, values, lines, scale):
    """The bet that says best what is wrong: that of most wealth, but a line before a curve.

    A curve that learns beats the lines of a grid by a little whatever the flaw is, so it must have
    more than its wealth's power ``LINE_ENOUGH``. ``values`` are w·M·2^(−256·scale).
    """
    line, curve = 0, lines
    for k in range(1, prior.shape[0]):
        if k < lines:
            line = k if values[k] > values[line] else line
        else:
            curve = k if values[k] > values[curve] else curve
    if curve >= prior.shape[0] or values[curve] <= values[line]:
        return line
    gain = np.log(values[curve] / prior[curve]) + scale * np.log(STEP)
    least = np.log(values[line] / prior[line]) + scale * np.log(STEP) if values[line] > 0.0 else 0.0
    return line if least >= LINE_ENOUGH * gain else curve


@kernel(error_model="numpy")
def _watch(prior, row, factor, other, run_length, number):
    count = prior.shape[0]
    alarm = row[HEAD + ALARM * count : HEAD + (ALARM + 1) * count]
    _grow(alarm, factor, prior, other, 1.0)
    if total_of(other, count) < run_length:
        return False
    best = best_of(
        prior, alarm, min(LINES, count) if len(row) > HEAD + BLOCKS * count else count, 0.0
    )
    row[ALARMS] += 1.0
    row[BEST] = best
    row[SINCE] = row[HEAD + START * count + best]
    row[RANG_AT] = number
    for k in range(count):
        alarm[k] = 0.0
        # what goes on being wrong keeps its beginning; once it is right again, that is forgotten
        # after about as many events as it took to ring
        row[HEAD + RUN * count + k] = min(row[HEAD + RUN * count + k], run_length)
    return True


@kernel(error_model="numpy")
def take(prior, row, work, run_length, half, y, table, weights, rows, first, last, number):
    """One event: rows ``first`` to ``last`` − 1 of the table, or those that ``rows`` has there.

    Rows that hang together need not have the same outcome: a mean of what a bet pays on each is
    paid fairly whatever their dependence.
    """
    count, classes = prior.shape[0], table.shape[1]
    factor, other = work[0], work[1]
    logit = 0.0
    knots = row[HEAD + BLOCKS * count :]
    for i in range(first, last):
        r = rows[i] if rows.shape[0] else i
        into = factor if i == first else other
        if classes == 1:
            logit = pays_yes_no(knots, table[r, 0], y[r], half, into)
            failed = table[r, 0] == 1.0 - y[r]
        else:
            pays_classes(table[r], y[r], half, into)
            failed = table[r, int(y[r])] == 0.0
        if failed and half == 0.0:
            row[IMPOSSIBLE] += 1.0
        if weights.shape[0] and weights[r] != 1.0:
            for k in range(count):
                # nothing to any power above 0 is nothing; to the power 0 it is 1
                into[k] = np.exp(weights[r] * np.log(into[k])) if weights[r] > 0.0 else 1.0
        if i > first:
            for k in range(count):
                factor[k] += other[k]
    share = 1.0 / (last - first)
    if last - first > 1:
        for k in range(count):
            factor[k] *= share
    if classes == 1:
        for i in range(first, last):
            r = rows[i] if rows.shape[0] else i
            p = table[r, 0]
            scale = share * weights[r] if weights.shape[0] else share
            if last - first > 1:
                logit = logit_of(p, half)
            learn_yes_no(knots, p, logit, y[r], scale)
            if 0.0 < p < 1.0:
                row[LOGITS] += scale * logit
                row[SQUARES] += scale * logit * logit
                row[WEIGHTS] += scale
    return absorb(prior, row, factor, other, run_length, number)


@kernel(error_model="numpy")
def run(
    prior, state, work, run_length, half, streams, y, table, weights, rows, bounds, begin_at,
    offset, history, every,
):  # fmt: skip
    """Events from ``begin_at`` on; stops behind an alarm, and returns the next event's number.

    ``streams`` (n,) has rows of ``state``, empty: the first. To event e belong the rows
    rows[bounds[e]:bounds[e + 1]] of the table, the last one last; empty: one row an event.
    Events are numbered by their last row, counted from ``offset``; with offset < 0 by their stream.
    ``history`` (S, 2, m) keeps log10 E each ``every[s]`` events: (place, value), thinned when full.
    """
    events = bounds.shape[0] - 1 if bounds.shape[0] else y.shape[0]
    for e in range(begin_at, events):
        first, last = (bounds[e], bounds[e + 1]) if bounds.shape[0] else (e, e + 1)
        r = rows[last - 1] if rows.shape[0] else last - 1
        s = streams[r] if streams.shape[0] else 0
        row = state[s]
        number = row[EVENTS] if offset < 0 else float(offset + r)
        rang = take(
            prior, row, work, run_length, half, y, table, weights, rows, first, last, number
        )
        if history.shape[2] and row[EVENTS] % every[s] == 0.0:
            _note(history[s], every, s, row, number)
        if rang:
            return e + 1
    return events


@kernel(error_model="numpy")
def _note(history, every, s, row, number):
    """Append (number, log10 E); a full history keeps each second entry, from then on, too."""
    places = history.shape[1]
    at = int(row[EVENTS] / every[s]) - 1
    if at == places:  # an even number of places, so the entry to come is one to leave out
        for i in range(places // 2):
            history[0, i] = history[0, 2 * i + 1]
            history[1, i] = history[1, 2 * i + 1]
        every[s] *= 2
        return
    history[0, at] = number
    history[1, at] = np.log10(row[NOW]) + row[NOW_SCALE] * STEP_LOG


@kernel(error_model="numpy")
def single(prior, row, work, run_length, half, y, p, weight):
    """One event of one yes/no forecast, from Python; whether the alarm rings."""
    table = work[2, :1].reshape(1, 1)
    table[0, 0] = p
    weights = work[2, 1:2]
    weights[0] = weight
    outcomes = work[2, 2:3]
    outcomes[0] = y
    rows = np.empty(0, np.int64)
    number = row[EVENTS]
    return take(prior, row, work, run_length, half, outcomes, table, weights, rows, 0, 1, number)
