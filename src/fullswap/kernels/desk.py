"""Forecasts of many streams that wait in one array, made and answered in batches.

The same verbs of the kinds as in ``fullswap.kernels.events``, and tickets as those of
``fullswap.kernels.replay``; but here what waits stays between calls, until its outcome comes. What
``fullswap.online.stream`` does for single events is done here to the same bits: the id whose number
is drawn, how many others waited, where an outcome is learnt and anywhere.

Batches release the interpreter: other threads of the process go on meanwhile.

Symbols: pool (P, W): tickets that wait, as the numbers by which their kind encodes them · notes
(P, 11) whole numbers of them, as named below · first (S,): the youngest forecast of a stream that
waits (−1: none) · crowds (S,): events of a stream that wait · stamps (P,): for counting an event
once · progress (3,): events done, next of their forecasts, last stamp.
"""

from fullswap.kernels import events
from fullswap.kernels.classwise import ClasswiseSpec
from fullswap.kernels.columns import (
    CROWD,
    DELAY,
    LEVEL,
    MASS,
    NEXT_ID,
    OVERLAP,
    REPEATS,
)
from fullswap.kernels.compiling import kernel
from fullswap.kernels.events import DONE, NO_ROOM, draw, move, note
from fullswap.kernels.experts import ExpertsSpec
from fullswap.kernels.experts_groups import GroupsSpec
from fullswap.kernels.line import LineSpec
from fullswap.kernels.philox import block, lane
from fullswap.kernels.replay import keep, lifted, place_on, recall

OLDER, LATER, NUMBER, DRAWN, GRID, BESIDE, STREAM, HEAD, SIBLING, YOUNGEST, COUNT = range(11)
"""Of a ticket that waits: the next older and the next later one of its stream (−1: none) · its id ·
place of the draw in its support · level of its grid · other events that waited when it was made,
where models are recalibrated · its stream · the oldest forecast of its event, which may be itself ·
the next younger one of its event (−1: none); and of an oldest forecast the youngest of its event,
and how many there are."""
NOTES = 11
EVENT, NEXT, STAMP = range(3)
"""Entries of progress."""


@kernel(forceinline=True)
def _row_of(spec, arena, start, stream):
    """Level, points and row of a stream."""
    begin = start[stream]
    level = int(arena[begin + LEVEL])
    points = spec.grid[spec.first[level] : spec.first[level + 1]]
    return level, points, arena[begin : begin + spec.base + spec.blank.shape[1] * points.shape[0]]


@kernel
def link(notes, first, crowds, stream, slot, head):
    """One more waits; ``head``: the oldest of its event, or itself."""
    older = first[stream]
    notes[slot, OLDER], notes[slot, LATER] = older, -1
    if older >= 0:
        notes[older, LATER] = slot
    first[stream] = slot
    notes[slot, STREAM], notes[slot, HEAD], notes[slot, SIBLING] = stream, head, -1
    if head == slot:
        notes[slot, YOUNGEST], notes[slot, COUNT] = slot, 1
        crowds[stream] += 1
    else:
        notes[notes[head, YOUNGEST], SIBLING] = slot
        notes[head, YOUNGEST] = slot
        notes[head, COUNT] += 1


@kernel
def _unlink(notes, first, slot):
    """One of a stream waits no longer; its event is not looked at."""
    older, later, stream = notes[slot, OLDER], notes[slot, LATER], notes[slot, STREAM]
    if older >= 0:
        notes[older, LATER] = later
    if later >= 0:
        notes[later, OLDER] = older
    else:
        first[stream] = older


