"""Errors within groups are those of the events of each group, alone."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from fullswap import Record, metrics
from naive.soft_bins import group_error

EVENTS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.1, 0.5, 0.9]),
        st.booleans(),
        st.sampled_from([0.0, 1.0, 2.5]),
        st.sets(st.sampled_from("abcd")),
    ),
    min_size=1,
    max_size=30,
)


@given(EVENTS, st.sampled_from(["l1", "l2", "max"]))
def test_errors_are_the_slow_ones(events, norm):
    p, y, w, sets = (list(column) for column in zip(*events, strict=True))
    if not any(w):
        w[0] = 1.0
    found = metrics.group_calibration_error(
        np.array(y), p, [sorted(own) for own in sets], norm=norm, sample_weight=w
    )
    slow = {g: group_error(y, p, w, [g in own for own in sets], norm) for g in "abcd"}
    assert found == pytest.approx({g: error for g, error in slow.items() if error is not None})
    if found:
        name, worst = metrics.largest_group_error(
            np.array(y), p, [sorted(own) for own in sets], norm=norm, sample_weight=w
        )
        assert found[name] == worst == max(found.values())


@given(st.integers(0, 10**6))
def test_forms_bins_and_classes(seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(3), 40)
    y = rng.integers(0, 3, 40)
    inside = rng.random((40, 4)) < 0.5
    inside[0] = True
    expected = {
        k: metrics.calibration_error(y[inside[:, k]], p[inside[:, k]], bins=5) for k in range(4)
    }
    for form in (inside, sp.csr_matrix(inside), [np.flatnonzero(row) for row in inside]):
        assert metrics.group_calibration_error(y, p, form, bins=5) == pytest.approx(expected)


def test_frames_and_records():
    p, y = np.array([0.25, 0.75, 0.75]), [0, 1, 1]
    frame = pd.DataFrame({"region": ["n", "s", "n"], "band": [1, 1, None]})
    found = metrics.group_calibration_error(y, p, frame)
    assert list(found) == ["region=n", "band=1", "region=s"]
    assert found["region=n"] == metrics.calibration_error([0, 1], [0.25, 0.75])
    record = Record(p[:2], np.zeros((3, 1), int), np.ones((3, 1)), np.array([0, 1, 1]))
    assert metrics.group_calibration_error(y, record, frame) == found


def test_raw_forecasts_are_warned_of_once():
    rng = np.random.default_rng(1)
    p, y = rng.random(100), rng.integers(0, 2, 100)
    groups = rng.choice(list("abc"), 100)
    with pytest.warns(metrics.DistinctForecastsWarning) as caught:
        metrics.group_calibration_error(y, p, groups)
    assert len(caught) == 1 and caught[0].filename == __file__
    # small groups of forecasts on a grid are no reason to warn
    metrics.group_calibration_error(y, np.round(p, 1), np.arange(100) % 50)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (None, "groups must name the groups of each event"),
        (["a"], "groups must"),
        ("ab", "groups must be names or lists of names"),
    ],
)
def test_what_is_refused(groups, message):
    with pytest.raises(ValueError, match=message):
        metrics.group_calibration_error([0, 1], [0.5, 0.5], groups)


def test_no_group_has_events():
    assert metrics.group_calibration_error([0, 1], [0.5, 0.5], [[], []]) == {}
    with pytest.raises(ValueError, match="groups must have a group with events"):
        metrics.largest_group_error([0, 1], [0.5, 0.5], [[], []])
