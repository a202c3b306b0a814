"""The one event loop: forecast, draw, learn, for every kind and any number of streams.

A kind says how by a named tuple of arrays, its spec, for whose type it implements the verbs below
(``numba.extending.overload``: the loop is compiled once for each kind, and cached on disk). Rows
of streams lie in one array, the arena; ``start`` says where. A row whose grid is due to be refined
moves to a wider place if there is one, else the loop stops and the caller makes room.

Fields of every spec, which begins with those of a ``Layout``: grid (points of all levels, one
after the other), first (L + 1,) where a level begins in it · ends (L,) mass at which the next
level takes over · places: where the points of a level are in the next · blank (points, columns) a
point that has learnt nothing · base: columns of a row before its points.
"""

from collections import namedtuple
from typing import Any, NamedTuple

import llvmlite.ir as ir
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from fullswap.kernels.columns import (
    HINT,
    LEARNT,
    LEVEL,
    MASS,
    NEXT_ID,
    PARTIAL,
    ROUNDING_MOST,
    ROUNDS,
    SQUARES,
)
from fullswap.kernels.compiling import kernel
from fullswap.kernels.parts import OPTIONS
from fullswap.kernels.philox import block, lane


class Layout(NamedTuple):
    """What the specs of all kinds begin with."""

    grid: np.ndarray
    first: np.ndarray
    ends: np.ndarray
    places: np.ndarray
    blank: np.ndarray
    base: int
    delta: np.ndarray


def spec_type(name, module, *fields):
    """A named tuple that begins with a layout: the type by which the loop knows a kind."""
    return namedtuple(name, (*Layout._fields, *fields), module=module)


DONE, NO_ROOM = range(2)
"""Why the loop stopped: all events are through · a row must grow."""
AT_ONCE = np.int64(-1)
"""Instead of the id of a forecast whose outcome was learnt in a run."""
AHEAD = 8
"""Events whose rows are fetched from memory in advance: latency hides behind the work."""
LINES_AHEAD = 6
"""Lines of memory of such a row: a forecaster's row of a thousand events."""
LINE_OF_MEMORY = 8
"""Floats in what the processor fetches at once."""
INLINE: Any = {"forceinline": True, "error_model": "numpy", **OPTIONS}
"""Options of the verbs of a kind: called once an event, they belong inside the loop."""


def kind_of(spec, kind):
    """Whether numba's type of a spec is that of this kind (a NamedTuple class)."""
    named = isinstance(spec, types.NamedTuple | types.NamedUniTuple)
    return named and spec.instance_class is kind


_IMPLEMENTATIONS: dict = {}
"""By verb and kind: what runs where nothing is compiled."""

# --- the verbs of a kind --------------------------------------------------------------------


def forecast(spec, points, row, level, contexts, t):
    """The ticket of event t; the row does not change."""
    raise NotImplementedError


def learn(spec, points, row, level, ticket, drawn, outcomes, t, g, number):
    """Take the outcome of event t with scale g."""
    raise NotImplementedError


# --- supports -----------------------------------------------------------------------------------
# A ticket is (left, right, share of left, …): two neighbours, or one point twice. Of a kind that
# forecasts a vector and not a distribution the support is one point: its ticket is (0, 0, 1), its
# spec has a field "nodes", and it says itself what is written down.


def note_vector(spec, t, weights, issued):
    """Write a vector down, and its declared class."""
    raise NotImplementedError


def is_vector(spec):
    """Whether numba's type of a spec is that of a kind that forecasts vectors."""
    return "nodes" in spec.fields


@kernel(error_model="numpy", forceinline=True)
def draw(ticket, u):
    """Place of the drawn point in the support."""
    return 0 if u < ticket[2] else 1


def note(spec, ticket, drawn, offset, t, indices, weights, issued):
    """Write the forecast down: points as places in the grid of all levels."""
    raise NotImplementedError


