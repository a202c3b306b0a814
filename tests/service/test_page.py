"""The page of the service in a browser, over made-up streams."""

import re
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from browser import chromium
from service.page_data import HOSTILE
from service.page_fake import PAGE, serving

MOST_BYTES = 80 * 1024
POLL = 5_100
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


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def served():
    with serving() as both:
        yield both


@pytest.fixture
def fake(served):
    served[0].reset()
    return served[0]


@pytest.fixture
def opened(browser, served, fake):
    """Opens the page; fails at the end if it complained or asked another host."""
    contexts, complaints, asked = [], [], []
    expected = re.compile("status of (401|403|404|503)|ERR_INTERNET_DISCONNECTED")

    def open_(hash_="", clock=False, wait="#title", **settings):
        settings.setdefault("viewport", {"width": 1280, "height": 800})
        context = browser.new_context(**settings)
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(8_000)
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("request", lambda request: asked.append(request.url))
        if clock:
            tab.clock.install()
        tab.goto(served[1] + hash_)
        if wait:
            tab.wait_for_selector(wait)
        return tab

    yield open_
    for context in contexts:
        context.close()
    assert [words for words in complaints if not expected.search(words)] == []
    assert asked and all(url.startswith(served[1]) for url in asked)


def of(name):
    return "#/stream/" + quote(name, safe="")


def names(tab):
    return tab.locator("tbody .stream a").all_inner_texts()


def query(path):
    return {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}


def test_small_and_without_markup_from_text():
    files = [path for path in PAGE.iterdir() if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES
    code = "".join(path.read_text() for path in files if path.suffix == ".js")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", code)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", code)


def test_numbers_are_written_as_everywhere(opened):
    from fullswap.base.amounts import evidence_text, percent, points
    from fullswap.checking.page_parts_words import raised

    shares = [0.0, 0.00003, 0.0004, 0.0012, 0.00949, 0.0096, 0.0142, 0.0413, 0.3, 0.853, 0.9996, 1.0]
    logs = [-320.2, -4.5, -2.0, -0.3, 0.0, 0.2, 0.999, 1.0, 1.292, 1.3011, 3.6128, 11.99, 12.0, 25.3]
    said = opened().evaluate(
        """async ([shares, logs]) => {
          const w = await import('/static/words.js');
          return [shares.map(s => w.points(s)), shares.map(w.percent), logs.map(l => w.evidence(l))]
        }""",
        [shares, logs],
    )
    plain = [[text.replace("\xa0", " ") for text in texts] for texts in said]
    assert plain == [
        [points(s) for s in shares],
        [percent(s) for s in shares],
        [raised(evidence_text(value)) for value in logs],
    ]


def test_the_list_says_what_there_is(opened, fake):
    tab = opened()
    assert tab.locator("tbody tr").count() == 50
    assert query(fake.asked[0])["sort"] == "certain"
    worst = fake.list({"limit": 1})["streams"][0]
    row = tab.locator("tbody tr").first.inner_text().replace("\xa0", " ")
    for words in (
        worst["stream"], "miscalibrated", "the model: ", "7.1 points off", "chance 0.3",
        "tolerance 2.0", "250 : 1", "most 2,500 : 1", "54,768 events", "oldest 6 h", "6 h ago",
    ):  # fmt: skip
        assert words in row
    assert tab.locator("tbody tr").first.locator("svg.icon, svg.meter, svg.spark").count() >= 3
    tiles = tab.locator(".tiles").inner_text()
    for verdict, number in fake.list({})["counts"].items():
        assert verdict == "pending" or re.search(rf"{number}\s+{verdict}", tiles)
    assert "one false alarm in 100,000 events" in tab.locator(".budget").inner_text()
    assert tab.title() == "6\xa0alarms · fullswap"


