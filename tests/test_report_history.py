"""How far off forecasts were over time, against slow sums, beside guarantees of every kind."""

import io
import math

import numpy as np
import pytest
from matplotlib.figure import Figure

import fullswap as fs
from fullswap.report import History, calibration_history, draw_history, history_of
from fullswap.report.history import checkpoints
from pictures import all_words, artist, calibrated, slow_error


def saved(figure):
    figure.savefig(io.BytesIO(), format="png")
    return figure


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("log", [False, True])
def test_errors_equal_slow_sums(weighted, log):
    y, p = calibrated(900, seed=20)
    w = np.random.default_rng(21).exponential(size=900) if weighted else np.ones(900)
    history = history_of(y, p, sample_weight=w if weighted else None, log=log)
    assert history.events[0] == 1 and history.events[-1] == 900 and 100 < len(history) <= 200
    mass = np.array([w[:t].sum() for t in history.events])
    slow = np.array([slow_error(y[:t], p[:t], w[:t]) for t in history.events])
    np.testing.assert_allclose(history.error, np.sqrt(slow / mass), rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(history.weights, mass)
    assert (history.mass is None) == (not weighted)
    assert np.isnan(history.guaranteed).all() and np.isnan(history.before).all()


def test_noise_is_the_mean_error_of_calibrated_forecasts():
    rng = np.random.default_rng(5)
    p = rng.choice([0.1, 0.4, 0.5, 0.9], 200)
    w = rng.choice([0.5, 1.0, 3.0], 200)
    noise = history_of(np.zeros(200), p, sample_weight=w).noise
    drawn = [
        history_of((rng.random(200) < p).astype(float), p, sample_weight=w).error ** 2
        for _ in range(400)
    ]
    np.testing.assert_allclose(np.mean(drawn, axis=0)[9::10], noise[9::10] ** 2, rtol=0.35)
    unweighted = history_of(np.zeros(200), p).noise[-1]
    assert unweighted == pytest.approx(math.sqrt((0.09 + 0.24 + 0.25 + 0.09) / 200))


def test_the_noise_is_that_of_the_certificate():
    forecaster = fs.Forecaster(1000, seed=1)
    y = (np.arange(1000) % 3 == 0).astype(float)
    record = forecaster.run(y)
    c = forecaster.certificate()
    history = history_of(y, record, guarantee=c)
    assert history.error[-1] == pytest.approx(c.points)
    assert history.noise[-1] == pytest.approx(c.points_noise)
    assert history.guaranteed[-1] == pytest.approx(c.points_guaranteed)
    assert repr(history).startswith("<History: ") and "after 1,000 events>" in repr(history)


def test_several_classes_are_distances_of_vectors():
    rng = np.random.default_rng(7)
    grid = np.array([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2], [0.1, 0.1, 0.8]])
    p = grid[rng.integers(0, 3, 500)]
    y = rng.integers(0, 3, 500)
    history = history_of(y, p, before=p)
    expected = 0.0
    for point in grid:
        own = (p == point).all(axis=1)
        means = np.bincount(y[own], minlength=3) / own.sum()
        expected += own.sum() * np.sum((point - means) ** 2)
    assert history.error[-1] == pytest.approx(math.sqrt(expected / 500))
    np.testing.assert_allclose(history.before, history.error)
    assert history.noise[-1] == pytest.approx(math.sqrt(np.sum(grid * (1 - grid)) / 500))


def test_the_models_own_error_is_measured_around_the_same_forecasts():
    y, p = calibrated(600, seed=3)
    rng = np.random.default_rng(4)
    own = np.clip(p + rng.uniform(-0.02, 0.02, 600), 0, 1)
    shifted = history_of(y, p, before=own).before[-1]
    bins = np.rint(20 * own)
    slow = sum(
        (bins == b).sum() * (own[bins == b].mean() - y[bins == b].mean()) ** 2 for b in set(bins)
    )
    assert shifted == pytest.approx(math.sqrt(slow / 600))
    w = rng.integers(0, 2, 600)
    kept = w > 0
    left_out = history_of(y, p, before=own, sample_weight=w).before
    np.testing.assert_allclose(left_out, history_of(y[kept], p[kept], before=own[kept]).before)


def test_guarantees_are_curves():
    y, p = calibrated(500, seed=23)
    history = history_of(y, p, guarantee=20)
    useful = history.events > 20
    np.testing.assert_allclose(history.guaranteed[useful], np.sqrt(20 / history.events[useful]))
    assert np.isnan(history.guaranteed[~useful]).all()  # nobody can be more than 100 points off
    asked = []

    def cube_root(rounds):
        asked.append(rounds)
        return 3 * rounds ** (1 / 3)

    growing = history_of(y, p, guarantee=cube_root)
    late = growing.events > 5.3
    expected = np.sqrt(3 * np.cbrt(growing.events[late]) / growing.events[late])
    np.testing.assert_allclose(growing.guaranteed[late], expected)
    assert all(type(rounds) is int for rounds in asked) and asked[-1] == 500
    for nothing in (None, math.nan):
        assert np.isnan(history_of(y, p, guarantee=nothing).guaranteed).all()


