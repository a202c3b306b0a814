"""The page for everybody: keyboards, phones, dark rooms, screen readers, bad lines, bad names."""

import re

import pytest

from service.page_data import HOSTILE
from service.page_tab import CUT, OUTSIDE, POLL, SETTLED, names, of


def test_a_walk_by_keyboard(opened, fake):
    tab = opened()
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to the content"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "main"
    tab.keyboard.press("/")
    assert tab.evaluate("document.activeElement.id") == "search"
    tab.keyboard.type("sensor-0001")
    tab.wait_for_url("**search=sensor-0001")  # beginnings of it match as many
    tab.wait_for_selector(SETTLED)
    assert "100 of 300" in tab.inner_text("#matches")
    assert tab.input_value("#search") == "sensor-0001"
    for _ in range(40):
        tab.keyboard.press("Tab")
        focus = tab.evaluate(
            "() => { const e = document.activeElement, s = getComputedStyle(e);"
            " return [e.dataset.name, parseFloat(s.outlineWidth), s.outlineStyle] }"
        )
        assert focus[1:] == [3, "solid"]
        if focus[0] == "stream":
            break
    tab.keyboard.press("Enter")
    tab.wait_for_selector("th[aria-sort=ascending]")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("th[aria-sort=descending]:has-text('Stream')")
    tab.wait_for_selector(SETTLED)
    assert tab.evaluate("document.activeElement.dataset.name") == "stream"
    for _ in range(8):  # the other headers; then the first row
        tab.keyboard.press("Tab")
    first = names(tab)[0]
    assert tab.evaluate("document.activeElement.textContent") == first
    tab.keyboard.press("Enter")
    tab.wait_for_selector("svg.picture")
    assert tab.locator("h1").inner_text() == first


def test_hostile_names_are_text(opened, fake):
    tab = opened("#/?limit=100&sort=stream")
    for name in HOSTILE:
        tab.fill("#search", name)
        tab.wait_for_function(
            "name => [...document.querySelectorAll('tbody a')].map(a => a.textContent) == name",
            arg=name,
        )
        tab.locator("tbody a").click()
        tab.wait_for_selector("svg.picture")
        assert tab.locator("h1").text_content() == name
        tab.get_by_role("link", name="All streams").click()
        tab.wait_for_selector("tbody tr")
    assert tab.evaluate("window.broken") is None
    assert tab.locator("main img, main script").count() == 0


def test_groups_are_a_table_and_their_names_are_text(opened, fake):
    tab = opened(of(HOSTILE[0]), wait="svg.picture")
    rows = tab.locator("section[data-key=groups] tbody tr")
    assert rows.locator("th").all_text_contents() == ["everybody", *HOSTILE, "nobody"]
    second = [cell.replace("\u00a0", " ") for cell in rows.nth(2).locator("td").all_text_contents()]
    events = f"{int(fake.streams.events[0]) // 3:,}"
    assert second == [
        events, "42 %", "43 %", "5.2 points", "4.8 points", "9.2 points", "22.0 points"
    ]  # fmt: skip
    assert rows.last.locator("td").all_text_contents() == ["0", *"––––––"]
    assert tab.evaluate("window.broken") is None
    plain = opened(of(HOSTILE[1]), wait="svg.picture")
    assert plain.locator("section[data-key=groups]").count() == 0
    assert "undefined" not in plain.inner_text("main") and "null" not in plain.inner_text("main")


@pytest.mark.parametrize("hash_", ["#/?limit=25", "#/?search=w", of(HOSTILE[0]), of(HOSTILE[3])])
def test_nothing_is_cut(opened, fake, hash_):
    tab = opened(hash_)
    if "stream/" in hash_:
        tab.wait_for_selector("svg.picture")
    for width in (1280, 1152, 820, 390):
        tab.set_viewport_size({"width": width, "height": 800})
        tab.wait_for_timeout(100)  # pictures are drawn anew
        assert tab.evaluate(CUT) == {"wider": False, "cut": []}
        assert tab.evaluate(OUTSIDE) == []


def test_pictures_follow_the_width(opened, fake):
    tab = opened(of(HOSTILE[0]), wait="svg.picture")
    tab.set_viewport_size({"width": 390, "height": 800})
    tab.wait_for_function("() => document.querySelector('svg.picture').clientWidth < 340")
    assert tab.evaluate(CUT) == {"wider": False, "cut": []}


