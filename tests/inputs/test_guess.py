"""Roles of columns: guessed where they are obvious, refused where they are not."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fullswap.inputs import guess_roles, log_of
from fullswap.inputs.moments import moments

P = [0.7, 0.2, 0.6, 0.4, 0.15, 0.9]
Q = [round(1 - p, 2) for p in P]
Y = [1, 0, 1, 0, 0, 1]
N = [1 - y for y in Y]
DAYS = [f"2026-03-0{k}" for k in range(1, 7)]

OBVIOUS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "names": ({"won": Y, "prob": P}, {"outcome": "won", "probability": "prob"}),
    "sklearn": ({"y_proba": P, "y_true": Y}, {"outcome": "y_true", "probability": "y_proba"}),
    "words": (
        {"result": ["win", "loss", "win", "loss", "loss", "win"], "p": P},
        {"outcome": "result", "probability": "p"},
    ),
    "by contents": (
        {"rain": [bool(y) for y in Y], "model": P, "station": list("abcdef")},
        {"outcome": "rain", "probability": "model"},
    ),
    "percents by name": (
        {"actual": Y, "forecast": [100 * p for p in P], "temperature": [3, 5, 9, 1, 2, 8]},
        {"outcome": "actual", "probability": "forecast"},
    ),
    "two rows": ({"a": [1, 0], "b": [0.7, 0.2]}, {"outcome": "a", "probability": "b"}),
    "flags beside": (
        {"target": Y, "pred": P, "weekend": [0, 0, 1, 1, 0, 0]},
        {"outcome": "target", "probability": "pred"},
    ),
    "a pair": ({"q": P, "q_outcome": Y}, {"outcome": "q_outcome", "probability": "q"}),
    "complements": (
        {"prob1": P, "prob1_outcome": Y, "prob2": Q, "prob2_outcome": N},
        {"outcome": "prob1_outcome", "probability": "prob1"},
    ),
    "three classes": (
        {"prob1": [0.5, 0.2], "prob1_outcome": [1, 0], "probtie": [0.3, 0.2],
         "probtie_outcome": [0, 0], "prob2": [0.2, 0.6], "prob2_outcome": [0, 1]},
        {"outcome": ["prob1_outcome", "probtie_outcome", "prob2_outcome"],
         "classes": ["prob1", "probtie", "prob2"]},
    ),
    "classes by name": (
        {"result": ["home", "away", "tie"], "p_home": [0.5, 0.2, 0.3], "p_tie": [0.3, 0.2, 0.3],
         "p_away": [0.2, 0.6, 0.4]},
        {"outcome": "result", "classes": ["p_home", "p_tie", "p_away"]},
    ),
    "no and yes": (
        {"y": Y, "prob_0": Q, "prob_1": P},
        {"outcome": "y", "classes": ["prob_0", "prob_1"]},
    ),
    "forecasters": (
        {"day": DAYS, "A": P, "B": P[::-1], "C": [None] * 6, "D": [1, 0, 1, 1, 0, 1],
         "E": [0.5, 0.4, 0.3, 0.2, 0.1, 0.6], "rlz.C1": Y},
        {"outcome": "rlz.C1", "models": ["A", "B", "C", "D", "E"], "time": "day"},
    ),
    "days ahead": (
        {"date": DAYS, "actual": Y, "0_days_out": [70, 20, 60, 40, 15, 90],
         "1_days_out": [60, 30, 60, 40, 25, 80]},
        {"outcome": "actual", "models": ["0_days_out", "1_days_out"], "time": "date"},
    ),
    "time by when it was made": (
        {"won": Y, "prob": P, "match_date": DAYS, "forecast_date": DAYS, "due": DAYS},
        {"outcome": "won", "probability": "prob", "time": "forecast_date"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OBVIOUS)
@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_obvious(name: str, make: Any) -> None:
    table, roles = OBVIOUS[name]
    found, sentences = guess_roles(make(table))
    assert found == roles
    assert sentences[0].startswith("outcome: column") and sentences[1].startswith("probability: ")
    log = log_of(make(table), guess=True)
    assert len(log) == len(next(iter(table.values())))
    assert log.notes[: len(sentences)] == sentences


def test_sentences() -> None:
    assert guess_roles(OBVIOUS["names"][0])[1] == [
        "outcome: column won (holds only 0 and 1)",
        "probability: column prob (numbers from 0.15 to 0.9)",
    ]
    assert guess_roles(OBVIOUS["complements"][0])[1][1] == (
        "probability: column prob1 (prob2 is what is left to 1)"
    )


def test_events_are_guessed() -> None:
    game = np.repeat(np.arange(30), 10)
    rng = np.random.default_rng(1)
    won = rng.integers(0, 2, 30)
    table = {"game": [f"g{k}" for k in game], "prob": rng.random(300), "won": won[game]}
    roles, sentences = guess_roles(table)
    assert roles["event"] == "game"
    assert sentences[-1] == "event: column game (rows of one share an outcome)"
    assert len(log_of(table, guess=True).event_names) == 30


def test_what_is_given_is_kept() -> None:
    table = {"a": Y, "b": N, "p": P, "q": Q[::-1]}
    assert guess_roles(table, outcome="a", probability="q")[0] == {"outcome": "a"}
    log = log_of(table, y="b", p="q", guess=True)
    assert (log.names["y"], log.names["p"]) == ("b", "q")
    dated = {"won": Y, "prob": P, "date": DAYS[::-1]}
    assert log_of(dated, guess=True).time is not None
    named = log_of(dated, y="won", p="prob", guess=True)
    assert named.time is None
    assert "column date runs backwards: give time='date'" in named.notes
    pairs = {"x": P, "x_outcome": Y, "z": P[::-1], "z_outcome": Y[::-1]}
    assert log_of(pairs, y="z_outcome", guess=True).names["p"] == "z"
    assert log_of(pairs, p="x", guess=True).names["y"] == "x_outcome"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"r1": P, "r1_outcome": Y, "r2": P, "r2_outcome": Y},
            r"2 pairs of columns .*\(r1 with r1_outcome, r2 with r2_outcome\): give --outcome COL",
        ),
        (
            {"won": Y, "actual": N, "p": P},
            r"several columns that may be the outcome \(won, actual\)",
        ),
        ({"r1": P, "r1_outcome": Y, "r2": Q, "r2_outcome": Y}, "2 pairs of columns"),
        ({"a": Y, "b": N, "p": P}, r"several columns that may be the outcome \(a, b\)"),
        ({"p": P, "q": Q}, r"no column of yes/no outcomes \(p, q\)"),
        ({"won": Y, "team": list("abcdef")}, r"no column that looks like probabilities \(team\)"),
        ({"won": Y, "p_dog": P, "p_cat": Q}, r"sum to 1 but are not named .*\(p_dog, p_cat\)"),
        (
            {"won": Y * 2, "level": [0.5] * 11 + [0.25]},
            r"no column that looks like probabilities \(level\)",
        ),
        ({}, "must have columns"),
        ([1, 2], "must have columns"),
    ],
)
def test_what_is_refused(table: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        guess_roles(table)


def test_many_dates_are_left_to_the_user() -> None:
    table = {"won": Y, "prob": P, "a_date": DAYS, "b_date": DAYS}
    roles, sentences = guess_roles(table)
    assert "time" not in roles
    assert sentences[-1] == (
        "time: not used, several columns of dates (a_date, b_date): give --time COL"
    )


def test_two_words_need_the_one_that_means_yes() -> None:
    table = {"weather": ["rain", "dry", "rain"], "prob": [0.7, 0.2, 0.6]}
    with pytest.raises(ValueError, match=r"weather holds them .*y='weather' and pos_label=…"):
        guess_roles(table)


def test_blank_outcomes() -> None:
    with pytest.raises(ValueError, match="3 rows, all blank: no outcome is known yet"):
        guess_roles({"won": ["", None, ""], "prob": [0.7, 0.2, 0.6]})


def test_spoilt_probabilities_are_named() -> None:
    with pytest.raises(ValueError, match="column prob must be numbers, got 'x' at position 1"):
        guess_roles({"won": [1, 0, 1], "prob": ["0.7", "x", "0.6"]})


def test_dates_that_nobody_can_tell() -> None:
    days = ["08/22/2021", "08/21/2021", "08/20/2021"]
    roles, said = guess_roles({"day": days, "won": [1, 0, 1], "prob": [0.7, 0.2, 0.6]})
    assert "time" not in roles
    assert any("day (such as '08/22/2021') was not read as time" in note for note in said)


def test_dates_with_dots() -> None:
    days = ["22.08.2021", "21.08.2021", "1.9.2021 12:30"]
    roles, _ = guess_roles({"day": days, "won": [1, 0, 1], "prob": [0.7, 0.2, 0.6]})
    assert roles["time"] == "day"
    assert moments("day", days).argsort().tolist() == [1, 0, 2]
