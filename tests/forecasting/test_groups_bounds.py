"""The error in every group against its bounds: for adversaries on average, else in every run."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.makers import kind_behind, row_of
from fullswap import Forecaster
from fullswap.forecasting.expert_specs import groups_spec
from fullswap.online.kinds import kind_of
from fullswap.theorems.groups import (
    ADVICE_PRIOR,
    InGroup,
    equal_share,
    group_bound,
    reserved_share,
)
from group_play import ADVERSARIES, Scene, play

GROUPS = 6
RUNS = 60


def _claimed(models, events, adversary, runs):
    """(runs, groups, 3): measured, after the fact, in advance, of everybody and of each group."""
    scene = Scene.of(events, GROUPS, 0)
    odds = np.log(scene.chance / (1 - scene.chance))
    said = 1 / (1 + np.exp(-0.6 * odds - 0.2)) if models else None
    kind = kind_of(groups_spec(None, models, events, "realised", 1.0, GROUPS, False))
    seen = np.zeros((runs, 1 + GROUPS, 3))
    for seed in range(runs):
        row, _, _ = play(kind, scene, adversary, seed, said)
        claims = [kind.claims(row)[0], *(kind.group_claim(row, j, "") for j in range(GROUPS))]
        seen[seed] = [(own.measured, own.after_the_fact, own.guaranteed) for own in claims]
    return seen


EVENTS = pytest.mark.parametrize(("models", "events"), [(0, 10_000), (1, 4_000)])


@pytest.mark.theorem("recalibration in groups")
@EVENTS
@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_on_average_no_group_errs_more_than_its_certificate(models, events, adversary):
    """Over many draws of our own, against whoever sees all but the draw, in each group at once."""
    measured, after, ahead = np.moveaxis(_claimed(models, events, adversary, RUNS), -1, 0)
    excess = measured - after
    # small groups come within 1 % of their certificates, less than what chance shows in few runs
    chance = excess.std(axis=0, ddof=1) / np.sqrt(RUNS)
    assert (excess.mean(axis=0) <= 3 * chance).all()
    assert excess.mean(axis=0)[0] < -5 * chance[0], "everybody's certificate has room"
    assert (measured.mean(axis=0) <= ahead.mean(axis=0)).all()
    assert (after <= ahead).all()
    assert (measured.mean(axis=0) > 0.1).all(), "an adversary that does no harm shows nothing"


@pytest.mark.slow
@pytest.mark.theorem("recalibration in groups")
@EVENTS
@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_over_a_thousand_runs_the_mean_error_of_every_group_is_below(models, events, adversary):
    measured, after, _ = _claimed(models, events, adversary, 1000).mean(axis=0).T
    assert (measured < after).all()


@pytest.mark.theorem("recalibration in groups")
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_distributions_err_no_more_than_their_certificate_in_every_run(seed, late, soft):
    rng, names = np.random.default_rng(seed), ("a", "b", "c")
    events = int(rng.integers(1, 120))
    step = None if rng.random() < 0.5 else "20%"
    forecaster = Forecaster(step=step, feedback="distribution", groups=names, seed=1)
    member = rng.random((events, 3)) < rng.random(3)
    y = rng.integers(0, 2, events).astype(float)
    if rng.random() < 0.5:  # often wrong where it hurts
        y = (np.cumsum(rng.random(events) < 0.1) % 2) ^ member[:, 0]
    y = np.where(rng.random(events) < 0.5, y, rng.random(events)) if soft else y
    weights = rng.choice([0.0, 0.3, 1.0], events)
    known = np.arange(1, events + 1) + (rng.integers(0, 9, events) if late else 0)
    record = forecaster.run(y, weights, groups=member, known=known)
    learnt = weights * (known <= events)
    for row in forecaster.by_group():
        own = row.certificate
        inside = learnt * (member[:, names.index(row.name)] if row.name in names else 1)
        assert own.mass == pytest.approx(inside.sum())
        assert own.measured == pytest.approx(error_of(record, y, inside), abs=1e-9)
        assert own.measured <= own.after_the_fact + 1e-9
        if own.guaranteed is None:
            assert late and own.late
        else:
            assert own.after_the_fact <= own.guaranteed + 1e-9
    kind_behind(forecaster).check(row_of(forecaster))


def error_of(record, y, weights):
    """Σ_s n_s·(s − ȳ_s)² of the distributions, as it is written."""
    total = 0.0
    for point in range(len(record.points)):
        own = weights * (record.weights * (record.indices == point)).sum(axis=1)
        if own.sum() > 0:
            total += own.sum() * (record.points[point] - own @ y / own.sum()) ** 2
    return total


def test_priors_sum_to_one():
    for groups in (1, 7, 1000):
        assert ADVICE_PRIOR + (1 + groups) * equal_share(groups) == pytest.approx(1)
    blocks = [sum(reserved_share(k) for k in range(2**b - 1, 2 ** (b + 1) - 1)) for b in range(12)]
    left = [1 - ADVICE_PRIOR - sum(blocks[: b + 1]) for b in range(12)]
    assert left == pytest.approx([(1 - ADVICE_PRIOR) / (b + 2) for b in range(12)])


def test_the_bound_is_that_of_the_groups_own_events():
    """It grows with the group, with its rounding and with how little prior it has."""
    base = InGroup(1000.0, 11, 5.0, 3.0, 0.1)
    value = 5 + 3 + 11 * (np.log(10) / 2 + (1 + np.log(1000 / 11)) / 4)
    assert group_bound(base) == pytest.approx(value)
    assert group_bound(InGroup(10.0, 11, 0.05, 3.0, 0.1)) == 10.0  # trivial
    assert group_bound(InGroup(1000.0, 11, 5.0, 3.0, 0.01)) == pytest.approx(
        value + 11 * np.log(10) / 2
    )
