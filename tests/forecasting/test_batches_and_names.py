"""Many forecasts at once, names in place of forecasts, names of classes, columns of any kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fullswap import Bank, Forecaster, MulticlassForecaster, Recalibrator

THREE = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8]])


def refuse(forecaster, call, message):
    before = forecaster.to_json()
    with pytest.raises(ValueError, match=message):
        call()
    assert forecaster.to_json() == before


# --- many at once -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "p", "outcomes"),
    [
        (lambda: Recalibrator(seed=1), np.array([0.2, 0.9, 0.4]), [0, 1, 0.5]),
        (lambda: Recalibrator(models=2, seed=1), THREE[:, :2], [0, 1, 1]),
        (lambda: Recalibrator(classes=3, seed=1), THREE, [2, 0, 1]),
        (lambda: Recalibrator(classes=3, models=2, seed=1), np.stack([THREE, THREE], 1), [2, 0, 1]),
    ],
    ids=["yes or no", "two models", "classes", "classes of two models"],
)
def test_a_batch_is_one_by_one(make, p, outcomes):
    at_once, single = make(), make()
    forecasts = at_once.predict(p)
    others = [single.predict(row) for row in p]
    assert [repr(f) for f in forecasts] == [repr(f) for f in others]
    assert at_once.to_json() == single.to_json()
    at_once.update(outcomes, forecasts, [1.0, 0.5, 0.0])
    for forecast, outcome, weight in zip(others, outcomes, (1.0, 0.5, 0.0), strict=True):
        single.update(outcome, forecast, weight)
    assert at_once.to_json() == single.to_json()
    (alone,) = make().predict(p[:1])
    assert repr(alone) == repr(make().predict(p[0]))


def test_all_of_a_batch_are_checked_before_any_is_learnt():
    forecaster = Recalibrator(seed=1)
    forecasts = forecaster.predict([0.2, 0.9, 0.4], event=["a", None, "b"])
    assert [forecast.event for forecast in forecasts] == ["a", None, "b"]
    update = forecaster.update
    refuse(forecaster, lambda: update([0, 1, 2], forecasts), "outcomes must lie in")
    refuse(forecaster, lambda: update([0, 1], forecasts), r"forecast must be as long as outcome")
    refuse(forecaster, lambda: update([0, 1], [0, 0]), "distinct")
    refuse(forecaster, lambda: update([0, 1], [0, 7]), "forecast 7 is not pending")
    refuse(forecaster, lambda: update([0, 1], ["a", "c"]), "'c' has no pending forecast")
    refuse(forecaster, lambda: update([0], [0], [2.0]), "sample_weight must lie in")
    refuse(forecaster, lambda: forecaster.predict([0.2, 1.2]), "p must lie in")
    refuse(forecaster, lambda: forecaster.predict([0.2, 0.3], event=["a"]), "event must")
    update(["yes", "no", "yes"], ["b", "a", 1])
    assert forecaster.rounds == 3 and forecaster.pending == ()


# --- names in place of forecasts ------------------------------------------------------------------


def test_an_event_that_was_forecast_once_is_its_own_id():
    by_name, by_ticket = Forecaster(seed=1), Forecaster(seed=1)
    for forecaster in (by_name, by_ticket):
        for name in ("game-17", ("cup", 2026), "game-18"):
            forecaster.predict(event=name)
    by_name.update(1, "game-17", 0.5)
    by_name.update(0, ("cup", 2026))
    by_ticket.update(1, 0, 0.5)
    by_ticket.resolve(("cup", 2026), 0)
    assert by_name.to_json() == by_ticket.to_json()
    by_name.drop("game-18")
    assert by_name.pending == ()
    refuse(by_name, lambda: by_name.update(1, "game-17"), "no pending forecast")
    refuse(by_name, lambda: by_name.drop("game-18"), "no pending forecast")


def test_an_event_that_was_forecast_twice_is_resolved():
    forecaster = MulticlassForecaster(9, seed=1)
    for _ in range(2):
        forecaster.predict(event="game")
    refuse(forecaster, lambda: forecaster.update(1, "game"), "has 2 that wait: give event='game'")
    refuse(forecaster, lambda: forecaster.update(1, 0), r"call resolve\('game', outcome\)")
    forecaster.update(1, event="game")
    assert forecaster.rounds == 2


def test_a_bank_finds_names_and_tells_keys_apart():
    bank, other = Bank(Forecaster(seed=1)), Bank(Forecaster(seed=1))
    for one in (bank, other):
        one.predict(["a", "b", "a"], event=["first", "second", "third"])
    assert bank.is_pending("a", "first") and not bank.is_pending("b", "first")
    assert not bank.is_pending("nobody", "first")
    bank.update(["second", "first"], [1, 0])
    other.resolve(["b", "a"], ["second", "first"], [1, 0])
    assert bank.to_json() == other.to_json()
    bank.drop("third")
    assert bank.pending == ()
    bank.predict(["a", "b"], event=["same", "same"])
    refuse(bank, lambda: bank.update(["same"], [1]), "'same', which waits under 2 keys")
    refuse(bank, lambda: bank.update(["first"], [1]), "'first', which waits under no key")
    refuse(bank, lambda: bank.update("same", [1]), "forecasts must be a list")
    refuse(bank, lambda: bank.resolve(["nobody"], ["same"], [1]), "no stream has the key 'nobody'")
    with pytest.raises(KeyError, match="no stream has the key"):
        bank["nobody"]


# --- names of classes -----------------------------------------------------------------------------


LABELS = ["home", "tie", "away"]


@pytest.mark.parametrize(
    ("make", "own"),
    [
        (MulticlassForecaster, ()),
        (lambda classes, **more: Recalibrator(classes=classes, **more), (THREE,)),
    ],
    ids=["forecaster", "recalibrator"],
)
def test_classes_by_name_are_classes_by_number(make, own):
    named, numbered = make(LABELS, seed=1), make(3, seed=1)
    assert named.labels == tuple(LABELS) and named.classes == 3 and numbered.labels is None
    for outcomes in (["tie", "Home ", "away"], pd.Series(["tie", "home", "away"]), [1, 0, 2]):
        named.run(*own, outcomes)
        numbered.run(*own, [1, 0, 2])
    for one in (named, numbered):
        one.run(*own, ["tie", None, "home"] if one is named else [1, -1, 0], known=[1, 2, 5])
    named.update("away", named.pending[0])
    numbered.update(2, numbered.pending[0])
    again = type(named).from_json(named.to_json())
    assert again.labels == tuple(LABELS) and again.to_json() == named.to_json()
    assert "tie" in repr(again) and named.copy().labels == tuple(LABELS)
    assert [c.measured for c in named.certificates()] == [
        c.measured for c in numbered.certificates()
    ]
    refuse(named, lambda: named.update("draw", named.pending[0]), "one of the labels")
    refuse(numbered, lambda: numbered.run(*own, LABELS), "outcomes must")


def test_a_bank_keeps_the_names_of_the_classes():
    bank = Bank(MulticlassForecaster(LABELS, seed=1))
    bank.run(["a", "b"], ["tie", "home"])
    again = Bank.from_json(bank.to_json())
    assert again["a"].labels == tuple(LABELS) and again.to_json() == bank.to_json()


def test_yes_and_no_may_have_names():
    forecaster, plain = Recalibrator(classes=["Cubs", "Mets"], seed=1), Recalibrator(seed=1)
    forecaster.run([0.2, 0.9, 0.4], ["Mets", "Cubs", "Mets"])
    plain.run([0.2, 0.9, 0.4], [1, 0, 1])
    forecaster.update("Cubs", forecaster.predict(0.3))
    plain.update(0, plain.predict(0.3))
    assert forecaster.certificate().measured == plain.certificate().measured
    refuse(forecaster, lambda: forecaster.run([0.5], ["Reds"]), "one of the labels")


def test_a_new_class_has_a_name_where_the_others_do():
    forecaster = Recalibrator(classes=["a", "b", "c"], seed=1)
    refuse(forecaster, forecaster.add_class, "label must be given exactly where")
    refuse(forecaster, lambda: forecaster.add_class("b"), "different texts or numbers")
    forecaster.add_class("d")
    forecaster.run([[0.1, 0.2, 0.3, 0.4]] * 2, ["d", "a"])
    assert forecaster.labels == ("a", "b", "c", "d")


@pytest.mark.parametrize("classes", [["a"], ["a", "A "], ["a", None], "home", [["a"], ["b"]], 1.5])
def test_names_that_cannot_tell_classes_apart_are_refused(classes):
    with pytest.raises(ValueError, match="classes must be"):
        MulticlassForecaster(classes)


# --- columns of any kind --------------------------------------------------------------------------

COLUMNS = {
    "pandas": pd.Series,
    "polars": lambda values: pl.Series("x", values, strict=False),
    "pyarrow": pa.array,
    "list": list,
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_forecasters_read_what_check_reads(column):
    plain, read = Recalibrator(seed=1), Recalibrator(seed=1)
    plain.run([0.25, 0.9, 0.4], [0, 1, 1])
    plain.run([0.25, 0.9, 0.4], [0, 1, 1])
    read.run(column(["25%", "90%", "40%"]), column(["no", "yes", "Yes"]))
    read.run(column([0.25, 0.9, 0.4]), column([False, True, True]))
    assert read.to_json() == plain.to_json()
    for one, absent in ((plain, [0, np.nan, 1]), (read, column(["no", None, "yes"]))):
        one.run([0.25, 0.9, 0.4], absent, known=[1, 2, 3])
    assert read.to_json() == plain.to_json() and len(read.pending) == 1


def test_columns_with_the_names_of_classes_are_put_in_their_order():
    plain, read = (Recalibrator(classes=LABELS, seed=1) for _ in range(2))
    plain.run(THREE, LABELS)
    frame = pd.DataFrame(THREE, columns=["p_home", "p_tie", "p_away"])
    read.run(frame[["p_away", "p_home", "p_tie"]], pl.Series(LABELS))
    assert read.to_json() == plain.to_json()


def test_numbers_above_one_are_no_percents():
    forecaster = Recalibrator(seed=1)
    for p in ([25, 90], pd.Series([25, 90]), ["0.5", "1.5"], ["45%", "0.5"]):
        refuse(forecaster, lambda p=p: forecaster.run(p, [0, 1]), "p must")
