"""Items of any shape: each is refused in its place, and nobody else notices."""

import pytest

from fullswap.service.messages import ForecastItem, Issued, OutcomeItem, Refusal, Settled, SpecBody
from service.life import Life

pytestmark = pytest.mark.timeout(600)
HALF = "\ud800"
BIG = 10**400
NUMBERS = [BIG, -BIG, float("nan"), float("inf"), 2**63, -(2**63), 2**64, [], [[]], [BIG], [[BIG]],
           [None], [[None] * 3] * 2, [0.1, [0.2]], [0.5] * 999, [[0.2, None, 0.5]] * 2]  # fmt: skip


@pytest.mark.parametrize("items", [
    [ForecastItem("a", p=0.5, id=HALF)], [ForecastItem("a", p=0.5, event=HALF)],
    [ForecastItem(HALF, p=0.5)], [ForecastItem("a", HALF, p=0.5)],
    [ForecastItem("a", p=p) for p in NUMBERS],
])  # fmt: skip
def test_a_poisoned_forecast_does_not_hurt_its_neighbours(life, items):
    answers = life.forecast(ForecastItem("n", p=0.5), *items, ForecastItem("n", p=0.5))
    assert [type(answer) for answer in answers] == [Issued] + [Refusal] * len(items) + [Issued]
    life.kill()
    assert life.ask(lambda e: list(e.places)) == ["n"]


@pytest.mark.parametrize("spec", [
    SpecBody(), SpecBody(classes=["x", "y", "z"]), SpecBody(classes=["no", "yes"]),
    SpecBody(forecaster="multiclass", classes=3), SpecBody(max_weight=2.0),
])  # fmt: skip
def test_a_poisoned_outcome_does_not_hurt_its_neighbours(life, spec):
    life.ask(lambda e: e.put_spec("mine", spec))
    p = [0.2, 0.3, 0.5] if spec.classes == ["x", "y", "z"] else 0.5
    if spec.forecaster == "multiclass":
        p = None
    for turn, bad in enumerate([*NUMBERS, HALF, "", "nobody"]):
        one, two = life.forecast(
            *[ForecastItem("a", "mine", p=p, event=f"{turn}{k}") for k in "ab"]
        )
        poison = [OutcomeItem(bad, id=one.id), OutcomeItem(bad, event=f"{turn}a")]
        if not isinstance(bad, list | str):
            poison.append(OutcomeItem(1, id=one.id, weight=bad))
        *refused, learnt = life.report(*poison, OutcomeItem(1, id=two.id))
        assert all(isinstance(answer, Refusal) for answer in refused), (bad, refused)
        assert learnt.status == "learnt"
    names = [{"id": HALF}, {"event": HALF}, {"event": "e", "stream": HALF}, {"id": "\0"},
             {"id": f"fs-{'9' * 18}-{'9' * 18}"}, {"id": f"fs-{'9' * 30}-1"},
             {"id": "fs-١-١"}]  # fmt: skip
    unknown = life.report(*(OutcomeItem(1, **name) for name in names))
    assert all(isinstance(answer, Refusal) for answer in unknown)


def test_every_id_that_is_taken_can_be_resolved(life):
    names = ["fs-", "fs-abc", "fs-1", f"fs-1-{'1' * 19}", "fs-١-١"]
    answers = life.forecast(*(ForecastItem("a", p=0.5, id=name) for name in names))
    assert [answer.id for answer in answers] == names
    learnt = life.report(*(OutcomeItem(1, id=name) for name in names))
    assert learnt == [Settled(name, "learnt") for name in names]


def test_no_more_wait_than_may_in_one_batch_or_for_one_event(tmp_path, quiet):
    life = Life(tmp_path, pending=3)
    kinds = [Issued] * 3 + [Refusal] * 2
    assert [type(a) for a in life.forecast(*[ForecastItem("a", p=0.5)] * 5)] == kinds
    event = ForecastItem("b", p=0.5, event="e")
    assert [type(life.forecast(event)[0]) for _ in range(5)] == kinds
    life.kill()
    assert life.forecast(event)[0].error.code == "too-many-pending"
    life.report(OutcomeItem(1, event="e"), OutcomeItem(None, id="fs-1-0"))
    assert [type(a) for a in life.forecast(*[ForecastItem("a", p=0.5)] * 2)] == [Issued, Refusal]
    life.service.close()


def test_what_is_dropped_and_then_learnt_in_one_batch_is_so_in_this_order(life):
    def row(engine, name):
        fleet, place = engine.places[name]
        return fleet.rows.row(place).tolist()

    for name, together in (("a", True), ("b", False)):
        one, two = life.forecast(*[ForecastItem(name, p=0.5)] * 2)
        own = [OutcomeItem(None, id=one.id), OutcomeItem(1, id=two.id)]
        for part in [own] if together else [[item] for item in own]:
            life.report(*part)
    assert life.ask(lambda e: row(e, "a")) == life.ask(lambda e: row(e, "b"))


@pytest.mark.parametrize("bad", [{"max_weight": BIG}, {"monitor": BIG}, {"classes": [HALF, "a"]}])
def test_a_spec_that_cannot_be_is_a_value_error(life, bad):
    with pytest.raises(ValueError):
        life.ask(lambda e: e.put_spec("bad", SpecBody(**bad)))
