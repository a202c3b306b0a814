"""The report of a replayed log: forecasts before and after, with what was guaranteed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fullswap.base.amounts import counted
from fullswap.checking import page_parts as parts
from fullswap.checking.export import dumped
from fullswap.checking.page import MOST_SEGMENTS, filled, machine_text
from fullswap.checking.page_forecast_figures import Both, pictures_of, sides_of
from fullswap.checking.page_forecast_groups import groups_of
from fullswap.checking.page_forecast_promise import promise_of
from fullswap.checking.page_forecast_words import change_of, numbers_of
from fullswap.checking.page_parts_svg import Palette

if TYPE_CHECKING:
    from fullswap.certificates import Certificate
    from fullswap.report.history import History

MOST_ALARMS = 50
"""Alarms that are listed, the latest ones; the rest are counted."""


def page_of_forecast(
    before: Any,
    after: Any,
    *,
    certificates: Sequence[tuple[str, Certificate]] = (),
    history: History | None = None,
    alarms: Sequence[Any] = (),
    notes: Sequence[str] = (),
    rows: int | None = None,
    pending: int = 0,
    skipped: int = 0,
    groups: Any = None,
    title: str | None = None,
) -> str:
    """A whole HTML page about forecasts that were replayed, without scripts or requests.

    Parameters
    ----------
    before, after
        `Check` of the model's own probabilities, None if there was no model, and of the issued
        forecasts of the same rows.
    certificates
        Name of a stream and its certificate; one with any name if there is one stream.
    history
        The error over time, of all streams together.
    alarms
        What rang: an `Alarm`, a key and its `Alarm`, or words.
    notes
        What was noticed on the way in, beside the notes of `after`.
    rows, pending, skipped
        Rows of the log, of which some have no outcome yet or could not be read.
    groups
        `GroupChanges`: every group before and after, worst first.
    title
        Heading of the page, by default "Forecasts, before and after".
    """
    palette = Palette()
    both = Both(before, after)
    promise = promise_of(certificates, history)
    shown = after.segments[:MOST_SEGMENTS]
    failed = parts.failed_certainties(after)
    return filled(
        "forecast.html",
        palette,
        title=title or ("Forecasts" if before is None else "Forecasts, before and after"),
        before=before,
        after=after,
        change=change_of(before, after, groups),
        log=_log(after, rows, pending, skipped),
        sides=sides_of(both, palette),
        numbers=numbers_of(before, after),
        promise=promise,
        groups=None if groups is None else groups_of(groups, palette),
        pictures=pictures_of(both, promise.level, history, palette),
        alarms=[alarm_words(alarm) for alarm in alarms[-MOST_ALARMS:]],
        alarms_left=max(len(alarms) - MOST_ALARMS, 0),
        segments=shown,
        segments_left=len(after.segments) - len(shown),
        facts=_facts(after, rows, pending, skipped),
        settings=parts.settings_of(after),
        notes=_notes([*([failed] if failed else []), *notes, *after.notes]),
        data=machine_text(_data(before, after, certificates)),
    )


def fragment_of_forecast(
    before: Any,
    after: Any,
    *,
    certificates: Sequence[tuple[str, Certificate]] = (),
    history: History | None = None,
    alarms: Sequence[Any] = (),
    notes: Sequence[str] = (),
    rows: int | None = None,
    pending: int = 0,
    skipped: int = 0,
    groups: Any = None,
    title: str | None = None,
) -> str:
    """A card for notebooks: what changed, what is guaranteed, and reliability before and after.

    Parameters are those of `page_of_forecast`; of alarms there is the last.
    """
    palette = Palette()
    return filled(
        "forecast_fragment.html",
        palette,
        title=title,
        change=change_of(before, after, groups),
        log=_log(after, rows, pending, skipped),
        promise=promise_of(certificates, history),
        sides=sides_of(Both(before, after), palette, "n"),
        alarm=alarm_words(alarms[-1]) if alarms else "",
        notes=_notes(notes),
    )


def alarm_words(alarm: Any) -> str:
    """An alarm as a sentence, with its key if it has one."""
    if isinstance(alarm, tuple):
        key, rang = alarm
        return f"{key}: {rang}"
    return str(alarm)


def _log(after: Any, rows: int | None, pending: int, skipped: int) -> str:
    """How much of the log was used."""
    read = after.rows if rows is None else rows
    said = [counted(read, "row"), f"{after.rows:,} with an outcome"]
    if pending:
        said.append(f"{pending:,} pending")
    if skipped:
        said.append(f"{skipped:,} skipped")
    return ", ".join(said)


def _facts(after: Any, rows: int | None, pending: int, skipped: int) -> list[tuple[str, str]]:
    own = dict(parts.facts_of(after))
    own["Rows without an outcome yet"] = f"{pending:,}"
    read = {} if rows is None else {"Rows of the log": f"{rows:,}"}
    return [*(read | own).items(), ("Rows that could not be read", f"{skipped:,}")]


def _notes(notes: Sequence[str]) -> list[str]:
    """Each note once."""
    return list(dict.fromkeys(notes))


def _data(before: Any, after: Any, certificates: Sequence[tuple[str, Certificate]]) -> str:
    """The numbers for machines."""
    checks = {name: check for name, check in (("before", before), ("after", after)) if check}
    told = {name: {"verdict": c.verdict, "metrics": c.metrics} for name, c in checks.items()}
    streams = [
        {
            "name": str(name), "rounds": c.rounds, "points": c.points,
            "points_noise": c.points_noise, "points_guaranteed": c.points_guaranteed,
            "holds": c.holds,
        }
        for name, c in certificates
    ]  # fmt: skip
    return dumped({**told, "certificates": streams}, None)
