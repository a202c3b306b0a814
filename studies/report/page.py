"""The page of a study: prose with placeholders, filled from the summary, and its pictures.

The page is a function of the summary: no date, no host, no settings of the reader's matplotlib.
The same summary gives the same bytes.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fullswap.report.style import figures
from studies.report import convex, equilibria, figure, search, table
from studies.runs import write
from studies.study import PAGE, SUMMARY, options

TEMPLATE = Path(__file__).parents[1] / "pages" / "measured.md"
SECTIONS: dict[str, Any] = {
    "table": table,
    "search": search,
    "figure": figure,
    "convex": convex,
    "equilibria": equilibria,
}
"""Prefix of placeholders ↦ what gives their values and the pictures beside them."""
_PLACEHOLDER = re.compile(r"\{\{ (\w+)\.(\w+) \}\}")


def render(summary: Mapping[str, Any], template: str | None = None) -> str:
    """The page; a section (from one heading to the next) is left out if its part was not run."""
    template = TEMPLATE.read_text(encoding="utf-8") if template is None else template
    values = page_values(summary)
    sections = re.split(r"^(?=##)", template, flags=re.MULTILINE)
    parts = [{prefix for prefix, _ in _PLACEHOLDER.findall(section)} for section in sections]
    unknown = set().union(*parts) - SECTIONS.keys() - values.keys()
    if unknown:
        raise ValueError(f"placeholders must begin with a part of the study, got {sorted(unknown)}")
    shown = [s for s, needed in zip(sections, parts, strict=True) if needed <= values.keys()]
    return _PLACEHOLDER.sub(lambda at: values[at[1]][at[2]], "".join(shown)).rstrip() + "\n"


def page_values(summary: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Texts for all placeholders, by prefix and name."""
    minutes = summary["cpu_seconds"] / 60
    about = {
        "scale": summary["scale"],
        "options": options(summary).removesuffix(" --seed 0"),
        "seed": str(summary["seed"]),
        "rows": f"{summary['runs']:,}",
        "time": f"{figures(minutes)} min",
        "versions": ", ".join(summary["versions"]),
        "source": ", ".join(summary["revisions"]),
    }
    return {"run": about} | {
        prefix: section.values(part) for prefix, section, part in _sections(summary)
    }


def page_pictures(summary: Mapping[str, Any]) -> dict[str, Callable[[], Any]]:
    """Name ↦ a function that draws it."""
    return {
        name: draw
        for _, section, part in _sections(summary)
        for name, draw in section.pictures(part).items()
    }


def _sections(summary: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    return [(prefix, SECTIONS[prefix], part) for prefix, part in summary["parts"].items()]


def svg(draw: Callable[[], Any]) -> bytes:
    """A picture whose bytes depend on what it shows alone.

    The reader's own settings of matplotlib are set aside meanwhile, text becomes outlines, and
    identifiers are hashed with a fixed salt.
    """
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"svg.hashsalt": "fullswap", "svg.fonttype": "path"})
        file = io.BytesIO()
        draw().savefig(file, format="svg", metadata={"Creator": "fullswap", "Date": None})
    return file.getvalue()


def publish(summary: Mapping[str, Any], folder: Path) -> None:
    """Write everything that follows from the summary: itself, pictures and the page."""
    write(folder / SUMMARY, json.dumps(summary, indent=1, ensure_ascii=False) + "\n")
    for name, draw in page_pictures(summary).items():
        write(folder / "figures" / f"{name}.svg", svg(draw))
    write(folder / PAGE, render(summary))
