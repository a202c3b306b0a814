"""States that other versions wrote: they load and go on, or are refused with the reason."""

import json

import pytest

from contract.makers import MAKERS
from forecasting.write_states import STATES, go_on, story
from fullswap import Forecaster, MulticlassForecaster, Recalibrator

OLD = sorted([*(STATES / "0.1.0").glob("*.json"), *(STATES / "2").glob("*.json")])
NOW = sorted((STATES / "3").glob("*.json"))
names = {"ids": lambda path: path.stem}


def test_the_stored_states_are_there():
    assert len(OLD) >= 7 and len(NOW) >= 10


@pytest.mark.parametrize("path", OLD, **names)
def test_states_of_earlier_versions_are_refused_with_their_number(path):
    text = path.read_text()
    stored = json.loads(text)
    if "state" in stored:
        stored = stored["state"]
        text = json.dumps(stored)
    version = stored["version"]
    assert version in (1, 2)
    for reader in (Forecaster, MulticlassForecaster, Recalibrator):
        for form in (text, text.encode()):
            with pytest.raises(ValueError) as error:
                reader.from_json(form)
            message = str(error.value)
            assert f"state version 3, got {version}" in message
            assert "states of earlier versions cannot be read" in message
            assert "run()" in message, "says what to do"


@pytest.mark.parametrize("path", NOW, **names)
def test_states_of_this_version_load_and_go_on_as_recorded(path):
    stored = json.loads(path.read_text())
    maker = MAKERS[stored["maker"]]
    forecaster = maker.cls.from_json(json.dumps(stored["state"]))
    assert forecaster.rounds == 151
    shown = json.loads(json.dumps(go_on(forecaster, maker.log(200, 12))))
    assert len(shown) == len(stored["next"])
    for mine, theirs in zip(shown, stored["next"], strict=True):
        assert_same(mine, theirs)


def assert_same(mine, theirs):
    """Equal but for the last digits, which differ between machines' logarithms."""
    if isinstance(theirs, list):
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs, strict=True):
            assert_same(a, b)
    else:
        assert mine == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("path", NOW, **names)
def test_the_same_story_leads_to_the_same_state_today(path):
    stored = json.loads(path.read_text())
    forecaster, _ = story(stored["maker"])
    today = json.loads(forecaster.to_json())
    for field in ("format", "version", "kind", "spec", "seed", "stream"):
        assert today[field] == stored["state"][field], field
    assert [ticket[:3] for ticket in today["pending"]] == [
        ticket[:3] for ticket in stored["state"]["pending"]
    ]
