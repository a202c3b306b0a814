"""Forecasters with groups: names, forms, groups that come as they come, pooling, certificates."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.makers import row_of, state_of
from fullswap import Bank, Forecaster, Recalibrator
from fullswap.certificates import EVERYBODY
from fullswap.forecasting import expert_specs
from fullswap.forecasting.groups import FIRST_ROOM
from fullswap.kernels.columns import LEARNT

NAMES = ("north", "south", "night")


def stream(events, seed=0, groups=3, share=0.4):
    rng = np.random.default_rng(seed)
    member = rng.random((events, groups)) < share
    p = rng.random(events)
    chance = np.clip(p + 0.2 * member[:, 0] - 0.2 * member[:, -1], 0, 1)
    return p, (rng.random(events) < chance).astype(float), member


def listed(member, names=NAMES):
    return [[name for name, own in zip(names, row, strict=True) if own] for row in member]


def plain_row(forecaster):
    row = row_of(forecaster).copy()
    row[LEARNT] = -1
    return row


# --- forms ------------------------------------------------------------------------------------


def test_all_forms_of_groups_say_the_same():
    from scipy import sparse

    p, y, member = stream(60)
    names = listed(member)
    forms = [member, member.astype(int), sparse.csr_array(member), names]
    forms += [set(own) for own in names], [tuple(own) for own in names]
    rows = []
    for form in forms:
        forecaster = Recalibrator(groups=NAMES, seed=1)
        forecaster.run(p, y, groups=form)
        rows.append(row_of(forecaster))
    assert all(np.array_equal(rows[0], row) for row in rows)
    one = Recalibrator(groups=["band=x", "band=y", "region=1"], seed=1)
    frame = {"band": np.where(member[:, 0], "x", "y"), "region": np.where(member[:, 1], 1, None)}
    one.run(p, y, groups=frame)
    other = Recalibrator(groups=["band=x", "band=y", "region=1"], seed=1)
    other.run(p, y, groups=np.column_stack((member[:, 0], ~member[:, 0], member[:, 1])))
    assert np.array_equal(row_of(one), row_of(other))


def test_a_single_event_may_name_its_groups_in_any_order_and_way():
    told = (["night", "north"], ("north", "night"), {"north", "night"}, ["north", "night", "north"],
            np.array(["night", "north"]), ["north", None, "", "night"])  # fmt: skip
    shown = set()
    for groups in told:
        forecaster = Recalibrator(groups=NAMES, seed=1)
        forecaster.run(*stream(80)[:2], groups=stream(80)[2])
        peeked = forecaster.peek(0.6, groups=groups)
        ticket = forecaster.predict(0.6, groups=groups)
        assert np.array_equal(peeked.points, ticket.points)
        assert np.array_equal(peeked.weights, ticket.weights)
        shown.add((ticket.issued, tuple(ticket.weights)))
    assert len(shown) == 1
    single = Forecaster(groups=NAMES, seed=1)
    assert (
        single.peek(groups="north").points.tolist() == single.peek(groups=["north"]).points.tolist()
    )
    assert single.predict().mean == pytest.approx(0.5, abs=0.2)


def test_groups_of_many_events_at_once():
    forecaster, other = Recalibrator(groups=NAMES, seed=1), Recalibrator(groups=NAMES, seed=1)
    tickets = forecaster.predict([0.7, 0.2], groups=[["north"], []])
    alone = [other.predict(0.7, groups=["north"]), other.predict(0.2)]
    assert [t.issued for t in tickets] == [t.issued for t in alone]
    forecaster.update([1, 0], tickets)
    assert forecaster.certificate(group="north").rounds == 1
    looked = forecaster.peek_many([0.7, 0.2], groups=[["north"], []])
    assert looked.mean[0] == pytest.approx(
        float(
            np.dot(
                *(getattr(forecaster.peek(0.7, groups="north"), n) for n in ("points", "weights"))
            )
        )
    )


@pytest.mark.parametrize("make", [Forecaster, Recalibrator])
@pytest.mark.parametrize(
    ("groups", "message"),
    [("north", 'groups must be names of groups, "open" or None'), (3, "groups must be names"),
     ([], "groups must be 1 to 1000 names"), (range(1001), "groups must be 1 to 1000 names"),
     (["a", "a"], "groups must have every name once"), ([None], "groups must be texts"),
     ([["a"]], "groups must be texts")],
)  # fmt: skip
def test_bad_lists_of_groups_are_refused(make, groups, message):
    with pytest.raises(ValueError, match=message):
        make(groups=groups)


def test_what_does_not_go_with_groups_is_refused():
    with pytest.raises(ValueError, match="groups must be None for more than two classes"):
        Recalibrator(classes=3, groups=NAMES)


def test_bad_groups_of_events_are_refused_and_change_nothing():
    forecaster = Recalibrator(groups=NAMES, seed=1)
    free = Recalibrator(groups="open", seed=1)
    free.predict(0.5, groups=["a"])
    plain = Recalibrator(seed=1)
    p, y, member = stream(5)
    calls = [
        (forecaster, lambda f: f.predict(0.5, groups=["east"]), "groups must be among the known"),
        (forecaster, lambda f: f.peek(0.5, groups=["east"]), "groups must be among the known"),
        (forecaster, lambda f: f.predict(1.5, groups=["north"]), "p must"),
        (forecaster, lambda f: f.run(p, y, groups=member[:4]), "groups must have shape"),
        (forecaster, lambda f: f.run(p, y, groups=2.0 * member), "groups must hold 0 and 1"),
        (forecaster, lambda f: f.run(p, y, groups=listed(member)[:4]), "groups must"),
        (forecaster, lambda f: f.certificate(group="east"), "group must be one of 'north'"),
        (free, lambda f: f.predict(1.5, groups=["new"]), "p must"),
        (free, lambda f: f.predict(0.5, groups=[{}]), "groups must be texts"),
        (free, lambda f: f.run(p, y, [2.0] * 5, groups=["new"] * 5), "sample_weight must"),
        (free, lambda f: f.run(p, y, groups=["new"] * 5, event="e"), "event must"),
        (free, lambda f: f.predict([0.5, 0.5], groups=["new", "b"], event=["e"]), "event must"),
        (free, lambda f: f.run(p, y, groups=member), "groups must be names where"),
        (free, lambda f: f.predict(0.5, groups=list(range(129))), "at most 128"),
        (free, lambda f: f.run([0.5] * 1001, [1] * 1001, groups=list(range(1001))), "at most 1000"),
        (plain, lambda f: f.predict(0.5, groups=["a"]), "was made without groups"),
        (plain, lambda f: f.run(p, y, groups=member), "was made without groups"),
        (plain, lambda f: f.certificate(group="a"), "was made without groups"),
    ]  # fmt: skip
    for forecaster, call, message in calls:
        before = forecaster.to_json()
        with pytest.raises(ValueError, match=message):
            call(forecaster)
        assert forecaster.to_json() == before
    many = Forecaster(groups=range(200), seed=1)
    with pytest.raises(ValueError, match="at most 128"):
        many.predict(groups=range(129))
    assert many.predict(groups=range(128)).id == 0
    many.update(1)
    assert many.certificate(group=127).rounds == 1 and many.certificate(group=128).rounds == 0


# --- laws ---------------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.permutations(range(4)))
def test_what_groups_are_called_changes_nothing(seed, order):
    """Nor does their order, but for the rounding of sums."""
    _, y, member = stream(300, seed, groups=4)
    one = Forecaster(groups=["a", "b", "c", "d"], seed=1, feedback="distribution")
    other = Forecaster(groups=[f"other {k}" for k in order], seed=1, feedback="distribution")
    mean = one.run(y, groups=member).mean
    again = other.run(y, groups=member[:, order]).mean
    assert again == pytest.approx(mean, abs=1e-7)
    for k, name in enumerate("abcd"):
        mine, theirs = one.certificate(group=name), other.certificate(group=f"other {k}")
        assert theirs.measured == pytest.approx(mine.measured, abs=1e-6)
        assert theirs.guaranteed == pytest.approx(mine.guaranteed)


def test_without_any_group_only_everybody_learns():
    p, y, _ = stream(200)
    forecaster = Recalibrator(groups=NAMES, seed=1)
    forecaster.run(p, y)
    assert forecaster.certificate().rounds == 200
    for name in NAMES:
        own = forecaster.certificate(group=name)
        assert (own.rounds, own.mass, own.measured) == (0, 0.0, 0.0)
        assert str(own).startswith(f"No outcomes yet in group {name}")


def test_a_group_of_all_events_is_everybody():
    p, y, _ = stream(400)
    forecaster = Recalibrator(groups=["all"], seed=1)
    forecaster.run(p, y, groups=["all"] * 400)
    mine, all_of_them = forecaster.certificate(group="all"), forecaster.certificate()
    for name in ("rounds", "mass", "noise", "theorem", "late"):
        assert getattr(mine, name) == getattr(all_of_them, name)
    for name in ("measured", "after_the_fact", "guaranteed"):
        assert getattr(mine, name) == pytest.approx(getattr(all_of_them, name))


def test_a_forecast_kept_over_a_restart_is_known_when_room_has_been_made():
    forecaster = Recalibrator(groups="open", seed=2)
    kept = forecaster.predict(0.3, groups=["a"])
    forecaster = Recalibrator.from_json(forecaster.to_json())
    forecaster.predict(0.3, groups=[f"x{k}" for k in range(2 * FIRST_ROOM)])
    forecaster.update(1, kept)
    assert forecaster.certificate(group="a").rounds == 1


def test_weights_beyond_1_come_back_from_files():
    """Outcomes that come late, the youngest first, have scales that sum to more than 1."""
    forecaster = Recalibrator(step=1, groups=["a"], seed=1)
    for forecast in [forecaster.predict(0.5, groups=["a"]) for _ in range(100)][::-1]:
        forecaster.update(1, forecast)
    for p in (0.01, 0.3, 0.5, 0.99):
        forecaster.predict(p, groups=["a"])
    assert Recalibrator.from_json(forecaster.to_json()).to_json() == forecaster.to_json()


def test_groups_can_be_told_apart_in_a_table():
    forecaster = Recalibrator(groups="open", seed=2)
    forecaster.update(1, forecaster.predict(0.3, groups=[1, "1"]))
    lines = str(forecaster.by_group()).splitlines()
    assert {line.split()[0] for line in lines[1:4]} == {"1", "'1'", "everybody"}
    for make in (lambda: Recalibrator(groups=["everybody"]),
                 lambda: forecaster.predict(0.3, groups=["everybody"])):  # fmt: skip
        with pytest.raises(ValueError, match="everybody is always a group, got 'everybody'"):
            make()
    named = Recalibrator(groups=[0, 1, 2])
    for own in (forecaster, named):  # the same array is a row of a table in `run`
        for asked in (own.predict, own.peek):
            with pytest.raises(ValueError, match="groups must be a list of names in a single"):
                asked(0.3, groups=np.array([1, 0, 1]))
    assert forecaster.groups == (1, "1")
    with pytest.raises(ValueError, match="groups must have an order"):
        Recalibrator(groups={"a", "b"})
    unmet = Recalibrator(groups=["a"]).certificate(group="a")
    assert "no outcomes yet in group a" in repr(unmet)


@pytest.fixture
def coarse(monkeypatch):
    """Grids that are refined after some dozen events."""
    monkeypatch.setattr(expert_specs, "FEWEST_IN_GROUPS", 2)
    expert_specs.groups_spec.cache_clear()
    yield
    expert_specs.groups_spec.cache_clear()


def test_grids_are_refined_while_forecasts_wait(coarse):
    """A late run is the loop of single events, to the bit; what a group has learnt stays."""
    _, y, member = stream(1200)
    names = listed(member)
    known = np.arange(1, 1201) + np.random.default_rng(2).integers(0, 200, 1200)
    known[::50] = 1201
    ran, looped = Forecaster(groups=NAMES, seed=1), Forecaster(groups=NAMES, seed=1)
    ran.run(y, groups=names, known=known)
    order, tickets = np.argsort(known, kind="stable").tolist(), []
    for t in range(1200):
        tickets.append(looped.predict(groups=names[t]))
        while order and known[order[0]] == t + 1:
            looped.update(y[order[0]], tickets[order.pop(0)])
    assert ran.to_json() == looped.to_json()
    assert len({ticket.level for ticket in ran.pending}) >= 2
    table = {row.name: row.rounds for row in ran.by_group()}
    learnt = known <= 1200
    assert [table[name] for name in NAMES] == member[learnt].sum(axis=0).tolist()


# --- groups that come as they come ----------------------------------------------------------------


def coming(events, seed, most=40):
    """More and more names."""
    rng = np.random.default_rng(seed)
    return [[f"g{k}" for k in np.flatnonzero(rng.random(most) < 0.1 * t / events)]
            for t in range(events)]  # fmt: skip


@pytest.mark.parametrize("model", [True, False])
def test_open_groups_make_room_and_change_nothing_else(model):
    """A run is the loop of single events, whenever room is made; saved in the middle, and late."""
    p, y, _ = stream(400)
    names = coming(400, 1)
    make = Recalibrator if model else Forecaster
    said = (p,) if model else ()
    ran, looped = make(groups="open", seed=3), make(groups="open", seed=3)
    assert ran.spec.groups == FIRST_ROOM and ran.groups == ()
    ran.run(*said, y, groups=names)
    waiting = looped.predict(*(own[0] for own in said), groups=names[0])
    looped.drop(waiting)
    looped = make(groups="open", seed=3)
    for t in range(400):
        if t % 100 == 50:
            looped = make.from_json(looped.to_json())
        own = tuple(column[t] for column in said)
        seen = looped.peek(*own, groups=names[t])
        ticket = looped.predict(*own, groups=names[t])
        assert np.array_equal(seen.points, ticket.points)
        looped.update(y[t])
    assert ran.groups == looped.groups and ran.spec == looped.spec
    assert ran.spec.groups > FIRST_ROOM and len(ran.groups) <= ran.spec.groups
    assert np.array_equal(plain_row(ran), plain_row(looped))


def test_forecasts_that_wait_while_room_is_made_are_learnt():
    p, y, _ = stream(100)
    names = [[f"g{t}", "all"] for t in range(100)]
    at_once, grown = (Recalibrator(groups="open", seed=3) for _ in range(2))
    at_once.run(p, y, groups=names, known=np.full(100, 100))
    tickets = [grown.predict(q, groups=own) for q, own in zip(p.tolist(), names, strict=True)]
    copy = grown.copy()
    restored = Recalibrator.from_json(grown.to_json())
    for forecaster in (grown, copy, restored):
        forecaster.update(y, [ticket.id for ticket in tickets])
        assert np.array_equal(plain_row(forecaster), plain_row(at_once))
    assert grown.spec.groups == 128 and len(grown.groups) == 101
    assert state_of(copy) == state_of(grown)


def test_streams_of_a_bank_share_their_groups_and_saved_banks_keep_them(tmp_path):
    p, y, _ = stream(300)
    names, keys = coming(300, 2), np.random.default_rng(1).integers(0, 4, 300)
    bank, path = Bank(Recalibrator(groups="open", seed=5)), tmp_path / "bank.json"
    bank.run(keys[:80], p[:80], y[:80], groups=names[:80])
    first = bank.spec.groups
    tickets = bank.predict([1, 2], [0.3, 0.4], groups=[["a"], ["b", "c"]])
    bank.save(path)
    again = Bank.load(path)
    for own in (bank, again):
        own.run(keys[80:], p[80:], y[80:], groups=names[80:])
        own.update(tickets, [1, 0])
    assert bank.spec.groups > first and bank.groups == again.groups
    assert again.to_json() == bank.to_json() == Bank.from_json(bank.to_json()).to_json()
    assert {bank[key].groups for key in bank} == {bank.groups}


def test_a_frame_names_columns_whose_values_are_groups():
    frame = {"site": ["n", "s", "n", "n"], "said": [0.9, 0.2, 0.8, 0.5], "rain": [1, 0, 1, None],
             "band": ["x", None, "y", "x"], "hour": [3, 1, 2, 4]}  # fmt: skip
    how = {"key": "site", "probability": "said", "outcome": "rain", "time": "hour"}
    bank = Bank(Recalibrator(groups="open", seed=1))
    bank.run(frame, groups=["band", "hour"], **how)
    assert bank.groups[:3] == ("hour=1", "band=y", "hour=2"), "as time goes by"
    assert bank["n"].certificate(group="band=x").rounds == 1 and len(bank.pending) == 1
    for group in ("band=x", "everybody", None):
        own = {key: bank[key].certificate(group=group) for key in bank}
        assert bank.certificates(group=group) == own
    with pytest.raises(ValueError, match="group must be one of 'hour=1'"):
        bank.certificates(group="band=nowhere")
    other = Bank(Recalibrator(groups="open", seed=1))
    other.run(frame, groups="band", **how)
    assert other.groups == ("band=y", "band=x")
    with pytest.raises(ValueError, match="groups"):
        other.run(frame, groups=["band", "nothing"], **how)


# --- saved states -----------------------------------------------------------------------------


def test_states_say_the_names_and_damaged_ones_are_refused():
    from fullswap.forecasting.state import _checksum

    forecaster = Recalibrator(groups=[1, "b", ("c", 2)], seed=1)
    forecaster.run(*stream(40)[:2], groups=stream(40)[2])
    stored = json.loads(forecaster.to_json())
    assert stored["groups"] == [1, "b", {"tuple": ["c", 2]}] and stored["spec"]["groups"] == 3
    again = Recalibrator.from_json(forecaster.to_json())
    assert again.groups == (1, "b", ("c", 2)) and again.by_group().to_dict() == (
        forecaster.by_group().to_dict()
    )
    spoilt = [[1, "b"], [1, "b", "b"], "open", None, [1, "b", None], [1, "b", ["c"]], [1] * 2000]
    for groups in spoilt:
        body = {**stored, "groups": groups}
        body.pop("checksum")
        with pytest.raises(ValueError, match=r"groups|key"):
            Recalibrator.from_json(json.dumps({**body, "checksum": _checksum(body)}))
    plain = json.loads(Recalibrator(seed=1).to_json())
    assert "groups" not in plain and "groups" not in plain["spec"], "as states have been"


# --- words --------------------------------------------------------------------------------------


def test_tables_and_words_of_groups():
    p, y, member = stream(3000)
    forecaster = Recalibrator(groups=NAMES, seed=1)
    forecaster.run(p, y, groups=member)
    table = forecaster.by_group()
    assert len(table) == 4 and {row.name for row in table} == {*NAMES, EVERYBODY}
    beyond = [row.beyond_chance for row in table]
    assert beyond == sorted(beyond, reverse=True)
    north = next(row for row in table if row.name == "north")
    assert north.rounds == member[:, 0].sum()
    assert north.happened == pytest.approx(y[member[:, 0]].mean())
    assert abs(north.said - north.happened) < 0.05
    lines = str(table).splitlines()
    assert len(lines) == 7 and lines[0].split()[:2] == ["group", "forecasts"]
    assert json.loads(json.dumps(table.to_dict()))["rows"][0]["name"] == table.rows[0].name
    words = str(forecaster.certificate(group="night"))
    assert " in group night: " in words and "groups to which it belongs" in words
    assert "in group" not in str(forecaster.certificate())
    assert forecaster.certificate(group=EVERYBODY) == forecaster.certificate()
    assert "in each group" in forecaster.explain()
    assert "groups=['north', 'south', 'night']" in repr(forecaster)
    late = Recalibrator(groups=NAMES, seed=1)
    late.run(p, y, groups=member, known=np.arange(3000) + 5)
    own = late.certificate(group="night")
    assert own.guaranteed is None and own.after_the_fact > 0 and "labels came late" in str(own)


# --- partial pooling ----------------------------------------------------------------------------


@pytest.mark.parametrize("segments", [5, 40])
@pytest.mark.parametrize(
    ("shift", "slope", "drift"), [(0.0, 0.0, 0), (0.8, 0.0, 0), (0.4, 0.4, 0), (0.0, 0.0, 1)]
)
def test_segments_are_pooled_as_far_as_that_helps(segments, shift, slope, drift):
    """Brier score within 0.5 % of the better of one recalibrator, and of one for each segment."""
    rng, events = np.random.default_rng(segments), 8000
    segment, odds = rng.integers(0, segments, events), rng.normal(-0.3, 1.5, events)
    own_shift, own_slope = rng.normal(0, shift, segments), np.exp(rng.normal(0, slope, segments))
    turns = rng.uniform(1, 3, segments)[segment] * np.linspace(0, 2 * np.pi, events) + segment
    more = own_shift[segment] + drift * np.sin(turns)
    chance = 1 / (1 + np.exp(-more - own_slope[segment] * odds))
    p, y = 1 / (1 + np.exp(-odds)), (rng.random(events) < chance).astype(float)

    def brier(record):
        return float(((record.mean - y) ** 2).mean())

    pooled = brier(Recalibrator(seed=1).run(p, y))
    separate = brier(Bank(Recalibrator(seed=1)).run(segment, p, y))
    ours = brier(Recalibrator(groups=range(segments), seed=1).run(p, y, groups=segment))
    assert ours <= 1.005 * min(pooled, separate)


@pytest.mark.parametrize("size", [20, 40])
def test_small_segments_lose_next_to_nothing_where_they_are_alike(size):
    """Against the true chances, so that few runs tell."""
    lost = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        segment, p = rng.integers(0, 50, 50 * size), rng.uniform(0.05, 0.95, 50 * size)
        y = (rng.random(len(p)) < p).astype(float)
        ours = Recalibrator(groups=range(50), seed=1).run(p, y, groups=segment).mean
        pooled = Recalibrator(seed=1).run(p, y).mean
        lost.append([np.square(said - p).mean() for said in (ours, pooled)])
    ours, pooled = np.mean(lost, axis=0)
    assert ours <= pooled + 0.003 * np.mean(p * (1 - p))


def test_refused_calls_leave_no_names_behind():
    alone, bank = Recalibrator(groups="open", seed=1), Bank(Recalibrator(groups="open", seed=1))
    before = alone.to_json(), bank.to_json()
    refused = (
        lambda: alone.run([0.3], [1], groups=[["new"]], progress="x"),
        lambda: bank.predict([None], [0.5], groups=[["new"]]),
        lambda: bank.predict([["x"]], [0.5], groups=[["new"]]),
        lambda: bank.run([float("nan")], [0.5], [1], groups=[["new"]]),
    )
    for call in refused:
        with pytest.raises(ValueError):
            call()
        assert (alone.to_json(), bank.to_json()) == before


def test_what_is_given_to_predict_can_be_given_to_peek():
    forecaster = Recalibrator(groups="open", seed=1)
    for groups in ({"region": "north"}, (name for name in ("a", "b")), "c", None):
        if not isinstance(groups, dict):
            groups = None if groups is None else list(groups)
        seen = forecaster.peek(0.4, groups=groups)
        forecast = forecaster.predict(0.4, groups=groups)
        assert np.array_equal(seen.points, forecast.points)
        forecaster.update(1, forecast)
    assert forecaster.groups == ("region=north", "a", "b", "c")
    later = forecaster.predict(0.4, groups=(name for name in ("a", "b")))
    assert np.array_equal(later.points, forecaster.peek(0.4, groups=["a", "b"]).points)


def test_settings_of_open_groups_are_the_same_text_in_every_process():
    code = "from fullswap import Recalibrator; print(Recalibrator(groups='open', seed=1).to_json())"
    texts = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3", "4")
    }  # fmt: skip
    assert len(texts) == 1
