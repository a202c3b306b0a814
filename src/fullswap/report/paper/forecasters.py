"""Ours beside the usual recalibrators: calibration error, Brier score, time per event."""

from __future__ import annotations

import math
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from fullswap.experiments.fits import SMALLEST
from fullswap.experiments.forecasters import AS_ONE_RUN
from fullswap.experiments.recalibrators import REFIT_EVERY
from fullswap.report.paper.section import Block, Paragraph, Picture, Section, Table
from fullswap.report.style import (
    BLUE,
    INK,
    LINE,
    SMALL,
    figures,
    new_figure,
    plain_numbers,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAMES = {
    "raw model": "model itself",
    "Platt, frozen": "Platt, frozen",
    "isotonic, frozen": "isotonic, frozen",
    f"isotonic, refitted every {REFIT_EVERY}": "isotonic, refitted",
    "Platt, online gradient": "Platt, gradient",
    "Platt, online Newton": "Platt, Newton",
    "fullswap, mean": "ours, mean",
    "fullswap, issued": "ours, issued",
}
"""Contender ↦ a shorter name, in the order of tables and pictures."""
_ISSUED, _MEAN, _ONE_RUN = "fullswap, issued", "fullswap, mean", f"fullswap, {AS_ONE_RUN}"
_STATIONARY = ("calibrated", "overconfident")
_CHANGING = ("drifting", "flipped half-way")
_ADVERSARIAL = "adversarial"
_AT_MOST = 2.0
"""Times what chance alone would show: up to here a contender counts as calibrated."""
_PANELS = 5
"""Streams in a picture."""
_SOURCES = (
    "Recorded streams are public logs: baseball and soccer forecasts by FiveThirtyEight (CC BY "
    "4.0), forecasts of solar flares by four services (doi 10.7910/DVN/HYP74O, CC0), and rain "
    "forecasts for Seattle (github.com/leandergo/forecast_tracker, MIT). In the rain logs forecast "
    "and recorded event are probably defined differently: these rows show a correction and say "
    "nothing of the forecaster’s quality. Where a log has a few hundred events, chance dominates."
)
_ALIKE = 0.02
"""Share by which numbers may differ and still count as alike."""
_BRIER_WIDTH = 0.16
"""Of all axes of Brier scores, so that differences can be compared."""


def section(summary: dict[str, Any], command: str) -> Section:
    """What was measured of recalibrators."""
    streams, grid = summary["streams"], summary["grid"]
    made = [stream for stream in streams if not stream["recorded"]]
    recorded = [stream for stream in streams if stream["recorded"]]
    blocks: list[Block] = [
        Paragraph(
            f"A model states probabilities, outcomes follow, and a recalibrator corrects the next "
            f"probability from what it has seen. All contenders meet the same events one by one; "
            f"forecasts are scored after the first {_percent(summary['warm_up'])}, on which the "
            f"frozen ones are fitted. The calibration error per event is Σ n_p·(p − ȳ_p)²/T over "
            f"forecasts rounded to multiples of {_percent(1 / grid)}. This is the grid on which "
            f"ours issues forecasts; the others are rounded to it for the score. A calibrated "
            f"forecaster would itself show some error by chance, the noise; up to {_AT_MOST:g} "
            f"times as much counts as calibrated here. {_seeds(made)}".strip()
        ),
        *_pictures(made, "forecasters"),
        Paragraph(" ".join(_calibrated(stream) for stream in streams)),
        Paragraph(_compared(made)),
        *_guaranteed(made, recorded, summary["warm_up"]),
        _table(streams, "calibration", "Calibration error per event, × 10⁴", 1e4),
        _table(streams, "brier", "Brier score (mean squared error of the probabilities)", 1.0),
        *([Paragraph(_SOURCES)] if recorded else []),
        *_pictures(recorded, "forecasters-recorded"),
        Picture(
            "forecasters-time",
            "CPU time per event, from a loop in Python over single events; “one run” is ours over "
            "whole arrays. Medians over the streams.",
            lambda: _time_picture(streams),
        ),
        Paragraph(_about_time(streams)),
    ]
    return Section("Recalibration: ours beside the usual methods", command, tuple(blocks))


def _pictures(streams: list[dict[str, Any]], name: str) -> list[Block]:
    """A picture for every few streams."""
    found: list[Block] = []
    for start in range(0, len(streams), _PANELS):
        shown = streams[start : start + _PANELS]
        number = start // _PANELS
        found.append(
            Picture(
                name if not number else f"{name}-{number + 1}",
                "Root of the calibration error per event (above; shaded: what chance alone would "
                "show on average) and Brier score (below; axes begin at the best and are "
                "equally wide, arrows point to scores beyond) of every contender. Left is better. "
                f"Streams: {'; '.join(stream['stream'] for stream in shown)}.",
                partial(_scores_picture, shown),
            )
        )
    return found


def _seeds(made: list[dict[str, Any]]) -> str:
    if not made:
        return ""
    seeds, events = made[0]["seeds"], made[0]["events"]
    draws = "one draw" if seeds == 1 else f"means over {seeds} draws"
    return f"Made streams have {events:,} events; numbers are {draws} of them."


def _calibrated(stream: dict[str, Any]) -> str:
    """Who is calibrated on a stream."""
    scores = _by_name(stream)
    good = [_NAMES[name] for name, score in scores.items() if _is_calibrated(score)]
    within = f"within {_AT_MOST:g} times the noise"
    if len(good) == len(scores):
        told = f"all are {within}"
    elif not good:
        told = f"none is {within}"
    elif len(good) > len(scores) / 2:
        rest = [_NAMES[name] for name in scores if _NAMES[name] not in good]
        told = f"all are {within} except {_listed(rest)}"
    else:
        told = f"{within}: {_listed(good)}"
    name = stream["stream"]
    return f"**{name[:1].upper()}{name[1:]}** – {told}."


def _is_calibrated(score: dict[str, Any]) -> bool:
    return bool(score["calibration"] <= _AT_MOST * score["noise"])


def _compared(made: list[dict[str, Any]]) -> str:
    """Ours against the best of the others, by the kind of stream."""
    by_stream = {stream["stream"]: _by_name(stream) for stream in made}
    said = []
    for kind, names in (("stationary", _STATIONARY), ("changing", _CHANGING)):
        for name in names:
            scores = by_stream.get(name, {})
            if _ISSUED in scores and len(scores) > 2:
                said.append(f"On the {kind} stream “{name}” {_against(scores)}.")
    scores = by_stream.get(_ADVERSARIAL, {})
    if _ISSUED in scores:
        issued = scores[_ISSUED]
        others = [score["calibration"] for key, score in scores.items() if key != _ISSUED]
        ratio = min(others) / max(issued["calibration"], SMALLEST)
        more = issued["calibration"] / max(issued["noise"], SMALLEST)
        if ratio >= 10:
            said.append(
                f"The adversary sees the mean of a forecast before it chooses the outcome, but not "
                f"the draw. Only forecasts that are drawn can resist it: the error of ours is "
                f"{figures(ratio)} times smaller than that of the best of all others, our own mean "
                f"among them, and {figures(more)} times what chance alone would show."
            )
        else:
            said.append(
                f"Against the adversary, who sees the mean of a forecast but not the draw, the "
                f"best of the others has {figures(ratio)} times the error of our draws."
            )
    return " ".join(said) or "There is nothing to compare with."


def _against(scores: dict[str, dict[str, Any]]) -> str:
    issued = scores[_ISSUED]
    others = {name: score for name, score in scores.items() if name not in (_ISSUED, _MEAN)}
    parts = []
    for key, noun in (("calibration", "calibration error"), ("brier", "Brier score")):
        best = min(others, key=lambda name: others[name][key])
        ratio = issued[key] / max(others[best][key], SMALLEST)
        if key == "calibration" and _is_calibrated(issued) and _is_calibrated(others[best]):
            parts.append(f"our draws and the best other ({_NAMES[best]}) are both calibrated")
            continue
        if abs(ratio - 1) <= _ALIKE:
            told = f"within {_percent(_ALIKE)} of"
        elif ratio < 1:
            told = f"{_percent(1 - ratio)} smaller than"
        elif ratio < 2:
            told = f"{_percent(ratio - 1)} larger than"
        else:
            told = f"{figures(ratio)} times"
        parts.append(f"the {noun} of our draws is {told} that of the best other ({_NAMES[best]})")
    return ", and ".join(parts)


def _guaranteed(
    made: list[dict[str, Any]], recorded: list[dict[str, Any]], warm_up: float
) -> list[Block]:
    """What ours guarantees, whatever happens; nothing where no row says it."""
    said = []
    for streams, kind in ((made, "made"), (recorded, "recorded")):
        issued = [_by_name(stream).get(_ISSUED, {}) for stream in streams]
        # rounded up: it is a bound
        bounds = [math.ceil(1e4 * score["guaranteed"]) for score in issued if "guaranteed" in score]
        if bounds:
            low, high = f"{min(bounds):,} × 10⁻⁴", f"{max(bounds):,} × 10⁻⁴"
            between = low if low == high else f"{low} to {high}"
            length = "" if low == high else ", by their length"
            said.append(f"at most {between} per event on {kind} streams{length}")
    if not said:
        return []
    text = (
        f"Guaranteed for ours, issued, on average over its draws and over the whole stream: "
        f"{'; '.join(said)}. That holds whatever happens, as long as outcomes do not depend on "
        f"the draw of their own event; they may depend on its distribution, as the adversary’s do, "
        f"and on all that was drawn before. The table has what was measured after the first "
        f"{_percent(warm_up)}."
    )
    return [Paragraph(text)]


def _about_time(streams: list[dict[str, Any]]) -> str:
    times = _times(streams)
    text = ""
    if _ISSUED in times:
        online = [times[name] for name in times if name.startswith("Platt, online")]
        text = f"Ours takes {figures(times[_ISSUED])} µs per event from Python"
        if online:
            text += f", online Platt scaling {figures(min(online))} to {figures(max(online))} µs"
        text += ". "
    if _ONE_RUN in times:
        text += f"Over whole arrays ours takes {figures(times[_ONE_RUN])} µs per event."
    return text.strip() or "No times were measured."


def _table(streams: list[dict[str, Any]], key: str, caption: str, unit: float) -> Table:
    met = {name for stream in streams for name in _by_name(stream)}
    names = [name for name in _NAMES if name in met]
    rows = []
    for stream in streams:
        scores = _by_name(stream)
        cells = [_cell(unit * scores[n][key], unit) if n in scores else "–" for n in names]
        if unit != 1.0:
            cells.append(_cell(unit * max(score["noise"] for score in scores.values()), unit))
        rows.append((stream["stream"], f"{stream['events']:,}", *cells))
    columns = ["stream", "events", *(_NAMES[name] for name in names)]
    if unit != 1.0:
        columns.append("noise at most")
    return Table(caption, tuple(columns), tuple(rows))


def _cell(value: float, unit: float) -> str:
    if unit == 1.0:
        return f"{value:.4f}"
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


def _scores_picture(streams: list[dict[str, Any]]) -> Figure:
    met = {name for stream in streams for name in _by_name(stream)}
    names = [name for name in _NAMES if name in met]
    figure = new_figure(1.75 * len(streams) + 1.5, 4.7, arranged=True)
    grid = figure.subplots(2, len(streams), sharey=True, squeeze=False)
    errors = [_root(s["calibration"]) for x in streams for s in _by_name(x).values()]
    ends = (min(0.5, 0.7 * min(errors)), max(120.0, 1.4 * max(errors)))
    for column, stream in enumerate(streams):
        scores = _by_name(stream)
        above, below = grid[:, column]
        above.set(xscale="log", xlim=ends)
        least = min(score["brier"] for score in scores.values())
        below.set_xlim(least - 0.1 * _BRIER_WIDTH, least + _BRIER_WIDTH)
        for place, name in enumerate(names):
            if name not in scores:
                continue
            # what chance would show depends on how many different forecasts were made
            above.barh(place, _root(scores[name]["noise"]), height=1.0, left=SMALLEST,
                       color="0.9", zorder=1.5)  # fmt: skip
            _dot(above, _root(scores[name]["calibration"]), place, name)
            _brier(below, scores[name]["brier"], place, name)
        above.set_title(stream["stream"], loc="left", fontsize=10, color=INK)
        plain_numbers(above.xaxis)
        for ax in (above, below):
            _rows(ax, names, column == 0)
    middle = len(streams) // 2
    grid[0, middle].set_xlabel("root of calibration error, percentage points", fontsize=9)
    grid[1, middle].set_xlabel("Brier score", fontsize=9)
    return figure


def _brier(ax: Axes, value: float, place: int, name: str) -> None:
    """A dot, or an arrow with the value where it lies beyond the axis."""
    end = ax.get_xlim()[1]
    if value <= end:
        _dot(ax, value, place, name)
        return
    ax.annotate(f"{value:.2f}", (end, place), (-26, 0), textcoords="offset points", va="center",
                ha="right", fontsize=SMALL, color=INK)  # fmt: skip
    arrow = {"arrowstyle": "-|>", "color": LINE, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (end, place), (-22, 0), textcoords="offset points", arrowprops=arrow)


def _time_picture(streams: list[dict[str, Any]]) -> Figure:
    times = _times(streams)
    names = [name for name in (*_NAMES, _ONE_RUN) if name in times and name != _MEAN]
    labels = {**_NAMES, _ISSUED: "ours", _ONE_RUN: "ours, one run"}
    figure = new_figure(5.2, 0.27 * len(names) + 0.8, arranged=True)
    ax = figure.subplots()
    ax.set_xscale("log")
    for place, name in enumerate(names):
        _dot(ax, times[name], place, name)
    _rows(ax, names, True, labels)
    ax.set_xlim(min(0.1, 0.7 * min(times.values())), max(100.0, 1.4 * max(times.values())))
    ax.set_xlabel("CPU microseconds per event", fontsize=9)
    plain_numbers(ax.xaxis)
    return figure


def _rows(ax: Axes, names: list[str], labelled: bool, labels: dict[str, str] | None = None) -> None:
    """Contenders as rows, from the top."""
    ax.set_yticks(range(len(names)), [(labels or _NAMES)[name] for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    tidy(ax)
    ax.tick_params(axis="y", length=0, labelleft=labelled)
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.spines["left"].set_visible(False)
    for place in range(len(names)):
        ax.axhline(place, color="0.93", linewidth=0.6, zorder=0)


def _dot(ax: Axes, value: float, place: int, name: str) -> None:
    ours = name.startswith("fullswap")
    ax.plot([value], [place], marker="o" if ours else "s", markersize=6 if ours else 5,
            color=BLUE if ours else LINE, markeredgecolor="white", markeredgewidth=0.6,
            linestyle="none", zorder=3, clip_on=False)  # fmt: skip


def _root(error: float) -> float:
    """In percentage points; never 0, which has no place on a logarithmic axis."""
    return float(100 * max(error, SMALLEST) ** 0.5)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _by_name(stream: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Scores by contender, in the order of tables."""
    found = {score["contender"]: score for score in stream["contenders"]}
    return {name: found[name] for name in _NAMES if name in found}


def _times(streams: list[dict[str, Any]]) -> dict[str, float]:
    """Medians over the streams."""
    met: dict[str, list[float]] = {}
    for stream in streams:
        for score in stream["contenders"]:
            met.setdefault(score["contender"], []).append(score["microseconds"])
    return {name: max(median(values), SMALLEST) for name, values in met.items()}


def _listed(names: list[str]) -> str:
    """Names with commas inside, in one sentence."""
    return "; ".join(names)
