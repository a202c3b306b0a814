"""The section on the search for runs that break a guarantee."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fullswap.report.paper.section import Paragraph, Section, Table
from fullswap.report.paper.table import ROWS
from fullswap.report.paper.words import spaced
from fullswap.report.style import count_of, figures


def section(summary: Mapping[str, Any], command: str) -> Section:
    """The worst ratio of every row."""
    found = summary["searches"]
    worst = max(found, key=lambda s: s["ratio"])
    broken = [s for s in found if s["ratio"] > 1]
    verdict = "None was broken"
    if broken:
        verdict = f"**Broken: {count_of(len(broken), 'guarantee')}**"
    return Section(
        "The search: trying to break the guarantees",
        command,
        (
            Paragraph(
                f"For every row and dimension {worst['budget']} runs of {worst['rounds']:,} rounds "
                f"looked for the largest ratio of measured to guaranteed: half of them try "
                f"adversaries and settings, half climb from the worst so far. {verdict}; closest "
                f"came row "
                f"{ROWS[worst['row']]} in d = {worst['dim']}, with {worst['ratio']:.2f}."
            ),
            Table(
                "The worst run found for each row",
                ("row", "d", "measured", "guaranteed at most", "ratio", "adversary"),
                tuple(
                    (ROWS[s["row"]], str(s["dim"]), figures(s["measured"]),
                     figures(s["guaranteed"]), f"{s['ratio']:.2f}", spaced(s["adversary"]))
                    for s in found
                ),
            ),
        ),
    )  # fmt: skip
