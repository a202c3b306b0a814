"""Many classes: the kernel against slow code, and what is certified against what is measured."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullswap import MulticlassForecaster, Recalibrator
from fullswap.kernels import classes_advice, classwise
from fullswap.kernels.projection import project_few, project_many
from fullswap.online.lattices import Lattice
from fullswap.theorems import LEDGER
from fullswap.theorems.classwise import Classwise, ClasswiseExcess, most_logs
from naive.classwise import (
    SlowClasswise,
    hat_weights,
    measured_errors,
    merged,
    softmax,
)

seeds = st.integers(0, 10_000)


def made(classes, models=0, seed=1, **more):
    if models:
        return Recalibrator(classes=classes, models=models, seed=seed, **more)
    return MulticlassForecaster(classes, seed=seed, **more)


def kind_and_row(forecaster):
    return forecaster._stream.kind, forecaster._stream.row


# --- the kernel -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("classes", "models"), [(3, 0), (5, 1), (4, 0), (3, 2)])
def test_the_kernel_is_the_slow_code(classes, models):
    rng = np.random.default_rng(classes)
    forecaster = made(classes, models)
    kind, row = kind_and_row(forecaster)
    slow = SlowClasswise(classes, kind.nodes)
    for _ in range(150):
        said = rng.dirichlet(np.ones(classes), models)
        forecast = forecaster.predict(*([said[0] if models == 1 else said] if models else ()))
        advice = kind._memo[0].copy()
        assert advice.sum() == pytest.approx(1.0, abs=1e-12) and advice.min() >= 0
        x, heights = forecast.mean, slow.heights(advice, forecast.declared)
        assert abs(x.sum() - 1) <= 1e-12 and x.min() >= 0
        at = np.array([heights[k] @ hat_weights(kind.nodes, x[k]) for k in range(classes)])
        gap = at.max() - x @ at
        assert gap <= 1e-9
        assert 2 * gap == pytest.approx(forecast._play[6][classwise.GAP], abs=1e-12)
        y = np.eye(classes)[rng.integers(classes)]
        if rng.random() < 0.3:
            y = rng.dirichlet(np.ones(classes))
        g = rng.choice([1.0, 0.5, 0.0, 0.25])
        forecaster.update(y, weight=float(g))
        if g > 0:
            slow.learn(x, advice, forecast.declared, y, g)
    bins = kind.bins(row)
    np.testing.assert_allclose(bins[[classwise.TOP_WEIGHT, classwise.REST_WEIGHT]],
                               slow.weight.transpose(2, 0, 1), atol=1e-9)  # fmt: skip
    np.testing.assert_allclose(bins[[classwise.TOP_ERROR, classwise.REST_ERROR]],
                               slow.error.transpose(2, 0, 1), atol=1e-9)  # fmt: skip
    np.testing.assert_allclose(bins[classwise.SHARE_ALL : classwise.SHARE_REST + 1],
                               slow.shares.transpose(2, 0, 1), atol=1e-9)  # fmt: skip
    weights = kind.point_columns(row)
    np.testing.assert_allclose(weights[:, classwise.TRUST], slow.trust, atol=1e-9)
    np.testing.assert_allclose(weights[:, classwise.OWN], 1 - slow.trust, atol=1e-9)


def test_the_advice_is_the_aggregating_rule_of_what_the_models_are_turned_into():
    rng = np.random.default_rng(0)
    forecaster = made(6, 2)
    kind, row = kind_and_row(forecaster)
    for t in range(120):
        said = rng.dirichlet(np.ones(6), 2)
        if t % 5 == 0:
            said[t % 2] = np.nan
        shares = kind._mix(row)[1][0].copy()
        beliefs = row[kind.base - kind._beliefs.size : kind.base].reshape(kind._beliefs.shape)
        inputs = [p for p in said]
        logs = [np.log(np.maximum(p, 1e-6)) for p in said]
        logs = [own - own.mean() for own in logs]
        present = [k for k in range(2) if not np.isnan(said[k]).any()]
        logs.append(np.mean([logs[k] for k in present], axis=0))
        inputs.append(softmax(logs[2]))
        opinions = []
        for own, p, log in zip(beliefs, inputs, logs, strict=True):
            scale, biases = own[classes_advice.SCALING], own[classes_advice.SCALING + 1 :][:6]
            opinions += [p, softmax(own[0] * log), softmax(own[2] * log),
                         softmax(scale * log + biases)]  # fmt: skip
        forecaster.predict(said)
        awake = [k for k in range(12) if not np.isnan(opinions[k]).any()]
        expected = merged(np.array([opinions[k] for k in awake]), shares[awake])
        np.testing.assert_allclose(kind._memo[0], expected, atol=1e-12)
        forecaster.update(
            int(rng.choice(6, p=said[present[0]] ** 0.5 / (said[present[0]] ** 0.5).sum()))
        )


def test_a_temperature_is_the_mode_of_what_is_believed_of_it():
    """From one event: slope = 1 + Σ(y − p)·logs at the slope itself, whatever the logs."""
    for said in ([0.7, 0.2, 0.1], [0.999998, 1e-6, 1e-6], [1.0, 0.0, 0.0], [1 / 3] * 3):
        for y in range(3):
            forecaster = made(3, 1)
            kind, row = kind_and_row(forecaster)
            forecaster.predict(np.array(said))
            forecaster.update(y)
            slope = row[kind.base - kind._beliefs.size]
            logs = np.log(np.maximum(said, 1e-6))
            logs -= logs.mean()
            p = softmax(slope * logs)
            error = slope - 1 - (np.eye(3)[y] - p) @ logs
            steepness = 1 + p @ logs**2 - (p @ logs) ** 2
            assert abs(error / steepness) <= 0.01


@given(st.lists(st.floats(-30, 30), min_size=1, max_size=40))
def test_many_entries_are_projected_as_few(values):
    one, other = np.array(values), np.array(values)
    project_many(one)
    project_few(other)
    np.testing.assert_allclose(one, other, atol=1e-12)


# --- certificates ---------------------------------------------------------------------------------


@st.composite
def games(draw):
    """Classes, models, weights, soft outcomes, lateness; and who chooses the outcomes."""
    classes = draw(st.sampled_from([3, 4, 9, 13]))
    models = draw(st.sampled_from([0, 1, 2]))
    return {
        "classes": classes, "models": models, "seed": draw(seeds),
        "player": draw(st.sampled_from(["one", "random", "greedy", "least", "soft", "turns"])),
        "weighted": draw(st.booleans()), "late": draw(st.sampled_from([0, 0, 1, 4])),
    }  # fmt: skip


def outcome_of(player, rng, x, t):
    classes = len(x)
    if player == "soft":
        return rng.dirichlet(np.full(classes, 0.3))
    k = {
        "one": 1 % classes,
        "random": int(rng.integers(classes)),
        "greedy": int(np.argmin(x)),
        "least": int(np.argsort(x)[classes // 2]),
        "turns": t % classes,
    }[player]
    return np.eye(classes)[k]


def play(forecaster, events, game, rng):
    """A transcript: vectors, outcomes, declared classes, scales, losses of the first model."""
    transcript, waiting = [], []
    for t in range(events):
        said = rng.dirichlet(np.ones(game["classes"]), game["models"])
        if game["models"] == 2 and t % 3 == 0:
            said[1] = np.nan
        own = () if not game["models"] else (said[0] if game["models"] == 1 else said,)
        forecast = forecaster.predict(*own)
        y = outcome_of(game["player"], rng, forecast.mean, t)
        g = float(rng.choice([1.0, 0.25, 0.0])) if game["weighted"] else 1.0
        waiting.append((forecast, y, g, said))
        while len(waiting) > (game["late"] if t < events - 1 else 0):
            forecast, y, g, said = waiting.pop(int(rng.integers(len(waiting))))
            forecaster.update(y, forecast, g)
            loss = g * float(((said[0] - y) ** 2).sum()) if game["models"] else 0.0
            transcript.append((forecast.mean, y, forecast.declared, g, loss))
    return transcript


@settings(max_examples=60)
@given(games())
@pytest.mark.theorem("classwise calibration")
@pytest.mark.theorem("top-label calibration")
def test_what_is_certified_holds_on_every_sequence(game):
    forecaster = made(game["classes"], game["models"], seed=game["seed"])
    rng = np.random.default_rng(game["seed"])
    vectors, outcomes, declared, scales, losses = map(
        np.array, zip(*play(forecaster, 120, game, rng), strict=True)
    )
    assert np.abs(vectors.sum(axis=1) - 1).max() <= 1e-12 and vectors.min() >= 0
    kind, _ = kind_and_row(forecaster)
    whole, top = measured_errors(kind.nodes, vectors, outcomes, declared, scales)
    brier = float(scales @ np.square(vectors - outcomes).sum(axis=1))
    first, second, third, *_ = forecaster.certificates()
    assert first.measured == pytest.approx(whole, abs=1e-9)
    assert second.measured == pytest.approx(top, abs=1e-9)
    assert third.brier == pytest.approx(brier, abs=1e-9)
    if game["models"]:
        assert third.measured == pytest.approx(brier - losses.sum(), abs=1e-9)
    for certificate in forecaster.certificates():
        assert certificate.measured <= certificate.after_the_fact + 1e-9
        assert (certificate.guaranteed is None) == bool(certificate.late)
        assert certificate.late or certificate.holds
        assert not certificate.on_average and "every sequence" in str(certificate)


@pytest.mark.theorem("classwise keeps the skill")
@pytest.mark.parametrize("player", ["random", "greedy"])
def test_the_skill_of_a_model_is_kept(player):
    """A model that is right, and one that is told beforehand."""
    rng = np.random.default_rng(0)
    for clever in (False, True):
        forecaster = made(9, 1)
        for _ in range(400):
            y = int(rng.integers(9))
            said = np.full(9, 1 / 9) if not clever else 0.9 * np.eye(9)[y] + 0.1 / 9
            forecast = forecaster.predict(said)
            y = y if clever or player == "random" else int(np.argmin(forecast.mean))
            forecaster.update(y)
        for certificate in forecaster.certificates()[2:]:
            assert (
                certificate.measured <= certificate.after_the_fact + 1e-9 <= certificate.guaranteed
            )
    assert forecaster.certificates()[2].measured < 40


def test_bounds_grow_with_what_they_count():
    nodes = tuple(Lattice("classes", 10).nodes.tolist())
    whole, top = LEDGER["classwise calibration"], LEDGER["top-label calibration"]
    masses = [1.0, 10.0, 1e3, 1e5, 1e7]
    for result in (whole, top):
        values = [result.bound(Classwise(mass, 100, nodes)) for mass in masses]
        assert values == sorted(values)
        more = [result.bound(Classwise(1e6, classes, nodes)) for classes in (2, 10, 100)]
        assert more == sorted(more)
        gaps = result.bound(Classwise(1e7, 10, nodes, gaps=5.0))
        assert gaps == pytest.approx(5.0 + result.bound(Classwise(1e7, 10, nodes)))
    excess = LEDGER["classwise keeps the skill"].bound(ClasswiseExcess(1e6, 10, nodes, 0.5))
    assert excess < whole.bound(Classwise(1e6, 10, nodes)) / 10


@given(seeds, st.integers(1, 6), st.floats(1, 1e6), st.floats(0.01, 1))
def test_no_masses_have_more_logs(seed, cells, mass, share):
    rng = np.random.default_rng(seed)
    nodes = Lattice("classes", cells).nodes
    own = rng.dirichlet(np.full(cells + 1, 0.5)) * mass
    squares = (1 + rng.random(cells + 1)).tolist()
    most = most_logs(squares, tuple(nodes.tolist()), mass, max(float(own @ nodes), share))
    assert np.array(squares) @ np.log1p(own) <= most + 1e-9


# --- degenerate and large cases -------------------------------------------------------------------


@pytest.mark.parametrize("period", [2, 3])
def test_what_is_declared_comes_near_the_likeliest(period):
    """Also where labels go round: on such streams each label makes another one the likeliest."""
    run = MulticlassForecaster(classes=9).run(np.arange(3000) % period)
    declared = run.mean[np.arange(3000), run.declared]
    assert (run.mean.max(axis=1) - declared).mean() < 0.05


@pytest.mark.parametrize("classes", [3, 9, 100])
def test_one_class_always(classes):
    forecaster = made(classes)
    run = forecaster.run(np.full(300, classes - 1))
    assert run.mean[-1].argmax() == run.declared[-1] == classes - 1
    assert run.mean[-1, -1] > 0.97
    assert forecaster.certificate().points < 0.12


def test_a_run_says_all_that_single_forecasts_say():
    one, other = made(11), made(11)
    outcomes = np.random.default_rng(0).integers(0, 11, 60)
    run = one.run(outcomes)
    for t, y in enumerate(outcomes.tolist()):
        forecast = other.predict()
        assert forecast.declared == run.declared[t]
        np.testing.assert_array_equal(forecast.mean, run.mean[t])
        np.testing.assert_array_equal(forecast.issued, run.issued[t])
        np.testing.assert_array_equal(forecast.points, run.mean[t : t + 1])
        other.update(y)
    frame = run.to_frame()
    assert frame["declared"].tolist() == run.declared.tolist()
    assert run.head(5).declared.shape == (5,)


def test_a_thousand_classes_take_little_memory():
    forecaster = made(1000)
    outcomes = np.random.default_rng(0).zipf(1.5, 300) % 1000
    run = forecaster.run(outcomes)
    assert run.mean.shape == run.issued.shape == (300, 1000)
    assert np.abs(run.mean.sum(axis=1) - 1).max() <= 1e-12
    ticket = forecaster.predict()
    assert len(ticket.to_list()[3]) == 2 + 3 * 1000
    corners = forecaster._stream.kind.points(0)
    assert corners.strides[0] == -corners.strides[1]  # all of one short array


def test_what_is_chosen_is_said():
    text = made(9).explain()
    assert (
        "9 classes are vectors of sum 1" in text and "Not guaranteed: calibration of whole" in text
    )
    assert "in 11 soft bins of every class" in text and "hard bins" in text
    forecaster = made(9, 1)  # there is no step
    forecaster.predict(np.full(9, 1 / 9))
    forecaster.update(0)
    for certificate in forecaster.certificates():
        assert "a useful one needs more events." in str(certificate)
    assert "Guaranteed for 200,000 events" in made(9, horizon=200_000).explain()
    assert made(9, 1).step is None


def test_events_forecast_twice_are_certified_after_the_fact():
    forecaster = made(9)
    for t in range(30):
        forecaster.predict(event=t)
        forecaster.predict(event=t)
        forecaster.resolve(t, t % 9)
    certificate = forecaster.certificate()
    assert certificate.guaranteed is None and "several forecasts" in certificate.broken[0]
    assert certificate.measured <= certificate.after_the_fact + 1e-9
    assert "No guarantee" in forecaster.explain()


def test_vectors_have_no_step():
    with pytest.raises(ValueError, match="step must be None for more than two classes"):
        Recalibrator(0.1, classes=9)


# --- a class more -------------------------------------------------------------------------------


def test_without_a_model_a_class_is_added_too():
    grown = MulticlassForecaster(classes=9)
    grown.run(np.random.default_rng(0).integers(0, 9, 300))
    grown.add_class()
    grown = MulticlassForecaster.from_json(grown.to_json())
    assert grown.classes == 10 and grown.predict().mean.sum() == pytest.approx(1)
    grown.update(9)
    later = np.random.default_rng(1).integers(0, 10, 3000)
    grown.run(later)
    for certificate in grown.certificates():
        assert certificate.measured <= certificate.after_the_fact + 1e-9
    assert grown.certificate().rounds == 3301
    assert grown.peek().points[0, 9] > 0.05  # it has been met


@pytest.mark.parametrize("models", [1, 2])
@pytest.mark.theorem("classwise calibration")
def test_a_forecast_that_waits_for_a_class_not_yet_known(models):
    """All classes were expected too much, so the new one has the largest offset."""
    rng = np.random.default_rng(1)
    forecaster = made(9, models)

    def said():
        p = rng.dirichlet(np.ones(9), models)
        p[1:] = np.nan
        return p[0] if models == 1 else p

    for _ in range(100):
        p = said()
        forecaster.update(int(np.argmin(p if models == 1 else p[0])), forecaster.predict(p))
    own, restored = forecaster.predict(said()), type(forecaster).from_json(forecaster.to_json())
    foreign = forecaster.predict(said())
    for other in (forecaster, restored):
        before, waits = own._play[6][classwise.GAP], own._play[2].copy()
        for _ in range(2):  # all at once is the same as one by one
            other.add_class()
            other = type(forecaster).from_json(other.to_json())
        np.testing.assert_array_equal(own.mean, waits)  # the user's own is as it was
        assert own._play[6][classwise.GAP] == before
        grown = other.pending[0]
        assert grown.mean[9:].sum() == 0 and grown._play[6][classwise.GAP] > before + 1e-3
        assert not foreign.same_as(grown) and not grown.same_as(own)
        other.update(9, own)
        for certificate in other.certificates():
            assert certificate.measured <= certificate.after_the_fact + 1e-9
        type(forecaster).from_json(other.to_json())
