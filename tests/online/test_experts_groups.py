"""Experts that sleep outside their groups, against slow definitions; rows with room for more."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullswap.forecasting.expert_specs import groups_spec
from fullswap.forecasting.groups import context_in_groups
from fullswap.kernels import experts_groups as kernel
from fullswap.kernels import group_advice
from fullswap.kernels.columns import CROWD, LOST, NEXT_ID, OVERLAP
from fullswap.kernels.experts import ADVICE, KINDS, MEMO_HEAD
from fullswap.kernels.logistic import KEPT, SHIFT_KEPT, TIGHT, WIDE
from fullswap.online.kinds import kind_of
from fullswap.theorems.groups import ADVICE_PRIOR, TRUST_PRIOR, equal_share, reserved_share
from naive.experts import slow_rule
from naive.groups import ADVICE as SLOW_ADVICE
from naive.groups import EVERYBODY, SlowHierarchy, SlowPoint, SlowTrust
from online.verbs import forecast, learn

GROUPS = 4


def kind_for(steps=8, models=1, feedback="realised", groups=GROUPS, is_open=False):
    return kind_of(groups_spec(steps, models, None, feedback, 1.0, groups, is_open))


def total_weights(kind, row):
    """Of all experts of each point."""
    columns = kind.point_columns(row)
    logs = np.column_stack(
        (columns[:, kernel.ADVICE_LOG], columns[:, kernel.LOG],
         columns[:, kernel.ADVICE_LOG + 1 + kernel.LOG :: kernel.OF_GROUP])
    )  # fmt: skip
    return np.exp(logs).sum(axis=1)


def some_groups(rng, groups=GROUPS):
    return np.flatnonzero(rng.random(groups) < 0.4).tolist()


@pytest.mark.parametrize(
    ("models", "is_open", "feedback"),
    [(0, False, "realised"), (0, False, "distribution"), (1, True, "realised"),
     (2, False, "realised")],
)  # fmt: skip
def test_the_method_is_what_is_written_down(models, is_open, feedback):
    rng = np.random.default_rng(3)
    kind = kind_for(None if models else 8, models, feedback, is_open=is_open)
    row, inputs = kind.blank.copy(), kind.inputs
    share_of = [reserved_share(k) if is_open else equal_share(GROUPS) for k in range(1 + GROUPS)]
    priors = {SLOW_ADVICE: ADVICE_PRIOR, EVERYBODY: share_of[0]}
    priors |= {j: share_of[1 + j] for j in range(GROUPS)}
    points = [SlowPoint(s, priors) for s in kind.points(0).tolist()]
    tight, wide = group_advice.GROUP_TIGHT, group_advice.GROUP_WIDE
    settings_of = [
        (TIGHT, (tight, tight)), (WIDE, (wide, wide)), (WIDE, (wide, wide), KEPT, KEPT),
        (WIDE, (wide, tight), KEPT, SHIFT_KEPT),
    ]  # fmt: skip
    slow = [[SlowHierarchy(GROUPS, *own) for own in settings_of] for _ in range(inputs)]
    trust = SlowTrust(GROUPS, TRUST_PRIOR)
    lost = np.zeros(1 + GROUPS)
    for t in range(250):
        p = rng.random(models) ** 2
        if models > 1 and rng.random() < 0.3:
            p[rng.integers(models)] = math.nan
        groups = some_groups(rng)
        play = forecast(kind, row, context_in_groups(p, groups))
        left, right, share, memo = play
        said, logits = memo[MEMO_HEAD:][:inputs], memo[MEMO_HEAD + inputs :][:inputs]
        opinions = memo[MEMO_HEAD + 2 * inputs :][: kind.experts]
        if not models:
            assert said.tolist() == [0.5]
        hierarchies = opinions[KINDS * inputs :].reshape(inputs, group_advice.HIERARCHIES)
        for j in range(inputs):
            for h in range(group_advice.HIERARCHIES):
                absent = math.isnan(said[j])
                expected = math.nan if absent else slow[j][h].opinion(groups, logits[j])
                assert hierarchies[j, h] == pytest.approx(expected, abs=1e-9, nan_ok=True)
        _, mix = kind._mix(row)
        there = ~np.isnan(opinions)
        heard = [slow_rule(mix[0][there].tolist(), opinions[there].tolist())]
        heard += hierarchies[-1, : group_advice.TRUSTED].tolist()
        advice = trust.advice(groups, heard)
        assert memo[ADVICE] == pytest.approx(advice, abs=1e-9)
        awake = {i: points[i].awake(groups, advice) for i in (left, right)}
        targets = {i: points[i].target(groups, advice) for i in (left, right)}
        assert right - left <= 1
        if left < right:
            assert targets[left] >= points[left].s - 1e-9
            assert targets[right] <= points[right].s + 1e-9
        y, drawn = rng.choice([0.0, 1.0, 0.3]), int(rng.random() >= share)
        g, crowd = rng.choice([0.0, 1.0, 0.4]), rng.choice([0, 0, 3])
        row[CROWD] = crowd
        learn(kind, row, play, drawn, y, g, t)
        row[CROWD] = 0
        support = [(left, share * g), (right, (1 - share) * g)]
        if feedback == "realised":
            support = [((left, right)[drawn], g)]
        for i, own in support:
            if own > 0:
                points[i].learn(awake[i], own, y, 1 / (1 + crowd))
                lost[[0, *(1 + j for j in groups)]] += own * (targets[i] - y) ** 2
        trust.learn(groups, heard, g / (1 + crowd), y)
        for j in range(inputs):
            for own in slow[j]:
                if g > 0 and not math.isnan(said[j]):
                    own.learn(groups, logits[j], g / math.sqrt(1 + crowd), y)
    blocks, sums, at_points = kind._views(row)
    assert row[LOST] == pytest.approx(lost[0])
    assert sums[:, group_advice.G_LOST] == pytest.approx(lost[1:])
    odds = trust.logs[:, 1:] - trust.logs[:, :1]
    assert sums[:, group_advice.TRUST :] == pytest.approx(odds, abs=1e-9)
    for i, point in enumerate(points):
        columns = kind.point_columns(row)[i]
        assert columns[kernel.ADVICE_LOG] == pytest.approx(point.logs[SLOW_ADVICE], abs=1e-9)
        assert columns[kernel.LOG] == pytest.approx(point.logs[EVERYBODY], abs=1e-9)
        for j in range(GROUPS):
            seen = point.outcomes[j]
            weight, ones, log = at_points[i, j]
            assert weight == pytest.approx(sum(g for g, _ in seen), abs=1e-12)
            assert ones == pytest.approx(sum(g * y for g, y in seen), abs=1e-12)
            assert log == pytest.approx(point.logs[j], abs=1e-9)
    for j in range(inputs):
        for h in range(group_advice.HIERARCHIES):
            for b in range(1 + GROUPS):
                mean, covariance = slow[j][h].means[b], slow[j][h].covariances[b]
                assert blocks[j, h, b, :2] == pytest.approx(mean, abs=1e-8)
                precision = blocks[j, h, b, [2, 3, 3, 4]].reshape(2, 2)
                assert precision @ covariance == pytest.approx(np.eye(2), abs=1e-7)
    row[NEXT_ID], row[OVERLAP] = 250, 3
    kind.check(row)


@pytest.mark.parametrize("models", [0, 1])
def test_the_weight_of_a_point_is_conserved(models):
    """Every point's experts share the same weight for ever, whoever sleeps."""
    rng, kind = np.random.default_rng(1), kind_for(20, models)
    row = kind.blank.copy()
    assert total_weights(kind, row) == pytest.approx(np.ones(21), abs=1e-15)
    for t in range(4000):
        groups = some_groups(rng)
        play = forecast(kind, row, context_in_groups(rng.random(models), groups))
        y = float(rng.random() < 0.2 + 0.6 * (0 in groups))
        learn(kind, row, play, int(rng.random() >= play[2]), y, 1.0, t)
    assert np.abs(total_weights(kind, row) - 1).max() <= 1e-12
    assert np.ptp(kind.point_columns(row)[:, kernel.LOG]) > 1, "weights have moved"


