"""The look that all pictures share: colours that survive colour blindness and greyscale.

Greys, text and background follow the user's matplotlib settings at the time of drawing.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

    Color = tuple[float, float, float]

BLUE = "#0072B2"
VERMILION = "#D55E00"
PALETTE = BLUE, VERMILION, "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
"""Lines side by side: the set of Okabe and Ito."""
DASHES = "-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)), (0, (9, 2)), (0, (3, 2))
"""The same lines for those who see no colours."""
INK, LINE, SHADE = "0.15", "0.45", "0.84"
"""Text, lines and areas under matplotlib's own settings: black on white."""
SMALL = 8.5
"""Font size of notes, legends and ticks."""
LETTER = 0.068
"""Width of a letter of that size in inches, on average and with room."""
BESIDE = 0.8
"""Share of the width that axes have, beside the names at their left."""
CLOSE = 0.35
"""Colours nearer than this, each channel up to 1, look alike."""


def ink() -> Color:
    """Colour of text."""
    return _mixed(0.85)


def line() -> Color:
    """Colour of lines and ticks that are not the subject."""
    return _mixed(0.55)


def shade() -> Color:
    """Colour of areas behind the subject."""
    return _mixed(0.16)


def paper() -> Color:
    """Colour behind all: of the axes, or of the figure if the axes have none."""
    from matplotlib import rcParams
    from matplotlib.colors import to_rgba

    for name in ("axes.facecolor", "figure.facecolor"):
        red, green, blue, opacity = to_rgba(rcParams[name])
        if opacity > 0.5:
            return red, green, blue
    return (1.0, 1.0, 1.0) if _lightness(_text()) < 0.5 else (0.0, 0.0, 0.0)


def main() -> str | Color:
    """Colour of the subject: blue, or the first of the user's own colours that stands out."""
    from matplotlib import rcParams, rcParamsDefault
    from matplotlib.colors import to_rgb

    own = rcParams["axes.prop_cycle"]
    if own != rcParamsDefault["axes.prop_cycle"]:
        avoided = to_rgb(VERMILION), paper()
        for color in own.by_key().get("color", []):
            if min(np.linalg.norm(np.subtract(to_rgb(color), other)) for other in avoided) > CLOSE:
                return to_rgb(color)
    return BLUE


