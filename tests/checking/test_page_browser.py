"""The page in a browser: nothing fetched, nothing cut off, readable in both themes."""

import pytest

from browser import chromium
from checking.sample_check import HOSTILE, certificate, comparison, history, sample
from fullswap.checking.page import (
    fragment_of,
    fragment_of_comparison,
    page_of,
    page_of_comparison,
)
from fullswap.checking.page_forecast import fragment_of_forecast, page_of_forecast

CONTRASTS = """() => {
  const parse = c => {
    const m = c.match(/[\\d.]+/g).map(Number)
    return m.length < 4 ? [...m, 1] : m
  }
  const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1)
  const linear = v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4
  const light = c => {
    const [r, g, b] = c.map(v => linear(v / 255))
    return .2126 * r + .7152 * g + .0722 * b
  }
  const behind = e => {
    const layers = []
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor)
      if (c[3] > 0) layers.push(c)
      if (c[3] == 1) break
    }
    return layers.reverse().reduce((b, c) => over(c, b), [255, 255, 255, 1])
  }
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim(), e = walker.currentNode.parentElement
    if (!text || e.closest('script, style')) continue
    const style = getComputedStyle(e), inside = Boolean(e.closest('svg')), ground = behind(e)
    const colour = parse(inside ? style.fill : style.color)
    for (let up = e; up; up = up.parentElement)
      colour[3] *= Number(getComputedStyle(up).opacity)
    const a = light(over(colour, ground)), b = light(ground)
    found.push([(Math.max(a, b) + .05) / (Math.min(a, b) + .05), inside, text])
  }
  return found
}"""
HEADINGS = """() => [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')]
  .map(h => Number(h.tagName[1]))"""
OVERFLOW = "() => [document.scrollingElement.scrollWidth, innerWidth]"
NAMELESS = """() => [...document.querySelectorAll('svg:not([aria-hidden=true])')]
  .filter(s => s.getAttribute('role') != 'img' || !s.getAttribute('aria-label')).length"""
OUTSIDE = """() => [...document.querySelectorAll('svg.picture')].flatMap(svg => {
  const box = svg.parentElement.getBoundingClientRect()
  const cut = b => b.left < box.left || b.right > box.right
    || b.top < box.top || b.bottom > box.bottom
  return [...svg.querySelectorAll('text')]
    .filter(t => cut(t.getBoundingClientRect())).map(t => t.textContent)
})"""
CUT = """() => [...document.querySelectorAll('.table, .table td, .table th, .panels')]
  .filter(e => e.scrollWidth > e.clientWidth + 1 && !e.closest('thead'))
  .map(e => e.textContent.slice(0, 40))"""
PANELS = """() => [...document.querySelectorAll('.panels svg')]
  .map(e => e.getBoundingClientRect()).map(b => [Math.round(b.left), b.width])"""
FOCUS = """() => {
  const e = document.activeElement, s = getComputedStyle(e)
  return [e.getAttribute('role'), s.outlineStyle, parseFloat(s.outlineWidth),
    e.scrollWidth > e.clientWidth]
}"""


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    odd = sample(HOSTILE, classes=4, notes=HOSTILE, names={"p": HOSTILE[5]})
    before, after = sample(), sample(HOSTILE, notes=HOSTILE)
    streams = [(name, certificate(k)) for k, name in enumerate([*HOSTILE, "w" * 200])]
    texts = {
        "forecast": page_of_forecast(before, after, certificates=streams, alarms=HOSTILE),
        "alone": page_of_forecast(None, after, certificates=streams[:1], history=history()),
        "changed": f"<!doctype html><title>n</title>{fragment_of_forecast(before, after)}",
        "page": page_of(sample()),
        "odd": page_of(odd, title="w" * 200),
        "comparison": page_of_comparison(comparison(["base", "w" * 200])),
        "card": "<!doctype html><title>n</title>"
        f"{fragment_of_comparison(comparison(['base', 'a longer name']))}",
        "notebook": f"<!doctype html><title>n</title>{fragment_of(sample())}",
    }
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in texts}