def test_a_hundred_thousand_streams(opened, fake):
    fake.reset(100_000)
    tab = opened()
    assert "100,000 streams" in tab.inner_text("main")
    tab.get_by_role("button", name="Evidence", exact=True).click()
    tab.wait_for_selector("th[aria-sort=descending]:has-text('Evidence')")
    tab.get_by_role("link", name="Next").first.click()
    tab.wait_for_function("() => document.querySelector('#page').value == '2'")
    tab.fill("#page", "2000")
    tab.keyboard.press("Enter")
    tab.wait_for_function("() => document.querySelector('#page').value == '2000'")
    tab.wait_for_selector("#rows:not([aria-busy])")
    assert query(fake.asked[-1]) == {
        "sort": "evidence", "descending": "true", "limit": "50", "offset": "99950",
    }  # fmt: skip
    before = len(fake.asked)
    tab.locator("#search").press_sequentially("sensor-0999", delay=5)
    tab.wait_for_function("() => document.querySelector('#matches').textContent.startsWith('100 of')")
    assert len(fake.asked) - before <= 2  # not one a letter
    assert all("sensor-0999" in name for name in names(tab))
    assert tab.locator("tbody tr").count() == 50
    assert tab.evaluate("document.querySelectorAll('*').length") < 3_000
    assert tab.locator("#said").inner_text() == "100 of 100,000\xa0streams match"
    tab.select_option("#limit", "100")
    tab.wait_for_function("() => document.querySelectorAll('tbody tr').length == 100")


def test_filters_are_kept_in_the_address(opened, fake):
    tab = opened()
    tab.get_by_role("button", name="too little data to say").click()
    tab.wait_for_selector("#matches:has-text('88 of 300')")
    tab.get_by_role("button", name="too little data to say").click()
    tab.get_by_role("button", name="alarms").click()
    tab.wait_for_selector("#matches:has-text('6 of 300')")
    assert tab.get_by_role("button", name="alarms").get_attribute("aria-pressed") == "true"
    tab.reload()
    tab.wait_for_selector("#matches:has-text('6 of 300')")
    tab.go_back()
    tab.wait_for_selector("#matches:text-is('300 streams')")
    tab.fill("#search", "no such name")
    tab.wait_for_selector("text=No stream matches")
    tab.locator("#rows").get_by_role("link", name="Show all").click()
    tab.wait_for_selector("tbody tr")
    assert tab.input_value("#search") == ""


def test_a_stream_and_the_way_back(opened, fake):
    tab = opened()
    name = names(tab)[20]
    link = tab.get_by_role("link", name=name)
    link.scroll_into_view_if_needed()
    top = tab.evaluate("scrollY")
    assert top > 100
    link.click()
    tab.wait_for_selector("svg.picture")
    assert tab.locator("h1").inner_text() == name
    assert tab.evaluate("[document.activeElement.id, scrollY]") == ["title", 0]
    assert tab.title() == f"{name} · fullswap"
    tab.go_back()
    tab.wait_for_selector("tbody tr")
    assert tab.evaluate("scrollY") == top
    assert tab.evaluate("document.activeElement.textContent") == name


def test_what_a_stream_page_says(opened, fake):
    tab = opened(of(HOSTILE[0]), wait="svg.picture")
    text = tab.inner_text("main")
    for words in (
        "Miscalibrated: too high", "The model’s own probabilities are on average",
        "at most once in", "however often you look", "Acknowledge", "guaranteed at most 22.3",
        "Measured: 5.4\xa0points", "expected by chance", "Recent forecasts",
    ):  # fmt: skip
        assert words in text
    labels = [svg.get_attribute("aria-label") for svg in tab.locator("svg.picture").all()]
    assert [label.split(".")[0] for label in labels] == [
        "Said against happened", "Evidence over time", "Error per window",
    ]  # fmt: skip
    assert tab.locator("svg.picture[role=img] > title").count() == 3
    tab.get_by_text("The same in numbers").first.click()
    assert tab.get_by_role("table", name="Said against happened").locator("tbody tr").count() == 24
    assert tab.locator("#recent ~ div tbody tr").count() == 100
    assert tab.locator(".alarm-mark").count() == 2


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (1, "Miscalibrated, but little: too low"),
        (2, "No evidence of miscalibration"),
        (3, "cannot yet show an error of"),
        (4, "its spec has no monitor"),
    ],
)
def test_every_verdict_has_its_sentence(opened, fake, place, words):
    tab = opened(of(HOSTILE[place]), wait="svg.picture")
    assert words in tab.locator(".verdict-card").inner_text()


def test_streams_without_a_model_and_without_events(opened, fake):
    world = fake.streams
    alone = next(k for k in range(10, 300) if not world.model[k] and world.verdict[k] == 2)
    text = opened(of(world.names[alone]), wait="svg.picture").inner_text("main")
    assert "Our forecasts (there is no model here)" in text
    assert "The model’s own" not in text.split("Recent forecasts")[0]
    empty = world.detail(alone) | {
        "events": 0, "error": None, "noise": None, "certain": None, "evidence_log10": None,
        "evidence_log10_most": None, "last_event": None, "spark": [], "recent": [], "windows": [],
        "reliability": {"raw": [], "ours": []}, "certificate": None, "certificate_text": "",
        "verdict": "too little data to say", "ours_error": None, "ours_noise": None,
    }  # fmt: skip
    world.detail = lambda k: empty
    try:
        text = opened(of(world.names[alone])).inner_text("main")
    finally:
        del world.detail
    assert "No outcome yet." in text and "nothing" in text
    assert "NaN" not in text and "null" not in text and "undefined" not in text