@overload(note, jit_options=INLINE)
def _note(spec, ticket, drawn, offset, t, indices, weights, issued):
    def pair(spec, ticket, drawn, offset, t, indices, weights, issued):
        indices[t, 0] = offset + ticket[0]
        indices[t, 1] = offset + ticket[1]
        weights[t, 0] = ticket[2]  # the other point has the rest
        issued[t] = offset + (ticket[1] if drawn else ticket[0])

    def vector(spec, ticket, drawn, offset, t, indices, weights, issued):
        note_vector(spec, t, weights, issued)

    return vector if is_vector(spec) else pair


# --- rows -------------------------------------------------------------------------------------


@kernel
def refine(spec, old, new):
    """Write the row ``old`` on the next finer grid; old points keep what they learnt."""
    level = np.int64(old[LEVEL])
    columns = spec.blank.shape[1]
    for k in range(spec.base):
        new[k] = old[k]
    new[LEVEL] = level + 1
    begin, count = spec.first[level + 1], spec.first[level + 2] - spec.first[level + 1]
    for i in range(count):
        for k in range(columns):
            new[spec.base + columns * i + k] = spec.blank[begin + i, k]
    begin, count = spec.first[level], spec.first[level + 1] - spec.first[level]
    for i in range(count):
        place = spec.base + columns * spec.places[begin + i]
        for k in range(columns):
            new[place + k] = old[spec.base + columns * i + k]
    new[HINT] = spec.places[begin + np.int64(old[HINT])]


@kernel
def move(spec, arena, start, room, stream):
    """Whether there was room for the refined row of a stream, which is then where start says.

    ``room`` (1 + L,): where the free end of the arena begins, then for each level the first place
    that a row has left (−1: none); such a place holds the next one.
    """
    old = start[stream]
    level = np.int64(arena[old + LEVEL])
    if level + 2 >= spec.first.shape[0]:
        return False
    columns = spec.blank.shape[1]
    width = spec.base + columns * (spec.first[level + 1] - spec.first[level])
    wider = spec.base + columns * (spec.first[level + 2] - spec.first[level + 1])
    new = room[2 + level]
    if new >= 0:
        room[2 + level] = np.int64(arena[new])
    elif room[0] + wider <= arena.shape[0]:
        new = room[0]
        room[0] += wider
    else:
        return False
    refine(spec, arena[old : old + width], arena[new : new + wider])
    arena[old] = room[1 + level]
    room[1 + level] = old
    start[stream] = new
    return True


@kernel
def relocate(arena, start, new_arena, new_start, widths):
    """Copy every stream's row to its place in another arena."""
    for stream in range(start.shape[0]):
        old, new = start[stream], new_start[stream]
        for k in range(widths[stream]):
            new_arena[new + k] = arena[old + k]


