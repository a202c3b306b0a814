"""The paper's open question: convex losses on a line."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from fullswap.report.style import (
    BLUE,
    INK,
    LINE,
    SHADE,
    SMALL,
    VERMILION,
    figures,
    new_figure,
    tidy,
)
from studies.convex import BINS, NET, PLAYERS
from studies.fits import SMALLEST
from studies.report.axes import plain_numbers
from studies.report.text import interval, listed, signed, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES = {NET: "row 1", BINS: "binning"}
LOOKS = {NET: (VERMILION, "s"), BINS: (BLUE, "o")}
_KEYS = {NET: "net", BINS: "bins"}
"""Learner ↦ its name in placeholders."""


def values(summary: dict[str, Any]) -> dict[str, str]:
    """What was measured of both learners."""
    horizons, mesh = summary["horizons"], summary["mesh"]
    smaller = [
        f"{t:,}"
        for t, net, bins in zip(
            horizons, *(summary["learners"][name]["largest"] for name in PLAYERS), strict=True
        )
        if bins < net
    ]
    least = min(range(len(mesh["worst"])), key=lambda k: mesh["worst"][k])
    default = mesh["factors"].index(1.0)
    return {
        "adversaries": str(summary["adversaries"]),
        "seeds": listed(map(str, summary["seeds"]), ", "),
        "first": f"{horizons[0]:,}",
        "last": f"{horizons[-1]:,}",
        "late_from": f"{summary['learners'][NET]['late_from']:,}",
        "bins_smaller_at": listed(smaller, ", "),
        "search_budget": str(summary["search"][NET]["budget"]),
        "search_rounds": f"{summary['search'][NET]['rounds']:,}",
        **{
            f"{key}_{what}": text
            for name, key in _KEYS.items()
            for what, text in _learner(summary, name).items()
        },
        "mesh_horizon": f"{mesh['horizon']:,}",
        "mesh_cells": str(mesh["points"][default] - 1),
        "mesh_from": f"{mesh['factors'][0]:g}",
        "mesh_to": f"{mesh['factors'][-1]:g}",
        "mesh_default": figures(mesh["worst"][default]),
        "mesh_least": figures(mesh["worst"][least]),
        "mesh_least_at": f"{mesh['factors'][least]:g}",
        "mesh_guaranteed": figures(min(mesh["guaranteed"])),
        "exponents": table(
            ("learner", "proved, up to logarithms", "all horizons", "the longer ones"),
            [
                (NAMES[name], proved, *(interval(summary["learners"][name][key])
                                        for key in ("exponent", "late_exponent")))
                for name, proved in ((NET, "2/3"), (BINS, "1/2"))
            ],
        ),
        "regrets": _regrets(summary),
    }  # fmt: skip


def _learner(summary: dict[str, Any], name: str) -> dict[str, str]:
    met, searched = summary["learners"][name], summary["search"][name]
    at = summary["horizons"].index(searched["rounds"])
    return {
        "exponent": signed(met["exponent"][0]),
        "late_exponent": signed(met["late_exponent"][0]),
        "largest": figures(met["largest"][-1]),
        "searched": f"{searched['worst'][at] / max(met['worst'][at], SMALLEST):.2f}",
        "guaranteed": figures(met["guaranteed"][-1]),
    }


def pictures(summary: dict[str, Any]) -> dict[str, Callable[[], Figure]]:
    """Growth, and the finest scale."""
    return {"convex": partial(draw, summary)}


def _regrets(summary: dict[str, Any]) -> str:
    rows = []
    for i, horizon in enumerate(summary["horizons"]):
        row = [f"{horizon:,}"]
        for name in PLAYERS:
            met, searched = summary["learners"][name], summary["search"][name]
            row += [figures(met["worst"][i]), met["adversary"][i]]
            row += [figures(searched["worst"][i]), figures(met["guaranteed"][i])]
        rows.append(row)
    kinds = ("worst", "by", "by search", "guaranteed")
    return table(("T", *(f"{NAMES[name]}: {kind}" for name in PLAYERS for kind in kinds)), rows)


def draw(summary: dict[str, Any]) -> Figure:
    """Regret against T for both learners, and against γ for binning."""
    figure = new_figure(7.2, 3.7, arranged=True)
    left, right = figure.subplots(1, 2, width_ratios=(2.1, 1))
    _draw_growth(left, summary)
    _draw_mesh(right, summary)
    return figure


def _draw_growth(ax: Axes, summary: dict[str, Any]) -> None:
    horizons = summary["horizons"]
    for name in PLAYERS:
        found, searched = summary["learners"][name], summary["search"][name]
        colour, marker = LOOKS[name]
        fitted = _fitted(horizons, found["largest"], found["exponent"][0])
        ax.plot(horizons, fitted, color=colour, linewidth=1.3, zorder=2)
        ax.plot(
            horizons, found["worst"], marker, color=colour, markersize=5, zorder=4,
            label=f"{NAMES[name]}, fit $T^{{{signed(found['exponent'][0])}}}$",
        )  # fmt: skip
        ax.plot(
            horizons, searched["worst"], marker, markerfacecolor="none", markeredgecolor=colour,
            markersize=8.5, markeredgewidth=0.9, zorder=3,
        )  # fmt: skip
    ax.plot(
        horizons, summary["learners"][NET]["guaranteed"], color=VERMILION, linewidth=0.7,
        zorder=1, label="row 1, guaranteed",
    )  # fmt: skip
    ax.plot(
        [], [], "o", markerfacecolor="none", markeredgecolor=LINE, markersize=8.5,
        markeredgewidth=0.9, label="found by search",
    )  # fmt: skip
    _draw_guides(ax, summary)
    ax.set(xscale="log", yscale="log")
    ax.set_xlabel("rounds $T$", fontsize=SMALL + 0.5, color=INK)
    ax.set_ylabel("largest full swap regret found", fontsize=SMALL + 0.5, color=INK)
    ax.set_xticks(horizons, [f"{horizon:,}" for horizon in horizons], rotation=0)
    ax.set_xticks([], minor=True)
    plain_numbers(ax.yaxis)
    ax.set_xlim(horizons[0] / 1.25, horizons[-1] * 2.2)
    tidy(ax)
    ax.legend(loc="upper left", fontsize=SMALL, frameon=False, labelcolor=INK, handlelength=1.4)


def _draw_guides(ax: Axes, summary: dict[str, Any]) -> None:
    """Slopes to compare with, from one point below all marks."""
    horizons = summary["horizons"]
    curves = [summary[kind][name] for kind in ("learners", "search") for name in PLAYERS]
    # as high as they can be without touching a mark
    start = min(
        max(value, SMALLEST) / (horizon / horizons[0]) ** (2 / 3)
        for curve in curves
        for horizon, value in zip(horizons, curve["worst"], strict=True)
    )
    for power, text in ((0.5, "$\\sqrt{T}$"), (2 / 3, "$T^{2/3}$")):
        values = [0.62 * start * (horizon / horizons[0]) ** power for horizon in horizons]
        ax.plot(horizons, values, color=LINE, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
        ax.annotate(
            text, (horizons[-1], values[-1]), (4, 0), textcoords="offset points",
            fontsize=SMALL, color=LINE, va="center",
        )  # fmt: skip


def _draw_mesh(ax: Axes, summary: dict[str, Any]) -> None:
    mesh = summary["mesh"]
    factors = mesh["factors"]
    ax.axvline(1.0, color=SHADE, linewidth=1.2, zorder=0)
    ax.plot(factors, mesh["worst"], "-o", color=BLUE, linewidth=1.1, markersize=5)
    ax.set_xscale("log", base=2)
    ax.set_xticks(factors, [_factor(factor) for factor in factors])
    ax.set_xticks([], minor=True)
    ax.set_ylim(0, 1.15 * max(*mesh["worst"], SMALLEST))
    ax.set_xlabel("finest scale $\\gamma$ / default", fontsize=SMALL + 0.5, color=INK)
    ax.set_ylabel(
        f"largest full swap regret at $T$ = {mesh['horizon']:,}", fontsize=SMALL + 0.5, color=INK
    )
    tidy(ax)


def _factor(value: float) -> str:
    """A factor as people write it.

    Examples
    --------
    >>> _factor(0.25), _factor(1.0), _factor(4.0)
    ('1/4', '1', '4')
    """
    return f"1/{1 / value:g}" if value < 1 else f"{value:g}"


def _fitted(sizes: Sequence[float], heights: Sequence[float], slope: float) -> list[float]:
    """The least-squares line of that slope, at the sizes."""
    logs = [
        math.log(max(height, SMALLEST)) - slope * math.log(size)
        for size, height in zip(sizes, heights, strict=True)
    ]
    level = sum(logs) / len(logs)
    return [math.exp(level + slope * math.log(size)) for size in sizes]
