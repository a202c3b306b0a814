"""The event loop where outcomes come late: forecasts wait in one array until theirs is known.

The same verbs of the kinds as in ``fullswap.kernels.events``, and two more that write a ticket down
and read it back. What ``fullswap.online.stream`` does for single events is done here to the same
bits: how many others waited, where an outcome is learnt and anywhere; forecasts of a coarser grid
are learnt on the finer one that the row has come to.

Symbols: pool (P, W): tickets that wait, as the numbers by which their kind encodes them · notes
(P, 5) whole numbers of them, as named below · slots (T,): where the forecast of a row waits ·
counts (as the arena): how many wait at point i of a stream, at the place ``start + i`` · crowds
(S,): how many wait in a stream · due (D,): rows in the order in which their outcomes are learnt ·
moments (T,): how many rows have been forecast by then · progress (3,): rows forecast, outcomes
learnt, first free place of the pool (−1: none; a free place holds the next one in ROW).
"""

from numba.extending import overload

from fullswap.kernels import events
from fullswap.kernels.classwise import ONE_POINT, ClasswiseSpec
from fullswap.kernels.columns import CROWD, DELAY, LEVEL, MASS, NEXT_ID, OVERLAP
from fullswap.kernels.compiling import kernel
from fullswap.kernels.events import DONE, INLINE, NO_ROOM, draw, move, note
from fullswap.kernels.experts import ExpertsSpec
from fullswap.kernels.experts_groups import GroupsSpec, memo_length
from fullswap.kernels.line import LineSpec
from fullswap.kernels.philox import block, lane

ROW, NUMBER, DRAWN, GRID, BESIDE = range(5)
"""Of a ticket that waits: its row · its id · place of the draw in its support · level of its grid ·
other events that waited when it was made, where models are recalibrated."""
NOTES = 5
FORECAST, LEARNT, FREE = range(3)
"""Entries of progress."""
FULL = 2
"""Why the loop stopped, beside the reasons of ``events``: the pool is full."""


# --- tickets that wait --------------------------------------------------------------------------


def keep(spec, ticket, vector):
    """Write a ticket down, as its kind encodes it."""
    raise NotImplementedError


def recall(spec, vector):
    """The ticket that ``keep`` wrote; in the arrays of the spec what belongs there."""
    raise NotImplementedError


@kernel(forceinline=True)
def _put(vector, place, values):
    """Write values down from this place on; the place behind them."""
    for value in values.flat:
        vector[place] = value
        place += 1
    return place


@kernel(forceinline=True)
def _get(vector, place, values):
    """Read values from this place on; the place behind them."""
    flat = values.ravel()
    for k in range(flat.shape[0]):
        flat[k] = vector[place + k]
    return place + flat.shape[0]


@events.implements(keep, LineSpec)
def _keep_line(spec, ticket, vector):
    vector[0], vector[1], vector[2], vector[3], vector[4] = ticket


@events.implements(recall, LineSpec)
def _recall_line(spec, vector):
    return int(vector[0]), int(vector[1]), vector[2], vector[3], vector[4]


@events.implements(keep, ExpertsSpec)
def _keep_experts(spec, ticket, vector):
    vector[0], vector[1], vector[2] = ticket
    _put(vector, 3, spec.memo)


@events.implements(recall, ExpertsSpec)
def _recall_experts(spec, vector):
    _get(vector, 3, spec.memo)
    return int(vector[0]), int(vector[1]), vector[2]


@events.implements(keep, GroupsSpec)
def _keep_groups(spec, ticket, vector):
    vector[0], vector[1], vector[2] = ticket
    _put(vector, 3, spec.memo[: memo_length(spec.memo, spec.prior.shape[0])])


@events.implements(recall, GroupsSpec)
def _recall_groups(spec, vector):
    _get(vector, 3, spec.memo[: memo_length(vector[3:], spec.prior.shape[0])])
    return int(vector[0]), int(vector[1]), vector[2]


@events.implements(keep, ClasswiseSpec)
def _keep_classwise(spec, ticket, vector):
    x, low, high, said, marks = spec.ticket
    place = _put(vector, 0, marks)
    place = _put(vector, place, x)
    place = _put(vector, place, low)
    place = _put(vector, place, high)
    _put(vector, place, said)


@events.implements(recall, ClasswiseSpec)
def _recall_classwise(spec, vector):
    x, low, high, said, marks = spec.ticket
    place = _get(vector, 0, marks)
    place = _get(vector, place, x)
    place = _get(vector, place, low)
    place = _get(vector, place, high)
    _get(vector, place, said)
    spec.fresh[0] = 0
    return ONE_POINT


# --- on a finer grid ----------------------------------------------------------------------------


def lifted(spec, ticket, old, new):
    """A ticket of an older, coarser grid on a newer one."""
    raise NotImplementedError


@overload(lifted, jit_options=INLINE)
def _lifted(spec, ticket, old, new):
    def line(spec, ticket, old, new):
        left, right = place_on(spec, ticket[0], old, new), place_on(spec, ticket[1], old, new)
        return left, right, ticket[2], ticket[3], ticket[4]

    def experts(spec, ticket, old, new):
        left, right = place_on(spec, ticket[0], old, new), place_on(spec, ticket[1], old, new)
        return left, right, ticket[2]

    return line if len(ticket) == 5 else experts


@kernel(forceinline=True)
def place_on(spec, point, old, new):
    """Where a point of an older, coarser grid is in a newer one."""
    for level in range(old, new):
        point = spec.places[spec.first[level] + point]
    return point


