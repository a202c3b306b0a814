"""Certificates of groups side by side, those least explained by chance first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullswap.base.html import card, note, table
from fullswap.base.keys import plain_key
from fullswap.certificates.certificate import Certificate
from fullswap.certificates.words import points
from fullswap.metrics.chance import high_squares

EVERYBODY = "everybody"
"""What the row of all events is called."""
TOO_FEW = "too few"
"""What stands where there are too few events for a limit below 100 points."""
VAIN = 1 - 1e-12
"""Nobody can be further off: a limit of as much says nothing."""
HEADS = ("group", "forecasts", "said", "happened", "off", "chance", "after the fact", "guaranteed")
NOTES = (
    "In percentage points; off: in root mean square, and what chance alone would show beside it "
    "(at most, where weights differ or events have several forecasts); after the fact and "
    "guaranteed: at most so far off.",
    "Sorted by how little chance explains, those least explained first.",
)


@dataclass(frozen=True)
class GroupRow:
    """One group; shares, not percents."""

    name: Any
    rounds: int
    """Forecasts with an outcome."""
    mass: float
    """Their total weight."""
    said: float | None
    """Mean of the forecasts; None without events."""
    happened: float | None
    """Mean of the outcomes."""
    points: float | None
    """How far forecasts were off, in root mean square."""
    points_noise: float | None
    """How far off a calibrated forecaster would seem by chance alone."""
    points_after_the_fact: float | None
    """At most so far off, known from this run."""
    points_guaranteed: float | None
    """At most so far off, known before the first forecast; None where nothing is guaranteed."""
    certificate: Certificate

    @classmethod
    def of(cls, name: Any, c: Certificate) -> GroupRow:
        """From the certificate of a group."""
        said = happened = None
        if c.table is not None and c.mass:
            forecasts, weights, means = c.table
            said = float(weights @ forecasts / weights.sum())
            happened = float(weights @ means / weights.sum())
        return cls(
            name, c.rounds, c.mass or 0.0, said, happened, c.points, c.points_noise,
            c.points_after_the_fact, c.points_guaranteed, c,
        )  # fmt: skip

    @property
    def beyond_chance(self) -> float:
        """Sort key: the error over what chance would show, both as sums of squares."""
        return beyond_chance(self.certificate.measured, self.certificate.noise, self.mass)

    @property
    def points_high(self) -> float | None:
        """So far off, or less, would 19 of 20 right forecasters seem by chance; None if unknown."""
        return high_together([self.certificate])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return plain | {
            "name": plain_key(self.name),
            "certificate": self.certificate.to_dict(),
        }


def beyond_chance(squares: float, noise: float | None, mass: float) -> float:
    """By which groups are sorted: the squared error beyond chance, in units of its spread."""
    if not mass:
        return -math.inf
    noise = noise or 0.0
    return (squares - noise) / math.sqrt(max(noise, 1.0))


def rows_by_name(tables: Iterable[GroupTable]) -> dict[Any, list[GroupRow]]:
    """The rows of every group with outcomes, of all streams, by its name."""
    found: dict[Any, list[GroupRow]] = {}
    for own in tables:
        for row in own:
            if row.mass:
                found.setdefault(row.name, []).append(row)
    return found


def high_together(certificates: Iterable[Certificate]) -> float | None:
    """``points_high`` of all these events together; None if unknown of some."""
    parts, mass = [], 0.0
    for c in certificates:
        if c.table is None or not c.mass or c.noise is None:
            return None
        forecasts, weights, _ = c.table
        one = forecasts * (1 - forecasts)
        # what weights, and shares of an event, make of chance is known of the sum only
        scale = c.noise / one.sum() if one.any() else 0.0
        events = c.mass if c.once else c.events or c.rounds  # one each, however often forecast
        parts.append((forecasts, weights * (events / c.mass), scale * one))
        mass += c.mass
    if not parts:
        return None
    forecasts, trials, means = (np.concatenate(column) for column in zip(*parts, strict=True))
    return math.sqrt(high_squares(forecasts, trials, means) / mass)


@dataclass(frozen=True)
class GroupTable:
    """Everybody and all groups, those least explained by chance first."""

    rows: tuple[GroupRow, ...]

    @classmethod
    def of(cls, certificates: Iterable[tuple[Any, Certificate]]) -> GroupTable:
        """From names and certificates; of equal ones the earlier comes first."""
        rows = [GroupRow.of(name, own) for name, own in certificates]
        return cls(tuple(sorted(rows, key=lambda row: -row.beyond_chance)))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[GroupRow]:
        return iter(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {"rows": [row.to_dict() for row in self.rows]}

    def _cells(self) -> list[list[str]]:
        texts = Counter(str(row.name) for row in self.rows)
        names = [str if texts[str(row.name)] == 1 else repr for row in self.rows]  # 1 is not "1"
        return [
            [
                shown(row.name), f"{row.rounds:,}",
                *map(shown_points, (row.said, row.happened, row.points, row.points_noise)),
                *map(shown_limit, (row.points_after_the_fact, row.points_guaranteed)),
            ]
            for row, shown in zip(self.rows, names, strict=True)
        ]  # fmt: skip

    def __str__(self) -> str:
        lines = [list(HEADS), *self._cells()]
        widths = [max(len(line[k]) for line in lines) for k in range(len(HEADS))]
        text = [
            "  ".join(
                cell.ljust(width) if k == 0 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([*text, *NOTES])

    def _repr_html_(self) -> str:
        return card("Groups", table(list(HEADS), self._cells()), *map(note, NOTES))


def shown_points(share: float | None) -> str:
    """In percentage points; nobody can be more than 100 off."""
    return "–" if share is None else points(min(share, 1.0))


def shown_limit(share: float | None) -> str:
    """The same of an upper limit, rounded up; one of 100 points says nothing."""
    if share is None:
        return "–"
    return TOO_FEW if share >= VAIN else points(share, up=True)
