"""One event of many classes: one vector of sum 1, calibrated class by class and for its top label.

Every class k has soft bins along a grid s_0 = 0 < … < s_N = 1: a forecast x_k belongs to its two
neighbours with the weights w_i(x_k) that have the mean x_k. A bin recommends an offset m, what
x_k is found to be short of there: the mean error R/(W + 1) over all events, merged with the mean
over those in which k was declared, or over the others, whichever this event is one of. Against
these offsets stands the advice A_k that all bins share (``fullswap.kernels.classes_advice``), with
one weight a class, so that together the offsets of class k are

    F_ki = own_k·m_ki + trust_k·(A_k − s_i),   own_k + trust_k = 1,

and at x_k their mean over both bins is the same as that of own·m_ki + trust·(A_k − x_k). What is
forecast is the vector x on which all classes agree (``fullswap.kernels.coherent``). Weights learn
by exp(−η·loss) with the squared loss of recommendations, x_k + m_ki and A_k against y_k. After a
step a share g/((1 + M')(2 + M)) of all weight is dealt out anew by the prior, M and M' the mass
before and after it: no expert is ever lost, and Π(1 − share) ≥ ½.

Symbols: K classes · J models · nodes s (n,) · rates (n,): η of a bin; the last of ``rates`` (n + 1)
is that of a class · priors (3,): weights of the bins of a class, of the mean over all events, of
that over a part of them · ticket = (x (K,), low (K,), high (K,): offsets of both bins, said (J, K),
marks (2,)) · rough (K, n): heights for the solver · room: what it writes to · base: where
classes begin in a row. Columns of a row before its classes: totals (4,), mix (3, M), beliefs; of a
class: OWN, TRUST, then its bins, column by column, as named below.
"""

import numpy as np

from fullswap.kernels import events
from fullswap.kernels.classes_advice import (
    BELIEFS,
    advise,
    kinds_of,
    learn_advice,
)
from fullswap.kernels.coherent import solve_coherent
from fullswap.kernels.columns import CROWD, HEAD, MASS
from fullswap.kernels.compiling import kernel
from fullswap.kernels.events import count_event
from fullswap.kernels.logistic import likeliest
from fullswap.kernels.loop import cell_of

ADVICE_LOSS, PLAYED_LOSS, GAPS, PAID = range(4)
"""Totals: Σg·‖A − y‖² · Σg·‖forecast − y‖² · Σg·ρ, ρ twice the gap of the solver · Σg·(ρ + Σw(F² −
2Fr)): what is known of the error beyond what is measured, never below 0."""
TOTALS = 4
OWN, TRUST = range(2)
"""Columns of a class, before its bins: weights of its bins and of the advice."""
CLASS_HEAD = 2
(
    TOP_WEIGHT, TOP_ERROR, TOP_CHANCE, REST_WEIGHT, REST_ERROR, REST_CHANCE, SHARE_ALL, SHARE_TOP,
    SHARE_REST, OFFSET,
) = range(10)  # fmt: skip
"""Of a bin, over events in which the class was declared (top) or not (rest): W = Σg·w · R = Σg·w·r
· Σ(g·w)²·p(1 − p), what chance would show · weights of the three means · what it recommends to a
class that is not declared."""
BIN_COLUMNS = 10
DECLARED, GAP = range(2)
"""Marks of a ticket: the declared class · ρ."""
ATTEMPTS = 3
"""Labels that are declared at the most until one is the likeliest class of its vector."""


@kernel(forceinline=True)
def classwise_parts(row, models, inputs, classes):
    """Totals, mix and beliefs as views of a row."""
    count = kinds_of(models) * inputs
    mix = HEAD + TOTALS
    beliefs = mix + 3 * count
    width = BELIEFS + 2 * (classes + 1) if models > 0 else 2 * classes
    end = beliefs + inputs * width
    return (
        row[HEAD:mix],
        row[mix:beliefs].reshape((3, count)),
        row[beliefs:end].reshape((inputs, width)),
    )


@kernel(forceinline=True)
def _class_of(row, base, nodes, k):
    """The columns of class k."""
    width = CLASS_HEAD + BIN_COLUMNS * nodes
    return row[base + width * k : base + width * (k + 1)]


