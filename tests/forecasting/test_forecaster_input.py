"""What a binary forecaster refuses: arguments, events and saved states."""

import json
import math

import numpy as np
import pytest

from contract.makers import described
from fullswap.base import checks
from fullswap.forecasting import Bank, Forecaster, MulticlassForecaster, Recalibrator
from fullswap.forecasting.base import FIELDS
from fullswap.forecasting.state import pack, unpack
from fullswap.grids.steps import steps_of

# --- bad input -------------------------------------------------------------------------------


def refused(forecaster, call, *fragments):
    """The call raises a ValueError that says all of this, and leaves the state as it was."""
    before = forecaster.to_json()
    with pytest.raises(ValueError) as error:
        call()
    for fragment in fragments:
        assert fragment in str(error.value), str(error.value)
    assert forecaster.to_json() == before


@pytest.fixture
def forecaster():
    trained = Forecaster(100, max_weight=1.5, seed=1)
    trained.run([1, 0, 1, 1])
    return trained


def test_forecasts_of_another_forecaster_are_refused():
    forecaster, other = Forecaster(1000, seed=0), Forecaster(1000, feedback="distribution", seed=1)
    forecaster.run([1, 0] * 50)
    other.run([1, 1, 0] * 50)
    refused(forecaster, lambda: forecaster.update(1, other.predict()), "did not make it")
    for _ in range(70):  # the same ids, and now and then the same draw
        mine = forecaster.predict()
    other = Forecaster(1000, seed=1)
    other.run([1, 1, 0] * 20)
    theirs = {forecast.id: forecast for forecast in [other.predict() for _ in range(160)]}
    checked = 0
    for mine in forecaster.pending:
        if mine.id in theirs:
            stranger = theirs[mine.id]
            assert described(mine)[0] != described(stranger)[0]
            call = lambda stranger=stranger: forecaster.update(1, stranger)  # noqa: E731
            refused(forecaster, call, f"forecast {mine.id} was made by another forecaster")
            checked += mine.issued == stranger.issued
    assert checked > 0, "equal draws of unequal forecasts were among them"


@pytest.mark.parametrize("horizon", [0, -1, 1.5, True, "10", math.nan])
def test_horizons_that_are_none_are_refused(horizon):
    with pytest.raises(ValueError, match=r"horizon must be a whole number >= 1") as error:
        Forecaster(horizon)
    assert repr(horizon) in str(error.value)


def test_a_horizon_beyond_what_floats_count_is_refused():
    assert checks.horizon(2**53) == 2**53
    for horizon in (2**53 + 1, 10**400):
        with pytest.raises(ValueError, match=f"horizon must be at most {2**53}"):
            Forecaster(horizon)


@pytest.mark.parametrize(
    "step",
    [0.3, 0, -0.05, "abc", "0%", math.nan, math.inf, 2, "7%", "-5%", "", [0.5], 1e-9, True],
)
def test_steps_that_do_not_divide_one_are_refused(step):
    with pytest.raises(ValueError, match="step must divide 1") as error:
        Forecaster(100, step)
    assert repr(step) in str(error.value) and "0.05" in str(error.value)


@pytest.mark.parametrize(
    ("step", "steps"),
    [(1, 1), (1 / 3, 3), ("1/3", 3), ("5%", 20), (" 2.5 % ", 40), ("0.02", 50), (1e-6, 10**6)],
)  # fmt: skip
def test_steps_may_be_written_in_several_ways(step, steps):
    assert steps_of(step) == steps


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"feedback": "x"}, "feedback must be 'realised' or 'distribution', got 'x'"),
        ({"max_weight": 0}, "max_weight must be positive, got 0"),
        ({"max_weight": -1.0}, "max_weight must be positive, got -1.0"),
        ({"max_weight": math.nan}, "max_weight must be a finite number, got nan"),
        ({"max_weight": "2"}, "max_weight must be a finite number, got '2'"),
        ({"seed": "x"}, "seed must be a whole number >= 0, None or a numpy Generator, got 'x'"),
        ({"seed": -1}, "seed must be a whole number >= 0, None or a numpy Generator, got -1"),
        ({"seed": 1.5}, "seed must be a whole number >= 0, None or a numpy Generator, got 1.5"),
        ({"seed": True}, "seed must be a whole number >= 0, None or a numpy Generator, got True"),
    ],
)  # fmt: skip
def test_unknown_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError) as error:
        Forecaster(100, **arguments)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("outcomes", "sample_weight", "fragments"),
    [
        ([[1, 0], [0, 1]], None, ("outcomes must have shape (T,), got (2, 2)",)),
        (1, None, ("outcomes must have shape (T,), got ()",)),
        (["blue", "red"], None, ("outcomes must be 0 and 1, or words", "'blue'")),
        ([1, None], None, ("outcomes must lie in [0, 1], got nan at position 1",)),
        ([1, 10**400], None, ("outcomes must be numbers",)),
        ([[1], [1, 0]], None, ("outcomes must",)),
        ([1, 0, math.nan, 1], None, ("outcomes must lie in [0, 1], got nan at position 2",)),
        ([1, 0, 0, 1.5], None, ("outcomes must lie in [0, 1], got 1.5 at position 3",)),
        ([0, -1], None, ("outcomes must lie in [0, 1], got -1 at position 1",)),
        ([1, 0, 1], [1, 1], ("sample_weight must have shape (3,), got (2,)",)),
        ([1, 0], [[1, 1]], ("sample_weight must have shape (2,), got (1, 2)",)),
        ([1, 0], 1.0, ("sample_weight must have shape (2,), got ()",)),
        ([1, 0], [1, math.nan], ("sample_weight must lie in", "1.5", "got nan at position 1")),
        ([1, 0], [1, 1.6], ("sample_weight must lie in", "1.5", "got 1.6 at position 1")),
        ([1, 0], [-0.5, 1], ("sample_weight must lie in", "1.5", "got -0.5 at position 0")),
        ([1, 0], ["1", "1"], ("sample_weight must be numbers",)),
        (np.ma.array([1, 0], mask=[True, False]), None, ("outcomes must be numbers", "masked")),
    ],
)  # fmt: skip
def test_bad_runs_are_refused_whole(forecaster, outcomes, sample_weight, fragments):
    forecaster.predict()
    refused(forecaster, lambda: forecaster.run(outcomes, sample_weight), *fragments)


