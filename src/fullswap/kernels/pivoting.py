"""Lemke–Howson pivots for two players, on the few actions that are played.

Each player's polytope is {z ≥ 0, M z ≤ b}: z are the other player's probabilities before they are
scaled to 1, M > 0 the own payoffs, b = 1 a little perturbed, so that no two rows ever tie (what a
lexicographic rule would do with symbols). A vertex has s positive variables Z and s tight rows T,
and all that is kept of the tableau is the inverse G of M[T, Z]: a pivot takes O(rows·s), and not
O(rows·(rows + columns)), and few actions are played at a time in most games.

Symbols: columns (c, r) the columns of M, each in one piece; basic (c,) the place of variable j in
Z or −1; tight (r,) the place of row i in T or −1; members (2, S) Z and T; inverse G (S, S), rows
as Z, columns as T; values (S,) of Z; slack (r,) = b − M z.
"""

from fullswap.kernels.compiling import kernel

DONE, CAPPED, FULL, RAY = 0, 1, 2, 3  # how a call ends
_LEAST_PIVOT = 1e-11  # entries of a direction that are rounding, for payoffs in [1, 2]


@kernel(fastmath={"contract", "reassoc"})
def _axpy(out, column, factor):
    for i in range(out.shape[0]):
        out[i] += factor * column[i]


@kernel(error_model="numpy")
def _direction(columns, tight, members, inverse, s, entering, is_row, step, fall):
    """How Z and all slacks change for each unit of what enters: a variable, or a row's slack."""
    if is_row:
        q = tight[entering]
        for k in range(s):
            step[k] = -inverse[k, q]
        for i in range(fall.shape[0]):
            fall[i] = 0.0
    else:
        column = columns[entering]
        for k in range(s):
            total = 0.0
            for q in range(s):
                total += inverse[k, q] * column[members[1, q]]
            step[k] = -total
        for i in range(fall.shape[0]):
            fall[i] = column[i]
    for k in range(s):
        _axpy(fall, columns[members[0, k]], step[k])


@kernel(error_model="numpy")
def _leaving(values, slack, tight, step, fall, s):
    """Ratio test: what reaches 0 first, as (place in Z or −1, row or −1, length of the way)."""
    best, place, row = 1e300, -1, -1
    for k in range(s):
        if step[k] < -_LEAST_PIVOT and values[k] < -step[k] * best:
            best, place = values[k] / -step[k], k
    for i in range(slack.shape[0]):
        if fall[i] > _LEAST_PIVOT and tight[i] < 0 and slack[i] < fall[i] * best:
            best, place, row = slack[i] / fall[i], -1, i
    return place, row, max(best, 0.0)


@kernel(error_model="numpy")
def _replace_column(inverse, s, k, change):
    """Column k of M[T, Z] is replaced; ``change`` is G times the new one."""
    pivot = 1.0 / change[k]
    for q in range(s):
        inverse[k, q] *= pivot
    for a in range(s):
        if a != k and change[a] != 0.0:
            factor = change[a]
            for q in range(s):
                inverse[a, q] -= factor * inverse[k, q]


@kernel(error_model="numpy")
def _replace_row(inverse, s, q, change):
    """Row q of M[T, Z] is replaced; ``change`` is the new one times G."""
    pivot = 1.0 / change[q]
    for a in range(s):
        inverse[a, q] *= pivot
        entry = inverse[a, q]
        for b in range(s):
            if b != q:
                inverse[a, b] -= change[b] * entry


@kernel(error_model="numpy")
def _border(inverse, s, down, across, corner):
    """One more row and column: ``down`` = G·(new column), ``across`` = (new row)·G."""
    pivot = 1.0 / corner
    for a in range(s):
        factor = down[a] * pivot
        for b in range(s):
            inverse[a, b] += factor * across[b]
        inverse[a, s] = -factor
    for b in range(s):
        inverse[s, b] = -across[b] * pivot
    inverse[s, s] = pivot


@kernel(error_model="numpy")
def _shrink(inverse, s, k, q):
    """Leave out variable k of Z and row q of T; the last ones take their places."""
    pivot = 1.0 / inverse[k, q]
    for a in range(s):
        if a != k:
            factor = inverse[a, q] * pivot
            for b in range(s):
                inverse[a, b] -= factor * inverse[k, b]
    last = s - 1
    for b in range(s):
        inverse[k, b] = inverse[last, b]
    for a in range(s):
        inverse[a, q] = inverse[a, last]


