"""Ours beside the usual recalibrators: calibration error, Brier score, time per event."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from fullswap.report.style import (
    BLUE,
    INK,
    LINE,
    SMALL,
    figures,
    new_figure,
    tidy,
)
from studies.fits import SMALLEST
from studies.forecasters import AS_ONE_RUN
from studies.recalibrators import REFIT_EVERY
from studies.report.axes import plain_numbers
from studies.report.text import between, bold, listed, table

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
    "fullswap without events, mean": "ours without events, mean",
    "fullswap without events, issued": "ours without events, issued",
}
"""Contender ↦ a shorter name, in the order of tables and pictures."""
_ISSUED, _MEAN, _ONE_RUN = "fullswap, issued", "fullswap, mean", f"fullswap, {AS_ONE_RUN}"
_AT_MOST = 2.0
"""Times what chance alone would show: up to here a contender counts as calibrated."""
_BRIER_WIDTH = 0.16
"""Of all axes of Brier scores, so that differences can be compared."""
_PER_EVENT = 1e4
"""Calibration errors per event are small: tables have this many times as much."""


def values(summary: dict[str, Any]) -> dict[str, str]:
    """What was measured on made streams."""
    streams = streams_of(summary, recorded=False)
    (adversarial,) = (_by_name(s) for s in streams if s["stream"] == "adversarial")
    error = max(adversarial[_ISSUED]["calibration"], SMALLEST)
    others = [score["calibration"] for name, score in adversarial.items() if name != _ISSUED]
    times = _times(summary["streams"])
    online = sorted(times[name] for name in times if name.startswith("Platt, online"))
    return {
        "warm_up": f"{100 * summary['warm_up']:.0f} %",
        "step": f"{100 / summary['grid']:.0f} %",
        "at_most": f"{_AT_MOST:g}",
        "events": f"{streams[0]['events']:,}",
        "seeds": str(streams[0]["seeds"]),
        "streams": listed(stream["stream"] for stream in streams),
        "guaranteed": guaranteed(streams),
        "calibration": calibration_table(streams),
        "brier": brier_table(streams),
        "resisted": figures(min(others) / error),
        "times_noise": figures(error / max(adversarial[_ISSUED]["noise"], SMALLEST)),
        "our_time": figures(times[_ISSUED]),
        "online_time": between(map(figures, online)),
        "run_time": figures(times[_ONE_RUN]),
    }


def pictures(summary: dict[str, Any]) -> dict[str, Callable[[], Figure]]:
    """Scores on made streams, and times on all."""
    return {
        "forecasters": partial(draw_scores, streams_of(summary, recorded=False)),
        "forecasters-time": partial(draw_times, summary["streams"]),
    }


def streams_of(summary: dict[str, Any], recorded: bool) -> list[dict[str, Any]]:
    """Those of forecast logs, or those that were made."""
    return [stream for stream in summary["streams"] if stream["recorded"] == recorded]


def guaranteed(streams: list[dict[str, Any]]) -> str:
    """Of our draws, rounded up, because it is a bound; none where a guarantee was lost."""
    issued = [_by_name(stream)[_ISSUED] for stream in streams]
    bounds = [math.ceil(_PER_EVENT * s["guaranteed"]) for s in issued if "guaranteed" in s]
    return between(f"{bound:,}" for bound in sorted(bounds)) if bounds else "none"


def calibration_table(streams: list[dict[str, Any]]) -> str:
    """Errors; in bold where they are about what chance alone would show."""

    def cell(score: dict[str, Any]) -> str:
        shown = _error(score["calibration"])
        return bold(shown, score["calibration"] <= _AT_MOST * score["noise"])

    def noise(scores: dict[str, Any]) -> str:
        return _error(max(score["noise"] for score in scores.values()))

    return _table(streams, "calibration", cell, {"noise at most": noise})


def brier_table(streams: list[dict[str, Any]]) -> str:
    """Mean squared errors of the probabilities."""
    return _table(streams, "brier", lambda score: f"{score['brier']:.4f}", {})


def _table(
    streams: list[dict[str, Any]],
    key: str,
    cell: Callable[[dict[str, Any]], str],
    more: dict[str, Callable[[dict[str, Any]], str]],
) -> str:
    """A row a stream, a column a contender, and our draws beside the best that is not ours."""
    met = {name for stream in streams for name in _by_name(stream)}
    names = [name for name in _NAMES if name in met]
    rows = []
    for stream in streams:
        scores = _by_name(stream)
        cells = [cell(scores[name]) if name in scores else "–" for name in names]
        best = min(s[key] for name, s in scores.items() if not name.startswith("fullswap"))
        ratio = f"{scores[_ISSUED][key] / max(best, SMALLEST):.2g}"
        ends = [ends_with(scores) for ends_with in more.values()]
        rows.append((stream["stream"], f"{stream['events']:,}", *cells, ratio, *ends))
    shown = [_NAMES[name] for name in names]
    return table(("stream", "events", *shown, "issued ÷ best other", *more), rows)


def _error(value: float) -> str:
    scaled = _PER_EVENT * value
    return f"{scaled:.1f}" if scaled < 10 else f"{scaled:,.0f}"


def draw_scores(streams: list[dict[str, Any]]) -> Figure:
    """A column a stream: calibration error above, Brier score below."""
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


def draw_times(streams: list[dict[str, Any]]) -> Figure:
    """CPU time an event, one row a contender."""
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
