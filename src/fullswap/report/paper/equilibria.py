"""Equilibria: seconds against the number of actions, rounds against the gap and the dimension."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from fullswap.experiments.baselines import HASTE
from fullswap.experiments.fits import SMALLEST
from fullswap.games.lp import MOST_ENTRIES
from fullswap.games.solve import FIRST_LOOK
from fullswap.report.paper.section import Paragraph, Picture, Section, Table
from fullswap.report.paper.words import interval
from fullswap.report.style import (
    BLUE,
    GREEN,
    INK,
    LINE,
    SMALL,
    VERMILION,
    figures,
    log_scales,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PURPLE, _ORANGE, _GUIDE = "#AA4499", "#E69F00", "0.6"
_LOOKS: dict[str, tuple[str, str, str]] = {
    "LP": (INK, "s", "linear programme"),
    "Blum–Mansour, dense": (_ORANGE, "D", "Blum–Mansour on all actions"),
    "Lemke–Howson": ("0.5", "P", "Lemke–Howson"),
    "paper": (VERMILION, "o", "paper’s learner in self-play"),
    "weights": (_PURPLE, "v", "solve: weights"),
    "optimistic": (GREEN, "^", "solve: optimistic"),
    "matching": ("#56B4E9", "<", "solve: matching"),
    "auto": (BLUE, "*", "solve: auto"),
}
"""Method ↦ colour, marker, name."""
_OURS = "fullswap, "
_UNSTRUCTURED = "random, full rank"
_ABOVE = 1.35
"""Times the budget, where crosses are drawn: at the budget they would cover results."""
_DIFFERENT = {
    "LP": (
        f"the linear programme finds an exact equilibrium, the one of largest welfare, and is "
        f"tried while its constraints have at most {MOST_ENTRIES / 1e6:g} million entries, about "
        f"{round((MOST_ENTRIES / 2) ** (1 / 3), -1):.0f} actions a player"
    ),
    "Lemke–Howson": (
        "Lemke–Howson finds a Nash equilibrium and is given about as many pivots as that time "
        "allows"
    ),
    "Blum–Mansour, dense": (
        f"Blum–Mansour on all actions is written in numpy, not compiled, and learns {HASTE:g} "
        f"times faster than its theorem says, mostly the quickest of the rates tried"
    ),
}
"""Method ↦ how it differs from the others."""


def section(summary: dict[str, Any], command: str) -> Section:
    """What was measured of equilibria."""
    sizes, rounds = summary["sizes"], summary["rounds"]
    gap, budget = summary["gap"], summary["budget"]
    return Section(
        "Correlated equilibria of structured games",
        command,
        (
            Paragraph(
                f"How long until a correlated equilibrium is found? A run ends when the gap, what "
                f"a player could gain at most by swapping recommendations, is at most {gap:g}, "
                f"verified against every action of every player. A method climbs from small games "
                f"to large ones until it fails: no result within {budget:g} s, or more memory than "
                f"it may take. Times are CPU seconds of one thread. {_about_methods(sizes)}".strip()
            ),
            Picture(
                "equilibria-seconds",
                f"CPU seconds to a verified gap of {gap:g} against the number of actions of a "
                f"player. A cross marks the size at which a method failed, for time or memory, "
                f"drawn just above its budget of {budget:g} s (grey line).",
                lambda: _seconds_picture(sizes, budget),
            ),
            Paragraph(_about_sizes(summary)),
            _sizes_table(summary),
            Paragraph(
                f"In games of dimension d the paper’s learner, playing against itself, needs at "
                f"most Õ((1/ε)^((d + 3)/2)) rounds to a gap of ε, whatever the number of actions. "
                f"Below are games of random unit vectors with {rounds['actions']:,} actions a "
                f"player ({_games(rounds['games'])} for each d), played by that learner with its "
                f"horizon known, and solved by `fullswap.games.solve`."
            ),
            Picture(
                "equilibria-rounds",
                f"Rounds of self-play (above) and CPU seconds (below) against 1/ε: for the "
                f"paper’s learner the gap that was verified, for the solver the gap that was asked "
                f"for and verified to be met. Dashed: the slope (d + 3)/2 of the paper. Dotted: "
                f"the rounds after which the guarantee of the paper’s learner promises the gap. "
                f"The solver looks at the gap for the first time after {FIRST_LOOK} rounds; “auto” "
                f"often needs no self-play at all, and such runs have no place on the axis of "
                f"rounds.",
                lambda: _rounds_picture(rounds),
            ),
            Paragraph(_about_rounds(rounds)),
            _exponents_table(rounds),
            _rounds_table(rounds),
        ),
    )


def _about_methods(curves: list[dict[str, Any]]) -> str:
    met = dict.fromkeys(curve["method"] for curve in curves)
    said = [_DIFFERENT[method] for method in _DIFFERENT if method in met]
    return f"The methods do not all solve the same problem: {'; '.join(said)}." if said else ""


def _about_sizes(summary: dict[str, Any]) -> str:
    curves = summary["sizes"]
    games = list(dict.fromkeys(curve["game"] for curve in curves))
    said = []
    for method in dict.fromkeys(curve["method"] for curve in curves):
        if not method.startswith(_OURS):
            most = max((p["actions"] for c in curves if c["method"] == method for p in c["points"]),
                       default=0)  # fmt: skip
            said.append(f"{_look(method)[2]}: {most:,}" if most else f"{_look(method)[2]}: none")
    text = f"The most actions at which the usual methods succeeded on any game: {'; '.join(said)}. "
    if summary["absent"]:
        text += f"Not installed, hence not measured: {', '.join(summary['absent'])}. "
    auto = {
        curve["game"]: curve
        for curve in curves
        if curve["method"] == f"{_OURS}auto" and curve["game"] != _UNSTRUCTURED and curve["points"]
    }
    if auto:
        done = [game for game, curve in auto.items() if curve["failed"] is None]
        ends = [(curve["points"][0], curve["points"][-1]) for curve in auto.values()]
        slowest = max(last["seconds"] for _, last in ends)
        growth = max(_times_as_long(first, last) for first, last in ends)
        wider = min(last["actions"] / first["actions"] for first, last in ends)
        structured = [game for game in games if game != _UNSTRUCTURED]
        text += (
            f"`solve` with its default method solved "
            f"{'all' if len(done) == len(structured) else f'{len(done)} of the'} "
            f"{len(structured)} structured games at every size tried, up to "
            f"{max(last['actions'] for _, last in ends):,} actions. The largest game of each kind "
            f"{'' if len(done) == len(structured) else 'that it solved '}took at most "
            f"{figures(slowest)} s. It has at least {figures(wider)} times as many actions as the "
            f"smallest one and took at most {figures(growth)} times as long. "
        )
    plain = [c for c in curves if c["game"] == _UNSTRUCTURED and c["method"] == f"{_OURS}auto"]
    if plain and len(plain[0]["points"]) >= 2:
        first, last = plain[0]["points"][0], plain[0]["points"][-1]
        ratio = _times_as_long(first, last)
        text += (
            f"Without structure time must grow{'' if ratio > 1 else ', if not yet here'}: "
            f"{last['actions']:,} actions took {figures(ratio)} times as long as "
            f"{first['actions']:,}."
        )
    return text.strip()


def _times_as_long(first: dict[str, Any], last: dict[str, Any]) -> float:
    return float(last["seconds"] / max(first["seconds"], SMALLEST))


def _about_rounds(rounds: dict[str, Any]) -> str:
    said = []
    own = [c for c in rounds["curves"] if c["method"] == "paper"]
    for curve in own:
        if curve["exponent"] is not None:
            paper = rounds["paper"][str(curve["dim"])]
            said.append(
                f"{_interval(curve['exponent'])} for d = {curve['dim']} "
                f"({_compared(curve['exponent'], paper)} the paper’s {paper:g})"
            )
    text = ""
    if said:
        text += f"Measured exponents of the paper’s learner: {', '.join(said)}. "
    if any(_compared(c["exponent"], rounds["paper"][str(c["dim"])]) == "above"
           for c in own if c["exponent"] is not None):  # fmt: skip
        text += (
            "An exponent above the paper’s contradicts nothing: a curve far below its guarantee "
            "may be steeper than it for a while, and these horizons are short. "
        )
    if rounds["runs"]:
        share = max(run["largest_share"] for run in rounds["runs"])
        told = "No measured gap exceeded" if share <= 1 else "The largest measured gap was"
        # rounded up, as the sentence says "exceeded"
        text += f"{told} {math.ceil(100 * share)} % of its guarantee. "
    low = [
        curve["exponent"][0]
        for curve in rounds["curves"]
        if curve["exponent"] is not None
        and curve["method"] != "paper"
        and _compared(curve["exponent"], rounds["paper"][str(curve["dim"])]) == "far below"
    ]
    if low:
        text += (
            f"The solver’s faster rules have exponents far below the paper’s ({min(low):.2f} to "
            f"{max(low):.2f} where they could be told apart): these are random games and players "
            f"who follow a rule, not the worst case, and no bound of this kind is claimed for "
            f"them; each result is verified afterwards instead."
        )
    return text.strip() or "Too few gaps were reached for exponents."


def _compared(exponent: tuple[float, float, float | None], paper: float) -> str:
    _, low, high = exponent
    if high is not None and high < paper:
        return "far below" if high < paper - 0.5 else "below"
    return "above" if low > paper else "not told apart from"


def _sizes_table(summary: dict[str, Any]) -> Table:
    curves = summary["sizes"]
    methods = list(dict.fromkeys(curve["method"] for curve in curves))
    rows = []
    for game in dict.fromkeys(curve["game"] for curve in curves):
        cells = [str(game)]
        for method in methods:
            here = [c for c in curves if c["game"] == game and c["method"] == method]
            cells.append(_reached(here[0]["points"], here[0]["failed"]) if here else "–")
        rows.append(tuple(cells))
    return Table(
        "CPU seconds at the largest number of actions solved, and the size that failed",
        ("game", *(_look(method)[2] for method in methods)),
        tuple(rows),
    )


def _reached(points: list[dict[str, Any]], failed: dict[str, Any] | None) -> str:
    text = "none"
    if points:
        text = f"{figures(points[-1]['seconds'])} s at {points[-1]['actions']:,}"
    if failed is None:
        return text
    reason = "too large" if failed["note"].startswith("too large") else "no result"
    return f"{text}; {reason} at {failed['actions']:,}"


def _exponents_table(rounds: dict[str, Any]) -> Table:
    methods = list(dict.fromkeys(curve["method"] for curve in rounds["curves"]))
    rows = []
    for run in rounds["runs"]:
        dim = run["dim"]
        found = {c["method"]: c["exponent"] for c in rounds["curves"] if c["dim"] == dim}
        cells = [_interval(found.get(method)) for method in methods]
        paper = f"{rounds['paper'][str(dim)]:g}"
        rows.append((str(dim), paper, _interval(run["guaranteed_exponent"]), *cells))
    return Table(
        f"Exponents a of rounds ≈ c·(1/gap)^a with 95 % intervals; – where fewer than four points "
        f"were reached, or gaps did not fall. Points that the solver reached at its first look, "
        f"after {FIRST_LOOK} rounds or none, are left out",
        ("d", "paper", "guarantee", *(_look(method)[2] for method in methods)),
        tuple(rows),
    )


def _rounds_table(rounds: dict[str, Any]) -> Table:
    targets = sorted({p["target"] for c in rounds["curves"] for p in c["points"]}, reverse=True)
    rows = []
    for curve in rounds["curves"]:
        found = {point["target"]: point for point in curve["points"]}
        cells = [
            f"{found[t]['rounds']:,.0f} ({figures(found[t]['seconds'])} s)" if t in found else "–"
            for t in targets
        ]
        rows.append((str(curve["dim"]), _look(curve["method"])[2], *cells))
    return Table(
        "Rounds (and CPU seconds) to a verified gap; – where it was not reached in every game",
        ("d", "method", *(f"{target:g}" for target in targets)),
        tuple(rows),
    )


def _seconds_picture(curves: list[dict[str, Any]], budget: float) -> Figure:
    from matplotlib.ticker import LogLocator

    games = list(dict.fromkeys(curve["game"] for curve in curves))
    columns = min(3, len(games))
    lines = -(-len(games) // columns)
    figure = new_figure(2.7 * columns + 0.6, 2.35 * lines + 0.9, arranged=True)
    grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    spare = grid.flat[len(games) :]
    for ax in spare:
        ax.set_axis_off()
    for place, (ax, game) in enumerate(zip(grid.flat, games, strict=False)):
        log_scales(ax)
        # numbers of actions are long: only powers of ten are written
        ax.xaxis.set_major_locator(LogLocator())
        ax.axhline(budget, color=_GUIDE, linewidth=0.8, zorder=1)
        crosses: dict[int, int] = {}
        for curve in (c for c in curves if c["game"] == game):
            _climb(ax, curve, budget, crosses)
        ax.set_title(game, loc="left", fontsize=10, color=INK)
        if place % columns == 0:
            ax.set_ylabel("CPU seconds", fontsize=9, color=INK)
        if place + columns >= len(games):
            ax.set_xlabel("actions of a player", fontsize=9, color=INK)
            ax.tick_params(labelbottom=True)
    _legend(figure, [curve["method"] for curve in curves], into=spare[0] if len(spare) else None)
    return figure


def _climb(ax: Axes, curve: dict[str, Any], budget: float, crosses: dict[int, int]) -> None:
    colour = _look(curve["method"])[0]
    wide = 1.8 if curve["method"] == f"{_OURS}auto" else 1.1
    xs = [point["actions"] for point in curve["points"]]
    ys = [max(point["seconds"], SMALLEST) for point in curve["points"]]
    ax.plot(xs, ys, linewidth=wide, **_marked(curve["method"]))
    if curve["failed"] is not None:
        # crosses at one place stand side by side
        actions = curve["failed"]["actions"]
        shown = actions * 1.3 ** crosses.get(actions, 0)
        crosses[actions] = crosses.get(actions, 0) + 1
        height = _ABOVE * budget
        ax.plot([*xs[-1:], shown], [*ys[-1:], height], color=colour, linewidth=0.8, linestyle=":")
        ax.plot([shown], [height], color=colour, marker="x", markersize=7, markeredgewidth=1.6,
                linestyle="none")  # fmt: skip


def _rounds_picture(rounds: dict[str, Any]) -> Figure:
    runs = rounds["runs"]
    figure = new_figure(2.7 * len(runs) + 0.8, 5.4, arranged=True)
    grid = figure.subplots(2, len(runs), sharex=True, sharey="row", squeeze=False)
    for column, run in enumerate(runs):
        above, below = grid[:, column]
        for ax, key in ((above, "rounds"), (below, "seconds")):
            log_scales(ax)
            for curve in (c for c in rounds["curves"] if c["dim"] == run["dim"]):
                _descent(ax, curve, run, key)
        paper = rounds["paper"][str(run["dim"])]
        inverse = [_inverse(point["guaranteed"]) for point in run["points"]]
        counts = [point["rounds"] for point in run["points"]]
        above.plot(inverse, counts, color=VERMILION, linewidth=1.2, linestyle=":")
        _guide(above, run["points"], paper)
        above.set_title(f"d = {run['dim']}", loc="left", fontsize=10, color=INK)
        below.set_xlabel("1/ε, inverse of the gap", fontsize=9, color=INK)
    grid[0, 0].set_ylabel("rounds", fontsize=9, color=INK)
    grid[1, 0].set_ylabel("CPU seconds", fontsize=9, color=INK)
    from matplotlib.lines import Line2D

    guides = [
        Line2D([], [], color=VERMILION, linewidth=1.2, linestyle=":",
               label="guarantee of the paper’s learner"),
        Line2D([], [], color=LINE, linewidth=1.2, linestyle="--", label="slope (d + 3)/2"),
    ]  # fmt: skip
    _legend(figure, [curve["method"] for curve in rounds["curves"]], guides)
    return figure


def _descent(ax: Axes, curve: dict[str, Any], run: dict[str, Any], key: str) -> None:
    if curve["method"] == "paper":
        points = [(_inverse(point["gap"]), point[key]) for point in run["points"]]
    else:
        points = [(1 / point["target"], point[key]) for point in curve["points"] if point[key] > 0]
    wide = 1.8 if curve["method"] in ("paper", "auto") else 1.1
    xs, ys = zip(*points, strict=True) if points else ((), ())
    ax.plot(xs, ys, linewidth=wide, **_marked(curve["method"]))


def _guide(ax: Axes, points: list[dict[str, Any]], slope: float) -> None:
    """A line of this slope through the middle of the runs, over a factor of ten of 1/ε."""
    x = math.exp(fmean(math.log(_inverse(point["gap"])) for point in points))
    y = math.exp(fmean(math.log(point["rounds"]) for point in points))
    ends = [x / 10**0.5, x * 10**0.5]
    ax.plot(ends, [y * (end / x) ** slope for end in ends], color=LINE, linewidth=1.2,
            linestyle="--", zorder=1)  # fmt: skip


def _legend(
    figure: Figure, methods: list[str], more: Sequence[Any] = (), into: Axes | None = None
) -> None:
    """All methods, in axes that are free or below the others."""
    from matplotlib.lines import Line2D

    shown = [
        Line2D([], [], label=_look(method)[2], **_marked(method))
        for method in dict.fromkeys(methods)
    ]
    look = {"handles": [*shown, *more], "frameon": False, "fontsize": SMALL, "labelcolor": INK}
    if into is None:
        figure.legend(loc="outside lower center", ncols=3, **look)
    else:
        into.legend(loc="center left", labelspacing=0.8, **look)


def _look(method: str) -> tuple[str, str, str]:
    return _LOOKS[method.removeprefix(_OURS)]


def _marked(method: str) -> dict[str, Any]:
    colour, marker, _ = _look(method)
    return {"color": colour, "marker": marker, "markersize": 7 if marker == "*" else 4}


def _inverse(gap: float) -> float:
    return 1 / max(gap, SMALLEST)


def _interval(exponent: tuple[float, float, float | None] | None) -> str:
    return "–" if exponent is None else interval(*exponent)


def _games(number: int) -> str:
    return "one game" if number == 1 else f"medians over {number} games"
