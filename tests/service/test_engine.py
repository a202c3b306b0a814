"""The engine of the service: the numbers of a bank, durable, and every id answered once."""

import json
import random

import msgspec
import numpy as np
import pytest
from msgspec import UNSET

from fullswap import Bank
from fullswap.base.draws import words
from fullswap.service.limits import Limits
from fullswap.service.messages import ForecastItem, Issued, OutcomeItem, Refusal, Settled, SpecBody
from fullswap.service.problems import Conflict, Unavailable
from fullswap.service.service import Service

# the first tests compile the code of all kinds
pytestmark = pytest.mark.timeout(600)
SPECS = {
    "default": SpecBody(),
    "alone": SpecBody(forecaster="forecaster"),
    "steps": SpecBody(step="5%", horizon=1000),
    "three": SpecBody(classes=["home", "tie", "away"], monitor=5000),
    "bare": SpecBody(forecaster="multiclass", classes=3, monitor=False),
    "pair": SpecBody(models=2, max_weight=2.0),
    "places": SpecBody(groups=["north", "south", "night"]),
    "sparse": SpecBody(forecaster="forecaster", groups=["north", "south", "night"], horizon=500),
    "twins": SpecBody(models=2, groups=["north", "south", "night"]),
    "many": SpecBody(classes=[f"c{k}" for k in range(9)], models=2, monitor=5000),
    "dozen": SpecBody(classes=12, max_weight=2.0),
}
GROUPED = ("places", "sparse", "twins")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


def opened(folder, **limits):
    service = Service.open(folder, Limits(**limits))
    for name, body in SPECS.items():
        service.ask(lambda engine, name=name, body=body: engine.put_spec(name, body)).result()
    return service


def banks_of(service):
    """A bank for each spec, with the draws of the service."""
    banks = {}
    for name, fleet in service.ask(lambda engine: dict(engine.specs_by_name)).result().items():
        bank = Bank(fleet.pattern)
        bank._seed = fleet.seed
        bank._rows.seed = np.array(words(fleet.seed), dtype=np.uint64)
        banks[name] = bank
    return banks


def p_of(spec, rng):
    if spec in ("alone", "bare", "sparse"):
        return None
    if spec == "many":
        return [dirichlet(9, rng), rng.choice([[None] * 9, dirichlet(9, rng)])]
    if spec == "dozen":
        return dirichlet(12, rng)
    if spec == "three":
        share = rng.random()
        return [share, (1 - share) / 2, (1 - share) / 2]
    if spec in ("pair", "twins"):
        return [rng.random(), rng.choice([None, 0.25])]
    return rng.random()


def dirichlet(classes, rng):
    shares = [rng.expovariate(1.0) for _ in range(classes)]
    return [share / sum(shares) for share in shares]


def groups_of(spec, rng):
    names = rng.sample(["night", "south", "north"], rng.randrange(4))
    return {"groups": names} if spec in GROUPED and rng.random() < 0.9 else {}


def outcome_of(spec, rng):
    if spec == "three":
        return rng.choice(["home", "tie", "away"])
    if spec == "many":
        return rng.choice([f"c{rng.randrange(9)}", dirichlet(9, rng)])
    return rng.randrange({"bare": 3, "dozen": 12}.get(spec, 2))


class Mirror:
    """Does in banks, one by one, what the service does in batches."""

    def __init__(self, service):
        self.banks, self.tickets = banks_of(service), {}

    def forecast(self, item, answer):
        spec = item.stream.split("/")[0]
        bank = self.banks[spec]
        p = () if item.p is None else (np.array([item.p], dtype=float),)
        own = {"groups": [item.groups or []]} if spec in GROUPED else {}
        (ticket,) = bank.predict([item.stream], *p, event=[item.event], **own)
        assert np.array_equal(ticket.issued, answer.issued)
        assert np.array_equal(ticket.mean, answer.mean)
        assert np.array_equal(ticket.points, answer.points)
        declared, classes = ticket.declared, SPECS[spec].classes
        if declared is not None and isinstance(classes, list):
            declared = classes[declared]
        assert answer.declared == (UNSET if declared is None else declared)
        assert np.array_equal(ticket.weights, answer.weights)
        self.tickets[answer.id] = (bank, item, ticket)

    def resolve(self, item, answer):
        bank, asked, ticket = self.tickets.pop(answer.id)
        weight = None if item.weight == 1 else [item.weight]
        if asked.event is None:
            bank.update([ticket], [item.outcome], weight)
        else:
            bank.resolve([asked.stream], [asked.event], [item.outcome], weight)
            self.tickets = {
                name: own for name, own in self.tickets.items()
                if (own[1].stream, own[1].event) != (asked.stream, asked.event)
            }  # fmt: skip

    def check(self, service):
        for name, bank in self.banks.items():
            for key in bank:
                row = service.ask(lambda e, key=key: row_of(e, key)).result()
                assert np.array_equal(row, bank._rows.row(bank._places[key])), (name, key)


