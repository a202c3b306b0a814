"""Values numbered as they come, and events grouped by stream: what would be slow loops in Python.

Symbols: T events · S streams · codes (T,): which of the distinct values each is, numbered in order
of first appearance · first (n,): where each of them came first.
"""

import numpy as np

from fullswap.kernels.compiling import kernel

SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio: products with it scatter neighbours over a table."""
SMALLEST = 10
"""Binary digits of the size of a table to begin with."""


DENSE = 4
"""A table with a place for each number pays where there are at most so many for an event."""


@kernel
def _place(table, value, shift):
    """Where a value is in a table of (value, code), or where it would go."""
    last = table.shape[0] - 1
    place = np.int64((np.uint64(value) * SPREAD) >> shift)
    while table[place, 1] >= 0 and table[place, 0] != value:
        place = (place + 1) & last
    return place


@kernel
def _number_dense(values, low, span, result, first):
    """The same for numbers from ``low`` on, by a table with a place for each; how many differ."""
    table, count = np.full(span, -1, np.int32), 0
    for t in range(values.shape[0]):
        code = table[values[t] - low]
        if code < 0:
            code = np.int32(count)
            table[values[t] - low] = code
            first[count] = t
            count += 1
        result[t] = code
    return count


@kernel
def _blank_table(digits):
    table = np.empty((np.int64(1) << digits, 2), np.int64)
    for place in range(table.shape[0]):
        table[place, 1] = -1
    return table


@kernel(nogil=True)
def number_values(values):
    """``codes`` and ``first`` of whole numbers (T,); in time that grows with T, whatever they are.

    An open table with one probe after the other, at most half full.
    """
    result = np.empty(values.shape[0], np.int64)
    if values.shape[0] == 0:
        return result, result.copy()
    low, high = values[0], values[0]
    for t in range(values.shape[0]):
        low, high = min(low, values[t]), max(high, values[t])
    span = np.float64(high) - np.float64(low) + 1.0
    if span <= DENSE * values.shape[0] and span < 2.0**31:
        first = np.empty(min(np.int64(span), values.shape[0]), np.int64)
        count = _number_dense(values, low, np.int64(span), result, first)
        return result, first[:count].copy()
    digits, count = np.int64(SMALLEST), np.int64(0)
    table, first = _blank_table(digits), np.zeros(np.int64(1) << (digits - 1), np.int64)
    for t in range(values.shape[0]):
        value = values[t]
        if t > 0 and value == values[t - 1]:
            result[t] = result[t - 1]
            continue
        place = _place(table, value, np.uint64(64 - digits))
        if table[place, 1] < 0:
            if count == first.shape[0]:
                digits += 1
                table, more = _blank_table(digits), np.zeros(2 * count, np.int64)
                for k in range(count):
                    more[k] = first[k]
                    own = _place(table, values[first[k]], np.uint64(64 - digits))
                    table[own, 0], table[own, 1] = values[first[k]], k
                first = more
                place = _place(table, value, np.uint64(64 - digits))
            table[place, 0], table[place, 1] = value, count
            first[count] = t
            count += 1
        result[t] = table[place, 1]
    return result, first[:count].copy()


@kernel(nogil=True)
def group_events(streams, bounds, order):
    """Write down the events of stream 0, then those of stream 1, and so on, each in their order.

    ``order`` (T,) receives the events, ``bounds`` (S + 1,) where those of each stream begin.
    """
    bounds[:] = 0
    for t in range(streams.shape[0]):
        bounds[streams[t] + 1] += 1
    for s in range(1, bounds.shape[0]):
        bounds[s] += bounds[s - 1]
    if order.shape[0] == 0:
        return
    for t in range(streams.shape[0]):
        s = streams[t]
        order[bounds[s]] = t
        bounds[s] += 1
    for s in range(bounds.shape[0] - 1, 0, -1):
        bounds[s] = bounds[s - 1]
    bounds[0] = 0