def test_no_picture_speaks_of_a_horizon():
    for horizon in (None, 400):
        forecaster = fs.Forecaster(horizon, seed=2)
        y = (np.arange(400) % 2).astype(float)
        record = forecaster.run(y)
        for guarantee in (forecaster.guarantee, forecaster.certificate()):
            text = all_words(calibration_history(y, record, guarantee=guarantee))
            assert "horizon" not in text and "guaranteed at most " in text and "points" in text


def test_the_picture_is_in_points():
    y, p = calibrated(400, seed=1)
    figure = calibration_history(y, p, guarantee=10, before=p / 2)
    ax = figure.axes[0]
    history = history_of(y, p, guarantee=10, before=p / 2)
    (line,) = artist(figure, "error")
    late = history.events > 40
    np.testing.assert_allclose(line.get_ydata()[late], 100 * history.error[late])
    (bound,) = artist(figure, "guaranteed")
    np.testing.assert_allclose(bound.get_ydata()[late], 100 * history.guaranteed[late])
    assert artist(figure, "before") and artist(figure, "chance")
    assert ax.get_ylabel() == "root mean square error (points)" and ax.get_yscale() == "log"
    assert ax.get_xscale() == "linear"
    assert f"after {100 * history.error[-1]:.1f}" in all_words(figure)
    assert calibration_history(y, p, log=True).axes[0].get_xscale() == "log"


def test_sums_on_request():
    y, p = calibrated(400, seed=1)
    w = np.random.default_rng(1).random(400)
    figure = calibration_history(y, p, guarantee=10, sample_weight=w, sums=True)
    (line,) = artist(figure, "error")
    assert line.get_ydata()[-1] == pytest.approx(slow_error(y, p, w))
    (bound,) = artist(figure, "guaranteed")
    np.testing.assert_allclose(bound.get_ydata()[-100:], 10)
    assert "points" not in figure.axes[0].get_ylabel()


@pytest.mark.parametrize("guarantee", [None, 0.0, 5.0])
@pytest.mark.parametrize("sums", [False, True])
def test_a_history_without_error_can_be_drawn(guarantee, sums):
    saved(calibration_history([0, 1, 0], [0.0, 1.0, 0.0], guarantee=guarantee, sums=sums))


def test_a_history_of_one_event_can_be_drawn():
    for log in (False, True):
        saved(calibration_history([1], [0.4], guarantee=0.5, log=log))


def test_a_history_made_elsewhere_can_be_drawn():
    unknown = np.full(3, np.nan)
    history = History(np.array([1, 5, 9]), np.full(3, 0.1), unknown, unknown, unknown, unit="rows")
    figure = saved(draw_history(history))
    assert figure.axes[0].get_xlabel() == "rows" and "after 9 rows" in all_words(figure)
    axes = Figure().subplots()
    assert draw_history(history, axes) is axes.figure


@pytest.mark.parametrize(
    ("guarantee", "message"),
    [
        (-1.0, "guarantee must be finite and at least 0, got -1.0"),
        (np.inf, "guarantee must .*, got inf"),
        ("much", "guarantee must .*, got 'much'"),
        (lambda t: 1 / (t - 3) if t != 3 else math.nan, r"guarantee\(1\) must .*, got -0.5"),
        (
            fs.Forecaster(9, feedback="distribution").certificate(),
            "guarantee must be a certificate of the calibration error of issued forecasts, got",
        ),
    ],
)
def test_bad_guarantee(guarantee, message):
    axes = Figure().subplots()
    with pytest.raises(ValueError, match=message):
        calibration_history([0.0, 1.0, 1.0], [0.2, 0.5, 0.5], guarantee=guarantee, ax=axes)
    assert not axes.has_data()


def test_bad_lengths():
    with pytest.raises(ValueError, match="before must"):
        history_of([0, 1], [0.2, 0.2], before=[0.1])
    with pytest.raises(ValueError, match="before must have shape"):
        history_of([0, 1], [0.2, 0.2], before=[[0.1, 0.9], [0.1, 0.9]])
    one = np.ones(2)
    with pytest.raises(ValueError, match="noise must"):
        History(np.array([1, 2]), one, one[:1], one, one)
    with pytest.raises(ValueError, match="events must"):
        History(np.array([], dtype=int), one[:0], one[:0], one[:0], one[:0])


def test_checkpoints_reach_the_end():
    assert checkpoints(7, log=False).tolist() == list(range(1, 8))
    for log in (False, True):
        places = checkpoints(10**6, log)
        assert places[0] == 1 and places[-1] == 10**6 and len(places) <= 200