def row_of(engine, stream):
    fleet, place = engine.places[stream]
    return fleet.rows.row(place).copy()


def play(service, mirror, rng, turns):
    """Batches of forecasts and outcomes of every spec, some late, some of events."""
    waiting = [
        (answer, item) for answer, (_, item, _) in mirror.tickets.items() if item.event is None
    ]
    for _ in range(turns):
        items = []
        for _ in range(rng.randrange(6)):
            spec = rng.choice(list(SPECS))
            event = f"e{rng.randrange(10**9)}" if rng.random() < 0.2 else None
            stream = f"{spec}/{rng.randrange(3)}"
            for _ in range(1 if event is None else 2):
                own = {"p": p_of(spec, rng), "event": event, **groups_of(spec, rng)}
                items.append(ForecastItem(stream, spec, **own))
        answers = service.forecasts(items).result()
        for item, answer in zip(items, answers, strict=True):
            mirror.forecast(item, answer)
            first = item.event is None or all(item.event != other.event for _, other in waiting)
            if first:
                waiting.append((answer.id, item))
        rng.shuffle(waiting)
        due, waiting = waiting[: rng.randrange(6)], waiting[rng.randrange(6) :]
        due = [pair for pair in due if pair not in waiting]
        reports = []
        for name, item in due:
            spec = item.stream.split("/")[0]
            own = {"event": item.event, "stream": item.stream} if item.event else {"id": name}
            weight = rng.choice([1.0, 0.5]) if spec in ("pair", "dozen") else 1.0
            reports.append(OutcomeItem(outcome_of(spec, rng), **own, weight=weight))
        for (name, _), item, answer in zip(
            due, reports, service.outcomes(reports).result(), strict=True
        ):
            assert isinstance(answer, Settled) and answer.status == "learnt", answer
            assert answer.id == name
            mirror.resolve(item, answer)
    return waiting


def test_it_gives_the_numbers_of_banks_and_goes_on_after_a_restart(folder):
    rng = random.Random(5)
    service = opened(folder)
    mirror = Mirror(service)
    play(service, mirror, rng, 30)
    mirror.check(service)
    before = {
        name: service.ask(lambda e, n=name: e.stream(n)).result() for name in streams(service)
    }
    service.close()
    service = opened(folder)
    for name, view in before.items():
        assert service.ask(lambda e, n=name: e.stream(n)).result() == view
    mirror.check(service)
    play(service, mirror, rng, 10)
    mirror.check(service)
    service.close()


def streams(service):
    return [
        row["stream"] for row in service.ask(lambda e: e.streams(limit=1000)).result()["streams"]
    ]


def test_a_journal_that_was_never_tidied_is_done_again(folder, monkeypatch):
    """As after a crash: nothing was saved on the way, or only some streams were."""
    from fullswap.service import saving

    rng = random.Random(6)
    service = opened(folder)
    mirror = Mirror(service)
    monkeypatch.setattr(saving.Saving, "rest", lambda self: False)
    play(service, mirror, rng, 10)
    some = service.ask(lambda e: (e.saving._hand(4), e.saving._land(wait=True))).result
    some()
    play(service, mirror, rng, 10)
    monkeypatch.setattr(saving.Saving, "save_all", lambda self: None)
    service.close()
    service = opened(folder)
    assert service.ask(lambda e: e.recovered).result() > 10
    mirror.check(service)
    play(service, mirror, rng, 5)
    mirror.check(service)
    service.close()


def test_ids_are_answered_once_and_the_same(folder):
    service = opened(folder)
    asked = [ForecastItem("a", p=0.3, id="x"), ForecastItem("a", p=0.9, id="x")]
    first, again = service.forecasts(asked).result()
    assert first == again and first.id == "x"
    assert service.forecasts(asked[:1]).result() == [first]
    (other,) = service.forecasts([ForecastItem("b", p=0.3, id="x")]).result()
    assert other.error.code == "conflict"
    assert service.outcomes([OutcomeItem(1, id="x"), OutcomeItem(True, id="x")]).result() == [
        Settled("x", "learnt"), Settled("x", "known")
    ]  # fmt: skip
    service.close()
    service = opened(folder)
    assert service.forecasts(asked).result() == [first, first]
    known, against, never = service.outcomes(
        [OutcomeItem(1.0, id="x"), OutcomeItem(0, id="x"), OutcomeItem(None, id="x")]
    ).result()
    assert known == Settled("x", "known")
    assert (against.error.code, never.error.code) == ("conflict", "conflict")
    assert service.ask(lambda e: e.stream("a")).result()["events"] == 1
    service.close()


