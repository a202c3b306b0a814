"""`check` as a whole: verdicts, words, pitfalls, forms of input."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import fullswap as fs
from fullswap.checking.verdict import LITTLE, MISCALIBRATED, NO_EVIDENCE, TOO_LITTLE
from tests.checking.made import classes, games, stream


def quick(y, p, **settings):
    return fs.check(y, p, **{"recalibrate": False, **settings})


# --- the four verdicts ----------------------------------------------------------------------------


def test_over_confident_forecasts_are_miscalibrated_and_the_paragraph_says_how():
    c = fs.check(*stream(4_000, slope=0.6))
    assert c.verdict == MISCALIBRATED and c.miscalibrated
    assert c.sentence.startswith("Over-confident: says ")
    assert "chance alone would show" in c.sentence and "at most once in" in c.sentence
    assert "however often you look" in c.sentence
    assert c.error > c.chance.high > c.chance.median > 0
    assert c.cox.slope == pytest.approx(0.6, abs=0.08)
    assert c.recalibrated.brier_after < c.recalibrated.brier_before


def test_a_small_error_that_is_certain_is_called_little():
    c = quick(*stream(400_000, shift=0.06))
    assert c.verdict == LITTLE and not c.miscalibrated
    assert c.sentence.startswith("Miscalibrated, but little (too low)")
    assert quick(*stream(400_000, shift=0.06), tolerance=0.005).verdict == MISCALIBRATED


def test_calibrated_forecasts_have_no_evidence_against_them():
    c = quick(*stream(20_000))
    assert c.verdict == NO_EVIDENCE
    assert c.sentence.startswith("No evidence of miscalibration in 20,000 events.")
    assert "might have gone unseen" in c.sentence


def test_few_events_say_what_could_have_been_seen():
    c = quick(*stream(200))
    assert c.verdict == TOO_LITTLE and c.smallest_seen > 0.05
    shown = f"{100 * c.smallest_seen:.1f} points might have gone unseen"
    assert f"An error below {shown}." in c.sentence


@pytest.mark.parametrize(("n", "center"), [(1_000, 0.0), (3_000, -3.9)])
def test_the_smallest_error_seen_is_found_four_times_of_five(n, center):
    rng = np.random.default_rng(5)
    logits = rng.normal(center, 1.0, n)
    p = 1 / (1 + np.exp(-logits))
    seen = quick((rng.random(n) < p).astype(float), p).smallest_seen
    shifts = np.linspace(0, 3, 3_001)
    shift = shifts[np.argmax([np.mean(1 / (1 + np.exp(-logits - s)) - p) >= seen for s in shifts])]
    truth = 1 / (1 + np.exp(-logits - shift))
    from fullswap.checking.evidence import evidence_of

    runs = 120
    found = sum(
        evidence_of((rng.random(n) < truth).astype(float), p).log10_most >= math.log10(20)
        for _ in range(runs)
    )
    # 0.8 on average, with room for 3.3 standard errors
    assert 0.68 <= found / runs <= 0.93


# --- pitfalls -------------------------------------------------------------------------------------


def test_drift_that_averages_out_is_found_and_said():
    y1, p1 = stream(3_000, seed=1, shift=0.5)
    y2, p2 = stream(3_000, seed=2, shift=-0.5)
    c = quick(np.concatenate([y1, y2]), np.concatenate([p1, p2]))
    assert c.verdict == MISCALIBRATED
    assert abs(c.cox.bias) < 0.02 and c.error_over_time > 0.04
    assert "averages out" in c.sentence


def test_forecasts_of_one_event_count_once():
    y, p, event = games(200, 10, seed=3)
    with_events, without = quick(y, p, event=event), quick(y, p)
    assert with_events.events == 200 and without.events == 2_000
    assert with_events.evidence.log10_most < without.evidence.log10_most
    assert with_events.chance.median > 1.5 * without.chance.median
    assert with_events.smallest_seen > 2 * without.smallest_seen


def test_repeated_events_are_noticed():
    import pandas as pd

    y, p, event = games(100, 10, seed=4)
    frame = pd.DataFrame({"won": y, "prob": p, "game": [f"g{e}" for e in event]})
    c = fs.check(frame, y="won", p="prob", recalibrate=False)
    assert any("share an outcome" in note for note in c.notes)
    named = fs.check(frame, y="won", p="prob", event="game", recalibrate=False)
    assert named.events == 100 and not any("share an outcome" in note for note in named.notes)


def test_early_outcomes_are_left_out_until_all_are_due():
    rng = np.random.default_rng(0)
    n = 3_000
    p = rng.uniform(0.1, 0.9, n)
    y = (rng.random(n) < p).astype(float)
    due = rng.uniform(0, 200, n)
    known = np.where((due <= 100) | (y == 1), y, np.nan)  # yes comes early
    naive = quick(known, p, time=due - 50)
    fair = quick(known, p, time=due - 50, due=due, as_of=100)
    assert naive.verdict == MISCALIBRATED and naive.cox.bias < -0.05
    assert fair.verdict in (NO_EVIDENCE, TOO_LITTLE) and abs(fair.cox.bias) < 0.05
    assert any("due after" in note for note in fair.notes)
    assert naive.pending > 0 and any("pending" in note for note in naive.notes)


def test_evidence_follows_time_whatever_the_order_of_the_rows():
    y, p = stream(1_000, shift=0.3)
    time = np.arange(1_000)
    order = np.random.default_rng(0).permutation(1_000)
    straight = quick(y, p, time=time)
    for rows in (order, time[::-1]):
        c = quick(y[rows], p[rows], time=time[rows])
        assert c.evidence.log10 == straight.evidence.log10
        assert c.metrics == straight.metrics
    assert any("newest first" in note for note in c.notes)


def test_rounded_forecasts_are_right_up_to_rounding():
    y, p = stream(300_000, seed=6)
    rounded = np.rint(4 * p) / 4
    plain, fair = quick(y, rounded), quick(y, rounded, step="25%")
    assert plain.evidence.log10_most > 3
    assert fair.evidence.log10_most < 1


def test_certain_and_wrong_is_reported_and_no_event_is_lost():
    y, p = stream(500, seed=7)
    p[:3], y[:3] = (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)
    c = quick(y, p)
    assert c.evidence.impossible.tolist() == [0, 1]
    assert c.metrics["log10_evidence_most"] == math.inf
    assert "In 2 events it was certain and wrong" in c.sentence
    assert c.bins.count.sum() == c.cells.count.sum() == 500
    assert c.log_loss.score == math.inf and math.isfinite(c.brier.score)
    assert json.loads(c.to_json())["metrics"]["log_loss"] == "Infinity"


def test_rare_events_are_told_in_relation_to_their_rate():
    y, p = stream(60_000, seed=8, shift=0.4, center=-4.2, spread=0.5)
    c = quick(y, p, tolerance=0.001)
    assert c.verdict == MISCALIBRATED and "% too low)" in c.sentence


def test_weights_change_sizes_and_evidence_stays_honest():
    y, p = stream(2_000, seed=9, shift=0.5)
    doubled = quick(np.repeat(y, 2), np.repeat(p, 2))
    weighted = quick(y, p, sample_weight=np.full(2_000, 2.0))
    assert weighted.brier.miscalibration == pytest.approx(doubled.brier.miscalibration)
    # weights are powers of at most 1, scaled by the largest: all equal is no weight at all
    assert weighted.evidence.log10 == pytest.approx(quick(y, p).evidence.log10)
    half = quick(y, p, sample_weight=np.where(np.arange(2_000) < 1_000, 1.0, 0.5))
    assert 0 < half.evidence.log10 < weighted.evidence.log10


@pytest.mark.parametrize("n", [50, 300, 2_000])
def test_a_calibrated_forecaster_is_below_its_own_high_level_19_times_of_20(n):
    runs, below = 150, 0
    for seed in range(runs):
        y, p = stream(n, seed=seed)
        c = quick(y, p, by=None)
        below += c.error <= c.chance.high
    assert below / runs >= 0.95 - 3.1 * math.sqrt(0.05 * 0.95 / runs)


# --- several classes ------------------------------------------------------------------------------


def test_several_classes_have_one_evidence_and_a_part_for_each():
    y, p = classes(4_000, temperature=0.6)
    names = np.array(["home", "draw", "away"])
    c = fs.check(names[y], p, labels=names)
    assert c.verdict == MISCALIBRATED and c.classes == 3
    assert [part.label for part in c.by_class] == ["home", "draw", "away"]
    assert c.error == pytest.approx(0.5 * sum(part.error for part in c.by_class))
    assert c.brier.score == pytest.approx(fs.metrics.brier_score(y, p))
    assert c.metrics["log_loss"] == pytest.approx(fs.metrics.log_loss(y, p))
    assert c.recalibrated.brier_after < c.recalibrated.brier_before
    assert "likeliest class" in c.sentence
    calm = quick(*classes(20_000, seed=1))
    assert calm.verdict == NO_EVIDENCE


def test_two_columns_are_one_question():
    y, p = stream(500)
    assert quick(y, np.column_stack((1 - p, p))).metrics == quick(y, p).metrics


# --- segments and models --------------------------------------------------------------------------


def test_segments_are_ranked_by_what_is_certain_and_flagged():
    y, p = stream(6_000, seed=1)
    bad_y, bad_p = stream(1_500, seed=2, slope=0.3)
    tiny_y, tiny_p = stream(25, seed=3)
    where = np.array(["fine"] * 6_000 + ["bad"] * 1_500 + ["tiny"] * 25)
    y, p = np.concatenate([y, bad_y, tiny_y]), np.concatenate([p, bad_p, tiny_p])
    c = quick(y, p, by={"place": where})
    assert [s.value for s in c.segments][0] == "bad"
    assert {s.value: s.flagged for s in c.segments} == {"bad": True, "fine": False, "tiny": False}
    tiny = next(s for s in c.segments if s.value == "tiny")
    assert tiny.error > c.segments[-1].error or tiny.smallest_seen > 0.2
    assert sum(s.events for s in c.segments) == len(y)
    assert sum(s.share_of_miscalibration for s in c.segments) == pytest.approx(1)
    assert "Worst: place bad" in c.sentence


def test_numbers_are_cut_at_quantiles_and_few_values_are_kept():
    y, p = stream(1_000)
    c = quick(y, p, by={"age": np.linspace(18, 90, 1_000), "stars": np.arange(1_000) % 3})
    ages = [s for s in c.segments if s.column == "age"]
    assert sorted(s.events for s in ages) == [200] * 5
    assert any(s.value.startswith("below ") for s in ages)
    assert sorted(s.value for s in c.segments if s.column == "stars") == ["0", "1", "2"]


def test_twenty_calibrated_segments_are_hardly_ever_flagged():
    runs, flagged = 60, 0
    for seed in range(runs):
        y, p = stream(1_000, seed=seed)
        c = quick(y, p, by={"k": (np.arange(1_000) % 20).astype(str)})
        flagged += any(s.flagged for s in c.segments)
    assert flagged <= 8  # at most 5 % on average; 8 or more of 60 has chance 0.01 % beyond that


def test_rival_models_are_compared():
    import pandas as pd

    y, p = stream(3_000)
    bold = 1 / (1 + np.exp(-2 * np.log(p / (1 - p))))
    frame = pd.DataFrame({"y": y, "good": p, "bold": bold, "none": np.nan})
    c = fs.check(frame, y="y", p=["bold", "good", "none"], recalibrate=False)
    assert list(c.checks) == ["good", "bold"]
    assert c["bold"].miscalibrated and not c["good"].miscalibrated and c.miscalibrated
    assert c["bold"].brier.discrimination == pytest.approx(c["good"].brier.discrimination)
    assert "Best Brier score: good" in c.sentence and "Miscalibrated: 1 of 2 (bold)" in c.sentence
    assert any("none" in note for note in c.notes)
    assert list(c.frame()["model"]) == ["good", "bold"]
    assert json.loads(c.to_json())["models"]["bold"]["verdict"] == MISCALIBRATED


# --- forms ----------------------------------------------------------------------------------------


def test_the_same_answer_for_every_kind_of_frame():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    y, p = stream(800, seed=11, shift=0.4)
    where = np.where(np.arange(800) % 2 == 0, "a", "b")
    columns = {"won": y.astype(int).tolist(), "prob": p.tolist(), "where": where.tolist()}
    frames = [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns), columns]
    answers = [
        fs.check(f, y="won", p="prob", by="where", recalibrate=False).to_json() for f in frames
    ]
    assert len(set(answers)) == 1
    plain = quick(columns["won"], columns["prob"], by={"where": where})
    assert plain.metrics == pytest.approx(json.loads(answers[0])["metrics"])


def test_swapped_arguments_are_refused_with_the_fix():
    y, p = stream(100)
    with pytest.raises(ValueError, match="swapped"):
        fs.check(p, y)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"n_bins": 0}, "n_bins"),
        ({"n_bins": "sturges"}, "n_bins"),
        ({"strategy": "kmeans"}, "strategy"),
        ({"tolerance": -0.1}, "tolerance"),
        ({"level": 0.0}, "level"),
        ({"step": 0.3}, "step"),
        ({"band": "wide"}, "band"),
        ({"seed": -1}, "seed"),
        ({"sample_weight": [1.0]}, "sample_weight"),
    ],
)
def test_bad_settings_are_named(settings, named):
    y, p = stream(30)
    with pytest.raises(ValueError, match=named):
        fs.check(y, p, **settings)


def test_text_json_and_frames_agree():
    y, p = stream(500, seed=12)
    c = fs.check(y, p, by={"half": np.arange(500) < 250})
    stored = json.loads(c.to_json())
    assert stored["verdict"] == c.verdict and stored["sentence"] == c.sentence
    assert stored["metrics"] == pytest.approx(c.metrics)
    assert str(c).startswith(c.sentence) and "How sure" in str(c)
    summary = c.frame()
    assert list(summary["value"])[0] == "(all)" and len(summary) == 3
    assert len(c.frame("bins")) == len(c.bins) and len(c.frame("curve")) == len(c.curve.forecast)
    assert c.frame("windows")["stop"].iloc[-1] == 500
    with pytest.raises(ValueError, match="what"):
        c.frame("nothing")


def test_check_takes_the_smallest_logs():
    for y, p in (([1, 0], [0.5, 0.5]), ([1, 1], [0.9, 1.0]), ([0, 0, 1], [0.0, 0.0, 1.0])):
        c = fs.check(y, p)
        assert c.verdict == TOO_LITTLE or c.smallest_seen == 0
        assert str(c) and c.to_json()


def test_rows_that_hang_together_count_as_one():
    rng = np.random.default_rng(1)
    days, a_day = 300, 20
    p = np.full(days * a_day, 0.3)
    day = np.repeat(np.arange(days), a_day)
    wet = rng.random(days) < 0.3  # a storm decides for nearly all places at once
    y = (rng.random(len(p)) < np.where(wet[day], 0.95, 0.0214)).astype(float)
    naive, fair = quick(y, p), quick(y, p, together=day)
    assert naive.evidence.log10_most > 2 and fair.evidence.log10_most < 1
    assert (naive.events, fair.events) == (6_000, 300)
    assert fair.chance.median > 2 * naive.chance.median
    with pytest.raises(ValueError, match="together"):
        quick(y, p, event=day)  # contradicting outcomes: the message says what to give
    with pytest.raises(ValueError, match="together must be left out"):
        quick(y, p, event=day, together=day)


def test_late_outcomes_are_not_taken_for_independent_ones():
    rng = np.random.default_rng(3)
    days, ahead = 1_200, 6
    steps = rng.normal(size=days + ahead)
    y = (np.convolve(steps, np.ones(ahead), "valid")[:days] > 0).astype(float)
    p = np.full(days, 0.5)  # right for each day, and six days hang together
    naive, fair = quick(y, p), quick(y, p, delay=ahead - 1)
    assert naive.evidence.log10_most > 2 > fair.evidence.log10
    assert fair.evidence.log10_most == max(fair.evidence.log10, 0)
    assert fair.events == days
    wrong = quick(y, np.full(days, 0.05), delay=ahead - 1)
    assert wrong.verdict == MISCALIBRATED and "counted as of now" in wrong.sentence
    with pytest.raises(ValueError, match="delay"):
        quick(y, p, delay=2, event=np.arange(days))


def test_lanes_are_averaged_as_now():
    from fullswap.checking.evidence import averaged, evidence_of

    y, p = stream(900, shift=0.4)
    lanes = evidence_of(y, p, stream=np.arange(900) % 3)
    both = averaged(lanes)
    assert both.log10 == pytest.approx(np.log10(np.mean([10.0**lane.log10 for lane in lanes])))
    assert both.events == 900 and both.positions[-1] == 899
    c = quick(y, p, delay=2, by={"half": np.arange(900) < 450})
    assert c.evidence.log10 == pytest.approx(both.log10)
    assert sum(s.events for s in c.segments) == 900


def test_open_questions_are_noticed():
    y, p = stream(300)
    time = np.arange(300)
    c = quick(y, p, time=time, due=time + 20, as_of=1_000)
    assert any("up to 20 events were open at the same time" in note for note in c.notes)
    assert not any("open" in note for note in quick(y, p, time=time, due=time, as_of=999).notes)


def test_upside_down_forecasts_are_recognised():
    y, p = stream(2_000)
    c = quick(1 - y, p)
    assert c.sentence.startswith("Upside down: says ") and "exchanged?" in c.sentence


def test_a_tolerance_larger_than_the_rate_is_noticed():
    y, p = stream(5_000, center=-5.0, spread=0.3)
    assert any("give a smaller tolerance" in note for note in quick(y, p).notes)
    assert not any("tolerance" in note for note in quick(y, p, tolerance=0.001).notes)


def test_rows_that_seem_to_share_outcomes_come_with_a_warning_first():
    import pandas as pd

    y, p, event = games(100, 10, seed=4)
    frame = pd.DataFrame({"won": y, "prob": p, "game": [f"g{e}" for e in event]})
    c = fs.check(frame, y="won", p="prob", recalibrate=False)
    assert c.sentence.startswith("Careful: rows seem to share outcomes")


def test_a_small_error_of_a_segment_is_called_little():
    y, p = stream(300_000, shift=0.06)
    c = quick(y, p, by={"half": np.arange(len(y)) % 2})
    assert all(s.flagged and s.little for s in c.segments)
    assert "Worst" not in c.sentence and str(c).count("miscalibrated, but little") >= 2


def test_since_when_is_said_only_while_it_lasts():
    def off(wrong):
        rng = np.random.default_rng(1)
        p = rng.uniform(0.25, 0.75, 20_000)
        return quick((rng.random(20_000) < np.where(wrong, p - 0.2, p)).astype(float), p)

    row = np.arange(20_000)
    late = off(row >= 15_000)
    assert "Off since about row " in late.sentence and abs(late.evidence.since - 15_000) < 100
    early = off(row < 600)
    assert "Off since" not in early.sentence
    assert "The evidence was strongest at row 5" in early.sentence
    assert "Off since" not in off(row >= 0).sentence


def test_the_class_that_is_off_is_named():
    rng = np.random.default_rng(2)
    p = np.tile([0.5, 0.3, 0.2], (4_000, 1))
    y = rng.choice(3, 4_000, p=[0.5, 0.2, 0.3])
    c = quick(y, p, labels=["home", "draw", "away"])
    assert c.sentence.startswith(("draw is said too often: says 30 % where 2", "away is said too"))


@pytest.mark.parametrize("spread", [0.5, 1.0])
def test_weights_change_what_could_have_been_seen(spread):
    from fullswap.checking.evidence import evidence_of

    rng = np.random.default_rng(4)
    n, runs = 3_000, 60
    logits = rng.normal(size=n)
    p = 1 / (1 + np.exp(-logits))
    w = rng.lognormal(0, spread, n)
    seen = quick((rng.random(n) < p).astype(float), p, sample_weight=w).smallest_seen
    shifts = np.linspace(0, 6, 6_001)
    means = [np.average(1 / (1 + np.exp(-logits - s)) - p, weights=w) for s in shifts[::20]]
    shift = shifts[::20][np.argmax(np.array(means) >= seen)]
    truth = 1 / (1 + np.exp(-logits - shift))
    found = sum(
        evidence_of((rng.random(n) < truth).astype(float), p, weight=w / w.max()).log10_most
        >= math.log10(20)
        for _ in range(runs)
    )
    assert found / runs >= 0.6  # four of five, with room for noise and a wide spread


def test_rows_are_numbered_as_they_were_given():
    y, p = stream(400, seed=5)
    y[:100] = np.nan
    p[250], y[250] = 0.0, 1.0
    c = quick(y, p)
    assert "row 251:" in str(c)
    assert "row 251:" in str(quick(y, p, time=-np.arange(400)))


def test_a_check_is_short_where_it_is_only_named():
    c = quick(*stream(300))
    assert repr(c) == "<Check: Too little data to say; 300 events>"


def test_obvious_columns_of_a_frame_are_guessed():
    import pandas as pd

    y, p = stream(300)
    frame = pd.DataFrame({"won": y.astype(int), "prob": p})
    c = fs.check(frame, recalibrate=False)
    assert c.metrics == quick(y, p).metrics
    assert "outcome: column won (holds only 0 and 1)" in c.notes
    with pytest.raises(ValueError, match="y=…, p=…"):
        fs.check(frame.rename(columns={"won": "a", "prob": "b"}).assign(c=1 - y))
