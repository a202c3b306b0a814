"""The page of references is what the package cites, and pages cite nothing else."""

import re
import sys

from docs.blocks import PAGES, ROOT
from fullswap.theorems import CITATIONS
from test_contracts import citations

sys.path.insert(0, str(ROOT / "docs"))


def test_the_page_has_every_key():
    import references

    written = references.PAGE.read_text(encoding="utf-8")
    assert written == references.page(), "`make references` writes it anew"
    assert [key for key in CITATIONS if key not in written] == []


def test_pages_and_studies_cite_known_keys():
    files = [*PAGES, *(ROOT / "studies").rglob("*.py")]
    cited = {key for path in files for key in citations(path.read_text(encoding="utf-8"))}
    assert "FKO25, Table 1 row 3" in cited
    assert cited - set(CITATIONS) == set()


def test_no_file_cites_lines_of_the_source():
    """Readers have the published paper, with its sections and numbers."""
    folders = [ROOT / name for name in ("src", "docs", "studies", "tests", "benchmarks")]
    files = [
        path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".md")
    ]
    files += [*ROOT.glob("*.md")]
    line = re.compile(r"\bL\d{3,4}\b")
    found = {str(path) for path in files if line.search(path.read_text(encoding="utf-8"))}
    assert found == set()