# --- bad state -------------------------------------------------------------------------------


def saved():
    forecaster = Forecaster(100, seed=2)
    forecaster.run([1, 0, 0, 1])
    forecaster.predict()
    return forecaster.to_json()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "text must be JSON"),
        ("no JSON", "text must be JSON"),
        (b"\xff\xfe\xfd", "text must be JSON"),
        ("[1, 2]", "text must be a state written by to_json()"),
        ("{}", "text must be a state written by to_json()"),
        ("3", "text must be a state written by to_json()"),
        (None, "text must be JSON as written by to_json(), got NoneType"),
        (3, "text must be JSON as written by to_json(), got int"),
    ],
)
def test_texts_that_hold_no_state_are_refused(text, message):
    with pytest.raises(ValueError) as error:
        Forecaster.from_json(text)
    assert message in str(error.value)


def test_every_truncated_state_is_refused():
    text = saved()
    for end in range(0, len(text), 7):
        with pytest.raises(ValueError, match="text must be JSON"):
            Forecaster.from_json(text[:end])


def test_a_changed_digit_is_noticed():
    text = saved()
    assert Forecaster.from_json(text.encode()).to_json() == text
    for place in [i for i, c in enumerate(text) if c.isdigit()]:
        changed = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
        with pytest.raises(ValueError, match="text must"):
            Forecaster.from_json(changed)


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("reader", [Forecaster, MulticlassForecaster, Recalibrator, Bank])
def test_states_of_earlier_versions_are_refused_with_their_number(reader, version):
    text = json.dumps({**json.loads(saved()), "version": version})
    for form in (text, text.encode()):
        with pytest.raises(ValueError) as error:
            reader.from_json(form)
        message = str(error.value)
        assert f"state version 4, got {version}" in message
        assert "states of earlier versions cannot be read" in message
        assert "run()" in message, "says what to do"


def test_newer_versions_and_other_kinds_are_told_apart():
    body = json.loads(saved())
    with pytest.raises(ValueError, match="version 4, got 5: upgrade fullswap"):
        Forecaster.from_json(json.dumps({**body, "version": 5}))
    with pytest.raises(ValueError, match="version 4, got None"):
        Forecaster.from_json(json.dumps({**body, "version": None}))
    content = {name: body[name] for name in FIELDS}
    assert unpack("Forecaster", pack("Forecaster", content), FIELDS)["seed"] == body["seed"]
    with pytest.raises(ValueError, match="state of a Forecaster, got that of a Recalibrator"):
        Forecaster.from_json(pack("Recalibrator", content))
    with pytest.raises(ValueError, match="read it with Forecaster.from_json"):
        Recalibrator.from_json(saved())
    for name in content:
        lacking = {key: value for key, value in content.items() if key != name}
        with pytest.raises(ValueError, match="text must have the fields"):
            Forecaster.from_json(pack("Forecaster", lacking))
        with pytest.raises(ValueError, match="must"):
            Forecaster.from_json(pack("Forecaster", {**content, name: 0.5}))


def test_a_refused_state_leaves_the_old_forecaster_alone():
    forecaster = Forecaster.from_json(saved())
    refused(
        forecaster, lambda: Forecaster.from_json(forecaster.to_json()[:-5]), "text must be JSON"
    )