@pytest.mark.parametrize("models", [0, 1])
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.booleans())
def test_forecasts_of_one_event_never_raise_the_weight(models, seed, count, fixed):
    """Hölder's inequality, with other groups in each forecast of the event; soft outcomes."""
    rng = np.random.default_rng(seed)
    kind = kind_for(3, models, "realised" if models else "distribution")
    row = kind.blank.copy()

    def said(p):
        return context_in_groups([p] * models, some_groups(rng))

    for t in range(30):  # weights that differ
        play = forecast(kind, row, said(rng.random()))
        learn(kind, row, play, 0, float(rng.random() < 0.5), 1.0, t)
    before = total_weights(kind, row)
    p = rng.random()
    plays = [forecast(kind, row, said(p if fixed else rng.random())) for _ in range(count)]
    y, scales = rng.choice([0.0, 1.0, rng.random()]), rng.dirichlet(np.ones(count + 1))[:count]
    for t, (play, g) in enumerate(zip(plays, scales, strict=True)):
        learn(kind, row, play, 0, y, float(g), 30 + t)
    assert (total_weights(kind, row) <= before + 1e-12).all()


def test_heavy_odds_do_not_overflow():
    kind = kind_for(4, 0)
    row = kind.blank.copy()
    columns = kind.point_columns(row)
    columns[:, kernel.WEIGHT], columns[:, kernel.ONES] = 1e7, 9e6
    columns[:, kernel.ADVICE_LOG], columns[:, kernel.LOG] = -2e7, 0.0
    columns[:, kernel.ADVICE_LOG + 1 + kernel.LOG :: kernel.OF_GROUP] = -3e7
    left, right, share, _ = forecast(kind, row, context_in_groups(None, [0, 2]))
    points = kind.points(0)
    mean = share * points[left] + (1 - share) * points[right]
    assert mean == pytest.approx(0.9, abs=1e-6)