@kernel
def _widen(spec, arena, start, room, counts, stream):
    """``events.move``; what is counted at the points moves with them."""
    old = start[stream]
    level = int(arena[old + LEVEL])
    if not move(spec, arena, start, room, stream):
        return False
    new = start[stream]
    for i in range(spec.first[level + 2] - spec.first[level + 1]):
        counts[new + i] = 0.0
    for i in range(spec.first[level + 1] - spec.first[level]):
        counts[new + spec.places[spec.first[level] + i]] = counts[old + i]
    return True


# --- how many wait ------------------------------------------------------------------------------


@kernel(error_model="numpy", forceinline=True)
def count(spec, ticket, drawn, counts, change):
    """One more, or one less, waits at each point that will learn."""
    if spec.realised:
        counts[ticket[1] if drawn else ticket[0]] += change
    else:
        if ticket[2] > 0.0:
            counts[ticket[0]] += change
        if ticket[2] < 1.0:
            counts[ticket[1]] += change


@kernel(error_model="numpy", forceinline=True)
def most(spec, ticket, drawn, counts):
    """Most that wait at a point that learns."""
    if spec.realised:
        return counts[ticket[1] if drawn else ticket[0]]
    left = counts[ticket[0]] if ticket[2] > 0.0 else 0.0
    return max(left, counts[ticket[1]]) if ticket[2] < 1.0 else left


# --- the loop -----------------------------------------------------------------------------------


@kernel
def _learn_one(
    spec, arena, start, counts, crowds, stream, outcomes, scales, t, vector, notes
):  # fmt: skip
    """Take the outcome of row t, whose ticket waits no longer."""
    begin = start[stream]
    level = int(arena[begin + LEVEL])
    points = spec.grid[spec.first[level] : spec.first[level + 1]]
    row = arena[begin : begin + spec.base + spec.blank.shape[1] * points.shape[0]]
    drawn, own = notes[DRAWN], notes[GRID]
    ticket = recall(spec, vector)
    if own < level:
        ticket = lifted(spec, ticket, own, level)
    here = counts[begin : begin + points.shape[0]]
    count(spec, ticket, drawn, here, -1.0)
    crowds[stream] -= 1
    g = scales[t] if scales.shape[0] > 0 else 1.0
    if g > 0.0:
        crowd = max(crowds[stream], notes[BESIDE])
        row[OVERLAP] = max(row[OVERLAP], crowd)
        row[DELAY] = max(row[DELAY], most(spec, ticket, drawn, here))
        row[CROWD] = crowd
    # rounding costs what it did on the grid of the forecast
    events.learn(spec, points, row, own, ticket, drawn, outcomes, t, g, notes[NUMBER])
    row[CROWD] = 0.0


@kernel
def replay(
    spec, arena, start, room, words, seed, streams, contexts, outcomes, scales, moments, due, stop,
    counts, crowds, slots, pool, notes, progress, indices, weights, issued,
):  # fmt: skip
    """Forecast rows up to ``stop`` and learn what is due by then: (reason, stream that stopped it).

    Arguments as for ``events.run``, but all T rows every time: ``progress`` says where to go on.
    """
    many, columns = streams.shape[0] > 0, spec.blank.shape[1]
    record, stream = issued.shape[0] > 0, 0
    while True:
        t, d = progress[FORECAST], progress[LEARNT]
        learns = d < due.shape[0] and moments[due[d]] <= t
        if not learns and t >= stop:
            return DONE, 0
        if many:
            stream = streams[due[d] if learns else t]
        # after its last outcome, or because a loop was stopped before it could be refined
        while arena[start[stream] + MASS] >= spec.ends[int(arena[start[stream] + LEVEL])]:
            if not _widen(spec, arena, start, room, counts, stream):
                return NO_ROOM, stream
        if learns:
            slot = slots[due[d]]
            _learn_one(
                spec, arena, start, counts, crowds, stream, outcomes, scales, due[d], pool[slot],
                notes[slot],
            )  # fmt: skip
            slots[due[d]] = -1
            notes[slot, ROW] = progress[FREE]
            progress[FREE] = slot
            progress[LEARNT] = d + 1
            while arena[start[stream] + MASS] >= spec.ends[int(arena[start[stream] + LEVEL])]:
                if not _widen(spec, arena, start, room, counts, stream):
                    return NO_ROOM, stream
            continue
        slot = progress[FREE]
        if slot < 0:
            return FULL, stream
        begin = start[stream]
        level = int(arena[begin + LEVEL])
        points = spec.grid[spec.first[level] : spec.first[level + 1]]
        row = arena[begin : begin + spec.base + columns * points.shape[0]]
        ticket = events.forecast(spec, points, row, level, contexts, t)
        number = int(row[NEXT_ID])
        drawn_block = block(number >> 2, words[stream, 0], words[stream, 1], seed[0], seed[1])
        drawn = draw(ticket, lane(drawn_block, number))
        if record:
            note(spec, ticket, drawn, spec.first[level], t, indices, weights, issued)
        progress[FREE] = notes[slot, ROW]
        keep(spec, ticket, pool[slot])
        notes[slot, ROW], notes[slot, NUMBER] = t, number
        notes[slot, DRAWN], notes[slot, GRID] = drawn, level
        notes[slot, BESIDE] = crowds[stream] if contexts.ndim > 1 else 0
        slots[t] = slot
        count(spec, ticket, drawn, counts[begin : begin + points.shape[0]], 1.0)
        crowds[stream] += 1
        row[NEXT_ID] = number + 1
        progress[FORECAST] = t + 1
