"""What a kill and a failing store must not do to the engine of the service."""

import random
import sqlite3
import threading
import time

import pytest

from fullswap.service import saving
from fullswap.service.messages import ForecastItem, Issued, OutcomeItem, Settled, SpecBody
from fullswap.service.problems import Unavailable
from service.life import Life

pytestmark = pytest.mark.timeout(600)


# --- kills ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_nothing_that_was_answered_is_lost_whatever_fails(tmp_path, quiet, monkeypatch, seed):
    """Kills, locked tables and streams that are written in any order, against a plain model."""
    rng = random.Random(seed)
    monkeypatch.setattr(saving, "LOW", -1 if seed % 2 else 2**25)
    monkeypatch.setattr(saving, "ROWS_AT_ONCE", rng.choice([3, 10, 4000]))
    monkeypatch.setattr(saving, "STREAMS_AT_ONCE", 4)
    life = Life(tmp_path)
    said, outcomes, owners, events, count = {}, {}, {}, {}, 0
    for _ in range(150):
        what = rng.random()
        if what < 0.4:
            items = []
            for _ in range(rng.randrange(1, 5)):
                count += 1
                event = f"e{count}" if rng.random() < 0.3 else None
                items.append(ForecastItem(f"s{rng.randrange(6)}", p=rng.random(), id=f"i{count}",
                                          event=event))  # fmt: skip
            for item, answer in zip(items, life.forecast(*items), strict=True):
                assert isinstance(answer, Issued), answer
                said[item.id], owners[item.id], events[item.id] = answer, item.stream, item.event
        elif what < 0.65:
            open_ = [one for one in said if one not in outcomes]
            own = rng.sample(open_, min(len(open_), rng.randrange(5)))
            items = [
                OutcomeItem(rng.choice([0, 1, 0.25, None]), event=events[one], stream=owners[one])
                if events[one] else OutcomeItem(rng.choice([0, 1, None]), id=one) for one in own
            ]  # fmt: skip
            for one, item, answer in zip(own, items, life.report(*items), strict=True):
                assert answer.status == ("dropped" if item.outcome is None else "learnt"), answer
                outcomes[one] = item.outcome
        elif what < 0.7:
            stream = f"s{rng.randrange(6)}"
            there = life.ask(lambda e, s=stream: e.delete(s))
            assert there == (stream in owners.values())
            for one in [one for one, own in owners.items() if own == stream]:
                del said[one], owners[one], events[one]
                outcomes.pop(one, None)
        elif what < 0.75:
            life.ask(lambda e: e.saving.work(1))
        elif what < 0.8:
            life.ask(lambda e: e.saving.rest())
        elif what < 0.88:
            life.unlock() if life.lock else life.locked()
        elif what < 0.95:
            life.kill()
            check_all(life, said, outcomes, owners)
        else:
            life.restart()
            check_all(life, said, outcomes, owners)
    life.unlock()
    check_all(life, said, outcomes, owners)
    life.service.close()


def check_all(life, said, outcomes, owners):
    again = life.forecast(*(ForecastItem(owners[one], p=0.5, id=one) for one in said))
    assert dict(zip(said, again, strict=True)) == said
    known = life.report(*(OutcomeItem(value, id=one) for one, value in outcomes.items()))
    assert known == [Settled(one, "known") for one in outcomes]
    against = life.report(*(OutcomeItem(0.625, id=one) for one in outcomes))
    assert all(answer.error.code == "conflict" for answer in against)
    rows = {row["id"]: row for row in life.exported()}
    assert set(rows) == set(said)
    for one, row in rows.items():
        assert row["stream"] == owners[one] and row["outcome"] == outcomes.get(one)
        assert (row["resolved"] is not None) == (one in outcomes)
    listed = life.ask(lambda e: e.streams(limit=1000))
    assert {row["stream"] for row in listed["streams"]} == set(owners.values())
    assert listed["counts"].get("pending", 0) == len(said) - len(outcomes)


def test_a_stream_in_the_tables_has_all_that_it_resolved_there_too(life, monkeypatch):
    """Entries that it has gone past are not done again."""
    monkeypatch.setattr(saving, "LOW", -1)
    (first,) = life.forecast(ForecastItem("a", p=0.3, id="x"))
    life.report(OutcomeItem(1, id="x"))
    life.forecast(ForecastItem("a", p=0.3, id="y"))
    life.kill()
    assert life.forecast(ForecastItem("a", p=0.9, id="x")) == [first]
    assert life.report(OutcomeItem(0, id="x"))[0].error.code == "conflict"
    assert {row["id"] for row in life.exported()} == {"x", "y"}


