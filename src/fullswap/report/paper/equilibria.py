"""Equilibria: seconds against the number of actions, rounds against the gap and the dimension."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from fullswap.report.paper.section import Paragraph, Picture, Section, Table
from fullswap.report.style import BLUE, INK, LINE, SMALL, VERMILION, figures, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GREEN, _PURPLE, _ORANGE, _GUIDE = "#009E73", "#AA4499", "#E69F00", "0.6"
_LOOKS: dict[str, tuple[str, str, str]] = {
    "LP": (INK, "s", "linear programme"),
    "Blum–Mansour, dense": (_ORANGE, "D", "Blum–Mansour on all actions"),
    "Lemke–Howson": ("0.5", "P", "Lemke–Howson"),
    "paper": (VERMILION, "o", "paper's learner in self-play"),
    "weights": (_PURPLE, "v", "solve: weights"),
    "optimistic": (_GREEN, "^", "solve: optimistic"),
    "matching": ("#56B4E9", "<", "solve: matching"),
    "auto": (BLUE, "o", "solve: auto"),
}
"""Method ↦ colour, marker, name."""
_OURS = "fullswap, "
_UNSTRUCTURED = "random, full rank"


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
                f"it may take. Times are CPU seconds of one thread."
            ),
            Picture(
                "equilibria-seconds",
                f"CPU seconds to a verified gap of {gap:g} against the number of actions of a "
                f"player. A cross marks the size at which a method failed, at its budget of "
                f"{budget:g} s (grey line).",
                lambda: _seconds_picture(sizes, budget),
            ),
            Paragraph(_about_sizes(summary)),
            _sizes_table(summary),
            Paragraph(
                f"In games of dimension d the paper's learner, playing against itself, needs "
                f"Õ((1/ε)^((d + 3)/2)) rounds to a gap of ε, whatever the number of actions. "
                f"Below are games of random unit vectors with {rounds['actions']:,} actions a "
                f"player ({_games(rounds['games'])} for each d), played by that learner with its "
                f"horizon known, and solved by `fullswap.games.solve`."
            ),
            Picture(
                "equilibria-rounds",
                "Rounds of self-play (above) and CPU seconds (below) against the inverse of the "
                "verified gap. Dashed: the slope (d + 3)/2 of the paper. Dotted: the rounds after "
                "which the guarantee of the paper's learner promises the gap. The solver looks at "
                "the gap for the first time after 32 rounds; “auto” often needs no self-play at "
                "all, and such runs have no place on the axis of rounds.",
                lambda: _rounds_picture(rounds),
            ),
            Paragraph(_about_rounds(rounds)),
            _exponents_table(rounds),
            _rounds_table(rounds),
        ),
    )


def _about_sizes(summary: dict[str, Any]) -> str:
    curves = summary["sizes"]
    games = list(dict.fromkeys(curve["game"] for curve in curves))
    said = []
    for method in dict.fromkeys(curve["method"] for curve in curves):
        if not method.startswith(_OURS):
            most = max((p["actions"] for c in curves if c["method"] == method for p in c["points"]),
                       default=0)  # fmt: skip
            said.append(f"{_look(method)[2]}: {most:,}" if most else f"{_look(method)[2]}: none")
    text = f"The most actions at which the usual means succeeded on any game: {'; '.join(said)}. "
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
        growth = max(last["seconds"] / max(first["seconds"], 1e-9) for first, last in ends)
        wider = min(last["actions"] / first["actions"] for first, last in ends)
        structured = [game for game in games if game != _UNSTRUCTURED]
        text += (
            f"`solve` with its default method solved "
            f"{'all' if len(done) == len(structured) else f'{len(done)} of the'} "
            f"{len(structured)} structured games at every size tried, up to "
            f"{max(last['actions'] for _, last in ends):,} actions, and the largest that it solved "
            f"of each in at most {figures(slowest)} s. That has at least {figures(wider)} times "
            f"as many actions as the smallest, and took at most {figures(growth)} times as long. "
        )
    plain = [c for c in curves if c["game"] == _UNSTRUCTURED and c["method"] == f"{_OURS}auto"]
    if plain and len(plain[0]["points"]) >= 2:
        first, last = plain[0]["points"][0], plain[0]["points"][-1]
        text += (
            f"Where payoffs have no structure no such thing is to be expected: {last['actions']:,} "
            f"actions took {figures(last['seconds'] / max(first['seconds'], 1e-9))} times as long "
            f"as {first['actions']:,}."
        )
    return text.strip()


def _about_rounds(rounds: dict[str, Any]) -> str:
    said = []
    own = [c for c in rounds["curves"] if c["method"] == "paper"]
    for curve in own:
        if curve["exponent"] is not None:
            paper = rounds["paper"][str(curve["dim"])]
            said.append(
                f"{_interval(curve['exponent'])} for d = {curve['dim']} "
                f"({_compared(curve['exponent'], paper)} the paper's {paper:g})"
            )
    text = ""
    if said:
        text += f"Measured exponents of the paper's learner: {', '.join(said)}. "
    if any(_compared(c["exponent"], rounds["paper"][str(c["dim"])]) == "above"
           for c in own if c["exponent"] is not None):  # fmt: skip
        text += (
            "An exponent above the paper's contradicts nothing: the bound has a logarithm, the "
            "points that are played change by steps, and these horizons are short. "
        )
    if rounds["runs"]:
        share = max(run["largest_share"] for run in rounds["runs"])
        told = "no measured gap exceeded" if share <= 1 else "the largest measured gap was"
        text += f"Guarantees are another matter than measurements: {told} {share:.0%} of its own. "
    low = [
        curve["exponent"][0]
        for curve in rounds["curves"]
        if curve["exponent"] is not None
        and curve["method"] != "paper"
        and _compared(curve["exponent"], rounds["paper"][str(curve["dim"])]) == "far below"
    ]
    if low:
        text += (
            f"The solver's faster rules have exponents far below the paper's ({min(low):.2f} to "
            f"{max(low):.2f} where they could be told apart): these are random games and players "
            f"who follow a rule, not the worst case, and no bound of this kind is claimed for "
            f"them; each result is verified afterwards instead."
        )
    return text.strip() or "Too few gaps were reached for exponents."


def _compared(exponent: list[float | None], paper: float) -> str:
    _, low, high = exponent
    if high is not None and high < paper:
        return "far below" if high < paper - 0.5 else "below"
    return "above" if low is not None and low > paper else "not told apart from"


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
        "Exponents a of rounds ≈ c·(1/gap)^a with 95 % intervals (– where fewer than four points "
        "were reached, or gaps did not fall)",
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
    games = list(dict.fromkeys(curve["game"] for curve in curves))
    columns = min(3, len(games))
    lines = -(-len(games) // columns)
    figure = new_figure(2.7 * columns + 0.6, 2.35 * lines + 0.9, arranged=True)
    grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    spare = grid.flat[len(games) :]
    for ax in spare:
        ax.set_axis_off()
    for place, (ax, game) in enumerate(zip(grid.flat, games, strict=False)):
        ax.set(xscale="log", yscale="log")
        ax.axhline(budget, color=_GUIDE, linewidth=0.8, zorder=0)
        crosses: dict[int, int] = {}
        for curve in (c for c in curves if c["game"] == game):
            _climb(ax, curve, budget, crosses)
        ax.set_title(game, loc="left", fontsize=10, color=INK)
        tidy(ax)
        if place % columns == 0:
            ax.set_ylabel("CPU seconds", fontsize=9, color=INK)
        if place + columns >= len(games):
            ax.set_xlabel("actions of a player", fontsize=9, color=INK)
            ax.tick_params(labelbottom=True)
    _legend(figure, [curve["method"] for curve in curves], into=spare[0] if len(spare) else None)
    return figure


def _climb(ax: Axes, curve: dict[str, Any], budget: float, crosses: dict[int, int]) -> None:
    colour, marker, _ = _look(curve["method"])
    wide = 1.8 if curve["method"] == f"{_OURS}auto" else 1.1
    xs, ys = ([point[key] for point in curve["points"]] for key in ("actions", "seconds"))
    ax.plot(xs, ys, color=colour, marker=marker, markersize=4, linewidth=wide)
    if curve["failed"] is not None:
        # crosses at one place stand side by side
        actions = curve["failed"]["actions"]
        shown = actions * 1.3 ** crosses.get(actions, 0)
        crosses[actions] = crosses.get(actions, 0) + 1
        ax.plot([*xs[-1:], shown], [*ys[-1:], budget], color=colour, linewidth=0.8, linestyle=":")
        ax.plot([shown], [budget], color=colour, marker="x", markersize=7, markeredgewidth=1.6,
                linestyle="none")  # fmt: skip


def _rounds_picture(rounds: dict[str, Any]) -> Figure:
    runs = rounds["runs"]
    figure = new_figure(2.7 * len(runs) + 0.8, 5.4, arranged=True)
    grid = figure.subplots(2, len(runs), sharex=True, sharey="row", squeeze=False)
    for column, run in enumerate(runs):
        above, below = grid[:, column]
        for ax, key in ((above, "rounds"), (below, "seconds")):
            ax.set(xscale="log", yscale="log")
            for curve in (c for c in rounds["curves"] if c["dim"] == run["dim"]):
                _descent(ax, curve, run, key)
            tidy(ax)
        paper = rounds["paper"][str(run["dim"])]
        inverse = [1 / point["guaranteed"] for point in run["points"]]
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
               label="guarantee of the paper's learner"),
        Line2D([], [], color=LINE, linewidth=1.2, linestyle="--", label="slope (d + 3)/2"),
    ]  # fmt: skip
    _legend(figure, [curve["method"] for curve in rounds["curves"]], guides)
    return figure


def _descent(ax: Axes, curve: dict[str, Any], run: dict[str, Any], key: str) -> None:
    colour, marker, _ = _look(curve["method"])
    if curve["method"] == "paper":
        points = [(1 / point["gap"], point[key]) for point in run["points"]]
    else:
        points = [(1 / point["target"], point[key]) for point in curve["points"] if point[key] > 0]
    wide = 1.8 if curve["method"] in ("paper", "auto") else 1.1
    ax.plot(*zip(*points, strict=True) if points else ([], []), color=colour, marker=marker,
            markersize=4, linewidth=wide)  # fmt: skip


def _guide(ax: Axes, points: list[dict[str, Any]], slope: float) -> None:
    """A line of this slope through the middle of the runs, over a factor of ten of 1/ε."""
    x = math.exp(fmean(-math.log(point["gap"]) for point in points))
    y = math.exp(fmean(math.log(point["rounds"]) for point in points))
    ends = [x / 10**0.5, x * 10**0.5]
    ax.plot(ends, [y * (end / x) ** slope for end in ends], color=LINE, linewidth=1.2,
            linestyle="--", zorder=0)  # fmt: skip


def _legend(
    figure: Figure, methods: list[str], more: Sequence[Any] = (), into: Axes | None = None
) -> None:
    """All methods, in axes that are free or below the others."""
    from matplotlib.lines import Line2D

    shown = []
    for method in dict.fromkeys(methods):
        colour, marker, name = _look(method)
        shown.append(Line2D([], [], color=colour, marker=marker, markersize=4, label=name))
    look = {"handles": [*shown, *more], "frameon": False, "fontsize": SMALL, "labelcolor": INK}
    if into is None:
        figure.legend(loc="outside lower center", ncols=3, **look)
    else:
        into.legend(loc="center left", labelspacing=0.8, **look)


def _look(method: str) -> tuple[str, str, str]:
    return _LOOKS[method.removeprefix(_OURS)]


def _interval(exponent: list[float | None] | None) -> str:
    """Slope and interval; an end that is infinite is left open."""
    if exponent is None:
        return "–"
    slope, low, high = exponent
    ends = f"{low:.2f} or more" if high is None else f"{low:.2f} to {high:.2f}"
    return f"{slope:.2f} ({ends})".replace("-", "−")


def _games(number: int) -> str:
    return "one game" if number == 1 else f"medians over {number} games"
