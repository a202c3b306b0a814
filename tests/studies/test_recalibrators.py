"""The comparison of recalibrators: fair, reproducible, and with the outcome that the docs claim."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB
from whole import DOCS

from studies import recalibrators
from studies.__main__ import main
from studies.report.markers import replace_between


@pytest.fixture(scope="module")
def scores():
    return {
        (row["stream"], row["contender"]): row
        for row in recalibrators.measure(recalibrators.Plan(events=3_000, runs=1))
    }


def test_streams_are_made_from_their_seed():
    first, again, other = ([*recalibrators.streams(200, seed)] for seed in (0, 0, 1))
    for one, two, three in zip(first, again, other, strict=True):
        assert np.array_equal(one.claimed, two.claimed)
        assert not np.array_equal(one.claimed, three.claimed)
        assert one.claimed.min() >= 0 and one.claimed.max() <= 1


@pytest.mark.parametrize("name", recalibrators.contenders(100, 0))
def test_no_contender_sees_the_future(name):
    stream = next(recalibrators.streams(500, 0))
    changed = stream.outcomes.copy()
    changed[300:] = 1 - changed[300:]
    first, other = (
        recalibrators.play(stream._replace(outcomes=outcomes), contender)[0]
        for outcomes in (stream.outcomes, changed)
        for contender in [recalibrators.contenders(500, 0)[name]]
    )
    assert first[:301].tolist() == other[:301].tolist()
    if name not in (recalibrators.RAW, recalibrators.PLATT):
        assert (first != other).any()


def test_ours_does_no_harm_where_the_model_is_right(scores):
    raw = scores["calibrated", recalibrators.RAW]
    assert scores["calibrated", recalibrators.ISSUED]["brier"] <= 1.01 * raw["brier"]
    assert scores["calibrated", recalibrators.MEAN]["brier"] <= 1.005 * raw["brier"]


@pytest.mark.parametrize("stream", ["overconfident", "drifting", "flipped half-way"])
def test_ours_halves_the_calibration_error_of_a_wrong_model(scores, stream):
    raw, ours = scores[stream, recalibrators.RAW], scores[stream, recalibrators.ISSUED]
    assert ours["calibration"] <= raw["calibration"] / 2 and ours["brier"] < raw["brier"]


def test_a_frozen_model_of_real_data_is_mended():
    X, digits = load_digits(return_X_y=True)
    large = (digits >= 5).astype(float)
    model = GaussianNB().fit(X[:400], large[:400])  # overconfident, as naive Bayes is
    claimed = model.predict_proba(X[400:])[:, 1]
    stream = recalibrators.Stream("digits", claimed, large[400:])
    found = {row["contender"]: row for row in recalibrators.scores(stream, 0)}
    raw, ours = found[recalibrators.RAW], found[recalibrators.ISSUED]
    assert ours["calibration"] <= raw["calibration"] / 2 and ours["brier"] < raw["brier"]


def test_only_draws_withstand_an_adversary(scores):
    found = {name: row["calibration"] for (stream, name), row in scores.items() if "adv" in stream}
    assert found.pop(recalibrators.ISSUED) < 0.1 * min(found.values())


def test_what_is_issued_keeps_its_guarantee():
    for stream in recalibrators.streams(1_000, 1):
        errors = []
        for seed in range(4):
            ours = recalibrators.Ours(seed)
            outcomes, issued = recalibrators.play(stream, ours)[1], np.array(ours.issued)
            hits = [(point, outcomes[issued == point]) for point in np.unique(issued)]
            errors.append(sum(len(hit) * (hit.mean() - point) ** 2 for point, hit in hits))
        # all events, as the guarantee has it, and the average over the draws
        assert 0 < np.mean(errors) <= ours.recalibrator.guarantee < 1_000


def test_noise_is_what_a_calibrated_forecaster_shows():
    rng = np.random.default_rng(0)
    claimed = rng.choice([0.1, 0.5, 0.8], 2_000)
    shown = [
        recalibrators._scored(claimed, (rng.random(2_000) < claimed).astype(float))
        for _ in range(200)
    ]
    mean = np.mean([score["calibration"] for score in shown])
    assert mean == pytest.approx(shown[0]["noise"], rel=0.15)


def test_the_command_fills_the_page_of_the_documentation(tmp_path, capsys):
    own = tmp_path / "page.md"
    before = (DOCS / "recalibrators.md").read_text(encoding="utf-8")
    own.write_text(before, encoding="utf-8")
    asked = ["recalibrators", "--quick", "--seed", "3", "--out", str(tmp_path), "--page"]
    assert main([*asked, str(own)]) == 0
    once = own.read_text(encoding="utf-8")
    assert "with seed 3" in once and "nan" not in once and once.count("| adversarial |") == 3
    assert once.split("<!--")[0] == before.split("<!--")[0]
    assert once.splitlines()[-1] == before.splitlines()[-1]
    assert (tmp_path / "recalibrators.csv").read_text(encoding="utf-8").startswith("stream,")
    own.write_text("nothing\n", encoding="utf-8")
    assert main([*asked, str(own)]) == 1 and own.read_text(encoding="utf-8") == "nothing\n"
    assert "recalibrators: the page must have" in capsys.readouterr().err
    with pytest.raises(ValueError, match="must have <!-- sums: begin -->"):
        replace_between(before, "sums", "new")