def test_light_and_dark(opened, fake):
    ground = "getComputedStyle(document.body).backgroundColor"
    tab = opened(color_scheme="dark")
    dark = tab.evaluate(ground)
    tab.get_by_role("button", name="Light").click()
    light = tab.evaluate(ground)
    assert dark != light
    tab.reload()
    tab.wait_for_selector("#title")
    assert tab.evaluate(ground) == light
    assert tab.get_by_role("button", name="Dark").count() == 1


def test_no_answer_is_said_and_does_not_wipe_the_page(opened, fake):
    tab = opened(clock=True)
    fake.failing = True
    tab.clock.run_for(POLL)
    tab.wait_for_selector("#trouble:has-text('The service cannot be reached since')")
    assert "The disk is full." in tab.locator("#trouble").inner_text()
    assert tab.locator("tbody tr").count() == 50
    fake.failing = False
    tab.get_by_role("button", name="Try again").click()
    tab.wait_for_selector("#trouble", state="hidden")
    assert tab.locator("#said").inner_text() == "The service answers again."
    tab.context.set_offline(True)
    tab.clock.run_for(POLL)
    tab.wait_for_selector("#trouble:has-text('It does not answer.')")
    tab.clock.run_for(3_000)
    assert re.search(r"updated \d+\ss ago", tab.locator("#updated").inner_text())


def test_updates_keep_focus_scroll_and_selection(opened, fake):
    tab = opened(clock=True)
    name = names(tab)[30]
    link = tab.get_by_role("link", name=name)
    link.focus()
    place = fake.streams.place[name]
    before = tab.evaluate("document.activeElement.getBoundingClientRect().top")
    asked, events = len(fake.asked), f"{int(fake.streams.events[place]) + 1:,}"
    fake.streams.settle(place)
    certain, fake.streams.certain[place] = fake.streams.certain[place], 0.9  # it is first now
    try:
        tab.clock.run_for(POLL)
        tab.wait_for_selector(f"tbody tr:first-child:has-text('{events}')")
    finally:
        fake.streams.certain[place] = certain
    assert len(fake.asked) == asked + 1
    assert names(tab)[0] == name
    assert tab.evaluate("document.activeElement.textContent") == name
    after = tab.evaluate("document.activeElement.getBoundingClientRect().top")
    assert abs(after - before) < 2 or tab.evaluate("scrollY") == 0
    tab.locator("#search").focus()
    tab.evaluate("getSelection().selectAllChildren(document.querySelector('.budget'))")
    chosen = tab.evaluate("String(getSelection())")
    tab.clock.run_for(POLL)
    tab.wait_for_selector("#updated:has-text('held while text is selected')")
    assert tab.evaluate("String(getSelection())") == chosen != ""


def test_a_hidden_or_paused_page_asks_nothing(opened, fake):
    tab = opened(clock=True)
    tab.evaluate(
        "() => { Object.defineProperty(document, 'hidden', {get: () => window.away});"
        " window.away = true; document.dispatchEvent(new Event('visibilitychange')) }"
    )
    asked = len(fake.asked)
    tab.clock.run_for(10 * POLL)
    assert len(fake.asked) == asked
    with tab.expect_response("**/v1/streams*"):
        tab.evaluate(
            "() => { window.away = false; document.dispatchEvent(new Event('visibilitychange')) }"
        )
    tab.get_by_role("button", name="Pause").click()
    tab.clock.run_for(10 * POLL)
    assert len(fake.asked) == asked + 1
    assert "paused" in tab.locator("#updated").inner_text()


def test_a_new_service_shows_the_first_command(opened, served, fake):
    fake.reset(0)
    tab = opened()
    text = tab.inner_text("main")
    assert f"curl {served[1]}v1/forecasts" in text and f"curl {served[1]}v1/outcomes" in text
    assert tab.evaluate(CUT) == {"wider": False, "cut": []}


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390), ("dark", 1280)])
def test_accessible(opened, fake, theme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for hash_, wait in (("#/?limit=25", "tbody tr"), (of(HOSTILE[0]), "svg.picture")):
        tab = opened(hash_, wait=wait, color_scheme=theme, viewport={"width": width, "height": 800})
        found = axe.run(tab).response["violations"]
        assert [(v["id"], [n["html"][:90] for n in v["nodes"][:3]]) for v in found] == []
