"""The verbs of a kind on a bare row, in one form for all tests: the one place that knows how.

A play is what follows id and draw: (left, right, share, …) or (members, shares, …).
"""

from fullswap.base.draws import Draws
from fullswap.kernels import philox


def uniform(seed, stream, number):
    """The draw of one id."""
    return philox.uniform(Draws(seed, stream).source, number)


def forecast(kind, row, context=None):
    """What would be played now; nothing changes."""
    if kind.spec.kind == "experts" and kind.spec.models == 1:
        context = float(context[0])
    own = () if context is None else (context,)
    return kind.forecaster(row, Draws(1).source)(0, *own)[2:]


def learn(kind, row, play, drawn, outcome, scale, number):
    """Feed the outcome of a play on the row's own grid, whose draw was this place in it."""
    return kind.learner(row, int(row[0]))(number, drawn, *play, scale, outcome)


def place_of(shares, u):
    """The first place whose cumulative share exceeds u."""
    total = 0.0
    for place, share in enumerate(shares):
        total += share
        if u < total:
            return place
    return len(shares) - 1
