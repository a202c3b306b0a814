"""`check`: from a log to its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fullswap.base import checks
from fullswap.base.amounts import percent, points
from fullswap.base.protocols import Indices, Vector
from fullswap.certificates import EVERYBODY
from fullswap.checking.answer import Check
from fullswap.checking.comparison import Comparison
from fullswap.checking.evidence import e_bh
from fullswap.checking.gather import Gathered
from fullswap.checking.group_words import one_sided
from fullswap.checking.recalibrated import recalibrated_of
from fullswap.checking.segments import MOST_SEGMENTS, Segment, SegmentColumn
from fullswap.checking.settings import Settings
from fullswap.checking.sizes import (
    FEW_CLASSES,
    FEW_DRAWS,
    metrics_of,
    part_of,
    pooled,
    seen_of,
    total_brier,
)
from fullswap.checking.verdict import size_of, verdict_of
from fullswap.grids.steps import steps_of
from fullswap.inputs import Log, log_of
from fullswap.inputs.frames import columns_of, pick
from fullswap.inputs.given import is_names
from fullswap.inputs.memberships import Memberships, memberships_of
from fullswap.metrics.cells import Cells
from fullswap.metrics.corp import decompose


def check(
    y_true: Any,
    y_proba: Any = None,
    *,
    y: Any = None,
    p: Any = None,
    by: Any = None,
    groups: Any = None,
    time: Any = None,
    event: Any = None,
    together: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    labels: Any = None,
    classes: Any = None,
    due: Any = None,
    as_of: Any = None,
    delay: int = 0,
    n_bins: int | str = "cube_root",
    strategy: str = "quantile",
    tolerance: float = 0.02,
    level: float = 0.05,
    step: float | str | None = None,
    band: str = "pointwise",
    recalibrate: bool = True,
    seed: int = 0,
) -> Check | Comparison:
    """Is this forecaster calibrated? How far off, which way, at what cost, and how sure.

    Outcomes come first, then probabilities, as in scikit-learn: ``check(y, p)``; or a frame of
    pandas, polars or Arrow and the names of its columns: ``check(frame, y="won", p="prob")``. Where
    neither is named they are guessed if it is obvious, and the notes say so.

    Parameters
    ----------
    y_true, y_proba
        Outcomes and probabilities. Outcomes may be 0/1, booleans, yes/no, or classes; missing
        ones are pending and left out. Probabilities have shape (n,), (n, 2) or (n, K); 0 to 100 is
        read as percent.
    y, p, classes
        Names of the columns if the first argument is a frame. Several ``p`` are rival models, which
        are compared; ``classes`` names the probabilities of all classes.
    by
        Column or columns that cut the log into segments; arrays by name in a dict if there is no
        frame. Numbers are cut at quantiles.
    groups
        Groups that may overlap, each a segment of its own: a sequence of names for each row, or one
        name; a frame or dict of columns, whose rows belong to ``"column=value"`` for each; a table
        of 0 and 1, shape (n, G), an array or a sparse matrix; or names of columns of the frame.
    time
        When each forecast was made: rows are read in that order. Without it, in the given order.
    event
        Names of events, if several forecasts share one outcome (a game minute by minute).
    together
        What makes rows hang together without sharing an outcome: one day, one storm. Rows of a
        group count as one.
    sample_weight
        Weights of the rows, fixed before the outcomes.
    pos_label, labels
        Which outcome is "yes"; names of the classes in the order of their probabilities.
    due, as_of
        When each outcome is due at the latest: rows not yet due at ``as_of`` are left out, because
        "yes" often becomes known earlier than "no".
    delay
        So many rows later an outcome is known: 5 for the chance of rain in six days, asked daily.
        Forecasts whose times overlap are then not taken for independent ones; evidence needs more
        rows, and counts as of now only.
    n_bins, strategy
        Bins of the average error, as in scikit-learn.
    tolerance
        Average error that does not matter, as a share: 0.02 is 2 percentage points.
    level
        Calibrated forecasters that may be called miscalibrated, however often one looks.
    step
        0.05 or "5%" if probabilities are rounded so: then they may be off by half a step.
    band
        "pointwise" or "simultaneous".
    recalibrate
        Whether to try what recalibrating online would have given.
    seed
        Of the records drawn for the chance level.

    Returns
    -------
    Check
        ``print`` it; ``.verdict``, ``.metrics``, ``.plot()``, ``.report("report.html")``.
        A `Comparison` of checks if there are rival models.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> chance = rng.random(10_000)
    >>> happened = rng.random(10_000) < chance
    >>> bold = np.clip(1.6 * (chance - 0.5) + 0.5, 0.01, 0.99)   # too sure of itself
    >>> check(happened, bold).verdict
    'miscalibrated'
    >>> check(happened, chance).verdict
    'no evidence of miscalibration'
    """
    settings = Settings(
        n_bins=n_bins, strategy=strategy, tolerance=tolerance, level=level, step=as_step(step),
        delay=delay, band=band, recalibrate=bool(recalibrate), seed=seed,
    )  # fmt: skip
    log = log_of(
        y_true, y_proba, y=y, p=p, by=by, time=time, event=event, together=together,
        sample_weight=sample_weight, pos_label=pos_label, labels=labels, classes=classes,
        due=due, as_of=as_of, guess=True,
    )  # fmt: skip
    return check_log(log, settings, groups_of(groups, y_true, log.rows))


def groups_of(groups: Any, source: Any, rows: int) -> Memberships | None:
    """Groups of the given rows; names are those of columns, if rows come from a frame."""
    if groups is None:
        return None
    columns = columns_of(source)
    names = [groups] if isinstance(groups, str) else groups
    # as many names as rows, none of them a column: one group for each row
    if columns is not None and is_names(names) and (len(names) != rows or names[0] in columns):
        groups = {str(name): pick(columns, "groups", name) for name in names}
    found = memberships_of(groups, rows)
    if len(found.names) > MOST_SEGMENTS:
        _refuse_many(found.names, groups)
    return found


def _refuse_many(names: Sequence[Any], groups: Any) -> NoReturn:
    """Say which column has most values, where columns were given."""
    rule = f"groups must name at most {MOST_SEGMENTS:,} groups"
    if not isinstance(groups, dict):
        raise ValueError(f"{rule}, got {len(names):,}")
    sizes = {c: sum(str(name).startswith(f"{c}=") for name in names) for c in groups}
    most = max(sizes, key=lambda column: sizes[column])
    raise ValueError(
        f"{rule}, got {sizes[most]:,} in {most}: cut numbers into bands, or give by='{most}', "
        "which cuts them"
    )


def check_log(
    log: Log, settings: Settings, groups: Memberships | None = None
) -> Check | Comparison:
    """Check a log that has been read; ``groups`` are those of all rows that were given."""
    if not log.models:
        return _check_one(log, settings, groups)
    notes, made, blank = list(log.notes), {}, []
    for name, p in log.models.items():
        if np.isnan(p[~np.isnan(log.y)]).all():
            blank.append(name)
            continue
        own = replace(log, models={}, p=p, names={**log.names, "p": name})
        made[name] = _check_one(own, settings, groups)
    if not made:
        raise ValueError("p must name a model with forecasts of known outcomes, got none")
    if blank:
        notes.append(f"no forecast beside a known outcome, left out: {', '.join(blank)}")
    return Comparison(made, notes)


def _check_one(log: Log, settings: Settings, groups: Memberships | None = None) -> Check:
    p: Any = log.p
    known = known_rows(log)
    if not known.any():
        raise ValueError("y_true must hold an outcome beside a probability, got none")
    classes = 2 if p.ndim == 1 else p.shape[1]
    columns = [SegmentColumn(name) for name in log.by]
    gathered = Gathered(classes, settings, columns)

    def own(values: Any) -> Any:
        return None if values is None else np.asarray(values)[known]

    by = {name: own(values) for name, values in log.by.items()}
    if settings.delay and log.event is not None:
        checks.refuse("delay", "be 0 where event or together is given", settings.delay)
    rows = own(log.y), own(p), own(log.weight), own(log.event)
    gathered.add(*rows, by)
    if groups is not None:
        groups = groups.taken(log.order[known])
        gathered.add_groups(groups, *rows)
        if classes == 2:
            log = replace(log, notes=[*log.notes, *_one_sided(groups, rows[0], rows[3])])
    return finish(gathered, log, own(log.time), int((~known).sum()), log.order[known])


def _one_sided(groups: Memberships, y: Vector, event: Indices | None) -> list[str]:
    """Notes about groups that the outcome alone may have made."""
    members, many, rows = groups.members, len(groups.names), groups.events
    codes = np.arange(len(y)) if event is None else np.unique(event, return_inverse=True)[1]
    count = int(codes.max(initial=-1)) + 1
    pairs = np.unique(members * count + codes[rows])
    events = np.bincount(pairs // count, minlength=many)
    weight = 1.0 / np.bincount(codes)[codes]  # every event counts once
    shares = [float(weight @ y) / count]
    held = np.bincount(members, weight[rows], many)
    happened = np.bincount(members, (weight * y)[rows], many)
    shares += (happened / np.where(held > 0, held, 1.0)).tolist()
    return one_sided([EVERYBODY, *groups.names], [count, *events.tolist()], shares)


def known_rows(log: Log) -> NDArray[np.bool_]:
    """Rows with an outcome and a forecast."""
    p: Any = log.p
    return np.asarray(~np.isnan(log.y) & ~np.isnan(p if p.ndim == 1 else p[:, 0]))


def finish(
    gathered: Gathered, log: Log, times: Any, pending: int, given: Indices | None = None
) -> Check:
    """The answer to everything that was gathered."""
    settings, classes = gathered.settings, gathered.classes
    labels = [str(label) for label in log.labels]
    cells = gathered.cells()
    draws = None if classes <= FEW_CLASSES else FEW_DRAWS
    parts = [
        part_of(label, own, settings, draws)
        for label, own in zip(_names(labels, classes), cells, strict=True)
    ]
    main, top = parts[0], None
    error, chance = main.error, main.chance
    if classes > 2:
        *parts, top = parts
        main = top
        error, chance = pooled([(part.error, part.chance) for part in parts])
    evidence, windows = gathered.evidence(), gathered.windows(main.cells.inflation)
    asked = [main] if classes == 2 else parts
    seen = seen_of(asked, chance, settings, gathered.largest_weight)
    size = size_of(error, chance, windows, classes)
    recalibrated = recalibrated_of(gathered, log.same_outcome) if settings.recalibrate else None
    brier = total_brier([main] if classes == 2 else parts)
    log_loss = decompose(main.cells, "log") if classes == 2 else None
    segments = _segments(gathered)
    notes = [*log.notes, *_rare(main.cells, settings)]
    made = Check(
        verdict=verdict_of(evidence, size, seen, settings), classes=classes, labels=labels,
        rows=gathered.rows, events=evidence.events, pending=pending, error=error, chance=chance,
        error_over_time=windows.beyond_chance, smallest_seen=seen, cells=main.cells,
        bins=main.bins, curve=main.curve, cox=main.cox, brier=brier, log_loss=log_loss,
        recalibrated=recalibrated, evidence=evidence, windows=windows, segments=segments,
        by_class=parts if classes > 2 else [], top=top, metrics={},
        settings={
            **settings.to_dict(), "threshold": settings.threshold,
            "counted": "events" if log.same_outcome else "groups of rows",
        },
        names=dict(log.names), notes=notes, times=times, given=given,
    )  # fmt: skip
    return replace(made, metrics=metrics_of(made))


def _rare(cells: Cells, settings: Settings) -> list[str]:
    """A tolerance that is as large as the rate itself excuses everything."""
    rate = float(cells.yes.sum()) / cells.total
    least = min(rate, 1 - rate)
    if not 0 < least < 2 * settings.tolerance:
        return []
    said = f"{percent(least)} of the outcomes are {'yes' if rate < 0.5 else 'no'}"
    return [
        f"{said}: a tolerance of {points(settings.tolerance)} is large beside that; give a "
        "smaller tolerance"
    ]


def _names(labels: list[str], classes: int) -> list[str]:
    return [labels[-1] if labels else "yes"] if classes == 2 else [*labels, "the likeliest class"]


def as_step(step: Any) -> float | None:
    """A step as a share: 0.05, "5%"; None if there is none."""
    return None if step is None else 1.0 / steps_of(step)


def _segments(gathered: Gathered) -> list[Segment]:
    """All segments of all columns, the worst first."""
    found: list[Segment] = []
    settings = gathered.settings
    for column, segments in zip(gathered.columns, gathered.segments(), strict=True):
        costs, made = [], []
        for value, cells, evidence in segments:
            own = cells if gathered.classes == 2 else cells[:-1]
            parts = [part_of("", one, settings, FEW_DRAWS) for one in own]
            error, chance = parts[0].error, parts[0].chance
            if gathered.classes > 2:
                error, chance = pooled([(part.error, part.chance) for part in parts])
            costs.append(sum(decompose(one).miscalibration * one.total for one in own))
            made.append(Segment(
                column.name, value, evidence.events, error, chance, evidence, False,
                size_of(error, chance, None, gathered.classes) <= settings.tolerance,
                seen_of(parts, chance, settings, gathered.largest_weight), None,
            ))  # fmt: skip
        total = 0.0 if column.overlapping else sum(costs)
        found += [
            replace(segment, share_of_miscalibration=cost / total if total > 0 else None)
            for segment, cost in zip(made, costs, strict=True)
        ]
    # evidence as it is now: the largest ever is not an e-value
    flags = e_bh(np.array([s.evidence.log10 for s in found]), settings.level)
    flagged = [replace(s, flagged=bool(f) or len(s.evidence.impossible) > 0)
               for s, f in zip(found, flags, strict=True)]  # fmt: skip
    return sorted(flagged, key=lambda s: -s.beyond)
