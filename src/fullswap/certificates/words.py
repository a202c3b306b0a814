"""A certificate in words: first for somebody who never heard of regret, then the sums.

Lines, in this order: how far off, and how far at most · what is known only after the fact, or why
nothing is known and what to do · lateness · sums, with the theorem · conditions · anything else.
Bounds are rounded up.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fullswap.certificates.quantities import Quantity, Subject
from fullswap.theorems import LEDGER

if TYPE_CHECKING:
    from fullswap.certificates.certificate import Certificate

CONDITIONS = {
    Subject.PLAYED: "",
    Subject.ISSUED: (
        "On average over our own draws, if the outcome of an event, its weight and whether it is "
        "reported do not depend on the draw for that event."
    ),
    Subject.DISTRIBUTIONS: "For the distributions, not for draws from them, and in every run.",
    Subject.VECTORS: (
        "For every sequence of outcomes, even if somebody sees each vector before: nothing is "
        "drawn, and this is no average."
    ),
}
ABOVE = (
    " This run is above what is guaranteed on average: bad luck with our own draws, or somebody "
    "foresaw them."
)
BROKEN = " This run is above what is guaranteed, which cannot be: please report it."
OTHER_EVENTS = (
    " Nor may that draw influence how often the event is forecast, or the outcomes of others that "
    "are learnt while it waits."
)
"""Forecasts of one event share a draw, so what moves the forecaster meanwhile must not know it."""
MEMBERS = {
    True: " Nor may the groups to which it belongs: they are known before that draw.",
    False: " The groups to which an event belongs are known before its forecast.",
}
"""What the guarantee of a group needs beside that, of draws and of distributions."""
OFF = {
    Quantity.L2_CALIBRATION_ERROR: "",
    Quantity.DISCRETISED_SWAP_REGRET: ", over and above rounding to the given steps",
    Quantity.CLASSWISE_ERROR: ", class by class and all classes together",
    Quantity.TOP_LABEL_ERROR: " for the declared label",
}
"""What "percentage points off" leaves out."""
SWAPPED = {
    Quantity.FULL_SWAP_REGRET: (
        "replacing each point played by the best other point would have saved a loss of",
        "for all losses of the given class",
    ),
    Quantity.SWAP_REGRET: (
        "replacing each action played by the best other action would have gained a payoff of",
        "whatever the others play",
    ),
    Quantity.DISCRETISED_SWAP_REGRET: (
        "replacing each action played by the best other allowed one would have saved a loss of",
        "for all losses of the given class",
    ),
}
"""What the regret of a learner is, and for whom its bound holds."""
BY_CLASS = (Quantity.CLASSWISE_ERROR, Quantity.TOP_LABEL_ERROR)
"""Quantities of many classes."""
ONCE = "(every event counts once)"


def words_of(c: Certificate) -> str:
    """The whole certificate."""
    if c.mass is None or c.quantity in (Quantity.FULL_SWAP_REGRET, Quantity.SWAP_REGRET):
        return "\n".join([*_swapped(c), *filter(None, [c.about])])
    if c.mass <= 0:
        none = "No outcomes yet" if c.group is None else f"No outcomes yet in group {c.group}"
        lines = [f"{none}." if c.about else f"{none}: {c.title} [{c.theorem}]."]
    elif c.quantity == Quantity.EXCESS_BRIER:
        lines = [*_against_a_model(c), *_lateness(c), _sums(c)]
    else:
        lines = [*_points_off(c), *_lateness(c), _sums(c)]
    if c.mass > 0 and not (c.guaranteed is None and c.after_the_fact is None):
        lines.append(conditions_of(c))
        if c.guaranteed is not None and not c.holds:
            lines[-1] += ABOVE if c.on_average else BROKEN
    return "\n".join(line for line in [*lines, c.about] if line)


def conditions_of(c: Certificate) -> str:
    """What the bounds of a certificate are about, and what they need; "" for plain learners."""
    issued = c.subject == Subject.ISSUED
    # of the events of a group it is not known which were forecast several times
    several = c.events is not None or (c.group is not None and not _each_counts_once(c))
    words = CONDITIONS[c.subject] + (OTHER_EVENTS if issued and several else "")
    return words + (MEMBERS[issued] if c.group is not None else "")


def _swapped(c: Certificate) -> list[str]:
    """Of a learner: what swaps of its plays would have saved."""
    if not c.rounds:
        return [f"Nothing played yet: {c.title} [{c.theorem}]."]
    saved, holds_for = SWAPPED.get(c.quantity, (c.title, "whatever happens"))
    head = f"{c.rounds:,} round{'' if c.rounds == 1 else 's'}: {saved} {c.measured:.4g} in total"
    name = f"This total is the {c.title} [{c.theorem}]."
    if c.guaranteed is None:
        return [f"{head}; nothing is guaranteed: {'; '.join(c.broken)}.", name]
    return [f"{head}; guaranteed at most {c.guaranteed:.4g}, {holds_for}.", name]


def counted(c: Certificate) -> str:
    """The forecasts, and what mass they have if not every one counts 1.

    Examples
    --------
    >>> from types import SimpleNamespace as Run
    >>> counted(Run(rounds=1000, mass=1000.0, events=None, group="night", once=False))
    '1,000 forecasts in group night'
    >>> counted(Run(rounds=1000, mass=10.0, events=10, group=None))
    '1,000 forecasts of 10 events (every event counts once)'
    >>> counted(Run(rounds=400, mass=4.0, events=None, group="night", once=True))
    '400 forecasts in group night that make 4 events (every event counts once)'
    """
    words = f"{c.rounds:,} forecast{'' if c.rounds == 1 else 's'}"
    if c.group is not None:
        words += f" in group {c.group}"
    mass = c.mass or 0.0
    if c.events is not None:
        words += f" of {c.events:,} event{'' if c.events == 1 else 's'}"
        if abs(mass - c.events) <= 1e-6 * mass:
            return f"{words} {ONCE}"
    if _each_counts_once(c):
        return words
    if c.once and c.group is not None:
        whole = abs(mass - round(mass)) <= 1e-6 * mass
        many = f"{mass:,.0f}" if whole else sums(mass)
        return f"{words} that make {many} event{'' if many == '1' else 's'} {ONCE}"
    return f"{words} of total weight {sums(mass)}"


def _each_counts_once(c: Certificate) -> bool:
    """Whether every forecast has weight 1."""
    return abs((c.mass or 0.0) - c.rounds) <= 1e-6 * c.rounds


def _points_off(c: Certificate) -> list[str]:
    off = f"{points(c.points or 0.0)} percentage points off in root mean square{OFF[c.quantity]}"
    if c.points_noise is not None:
        drawn = c.subject in (Subject.ISSUED, Subject.VECTORS)
        exact = drawn and _each_counts_once(c)  # weights show less
        upto = "" if exact else "up to "
        off += f" (chance alone would show {upto}{points(c.points_noise)})"
    head = f"{counted(c)}: {off}"
    after = None
    if c.points_after_the_fact is not None:
        after = f"{points(c.points_after_the_fact, up=True)}"
    if c.points_guaranteed is None:
        found = "" if after is None else f"{_after(c).capitalize()}, at most {after} points. "
        found += _unlucky(c)
        return [f"{head}; {_nothing(c)}.", f"{found}{_why(c)}"]
    if c.trivial:
        most = f"{100 * math.sqrt(c.squared_diameter):.0f}"
        found = "" if after is None else f"{_after(c).capitalize()}, at most {after} points. "
        found += _unlucky(c)
        return [
            f"{head}; {_too_few(c)}.",
            f"{found}The guarantee is trivial (nobody can be more than {most} points off): "
            f"{_remedy(c)}.",
        ]
    known = points(c.points_guaranteed, up=True)
    ending = "with labels this late" if c.late else "whatever happens"
    lines = [f"{head}; guaranteed at most {known}, {ending}."]
    if after is not None and (c.after_the_fact or 0.0) < (c.guaranteed or 0.0):
        basis = "holds for labels this late" if c.late else "was known before the first forecast"
        if not _each_counts_once(c) and not c.late:
            basis = "needs to know no outcome"  # weights were not known before
        lines.append(f"The {known} {basis}; {_after(c)}, it is at most {after}."
                     f" {_unlucky(c)}".rstrip())  # fmt: skip
    alike = c.quantity == Quantity.L2_CALIBRATION_ERROR and c.squared_diameter == 1
    if alike and c.points_guaranteed >= 0.5:  # as if one probability were said all the time
        lines[-1] += " Little is promised: always saying 50 % would guarantee 50."
    if c.points_guaranteed >= 1 and c.squared_diameter > 1:
        lines[-1] += " Little is promised: equal shares for all classes would guarantee 100."
    return lines


def _against_a_model(c: Certificate) -> list[str]:
    mass = c.mass or 1.0
    once = _each_counts_once(c) or (c.events is not None and abs(mass - c.events) <= 1e-6 * mass)
    unit = "per event" if once else "per unit of weight"
    score = "" if c.brier is None else f"{c.brier / mass:.4f} {unit}, "
    side = f"{score}{_compared(c.measured / mass)} {c.against}"
    head = f"{counted(c)}: Brier score {side}"
    if c.guaranteed is None:
        found = ""
        if c.after_the_fact is not None:
            found = f"{_after(c).capitalize()}, {_at_most(c.after_the_fact / mass)}. {_unlucky(c)}"
        return [f"{head}; {_nothing(c)}.", f"{found}{_why(c)}"]
    known = _at_most(c.guaranteed / mass)
    if c.trivial:
        trivial = f"The guarantee is trivial ({known} {unit}): {_remedy(c)}."
        return [f"{head}; {_too_few(c)}.", trivial]
    lines = [f"{head}; guaranteed {known} {unit}, whatever happens."]
    if c.after_the_fact is not None and c.after_the_fact < c.guaranteed:
        lines.append(f"That was known before the first forecast; {_after(c)}, "
                     f"{_at_most(c.after_the_fact / mass)}. {_unlucky(c)}".rstrip())  # fmt: skip
    return lines


def _after(c: Certificate) -> str:
    """Of a bound that was not known in advance: what it is about."""
    return f"after the fact, {'on average over our own draws' if c.on_average else 'for this run'}"


def _unlucky(c: Certificate) -> str:
    """What to say where this run is above what is known of the average over its draws."""
    within = c.guaranteed is None or c.measured <= c.guaranteed  # else it is said of that bound
    if c.after_the_fact is None or not c.on_average or c.measured <= c.after_the_fact or not within:
        return ""
    return "This one run is above that average: bad luck with its own draws. "


def _too_few(c: Certificate) -> str:
    return f"{'no useful' if c.late else 'too few events for a'} guarantee" + (
        " with labels this late" if c.late else ""
    )


def _compared(excess: float) -> str:
    if round(excess, 4) == 0:
        return "within 0.0001 of"
    return f"{abs(excess):.4f} {'worse' if excess > 0 else 'better'} than"


def _at_most(excess: float) -> str:
    """Worse by at most, or better by at least, so much per event."""
    if -1e4 * excess >= 1:
        return f"better by at least {math.floor(-1e4 * excess) / 1e4:.4f}"
    if excess <= 0:
        return "not worse"
    return f"worse by at most {math.ceil(1e4 * excess - 1e-9) / 1e4:.4f}"


def _nothing(c: Certificate) -> str:
    return f"nothing is guaranteed{_ahead(c)}"


def _why(c: Certificate) -> str:
    return f"No guarantee{_ahead(c)}: {'; '.join(c.broken)}."


def _ahead(c: Certificate) -> str:
    return "" if c.after_the_fact is None else " in advance"


def _remedy(c: Certificate) -> str:
    if c.late:
        return "labels this late need more events, or a forecaster for each lead time"
    if c.quantity in BY_CLASS or c.theorem == LEDGER["classwise keeps the skill"].citation:
        return "a useful one needs more events"
    return "a useful one needs more events, a coarser step or a given horizon"


def _lateness(c: Certificate) -> list[str]:
    if not c.late:
        return []
    plural = "s" if c.late > 1 else ""
    what = "forecast" if c.events is None else "other event"
    return [f"Labels came up to {c.late:,} {what}{plural} late, or not at all."]


def _sums(c: Certificate) -> str:
    known = [f"{c.title} {sums(c.measured)}"]
    if c.after_the_fact is not None:
        known.append(f"after the fact {sums(c.after_the_fact)}")
    if c.guaranteed is not None:
        known.append(f"guaranteed {sums(c.guaranteed)}{' (trivial)' if c.trivial else ''}")
    unit = "" if c.quantity == Quantity.EXCESS_BRIER else f" ({_unit(c)})"
    return f"Sums{unit}: {', '.join(known)} [{c.theorem}]."


def _unit(c: Certificate) -> str:
    """How sums and points go together."""
    counts = "events" if c.events is not None or c.once else "forecasts"
    mass, whole = c.mass or 0.0, c.rounds if c.events is None else c.events
    if not c.once and abs(mass - whole) > 1e-6 * mass:
        counts = "weight"
    return f"{counts} × points², points as shares"


def points(share: float, up: bool = False) -> str:
    """A share in percentage points: one decimal, below 1 two significant figures.

    Examples
    --------
    >>> points(0.0214), points(0.1), points(0.00434), points(0.0641, up=True), points(0.0)
    ('2.1', '10.0', '0.43', '6.5', '0')
    """
    value = 100 * share
    if value <= 0:
        return "0"
    decimals = 1 if value >= 1 else 1 - math.floor(math.log10(value))
    if up:  # a hair less, or 6.4 as a float becomes 6.5
        value = math.ceil(value * 10**decimals * (1 - 1e-12)) / 10**decimals
    return f"{value:.{decimals}f}"


def sums(value: float) -> str:
    """A sum over events, as one would write it.

    Examples
    --------
    >>> sums(25.16), sums(1551.2), sums(0.4321), sums(-3.0)
    ('25.2', '1,551', '0.432', '-3')
    """
    size = abs(value)
    return f"{value:,.0f}" if size >= 1000 else f"{value:.1f}" if size >= 10 else f"{value:.3g}"
