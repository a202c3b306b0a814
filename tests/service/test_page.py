"""What the page of the service says and does, over made-up streams."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from service.page_data import HOSTILE
from service.page_fake import PAGE
from service.page_tab import SETTLED, names, of

MOST_BYTES = 80 * 1024


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

    shares = [
        0.0,
        0.00003,
        0.0004,
        0.0012,
        0.00949,
        0.0096,
        0.0142,
        0.0413,
        0.3,
        0.853,
        0.9996,
        1.0,
    ]
    logs = [
        -320.2,
        -4.5,
        -2.0,
        -0.3,
        0.0,
        0.2,
        0.999,
        1.0,
        1.292,
        1.3011,
        3.6128,
        11.99,
        12.0,
        25.3,
    ]
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
    tab.wait_for_selector(SETTLED)
    assert query(fake.asked[-1]) == {
        "sort": "evidence", "descending": "true", "limit": "50", "offset": "99950",
    }  # fmt: skip
    before = len(fake.asked)
    tab.locator("#search").press_sequentially("sensor-0999", delay=5)
    tab.wait_for_function(
        "() => document.querySelector('#matches').textContent.startsWith('100 of')"
    )
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


def test_a_stream_that_is_none(opened, fake):
    tab = opened(of("nobody"))
    assert tab.locator("h1").inner_text() == "No such stream"
    tab.locator("main").get_by_role("link", name="All streams").click()
    tab.wait_for_selector("tbody tr")
