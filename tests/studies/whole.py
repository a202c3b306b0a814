"""What tests of a study share: rows as a journal gives them back, summaries of whole studies."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GOLDEN = ROOT / "tests" / "golden" / "quick.json"
SUMMARIES = {"quick": GOLDEN, "full": DOCS / "figures" / "summary.json"}


def kept(rows):
    """Rows as they come back from a journal."""
    return json.loads(json.dumps(rows))


def measured(jobs):
    """Rows of jobs, as they come back from a journal."""
    rows = [{**job.arguments, **row} for job in jobs for row in job.measure(**job.arguments)]
    return kept(rows)


def summary_of(scale):
    """The summary of a whole study, as it is stored."""
    return json.loads(SUMMARIES[scale].read_text(encoding="utf-8"))