@kernel(error_model="numpy", forceinline=True)
def _offset(bins, nodes, i, declared):
    """(mean error over all events, over those like this one, both merged) of bin i."""
    top_weight, top = bins[TOP_WEIGHT * nodes + i], bins[TOP_ERROR * nodes + i]
    rest_weight, rest = bins[REST_WEIGHT * nodes + i], bins[REST_ERROR * nodes + i]
    every = (top + rest) / (top_weight + rest_weight + 1.0)
    own = top / (top_weight + 1.0) if declared else rest / (rest_weight + 1.0)
    share = bins[SHARE_ALL * nodes + i]
    other = bins[(SHARE_TOP if declared else SHARE_REST) * nodes + i]
    return every, own, (share * every + other * own) / (share + other)


@kernel(error_model="numpy")
def _fill(row, base, s, advice, k, declared, rough):
    """Offsets F of class k."""
    nodes = s.shape[0]
    columns = _class_of(row, base, nodes, k)
    own, trust, bins = columns[OWN], columns[TRUST], columns[CLASS_HEAD:]
    for i in range(nodes):
        offset = bins[OFFSET * nodes + i]
        if declared:
            offset = _offset(bins, nodes, i, True)[2]
        rough[k, i] = own * offset + trust * (advice[k] - s[i])


@kernel(error_model="numpy")
def classwise_forecast(s, row, base, inputs, memo, rough, room, ticket):
    """Write the ticket of an event; what models say is in it already."""
    x, low, high, said, marks = ticket
    work, bent, places, tree = room
    classes = x.shape[0]
    _, mix, beliefs = classwise_parts(row, said.shape[0], inputs, classes)
    advise(mix, beliefs, said, memo)
    declared = likeliest(memo[0])
    for k in range(classes):
        _fill(row, base, s, memo[0], k, k == declared, rough)
    best, least = declared, np.inf
    for attempt in range(ATTEMPTS + 1):
        marks[GAP] = 2.0 * solve_coherent(rough, s, x, work, bent, places, tree)
        marks[DECLARED] = declared
        top = likeliest(x)
        if x[top] - x[declared] < least:
            best, least = declared, x[top] - x[declared]
        # labels may go round; then the one that came nearest is declared
        other = top if attempt < ATTEMPTS - 1 else best
        if other == declared:
            break
        _fill(row, base, s, memo[0], declared, False, rough)
        _fill(row, base, s, memo[0], other, True, rough)
        declared = other
    for k in range(classes):
        i = cell_of(s, x[k])
        low[k], high[k] = rough[k, i], rough[k, i + 1]


@kernel(error_model="numpy", forceinline=True)
def upper_share(s, i, x):
    """Weight of the upper bin of x, which lies between the nodes i and i + 1."""
    return min(max((x - s[i]) / (s[i + 1] - s[i]), 0.0), 1.0)


@kernel(error_model="numpy", forceinline=True)
def _learn_bin(bins, nodes, i, g, r, chance, declared, rate, priors):
    """Feed an error r of scale g to bin i; what it recommended."""
    every, own, merged = _offset(bins, nodes, i, declared)
    part = (SHARE_TOP if declared else SHARE_REST) * nodes + i
    all_, other = bins[SHARE_ALL * nodes + i], bins[part]
    # relative to the first: a single exponential
    factor = np.exp(rate * g * ((every - r) * (every - r) - (own - r) * (own - r)))
    kept = (all_ + other) / (all_ + other * factor)
    bins[SHARE_ALL * nodes + i] = all_ * kept
    bins[part] = other * factor * kept
    mass = bins[TOP_WEIGHT * nodes + i] + bins[REST_WEIGHT * nodes + i]
    dealt = g / ((1.0 + mass + g) * (2.0 + mass))
    for place in range(SHARE_ALL, SHARE_REST + 1):
        prior = priors[1] if place == SHARE_ALL else priors[2]
        bins[place * nodes + i] += dealt * (prior - bins[place * nodes + i])
    first = (TOP_WEIGHT if declared else REST_WEIGHT) * nodes + i
    bins[first] += g
    bins[first + nodes] += g * r
    bins[first + 2 * nodes] += g * g * chance
    bins[OFFSET * nodes + i] = _offset(bins, nodes, i, False)[2]
    return merged


@kernel(error_model="numpy", forceinline=True)
def _learn_class(columns, own_loss, advice_loss, g, mass, rate, prior):
    """Weigh the bins of a class against the advice, after an event of scale g."""
    own, trust = columns[OWN], columns[TRUST]
    factor = np.exp(rate * g * (own_loss - advice_loss))
    kept = own / (own + trust * factor)
    other = trust * factor / (own + trust * factor)
    dealt = g / ((1.0 + mass + g) * (2.0 + mass))
    columns[OWN] = kept + dealt * (prior - kept)
    columns[TRUST] = other + dealt * (1.0 - prior - other)