@kernel(nogil=True)
def forecast_all(
    spec, arena, start, words, seed, streams, contexts, slots, heads, first, crowds, pool, notes,
    indices, weights, issued,
):  # fmt: skip
    """Forecast events.

    Event t waits at ``slots[t]``; ``heads[t]``: where the oldest forecast of its event waits, which
    may be the same place. ``indices``, ``weights`` and ``issued`` as for ``events.run``.
    """
    for t in range(streams.shape[0]):
        stream, slot, head = streams[t], slots[t], heads[t]
        level, points, row = _row_of(spec, arena, start, stream)
        ticket = events.forecast(spec, points, row, level, contexts, t)
        number = int(row[NEXT_ID])
        # forecasts of one event draw with the number of the oldest that waits
        source = number if head == slot else notes[head, NUMBER]
        drawn_block = block(source >> 2, words[stream, 0], words[stream, 1], seed[0], seed[1])
        drawn = draw(ticket, lane(drawn_block, source))
        note(spec, ticket, drawn, spec.first[level], t, indices, weights, issued)
        keep(spec, ticket, pool[slot])
        notes[slot, NUMBER], notes[slot, DRAWN], notes[slot, GRID] = number, drawn, level
        others = crowds[stream] - (head != slot)
        notes[slot, BESIDE] = others if contexts.ndim > 1 else 0
        link(notes, first, crowds, stream, slot, head)
        row[NEXT_ID] = number + 1


@kernel
def undo_all(arena, start, slots, first, crowds, notes):
    """As if these forecasts, the last of their streams, had never been made; the youngest last."""
    for k in range(slots.shape[0] - 1, -1, -1):
        slot = slots[k]
        stream = notes[slot, STREAM]
        arena[start[stream] + NEXT_ID] = notes[slot, NUMBER]
        remove(notes, first, crowds, slot)


@kernel
def remove(notes, first, crowds, slot):
    """One forecast waits no longer; the others of its event do."""
    head = notes[slot, HEAD]
    _unlink(notes, first, slot)
    if notes[head, COUNT] == 1:
        crowds[notes[slot, STREAM]] -= 1
        return
    if slot == head:  # the next oldest takes its place
        new = notes[slot, SIBLING]
        notes[new, YOUNGEST], notes[new, COUNT] = notes[head, YOUNGEST], notes[head, COUNT] - 1
        other = new
        while other >= 0:
            notes[other, HEAD] = new
            other = notes[other, SIBLING]
        return
    before = head
    while notes[before, SIBLING] != slot:
        before = notes[before, SIBLING]
    notes[before, SIBLING] = notes[slot, SIBLING]
    if notes[head, YOUNGEST] == slot:
        notes[head, YOUNGEST] = before
    notes[head, COUNT] -= 1


@kernel
def find(notes, first, stream, number):
    """Where the forecast of this id waits, or −1."""
    slot = first[stream]
    while slot >= 0 and notes[slot, NUMBER] != number:
        slot = notes[slot, OLDER]
    return slot


@kernel
def oldest(notes, first, stream):
    """Where the oldest forecast of a stream waits, or −1."""
    slot = first[stream]
    while slot >= 0 and notes[slot, OLDER] >= 0:
        slot = notes[slot, OLDER]
    return slot


@kernel(nogil=True)
def find_all(notes, first, streams, numbers, slots):
    """``find`` for many."""
    for k in range(streams.shape[0]):
        slots[k] = find(notes, first, streams[k], numbers[k])


# --- outcomes -----------------------------------------------------------------------------------


def learns_at(spec, vector, drawn, old, new, point):
    """Whether a ticket that waits, of the grid ``old``, learns at a point of the grid ``new``."""
    raise NotImplementedError


@kernel(forceinline=True)
def _pair_at(spec, vector, drawn, old, new, point):
    if spec.realised:
        return place_on(spec, int(vector[drawn]), old, new) == point
    left, right = place_on(spec, int(vector[0]), old, new), place_on(spec, int(vector[1]), old, new)
    return (vector[2] > 0.0 and left == point) or (vector[2] < 1.0 and right == point)


@events.implements(learns_at, LineSpec)
def _line_at(spec, vector, drawn, old, new, point):
    return _pair_at(spec, vector, drawn, old, new, point)


@events.implements(learns_at, ExpertsSpec)
def _experts_at(spec, vector, drawn, old, new, point):
    return _pair_at(spec, vector, drawn, old, new, point)


@events.implements(learns_at, GroupsSpec)
def _groups_at(spec, vector, drawn, old, new, point):
    return _pair_at(spec, vector, drawn, old, new, point)


