"""Links between files of the repository lead somewhere. (`make docs` checks those of the site.)"""

import re

import pytest

from docs.blocks import PAGES, ROOT, name_of

LINK = re.compile(r"\]\(([^)\s#]+)(#[\w.-]+)?\)")
OTHERS = [ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=name_of)
def test_links_lead_to_files(page):
    targets = [match[1] for match in LINK.finditer(page.read_text(encoding="utf-8"))]
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []
