"""What tests of a study share: rows as a table gives them back, and summaries of whole studies."""

from __future__ import annotations

import json
from pathlib import Path

from studies.runs import from_csv, to_csv

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GOLDEN = ROOT / "tests" / "golden" / "quick.json"
SUMMARIES = {"quick": GOLDEN, "full": DOCS / "figures" / "summary.json"}


def measured(jobs):
    """Rows as they come back from a table."""
    rows = [{**job.arguments, **row} for job in jobs for row in job.measure(**job.arguments)]
    return from_csv(to_csv(rows))


def summary_of(scale):
    """The summary of a whole study, as it is stored."""
    return json.loads(SUMMARIES[scale].read_text(encoding="utf-8"))
