"""Equilibria: seconds against the number of actions, rounds against the gap and the dimension."""

from __future__ import annotations

import math
from typing import Any

from fullswap.experiments.baselines import HASTE
from fullswap.experiments.fits import SMALLEST
from fullswap.games.lp import MOST_ENTRIES
from fullswap.games.solve import FIRST_LOOK
from fullswap.report.paper.equilibria_pictures import OURS, draw_rounds, draw_seconds, look_of
from fullswap.report.paper.section import Paragraph, Picture, Section, Table
from fullswap.report.paper.words import interval
from fullswap.report.style import figures

_UNSTRUCTURED = "random, full rank"
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
                lambda: draw_seconds(sizes, budget),
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
                lambda: draw_rounds(rounds),
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
        if not method.startswith(OURS):
            most = max((p["actions"] for c in curves if c["method"] == method for p in c["points"]),
                       default=0)  # fmt: skip
            said.append(
                f"{look_of(method)[2]}: {most:,}" if most else f"{look_of(method)[2]}: none"
            )
    text = f"The most actions at which the usual methods succeeded on any game: {'; '.join(said)}. "
    if summary["absent"]:
        text += f"Not installed, hence not measured: {', '.join(summary['absent'])}. "
    auto = {
        curve["game"]: curve
        for curve in curves
        if curve["method"] == f"{OURS}auto" and curve["game"] != _UNSTRUCTURED and curve["points"]
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
    plain = [c for c in curves if c["game"] == _UNSTRUCTURED and c["method"] == f"{OURS}auto"]
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
        ("game", *(look_of(method)[2] for method in methods)),
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
        ("d", "paper", "guarantee", *(look_of(method)[2] for method in methods)),
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
        rows.append((str(curve["dim"]), look_of(curve["method"])[2], *cells))
    return Table(
        "Rounds (and CPU seconds) to a verified gap; – where it was not reached in every game",
        ("d", "method", *(f"{target:g}" for target in targets)),
        tuple(rows),
    )


def _interval(exponent: tuple[float, float, float | None] | None) -> str:
    return "–" if exponent is None else interval(*exponent)


def _games(number: int) -> str:
    return "one game" if number == 1 else f"medians over {number} games"
