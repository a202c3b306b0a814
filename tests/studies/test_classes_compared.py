"""Many classes: the streams and scores, and the page of the comparison."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from whole import DOCS

import fullswap as fs
from studies import classes
from studies.__main__ import main
from studies.classes import CELLS, OURS, drawn, softmax


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
    left, weight = classes.soft_bins(values)
    for k, value in enumerate(values):
        slow = hats(value)
        assert slow[left[k]] == pytest.approx(weight[k]) and slow.sum() == pytest.approx(1)
        assert slow[left[k] + 1] == pytest.approx(1 - weight[k])


def test_the_class_wise_error_is_the_sum_over_classes():
    said, happened = vectors(1)
    kinds = np.tile(np.arange(3), len(said))
    error, noise = classes.soft_error(kinds, said.ravel(), happened.ravel())
    assert error == pytest.approx(slow_error(said, happened))
    labels = happened.argmax(axis=1)
    library = fs.metrics.classwise_calibration_error(labels, said, bins=CELLS)
    assert classes.points(error, len(said)) == pytest.approx(100 * library.total)
    rng = np.random.default_rng(2)
    again = [
        classes.soft_error(kinds, said.ravel(), np.eye(3)[drawn(said, rng)].ravel())[0]
        for _ in range(500)
    ]
    assert np.mean(again) == pytest.approx(noise, rel=0.1)  # what chance shows on average


def test_the_model_is_too_sure():
    stream = classes.modelled(3_000, 5, seed=0)
    assert stream.claimed.sum(axis=1) == pytest.approx(1)
    top = stream.claimed.argmax(axis=1)
    assert stream.claimed.max(axis=1).mean() > (top == stream.labels).mean() + 0.1


def test_online_scaling_finds_what_is_wrong():
    rng = np.random.default_rng(6)
    logits = rng.normal(0, 1.5, (4_000, 3))
    labels = drawn(softmax(logits), rng)
    last = slice(3_000, None)
    for shift, scaled in (
        (np.zeros(3), classes.temperature),
        (np.array([0.8, 0.0, -0.8]), classes.vector_scaling),
    ):
        claimed = softmax(2.0 * logits + shift)
        off = np.abs(scaled(claimed, labels)[last] - softmax(logits[last])).mean()
        assert off < 0.3 * np.abs(claimed[last] - softmax(logits[last])).mean()


@pytest.mark.parametrize("scaled", [classes.temperature, classes.vector_scaling])
def test_no_scaling_sees_the_future(scaled):
    said, happened = vectors(5)
    labels = happened.argmax(axis=1)
    changed = np.concatenate((labels[:40], (labels[40:] + 1) % 3))
    first, other = scaled(said, labels), scaled(said, changed)
    assert (first[:41] == other[:41]).all() and (first[42:] != other[42:]).any()


def test_the_command_fills_the_page_of_the_documentation(tmp_path, monkeypatch):
    monkeypatch.setattr(classes, "QUICK", replace(classes.QUICK, few_events=60, many_events=40))
    own = tmp_path / "page.md"
    own.write_text((DOCS / "classes-compared.md").read_text(encoding="utf-8"), encoding="utf-8")
    asked = ["classes", "--quick", "--seed", "3", "--out", str(tmp_path), "--page", str(own)]
    assert main(asked) == 0
    once = own.read_text(encoding="utf-8")
    assert "with seed 3" in once and "nan" not in once and once.count(f"| **{OURS}** |") == 2
    assert (tmp_path / "classes.csv").read_text(encoding="utf-8").startswith("stream,contender,")
