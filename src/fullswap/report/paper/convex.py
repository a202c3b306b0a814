"""The section on the paper's open question: convex losses on a line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from fullswap.experiments.convex import BINS, NET, PLAYERS
from fullswap.experiments.fits import SMALLEST
from fullswap.report.paper.section import Paragraph, Picture, Section, Table
from fullswap.report.paper.words import interval, listed, signed
from fullswap.report.style import (
    BLUE,
    INK,
    LINE,
    SHADE,
    SMALL,
    VERMILION,
    count_of,
    figures,
    new_figure,
    plain_numbers,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES = {NET: "row 1", BINS: "binning"}
LOOKS = {NET: (VERMILION, "s"), BINS: (BLUE, "o")}
SPREAD = 1.1
"""Regrets within this factor of one another count as about equal."""
NEAR, WIDE = 0.02, 0.3
"""Exponents this close count as equal; intervals longer than the second tell little."""


def section(summary: dict[str, Any], command: str) -> Section:
    """What was measured of both learners, from the summary alone."""
    return Section(
        "Convex losses on a line: the open question",
        command,
        (
            Paragraph(_question()),
            Paragraph(_growth(summary)),
            Picture("convex", _caption(summary), partial(draw, summary)),
            Paragraph(_mesh(summary)),
            Paragraph(_guarantees(summary)),
            _exponents(summary),
            _regrets(summary),
            Paragraph(_care(summary)),
        ),
    )


# --- sentences ------------------------------------------------------------------------------


def _question() -> str:
    return (
        "For convex Lipschitz losses on a line the paper has no more than row 1, T^(2/3), though "
        "linear and strongly convex losses both allow √T, and asks whether all convex losses do. "
        "Hu, Schneider and Wu (COLT 2026) answered that they do, up to logarithms, by multi-scale "
        'binning: `FullSwapLearner(..., row="convex")`. Both learners meet the same adversaries '
        "here, on [0, 1] with slopes up to 1. The library plays a variant of theirs: coarse bins "
        "first, finer ones only where these fail. The proof covers it."
    )


def _growth(summary: dict[str, Any]) -> str:
    horizons, learners = summary["horizons"], summary["learners"]
    net, bins = learners[NET], learners[BINS]
    return (
        f"Against the worst of {summary['adversaries']} adversaries "
        f"({count_of(len(summary['seeds']), 'seed')}) and of one found by search, from "
        f"T = {horizons[0]:,} to {horizons[-1]:,}, regret grew like "
        f"**T^{signed(net['exponent'][0])}** for row 1 and like "
        f"**T^{signed(bins['exponent'][0])}** for binning (from T = {net['late_from']:,} on like "
        f"T^{signed(net['late_exponent'][0])} and T^{signed(bins['late_exponent'][0])}). "
        f"{_beside(net['exponent'], 2 / 3, 'row 1', '⅔')} "
        f"{_beside(bins['exponent'], 1 / 2, 'binning', '½')} "
        f"{_crossing(summary)} {_searched(summary)}"
    )


def _beside(found: Sequence[float], paper: float, who: str, shown: str) -> str:
    """An exponent beside the one that is proved."""
    slope, low, high = found
    if low <= paper <= high and high - low > WIDE:
        return (
            f"For {who} the interval of {interval(*found)} contains the {shown} that is proved, "
            f"but is wide."
        )
    if low <= paper <= high or abs(slope - paper) < NEAR:
        return f"For {who} that agrees with the {shown} that is proved."
    if slope < paper:
        return (
            f"For {who} that is below the {shown} that is proved as an upper bound: worse "
            f"adversaries than these may exist."
        )
    return (
        f"For {who} that is above the {shown} that is proved up to logarithms, which does not bind "
        f"at these horizons."
    )


def _crossing(summary: dict[str, Any]) -> str:
    horizons = summary["horizons"]
    net, bins = (summary["learners"][name]["largest"] for name in PLAYERS)
    last = f"at T = {horizons[-1]:,} it is {figures(bins[-1])} against {figures(net[-1])}"
    smaller = [b < a for a, b in zip(net, bins, strict=True)]
    if all(smaller):
        return f"Binning has the smaller regret at every horizon; {last}."
    if not smaller[-1]:
        return f"Binning has the larger regret at the longest horizon: {last}."
    since = len(smaller) - smaller[::-1].index(False)
    return f"Binning has the smaller regret from T = {horizons[since]:,} on; {last}."


def _searched(summary: dict[str, Any]) -> str:
    told = []
    for name in PLAYERS:
        found, known = summary["search"][name], summary["learners"][name]
        at = summary["horizons"].index(found["rounds"])
        change = found["worst"][at] / max(known["worst"][at], SMALLEST) - 1
        what = f"one {change:.0%} worse than these" if change >= 0.005 else "none worse than these"
        told.append(f"{what} for {NAMES[name]}")
    return (
        f"A search of {found['budget']} runs of {found['rounds']:,} rounds for each learner found "
        f"{told[0]} and {told[1]} (the hollow marks: the same adversaries at all horizons)."
    )


def _mesh(summary: dict[str, Any]) -> str:
    mesh = summary["mesh"]
    worst, factors = mesh["worst"], mesh["factors"]
    default = worst[factors.index(1.0)]
    best = min(range(len(worst)), key=lambda i: worst[i])
    if default <= SPREAD * worst[best]:
        verdict = f"no other is better than the default by more than {SPREAD - 1:.0%}"
    else:
        verdict = (
            f"the best of them, γ = 1/{mesh['points'][best] - 1}, has "
            f"{worst[best] / default:.0%} of the default's regret"
        )
    return (
        f"**The finest scale γ** may be set (`mesh=`). At T = {mesh['horizon']:,}, with γ from "
        f"{factors[0]:g} to {factors[-1]:g} times its default 1/"
        f"{mesh['points'][factors.index(1.0)] - 1}, the worst regret against the adversaries "
        f"other than the searched one goes from {figures(worst[0])} "
        f"to {figures(worst[-1])}; {verdict}."
    )


def _guarantees(summary: dict[str, Any]) -> str:
    rounds, mesh = summary["horizons"][-1], summary["mesh"]
    net, bins = (summary["learners"][name]["guaranteed"][-1] for name in PLAYERS)
    text = f"**Guaranteed** at T = {rounds:,}: row 1 at most {figures(net)}, binning "
    if bins >= rounds * (1 - 1e-9):
        text += (
            f"nothing below the trivial {figures(bins)}: its √T comes with constants that are "
            f"large at these horizons, and its default γ was chosen for small measured regret."
        )
    else:
        text += f"at most {figures(bins)}, with the γ that was chosen for small measured regret."
    least = min(mesh["guaranteed"])
    if least < mesh["horizon"] * (1 - 1e-9):
        gamma = mesh["points"][mesh["guaranteed"].index(least)] - 1
        text += f" With γ = 1/{gamma} and T = {mesh['horizon']:,} it is at most {figures(least)}."
    return text


def _care(summary: dict[str, Any]) -> str:
    seeds = [*map(str, summary["seeds"])]
    return (
        "The default γ, and that coarse bins come before fine ones, were chosen by looking at the "
        "same kinds of adversaries with seeds 0 and 1000. The runs of the growth study have "
        f"{'seed' if len(seeds) == 1 else 'seeds'} {listed(seeds)}; the search tries seed 0 again "
        "and seeds drawn at random. All regrets are of the worst adversary found. Intervals are of "
        "the fit within these horizons, and say nothing of what lies beyond them."
    )


def _caption(summary: dict[str, Any]) -> str:
    mesh = summary["mesh"]
    return (
        "Left: the largest full swap regret found, against the number of rounds (both axes "
        "logarithmic); hollow marks are the adversaries that the search found, thick lines are "
        "fits to the larger of both, the thin line is row 1's guarantee, dashed lines have the "
        "slopes of √T and T^(2/3). Right: "
        f"binning at T = {mesh['horizon']:,} with other finest scales γ."
    )


# --- tables ---------------------------------------------------------------------------------


def _exponents(summary: dict[str, Any]) -> Table:
    learners = summary["learners"]
    rows = tuple(
        (
            NAMES[name],
            proved,
            interval(*learners[name]["exponent"]),
            interval(*learners[name]["late_exponent"]),
        )
        for name, proved in ((NET, "2/3"), (BINS, "1/2"))
    )
    return Table(
        "Exponents of growth, with 95 % intervals of the fit",
        (
            "learner",
            "proved, up to logarithms",
            "all horizons",
            f"from T = {learners[NET]['late_from']:,} on",
        ),
        rows,
    )


def _regrets(summary: dict[str, Any]) -> Table:
    rows = []
    for i, horizon in enumerate(summary["horizons"]):
        row = [f"{horizon:,}"]
        for name in PLAYERS:
            met, searched = summary["learners"][name], summary["search"][name]
            row += [figures(met["worst"][i]), met["adversary"][i]]
            row += [figures(searched["worst"][i]), figures(met["guaranteed"][i])]
        rows.append(tuple(row))
    kinds = ("worst", "by", "by search", "guaranteed")
    return Table(
        "Largest full swap regret measured, by which adversary or by search, and guaranteed",
        ("T", *(f"{NAMES[name]}: {kind}" for name in PLAYERS for kind in kinds)),
        tuple(rows),
    )


# --- picture --------------------------------------------------------------------------------


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
