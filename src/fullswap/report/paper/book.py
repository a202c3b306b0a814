"""All that a study says, in its folder: summary, pictures, the page and its Markdown twin."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fullswap.experiments.reproduce import PAGE, SUMMARY, TWIN
from fullswap.experiments.study import write
from fullswap.report.paper import (
    convex,
    equilibria,
    figure,
    forecasters,
    markdown,
    page,
    search,
    table,
)
from fullswap.report.paper.section import Section

SECTIONS: dict[str, Callable[[Any, str], Section]] = {
    "table": table.section,
    "search": search.section,
    "figure": figure.section,
    "convex": convex.section,
    "equilibria": equilibria.section,
    "forecasters": forecasters.section,
}
"""Part of the study ↦ its section, from its summary and the command that made it."""
PICTURES = "figures"


def sections(summary: Mapping[str, Any]) -> list[Section]:
    """One for every part of the summary, in its order."""
    how = f"--{summary['scale']}" + (f" --seed {summary['seed']}" if summary["seed"] else "")
    found = []
    for name, part in summary["parts"].items():
        logs = " --data FOLDER" if any(s.get("recorded") for s in part.get("streams", ())) else ""
        found.append(SECTIONS[name](part, f"fullswap reproduce {name} {how}{logs}"))
    return found


def publish(summary: Mapping[str, Any], folder: Path) -> list[Section]:
    """Write everything that follows from the summary; the same summary gives the same bytes."""
    write(folder / SUMMARY, json.dumps(summary, indent=1, ensure_ascii=False) + "\n")
    told = sections(summary)
    pictures = page.files(told)
    for name, content in pictures.items():
        write(folder / name, content)
    write(folder / PAGE, page.html(told, summary, pictures))
    write(folder / TWIN, markdown.markdown(told, summary, PICTURES))
    return told