@kernel(error_model="numpy")
def _pivot(
    columns, basic, tight, members, inverse, values, slack, s, entering, is_row, step, fall, row_of
):
    """One pivot in one polytope: (new s, what left, whether that is a row); −1 if nothing does."""
    _direction(columns, tight, members, inverse, s, entering, is_row, step, fall)
    place, row, way = _leaving(values, slack, tight, step, fall, s)
    if place < 0 and row < 0:
        return s, -1, False
    for k in range(s):
        values[k] += way * step[k]
    for i in range(slack.shape[0]):
        slack[i] -= way * fall[i]
    if row >= 0:  # (new row)·G
        for q in range(s):
            total = 0.0
            for k in range(s):
                total += columns[members[0, k], row] * inverse[k, q]
            row_of[q] = total
    if is_row and row >= 0:
        q = tight[entering]
        _replace_row(inverse, s, q, row_of)
        tight[entering], tight[row], members[1, q] = -1, q, row
        slack[entering], slack[row] = way, 0.0
        return s, row, True
    if is_row:
        q, gone, last = tight[entering], members[0, place], s - 1
        _shrink(inverse, s, place, q)
        tight[entering], basic[gone] = -1, -1
        slack[entering] = way
        if place != last:
            members[0, place], values[place] = members[0, last], values[last]
            basic[members[0, place]] = place
        if q != last:
            members[1, q] = members[1, last]
            tight[members[1, q]] = q
        return last, gone, False
    if row >= 0:
        for k in range(s):
            step[k] = -step[k]
        # the Schur complement: what the direction gives for this row
        _border(inverse, s, step, row_of, fall[row])
        basic[entering], tight[row] = s, s
        members[0, s], members[1, s], values[s], slack[row] = entering, row, way, 0.0
        return s + 1, row, True
    for k in range(s):
        step[k] = -step[k]
    _replace_column(inverse, s, place, step)
    gone = members[0, place]
    basic[gone], basic[entering], members[0, place], values[place] = -1, place, entering, way
    return s, gone, False


@kernel(error_model="numpy")
def invert(matrix, out, s):
    """The inverse of the leading s × s block, by elimination; False if it has none.

    Compiled here and not left to LAPACK, whose threads take longer than the work if processors
    are busy. ``matrix`` is used up.
    """
    for a in range(s):
        for b in range(s):
            out[a, b] = 1.0 if a == b else 0.0
    for k in range(s):
        top, row = 0.0, -1
        for a in range(k, s):
            if abs(matrix[a, k]) > top:
                top, row = abs(matrix[a, k]), a
        if row < 0:
            return False
        if row != k:
            for b in range(s):
                matrix[k, b], matrix[row, b] = matrix[row, b], matrix[k, b]
                out[k, b], out[row, b] = out[row, b], out[k, b]
        scale = 1.0 / matrix[k, k]
        for b in range(s):
            matrix[k, b] *= scale
            out[k, b] *= scale
        for a in range(s):
            factor = matrix[a, k]
            if a != k and factor != 0.0:
                for b in range(s):
                    matrix[a, b] -= factor * matrix[k, b]
                    out[a, b] -= factor * out[k, b]
    return True


@kernel
def follow_path(
    columns1, basic1, tight1, members1, inverse1, values1, slack1,
    columns2, basic2, tight2, members2, inverse2, values2, slack2,
    state, most,
):  # fmt: skip
    """At most ``most`` pivots along the path; how it ended (DONE, CAPPED, FULL, RAY).

    ``state``: sizes s of both, which polytope is next (0 or 1), what enters it, whether that is a
    row, the label that was dropped, and pivots so far. Labels number the variables of the first
    polytope and then its rows; variable j of one polytope and row j of the other share a label.
    """
    count = columns1.shape[0]
    step1, row1, fall1 = values1.copy(), values1.copy(), slack1.copy()
    step2, row2, fall2 = values2.copy(), values2.copy(), slack2.copy()
    for _ in range(most):
        if state[0] + 1 >= values1.shape[0] or state[1] + 1 >= values2.shape[0]:
            return FULL
        entering, is_row = state[3], state[4] == 1
        if state[2] == 0:
            s, left, left_row = _pivot(
                columns1, basic1, tight1, members1, inverse1, values1, slack1, state[0],
                entering, is_row, step1, fall1, row1,
            )  # fmt: skip
            label = left + count if left_row else left
        else:
            s, left, left_row = _pivot(
                columns2, basic2, tight2, members2, inverse2, values2, slack2, state[1],
                entering, is_row, step2, fall2, row2,
            )  # fmt: skip
            label = left if left_row else left + count
        if left < 0:
            return RAY
        state[state[2]] = s
        state[6] += 1
        if label == state[5]:
            return DONE
        # the other polytope: where a row became tight its variable enters, and the other way round
        state[2] = 1 - state[2]
        state[3] = left
        state[4] = 0 if left_row else 1
    return CAPPED
