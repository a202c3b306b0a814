"""The search for runs that break a guarantee."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fullswap.report.style import figures
from studies.report.table import ROWS, named
from studies.report.text import spaced, table


def values(summary: Mapping[str, Any]) -> dict[str, str]:
    """The worst run of every row."""
    searches = summary["searches"]
    worst = max(searches, key=lambda search: search["ratio"])
    return {
        "budget": str(worst["budget"]),
        "rounds": f"{worst['rounds']:,}",
        "largest_ratio": f"{worst['ratio']:.2f}",
        "closest": named(worst),
        "broken": str(sum(search["ratio"] > 1 for search in searches)),
        "worst": table(
            ("row", "d", "measured", "guaranteed at most", "ratio", "adversary"),
            [
                (ROWS[s["row"]], str(s["dim"]), figures(s["measured"]), figures(s["guaranteed"]),
                 f"{s['ratio']:.2f}", spaced(s["adversary"]))
                for s in searches
            ],
        ),
    }  # fmt: skip


def pictures(summary: Mapping[str, Any]) -> dict[str, Any]:
    """None."""
    return {}
