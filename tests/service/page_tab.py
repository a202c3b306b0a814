"""The page in a tab of a browser, and what to look for there."""

import re
from contextlib import contextmanager
from urllib.parse import quote

POLL = 5_100
"""Milliseconds after which the page has asked again."""
SETTLED = "#rows:not([aria-busy])"
"""The rows are those that were asked for: headers are told first."""
EXPECTED = re.compile("status of (401|403|404|503)|ERR_INTERNET_DISCONNECTED")
"""What a browser says by itself about answers that are none."""
CUT = """() => {
  const width = document.documentElement.clientWidth;
  const scrolls = e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
  const cut = e => {
    const box = e.getBoundingClientRect();
    if (!box.width || !box.height || e.closest('svg, .hidden, .skip, details:not([open]) > div'))
      return false;
    const inner = e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display != 'inline';
    if (!scrolls(e) && inner) return true;
    return !e.closest('.scroller') && (box.right > width + 1 || box.left < -1);
  };
  return { wider: document.scrollingElement.scrollWidth > width,
    cut: [...document.querySelectorAll('body *')].filter(cut)
      .map(e => `${e.tagName}.${e.getAttribute('class')} ${e.textContent.slice(0, 40)}`) };
}"""
OUTSIDE = """() => [...document.querySelectorAll('svg.picture')].flatMap(svg => {
  const box = svg.parentElement.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(t => {
    const b = t.getBoundingClientRect();
    return b.left < box.left - 1 || b.right > box.right + 1 || b.bottom > box.bottom + 1;
  }).map(t => t.textContent);
})"""


@contextmanager
def tabs(browser, address):
    """Opens the page; fails at the end if it complained or asked another host."""
    contexts, complaints, asked = [], [], []

    def open_(hash_="", clock=False, wait="#title", **settings):
        settings.setdefault("viewport", {"width": 1280, "height": 800})
        context = browser.new_context(**settings)
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(20_000)
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("request", lambda request: asked.append(request.url))
        if clock:
            tab.clock.install()
        tab.goto(address + hash_)
        tab.wait_for_selector(wait)
        return tab

    try:
        yield open_
    finally:
        for context in contexts:
            context.close()
    assert [words for words in complaints if not EXPECTED.search(words)] == []
    assert asked and all(url.startswith(address) for url in asked)


def of(name):
    """The address of a stream."""
    return "#/stream/" + quote(name, safe="")


def names(tab):
    """The streams of the list, from top to bottom."""
    return tab.locator("tbody .stream a").all_inner_texts()