@events.implements(learns_at, ClasswiseSpec)
def _classwise_at(spec, vector, drawn, old, new, point):
    return True  # every event teaches all classes


@kernel
def _waiting_at(spec, pool, notes, first, stamps, progress, stream, level, point):
    """Events of a stream that wait where a point will learn."""
    progress[STAMP] += 1
    stamp, waiting, slot = progress[STAMP], 0, first[stream]
    while slot >= 0:
        head = notes[slot, HEAD]
        if stamps[head] != stamp and learns_at(
            spec, pool[slot], notes[slot, DRAWN], notes[slot, GRID], level, point
        ):
            stamps[head] = stamp
            waiting += 1
        slot = notes[slot, OLDER]
    return waiting


@kernel(error_model="numpy", forceinline=True)
def _most_waiting(spec, ticket, drawn, pool, notes, first, stamps, progress, stream, level):
    """Most events that wait at a point at which this ticket learns."""
    most = 0
    for k in range(2):
        used = k == drawn if spec.realised else (ticket[2] < 1.0 if k else ticket[2] > 0.0)
        if used:
            point = ticket[1] if k else ticket[0]
            here = _waiting_at(spec, pool, notes, first, stamps, progress, stream, level, point)
            most = max(most, here)
    return most


@kernel
def _learn_one(
    spec, arena, start, pool, notes, first, crowds, stamps, progress, slot, outcomes, k, g
):  # fmt: skip
    """Take outcome k with scale g for the forecast at ``slot``, which waits no longer."""
    stream, drawn, own = notes[slot, STREAM], notes[slot, DRAWN], notes[slot, GRID]
    level, points, row = _row_of(spec, arena, start, stream)
    ticket = recall(spec, pool[slot])
    if own < level:
        ticket = lifted(spec, ticket, own, level)
    if g > 0.0 and (crowds[stream] > 0 or notes[slot, BESIDE] > 0):
        crowd = max(crowds[stream], notes[slot, BESIDE])
        waiting = _most_waiting(
            spec, ticket, drawn, pool, notes, first, stamps, progress, stream, level
        )
        row[OVERLAP] = max(row[OVERLAP], crowd)
        row[DELAY] = max(row[DELAY], waiting)
        row[CROWD] = crowd
    # rounding costs what it did on the grid of the forecast
    events.learn(spec, points, row, own, ticket, drawn, outcomes, k, g, notes[slot, NUMBER])
    row[CROWD] = 0.0


@kernel(nogil=True)
def learn_all(
    spec, arena, start, room, pool, notes, first, crowds, stamps, progress, heads, outcomes, scales
):  # fmt: skip
    """Take the outcomes of these events, in order: (reason, stream that stopped it).

    Each is given by its oldest forecast; its n forecasts learn with scale/n each. ``progress`` says
    where to go on.
    """
    while progress[EVENT] < heads.shape[0]:
        k = progress[EVENT]
        head = heads[k]
        stream, count = notes[head, STREAM], notes[head, COUNT]
        if progress[NEXT] == -1:  # a new event: none of its forecasts is late for another of them
            slot = head
            while slot >= 0:
                _unlink(notes, first, slot)
                slot = notes[slot, SIBLING]
            crowds[stream] -= 1
            progress[NEXT] = head
        while progress[NEXT] >= 0:
            while arena[start[stream] + MASS] >= spec.ends[int(arena[start[stream] + LEVEL])]:
                if not move(spec, arena, start, room, stream):
                    return NO_ROOM, stream
            slot = progress[NEXT]
            _learn_one(
                spec, arena, start, pool, notes, first, crowds, stamps, progress, slot, outcomes, k,
                scales[k] / count,
            )  # fmt: skip
            last = notes[slot, SIBLING] < 0
            progress[NEXT] = -2 if last else notes[slot, SIBLING]
        while arena[start[stream] + MASS] >= spec.ends[int(arena[start[stream] + LEVEL])]:
            if not move(spec, arena, start, room, stream):
                return NO_ROOM, stream
        arena[start[stream] + REPEATS] += count - 1
        progress[EVENT], progress[NEXT] = k + 1, -1
    return DONE, 0