def test_what_could_not_be_written_is_never_trimmed(life):
    """Several failures in a row, and what came between them."""
    for turn in range(3):
        life.forecast(ForecastItem(f"s{turn}", p=0.3, id=f"x{turn}"))
        life.report(OutcomeItem(1, id=f"x{turn}"))
        life.locked()
        life.save(1)
        assert life.ask(lambda e: e.health())["status"] == "failing"
        life.forecast(ForecastItem(f"s{turn}", p=0.3, id=f"y{turn}"))
        life.unlock()
    life.save(1)
    assert life.ask(lambda e: e.health())["status"] == "ok"
    life.kill()
    assert {row["id"] for row in life.exported()} == {f"{k}{t}" for k in "xy" for t in range(3)}
    known = life.report(*(OutcomeItem(1, id=f"x{turn}") for turn in range(3)))
    assert [answer.status for answer in known] == ["known"] * 3


def test_views_after_a_kill_are_those_before(life):
    life.ask(lambda e: e.put_spec("three", SpecBody(classes=["a", "b", "c"])))
    said = {"a": [0.2, 0.3, 0.5000004], "b": [1, 0, 0]}
    for name, p in said.items():
        life.forecast(*(ForecastItem(name, "three", p=p, id=f"{name}{k}") for k in range(4)))
        life.report(OutcomeItem("b", id=f"{name}0"), OutcomeItem(None, id=f"{name}1"))
    before = [life.ask(lambda e, n=name: (e.stream(n), dump(e, n))) for name in said]
    life.kill()
    life.report(*(OutcomeItem("c", id=f"{name}2") for name in said))
    after = [life.ask(lambda e, n=name: (e.stream(n), dump(e, n))) for name in said]
    life.kill()
    assert [life.ask(lambda e, n=name: (e.stream(n), dump(e, n))) for name in said] == after
    assert [view["created"] for view, _ in before] == [view["created"] for view, _ in after]


def test_a_kill_changes_nothing_of_a_stream(life):
    life.ask(lambda e: e.put_spec("three", SpecBody(classes=["a", "b", "c"])))
    life.forecast(*(ForecastItem("a", "three", p=[0.2, 0.3, 0.5000004], id=f"{k}") for k in "12"))
    before = life.ask(lambda e: e.stream("a"))
    life.kill()
    assert life.ask(lambda e: e.stream("a")) == before


def dump(engine, name):
    fleet, place = engine.places[name]
    return fleet.state(place)


# --- deletions ------------------------------------------------------------------------------------


def test_the_number_of_a_deleted_stream_is_never_used_again(life):
    """A client may still report outcomes by ids of the old one."""
    life.forecast(ForecastItem("a", p=0.5))
    (old,) = life.forecast(ForecastItem("b", p=0.5))
    life.ask(lambda e: e.delete("b"))
    life.restart()
    (new,) = life.forecast(ForecastItem("c", p=0.5))
    assert new.id != old.id
    assert life.report(OutcomeItem(1, id=old.id))[0].error.code == "unknown-id"


def test_a_stream_that_began_after_a_deletion_survives_kills(life):
    life.forecast(ForecastItem("a", p=0.5), ForecastItem("b", p=0.5))
    life.ask(lambda e: e.delete("b"))
    life.save(0)  # the journal still says so, because of a
    life.kill()
    life.forecast(ForecastItem("c", p=0.5, id="x"))
    life.kill()
    assert life.report(OutcomeItem(1, id="x")) == [Settled("x", "learnt")]


def test_a_deletion_that_the_tables_refused_is_done_later(life):
    life.forecast(ForecastItem("a", p=0.5, id="x"), ForecastItem("b", p=0.5))
    life.report(OutcomeItem(1, id="x"))
    life.save()
    life.locked()
    life.ask(lambda e: e.delete("a"))
    life.save()
    # its id is free although the tables still have it, and neighbours are served
    again = life.forecast(ForecastItem("b", p=0.5), ForecastItem("b", p=0.5, id="x"))
    assert all(isinstance(answer, Issued) for answer in again)
    life.restart()
    assert life.ask(lambda e: list(e.places)) == ["b"]
    assert life.forecast(ForecastItem("b", p=0.5, id="x")) == again[1:]
    assert {row["stream"] for row in life.exported()} == {"b"}


