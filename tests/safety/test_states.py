"""Whatever a text holds: it is refused with a ValueError, or gives a forecaster that works."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import mutations
import numpy as np
import pytest
from attack import attack, drive
from saved_states import MAKERS, in_the_middle, run

from fullswap.forecasting import Forecaster, MulticlassForecaster, Recalibrator
from fullswap.kernels.columns import CROWD, HEAD, LEARNT, LOST, MASS, NEXT_ID, ROUNDS
from fullswap.kernels.experts import TOTALS
from fullswap.online.kinds import kind_of
from fullswap.online.lattices import Lattice
from fullswap.online.rows import Rows
from fullswap.online.spec import Spec

HERE = Path(__file__).parent
EACH = 530
"""Tampered states of each kind in the long attack: more than 10,000 together."""


# --- at random ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAKERS)
def test_states_untampered_work(name):
    for pending in (False, True):
        drive(in_the_middle(name, pending))


@pytest.mark.parametrize("name", MAKERS)
def test_tampered_states_are_refused_or_work(name):
    went, wrong = attack(name, 60, seed=11)
    assert not wrong
    assert went["refused"] > 30


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_tampered_states_with_bounds_checks(name, tmp_path_factory):
    """In a process of its own, whose compiled code looks at every index."""
    cache = tmp_path_factory.getbasetemp() / "bounds-checked"
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(cache)}
    ended = subprocess.run(
        [sys.executable, str(HERE / "attack.py"), str(EACH), "0", name],
        env=environment, capture_output=True, text=True, timeout=1500, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
    went = json.loads(ended.stdout)
    assert went["refused"] > EACH / 2 and went["accepted"] > 0


# --- by hand ------------------------------------------------------------------------------------


def tampered(forecaster, change):
    """The state with its content changed by a function, checksum and all."""
    kind, body = mutations.read(forecaster.to_json())
    change(body)
    return mutations.write(kind, body)


def refuses(forecaster, change, match):
    with pytest.raises(ValueError, match=match):
        type(forecaster).from_json(tampered(forecaster, change))


def test_no_expert_has_lost_all_weight():
    """All weight on an absent model: the advice would be no number, and its cell anywhere."""
    forecaster = in_the_middle("experts, 3 models", False)
    experts, kind = forecaster._stream.kind.experts, forecaster._stream.kind

    def change(body):
        share = body["row"][HEAD + TOTALS : HEAD + TOTALS + experts]
        share[:] = 0.0
        share[0] = 1.0

    refuses(forecaster, change, "its experts do not agree")
    assert kind.spec.models > 1


def test_logits_of_tickets_are_those_of_probabilities():
    forecaster = in_the_middle("experts", True)
    numbers = forecaster.pending[0].to_list()[3]
    inputs = forecaster._stream.kind.inputs
    place = -forecaster._stream.kind.experts - 1
    assert -10 < numbers[place] < 10 and inputs == 1

    def change(body):
        body["pending"][0][3][place] = 1e300

    refuses(forecaster, change, "a memo that does not agree")


@pytest.mark.parametrize(
    "event",
    [None, "", [], {}, {"tuple": []}, {"tuple": [None]}, {"text": "a"}, ["game"], {"bytes": 1}],
)
def test_events_of_tickets_have_names(event):
    forecaster = in_the_middle("line", True)
    refuses(forecaster, lambda body: body["pending"][0].extend([event, 0]), "(event|key) must")
    refuses(forecaster, lambda body: body["pending"][0].append("a"), "pending forecast must")


def test_no_outcome_is_being_learnt_in_a_saved_state():
    forecaster = in_the_middle("line", True)

    def change(body):
        body["row"][CROWD] = 1.0

    refuses(forecaster, change, "its counts do not agree")


@pytest.mark.parametrize("name", ["line", "experts"])
def test_points_of_tiny_mass_have_means_that_are_outcomes(name):
    """A mass of 1e-300 fits every sum; a mean of 1e200 beside it would be no outcome."""
    forecaster = in_the_middle(name, False)
    if name == "experts":  # of few points all have learnt
        forecaster = Recalibrator("1%", seed=1)
        run(forecaster, 20, np.random.default_rng(1))
    kind = forecaster._stream.kind
    columns = kind.point_columns(forecaster._stream.row)
    weight = {"line": 1, "experts": 0}[name]
    fresh = int(np.flatnonzero(columns[:, weight] == 0)[0])
    for huge in (1e200, -1e200, 1e-10):

        def change(body, huge=huge):
            own = kind.point_columns(body["row"])[fresh]
            own[weight] = 1e-300
            own[-1] = huge

        refuses(forecaster, change, "row must be")


@pytest.mark.parametrize("value", [1e-200, 1e17, -1.0])
def test_recalibrations_know_no_less_than_at_first(value):
    forecaster = in_the_middle("experts", False)
    place = HEAD + TOTALS + 3 * forecaster._stream.kind.experts + 2

    def change(body):
        body["row"][place] = value

    refuses(forecaster, change, "its experts do not agree")


def test_a_row_whose_bounds_do_not_hold_is_refused():
    forecaster = in_the_middle("line, all distributions", False)

    def change(body):
        body["row"][LOST] = 0.0

    refuses(forecaster, change, "its bounds do not hold")


def test_ids_leave_room_to_count_on():
    """Near 2^53 the next id would be this one again, and overwrite a forecast that waits."""
    forecaster = in_the_middle("line", True)

    def change(body):
        body["row"][NEXT_ID] = 2.0**53

    refuses(forecaster, change, "its counts do not agree")


def test_a_forecast_not_yet_made_has_not_been_learnt():
    forecaster = Forecaster(100, seed=1)

    def change(body):
        body["row"][LEARNT] = 0

    refuses(forecaster, change, "its counts do not agree")


def test_one_point_is_not_played_by_halves():
    """It would wait twice for one outcome."""
    forecaster = in_the_middle("line", True)

    def change(body):
        body["pending"][0][3][:3] = [4.0, 4.0, 0.5]

    refuses(forecaster, change, "on neighbours")


def test_a_short_text_cannot_ask_for_a_large_grid():
    def change(body):
        body["spec"].update(levels=[["tapered", 971_650]])

    forecaster = in_the_middle("line", False)
    before = kind_of.cache_info().misses
    refuses(forecaster, change, "at least 971667 columns")
    assert kind_of.cache_info().misses == before


@pytest.mark.parametrize("depth", [10, 200, 900, 5000, 100_000])
def test_nested_texts_are_refused(depth):
    text = Forecaster(10, seed=1).to_json()
    deep = "[" * depth + "]" * depth
    with pytest.raises(ValueError):
        Forecaster.from_json(text.replace('"pending": []', f'"pending": {deep}'))


@pytest.mark.parametrize("name", MAKERS)
def test_pickles_are_checked_as_texts_are(name):
    forecaster = in_the_middle(name, True)
    again = pickle.loads(pickle.dumps(forecaster))
    assert again.to_json() == forecaster.to_json()
    reader, (text,) = forecaster.__reduce__()
    kind, body = mutations.read(text)
    body["row"][MASS] = -50.0
    with pytest.raises(ValueError, match="row must be"):
        reader(mutations.write(kind, body))


# --- rows that were earned are read -------------------------------------------------------------


@pytest.mark.parametrize("feedback", ["realised", "distribution"])
def test_rows_of_adversarial_outcomes_are_read(feedback):
    """Where neighbours are taught opposite things their recommendations disagree by much."""
    forecaster = Forecaster(1000, feedback=feedback, seed=1)
    for _ in range(300):
        forecast = forecaster.predict()
        forecaster.update(1.0 if forecast.issued < 0.45 else 0.0)
    text = forecaster.to_json()
    assert Forecaster.from_json(text).to_json() == text


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("weight", [1.0, 0.1, 1e-12])
def test_rows_of_many_equal_weights_are_read(name, weight):
    """Rounding of equal summands goes the same way each time."""
    forecaster = MAKERS[name]()
    spec, events = forecaster.spec, 20_000
    own = ()
    if spec.models:
        shape = (events, spec.models, spec.classes)[: 2 if spec.classes == 2 else 3]
        own = (np.full(shape, 1 / spec.classes),)
    outcomes = np.arange(events) // 7 % 2
    forecaster.run(*own, outcomes, np.full(events, weight), record=False)
    text = forecaster.to_json()
    assert type(forecaster).from_json(text).to_json() == text


@pytest.mark.slow
@pytest.mark.parametrize("weight", [1.0, 0.1])
def test_rows_of_a_hundred_million_events_are_read(weight):
    forecaster = Forecaster(10**8, seed=1)
    outcomes = (np.random.default_rng(1).random(10**7) < 0.3).astype(float)
    for _ in range(10):
        forecaster.run(outcomes, np.full(10**7, weight), record=False)
    assert Forecaster.from_json(forecaster.to_json()).rounds == 10**8


def test_unit_weights_above_the_largest_are_refused_by_run_as_by_update():
    forecaster = Forecaster(100, max_weight=0.5)
    forecaster.predict()
    for act in (lambda: forecaster.update(1), lambda: forecaster.run([1, 0])):
        with pytest.raises(ValueError, match="weight must lie in"):
            act()
    assert forecaster._stream.row[ROUNDS] == 0


# --- specs by hand ------------------------------------------------------------------------------

EVEN = Lattice("even", 4)
LINE = Spec("line", (EVEN,))
CLASSES = Spec("classwise", (Lattice("classes", 4),), classes=3, feedback="distribution")


@pytest.mark.parametrize(
    "lattice",
    [
        Lattice("odd", 4), Lattice("even", 0), Lattice("even", 2.0), Lattice("even", 2**21),
        Lattice("tapered", 1), ("even", 4), None,
    ],
)  # fmt: skip
def test_grids_made_by_hand_are_checked(lattice):
    with pytest.raises(ValueError, match="must"):
        Spec("line", (lattice,))


@pytest.mark.parametrize(
    ("spec", "changes"),
    [
        (LINE, {"levels": [EVEN]}),
        (LINE, {"levels": (EVEN, Lattice("even", 6)), "starts": (0.0, 9.0)}),
        (LINE, {"levels": (EVEN, Lattice("even", 40)), "starts": (0.0, 9.0)}),
        (LINE, {"levels": (EVEN, EVEN), "starts": (0.0, 9.0)}),
        (LINE, {"levels": (EVEN, Lattice("even", 8)), "starts": (0.0, 9.0), "horizon": 9}),
        (LINE, {"steps": 5}),
        (LINE, {"max_weight": 1e300}),
        (LINE, {"max_weight": 0.0}),
        (LINE, {"models": 1}),
        (LINE, {"kind": "experts", "models": 1, "feedback": "distribution"}),
        (LINE, {"classes": 3}),
        (CLASSES, {"steps": 4}),
        (CLASSES, {"classes": 2}),
        (CLASSES, {"classes": 1001}),
        (CLASSES, {"levels": (Lattice("classes", 4), Lattice("classes", 8)), "starts": (0.0, 9.0)}),
    ],
)  # fmt: skip
def test_specs_that_promise_what_no_theorem_gives_are_refused(spec, changes):
    with pytest.raises(ValueError, match="must"):
        replace(spec, **changes)


@pytest.mark.parametrize(
    "forecaster",
    [
        Forecaster(), Forecaster(step=1 / 7), Forecaster(step="1%"), Forecaster(10**6, 0.001),
        Forecaster(step=1.0), Forecaster(2**40),
        MulticlassForecaster(5), MulticlassForecaster(4, 10**6), Recalibrator(None),
        Recalibrator(classes=4, horizon=5000), Recalibrator(models=1000),
    ],
)  # fmt: skip
def test_specs_of_all_forecasters_pass_and_pickle(forecaster):
    spec = forecaster.spec
    assert Spec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_words_of_streams_stay_with_them_after_an_interrupt():
    rows = Rows(kind_of(LINE), 1, [10, 11])
    rows.words = np.concatenate((rows.words, rows.words[:1] + 5))  # as if starts had not come
    rows.add([12])
    assert rows.words[:, 0].tolist() == [10, 11, 12]
