"""A log read once, batch after batch, into all that a check is made from."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullswap.base.protocols import Indices, Vector
from fullswap.checking.evidence import Evidence, EvidenceRun, averaged, renumbered
from fullswap.checking.segments import GROUP, SegmentColumn
from fullswap.checking.settings import Settings
from fullswap.inputs.memberships import Memberships
from fullswap.metrics.cell_tally import CellTally
from fullswap.metrics.cells import Cells
from fullswap.metrics.windows import Windows, WindowTally

MOST_ROWS = 2_000_000
"""Rows that are kept as they are; more are summed in narrow cells, and memory stays bounded."""
SEGMENT_WIDTH = 0.05
"""Width of such cells in a segment, in log-odds: there may be many segments."""
TAIL_ROWS = 50_000
"""The last rows, kept to try recalibration on."""


class Sums:
    """The events of one yes/no question, exact as long as there are not too many."""

    def __init__(self, most: int = MOST_ROWS, width: float | None = None) -> None:
        self._most, self._width = most, width
        self._parts: list[tuple[Any, ...]] = []
        self._rows = 0
        self._tally: CellTally | None = None

    def add(self, y: Vector, p: Vector, weight: Vector | None, event: Indices | None) -> None:
        """Add rows in order; an event has all its rows in one call."""
        self._rows += len(y)
        if self._tally is None and self._rows > self._most:
            self._tally = CellTally() if self._width is None else CellTally(self._width)
            for part in self._parts:
                self._tally.add(*part[:3])
            self._parts = []
        if self._tally is not None:
            self._tally.add(y, p, weight)
        else:
            self._parts.append((y, p, weight, event))

    def cells(self) -> Cells:
        """All events so far."""
        if self._tally is not None:
            return self._tally.cells()
        if len(self._parts) == 1:
            return Cells.of_events(*self._parts[0])
        columns: Any = zip(*self._parts, strict=True)
        joined: list[Any] = [None if c[0] is None else np.concatenate(c) for c in columns]
        return Cells.of_events(*joined)


class Questions:
    """The yes/no questions of a log: one, or one for each class and one for the likeliest."""

    def __init__(self, classes: int, most: int = MOST_ROWS, width: float | None = None) -> None:
        self.classes = classes
        count = 1 if classes == 2 else classes + 1
        self._sums = [Sums(max(most // count, 1), width) for _ in range(count)]

    def add(self, y: Vector, p: Any, weight: Vector | None, event: Indices | None) -> None:
        """Add rows: outcomes 0 or 1 with p (n,), or classes with p (n, K)."""
        if self.classes == 2:
            self._sums[0].add(y, p, weight, event)
            return
        for k in range(self.classes):
            column = np.ascontiguousarray(p[:, k])
            self._sums[k].add((y == k).astype(float), column, weight, event)
        top = p.argmax(axis=1)
        likeliest = p[np.arange(len(p)), top]
        self._sums[-1].add((y == top).astype(float), likeliest, weight, event)

    def cells(self) -> list[Cells]:
        """Of yes/no events alone; or of every class, then of the likeliest."""
        return [sums.cells() for sums in self._sums]


class Gathered:
    """Everything that was read of a log."""

    def __init__(self, classes: int, settings: Settings, columns: list[SegmentColumn]) -> None:
        self.classes, self.settings, self.columns = classes, settings, list(columns)
        self.rows = 0
        self._questions = Questions(classes)
        self._windows = WindowTally()
        self._evidence = _Lanes(classes, settings)
        self._by = [_Segments(classes, settings) for _ in columns]
        self._tail: list[tuple[Any, ...]] = []
        self._largest: float | None = None

    def add(
        self, y: Vector, p: Any, weight: Vector | None = None, event: Indices | None = None,
        by: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        """Add rows in the order of time; an event has all its rows in one call."""
        self.rows += len(y)
        self._questions.add(y, p, weight, event)
        if self.classes == 2:
            self._windows.add(y, p, weight)
        else:
            top = p.argmax(axis=1)
            self._windows.add((y == top).astype(float), p[np.arange(len(p)), top], weight)
        power = self._power(weight)
        self._evidence.add(y, self._doubtful(p), power, event, None)
        for column, segments in zip(self.columns, self._by, strict=True):
            codes = column.codes((by or {})[column.name])
            segments.add(codes, len(column.labels), y, p, weight, power, event)
        self._tail.append((y, p, weight, event))
        while sum(len(part[0]) for part in self._tail[1:]) >= TAIL_ROWS:
            self._tail.pop(0)

    def add_groups(
        self, groups: Memberships, y: Vector, p: Any, weight: Vector | None = None,
        event: Indices | None = None,
    ) -> None:  # fmt: skip
        """Groups of all rows, which may overlap: once, after all rows have been added."""
        rows = groups.events
        power = self._power(weight)

        def taken(values: Any) -> Any:
            return None if values is None else values[rows]

        segments = _Segments(self.classes, self.settings)
        segments.add(
            groups.members, len(groups.names), taken(y), taken(p), taken(weight), taken(power),
            taken(event), rows,
        )  # fmt: skip
        names = [str(name) for name in groups.names]
        self.columns.append(SegmentColumn(GROUP, names, overlapping=True))
        self._by.append(segments)

    def _doubtful(self, p: Any) -> Any:
        """Forecasts as the evidence takes them: see ``Settings.least``."""
        least = self.settings.least
        if not least:
            return p
        kept = np.clip(p, least, 1.0 - least)
        return kept if kept.ndim == 1 else kept / kept.sum(axis=1, keepdims=True)

    def _power(self, weight: Vector | None) -> Vector | None:
        """Weights as powers of likelihood ratios: at most 1, by a rule fixed before outcomes."""
        if weight is None:
            return None
        if self._largest is None:
            if not weight.any():
                raise ValueError(
                    "sample_weight must be positive for a known outcome, got 0 for all"
                )
            self._largest = float(weight.max())
        return np.minimum(weight / self._largest, 1.0)

    def cells(self) -> list[Cells]:
        """See `Questions.cells`."""
        return self._questions.cells()

    def windows(self, inflation: float) -> Windows:
        """Error over time; of the likeliest class, if there are several."""
        return self._windows.windows(inflation=inflation)

    def evidence(self) -> Evidence:
        """Of the whole log."""
        return self._evidence.result()[0]

    @property
    def largest_weight(self) -> float:
        """The weight that counts as 1 for evidence."""
        return 1.0 if self._largest is None else self._largest

    def segments(self) -> list[list[tuple[str, list[Cells], Evidence]]]:
        """For every column: value, cells and evidence of each of its segments with events."""
        return [
            [
                (column.labels[k], part.questions[k].cells(), evidence)
                for k, evidence in enumerate(part.result())
                if evidence.events
            ]
            for column, part in zip(self.columns, self._by, strict=True)
        ]

    def tail(self) -> tuple[Vector, Any, Vector | None, Indices | None]:
        """The last rows: outcomes, forecasts, weights, events."""
        columns = zip(*self._tail, strict=True)
        y, p, weight, event = (
            None if column[0] is None else np.concatenate(column)[-TAIL_ROWS:] for column in columns
        )
        return y, p, weight, event  # type: ignore[return-value]


class _Lanes:
    """Evidence of streams; where outcomes are late, rows go to lanes in which they are not.

    A forecast that was made before the outcomes of the last d rows were known is in a lane with
    each (d + 1)-th row only.
    """

    def __init__(self, classes: int, settings: Settings, checkpoints: int = 300) -> None:
        self._lanes = settings.delay + 1
        self._run = EvidenceRun(classes=classes, step=settings.step, checkpoints=checkpoints)
        self._rows = 0

    def add(
        self, y: Vector, p: Any, power: Vector | None, event: Indices | None,
        codes: Indices | None, rows: Indices | None = None,
    ) -> None:  # fmt: skip
        """Add rows; ``rows`` are their numbers in the log where some come more than once."""
        if self._lanes > 1:
            lane = (self._rows + np.arange(len(y)) if rows is None else rows) % self._lanes
            codes = lane if codes is None else codes * self._lanes + lane
        self._rows += len(y)
        self._run.add(y, p, weight=power, event=event, stream=codes)

    def result(self) -> list[Evidence]:
        found = self._run.result()
        if self._lanes == 1:
            return found
        groups = range(0, len(found), self._lanes)
        return [averaged(found[k : k + self._lanes]) for k in groups]


class _Segments:
    """The segments of one column."""

    def __init__(self, classes: int, settings: Settings) -> None:
        self.classes = classes
        self.questions: list[Questions] = []
        self._evidence = _Lanes(classes, settings, checkpoints=2)
        self._numbers: Indices | None = None

    def result(self) -> list[Evidence]:
        """Evidence of every segment."""
        found = self._evidence.result()
        numbers = self._numbers
        return found if numbers is None else [renumbered(one, numbers) for one in found]

    def add(
        self, codes: Indices, count: int, y: Vector, p: Any, weight: Vector | None,
        power: Vector | None, event: Indices | None, rows: Indices | None = None,
    ) -> None:  # fmt: skip
        """Add rows; ``rows``, their numbers in the log, where some come more than once."""
        self._numbers = rows
        while len(self.questions) < count:
            most = MOST_ROWS // 10
            self.questions.append(Questions(self.classes, most, SEGMENT_WIDTH))
        self._evidence.add(y, p, power, event, codes, rows)
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], np.arange(count + 1))
        for k in range(count):
            chosen = order[ends[k] : ends[k + 1]]
            if len(chosen):
                own = (None if v is None else v[chosen] for v in (y, p, weight, event))
                self.questions[k].add(*own)  # type: ignore[arg-type]