def test_an_event_is_resolved_in_every_stream_where_it_waits_and_once(folder):
    service = opened(folder)
    items = [ForecastItem(stream, p=0.4, event="final") for stream in ("a", "a", "b")]
    ids = [answer.id for answer in service.forecasts(items).result()]
    (settled,) = service.outcomes([OutcomeItem(1, event="final")]).result()
    assert (settled.status, settled.event, settled.ids) == ("learnt", "final", ids)
    again, against, unknown = service.outcomes(
        [OutcomeItem(1, event="final"), OutcomeItem(0, event="final", stream="b"),
         OutcomeItem(1, event="semifinal")]
    ).result()  # fmt: skip
    assert again.status == "known"
    assert (against.error.code, unknown.error.code) == ("conflict", "unknown-event")
    (late,) = service.forecasts(items[:1]).result()
    assert late.error.code == "resolved"
    shown = service.ask(lambda engine: engine.stream("a")).result()
    assert json.loads(msgspec.json.encode(shown))["events"] == 2  # all of it can be sent
    service.close()


def test_what_never_comes_is_dropped(folder):
    service = opened(folder)
    (answer,) = service.forecasts([ForecastItem("a", p=0.4)]).result()
    dropped, again, against = service.outcomes(
        [OutcomeItem(None, id=answer.id), OutcomeItem(None, id=answer.id),
         OutcomeItem(1, id=answer.id)]
    ).result()  # fmt: skip
    assert (dropped.status, again.status, against.error.code) == ("dropped", "known", "conflict")
    view = service.ask(lambda e: e.stream("a")).result()
    assert (view["pending"], view["events"]) == (0, 0)
    service.close()


BAD = {
    "bad-p": [{"p": 1.5}, {"p": float("nan")}, {"p": None}, {"p": [0.1, 0.2]}],
    "bad-stream": [{"stream": ""}, {"stream": "a" * 201}, {"stream": "a\nb"}],
    "bad-id": [{"id": ""}, {"id": "fs-1-0"}, {"id": "x" * 201}, {"id": "a\0"}],
    "bad-event": [{"event": ""}, {"event": "\x7f"}],
    "unknown-spec": [{"spec": "nobody"}],
    "bad-groups": [
        {"groups": ["north"]},
        {"spec": "places", "groups": ["west"]},
        {"spec": "places", "groups": [""] * 2 + ["nigth"]},
    ],
}


@pytest.mark.parametrize(("code", "given"), [(c, g) for c, all_ in BAD.items() for g in all_])
def test_a_bad_item_is_refused_in_its_place_and_changes_nothing(folder, code, given):
    service = opened(folder)
    good = ForecastItem("good", p=0.5)
    bad = ForecastItem(**{"stream": "new", "p": 0.5, **given})
    one, refused, two = service.forecasts([good, bad, good]).result()
    assert isinstance(one, Issued) and isinstance(two, Issued)
    assert isinstance(refused, Refusal) and refused.error.code == code
    assert streams(service) == ["good"]
    service.close()


@pytest.mark.parametrize("outcome", [2, -1, "maybe", [0.5, 0.5], float("nan")])
def test_a_bad_outcome_is_refused_and_changes_nothing(folder, outcome):
    service = opened(folder)
    (answer,) = service.forecasts([ForecastItem("a", p=0.4)]).result()
    (refused,) = service.outcomes([OutcomeItem(outcome, id=answer.id)]).result()
    assert refused.error.code == "bad-outcome"
    (neither,) = service.outcomes([OutcomeItem(1)]).result()
    assert neither.error.code == "bad-item"
    assert service.outcomes([OutcomeItem(1, id=answer.id)]).result()[0].status == "learnt"
    service.close()