@kernel(error_model="numpy")
def classwise_learn(
    s, row, base, inputs, prior, priors, rates, memo, chance, ticket, fresh, g, y, number
):
    """Feed the outcome y (K,) of one forecast; offsets are charged as they were at the forecast.

    ``fresh``: the memo is that of this forecast, and nothing was learnt since.
    """
    x, low, high, said, marks = ticket
    classes, nodes = x.shape[0], s.shape[0]
    totals, mix, beliefs = classwise_parts(row, said.shape[0], inputs, classes)
    crowd = 1.0 / (1.0 + row[CROWD])
    mass = row[MASS]
    square = 0.0
    for k in range(classes):
        square += y[k] * y[k]
    if g > 0.0:
        # at once this is what the forecast saw, to the last bit; later, what is known by now
        if not fresh:
            advise(mix, beliefs, said, memo)
        declared = int(marks[DECLARED])
        paid, played = marks[GAP], 0.0
        whole_rate = crowd * rates[nodes]
        for k in range(classes):
            columns = _class_of(row, base, nodes, k)
            bins = columns[CLASS_HEAD:]
            i = cell_of(s, x[k])
            upper = upper_share(s, i, x[k])
            lower = 1.0 - upper
            top = k == declared
            mean = lower * low[k] + upper * high[k]
            own_loss = 0.0
            r = y[k] - x[k]
            paid -= 2.0 * mean * r
            own = x[k] * (1.0 - x[k])
            if lower > 0.0:
                merged = _learn_bin(
                    bins, nodes, i, g * lower, r, own, top, crowd * rates[i], priors
                )
                own_loss += lower * (merged - r) * (merged - r)
            if upper > 0.0:
                merged = _learn_bin(
                    bins, nodes, i + 1, g * upper, r, own, top, crowd * rates[i + 1], priors
                )
                own_loss += upper * (merged - r) * (merged - r)
            played += r * r
            advice_loss = (memo[0, k] - y[k]) * (memo[0, k] - y[k])
            _learn_class(columns, own_loss, advice_loss, g, mass, whole_rate, priors[0])
        totals[PLAYED_LOSS] += g * played
        totals[GAPS] += g * marks[GAP]
        totals[PAID] += g * paid
        learn_advice(totals, mix, beliefs, prior, said, memo, g, crowd, mass + g, y, chance)
    count_event(row, g, square, 0.0, number)


ClasswiseSpec = events.spec_type(
    "ClasswiseSpec",
    __name__,
    "realised",  # False: at its one point, the vector, every class learns
    "nodes",
    "inputs",
    "prior",
    "priors",
    "rates",
    "memo",
    "rough",
    "room",
    "chance",
    "fresh",  # (1,): 1 where the memo is that of the ticket, until something is learnt
    "ticket",
)


ONE_POINT = (np.int64(0), np.int64(0), 1.0)
"""What the loops know of a ticket; the rest is in the spec."""


def read_said(contexts, t, said):
    """Write down what models say about event t, where there are models."""
    raise NotImplementedError


@events.overload(read_said, jit_options=events.INLINE)
def _read_said(contexts, t, said):
    def from_models(contexts, t, said):
        said[:] = contexts[t]

    return from_models if contexts.ndim == 3 else lambda contexts, t, said: None


@events.implements(events.forecast, ClasswiseSpec)
def _forecast(spec, points, row, level, contexts, t):
    read_said(contexts, t, spec.ticket[3])
    classwise_forecast(
        spec.nodes, row, spec.base, spec.inputs, spec.memo, spec.rough, spec.room, spec.ticket
    )  # fmt: skip
    spec.fresh[0] = 1
    return ONE_POINT


@events.implements(events.learn, ClasswiseSpec)
def _learn(spec, points, row, level, ticket, drawn, outcomes, t, g, number):
    classwise_learn(
        spec.nodes, row, spec.base, spec.inputs, spec.prior, spec.priors, spec.rates, spec.memo,
        spec.chance, spec.ticket, spec.fresh[0] == 1, g, outcomes[t], number,
    )  # fmt: skip
    spec.fresh[0] = 0


@events.implements(events.note_vector, ClasswiseSpec)
def _note(spec, t, weights, issued):
    x, marks = spec.ticket[0], spec.ticket[4]
    for k in range(x.shape[0]):
        weights[t, k] = x[k]
    issued[t] = int(marks[DECLARED])
