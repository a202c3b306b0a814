"""The section on the paper's table: growth of full swap regret, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from fullswap.experiments.fits import exponent
from fullswap.experiments.table import DESCENT, NET, OURS
from fullswap.report.paper.section import Paragraph, Picture, Section, Table
from fullswap.report.paper.words import FAR, interval, listed, spaced
from fullswap.report.style import (
    BLUE,
    GREEN,
    INK,
    SMALL,
    VERMILION,
    figures,
    log_scales,
    new_figure,
)

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
_ATTAINED = 0.95
"""A ratio of measured to guaranteed that needs explaining."""
LINEAR = 0.9
"""An exponent from which growth is called linear."""
_LOOKS = {1: (BLUE, "o"), 2: (VERMILION, "s"), 3: (GREEN, "^")}
_PLAYERS = {
    OURS: ("the row's learner", BLUE, "o"),
    NET: ("Blum–Mansour on a plain net", VERMILION, "s"),
    DESCENT: ("gradient descent", GREEN, "^"),
}


def section(summary: Mapping[str, Any], command: str) -> Section:
    """Exponents and guarantees of all rows, then the baselines."""
    cases = summary["cases"]
    shared = min(2, max(c["dim"] for c in cases if DESCENT in c["players"]))
    rounds = f"T = {summary['horizons'][0]:,} to {summary['horizons'][-1]:,}"
    return Section(
        "The table: how full swap regret grows",
        command,
        (
            Paragraph(
                f"Rows 1 to 5 of the paper’s main table on a standard problem in one, two and "
                f"three dimensions, and discretised swap regret with given actions on a line as "
                f"row 6, {rounds}, against the worst of {summary['adversaries']} adversaries. "
                f"{_verdict(cases)}"
            ),
            Paragraph(
                "Row 5 in d = 1 is l2 calibration: the full swap regret of the squared loss is "
                "the calibration error. Its exponent 1/3 is the best that is known; whether it "
                "can be improved is open."
            ),
            Paragraph(_beside_the_paper(cases)),
            *[Paragraph(text) for text in (_far_below(cases),) if text],
            Picture(
                "table",
                "Full swap regret against the worst adversary found (markers) and the guarantee "
                "(dashed) for each row of the table. In brackets the paper’s exponent.",
                lambda: draw_rows(summary),
            ),
            _exponents(cases, summary["horizons"][-1]),
            Paragraph(_baselines(cases)),
            Picture(
                "baselines",
                f"The row’s learner beside two that know nothing of the row, d = {shared}: "
                f"measured full swap regret against the worst adversary found for each.",
                lambda: draw_baselines(summary, shared),
            ),
            _baseline_table(cases),
        ),
    )


# ------------------------------------------------------------------------------------------ words


def _verdict(cases: Iterable[Case]) -> str:
    ratio, case, player = max(
        ((found["largest_ratio"], case, player)
         for case in cases for player, found in case["players"].items()
         if "largest_ratio" in found),
        key=lambda told: told[0],
    )  # fmt: skip
    if ratio > 1:
        return "**A run exceeds its guarantee**, which no theorem allows: please report it."
    who = "" if player == OURS else f", {_PLAYERS[player][0]}"
    text = (
        f"No run exceeds its guarantee; the largest ratio of measured to guaranteed is "
        f"{ratio:.2f} ({_named(case)}{who})."
    )
    if ratio > _ATTAINED:
        text += (
            " A ratio near 1 comes from short runs in which the best grid has hardly any points, "
            "so that the guarantee is attained."
        )
    return text


def _beside_the_paper(cases: Iterable[Case]) -> str:
    extra = max(c["paper_with_log"] - c["paper"] for c in cases)
    above = [c for c in cases if _ours(c)["exponent"][1] > c["paper"]]
    over = [c for c in above if _ours(c)["exponent"][1] > c["paper_with_log"]]
    text = (
        f"The rates of rows 1 to 5 are stated as T^a·log T. Over these T the logarithm alone adds "
        f"{extra:.2f} to a fitted exponent. "
    )
    if over:
        text += (
            f"The interval of the measured exponent lies wholly above the paper’s rate, logarithm "
            f"included, for {listed([_named(c) for c in over])}, and for no other. "
        )
    elif above:
        text += (
            f"Every measured exponent lies at or below that of the paper’s rate within its "
            f"interval; even without the logarithm all do but "
            f"{listed([_named(c) for c in above])}. "
        )
    else:
        text += "Every measured exponent lies at or below a within its interval, without it. "
    return text + (
        "Where intervals are wide that says little. The column “paper” is a, the column "
        "“guarantee” the exponent of our explicit bound over the same T, logarithms included."
    )


def _named(case: Case) -> str:
    return f"row {ROWS[case['row']]} in d = {case['dim']}"


def _far_below(cases: Iterable[Case]) -> str:
    far = [
        c
        for c in cases
        if c["paper"] - _ours(c)["exponent"][0] > FAR and _ours(c)["exponent"][2] < c["paper"]
    ]
    if not far:
        return ""
    told = "; ".join(
        f"{_named(c)}, {_ours(c)['exponent'][0]:.2f} against {c['paper']:.2f}" for c in far
    )
    return (
        f"Far below the paper’s exponent: {told}. There the adversaries found are not the worst "
        f"case, or the bound is not tight; these numbers cannot tell which."
    )


def _baselines(cases: Iterable[Case]) -> str:
    descents = [c for c in cases if DESCENT in c["players"]]
    linear = [c for c in descents if c["players"][DESCENT]["exponent"][0] >= LINEAR]
    nets = [c for c in cases if NET in c["players"]]
    faster = [c for c in nets if c["players"][NET]["exponent"][0] > _shared(c)[0]]
    larger = [c for c in nets if c["players"][NET]["worst"][-1] > _at_last(c)]
    return (
        f"Gradient descent has small external regret where losses are convex, and its full swap "
        f"regret grows about linearly (exponent at least {LINEAR}) in {len(linear)} of "
        f"{len(descents)} problems. On a line with linear or concave losses swap regret is no "
        f"harder than external regret: only the two ends are played. Blum–Mansour on a plain "
        f"net, the learner of row 1, is measured to grow faster than the row’s own learner in "
        f"{len(faster)} of {len(nets)} problems, and to have more regret at the largest T in "
        f"{len(larger)} of them. Gradient descent is split over the grid of the row’s learner: "
        f"played as it is, hardly any point would come twice, and every round could be swapped "
        f"on its own."
    )


# ----------------------------------------------------------------------------------------- tables


def _exponents(cases: Iterable[Case], last: int) -> Table:
    rows = []
    for c in cases:
        ours = _ours(c)
        rows.append((
            ROWS[c["row"]], str(c["dim"]), interval(*ours["exponent"]), f"{c['paper']:.2f}",
            f"{ours['guaranteed_exponent']:.2f}", figures(ours["worst"][-1]),
            figures(ours["guaranteed"][-1]), f"{ours['largest_ratio']:.2f}",
            spaced(ours["adversary"][-1]),
        ))  # fmt: skip
    return Table(
        f"Exponents of T with 95 % intervals, and the values at T = {last:,}",
        ("row", "d", "measured exponent", "paper", "guarantee", f"measured at T = {last:,}",
         "guaranteed at most", "largest ratio", "worst adversary"),
        tuple(rows),
    )  # fmt: skip


def _baseline_table(cases: Iterable[Case]) -> Table:
    rows, last = [], 0
    for c in cases:
        if DESCENT not in c["players"]:
            continue
        net, descent = c["players"].get(NET), c["players"][DESCENT]
        last = descent["horizons"][-1]
        rows.append((
            ROWS[c["row"]], str(c["dim"]),
            interval(*_shared(c)), figures(_at_last(c)),
            interval(*net["exponent"]) if net else "—", figures(net["worst"][-1]) if net else "—",
            interval(*descent["exponent"]), figures(descent["worst"][-1]),
        ))  # fmt: skip
    return Table(
        f"The row’s learner and the baselines: exponent up to T = {last:,}, and regret there",
        ("row", "d", "row’s learner", "regret", "plain net", "regret", "gradient descent",
         "regret"),
        tuple(rows),
    )  # fmt: skip


def _shared(case: Case) -> list[float]:
    """Exponent of the row's learner over the horizons that the others played."""
    ours, count = _ours(case), len(case["players"][DESCENT]["horizons"])
    return exponent(ours["horizons"][:count], ours["worst"][:count])


def _at_last(case: Case) -> float:
    """Regret of the row's learner at the largest T that the others played."""
    return float(_ours(case)["worst"][len(case["players"][DESCENT]["horizons"]) - 1])


def _ours(case: Case) -> Mapping[str, Any]:
    found: Mapping[str, Any] = case["players"][OURS]
    return found


# --------------------------------------------------------------------------------------- pictures


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
