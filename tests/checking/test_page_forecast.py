"""The page of forecasts before and after: what it says first, and that no number is mixed up."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import fullswap as fs
from checking.made import classes, stream
from checking.sample_check import HOSTILE, certificate, history, sample
from checking.test_page_text import Reader
from fullswap.certificates.decisions import worst_ratio
from fullswap.checking.page_forecast import fragment_of_forecast, page_of_forecast
from fullswap.checking.page_forecast_promise import promise_of
from fullswap.checking.page_forecast_words import change_of, numbers_of, table_of
from fullswap.report import history_of


@pytest.fixture(scope="module")
def replayed():
    y, p = stream(1500, seed=3, slope=0.4)
    recalibrator = fs.Recalibrator(step=0.05, seed=1)
    record = recalibrator.run(p, y)
    own = recalibrator.certificate()
    before, after = fs.check(y, p), fs.check(y, record.issued)
    return before, after, own, history_of(y, record, guarantee=own, before=p)


@pytest.fixture(scope="module")
def page(replayed):
    before, after, own, errors = replayed
    return page_of_forecast(
        before, after, certificates=[("", own)], history=errors, rows=1600, pending=90, skipped=10,
        notes=["10 lines could not be read."], alarms=["It rang.", ("north", "So did this.")],
        title="Rain",
    )  # fmt: skip


def spaced(html):
    return Reader(html).text.replace("\xa0", " ")


def test_the_first_words_say_what_changed(page, replayed):
    before, after, *_ = replayed
    text = spaced(page)
    was, now = f"{100 * before.error:.1f}", f"{100 * after.error:.1f}"
    assert text.startswith(
        "Rain 1,600 rows, 1,500 with an outcome, 90 pending, 10 skipped Rain "
        f"{was} → {now} points off On average forecasts were {was} points off before and are {now} "
        f"after; chance alone would show {100 * after.chance.median:.1f}."
    )
    lower = 100 * (1 - after.brier.score / before.brier.score)
    assert f"{after.brier.score:.4f}: {lower:.2g} % lower, which is better." in text


def test_measured_stands_beside_guaranteed(page, replayed):
    own, text = replayed[2], spaced(page)
    assert f"Measured {100 * own.points:.1f} points off" in text
    bound = np.ceil(1000 * own.points_guaranteed) / 10
    assert f"Guaranteed {bound:.1f} points off, at most" in text
    for line in str(own).splitlines():
        assert line in text


def test_all_parts_are_there_and_nothing_is_fetched(page):
    reader = Reader(page)
    titles = ["Before", "After", "Error so far, with its guarantee", "Decision curve",
              "Net benefit", "Evidence over time, after", "Alarms",
              "north: So did this.", "10 lines could not be read."]  # fmt: skip
    for title in titles:
        assert title in reader.text
    assert len(reader.all("svg")) >= 8 and not reader.all("img", "iframe")
    assert not [a for a in reader.all("script") if a.get("type") != "application/json"]
    names = re.findall(r' id="([^"]*)"', page)
    assert len(names) == len(set(names))
    found = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page)
    data = json.loads(found[1])
    assert data["certificates"][0]["holds"] is True and {"before", "after"} <= set(data)


def test_without_a_model(replayed):
    _, after, own, _ = replayed
    html = page_of_forecast(None, after, certificates=[("", own)])
    text = spaced(html)
    assert "points off On average the forecasts were" in text and "→" not in text
    assert "Before" not in text and "with its guarantee" not in text
    assert "Reliability" in text and "before and after" not in text.lower()
    assert fragment_of_forecast(None, after).count("<svg") == 2


def test_several_classes():
    y, p = classes(900, seed=2, temperature=0.5)
    recalibrator = fs.Recalibrator(classes=3, seed=1)
    record = recalibrator.run(p, y)
    own = recalibrator.certificate()
    errors = history_of(y, record, before=p)
    html = page_of_forecast(
        fs.check(y, p), fs.check(y, record.issued), certificates=[("", own)], history=errors
    )
    text = spaced(html)
    assert "points on the wrong class" in text and "Class by class, after" in text
    assert "the likeliest class was right" in html


def test_worse_is_called_worse(replayed):
    before, after, *_ = replayed
    assert "higher, which is worse" in change_of(after, before).sentence
    assert "hardly changed" in change_of(after, after).sentence
    assert "Before and after: " in change_of(after, after).sentence


def test_numbers_are_those_of_the_checks(replayed):
    before, after, *_ = replayed
    rows = {row.name: row for row in numbers_of(before, after)}
    assert rows["Brier score"].before == f"{before.brier.score:.4f}"
    skill = 100 * (1 - after.brier.score / after.brier.uncertainty)
    assert rows["Skill against always saying the average"].after == f"{skill:.1f} %"
    lost = 100 * worst_ratio(table_of(after))[1]
    assert rows["Lost by acting, at the worst cost/loss ratio"].after == f"{lost:.2g} %"
    assert all(row.before is None for row in numbers_of(None, after))


def test_many_streams_are_a_table_with_the_worst_first():
    streams = [(f"shop {k}", certificate(k)) for k in range(70)]
    promise = promise_of(streams, history())
    assert len(promise.streams) == 50 and promise.left == 20
    failed = [not own.holds for _, own in streams]
    assert promise.streams[0].state in ("above", "none")
    assert all(own.state == "holds" for own in promise.streams[sum(failed) :])
    first, *_ = promise.lines
    holds = sum(own.holds for _, own in streams)
    assert f"{holds} of 70 streams are within it" in first and "labels came late" in first
    assert promise.level == pytest.approx(history().guaranteed[-1])
    text = spaced(page_of_forecast(None, sample(), certificates=streams, history=history()))
    assert "20 more streams are not shown" in text and "● above" in text


def test_streams_that_promise_nothing_together():
    streams = [(f"shop {k}", certificate(0, guaranteed=1000.0)) for k in range(3)]
    errors = history()
    errors = replace(errors, guaranteed=np.ones_like(errors.guaranteed))
    promise = promise_of(streams, errors)
    assert promise.answers[1].value == "Nothing" and promise.level is None


def test_infinite_log_loss_is_explained(replayed):
    before, after, *_ = replayed
    wrong = fs.check([0, 1, 0, 1], [1.0, 0.5, 0.0, 0.5])
    assert "an issued 0 % or 100 % was wrong" in change_of(before, wrong).sentence
    assert "infinite" not in change_of(wrong, after).sentence


def test_guarantees_that_promise_nothing_are_not_numbers():
    for own in (certificate(2), certificate(0, guaranteed=5000.0)):
        promise = promise_of([("", own)], None)
        assert promise.level is None and promise.answers[1].unit.endswith("after the fact")
        unknown = replace(own, after_the_fact=None)
        assert promise_of([("", unknown)], None).answers[1].value == "Nothing"
    assert promise_of([], None).lines == []
    elsewhere = certificate(0, events=10)
    assert promise_of([("", elsewhere)], None).level is None  # rows are not events


def test_hostile_words_stay_words():
    html = page_of_forecast(
        sample(drawn=False), sample(HOSTILE, drawn=False), title=HOSTILE[0], notes=HOSTILE,
        certificates=[(name, certificate(k)) for k, name in enumerate(HOSTILE)],
        alarms=[(HOSTILE[0], HOSTILE[1])],
    )  # fmt: skip
    reader = Reader(html)
    assert {a.get("type") for a in reader.all("script")} <= {"application/json"}
    assert not reader.all("img")


def test_the_card(replayed):
    before, after, own, errors = replayed
    html = fragment_of_forecast(
        before, after, certificates=[("", own)], history=errors, rows=1600, pending=90,
        alarms=["First.", "It rang."], notes=["Guessed."], title="Rain",
    )  # fmt: skip
    text = spaced(html)
    assert "Rain" in text and "It rang." in text and "First." not in text and "Guessed." in text
    assert str(own).splitlines()[0] in text and "1,600 rows" in text
    assert "<!doctype" not in html


def test_nothing_to_repair_is_said():
    fine = sample(drawn=False, verdict="no evidence of miscalibration", headline="No evidence")
    assert "no sign that anything was off" in change_of(fine, fine).sentence
    assert "no sign" not in change_of(sample(drawn=False), fine).sentence


def test_streams_without_any_guarantee():
    streams = [(f"shop {k}", certificate(2)) for k in range(3)]
    first, *_ = promise_of(streams, None).lines
    assert first.startswith("None of 3 streams has a guarantee") and "labels came late" in first