def palette(count: int) -> list[dict[str, Any]]:
    """Colours and dashes of lines side by side, as many as asked for."""
    from matplotlib import rcParams, rcParamsDefault

    own = rcParams["axes.prop_cycle"]
    colors = list(PALETTE)
    if own != rcParamsDefault["axes.prop_cycle"]:
        colors = own.by_key().get("color", []) or colors
    # The dashes change with each round as well, so that no two lines of many look the same.
    return [
        dict(color=colors[k % len(colors)], linestyle=DASHES[(k + k // len(colors)) % len(DASHES)])
        for k in range(count)
    ]


def earlier() -> dict[str, Any]:
    """Look of what was before, beside the subject."""
    return dict(color=line(), linestyle=(0, (1.2, 1.2)))


def note() -> dict[str, Any]:
    """Look of notes and labels."""
    return dict(fontsize=SMALL, color=ink())


def _text() -> Color:
    from matplotlib import rcParams
    from matplotlib.colors import to_rgb

    return to_rgb(rcParams["text.color"])


def _mixed(share: float) -> Color:
    """The colour of text on the paper, this much of it."""
    red, green, blue = (share * a + (1 - share) * b for a, b in zip(_text(), paper(), strict=True))
    return red, green, blue


def _lightness(color: Color) -> float:
    return 0.3 * color[0] + 0.59 * color[1] + 0.11 * color[2]


def new_figure(width: float, height: float, arranged: bool = False) -> Figure:
    """A figure of this size in inches, unknown to pyplot; `arranged`: axes make room for text."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'fullswap[plot]'") from error
    figure = Figure(figsize=(width, height), dpi=150)
    # Said in either case: the user's settings may arrange all figures.
    figure.set_layout_engine("constrained" if arranged else "none")
    return figure


def axes_of(ax: Axes | None, width: float, height: float) -> Axes:
    """The given axes, or those of a new figure of this size."""
    return new_figure(width, height, arranged=True).add_subplot() if ax is None else ax


def root_figure(ax: Axes) -> Figure:
    """The figure that holds these axes, also from within a subfigure."""
    return ax.figure.figure


def inches_of(ax: Axes, wide: bool = True) -> float:
    """Width of the axes, or height."""
    extent = ax.get_window_extent()
    return float((extent.width if wide else extent.height) / root_figure(ax).dpi)


def tidy(ax: Axes) -> None:
    """Only the lines and ticks that are read."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set(color=line(), linewidth=0.8)
    ax.tick_params(
        which="both", color=line(), labelcolor=ink(), labelsize=SMALL, width=0.8, length=3
    )
    ax.tick_params(which="minor", length=1.5, width=0.6)
    ax.set_axisbelow(True)


def head(ax: Axes, title: str | None, lines: list[str], fold: bool = False) -> None:
    """A title and a few smaller lines above the axes, where they cannot cover data.

    `fold`: the lines are broken where they would be longer than the axes are wide.
    """
    lines = folded(ax, lines) if fold else lines
    ax.annotate(
        "\n".join(lines), (0, 1), (0, 7), xycoords="axes fraction", textcoords="offset points",
        va="bottom", ha="left", linespacing=1.4, **note(),
    )  # fmt: skip
    if title is not None:
        pad = 11 + 1.4 * SMALL * len(lines)
        ax.set_title(title, loc="left", fontsize=11, color=ink(), pad=pad)


def legend_above(
    ax: Axes, lines: list[str], over_names: bool = False, handles: list[Artist] | None = None
) -> Legend:
    """A few lines and the key to the picture above the axes, where they cannot cover data.

    `over_names`: it may reach over the names at the left as well, as it does where two columns
    need that.
    """
    if handles is None:
        handles = ax.get_legend_handles_labels()[0]
    names = [str(handle.get_label()) for handle in handles]
    # As many columns as fit, each as wide as its line, the gaps and the longest name.
    widest = LETTER * max(map(len, names), default=0) + 0.4
    over_names |= inches_of(ax) < widest * min(2, len(names))
    columns = (inches_of(ax) / BESIDE if over_names else inches_of(ax)) / widest
    columns = int(np.clip(columns, 1, max(len(names), 1)))
    legend = ax.legend(
        handles=handles, loc="lower right" if over_names else "lower left", ncols=columns,
        bbox_to_anchor=(1 if over_names else 0, 1), borderaxespad=0.5, borderpad=0, frameon=False,
        fontsize=SMALL, labelcolor=ink(), handlelength=1.9, columnspacing=1.3, alignment="left",
        title="\n".join(folded(ax, lines)), title_fontsize=SMALL,
    )  # fmt: skip
    legend.get_title().set(color=ink(), linespacing=1.4)
    legend.set_gid("key")
    return legend


def folded(ax: Axes, lines: Sequence[str]) -> list[str]:
    """Lines broken where they would be longer than the axes are wide."""
    letters = max(int((inches_of(ax) + 0.1) / LETTER), 20)
    return [part for line in lines for part in textwrap.wrap(line, letters) or [""]]


def time_ticks(ax: Axes, places: Sequence[float], labels: Sequence[str]) -> None:
    """As many of these labels along the axis as there is room for, evenly chosen."""
    longest = max((len(label) for label in labels), default=1)
    room = max(int(inches_of(ax) / (LETTER * longest + 0.25)), 2)
    count = min(room, len(labels))
    chosen = np.unique(np.rint(np.linspace(0, len(labels) - 1, count)).astype(int))
    ax.set_xticks([float(places[k]) for k in chosen], [plain(str(labels[k])) for k in chosen])


def whole_ticks(ax: Axes, which: Literal["x", "y"], ticks: int, integer: bool = True) -> None:
    """A few ticks with numbers written out: 1,000,000."""
    ax.locator_params(axis=which, nbins=ticks, integer=integer)
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_major_formatter(lambda value, _: f"{value:,.12g}")


def plain(text: str, letters: int | None = None) -> str:
    r"""Words of the user, cut if long, of which no dollar sign starts a formula.

    Examples
    --------
    >>> plain("from $5 to $9"), plain("a very long name", 9)
    ('from \\$5 to \\$9', 'a very l…')
    """
    text = " ".join(text.split())
    if letters is not None and len(text) > letters:
        text = text[: letters - 1] + "…"
    return text.replace("$", r"\$")


def shortened(text: str, letters: int) -> str:
    """Words of the user, cut in the middle if long: names often differ at one of their ends.

    Examples
    --------
    >>> shortened("household goods, shelf 17", 15)
    'househo…helf 17'
    """
    text = " ".join(text.split())
    if len(text) > letters:
        head = letters // 2
        text = f"{text[:head]}…{text[len(text) - (letters - 1 - head) :]}"
    return plain(text)


def points(share: float) -> str:
    """An error in points, with one more figure where it is small.

    Examples
    --------
    >>> points(0.0412), points(0.01), points(0.0004), points(0.0)
    ('4.1 points', '1.0 points', '0.04 points', '0 points')
    """
    value = 100 * share
    if value == 0:
        return "0 points"
    return f"{value:.1f} points" if abs(value) >= 0.95 else f"{value:.2g} points"


def figures(value: float) -> str:
    """Three significant figures, without an exponent where people would not write one.

    Examples
    --------
    >>> figures(12345.6), figures(0.012345), figures(0.0), figures(1.5e-7)
    ('12,346', '0.0123', '0', '1.5e-07')
    """
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
