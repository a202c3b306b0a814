"""The site builds without a warning, fits every screen, asks no other host, can be searched."""

import subprocess
import sys

import pytest

from browser import chromium
from docs.blocks import ROOT

WIDTHS = (1280, 390)
CUT = """() => {
  const width = document.documentElement.clientWidth;
  const scrolls = e => ["auto", "scroll"].includes(getComputedStyle(e).overflowX);
  const isCut = e => {
    const box = e.getBoundingClientRect();
    if (!box.width || box.right <= width + 1) return false;
    for (let a = e; a && a !== document.body; a = a.parentElement)
      if (scrolls(a) && a.getBoundingClientRect().right <= width + 1) return false;
    return true;
  };
  const isScrolled = t => {
    for (let a = t; a && a !== document.body; a = a.parentElement)
      if (scrolls(a) && a.scrollWidth > a.clientWidth + 1) return true;
    return false;
  };
  const named = e => `${e.tagName} ${e.textContent.trim().slice(0, 40)}`;
  const shown = [...document.querySelectorAll("article :is(table, pre, img, p, li, dt, h1, h2, h3)")];
  return {
    wider: document.documentElement.scrollWidth > width,
    cut: shown.filter(isCut).map(named),
    scrolled: [...document.querySelectorAll("article table")].filter(isScrolled).map(named),
  };
}"""  # noqa: E501


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    folder = tmp_path_factory.mktemp("site")
    call = [
        sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html",
        "-d", str(folder / "doctrees"), str(ROOT / "docs"), str(folder / "html"),
    ]  # fmt: skip
    built = subprocess.run(call, capture_output=True, text=True, cwd=folder)
    assert built.returncode == 0, built.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site):
    made = ("genindex.html", "py-modindex.html", "search.html")
    return [page for page in sorted(site.rglob("*.html")) if page.name not in made]


def test_the_site_builds_strictly(pages):
    assert len(pages) > 40


def test_pages_fit_and_ask_nothing_of_other_hosts(pages, site):
    asked, troubles = [], {}
    with chromium() as browser:
        for width in WIDTHS:
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.on("request", lambda request: asked.append(request.url))
            for path in pages:
                page.goto(path.as_uri())
                found = page.evaluate(CUT)
                if width >= 1000 and found["scrolled"]:  # only a phone needs to scroll a table
                    found["cut"] += found["scrolled"]
                if found["wider"] or found["cut"]:
                    troubles[f"{path.relative_to(site)} at {width} px"] = found
    assert troubles == {}
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_search_works_without_a_server(site):
    with chromium() as browser:
        page = browser.new_page()
        page.goto((site / "search.html").as_uri() + "?q=Recalibrator")
        page.wait_for_selector("#search-results li a", timeout=20_000)
        assert page.locator("#search-results li a").count() > 3
