"""The comparison of recalibrators: fair, reproducible, and with the outcome that the docs claim."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

import fullswap as fs
from fullswap.metrics import l2_calibration_error
from studies import forecasters, logs, recalibrators


@pytest.fixture(scope="module")
def scores():
    return {
        (score.stream, score.contender): score
        for stream in logs.made_streams(3_000, 0)
        for score in forecasters.scores(stream, 0)
    }


def test_streams_are_made_from_their_seed():
    first, again, other = ([*logs.made_streams(200, seed)] for seed in (0, 0, 1))
    for one, two, three in zip(first, again, other, strict=True):
        assert np.array_equal(one.claimed, two.claimed)
        assert np.array_equal(one.outcomes, two.outcomes)
        assert not np.array_equal(one.claimed, three.claimed)
        assert one.claimed.min() >= 0 and one.claimed.max() <= 1


@pytest.mark.parametrize("name", recalibrators.contenders(100, 0))
def test_nobody_sees_the_future(name):
    stream = next(logs.made_streams(500, 0))
    changed = stream.outcomes.copy()
    changed[300:] = 1 - changed[300:]
    forecasts = []
    for outcomes in (stream.outcomes, changed):
        contender = recalibrators.contenders(500, 0)[name]
        made = []
        for t, (p, y) in enumerate(zip(stream.claimed.tolist(), outcomes.tolist(), strict=True)):
            made.append(contender.predict(p, t))
            contender.resolve(t, y)
        forecasts.append(made)
    assert forecasts[0][:301] == forecasts[1][:301]
    if name != "raw model" and "frozen" not in name:
        assert forecasts[0] != forecasts[1]


def test_ours_does_no_harm_where_the_model_is_right(scores):
    raw, ours = scores["calibrated", "raw model"], scores["calibrated", "fullswap, issued"]
    assert ours.brier <= 1.01 * raw.brier
    assert scores["calibrated", "fullswap, mean"].brier <= 1.005 * raw.brier


@pytest.mark.parametrize("stream", ["overconfident", "drifting", "flipped half-way"])
def test_ours_halves_the_calibration_error_of_a_wrong_model(scores, stream):
    raw, ours = scores[stream, "raw model"], scores[stream, "fullswap, issued"]
    assert ours.calibration <= raw.calibration / 2
    assert ours.brier < raw.brier


def test_only_draws_withstand_an_adversary(scores):
    others = [
        score.calibration
        for (stream, contender), score in scores.items()
        if stream == "adversarial" and contender != "fullswap, issued"
    ]
    assert scores["adversarial", "fullswap, issued"].calibration < 0.1 * min(others)


def test_what_is_issued_keeps_its_guarantee(scores):
    for (_, contender), score in scores.items():
        assert (score.guaranteed is not None) == (contender == "fullswap, issued")
    for stream in logs.made_streams(1_000, 1):
        errors = []
        for seed in range(4):
            ours = recalibrators.Ours(seed)
            _, outcomes, _ = forecasters._play(stream, ours)
            grid = ours._recalibrator.run([], []).points
            errors.append(tallied(outcomes, ours.issued, grid))
        # all events, as the guarantee has it, and the average over the draws
        assert 0 < np.mean(errors) <= ours.guarantee < 1_000


def tallied(outcomes, issued, grid):
    """The calibration error, point by point."""
    said, happened = np.array(issued), np.array(outcomes)
    hits = [happened[said == point] for point in np.unique(grid)]
    return sum(
        len(hit) * (hit.mean() - point) ** 2
        for hit, point in zip(hits, np.unique(grid), strict=True)
        if len(hit)
    )


def test_an_outcome_is_learnt_when_it_is_known():
    stream = logs.Stream(
        "made",
        np.array([0.5, 0.4, 0.3, 0.2, 0.1]),
        np.array([1.0, 0.0, 1.0, 0.0, 1.0]),
        events=np.array([7, 3, 7, 3, 5]),
        known=np.array([2, 4, 2, 4, 4]),
    )
    heard = []

    class Listener:
        def predict(self, claimed, event):
            heard.append((claimed, event))
            return claimed

        def resolve(self, event, outcome):
            heard.append(("over", event, outcome))

    forecasts, outcomes, _ = forecasters._play(stream, Listener())
    assert forecasts.tolist() == stream.claimed.tolist()
    assert outcomes.tolist() == stream.outcomes.tolist()
    assert heard == [
        (0.5, 0), (0.4, 1), (0.3, 0), ("over", 0, 1.0), (0.2, 1), (0.1, 2),
        ("over", 1, 0.0), ("over", 2, 1.0),
    ]  # fmt: skip


def in_game(games=200, forecasts=40, seed=0):
    """Calibrated forecasts of games that are random walks, all before the game ends."""
    rng = np.random.default_rng(seed)
    walks = rng.normal(size=(games, forecasts + 1)).cumsum(axis=1)
    left = np.sqrt(np.arange(forecasts, 0, -1) + 1)
    claimed = norm.cdf(walks[:, :-1] / left)
    outcomes = np.repeat(walks[:, -1] + rng.normal(size=games) > 0, forecasts).astype(float)
    events = np.repeat(np.arange(games), forecasts)
    last = (events + 1) * forecasts - 1
    return logs.Stream("games", claimed.ravel(), outcomes, events=events, known=last)


def test_events_are_told_and_not_told():
    told, untold, raw = [], [], []
    for seed in range(3):
        stream = in_game(seed=seed)
        scores = {score.contender: score for score in forecasters.scores(stream, 0)}
        assert {name for name in scores if name.startswith("fullswap")} == {
            f"{who}, {what}"
            for who in (recalibrators.OURS, recalibrators.WITHOUT_EVENTS)
            for what in ("mean", "issued")
        }
        assert all(score.delayed and score.outcomes == 200 for score in scores.values())
        told.append(scores["fullswap, mean"].brier)
        untold.append(scores["fullswap without events, mean"].brier)
        raw.append(scores["raw model"].brier)
    assert sum(told) <= sum(untold) and sum(told) <= 1.02 * sum(raw)


def test_an_infinite_log_loss_is_none():
    claimed = np.array([0.0, 0.5, 0.5, 0.5, 0.5])
    stream = logs.Stream("made", claimed, np.ones(5))
    score = forecasters._score(stream, "raw", claimed, np.ones(5), 0.0)
    assert score.first_log_loss is None and score.log_loss == pytest.approx(np.log(2))


def test_a_broken_guarantee_is_none(monkeypatch):
    monkeypatch.setattr(fs.Recalibrator, "guarantee", None)
    stream = next(logs.made_streams(50, 0))
    assert {score.guaranteed for score in forecasters.scores(stream, 0)} == {None}


def test_noise_is_what_a_calibrated_forecaster_shows():
    rng = np.random.default_rng(0)
    claimed = rng.choice([0.1, 0.5, 0.8], 2_000)
    shown, stream = [], logs.Stream("made", claimed, claimed)
    for _ in range(200):
        happened = (rng.random(2_000) < claimed).astype(float)
        shown.append(forecasters._score(stream, "raw", claimed, happened, 0.0))
    mean = np.mean([score.calibration for score in shown])
    assert mean == pytest.approx(shown[0].noise, rel=0.15)
    assert len({score.noise for score in shown}) == 1


def test_noise_is_larger_where_forecasts_share_an_outcome():
    rng = np.random.default_rng(1)
    levels, events = rng.choice([0.2, 0.5, 0.8], 400), np.repeat(np.arange(400), 10)
    errors = []
    for _ in range(200):
        happened = np.repeat(rng.random(400) < levels, 10).astype(float)
        errors.append(l2_calibration_error(happened, np.repeat(levels, 10)) / 4_000)
    noise = forecasters.expected_by_chance(np.repeat(levels, 10), events)
    assert np.mean(errors) == pytest.approx(noise, rel=0.2)
    alone = forecasters.expected_by_chance(np.repeat(levels, 10), np.arange(4_000))
    assert noise == pytest.approx(10 * alone)


def test_logs_are_read_in_the_order_of_events(tmp_path):
    (tmp_path / "mlb_games.csv").write_text(
        "date,prob1,prob1_outcome\n2022-02-02,0.75,0.5\n2022-02-01,0.25,1\n", encoding="utf-8"
    )
    (tmp_path / "seattle_nws_forecast_log.csv").write_text(
        "date,actual,0_days_out\n2025-01-01,True,30\n2025-01-02,False,\n2025-01-03,False,-1\n"
        "2025-01-04,False,100\n",
        encoding="utf-8",
    )
    (tmp_path / "wnba_games.csv").write_text(
        "date,prob1,prob1_outcome\n2022-02-02,0.75,0\n2022-02-01,0.25,1\n", encoding="utf-8"
    )
    baseball, basketball, rain = logs.read_logs(tmp_path)
    assert basketball.claimed.tolist() == [0.25, 0.75] and not basketball.delayed
    assert baseball.claimed.tolist() == [0.25, 0.75] and baseball.outcomes.tolist() == [1, 0.5]
    assert rain.claimed.tolist() == [0.3, 1.0] and rain.outcomes.tolist() == [1, 0]


def test_a_frozen_model_of_real_data_is_mended():
    X, digits = load_digits(return_X_y=True)
    large = (digits >= 5).astype(float)
    model = GaussianNB().fit(X[:400], large[:400])  # overconfident, as naive Bayes is
    claimed = model.predict_proba(X[400:])[:, 1]
    stream = logs.Stream("digits", claimed, large[400:])
    scores = {score.contender: score for score in forecasters.scores(stream, 0)}
    raw, ours = scores["raw model"], scores["fullswap, issued"]
    assert ours.calibration <= raw.calibration / 2 and ours.brier < raw.brier
