"""Evidence and alarms by their definitions: sums over all beginnings, no recursion.

Forecasts of an event are a list of (weight, p), p a number for yes or no, else a list. Everything
is a plain float; streams are short.
"""

from __future__ import annotations

import math

SLOPES = [0.4, 0.55, 0.7, 0.8, 0.9, 1.0, 1.1, 1.3, 1.7]
UP = [0.1, 0.2, 0.35, 0.5, 0.75, 1.1, 1.6]
SHIFTS = [-a for a in reversed(UP)] + [0.0] + UP
TEMPERATURES = [0.4, 0.55, 0.7, 0.85, 1.2, 1.5, 2.0, 3.0]
CLASS_SHIFTS = [-1.0, -0.5, -0.2, 0.2, 0.5, 1.0]
CLIP = 1e-4


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def logit(p):
    return math.log(p) - math.log(1 - p)


def pays(q, p, y, half):
    """What a bet on yes with probability q pays, against p."""
    if half:
        p = min(max(q, max(p - half, 0.0)), min(p + half, 1.0))
    return q / p if y else (1 - q) / (1 - p)


class Curve:
    """A shift that is linear between knots; it sums its residuals anew each time."""

    def __init__(self, knots, in_logits, forgetting):
        self.knots, self.in_logits, self.forgetting = knots, in_logits, forgetting
        self.learnt = []

    def hats(self, p, own_logit):
        """Knot ↦ its share of this forecast."""
        last = self.knots - 1
        x = (min(max(own_logit, -6), 6) + 6) / 12 * last if self.in_logits else p * last
        left = min(math.floor(x), last - 1)
        return {left: 1 - (x - left), left + 1: x - left}

    def at_knot(self, knot):
        residual = variance = 0.0
        for shares, scale, r, v in self.learnt:
            if knot in shares:
                keeps = 1 - self.forgetting * shares[knot] * scale
                residual = keeps * residual + shares[knot] * scale * r
                variance = keeps * variance + shares[knot] * scale * v
        return residual / (variance + 3.0)

    def shift(self, p, own_logit):
        shares = self.hats(p, own_logit)
        return min(max(sum(share * self.at_knot(k) for k, share in shares.items()), -1.0), 1.0)

    def learn(self, p, own_logit, y, scale):
        self.learnt.append((self.hats(p, own_logit), scale, y - p, p * (1 - p)))


class YesNo:
    """All bets on yes or no."""

    def __init__(self, half=0.0):
        self.half = half
        self.curves = [Curve(8, False, 1 / 512), Curve(18, False, 0.0), Curve(9, True, 0.0)]

    def own_logit(self, p):
        edge = min(self.half, 0.25)
        return logit(min(max(p, edge), 1 - edge))

    def paid(self, p, y):
        """By all bets: slopes, shifts within, then curves."""
        if not self.half and p in (0, 1):
            if p == y:
                return [1.0] * (len(SLOPES) * len(SHIFTS) + 3)
            p = CLIP if p == 0 else 1 - CLIP
        x = self.own_logit(p)
        bets = [sigmoid(a + b * x) for b in SLOPES for a in SHIFTS]
        bets += [sigmoid(x + curve.shift(p, x)) for curve in self.curves]
        return [pays(q, p, y, self.half) for q in bets]

    def learn(self, p, y, scale):
        if 0 < p < 1:
            for curve in self.curves:
                curve.learn(p, self.own_logit(p), y, scale)


class Classes:
    """All bets on one of K classes."""

    def __init__(self, half=0.0):
        self.half = half

    def paid(self, p, y):
        if self.half:
            return self.paid_rounded(p, y)
        if p[y] == 0:
            p = [CLIP if j == y else (1 - CLIP) * x for j, x in enumerate(p)]
        paid = []
        for tau in TEMPERATURES:
            q = [x**tau for x in p]
            paid.append(q[y] / sum(q) / p[y])
        for j, x in enumerate(p):
            for s in CLASS_SHIFTS:
                total = 1 - x + x * math.exp(s)
                paid.append((math.exp(s) if y == j else 1.0) / total)
        return paid

    def paid_rounded(self, p, y):
        def inside(x):
            return min(max(x, min(self.half, 0.25)), 1 - min(self.half, 0.25))

        top = p.index(max(p))
        paid = [
            pays(sigmoid(tau * logit(inside(p[top]))), p[top], y == top, self.half)
            for tau in TEMPERATURES
        ]
        for j, x in enumerate(p):
            for s in CLASS_SHIFTS:
                paid.append(pays(sigmoid(s + logit(inside(x))), x, y == j, self.half))
        return paid

    def learn(self, p, y, scale):
        pass


def left(events):
    """Mass of bets that begin after so many events."""
    return 0.4 / (1 + 0.5 * math.log(events)) if events else 1.0


def factors(bets, events):
    """What every bet paid on every event: events are (y, [(weight, p), …])."""
    table = []
    for y, forecasts in events:
        rows = [[x**w for x in bets.paid(p, y)] for w, p in forecasts]
        table.append([sum(column) / len(rows) for column in zip(*rows, strict=True)])
        for w, p in forecasts:
            bets.learn(p, y, w / len(forecasts))
    return table


def evidence(prior, table):
    """E after each event: Σ_k w_k·Σ_s γ_s·Π_{s ≤ r ≤ t} L + what has not begun."""
    values = []
    for t in range(len(table)):
        total = left(t + 1)
        for k, w in enumerate(prior):
            for s in range(t + 1):
                product = math.prod(table[r][k] for r in range(s, t + 1))
                total += w * (left(s) - left(s + 1)) * product
        values.append(total)
    return values


def alarms(prior, table, run_length):
    """(events seen when it rang, events seen when the product of bet k began) and sum of each."""
    rang, begin = [], 0
    for t in range(len(table)):
        sums = [
            sum(math.prod(row[k] for row in table[s : t + 1]) for s in range(begin, t + 1))
            for k in range(len(prior))
        ]
        if sum(w * x for w, x in zip(prior, sums, strict=True)) >= run_length:
            best = best_bet(prior, [w * x for w, x in zip(prior, sums, strict=True)])
            rang.append((t + 1, since(table, best, begin, t + 1), best))
            begin = t + 1
    return rang


def since(table, bet, begin, end):
    """The latest beginning with the largest product."""
    logs = [sum(math.log(row[bet]) for row in table[s:end]) for s in range(begin, end)]
    return begin + max(range(end - begin), key=lambda s: (logs[s], s))


def best_bet(prior, values):
    """Of most wealth; curves, the last three of yes/no bets, only if clearly ahead."""
    lines = len(SLOPES) * len(SHIFTS)
    if len(values) != lines + 3:
        return max(range(len(values)), key=values.__getitem__)
    line = max(range(lines), key=values.__getitem__)
    curve = max(range(lines, lines + 3), key=values.__getitem__)
    if values[curve] <= values[line]:
        return line
    own, other = (math.log(values[k] / prior[k]) for k in (line, curve))
    return line if own >= 0.85 * other else curve