@pytest.mark.parametrize("models", [0, 2])
def test_a_row_with_more_room_goes_on_as_before(models):
    """Forecasts of before are learnt after it; groups of before keep all that they learnt."""
    rng = np.random.default_rng(5)
    small, large = (
        kind_for(None, models, groups=3, is_open=True),
        kind_for(None, models, groups=6, is_open=True),
    )
    contexts = [context_in_groups(rng.random(models), some_groups(rng, 3)) for _ in range(300)]
    rows = [small.blank.copy(), large.blank.copy()]
    outcomes = rng.integers(0, 2, 300).astype(float)
    for t in range(200):
        for kind, row in zip((small, large), rows, strict=True):
            play = forecast(kind, row, contexts[t])
            learn(kind, row, play, 0, outcomes[t], 1.0, t)
    waiting = forecast(small, rows[0], contexts[200])
    rows[0] = large.regrouped(rows[0], small)
    assert rows[0].tobytes() == rows[1].tobytes()
    for row, play in zip(rows, (waiting, forecast(large, rows[1], contexts[200])), strict=True):
        learn(large, row, play, 0, outcomes[200], 1.0, 200)
    assert rows[0].tobytes() == rows[1].tobytes()


def test_stored_plays_are_checked():
    kind = kind_for(8, 1)
    play = forecast(kind, kind.blank.copy(), context_in_groups([0.3], [0, 2]))
    numbers = kind.encode((0, 0, *play))
    assert np.array_equal(kind.decode(numbers, 0)[3], play[3])
    assert np.array_equal(kind.decode([*numbers, 7.0], 0)[3], play[3]), "what follows is not used"
    first = 3 + kind._records
    place = {
        "count": first - 1, "always": first, "index": first + 2 * group_advice.RECORD,
        "mean": first + group_advice.LEFT_MEAN, "log": first + group_advice.LEFT_LOG,
    }  # fmt: skip
    spoilt = {
        "count": [-1.0, 5.0, 1e9, 0.5], "index": [-1.0, 3.0, 2.0, 0.5, 4.0], "always": [0.0],
        "mean": [-0.1, 1.1, math.nan], "log": [1e19, math.nan, -math.inf],
    }  # fmt: skip
    for name, values in spoilt.items():
        for value in values:
            wrong = list(numbers)
            wrong[place[name]] = value
            with pytest.raises(ValueError, match="play must"):
                kind.decode(wrong, 0)
    for length in (0, 3, first - 1, len(numbers) - 1):
        with pytest.raises(ValueError, match="play must"):
            kind.decode(numbers[:length], 0)
