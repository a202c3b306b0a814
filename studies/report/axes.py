"""Logarithmic axes with plain numbers, and a colour more than the package needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullswap.report.style import figures, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

GREEN = "#009E73"


def plain_numbers(axis: Axis) -> None:
    """Plain numbers at 1, 3, 10, 30, … of a logarithmic axis."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: figures(value)))
    axis.set_minor_formatter(NullFormatter())


def log_scales(ax: Axes) -> None:
    """Both axes logarithmic, with plain numbers and a faint grid."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    plain_numbers(ax.xaxis)
    plain_numbers(ax.yaxis)
    tidy(ax)
    ax.grid(which="major", color="0.92", lw=0.6)
