"""Pictures of the paper's figure and of the erratum beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fullswap.report.style import BLUE, INK, SMALL, VERMILION, new_figure, tidy
from studies.approaches import PAPER, PROVED
from studies.report.axes import GREEN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GUIDE = "0.62"
LOOKS: dict[str, tuple[str, str, str]] = {
    "weights": (BLUE, "o", "multiplicative weights"),
    "rounding": (INK, "s", "rounding"),
    "discretised": (VERMILION, "D", "discretised algorithm"),
    "unrounded": (GREEN, "^", "no rounding"),
}
"""Approach ↦ colour (the paper's for the first three), marker, name."""
_CURVES = {
    "weights": r"$\sqrt{T/\varepsilon}$",
    "rounding": r"$T^{1/3}+\varepsilon^2T$",
    "discretised": r"$\max(T^{1/3},\sqrt{\varepsilon T})$",
}
_STYLES = {"weights": "-", "rounding": "--", "discretised": "-."}
_X_TICKS = {
    -1 / 3: r"$T^{-1/3}$", -1 / 4: r"$T^{-1/4}$", -1 / 5: r"$T^{-1/5}$",
    0: "$1$",
}  # fmt: skip
_Y_TICKS = {
    0: "$1$", 1 / 5: r"$T^{1/5}$", 1 / 3: r"$T^{1/3}$", 1 / 2: r"$T^{1/2}$", 3 / 5: r"$T^{3/5}$",
    4 / 5: r"$T^{4/5}$", 1: "$T$",
}  # fmt: skip

_THIN = 0.9
_DASHED: dict[str, Any] = {"color": _GUIDE, "lw": 1.2, "ls": (0, (5, 3))}
_DOTTED: dict[str, Any] = {"lw": 1.4, "ls": (0, (1, 1.6))}


def draw_steps(summary: Mapping[str, Any]) -> Figure:
    """One panel an approach, and one in which the three meet."""
    figure = new_figure(7.2, 6.9, arranged=True)
    grid = figure.subplots(2, 2, sharex=True, sharey=True)
    longest = summary["horizons"][-1]
    for letter, approach, ax in zip("abc", PAPER, grid.flat, strict=False):
        _approach_panel(ax, summary, approach)
        _title(ax, letter, f"{LOOKS[approach][2]}, {_CURVES[approach]}")
        colour, _, name = LOOKS[approach]
        x, y = _scaled(runs_of(summary, approach, longest), "measured")
        # markers tell horizons in the other panels
        grid[1, 1].plot(x, y, color=colour, ls=_STYLES[approach], lw=1.8, label=name)
    grid[1, 1].legend(
        frameon=False, fontsize=SMALL, loc="upper left", labelcolor=INK, handlelength=3.2
    )
    _title(grid[1, 1], "d", f"all three, measured, $T$ = {longest:,}")
    lowest = min(0.2, *(_scaled([run], "measured")[1][0] for run in summary["worst"]))
    for ax in grid.flat:
        tidy(ax)
        ax.set_xticks(list(_X_TICKS), list(_X_TICKS.values()), fontsize=SMALL - 0.5)
        ax.set_yticks(list(_Y_TICKS), list(_Y_TICKS.values()))
        ax.set_xlim(-0.48, 0.02)
        ax.set_ylim(lowest - 0.04, 1.02)
        ax.grid(color="0.92", linewidth=0.6)
    for ax in grid[1]:
        ax.set_xlabel("step ε of the forecasts", fontsize=SMALL + 0.5, color=INK)
    for ax in grid[:, 0]:
        ax.set_ylabel("discretised swap regret", fontsize=SMALL + 0.5, color=INK)
    _steps_legend(figure, summary["horizons"])
    return figure


def _approach_panel(ax: Axes, summary: Mapping[str, Any], approach: str) -> None:
    colour = LOOKS[approach][0]
    horizons = summary["horizons"]
    exponents = np.linspace(0, 0.5, 501)
    ax.plot(-exponents, [PAPER[approach](a) for a in exponents], **_DASHED)
    if PROVED[approach] is not PAPER[approach]:
        ax.plot(-exponents, [PROVED[approach](a) for a in exponents], color=_GUIDE, **_DOTTED)
        ax.axvline(-1 / 6, color="0.82", lw=0.9, zorder=0.5)
    longest = runs_of(summary, approach, horizons[-1])
    ax.plot(*_scaled(longest, "guaranteed"), color=colour, lw=_THIN)
    if approach == "discretised":
        ax.plot(*_scaled(longest, "own_choice"), color=colour, **_DOTTED)
    for horizon, look in zip(horizons, _horizon_looks(colour, len(horizons)), strict=True):
        ax.plot(*_scaled(runs_of(summary, approach, horizon), "measured"), **look)


def _steps_legend(figure: Figure, horizons: Sequence[int]) -> None:
    """Below all panels, in grey where the look is common to them."""
    from matplotlib.lines import Line2D

    looks = _horizon_looks("0.3", len(horizons))
    lines: dict[str, dict[str, Any]] = {
        f"measured, $T$ = {horizon:,}": look for horizon, look in zip(horizons, looks, strict=True)
    }
    lines[f"guaranteed at most, $T$ = {horizons[-1]:,}"] = {"color": "0.3", "lw": _THIN}
    lines["paper’s curve, as in the title"] = _DASHED
    lines[r"$T^{1/3}+\varepsilon\,T^{2/3}$, derived here"] = {"color": _GUIDE, **_DOTTED}
    lines["guarantee of the library’s own choice"] = {"color": VERMILION, **_DOTTED}
    figure.legend(
        [Line2D([], [], **look) for look in lines.values()], list(lines),
        loc="outside lower center", ncols=2, frameon=False, fontsize=SMALL, labelcolor=INK,
        handlelength=2.8,
    )  # fmt: skip


def _horizon_looks(colour: str, count: int) -> list[dict[str, Any]]:
    """One look for each horizon, the longest in the full colour."""
    return [
        {"color": _lighter(colour, shade), "marker": marker, "ms": 4.5, "lw": 1.4}
        for shade, marker in zip(np.linspace(0.6, 0, count), "^so"[-count:], strict=True)
    ]


def draw_midpoint(tossed: Sequence[Mapping[str, Any]]) -> Figure:
    """Both quantities against T, one panel a step."""
    from matplotlib.lines import Line2D

    figure = new_figure(7.2, 3.7, arranged=True)
    all_steps = sorted({line["steps"] for line in tossed})
    grid = figure.subplots(1, len(all_steps), sharex=True, sharey=True, squeeze=False)[0]
    for letter, steps, ax in zip("abcd", all_steps, grid, strict=False):
        lines = [line for line in tossed if line["steps"] == steps]
        for line in lines:
            colour, marker, name = LOOKS[line["approach"]]
            look = {"color": colour, "marker": marker, "ms": 4.5, "lw": 1.2}
            ax.plot(line["horizons"], line["calibration"], label=name, **look)
            ax.plot(line["horizons"], line["regret"], ls=(0, (4, 2)), mfc="white", **look)
        ends = np.array([lines[0]["horizons"][0], max(line["horizons"][-1] for line in lines)])
        (guide,) = ax.plot(ends, ends / steps**2 / 2, zorder=1, color="0.8", lw=3.5)
        # powers of ten: plain numbers would overlap below two narrow panels
        ax.set(xscale="log", yscale="log")
        tidy(ax)
        ax.grid(color="0.92", linewidth=0.6)
        ax.set_xlabel("rounds T", fontsize=SMALL + 0.5, color=INK)
        _title(ax, letter, f"ε = {step_of(steps)}")
    grid[0].set_ylabel("error or swap regret, sum over T rounds", fontsize=SMALL + 0.5, color=INK)
    shared = {"frameon": False, "fontsize": SMALL, "loc": "upper left", "labelcolor": INK}
    grid[0].legend(**shared)
    solid = Line2D([], [], color=INK, marker="o", ms=4.5, lw=1.2)
    dashed = Line2D([], [], color=INK, marker="o", ms=4.5, lw=1.2, mfc="white", ls=(0, (4, 2)))
    names = ["error as the paper defines it", "swap regret", "ε²·T/2, for comparison"]
    grid[-1].legend([solid, dashed, guide], names, handlelength=2.8, **shared)
    return figure


def _title(ax: Axes, letter: str, text: str) -> None:
    ax.set_title(f"({letter}) {text}", loc="left", fontsize=SMALL + 1, color=INK)


def _scaled(runs: Sequence[Mapping[str, Any]], key: str) -> tuple[list[float], list[float]]:
    """ln ε/ln T and ln(regret)/ln T; regrets below 1 count as 1."""
    return (
        [-math.log(run["steps"]) / math.log(run["horizon"]) for run in runs],
        [math.log(max(run[key], 1.0)) / math.log(run["horizon"]) for run in runs],
    )


def _lighter(colour: str, share: float) -> tuple[float, ...]:
    """The colour mixed with this share of white."""
    from matplotlib.colors import to_rgb

    return tuple(part + share * (1 - part) for part in to_rgb(colour))


def runs_of(summary: Mapping[str, Any], approach: str, horizon: int) -> list[Mapping[str, Any]]:
    """The worst runs of an approach at a horizon, from coarse to fine."""
    found = [
        run for run in summary["worst"] if run["approach"] == approach and run["horizon"] == horizon
    ]
    return sorted(found, key=lambda run: run["steps"])


def step_of(steps: int) -> str:
    """ε as a fraction.

    Examples
    --------
    >>> step_of(4), step_of(1)
    ('1/4', '1')
    """
    return "1" if steps == 1 else f"1/{steps}"
