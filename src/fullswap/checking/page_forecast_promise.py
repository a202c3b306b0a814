"""What was guaranteed beside what was measured, for one stream in words, for many as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fullswap.base.amounts import counted
from fullswap.certificates import Quantity, Subject
from fullswap.certificates.words import CONDITIONS, points
from fullswap.checking.page_parts import Answer

if TYPE_CHECKING:
    from fullswap.certificates import Certificate
    from fullswap.report.history import History

MOST_STREAMS = 50
"""Rows of the table of streams; the rest are counted."""
SQUARES = (
    "Here large errors count more than small ones (the root of the mean square is taken), so this "
    "number is not the average error above."
)


@dataclass(frozen=True)
class Stream:
    """A row of the table of streams, in points."""

    name: str
    forecasts: str
    measured: str
    chance: str
    guaranteed: str
    state: str
    """"holds", "above", "too few events" or "none"."""


@dataclass(frozen=True)
class Promise:
    """All that a page says about guarantees."""

    answers: list[Answer]
    """Measured and guaranteed, large."""
    lines: list[str]
    """The certificate in words, with its conditions."""
    streams: list[Stream]
    left: int
    """Streams that are not shown."""
    level: float | None
    """No cost/loss ratio loses more; None where that is not guaranteed."""


def promise_of(certificates: Sequence[tuple[str, Certificate]], history: History | None) -> Promise:
    """The only certificate in words; of several a table and their sum."""
    if not certificates:
        return Promise([], [], [], 0, None)
    if len(certificates) == 1:
        (_, only), *_ = certificates
        return Promise(_of_one(only), str(only).splitlines(), [], 0, _level(only))
    ranked = sorted(certificates, key=lambda pair: (pair[1].holds, -_beyond_chance(pair[1])))
    shown = [_stream(str(name), own) for name, own in ranked[:MOST_STREAMS]]
    lines = [_summary([own for _, own in certificates])]
    conditions = {own.subject: None for _, own in certificates}
    lines += [CONDITIONS[subject] for subject in conditions if CONDITIONS[subject]]
    answers, level = [], None
    if history is not None:
        measured, bound = float(history.error[-1]), float(history.guaranteed[-1])
        if bound**2 >= max(own.squared_diameter for _, own in certificates) * (1 - 1e-12):
            bound = math.nan  # nobody can be further off
        answers = _answers(measured, float(history.noise[-1]), bound, "All streams together.")
        issued = all(own.subject == Subject.ISSUED for _, own in certificates)
        level = bound if issued and math.isfinite(bound) else None
    return Promise(answers, lines, shown, len(certificates) - len(shown), level)


def _of_one(c: Certificate) -> list[Answer]:
    if c.points is None:
        return []
    bound = c.points_guaranteed
    bound = None if c.trivial else bound
    noise = c.points_noise
    found = _answers(
        c.points, math.nan if noise is None else noise, math.nan if bound is None else bound, ""
    )
    later = c.points_after_the_fact
    if bound is None and later is not None and later < 1:
        found[1] = Answer(
            "Guaranteed", points(later, up=True), "points off, at most, after the fact",
            "Known from the outcomes, on average over its own draws; in advance nothing was. The "
            "words below say why.",
        )  # fmt: skip
    return found


def _answers(measured: float, noise: float, bound: float, about: str) -> list[Answer]:
    """Two cards: measured, and guaranteed."""
    chance = f" Chance alone would show {points(noise)}." if math.isfinite(noise) else ""
    first = Answer("Measured", points(measured), "points off", f"{about}{chance} {SQUARES}".strip())
    if not math.isfinite(bound):
        return [
            first,
            Answer("Guaranteed", "Nothing", "for these events", "The words below say why."),
        ]
    low = "Known before the outcomes were. " if bound else ""
    second = Answer(
        "Guaranteed", points(bound, up=True), "points off, at most",
        f"{low}Whatever the outcomes are, under the conditions below.",
    )  # fmt: skip
    return [first, second]


def _level(c: Certificate) -> float | None:
    squares = c.quantity == Quantity.L2_CALIBRATION_ERROR  # in points also one for every decision
    whole = squares and c.subject == Subject.ISSUED and c.events is None
    return c.points_guaranteed if whole and not c.trivial else None


def _beyond_chance(c: Certificate) -> float:
    """Summed error that chance does not explain."""
    return c.measured - (c.noise or 0.0)


def _stream(name: str, c: Certificate) -> Stream:
    def said(share: float | None, up: bool = False) -> str:
        return "–" if share is None else points(share, up=up)

    bound = None if c.trivial else c.points_guaranteed
    return Stream(
        name, f"{c.rounds:,}", said(c.points), said(c.points_noise), said(bound, up=True), _state(c)
    )


def _state(c: Certificate) -> str:
    if c.guaranteed is None:
        return "none"
    if c.trivial:
        return "too few events"
    return "holds" if c.holds else "above"


def _summary(certificates: Sequence[Certificate]) -> str:
    """How many of the guarantees hold."""
    states = [_state(c) for c in certificates]
    said = [f"{states.count('holds'):,} of {counted(len(states), 'stream')} are within it"]
    for state, words in (
        ("above", "above it"), ("too few events", "with too few events for one"),
        ("none", "without one"),
    ):  # fmt: skip
        if states.count(state):
            said.append(f"{states.count(state):,} {words}")
    text = f"Each stream has its own guarantee: {', '.join(said)}."
    if not states.count("holds") and not states.count("above"):
        text = f"None of {counted(len(states), 'stream')} has a guarantee that says something."
    broken = dict.fromkeys(reason for c in certificates for reason in c.broken)
    return f"{text} Without one: {'; '.join(broken)}." if broken else text