def test_several_classes_and_odd_outcomes(opened, fake):
    world = fake.streams
    forecast = {"id": "1", "event": None, "time": 1.79e9, "resolved": 1.79e9}
    many = world.detail(9) | {"recent": [
        forecast | {"p": [[0.2, 0.3, 0.5], None], "issued": [0.2, 0.3, 0.5],
                    "mean": [0.25, 0.25, 0.5], "outcome": HOSTILE[0]},
        forecast | {"id": "2", "p": None, "issued": [0.1] * 10, "mean": [0.1] * 10,
                    "outcome": [0.5, 0.5, 0]},
    ]}  # fmt: skip
    world.detail = lambda k: many
    try:
        text = opened(of(world.names[9])).locator("#recent ~ div").inner_text()
    finally:
        del world.detail
    text = text.replace("\xa0", " ")
    for words in ("(20 % · 30 % · 50 %) · –", HOSTILE[0], "… 10 in all", "50 % · 50 % · 0 %"):
        assert words in text


def test_acknowledge(opened, fake):
    tab = opened(of(HOSTILE[0]))
    tab.get_by_role("button", name="Acknowledge").click()
    tab.wait_for_selector(".alarm-item:has-text('acknowledged')")
    tab.wait_for_function("() => !document.querySelector('[data-do=acknowledge]')")
    assert fake.streams.acknowledged == {0}
    assert tab.locator("#said").inner_text() == "Acknowledged."
    assert tab.evaluate("document.activeElement.id") == "alarm-0"


def test_a_token_is_asked_for_and_may_not_do_everything(opened, fake):
    fake.reset(tokens={"reader": "read"})
    tab = opened(of(HOSTILE[0]), wait="dialog[open]")
    tab.keyboard.type("wrong")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("text=This token was not accepted")
    tab.keyboard.press("Escape")
    tab.get_by_role("button", name="Enter a token").click()
    tab.keyboard.type("reader")
    tab.keyboard.press("Enter")
    tab.get_by_role("button", name="Acknowledge").click()
    tab.wait_for_selector("text=This token may read, not acknowledge")
    assert fake.streams.acknowledged == set()
    assert tab.evaluate("[sessionStorage.length, localStorage.length]") == [1, 0]
    tab.reload()
    tab.wait_for_selector("svg.picture")
    tab.get_by_role("button", name="Forget token").click()
    tab.wait_for_selector("dialog[open]")
    assert HOSTILE[0] not in tab.inner_text("main")


def test_a_walk_by_keyboard(opened, fake):
    tab = opened()
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to the content"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "main"
    tab.keyboard.press("/")
    assert tab.evaluate("document.activeElement.id") == "search"
    tab.keyboard.type("sensor-0001")
    tab.wait_for_selector("#matches:has-text('100 of 300')")
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
            "name => [...document.querySelectorAll('tbody a')].map(a => a.textContent) == name", arg=name
        )
        tab.locator("tbody a").click()
        tab.wait_for_selector("svg.picture")
        assert tab.locator("h1").text_content() == name
        tab.get_by_role("link", name="All streams").click()
        tab.wait_for_selector("tbody tr")
    assert tab.evaluate("window.broken") is None
    assert tab.locator("main img, main script").count() == 0


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


def test_a_stream_that_is_none(opened, fake):
    tab = opened(of("nobody"))
    assert tab.locator("h1").inner_text() == "No such stream"
    tab.locator("main").get_by_role("link", name="All streams").click()
    tab.wait_for_selector("tbody tr")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_accessible(opened, fake, theme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for hash_, wait in (("#/?limit=25", "tbody tr"), (of(HOSTILE[0]), "svg.picture")):
        tab = opened(hash_, wait=wait, color_scheme=theme, viewport={"width": width, "height": 800})
        found = axe.run(tab).response["violations"]
        assert [(v["id"], [n["html"][:90] for n in v["nodes"][:3]]) for v in found] == []