def test_limits_of_streams_and_of_what_waits(folder):
    service = opened(folder, streams=2, pending=3)
    answers = service.forecasts([ForecastItem(f"s{k}", p=0.5) for k in range(3)]).result()
    assert [type(a) for a in answers] == [Issued, Issued, Refusal]
    assert answers[2].error.code == "too-many-streams"
    for _ in range(2):
        service.forecasts([ForecastItem("s0", p=0.5)]).result()
    (full,) = service.forecasts([ForecastItem("s0", p=0.5)]).result()
    assert full.error.code == "too-many-pending"
    service.close()


def test_with_many_classes_fewer_forecasts_wait(folder):
    service = opened(folder, pending=5, numbers=30)
    items = [ForecastItem(spec, spec, p=p_of(spec, random.Random(1)))
             for spec in ("default", "bare", "dozen") for _ in range(7)]  # fmt: skip
    taken = [item.stream for item, answer in zip(items, service.forecasts(items).result(),
             strict=True) if isinstance(answer, Issued)]  # fmt: skip
    assert [taken.count(spec) for spec in ("default", "bare", "dozen")] == [5, 5, 2]
    service.close()


def test_groups_are_shown_in_the_detail_and_in_exports_also_after_a_restart(folder):
    service = opened(folder)
    names = [["north"], [], ["night", "south", "night"], None]
    items = [ForecastItem("a", "places", p=0.3, groups=own) for own in names]
    answers = service.forecasts(items).result()
    service.outcomes([OutcomeItem(1, id=answer.id) for answer in answers[:3]]).result()
    for _ in range(2):
        detail = service.ask(lambda e: e.stream("a")).result()
        rounds = {row["name"]: row["rounds"] for row in detail["by_group"]}
        assert rounds == {"everybody": 3, "north": 1, "south": 1, "night": 1}
        north = next(row for row in detail["by_group"] if row["name"] == "north")
        assert north["happened"] == 1.0 and north["points"] == pytest.approx(1 - north["said"])
        rows = service.ask(lambda e: e.export(None, 0, 50)).result()[0]
        assert [row["groups"] for row in rows] == [["north"], [], ["south", "night"], []]
        service.close()
        service = opened(folder)
    service.forecasts([ForecastItem("b", p=0.3)]).result()
    assert service.ask(lambda e: e.stream("b")).result()["by_group"] is None
    assert "groups" not in service.ask(lambda e: e.export("b", 0, 50)).result()[0][0]
    service.close()


def test_specs_never_change(folder):
    service = opened(folder)
    new, view = service.ask(lambda e: e.put_spec("mine", SpecBody(step=0.05))).result()
    assert new and view["step"] == 0.05 and "seed" not in view
    assert not service.ask(lambda e: e.put_spec("mine", SpecBody(step=0.05))).result()[0]
    with pytest.raises(Conflict):
        service.ask(lambda e: e.put_spec("mine", SpecBody())).result()
    alone = {"forecaster": "forecaster", "classes": 3}
    others = {"step": 0.3}, {"classes": 1001}, {"models": 0}, {"tolerance": 2}, {"monitor": 0.5}
    many = {"classes": 9, "step": 0.1}, {"forecaster": "multiclass", "classes": 2}
    groups = {"groups": "open"}, {"groups": []}, {"groups": ["a", "a"]}, {"groups": ["x" * 999]}
    classes = {"groups": ["a"], "classes": 3}, {"groups": ["a"], "forecaster": "multiclass"}
    for bad in ({"forecaster": "oracle"}, alone, *others, *groups, *classes, *many):
        with pytest.raises(ValueError):
            service.ask(lambda e, bad=bad: e.put_spec("bad", SpecBody(**bad))).result()
    service.forecasts([ForecastItem("a", "mine", p=0.5)]).result()
    (other,) = service.forecasts([ForecastItem("a", "default", p=0.5)]).result()
    assert other.error.code == "conflict"
    service.close()


def test_a_deleted_stream_is_gone_for_good_and_may_begin_again(folder):
    service = opened(folder)
    (first,) = service.forecasts([ForecastItem("a", p=0.5, id="x", event="e")]).result()
    service.forecasts([ForecastItem("a", p=0.5, id="y"), ForecastItem("b", p=0.5)]).result()
    service.outcomes([OutcomeItem(1, id="y")]).result()
    assert service.ask(lambda e: e.delete("a")).result()
    assert not service.ask(lambda e: e.delete("a")).result()
    assert streams(service) == ["b"]
    (gone,) = service.outcomes([OutcomeItem(1, id="x")]).result()
    assert gone.error.code == "unknown-id"
    for _ in range(2):
        answers = service.forecasts([ForecastItem("a", p=0.5, id="x", event="e")]).result()
        assert isinstance(answers[0], Issued)
        assert service.ask(lambda e: e.stream("a")).result()["forecasts"] == 1
        service.close()
        service = opened(folder)
    service.close()


