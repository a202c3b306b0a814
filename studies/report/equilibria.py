"""Equilibria: seconds against the number of actions, rounds against the gap and the dimension."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fullswap.games.lp import MOST_ENTRIES
from fullswap.games.solve import FIRST_LOOK
from fullswap.report.style import figures
from studies.baselines import HASTE
from studies.fits import SMALLEST
from studies.report.equilibria_pictures import OURS, draw_rounds, draw_seconds, look_of
from studies.report.text import interval, listed, table

UNSTRUCTURED = "random, full rank"
AUTO = f"{OURS}auto"


def values(summary: dict[str, Any]) -> dict[str, str]:
    """What was measured of equilibria."""
    curves, rounds = summary["sizes"], summary["rounds"]
    usual = [m for m in dict.fromkeys(c["method"] for c in curves) if not m.startswith(OURS)]
    share = max(run["largest_share"] for run in rounds["runs"])
    return {
        "gap": f"{summary['gap']:g}",
        "budget": f"{summary['budget']:g}",
        "lp_entries": f"{MOST_ENTRIES / 1e6:g}",
        "lp_actions": f"{round((MOST_ENTRIES / 2) ** (1 / 3), -1):.0f}",
        "haste": f"{HASTE:g}",
        "usual": listed(f"{look_of(m)[2]}: {_most(curves, m):,}" for m in usual),
        **_auto([c for c in curves if c["method"] == AUTO]),
        "sizes": _sizes(curves),
        "actions": f"{rounds['actions']:,}",
        "games": str(rounds["games"]),
        "first_look": str(FIRST_LOOK),
        "largest_share": f"{100 * share:.0f} %",
        "exponents": _exponents(rounds),
        "rounds": _rounds(rounds["curves"]),
    }


def pictures(summary: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """Seconds against actions; rounds and seconds against the gap."""
    return {
        "equilibria-seconds": partial(draw_seconds, summary["sizes"], summary["budget"]),
        "equilibria-rounds": partial(draw_rounds, summary["rounds"]),
    }


def _most(curves: list[dict[str, Any]], method: str) -> int:
    solved = [p["actions"] for c in curves if c["method"] == method for p in c["points"]]
    return max(solved, default=0)


def _auto(curves: list[dict[str, Any]]) -> dict[str, str]:
    """How the default method fares in structured games, and in the one without structure."""
    structured = [c for c in curves if c["game"] != UNSTRUCTURED]
    ends = [(c["points"][0], c["points"][-1]) for c in structured]
    (plain,) = ((c["points"][0], c["points"][-1]) for c in curves if c["game"] == UNSTRUCTURED)
    return {
        "auto_done": str(sum(c["failed"] is None for c in structured)),
        "auto_games": str(len(structured)),
        "auto_actions": f"{max(last['actions'] for _, last in ends):,}",
        "auto_seconds": figures(max(last["seconds"] for _, last in ends)),
        "auto_wider": figures(min(last["actions"] / first["actions"] for first, last in ends)),
        "auto_longer": figures(max(_times_as_long(*pair) for pair in ends)),
        "plain_from": f"{plain[0]['actions']:,}",
        "plain_to": f"{plain[1]['actions']:,}",
        "plain_longer": figures(_times_as_long(*plain)),
    }


def _times_as_long(first: dict[str, Any], last: dict[str, Any]) -> float:
    return float(last["seconds"] / max(first["seconds"], SMALLEST))


def _sizes(curves: list[dict[str, Any]]) -> str:
    methods = list(dict.fromkeys(c["method"] for c in curves))
    cells = {(c["game"], c["method"]): _reached(c["points"], c["failed"]) for c in curves}
    return table(
        ("game", *(look_of(method)[2] for method in methods)),
        [
            (game, *(cells.get((game, method), "–") for method in methods))
            for game in dict.fromkeys(c["game"] for c in curves)
        ],
    )


def _reached(points: list[dict[str, Any]], failed: dict[str, Any] | None) -> str:
    text = "none"
    if points:
        text = f"{figures(points[-1]['seconds'])} s at {points[-1]['actions']:,}"
    if failed is None:
        return text
    reason = "too large" if failed["note"].startswith("too large") else "no result"
    return f"{text}; {reason} at {failed['actions']:,}"


def _exponents(rounds: dict[str, Any]) -> str:
    methods = list(dict.fromkeys(curve["method"] for curve in rounds["curves"]))
    measured = {(c["dim"], c["method"]): c["exponent"] for c in rounds["curves"]}
    return table(
        ("d", "paper", "guarantee", *(look_of(method)[2] for method in methods)),
        [
            (
                str(run["dim"]),
                f"{rounds['paper'][str(run['dim'])]:g}",
                interval(run["guaranteed_exponent"]),
                *(interval(measured.get((run["dim"], method))) for method in methods),
            )
            for run in rounds["runs"]
        ],
    )


def _rounds(curves: list[dict[str, Any]]) -> str:
    targets = sorted({p["target"] for c in curves for p in c["points"]}, reverse=True)
    rows = []
    for curve in curves:
        reached = {
            point["target"]: f"{point['rounds']:,.0f} ({figures(point['seconds'])} s)"
            for point in curve["points"]
        }
        cells = [reached.get(target, "–") for target in targets]
        rows.append((str(curve["dim"]), look_of(curve["method"])[2], *cells))
    return table(("d", "method", *(f"{target:g}" for target in targets)), rows)