@pytest.mark.parametrize("resolved", [True, False])
def test_a_deletion_is_done_after_a_kill_though_only_ids_and_rows_are_there(life, resolved):
    life.forecast(ForecastItem("a", p=0.5, id="x"), ForecastItem("b", p=0.5))
    if resolved:
        life.report(OutcomeItem(1, id="x"))
    life.save(0)
    life.locked()
    life.ask(lambda e: e.delete("a"))
    life.save(0)
    life.kill()
    assert {row["stream"] for row in life.exported()} == {"b"}
    life.save()
    left = life.ask(lambda e: e.index._tables.execute("SELECT * FROM ids").fetchall())
    assert left == []
    assert isinstance(life.forecast(ForecastItem("b", p=0.5, id="x"))[0], Issued)


def test_streams_that_come_and_go_take_no_more_room(life):
    def size(engine):
        fleet = engine.specs_by_name["default"]
        return len(fleet), len(fleet.rows.arena), len(fleet.held), len(engine.by_no)

    life.forecast(ForecastItem("a", p=0.5), ForecastItem("b", p=0.5))
    first = life.ask(size)
    fresh = life.ask(lambda e: dump(e, "b"))
    for turn in range(5):
        life.ask(lambda e: e.delete("b"))
        answers = life.forecast(*[ForecastItem("b", p=0.5)] * 3)
        life.report(*(OutcomeItem(turn % 2, id=answer.id) for answer in answers))
    life.ask(lambda e: e.delete("b"))
    life.forecast(ForecastItem("b", p=0.5))
    assert life.ask(size) == first
    row = life.ask(lambda e: dump(e, "b"))
    assert row[2] == fresh[2] and row[4] == fresh[4]  # numbers and watch of a stream that is new


# --- what fails -----------------------------------------------------------------------------------


def test_a_store_that_refuses_leaves_no_stream_behind(life):
    life.locked("journal.db")
    for turn in range(3):
        with pytest.raises(Unavailable, match="locked"):
            life.forecast(ForecastItem(f"new {turn}", p=0.5, event="e"), ForecastItem("b", p=0.1))
    life.unlock()
    assert life.ask(lambda e: (e.places, e.by_no, e.where)) == ({}, {}, {})
    assert isinstance(life.forecast(ForecastItem("b", p=0.5))[0], Issued)
    assert life.ask(lambda e: list(e.places)) == ["b"]


def test_a_request_that_was_cancelled_is_not_done_and_harms_nobody(life):
    gate = threading.Event()
    life.service.ask(lambda e: gate.wait(10))
    while life.service._questions:
        time.sleep(0.01)
    cancelled = [
        life.service.forecasts([ForecastItem("a", p=0.5)]),
        life.service.ask(lambda e: e.delete("b")),
    ]
    assert all(future.cancel() for future in cancelled)
    gate.set()
    assert life.forecast(ForecastItem("b", p=0.5))[0].id == "fs-1-0"
    assert life.ask(lambda e: list(e.places)) == ["b"] and life.service.waiting == 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_after_the_commit_stops_the_service_and_loses_nothing(life, monkeypatch):
    """Memory may be half changed then: it is not written down."""
    life.forecast(ForecastItem("a", p=0.5, id="x"), ForecastItem("b", p=0.5, id="y"))
    with monkeypatch.context() as broken:
        broken.setattr("fullswap.service.settling._write", lambda *_: 1 / 0)
        with pytest.raises(Unavailable, match="stopped"):
            life.report(OutcomeItem(1, id="x"), OutcomeItem(1, id="y"))
        life.service._thread.join(10)
        with pytest.raises(Unavailable):
            life.ask(lambda e: e.health())
    life.open()
    again = life.report(OutcomeItem(1, id="x"), OutcomeItem(1, id="y"))
    assert [answer.status for answer in again] == ["known", "known"]
    assert life.ask(lambda e: e.stream("a"))["events"] == 1


def test_tables_that_cannot_be_read_make_a_request_fail_and_no_more(life, monkeypatch):
    def failing(*_):
        raise sqlite3.OperationalError("disk I/O error")

    life.forecast(ForecastItem("a", p=0.5, id="x"))
    with monkeypatch.context() as broken:
        broken.setattr("fullswap.service.index.Index.find_ids", failing)
        for call in (
            lambda: life.forecast(ForecastItem("new", p=0.5, id="y")),
            lambda: life.report(OutcomeItem(1, id="x")),
        ):
            with pytest.raises(Unavailable, match="store failed"):
                call()
    assert life.ask(lambda e: list(e.places)) == ["a"]
    assert life.report(OutcomeItem(1, id="x")) == [Settled("x", "learnt")]
