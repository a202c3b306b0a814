"""The paper's table: growth of full swap regret, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from fullswap.report.style import (
    BLUE,
    INK,
    SMALL,
    VERMILION,
    figures,
    new_figure,
)
from studies.fits import exponent
from studies.report.axes import GREEN, log_scales
from studies.report.text import interval, listed, signed, spaced, table
from studies.table import DESCENT, NET, OURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Case = Mapping[str, Any]

ROWS = {
    "lipschitz": "1 no assumption",
    "smooth": "2 smooth",
    "concave": "3 linear or concave",
    "strongly convex": "4 strongly convex",
    "strongly convex and smooth": "5 strongly convex and smooth",
    "discretised": "6 given actions, ε ≈ T^(−1/5)",
}
"""What the paper assumes in each row, with its number; discretised calibration as a sixth."""
FAR = 0.1
"""An exponent this much below another is far below it."""
LINEAR = 0.9
"""An exponent from which growth is called linear."""
_LOOKS = {1: (BLUE, "o"), 2: (VERMILION, "s"), 3: (GREEN, "^")}
_PLAYERS = {
    OURS: ("the row's learner", BLUE, "o"),
    NET: ("Blum–Mansour on a plain net", VERMILION, "s"),
    DESCENT: ("gradient descent", GREEN, "^"),
}


def values(summary: Mapping[str, Any]) -> dict[str, str]:
    """Exponents and guarantees of all rows, then the baselines."""
    cases = summary["cases"]
    descents = [c for c in cases if DESCENT in c["players"]]
    nets = [c for c in cases if NET in c["players"]]
    ratio, closest = max(
        (player["largest_ratio"], named(case))
        for case in cases
        for player in case["players"].values()
        if "largest_ratio" in player
    )
    low, high = ({id(c): _ours(c)["exponent"][end] for c in cases} for end in (1, 2))
    return {
        "first": f"{summary['horizons'][0]:,}",
        "last": f"{summary['horizons'][-1]:,}",
        "adversaries": str(summary["adversaries"]),
        "largest_ratio": f"{ratio:.2f}",
        "closest": closest,
        "log_adds": f"{max(c['paper_with_log'] - c['paper'] for c in cases):.2f}",
        "above": listed(named(c) for c in cases if low[id(c)] > c["paper"]),
        "above_with_log": listed(named(c) for c in cases if low[id(c)] > c["paper_with_log"]),
        "far": f"{FAR:g}",
        "far_below": listed(
            f"{named(c)}, {signed(_ours(c)['exponent'][0])} against {c['paper']:.2f}"
            for c in cases
            if c["paper"] - _ours(c)["exponent"][0] > FAR and high[id(c)] < c["paper"]
        ),
        "exponents": _exponents(cases),
        "linear": f"{LINEAR:g}",
        "descents": str(len(descents)),
        "linear_descents": str(
            sum(c["players"][DESCENT]["exponent"][0] >= LINEAR for c in descents)
        ),
        "nets": str(len(nets)),
        "faster_nets": str(sum(c["players"][NET]["exponent"][0] > _shared(c)[0] for c in nets)),
        "larger_nets": str(sum(c["players"][NET]["worst"][-1] > _at_last(c) for c in nets)),
        "shown_dim": str(_shown_dim(cases)),
        "shared_last": f"{descents[0]['players'][DESCENT]['horizons'][-1]:,}",
        "baselines": _baselines(descents),
    }


def pictures(summary: Mapping[str, Any]) -> dict[str, Callable[[], Figure]]:
    """Rows, and the baselines in the plane or on the line."""
    dim = _shown_dim(summary["cases"])
    return {
        "table": lambda: draw_rows(summary),
        "baselines": lambda: draw_baselines(summary, dim),
    }


def named(case: Case) -> str:
    """Row and dimension."""
    return f"row {ROWS[case['row']]} in d = {case['dim']}"


def _shown_dim(cases: Iterable[Case]) -> int:
    return min(2, max(c["dim"] for c in cases if DESCENT in c["players"]))


def _exponents(cases: Iterable[Case]) -> str:
    return table(
        ("row", "d", "measured exponent", "paper", "guarantee", "measured at the largest T",
         "guaranteed at most", "largest ratio", "worst adversary"),
        [
            (ROWS[c["row"]], str(c["dim"]), interval(ours["exponent"]), f"{c['paper']:.2f}",
             f"{ours['guaranteed_exponent']:.2f}", figures(ours["worst"][-1]),
             figures(ours["guaranteed"][-1]), f"{ours['largest_ratio']:.2f}",
             spaced(ours["adversary"][-1]))
            for c in cases
            for ours in (_ours(c),)
        ],
    )  # fmt: skip


def _baselines(cases: Iterable[Case]) -> str:
    rows = []
    for c in cases:
        net, descent = c["players"].get(NET), c["players"][DESCENT]
        plain = (interval(net["exponent"]), figures(net["worst"][-1])) if net else ("–", "–")
        rows.append(
            (ROWS[c["row"]], str(c["dim"]), interval(_shared(c)), figures(_at_last(c)), *plain,
             interval(descent["exponent"]), figures(descent["worst"][-1]))
        )  # fmt: skip
    return table(
        ("row", "d", "row’s learner", "regret", "plain net", "regret", "gradient descent",
         "regret"),
        rows,
    )  # fmt: skip


def _shared(case: Case) -> list[float]:
    """Exponent of the row's learner over the horizons that the others played."""
    ours, count = _ours(case), len(case["players"][DESCENT]["horizons"])
    return exponent(ours["horizons"][:count], ours["worst"][:count])


