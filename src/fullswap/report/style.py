"""The look that all pictures share: colours that survive colour blindness and greyscale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE = "#0072B2"
VERMILION = "#D55E00"
INK = "0.15"
LINE = "0.45"
SHADE = "0.84"
SMALL = 8.5
"""Font size of notes, legends and ticks."""
NOTE: dict[str, Any] = dict(fontsize=SMALL, color=INK)
"""Look of notes and labels."""


def new_figure(width: float, height: float, arranged: bool = False) -> Figure:
    """A figure of this size in inches, unknown to pyplot; `arranged`: axes make room for text."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'fullswap[plot]'") from error
    figure = Figure(figsize=(width, height), dpi=150, facecolor="white")
    # Said in either case: the user's settings may arrange all figures.
    figure.set_layout_engine("constrained" if arranged else "none")
    return figure


def root_figure(ax: Axes) -> Figure:
    """The figure that holds these axes, also from within a subfigure."""
    return ax.figure.figure


def tidy(ax: Axes) -> None:
    """Only the lines and ticks that are read."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set(color=LINE, linewidth=0.8)
    ax.tick_params(which="both", color=LINE, labelcolor=INK, labelsize=SMALL, width=0.8, length=3)
    ax.tick_params(which="minor", length=1.5, width=0.6)
    ax.set_axisbelow(True)


def head(ax: Axes, title: str | None, lines: list[str]) -> None:
    """A title and a few smaller lines above the axes, where they cannot cover data."""
    ax.annotate(
        "\n".join(lines), (0, 1), (0, 7), xycoords="axes fraction", textcoords="offset points",
        va="bottom", ha="left", linespacing=1.4, **NOTE,
    )  # fmt: skip
    if title is not None:
        ax.set_title(title, loc="left", fontsize=11, color=INK, pad=11 + 1.4 * SMALL * len(lines))


def figures(value: float) -> str:
    """Three significant figures, without an exponent where people would not write one.

    Examples
    --------
    >>> figures(12345.6), figures(0.012345), figures(0.0), figures(1.5e-7)
    ('12,346', '0.0123', '0', '1.5e-07')
    """
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def count_of(number: int, noun: str) -> str:
    """A number and its noun: 1 event, 20,000 events."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
