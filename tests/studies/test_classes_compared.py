"""Many classes: the streams, their adversaries and scores, and the page of the comparison."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fullswap as fs
from studies import class_streams, classes
from studies.__main__ import main
from studies.class_contenders import (
    GRID,
    OURS,
    Model,
    OneVsRest,
    Temperature,
    VectorScaling,
    contenders,
)
from studies.class_streams import (
    CELLS,
    ClassStream,
    Greedy,
    MeanAware,
    digits,
    drawn,
    image_segments,
    made,
    softmax,
)
from studies.report import classes as page

DOCS = Path(__file__).parents[2] / "docs"


def hats(value):
    """Weights of all grid points, the slow way."""
    grid = np.sin(np.pi * np.arange(CELLS + 1) / (2 * CELLS)) ** 2
    return np.array([np.interp(value, grid, np.eye(CELLS + 1)[i]) for i in range(CELLS + 1)])


def slow_error(said, happened):
    """Σ over classes and soft bins of R²/W, for vectors (T, K)."""
    error = 0.0
    for k in range(said.shape[1]):
        weights = np.array([hats(value) for value in said[:, k]])
        mass = weights.sum(axis=0)
        excess = weights.T @ (happened[:, k] - said[:, k])
        error += (excess[mass > 0] ** 2 / mass[mass > 0]).sum()
    return error


def vectors(seed, events=60, count=3):
    rng = np.random.default_rng(seed)
    said = rng.dirichlet(np.full(count, 0.7), events)
    said[0] = np.eye(count)[1]
    happened = np.eye(count)[drawn(said, rng)]
    return said, happened


def test_soft_bins_are_hats_that_sum_to_one_and_keep_the_mean():
    values = np.array([0.0, 1e-12, 0.003, 0.31, 0.5, 0.999, 1.0])
    left, weight = class_streams.soft_bins(values)
    for k, value in enumerate(values):
        slow = hats(value)
        assert slow[left[k]] == pytest.approx(weight[k]) and slow.sum() == pytest.approx(1)
        assert slow[left[k] + 1] == pytest.approx(1 - weight[k])


def test_the_class_wise_error_is_the_sum_over_classes():
    said, happened = vectors(1)
    kinds = np.tile(np.arange(3), len(said))
    error, noise, beyond = classes.soft_error(kinds, said.ravel(), happened.ravel())
    assert error == pytest.approx(slow_error(said, happened))
    assert (beyond > 0) == (error > noise)
    labels = happened.argmax(axis=1)
    library = fs.metrics.classwise_calibration_error(labels, said, bins=CELLS)
    assert classes.points(error, len(said)) == pytest.approx(100 * library.total)
    rng = np.random.default_rng(2)
    again = [
        classes.soft_error(kinds, said.ravel(), np.eye(3)[drawn(said, rng)].ravel())[0]
        for _ in range(500)
    ]
    assert np.mean(again) == pytest.approx(noise, rel=0.1)  # what chance shows on average


def test_the_hard_error_is_the_usual_one():
    said, happened = vectors(3)
    top = said.argmax(axis=1)
    rows = np.arange(len(said))
    own = classes.hard_error(said[rows, top], happened[rows, top])
    labels = happened.argmax(axis=1)
    usual = fs.metrics.calibration_error(labels, said, norm="l1", bins=classes.BINS, kind="top")
    assert own == pytest.approx(usual)


def test_the_greedy_adversary_raises_the_error_as_much_as_it_can():
    said, _ = vectors(4, events=25, count=4)
    adversary, happened = Greedy(4), np.zeros((0, 4))
    for event, vector in enumerate(said):
        errors = [
            slow_error(said[: event + 1], np.vstack((happened, np.eye(4)[k]))) for k in range(4)
        ]
        chosen = adversary.choose(event, vector)
        assert errors[chosen] >= max(errors) - 1e-6
        happened = np.vstack((happened, np.eye(4)[chosen]))


def test_streams_are_as_they_are_described():
    for stream in made(3_000, 5, seed=0):
        assert len(stream.labels) == 3_000 and (stream.labels < 5).all()
        if stream.name == "Zipf":
            shares = np.bincount(stream.labels, minlength=5) / 3_000
            assert shares == pytest.approx(np.array([60, 30, 20, 15, 12]) / 137, abs=0.03)
        if stream.name == "switching":
            quarters = [np.bincount(part).argmax() for part in np.split(stream.labels, 4)]
            assert quarters == [0, 4, 0, 4]
        if stream.claimed is not None:
            assert stream.claimed.sum(axis=1) == pytest.approx(1)
            top = stream.claimed.argmax(axis=1)
            assert stream.claimed.max(axis=1).mean() > (top == stream.labels).mean() + 0.1
    for stream in (image_segments(300), digits(1, 300)):
        assert stream.claimed.sum(axis=1) == pytest.approx(1) and (stream.claimed >= 0).all()
        assert stream.claimed[0] == pytest.approx(1 / stream.classes)  # nothing is known yet
    assert MeanAware(np.array([[0.2, 0.8]])).choose(0, np.array([0.1, 0.9])) == 0


def test_online_scaling_finds_what_is_wrong():
    rng = np.random.default_rng(6)
    logits = rng.normal(0, 1.5, (4_000, 3))
    labels = drawn(softmax(logits), rng)
    for shift, make in (
        (np.zeros(3), Temperature),
        (np.array([0.8, 0.0, -0.8]), lambda: VectorScaling(3)),
    ):
        stream = ClassStream("x", 3, softmax(2.0 * logits + shift), labels)
        vectors_said, _, totals, _ = classes.play(stream, make())
        last = slice(3_000, None)
        off = np.abs(vectors_said[last] - softmax(logits[last])).mean()
        before = np.abs(stream.claimed[last] - softmax(logits[last])).mean()
        assert off < 0.3 * before and np.abs(totals - 1).max() < 1e-12


def test_one_vs_rest_is_a_forecaster_a_class_divided_by_the_sum():
    for modelled in (True, False):
        said, happened = vectors(7)
        bank = fs.Bank(fs.Recalibrator(seed=1) if modelled else fs.Forecaster(seed=1))
        player = OneVsRest(3, modelled, seed=1)
        for vector, row in zip(said, happened, strict=True):
            answer = player.predict(vector)
            columns = (vector,) if modelled else ()
            forecasts = bank.predict([0, 1, 2], *columns)
            means = np.array([forecast.mean for forecast in forecasts])
            assert answer.total == pytest.approx(means.sum())
            assert answer.vector == pytest.approx(means / means.sum())
            bank.update(forecasts, row)
            player.resolve(int(row.argmax()))


def test_adversaries_answer_what_is_said_and_shares_stand_in_for_a_model():
    class Least:
        def choose(self, event, said):
            return int(np.argmin(said))

    stream = ClassStream("x", 3, None, np.zeros(7, dtype=int), Least)
    said, declared, _, labels = classes.play(stream, Model())
    assert labels.tolist() == [0, 1, 2, 0, 1, 2, 0] and declared.tolist()[1] == 0
    assert said[3] == pytest.approx(1 / 3) and said[4] == pytest.approx(np.array([7, 4, 4]) / 15)


def test_the_grid_plays_where_it_can():
    few, many = next(made(10, 8, 0)), next(made(10, 9, 0))
    assert GRID in contenders(few, 0) and GRID not in contenders(many, 0)


# --- the page -------------------------------------------------------------------------------------


def test_the_command_fills_the_page_of_the_documentation(tmp_path, monkeypatch, capsys):
    plan = replace(classes.QUICK, few_events=60, many_events=40, most_rows=60)
    monkeypatch.setattr(page, "QUICK", plan)
    own = tmp_path / "page.md"
    own.write_text((DOCS / "classes-compared.md").read_text(encoding="utf-8"), encoding="utf-8")
    asked = ["classes", "--quick", "--seed", "3", "--out", str(tmp_path), "--page", str(own)]
    assert main(asked) == 0
    once = own.read_text(encoding="utf-8")
    assert "with seed 3" in once and "nan" not in once
    assert once.count(f"| **{OURS}** |") == 12 and once.count("| ImageSegments, naive Bayes |") == 1
    assert (tmp_path / "classes.csv").read_text(encoding="utf-8").startswith("part,stream,")
    ours = [line for line in once.splitlines() if f"| **{OURS}** |" in line]
    assert all(line.endswith("| 0 |") for line in ours)  # sums to 1 as it is