def test_a_second_service_on_a_folder_is_refused(folder):
    service = opened(folder)
    with pytest.raises(ValueError, match="another service"):
        Service.open(folder)
    service.close()
    Service.open(folder).close()


def test_a_clock_that_jumps_harms_nothing(folder):
    now = [1e9]
    service = Service.open(folder, clock=lambda: now[0])
    answers = []
    for jump in (0, 5e8, -9e8, 1.0, -1e9):
        now[0] += jump
        answers += service.forecasts([ForecastItem("a", p=0.5)]).result()
        rows = service.ask(lambda e: e.streams(sort="oldest_pending")).result()
        assert rows["streams"][0]["pending"] == len(answers)
    service.outcomes([OutcomeItem(1, id=answer.id) for answer in answers]).result()
    view = service.ask(lambda e: (e.stream("a"), e.health())).result()
    assert view[0]["events"] == 5 and view[1]["uptime"] >= 0
    service.close()


def test_a_store_that_cannot_be_written_says_so_and_loses_nothing(folder, monkeypatch):
    from fullswap.service.storage import Journal

    service = opened(folder)
    mirror = Mirror(service)
    rng = random.Random(1)
    play(service, mirror, rng, 5)
    append = Journal.append
    failing = [True]

    def broken(self, bodies):
        if failing[0]:
            raise Unavailable("the disk is full: nothing was done; try again when there is room")
        return append(self, bodies)

    monkeypatch.setattr(Journal, "append", broken)
    item = ForecastItem("default/0", "default", p=0.5, id="again", event="ev")
    new = ForecastItem("never before", p=0.5)
    for _ in range(3):
        with pytest.raises(Unavailable, match="disk is full"):
            service.forecasts([item, new, item]).result()
        with pytest.raises(Unavailable, match="disk is full"):
            service.outcomes([OutcomeItem(1, id=next(iter(mirror.tickets)))]).result()
    mirror.check(service)
    failing[0] = False
    mirror.forecast(item, service.forecasts([item]).result()[0])
    service.forecasts([new]).result()
    play(service, mirror, rng, 5)
    mirror.check(service)
    service.close()
    service = opened(folder)
    mirror.check(service)
    service.close()


def test_all_forecasts_can_be_exported(folder):
    service = opened(folder)
    rng = random.Random(2)
    mirror = Mirror(service)
    play(service, mirror, rng, 8)
    total = service.ask(lambda e: sum(row["forecasts"] for row in e.streams()["streams"])).result()
    rows, cursor = [], 0
    while cursor is not None:
        page, cursor = service.ask(lambda e, c=cursor: e.export(None, c, 7)).result()
        rows += page
    assert len(rows) == total == len({row["id"] for row in rows})
    assert {row["id"] for row in rows if row["resolved"] is None} == set(mirror.tickets) | {
        row["id"] for row in rows if row["resolved"] is None and row["event"]
    }
    own, _ = service.ask(lambda e: e.export("default/0", 0, 1000)).result()
    assert own == [row for row in rows if row["stream"] == "default/0"]
    service.close()


def test_a_journal_older_than_the_tables_is_refused(folder, tmp_path):
    import shutil

    opened(folder).close()
    shutil.copytree(folder, tmp_path / "old")
    service = opened(folder)
    service.forecasts([ForecastItem("a", p=0.5)]).result()
    service.close()
    shutil.copy(tmp_path / "old" / "journal.db", folder / "journal.db")
    with pytest.raises(ValueError, match="one backup"):
        Service.open(folder)


def test_alarms_that_rang_are_counted_across_restarts(folder):
    service = Service.open(folder)
    service.ask(lambda e: e.put_spec("watched", SpecBody(monitor=1000))).result()
    for _ in range(3):
        items = [ForecastItem("wrong", "watched", p=0.1)] * 100
        made = service.forecasts(items).result()
        service.outcomes([OutcomeItem(1, id=one.id) for one in made]).result()
    budget = service.ask(lambda e: e.streams()["budget"]).result()
    assert (budget["rung"], budget["unacknowledged"]) == (1, 1)
    assert service.ask(lambda e: e.acknowledge("wrong")).result()
    service.close()
    service = Service.open(folder)
    again = service.ask(lambda e: e.streams()["budget"]).result()
    assert again == {**budget, "unacknowledged": 0}
    service.close()
