"""The pictures of a check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullswap.base import checks
from fullswap.checking.verdict import LITTLE, MISCALIBRATED
from fullswap.checking.words import began_late
from fullswap.report.classes import MOST

if TYPE_CHECKING:
    from fullswap.checking.answer import Check

KINDS = ("reliability", "evidence", "windows", "segments", "benefit", "classes")


def picture_of(c: Check, kind: str, ax: Any = None) -> Any:
    """One of `KINDS`, as a matplotlib figure."""
    checks.one_of("kind", kind, KINDS)
    if kind == "reliability":
        from fullswap.report.reliability import draw_reliability

        return draw_reliability(c.curve, c.bins, c.cells, ax=ax)
    if kind == "evidence":
        from fullswap.report.evidence import draw_evidence

        e, threshold = c.evidence, c.settings["threshold"]
        labels = None if c.times is None else [c.time_of(int(row)) or "" for row in e.positions]
        off = c.verdict in (MISCALIBRATED, LITTLE)
        since = e.since if off and began_late(c) else None
        return draw_evidence(
            e.positions, e.history, threshold=threshold, since=since, labels=labels,
            unit=unit_of(c), ax=ax,
        )  # fmt: skip
    if kind == "windows":
        from fullswap.report.windows import draw_windows

        return draw_windows(
            c.windows, labels=c.time_labels, tolerance=c.tolerance, unit=unit_of(c), ax=ax
        )
    if kind == "segments":
        from fullswap.report.segments import draw_segments

        if not c.segments:
            checks.refuse("kind", "be another: this check has no segments (by=…)", kind)
        return draw_segments(c.segments, ax=ax)
    if kind == "benefit":
        from fullswap.report.benefit import draw_benefit

        shown = both_cells(c)
        happened = None if c.classes == 2 else "the likeliest class was right"
        return draw_benefit(shown["forecasts"], shown.get("recalibrated"), happened=happened, ax=ax)
    from fullswap.report.classes import draw_classes

    if not c.by_class or c.top is None:
        checks.refuse("kind", "be another: this check has two classes", kind)
    return draw_classes(class_parts(c))


def class_parts(c: Check) -> list[tuple[str, Any, Any, Any]]:
    """Label, curve, bins and cells of every class and of the likeliest, the worst first.

    Those that no picture has room for have no curve: it would be work for nothing.
    """
    parts = [*c.by_class, *([] if c.top is None else [c.top])]
    ranked = sorted(parts, key=lambda part: -part.error)
    return [
        (str(part.label), part.curve if k < MOST else None, part.bins, part.cells)
        for k, part in enumerate(ranked)
    ]


def model_parts(
    checks: dict[str, Check], most: int = MOST
) -> tuple[list[tuple[str, Any, Any, Any]], int]:
    """Name, curve, bins and cells of the first models, and how many more there are."""
    shown = list(checks.items())[:most]
    parts = [(name, check.curve, check.bins, check.cells) for name, check in shown]
    return parts, len(checks) - len(shown)


def unit_of(c: Check) -> str:
    """What places in pictures count: rows, where several share an event."""
    return "events" if c.events == c.rows else "rows"


def both_cells(c: Check) -> dict[str, Any]:
    """The forecasts, and the recalibrated ones of the same events if there are."""
    r = c.recalibrated
    if r is None or r.before is None or r.after is None:
        return {"forecasts": c.cells}
    return {"forecasts": r.before, "recalibrated": r.after}