@intrinsic
def _fetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Ask for the memory at this place of an array, to be written soon."""

    def build(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(call, [place, word(1), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), build


@kernel(forceinline=True)
def _fetch_ahead(arena, start, words, streams, t):
    if t + 2 * AHEAD < streams.shape[0]:
        _fetch(start, streams[t + 2 * AHEAD])
        _fetch(words, 2 * streams[t + 2 * AHEAD])
    if t + AHEAD < streams.shape[0]:
        place = start[streams[t + AHEAD]]
        for k in range(LINES_AHEAD):
            _fetch(arena, place + LINE_OF_MEMORY * k)


# --- the loop ---------------------------------------------------------------------------------


@kernel
def stretch(
    spec, points, row, level, word, seed, t, stop, contexts, outcomes, scales, indices, weights,
    issued,
):  # fmt: skip
    """Events t … stop − 1 of one stream, as far as its grid reaches: (next event, reason).

    Arguments as for ``run``; ``points`` of the grid of ``level``, on which the row is.
    """
    record, weighted = issued.shape[0] > 0, scales.shape[0] > 0
    end, offset = spec.ends[level], spec.first[level]
    s0, s1, k0, k1 = word[0], word[1], seed[0], seed[1]
    number = np.int64(row[NEXT_ID])
    drawn_block = np.int64(-1)
    words = (np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0))
    while t < stop:
        ticket = forecast(spec, points, row, level, contexts, t)
        if number >> 2 != drawn_block:
            drawn_block = number >> 2
            words = block(drawn_block, s0, s1, k0, k1)
        drawn = draw(ticket, lane(words, number))
        if record:
            note(spec, ticket, drawn, offset, t, indices, weights, issued)
        g = scales[t] if weighted else 1.0
        learn(spec, points, row, level, ticket, drawn, outcomes, t, g, AT_ONCE)
        number += 1
        row[NEXT_ID] = number
        t += 1
        if row[MASS] >= end:
            return t, NO_ROOM
    return t, DONE


@kernel(nogil=True)
def run(
    spec, arena, start, room, words, seed, streams, contexts, outcomes, scales, indices, weights,
    issued,
):  # fmt: skip
    """Forecast and learn, event by event: (events done, reason, stream that stopped it).

    ``streams`` (T,) says whose event it is. ``contexts`` and ``outcomes`` have T rows, as the kind
    reads them; ``scales`` (T,), or empty if all are 1. Events of scale 0 are forecast and not
    learnt. ``indices``, ``weights`` and ``issued`` (T,) receive the forecasts, of pairs the
    first weight alone; with no rows nothing is recorded. ``words`` (S, 2) and ``seed`` (2,) give
    the draws.
    """
    events = outcomes.shape[0]
    columns = spec.blank.shape[1]
    # of the type that they keep: for a literal 0 all that they are passed to is compiled once more
    t, stream = np.int64(0), np.int64(0)
    while t < events:
        stream, stop = streams[t], t + 1
        while stop < events and streams[stop] == stream:
            stop += 1
        _fetch_ahead(arena, start, words, streams, t)
        # after the last event, or because a loop was stopped before it could be refined
        while arena[start[stream] + MASS] >= spec.ends[np.int64(arena[start[stream] + LEVEL])]:
            if not move(spec, arena, start, room, stream):
                return t, NO_ROOM, stream
        begin = start[stream]
        level = np.int64(arena[begin + LEVEL])
        points = spec.grid[spec.first[level] : spec.first[level + 1]]
        row = arena[begin : begin + spec.base + columns * points.shape[0]]
        t, _ = stretch(
            spec, points, row, level, words[stream], seed, t, stop, contexts, outcomes, scales,
            indices, weights, issued,
        )  # fmt: skip
        while arena[start[stream] + MASS] >= spec.ends[np.int64(arena[start[stream] + LEVEL])]:
            if not move(spec, arena, start, room, stream):
                return t, NO_ROOM, stream
    return t, DONE, stream


@kernel
def peek(spec, arena, start, streams, contexts, indices, weights, issued):
    """Write down what would be forecast in each event if it came next.

    Arguments as for ``run``. Rows do not change and nothing is drawn: ``issued`` receives the first
    point of each support.
    """
    columns = spec.blank.shape[1]
    for t in range(issued.shape[0]):
        begin = start[streams[t] if streams.shape[0] > 0 else 0]
        level = np.int64(arena[begin + LEVEL])
        points = spec.grid[spec.first[level] : spec.first[level + 1]]
        row = arena[begin : begin + spec.base + columns * points.shape[0]]
        ticket = forecast(spec, points, row, level, contexts, t)
        note(spec, ticket, 0, spec.first[level], t, indices, weights, issued)


# --- what kinds share ----------------------------------------------------------------------------


@kernel(forceinline=True)
def count_event(row, g, square, delta, number):
    """One more outcome, of scale g and squared norm ``square``, of forecast ``number``."""
    if g > 0.0:
        row[MASS] += g
        row[PARTIAL] += g * (1.0 - g)
        row[SQUARES] += g * square
        row[ROUNDING_MOST] += g * delta
    row[ROUNDS] += 1.0
    row[LEARNT] = number


def implements(verb, kind):
    """Decorator: what this verb does for specs of this kind."""

    def register(implementation):
        # not strict: the signature to match is that of the implementation, which the call gives
        @overload(verb, jit_options=INLINE, strict=False)
        def chosen(spec, *arguments):
            return implementation if kind_of(spec, kind) else None

        _IMPLEMENTATIONS[verb, kind] = implementation
        return implementation

    return register


def implementation_of(verb, spec):
    """The plain function that implements a verb for this spec, where nothing is compiled."""
    return _IMPLEMENTATIONS[verb, type(spec)]
