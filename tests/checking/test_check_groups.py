"""Groups that overlap are segments, each as if it stood alone."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import fullswap as fs
from tests.checking.made import classes, stream

NAMES = ["north", "night", "rare"]


def quick(y, p, **settings):
    return fs.check(y, p, recalibrate=False, **settings)


def overlapping(rounds, seed=0):
    return np.random.default_rng(seed).random((rounds, 3)) < [0.5, 0.3, 0.05]


def plain(segment):
    e = segment.evidence
    return (
        segment.events, segment.error, segment.chance, segment.smallest_seen, segment.little,
        e.log10, e.log10_most, e.most_at, e.since, e.positions.tolist(), e.impossible.tolist(),
    )  # fmt: skip


def lists(inside):
    return [[name for name, own in zip(NAMES, row, strict=True) if own] for row in inside]


@pytest.mark.parametrize("settings", [{}, {"delay": 3}, {"shared": True}, {"weighted": True}])
def test_each_group_is_what_it_is_alone(settings):
    rounds = 900
    y, p = stream(rounds, shift=0.3)
    y[5], p[5] = 0, 1.0  # certain and wrong
    inside = overlapping(rounds)
    inside[5] = True
    own = {}
    if "shared" in settings:
        own["event"] = np.arange(rounds) // 2
        y = np.repeat(y[::2], 2)
    elif "weighted" in settings:
        own["sample_weight"] = np.random.default_rng(4).exponential(size=rounds)
    else:
        own = settings
    found = quick(y, p, groups=lists(inside), **own)
    assert len(found.segments) == 3
    for segment in found.segments:
        column = {"in": inside[:, NAMES.index(segment.value)].astype(str)}
        alone = quick(y, p, by=column, **own)
        (same,) = [one for one in alone.segments if one.value == "True"]
        assert plain(segment) == plain(same)
        assert segment.column == "group" and segment.share_of_miscalibration is None


def test_groups_that_part_the_rows_are_a_column():
    y, p = stream(1_200)
    where = np.array(["a", "b", "c"])[np.random.default_rng(2).integers(0, 3, 1_200)]
    by, groups = quick(y, p, by={"where": where}), quick(y, p, groups=where)
    assert [plain(one) for one in by.segments] == [plain(one) for one in groups.segments]
    assert [one.flagged for one in by.segments] == [one.flagged for one in groups.segments]
    assert by.metrics == groups.metrics


def test_the_bad_group_is_flagged_and_leads():
    y, p = stream(6_000, seed=1)
    inside = overlapping(6_000)
    bad = inside[:, 1]
    y[bad] = np.random.default_rng(3).random(bad.sum()) < 0.5
    found = quick(y, p, groups=lists(inside))
    assert found.segments[0].value == "night" and found.segments[0].flagged
    # groups that share events with it share its error, to the extent that they do
    assert found.segments[0].beyond > 2 * found.segments[1].beyond
    assert "group night" in str(found)
    names = [label.get_text() for label in found.plot("segments").axes[0].get_yticklabels()]
    assert names[0].startswith("night")


def test_forms_and_rows_that_are_left_out_or_sorted():
    rounds = 600
    y, p = stream(rounds)
    y = y.astype(float)
    y[::7] = np.nan
    time = np.random.default_rng(5).permutation(rounds)
    inside = overlapping(rounds)
    expected = quick(y, p, time=time, groups=lists(inside))
    order = np.argsort(time)
    known = order[~np.isnan(y[order])]
    again = quick(y[known], p[known], groups=lists(inside[known]))
    values = {one.value: plain(one) for one in expected.segments}
    assert values == {one.value: plain(one) for one in again.segments}
    for form in (inside, sp.csr_matrix(inside)):
        numbered = quick(y, p, time=time, groups=form)
        assert {NAMES[int(one.value)]: plain(one) for one in numbered.segments} == values


def test_columns_of_the_frame():
    y, p = stream(400)
    rng = np.random.default_rng(6)
    columns = {"y": y.astype(int), "p": p, "where": rng.choice(["n", "s"], 400)}
    columns["band"] = rng.integers(0, 3, 400)
    for frame in (columns, pd.DataFrame(columns), pl.DataFrame(columns)):
        found = fs.check(frame, y="y", p="p", groups=["where", "band"], recalibrate=False)
        assert sorted(one.value for one in found.segments) == [
            "band=0", "band=1", "band=2", "where=n", "where=s",
        ]  # fmt: skip
        assert sum(one.events for one in found.segments) == 800
    single = fs.check(columns, y="y", p="p", groups="where", recalibrate=False)
    assert len(single.segments) == 2
    rows = fs.check(columns, y="y", p="p", groups=list(columns["where"]), recalibrate=False)
    assert sorted(one.value for one in rows.segments) == ["n", "s"]


def test_groups_beside_segments_and_several_classes():
    y, p = classes(500, seed=1)
    inside = overlapping(500)
    half = {"half": np.arange(500) < 250}
    found = quick(y, p, by=half, groups=lists(inside))
    assert sorted({one.column for one in found.segments}) == ["group", "half"]
    shares = [s.share_of_miscalibration for s in found.segments if s.column == "half"]
    assert sum(shares) == pytest.approx(1)
    assert "group" in found.to_json() and len(found.segments) == 5


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([["a"]], "groups must"),
        (
            [[f"g{k}", f"h{k}"] for k in range(600)],
            "groups must name at most 1,000 groups, got 1,200",
        ),
    ],
)
def test_what_is_refused(groups, message):
    y, p = stream(600)
    with pytest.raises(ValueError, match=message):
        quick(y, p, groups=groups)
    with pytest.raises(ValueError, match="groups must name a column"):
        fs.check({"y": y.astype(int), "p": p}, y="y", p="p", groups=["wher"])


def test_a_group_with_one_outcome_alone_is_asked_about():
    y, p = stream(400, seed=2)
    inside = np.where(y > 0, "won", "lost")
    (note,) = [n for n in quick(y, p, groups={"result": inside}).notes if "before the outcome" in n]
    won = int(y.sum())
    assert f"group result=won: all of {won} happened" in note
    assert f"group result=lost: none of {400 - won} happened" in note


def test_a_group_of_rare_events_without_one_is_not_odd():
    y = np.zeros(4_000)
    y[:40] = 1.0  # 1 %: a hundred without one are nothing to wonder at
    names = ["first"] * 100 + [f"later {k // 100}" for k in range(3_900)]
    found = quick(y, np.full(4_000, 0.01), groups=names)
    assert not [note for note in found.notes if "before the outcome" in note]


def test_rows_of_few_events_are_no_reason_to_ask_about_a_group():
    y = np.array([1] * 6 + [0, 1] * 60).repeat(10)
    event, where = np.arange(126).repeat(10), np.array(["few"] * 6 + ["many"] * 120).repeat(10)
    p = np.full(1260, 0.5)
    shared = quick(y, p, groups=where, event=event)
    assert not any("happened" in note for note in shared.notes)
    alone = quick(y, p, groups=where)
    assert any("group few: all of 60 happened" in note for note in alone.notes)
