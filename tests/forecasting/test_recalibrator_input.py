"""What a recalibrator refuses, and numbers of every kind that it takes."""

import math
from typing import Any

import numpy as np
import pytest

from fullswap.forecasting import Recalibrator


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"step": 0}, "step"), ({"step": 2.5}, "step"), ({"step": True}, "step"),
        ({"step": 0.3}, "step"), ({"step": "x"}, "step"), ({"classes": 1}, "classes"),
        ({"classes": 1001}, "classes"), ({"classes": 2.0}, "classes"), ({"models": 0}, "models"),
        ({"models": 1.5}, "models"), ({"models": 10**6}, "models"), ({"horizon": 0}, "horizon"),
        ({"horizon": 1.5}, "horizon"), ({"max_weight": 0.0}, "max_weight"), ({"seed": "x"}, "seed"),
    ],
)  # fmt: skip
def test_constructor_refuses(arguments, named):
    with pytest.raises(ValueError, match=named):
        Recalibrator(**arguments)


@pytest.mark.parametrize(
    ("models", "p"),
    [
        (1, 1.2), (1, -0.1), (1, math.nan), (1, [0.2, 1.3]), (1, "half"), (1, None), (1, [[[0.1]]]),
        (2, 0.5), (2, [0.5, 1.5]), (2, [math.nan, math.nan]), (2, [0.5, math.inf]), (2, [0.1] * 3),
    ],
)  # fmt: skip
def test_predict_refuses_and_changes_nothing(models, p):
    recalibrator = Recalibrator(models=models, seed=1)
    before = recalibrator.to_json()
    with pytest.raises(ValueError, match=r"\bp\b"):
        recalibrator.predict(p)
    assert recalibrator.to_json() == before


@pytest.mark.parametrize(
    ("p", "y", "weights", "named"),
    [
        ([0.5, 2.0], [0, 1], None, r"p .*2.0 at position 1$"),
        ([0.5, math.nan], [0, 1], None, "p .*nan"),
        ([0.5], [0, 1], None, "equally long"),
        ([0.5, 0.5], [0, 2], None, "outcomes .*2"),
        ([0.5, 0.5], [[0, 1]], None, "outcomes"),
        ([0.5, 0.5], [0, 1], [1, 3], "sample_weight"),
        ([[0.5, 0.1], [0.5, 0.1]], [0, 1], None, "shape"),
        (0.5, [1], None, "shape"),
        (np.ma.array([0.5, 0.5], mask=[False, True]), [0, 1], None, "p .*masked"),
    ],
)
def test_run_refuses_and_changes_nothing(p, y, weights, named):
    recalibrator = Recalibrator(seed=1)
    before = recalibrator.to_json()
    with pytest.raises(ValueError, match=named):
        recalibrator.run(p, y, weights)
    assert recalibrator.to_json() == before


@pytest.mark.parametrize("outcome", [1.5, -1, math.nan, "perhaps", [1], None])
def test_update_refuses_and_changes_nothing(outcome):
    recalibrator = Recalibrator(seed=1)
    recalibrator.predict(0.5)
    before = recalibrator.to_json()
    with pytest.raises(ValueError, match="outcome"):
        recalibrator.update(outcome)
    assert recalibrator.to_json() == before


@pytest.mark.parametrize("p", [1, 0, np.float32(0.25), np.array(0.5), "25%", True])
def test_numbers_of_any_kind_serve(p):
    assert 0 <= Recalibrator().predict(p).issued <= 1


def test_an_empty_run_is_a_run():
    run = Recalibrator().run([], [])
    assert len(run) == 0 and run.issued.shape == (0,)


@pytest.mark.parametrize("step", [np.int64(1), np.array(0.05), np.float64(0.05), "5%"])
def test_any_step_that_is_taken_can_be_saved(step):
    recalibrator = Recalibrator(step=step)
    assert Recalibrator.from_json(recalibrator.to_json()).step == recalibrator.step


def test_writing_into_a_run_leaves_the_forecaster_alone():
    recalibrator = Recalibrator(seed=1)
    run = recalibrator.run([0.2, 0.7, 0.4], [1, 0, 1])
    before = recalibrator.peek(0.5)
    with pytest.raises(ValueError, match="read-only"):
        run.points[:] = 0.123
    assert np.array_equal(recalibrator.peek(0.5).points, before.points)


@pytest.mark.parametrize(
    ("p", "outcomes", "message"),
    [
        ([0.5, 0.6], ["rain", "dry"], r"'rain' and 'dry': .*classes=\[no, yes\]"),
        ([0.5, 0.6], [1, np.nan], "must lie in .*, got nan at position 1: .*known=…"),
        ([0.5, 1.6], [1, 0], r"p must lie in \[0, 1\], got 1.6 at position 1$"),
    ],
)
def test_messages_say_what_helps(p: list[float], outcomes: list[Any], message: str) -> None:
    recalibrator = Recalibrator(seed=1)
    with pytest.raises(ValueError, match=message):
        recalibrator.run(p, outcomes)
    assert recalibrator.rounds == 0


@pytest.mark.parametrize("p", [2, "2", [1.5]])
def test_one_probability_has_no_position(p: Any) -> None:
    with pytest.raises(ValueError, match=r"p must lie in \[0, 1\], got (2.0|1.5)$"):
        Recalibrator(seed=1).predict(p)


def test_words_are_outcomes_where_they_are_named() -> None:
    run = Recalibrator(classes=["dry", "rain"], seed=1).run([0.5, 0.6], ["rain", "dry"])
    assert run is not None and len(run.issued) == 2