@pytest.fixture
def opened(browser, files):
    """Opens a file; fails at the end if anything was fetched or complained about."""
    contexts, complaints, requests = [], [], []

    def open_(name, **settings):
        context = browser.new_context(**settings)
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(files[name])
        assert requests[-1] == files[name]
        return tab

    yield open_
    for context in contexts:
        context.close()
    assert not complaints
    assert len(requests) == len(contexts)


@pytest.mark.parametrize(
    "name", ["page", "odd", "comparison", "notebook", "card", "forecast", "alone", "changed"]
)
def test_fits_phones_and_desks(opened, name):
    tab = opened(name, viewport={"width": 360, "height": 740})
    for width in (360, 768, 1280):
        tab.set_viewport_size({"width": width, "height": 740})
        content, inner = tab.evaluate(OVERFLOW)
        assert inner == width and content <= inner
    assert tab.evaluate(OUTSIDE) == []


def test_a_card_of_models_fits_a_phone(opened):
    tab = opened("card", viewport={"width": 360, "height": 740})
    assert tab.evaluate("() => { const e = document.querySelector('.models');"
                        " return [e.scrollWidth <= e.clientWidth, e.clientWidth > 200] }") == [
        True, True,
    ]  # fmt: skip


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["page", "comparison", "notebook", "card", "forecast"])
def test_contrast(opened, name, theme):
    found = opened(name, color_scheme=theme).evaluate(CONTRASTS)
    assert sum(inside for _, inside, _ in found) > 5
    assert not [(round(ratio, 2), text) for ratio, _, text in found if ratio < 4.5]


@pytest.mark.parametrize("name", ["page", "odd", "comparison"])
def test_headings_and_names(opened, name):
    tab = opened(name)
    levels = tab.evaluate(HEADINGS)
    assert levels[0] == 1 and levels.count(1) == 1
    assert max(b - a for a, b in zip(levels[:-1], levels[1:], strict=True)) <= 1
    assert tab.evaluate(NAMELESS) == 0
    for landmark in ("header", "main", "footer"):
        assert tab.locator(f"body > {landmark}").count() == 1
    assert tab.evaluate("document.documentElement.lang") == "en"


def test_same_text_without_scripts(opened):
    with_scripts = opened("page").inner_text("body")
    assert opened("page", java_script_enabled=False).inner_text("body") == with_scripts
    assert "How sure?" in with_scripts


def test_tables_scroll_by_keyboard_with_visible_focus(opened):
    tab = opened("page", viewport={"width": 660, "height": 740})
    tab.keyboard.press("Tab")
    focused = tab.evaluate(FOCUS)
    assert focused == ["region", "solid", 3, True]


@pytest.mark.parametrize("name", ["page", "odd", "comparison"])
def test_tables_and_panels_need_no_scrolling_on_phones(opened, name):
    tab = opened(name, viewport={"width": 360, "height": 740})
    assert tab.locator(".table").count() >= 1
    assert tab.evaluate(CUT) == []
    shown = tab.locator("table.stacked td").first
    assert shown.evaluate("e => getComputedStyle(e, '::before').content") in (
        '"Miscalibrated"', '"Verdict"',
    )  # fmt: skip
    panels, count = tab.evaluate(PANELS), {"odd": 4, "comparison": 2}.get(name, 0)
    assert len(panels) == count
    assert len({left for left, _ in panels}) <= 1 and all(width > 200 for _, width in panels)
    tab.set_viewport_size({"width": 1280, "height": 740})
    assert len({left for left, _ in tab.evaluate(PANELS)}) == count


def test_paper_is_white_in_dark_theme(opened):
    tab = opened("page", color_scheme="dark")
    dark = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert dark != "rgb(255, 255, 255)"
    assert not [text for ratio, _, text in tab.evaluate(CONTRASTS) if ratio < 4.5]


def test_nothing_of_users_runs(opened):
    tab = opened("odd")
    tab.on("dialog", lambda dialog: pytest.fail("a script ran"))
    assert tab.locator("img").count() == 0
    assert tab.locator("div.table tbody th").first.inner_text().endswith(HOSTILE[0])
