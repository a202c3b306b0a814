"""``python -m studies picture``: the first picture of the documentation.

The demo's rain in Seattle: a logistic regression that has learnt from winter months says every
evening how probable rain is tomorrow, in summer too often. Beside it are the forecasts that a
`Recalibrator` makes of the same probabilities, each from the outcomes of the days before.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fullswap import Recalibrator, check
from fullswap.base.protocols import Vector
from fullswap.demo.weather import read_rain
from fullswap.report.style import VERMILION, new_figure
from studies.report.page import svg
from studies.runs import write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fullswap.checking import Check

NAME = "picture"
STEP, SEED = 0.05, 0
INK = "#7d828a"
BLUE = "#2389d0"
"""As dark on white as they are light on a dark page: the background is transparent."""
_LARGE, _SMALL = 16, 13
_BINS = 10
_FEWEST = 10
"""Days that a dot stands for at least: fewer say nothing."""
_AREA = 1.2
"""Square points of a dot for every day that it stands for."""


def draw() -> Figure:
    """Two panels: the model alone, and with fullswap."""
    rain = read_rain()
    said, rained = rain.said, rain.happened
    better = Recalibrator(step=STEP, seed=SEED).run(said, rained).issued
    figure = new_figure(7.6, 4.2, arranged=True)
    figure.patch.set_alpha(0.0)
    left, right = figure.subplots(1, 2, sharey=True, gridspec_kw={"wspace": 0.1})
    _panel(left, "the model alone", said, rained, VERMILION)
    _panel(right, "with fullswap", better, rained, BLUE)
    left.set_ylabel("days on which it then rained", fontsize=_SMALL, color=INK)
    return figure


def _panel(ax: Axes, title: str, said: Vector, rained: Vector, colour: str) -> None:
    ax.patch.set_alpha(0.0)
    ax.plot([0, 1], [0, 1], color=INK, lw=1.2, ls=(0, (4, 3)))
    means, rates, days = dots(said, rained)
    ax.vlines(means, means, rates, color=colour, lw=1.6)
    ax.scatter(means, rates, s=_AREA * days, color=colour, linewidths=0, clip_on=False, zorder=3)
    answer = check(rained, said)
    ax.set_title(title, loc="left", fontsize=_LARGE, color=colour, fontweight="bold", pad=30)
    ax.annotate(
        _distance(answer), (0, 1), (0, 11), xycoords="axes fraction", textcoords="offset points",
        fontsize=_SMALL, color=INK,
    )  # fmt: skip
    ticks = np.linspace(0, 1, 5)
    words = [f"{100 * tick:.0f} %" for tick in ticks]
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.set_xticks(ticks, words)
    ax.set_yticks(ticks, words)
    ax.tick_params(color=INK, labelcolor=INK, labelsize=_SMALL)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(INK)
    ax.set_xlabel("chance of rain that was forecast", fontsize=_SMALL, color=INK)


def dots(said: Vector, rained: Vector) -> tuple[Vector, Vector, Vector]:
    """Mean forecast, share of rainy days and number of days, for each tenth of the scale."""
    # a hair more, so that multiples of the step that floats put below a limit are above it
    tenth = np.minimum((_BINS * said + 1e-9).astype(int), _BINS - 1)
    days = np.bincount(tenth, minlength=_BINS)
    shown = days >= _FEWEST
    sums = [np.bincount(tenth, value, _BINS)[shown] for value in (said, rained)]
    return sums[0] / days[shown], sums[1] / days[shown], days[shown].astype(float)


def _distance(answer: Check) -> str:
    return f"{100 * answer.error:.1f} points off (chance: {100 * answer.chance.median:.1f})"


def main(arguments: Sequence[str]) -> int:
    """Write the picture."""
    parser = argparse.ArgumentParser(f"python -m studies {NAME}", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/figures/before-after.svg"))
    path = parser.parse_args(arguments).out
    write(path, svg(draw))
    print(path)
    return 0