def _at_last(case: Case) -> float:
    """Regret of the row's learner at the largest T that the others played."""
    return float(_ours(case)["worst"][len(case["players"][DESCENT]["horizons"]) - 1])


def _ours(case: Case) -> Mapping[str, Any]:
    ours: Mapping[str, Any] = case["players"][OURS]
    return ours


def draw_rows(summary: Mapping[str, Any]) -> Figure:
    """A panel a row: measured and guaranteed against T, one colour a dimension."""
    from matplotlib.lines import Line2D

    def panel(ax: Axes, cases: list[Case]) -> None:
        for c in cases:
            ours, (colour, marker) = _ours(c), _LOOKS[c["dim"]]
            label = f"d = {c['dim']}:  {ours['exponent'][0]:.2f}  ({c['paper']:.2f})"
            ax.plot(ours["horizons"], ours["guaranteed"], "--", color=colour, lw=0.9)
            ax.plot(ours["horizons"], ours["worst"], color=colour, marker=marker, ms=4.5,
                    lw=1.4, label=label)  # fmt: skip

    label = "full swap regret (row 6: discretised)"
    figure = _panels(summary, panel, lambda case: True, "exponent (paper’s)", label)
    looks = {"measured, worst adversary found": "-", "guaranteed at most": "--"}
    key = [Line2D([], [], color="0.3", ls=ls, lw=1.2) for ls in looks.values()]
    figure.legend(key, list(looks), loc="outside lower right", ncols=2, frameon=False,
                  fontsize=SMALL, handlelength=2.8)  # fmt: skip
    return figure


def draw_baselines(summary: Mapping[str, Any], dim: int) -> Figure:
    """A panel a row: the three players against T in one dimension."""

    def panel(ax: Axes, cases: list[Case]) -> None:
        for player, found in cases[0]["players"].items():
            name, colour, marker = _PLAYERS[player]
            slope = (_shared(cases[0]) if player == OURS else found["exponent"])[0]
            label = f"{name}:  {slope:.2f}"
            shared = len(cases[0]["players"][DESCENT]["horizons"])
            ax.plot(found["horizons"][:shared], found["worst"][:shared], color=colour,
                    marker=marker, ms=4.5, lw=1.4, label=label)  # fmt: skip

    def wanted(case: Case) -> bool:
        return case["dim"] == dim and DESCENT in case["players"]

    return _panels(summary, panel, wanted, "exponent")


def _panels(
    summary: Mapping[str, Any],
    panel: Callable[[Axes, list[Case]], None],
    wanted: Callable[[Case], bool],
    title: str,
    ylabel: str = "full swap regret",
) -> Figure:
    shown = [c for c in summary["cases"] if wanted(c)]
    rows = list(dict.fromkeys(c["row"] for c in shown))
    figure = new_figure(10.5, 6.4, arranged=True)
    grid = figure.subplots(2, 3, sharex=True).ravel()
    for ax, row in zip(grid, rows, strict=False):
        panel(ax, [c for c in shown if c["row"] == row])
        log_scales(ax)
        ax.set_title(
            ROWS[row].replace("T^(−1/5)", "$T^{-1/5}$"), loc="left", fontsize=10, color=INK
        )
        # room below the lines for the legend
        low, high = ax.get_ylim()
        ax.set_ylim(low / (high / low) ** 0.35, high)
        ax.legend(loc="lower right", frameon=False, fontsize=SMALL, handlelength=1.6, title=title,
                  title_fontsize=SMALL, alignment="right")  # fmt: skip
        ax.tick_params(labelbottom=True)
    for ax in grid[len(rows) :]:
        ax.set_visible(False)
    figure.supxlabel("rounds T", fontsize=10, color=INK)
    figure.supylabel(ylabel, fontsize=10, color=INK)
    return figure
