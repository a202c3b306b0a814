"""Stationary distributions of large classes of sparse chains, by sweeps over their states.

Elimination takes the cube of the number of states. Classes of hundreds come up while most points of
a grid have learnt from a round or two: their rows then lead all over the grid, and such chains
forget so quickly that some fifty Gauss–Seidel sweeps settle them to the last bits.
"""

import numpy as np

from fullswap.kernels.compiling import kernel

# Columns of the exploration scratch. The first two belong to a state; the others to the place of a
# state in the order of discovery, so that a small search touches only the first few rows of them.
STAMP, PLACE, STATE, LOWEST, NEXT_EDGE, PARENT = range(6)


LARGE = 64
"""Classes larger than this are solved by sweeps: elimination takes the cube of their size."""
MOST_SWEEPS = 200
"""Then elimination, after all; some 50 are the rule."""
SETTLED = 16 * 2.220446049250313e-16
"""‖πP − π‖₁ that counts as none: what rounding leaves."""


@kernel(short=True, error_model="numpy")
def settle(row_indices, row_weights, scratch, size, members, room, out):
    """Gauss–Seidel sweeps on a class; whether ‖πP − π‖₁ ≤ SETTLED was reached.

    π_i ← Σ_{j≠i} π_j·P_ji / Σ_{j≠i} P_ij, one state after the other. Nothing is subtracted. Room
    (≥ 2·size·k + size,) takes weights of the edges into each state, the rates at which states are
    left, and where the edges come from.
    """
    edges = row_indices.shape[1]
    # places in the room; slices of it would take longer to compile
    rates = size * edges
    sources = rates + size
    for place in range(size):
        scratch[members[place], PLACE] = place
        scratch[place, NEXT_EDGE] = 0
    # edges into a place lie from LOWEST to NEXT_EDGE: count them, leave room, put them there
    for place in range(size):
        state = members[place]
        for edge in range(edges):
            if row_weights[state, edge] > 0.0:
                scratch[scratch[row_indices[state, edge], PLACE], NEXT_EDGE] += 1
    used = 0
    for place in range(size):
        scratch[place, LOWEST] = used
        used += scratch[place, NEXT_EDGE]
        scratch[place, NEXT_EDGE] = scratch[place, LOWEST]
    for place in range(size):
        state = members[place]
        room[rates + place] = 0.0
        for edge in range(edges):
            successor = row_indices[state, edge]
            if row_weights[state, edge] > 0.0 and successor != state:
                slot = scratch[scratch[successor, PLACE], NEXT_EDGE]
                room[slot] = row_weights[state, edge]
                room[sources + slot] = place
                scratch[scratch[successor, PLACE], NEXT_EDGE] = slot + 1
                room[rates + place] += row_weights[state, edge]
        out[place] = 1.0 / size
    for sweep in range(MOST_SWEEPS):
        total, residual = 0.0, 0.0
        for place in range(size):
            inflow = 0.0
            for slot in range(scratch[place, LOWEST], scratch[place, NEXT_EDGE]):
                inflow += out[np.int64(room[sources + slot])] * room[slot]
            # every eighth sweep only measures
            if sweep % 8 == 7:
                residual += abs(inflow - out[place] * room[rates + place])
            else:
                out[place] = inflow / room[rates + place]
                total += out[place]
        if sweep % 8 == 7:
            if residual <= SETTLED:
                return True
        else:
            for place in range(size):
                out[place] /= total
    return False
