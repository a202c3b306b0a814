"""What tests of a study share: rows as a table gives them back, and the words of a section."""

from __future__ import annotations

from fullswap.experiments.study import from_csv, to_csv
from fullswap.report.paper.section import Paragraph


def measured(jobs):
    """Rows as they come back from a table."""
    found = [{**job.arguments, **row} for job in jobs for row in job.measure(**job.arguments)]
    return from_csv(to_csv(found))


def text_of(section):
    """All paragraphs."""
    return " ".join(block.text for block in section.blocks if isinstance(block, Paragraph))
